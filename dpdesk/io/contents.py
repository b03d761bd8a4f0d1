"""What data hold in their measured columns, whatever their format and the order of their rows.

The ledger must know data again that were saved in another format or sorted. A print is a hash over
the names of columns and how often each row of them occurs; nothing of a single row can be told from
it without knowing all the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LEAST_DIFFERENT = 10
"""Different rows from which equal counts are not taken for chance: two surveys may well have as
many men each, but hardly ten groups of the same sizes."""
_SAME = "coalesce(try_cast(replace(trim(v), ',', '.') AS DOUBLE)::VARCHAR, trim(v), '')"
"""A number is the same one however a format writes it; blanks around a text do not count."""


def content_print(
    con: DuckDBPyConnection, columns: Sequence[Column], place: Path, token: CancelToken
) -> str:
    """SHA-256 over the names of columns, the number of rows and the sums of the rows' hashes.

    It is the same for every order of rows and of columns. Empty where there are fewer than
    :data:`LEAST_DIFFERENT` different rows. Raises StorageError, Cancelled.
    """
    found = sorted((" ".join(one.name.casefold().split()), one.sql) for one in columns)
    if not found:
        return ""
    groups = ", ".join(sql for _, sql in found)
    texts = (_SAME.replace("(v)", f"({sql}::VARCHAR)") for _, sql in found)
    parts = ", ".join(f"{text} AS w{i}" for i, text in enumerate(texts))
    # Each text stands behind its length, so that ("a", "bc") is not ("ab", "c").
    row = " || ".join(f"strlen(w{i}) || ':' || w{i}" for i in range(len(found)))
    with query(con, token, place) as cursor:
        different, rows, lower, upper = cursor.execute(
            "SELECT count(DISTINCT r), sum(n), sum(md5_number_lower(r)::HUGEINT * n)::VARCHAR, "
            f"sum(md5_number_upper(r)::HUGEINT * n)::VARCHAR FROM (SELECT {row} AS r, n FROM "
            f"(SELECT {parts}, count(*) AS n FROM {DATA} GROUP BY {groups}))"
        ).fetchone() or (0, 0, None, None)
    if different < LEAST_DIFFERENT:
        return ""
    plain = json.dumps([[name for name, _ in found], int(rows), lower, upper])
    return hashlib.sha256(plain.encode("ascii")).hexdigest()
