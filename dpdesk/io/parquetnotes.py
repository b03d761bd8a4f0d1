"""What is told of a Parquet file: moments cut, durations, dates of other years; its checksums."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken
from dpdesk.io.csvload import RAW
from dpdesk.io.database import query
from dpdesk.io.formats.strange import finer_sentence, outside_sentence
from dpdesk.io.formats.table import Notes, damaged

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow.parquet import ParquetFile

_BATCH = 65_536
_UNITS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_HEADER = re.compile(rb"(\x15[\x80-\xff]*[\x00-\x7f]){3}\x15", re.DOTALL)
"""How a page with a checksum begins: type, two sizes and, where there is one, the CRC-32, all of
them numbers in the compact protocol of Thrift. Source: parquet.thrift, PageHeader."""
_OUTSIDE = "c{0} <> '' AND (substr(c{0}, 5, 1) <> '-' OR contains(c{0}, '(BC)'))"
"""Not the text of a date of the years 1 to 9999."""


def notes_on(
    con: DuckDBPyConnection,
    path: Path,
    names: Sequence[str],
    kinds: Sequence[str],
    token: CancelToken,
) -> tuple[str, ...]:
    """Sentences about values of ``path``, loaded into the table ``raw``, that are not all told.

    ``kinds`` are the types of the columns in the database. Raises Cancelled.
    """
    from pyarrow.parquet import ParquetFile

    notes = Notes()
    with path.open("rb") as file, ParquetFile(file) as parquet:
        for field in parquet.schema_arrow:
            unit = _UNITS.get(getattr(field.type, "unit", ""), "")
            if unit and str(field.type).startswith("duration"):
                notes.add(
                    f"duration {field.name}",
                    f"Column `{field.name}` holds durations in {unit}; they are read as their "
                    "numbers.",
                )
        old = [column.path for column in _leaves(parquet) if column.physical_type == "INT96"]
    _note_finer(notes, path, [name for name in names if name in old], token)
    dated = [j for j, kind in enumerate(kinds) if kind.startswith(("DATE", "TIMESTAMP"))]
    with query(con, token, path) as cursor:
        for j in dated:
            where = f"FROM {RAW} WHERE {_OUTSIDE.format(j)}"
            found = cursor.execute(f"SELECT count(*), min(rowid) {where}").fetchone() or (0, 0)
            if found[0]:
                text = cursor.execute(f"SELECT c{j} FROM {RAW} WHERE rowid = {found[1]}").fetchone()
                sentence = outside_sentence(found[1] + 1, names[j], text[0] if text else "")
                notes.add(f"outside {j}", sentence, found[0])
    return notes.told()


def _leaves(parquet: ParquetFile) -> Iterator[Any]:
    schema = parquet.schema
    return (schema.column(j) for j in range(len(schema)))


def _note_finer(notes: Notes, path: Path, columns: Sequence[str], token: CancelToken) -> None:
    """Note moments of the old type INT96 with nanoseconds, which the database cuts off."""
    if not columns:
        return
    done = 0
    for fine, coarse in zip(*(_int96(path, columns, unit) for unit in ("ns", "us")), strict=True):
        token.check()
        for name, exact, cut in zip(columns, fine, coarse, strict=True):
            # Moments of other years than 1677 to 2262 overflow, but on both sides alike.
            rest = exact - cut * 1000
            places = rest.nonzero()[0]
            if len(places):
                row = done + int(places[0]) + 1
                notes.add(f"finer {name}", finer_sentence(row, name), len(places))
        done += len(fine[0])


def _int96(path: Path, columns: Sequence[str], unit: str) -> Iterator[list[Any]]:
    """Columns of moments as whole numbers since 1970 (none: 0), batch by batch."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as file, ParquetFile(file, coerce_int96_timestamp_unit=unit) as parquet:
        for batch in parquet.iter_batches(_BATCH, columns=list(columns)):
            yield [batch.column(name).cast(pa.int64()).fill_null(0).to_numpy() for name in columns]


def check_sums(path: Path, token: CancelToken) -> None:
    """Compare pages with their checksums where a file holds such, which the database does not.

    Raises InputError ``read.damaged`` with the rows and the column; Cancelled.
    """
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as file, ParquetFile(file) as plain:
        if not _has_sums(file, plain):
            return
    with path.open("rb") as file, ParquetFile(file, page_checksum_verification=True) as parquet:
        for group in range(parquet.num_row_groups):
            if not _agree(parquet, group, None, token):
                raise _disagreeing(path, parquet, group, token)


def _agree(parquet: ParquetFile, group: int, columns: list[str] | None, token: CancelToken) -> bool:
    try:
        for _ in parquet.iter_batches(_BATCH, row_groups=[group], columns=columns):
            token.check()
    except OSError as problem:
        # Whatever else stops this reader, the database finds and tells.
        return "CRC" not in str(problem)
    return True


def _disagreeing(path: Path, parquet: ParquetFile, group: int, token: CancelToken) -> DpdeskError:
    names = parquet.schema_arrow.names
    column = next((name for name in names if not _agree(parquet, group, [name], token)), names[0])
    above = sum(parquet.metadata.row_group(j).num_rows for j in range(group))
    last = above + parquet.metadata.row_group(group).num_rows
    what = f"rows {above + 1:,} to {last:,}, column `{column}`"
    return damaged(f"{path.name}, {what}", "the checksum of a page does not agree with its bytes")


def _has_sums(file: Any, parquet: ParquetFile) -> bool:
    """Whether the first page of a column has a checksum."""
    if not parquet.num_row_groups:
        return False
    group = parquet.metadata.row_group(0)
    for j in range(group.num_columns):
        chunk = group.column(j)
        file.seek(max(0, chunk.dictionary_page_offset or chunk.data_page_offset))
        if _HEADER.match(file.read(64)):
            return True
    return False
