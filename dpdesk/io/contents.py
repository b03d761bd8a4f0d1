"""What data hold in their measured columns, whatever their format and the order of their rows.

The ledger must know data again that were saved in another format or sorted. A print is a hash over
the names of columns and how often each row of them occurs; nothing of a single row can be told from
it without knowing all the others.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import DATA, Column, texts
from dpdesk.io.database import in_memory, query

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

LEAST_DIFFERENT = 10
"""Different rows from which equal counts are not taken for chance: two surveys may well have as
many men each, but hardly ten groups of the same sizes."""
_SAME = "coalesce(try_cast(replace(trim(v), ',', '.') AS DOUBLE)::VARCHAR, trim(v), '')"
"""A number is the same one however a format writes it; blanks around a text do not count."""
_SUMS = (
    "sum((m >> 64)::HUGEINT * n)::VARCHAR, "
    "sum((m & 18446744073709551615::UHUGEINT)::HUGEINT * n)::VARCHAR"
)
"""Sums of both halves of the rows' hashes, which are computed once for both."""
_PIECE = 1 << 19


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
            f"SELECT count(DISTINCT r), sum(n), {_SUMS} FROM (SELECT r, md5_number(r) AS m, n FROM "
            f"(SELECT {row} AS r, n FROM "
            f"(SELECT {parts}, count(*) AS n FROM {DATA} GROUP BY {groups})))"
        ).fetchone() or (0, 0, None, None)
    return _digest([name for name, _ in found], different, int(rows or 0), lower, upper)


def counted_print(table: FrequencyTable, place: Path, token: CancelToken) -> str:
    """As :func:`content_print`, of columns that are counted: each value is looked at once."""
    import pyarrow as pa

    names = [" ".join(name.casefold().split()) for name in table.attributes]
    order = sorted(range(len(names)), key=lambda j: names[j])
    if not order:
        return ""
    con = in_memory()
    try:
        same = [_same(con, table.domains[j], place, token) for j in order]
        written = [_behind_length(each) for each in same]
        row = " || ".join(f"w{i}" for i in range(len(order)))
        sums = [0, 0]
        for piece in _pieces(len(table.counts)):
            columns = {
                f"w{i}": pa.DictionaryArray.from_arrays(pa.array(table.codes[piece, j]), each)
                for i, (j, each) in enumerate(zip(order, written, strict=True))
            }
            with query(con, token, place) as cursor:
                cursor.register("counted", pa.table({**columns, "n": table.counts[piece]}))
                found = cursor.execute(
                    f"SELECT {_SUMS} FROM (SELECT md5_number({row}) AS m, n FROM counted)"
                ).fetchone() or (0, 0)
            sums = [total + int(each) for total, each in zip(sums, found, strict=True)]
    finally:
        con.close()
    different = _different(table, order, same)
    lower, upper = map(str, sums)
    return _digest([names[j] for j in order], different, int(table.counts.sum()), lower, upper)


def _pieces(size: int) -> Iterator[slice]:
    return (slice(start, start + _PIECE) for start in range(0, size, _PIECE))


def _same(
    con: DuckDBPyConnection, domain: Sequence[str], place: Path, token: CancelToken
) -> list[str]:
    """The texts of values by which these are compared."""
    import pyarrow as pa

    with query(con, token, place) as cursor:
        cursor.register("listed", pa.table({"v": pa.array(domain, pa.string())}))
        return list(
            texts(cursor.sql(f"SELECT {_SAME} AS w FROM listed").to_arrow_table().column(0))
        )


def _behind_length(same: Sequence[str]) -> pyarrow.Array:
    import pyarrow as pa

    return pa.array([f"{len(text.encode())}:{text}" for text in same], pa.string())


def _different(table: FrequencyTable, order: Sequence[int], same: Sequence[Sequence[str]]) -> int:
    """How many rows are different, counted no further than need be."""
    if all(len(set(each)) == len(each) for each in same):
        return len(table.counts)
    seen: set[tuple[str, ...]] = set()
    for codes in table.codes:
        seen.add(tuple(each[codes[j]] for j, each in zip(order, same, strict=True)))
        if len(seen) >= LEAST_DIFFERENT:
            break
    return len(seen)


def _digest(names: list[str], different: int, rows: int, lower: object, upper: object) -> str:
    if different < LEAST_DIFFERENT:
        return ""
    plain = json.dumps([names, rows, lower, upper])
    return hashlib.sha256(plain.encode("ascii")).hexdigest()
