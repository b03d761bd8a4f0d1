"""The one character that a released table cannot have: NUL, at which other programs end a text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken
from dpdesk.io.csvload import RAW
from dpdesk.io.database import query
from dpdesk.io.formats.stat_faults import nul_in_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AT_ONCE = 500


def refuse_nul(
    con: DuckDBPyConnection,
    texts: Sequence[tuple[int, str]],
    path: Path,
    token: CancelToken,
) -> None:
    """Raise InputError ``read.nul`` with the first place of a NUL in the table ``raw``.

    ``texts`` are the places and the names of the columns that may hold one.
    """
    for first in range(0, len(texts), _AT_ONCE):
        some = texts[first : first + _AT_ONCE]
        listed = ", ".join(f"bool_or(contains(c{j}, chr(0)))" for j, _ in some)
        with query(con, token, path) as cursor:
            found = cursor.execute(f"SELECT {listed} FROM {RAW}").fetchone() or ()
            for (j, name), hit in zip(some, found, strict=True):
                if hit:
                    where = f"FROM {RAW} WHERE contains(c{j}, chr(0))"
                    row = cursor.execute(f"SELECT min(rowid) + 1 {where}").fetchone() or (1,)
                    raise nul_in_text(path.name, int(row[0]), name)
