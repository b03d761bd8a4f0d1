"""Where a Parquet file is at fault: the column and the row of what its readers stumble over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken

if TYPE_CHECKING:
    import pyarrow

_BATCH = 65_536


@contextmanager
def readable(path: Path, token: CancelToken) -> Iterator[None]:
    """Say where texts are no UTF-8 when the database stops reading ``path`` for it.

    Raises InputError ``encoding.undecodable`` instead of the words of the database, and
    ``parquet.damaged`` for other faults inside of the file; Cancelled.
    """
    try:
        yield
    except InputError as problem:
        if problem.code != "read.database":
            raise
        raise _undecodable(path, token) or _damaged(path) from problem


def _damaged(path: Path) -> InputError:
    return InputError(
        "parquet.damaged",
        f"{path.name}: the file is no Parquet file, or it is damaged.",
        hint="Write it again with the program it comes from.",
    )


def _undecodable(path: Path, token: CancelToken) -> InputError | None:
    """The error for the first text that is no UTF-8, column by column; None when all are."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with path.open("rb") as file, ParquetFile(file) as parquet:
            done = 0
            for batch in parquet.iter_batches(_BATCH):
                token.check()
                for field, column in zip(batch.schema, batch.columns, strict=True):
                    at = _first_broken(column)
                    if at is not None:
                        return _no_utf8(path, field.name, done + at + 1)
                done += batch.num_rows
    except (pyarrow.ArrowException, OSError):
        return None
    return None


def _first_broken(column: pyarrow.Array) -> int | None:
    """The place of the first text of a column that is no UTF-8."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type, safe=False)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raw = column.cast(pa.large_binary()).to_pylist()
        return next((j for j, value in enumerate(raw) if value and _broken(value)), None)
    return None


def _broken(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def _no_utf8(path: Path, column: str, row: int) -> InputError:
    return InputError(
        "encoding.undecodable",
        f"{path.name}, row {row:,}, column `{column}`: found bytes that are no text in the "
        "encoding UTF-8.",
        hint="Repair the value in the program that wrote the file.",
        details={"row": row, "column": column},
    )
