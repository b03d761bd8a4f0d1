"""What data hold, column by column, whatever their format and the order of their rows.

The ledger must know data again that were saved in another format or sorted. A print of a column is
a hash over its name and how often each value occurs; it is made of distinct values, and nothing of
a single row can be told from it without knowing all the others.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SAME = "coalesce(try_cast(replace(trim(v), ',', '.') AS DOUBLE)::VARCHAR, trim(v))"
"""A number is the same one however a format writes it; blanks around a text do not count."""


def content_print(con: DuckDBPyConnection, column: Column, place: Path, token: CancelToken) -> str:
    """SHA-256 over the name of a column, its number of rows and the sums of its values' hashes.

    The sums are the same for every order of rows. Raises StorageError, Cancelled.
    """
    with query(con, token, place) as cursor:
        found = cursor.execute(
            "SELECT sum(n), sum(md5_number_lower(w)::HUGEINT * n)::VARCHAR, "
            "sum(md5_number_upper(w)::HUGEINT * n)::VARCHAR "
            f"FROM (SELECT {_SAME} AS w, n FROM (SELECT {column.sql}::VARCHAR AS v, count(*) AS n "
            f"FROM {DATA} GROUP BY {column.sql}))"
        ).fetchone()
    rows, lower, upper = found or (0, None, None)
    name = " ".join(column.name.casefold().split())
    plain = json.dumps([name, int(rows or 0), lower, upper])
    return hashlib.sha256(plain.encode("ascii")).hexdigest()
