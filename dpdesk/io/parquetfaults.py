"""What is told of a Parquet file at which its readers stumble."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.io.formats.process import read_in_process
from dpdesk.io.formats.request import ReadDone, ReadRequest

_FORMAT, _STOPPED = "parquet", "read.stopped"


def look_at(path: Path, limit: int | None, token: CancelToken) -> ReadDone:
    """Columns, rows and notes of a file; see :mod:`dpdesk.io.formats.parquet_look`.

    Raises InputError ``parquet.*``, ``read.*`` and ``encoding.undecodable``, StorageError,
    Cancelled.
    """
    return _asked(ReadRequest(str(path), "", _FORMAT, limit), path, token)


@contextmanager
def readable(
    path: Path, token: CancelToken, culprit: Callable[[], str] = lambda: ""
) -> Iterator[None]:
    """Say what is at fault when the database stops reading ``path``.

    ``culprit()`` names the one column that cannot be read, if there is such a one. Raises
    InputError ``encoding.undecodable`` for a text that is no UTF-8, ``parquet.value`` for a column,
    ``parquet.damaged`` for other faults inside of the file; Cancelled.
    """
    try:
        yield
    except InputError as problem:
        if problem.code != "read.database":
            raise
        _asked(ReadRequest(str(path), "", _FORMAT, faults=True), path, token)
        column = culprit()
        if not column:
            raise damaged_parquet(path) from problem
        raise InputError(
            "parquet.value",
            f"{path.name}, column `{column}`: a value cannot be read as its type says.",
            hint="Leave the column out, or turn it into text first.",
            details={"column": column},
        ) from problem


def _asked(request: ReadRequest, path: Path, token: CancelToken) -> ReadDone:
    try:
        return read_in_process(request, path.name, token, lambda made: None)
    except InputError as problem:
        if problem.code != _STOPPED:
            raise
        raise damaged_parquet(path) from problem


def damaged_parquet(path: Path) -> InputError:
    """The error for a file of which no more can be told."""
    return InputError(
        "parquet.damaged",
        f"{path.name}: the file is no Parquet file, or it is damaged.",
        hint="Write it again with the program it comes from.",
    )
