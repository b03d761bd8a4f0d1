"""Columns of texts with NULLs, as databases give them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.failures import check_width
from dpdesk.io.formats.table import Notes, Values

if TYPE_CHECKING:
    import pyarrow

MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}

COPY_ROWS = "Copy the rows that you need to a table of their own, and name it as `table`."


class NullWatch:
    """Turns NULL into the empty text, and tells of columns where both were found."""

    def __init__(self, names: Sequence[str], notes: Notes) -> None:
        self._names, self._notes = names, notes
        self._null, self._empty = [False] * len(names), [False] * len(names)
        self._told: set[int] = set()

    def values(self, j: int, array: pyarrow.Array) -> Values:
        """The values of column ``j`` in one batch; texts without NULL, numbers as they are."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_string(array.type):
            return Values(array)
        self._null[j] |= array.null_count > 0
        if not self._empty[j]:
            self._empty[j] = bool(pc.any(pc.equal(array, "")).as_py())
        if self._null[j] and self._empty[j] and j not in self._told:
            self._told.add(j)
            self._notes.add(
                f"null {j}",
                msg(
                    "Column `{column}` holds null and the empty text; both are read as the "
                    "empty text.",
                    column=self._names[j],
                ),
            )
        return Values(pc.fill_null(array, ""))


def check_names(
    names: Sequence[str],
    source: str,
    hint: str = "Rename one of them in a copy of the data, or by `AS` where a `query` chooses "
    "columns.",
) -> None:
    """Raise InputError ``source.names`` for no column, one without a name, two of the same name.

    ``hint`` says how two columns of the same name get different ones. Raises ``read.columns`` for
    too many of them.
    """
    check_width(source, len(names))
    if not names:
        raise InputError(
            "source.names", msg("{source}: found no column, expected at least one.", source=source)
        )
    if "" in names:
        raise InputError(
            "source.names",
            msg(
                "{source}: column {index} has no name, expected one for each.",
                source=source,
                index=names.index("") + 1,
            ),
            hint="Give it a name in a copy of the data, or by `AS` where a `query` chooses "
            "columns.",
        )
    seen: dict[str, int] = {}
    for j, name in enumerate(names):
        first = seen.setdefault(name, j)
        if first != j:
            raise InputError(
                "source.names",
                msg(
                    "{source}: the columns {i} and {j} are both named `{name}`, expected a "
                    "different name for each.",
                    source=source,
                    i=first + 1,
                    j=j + 1,
                    name=name,
                ),
                hint=hint,
            )


def no_text(source: str, column: str, kind: str, row: int | None = None) -> InputError:
    """The error for values that have no text: bytes, lists, structures."""
    place = source if row is None else msg("{source}, row {row:,}", source=source, row=row)
    details: dict[str, Any] = {"column": column}
    if row is not None:
        details["row"] = row
    return InputError(
        "source.type",
        msg(
            "{place}, column `{column}`: found values of type {kind}, expected texts, numbers, "
            "dates or truth values.",
            place=place,
            column=column,
            kind=kind,
        ),
        hint="Leave the column out of a copy of the data, or turn it into text there; where a "
        "`query` chooses columns, it can do so too.",
        details=details,
    )


def is_database(path: Path, kind: str) -> bool:
    """Whether a file begins as databases of this kind do (``"sqlite"`` or ``"duckdb"``)."""
    start, magic = MAGIC[kind]
    with path.open("rb") as file:
        return file.read(start + len(magic))[start:] == magic


def check_log(path: Path, ending: str) -> None:
    """Raise when changes stand in a log beside a database: its reader would merge them unhashed.

    ``ending`` is what the name of the log has behind that of the file. Raises InputError
    ``source.unfinished``.
    """
    log = path.resolve()
    log = log.with_name(log.name + ending)
    try:
        size = log.stat().st_size
    except OSError:
        return
    if size:
        raise InputError(
            "source.unfinished",
            msg(
                "{name}: changes to the database are in the file {log} next to it, which the "
                "hash of the database does not cover, expected them in the database.",
                name=path.name,
                log=log.name,
            ),
            hint="Close the program that uses the database, or write its changes into the file "
            "(CHECKPOINT of DuckDB, PRAGMA wal_checkpoint(TRUNCATE) of SQLite).",
        )


def no_database(path: Path, kind: str) -> InputError:
    """The error for a file that is none."""
    return InputError(
        "read.damaged",
        msg(
            "{name}: the file is not a {kind} database, or it is damaged.",
            name=path.name,
            kind=kind,
        ),
        hint="Check the path, or get the file again from where it comes from.",
    )
