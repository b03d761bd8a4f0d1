"""SQLite databases; runs in the reading process."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.io.database import identifier
from dpdesk.io.failures import check_swollen, disagreement
from dpdesk.io.formats.columns import (
    COPY_ROWS,
    NullWatch,
    check_log,
    check_names,
    is_database,
    no_database,
    no_text,
)
from dpdesk.io.formats.databases.server import name_parts
from dpdesk.io.formats.endings import chosen
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import Notes, Values, damaged

if TYPE_CHECKING:
    import pyarrow

_CELLS, _MOST_ROWS = 1_000_000, 100_000
_LONGEST = 200
_MOST_BYTES, _LARGE, _FEW = 1_000_000_000, 1 << 24, 16
"""Bytes of a text or a row: the most that SQLite can, and those that are made of a small file;
rows that are made before their size is looked at."""
_STEPS, _STEPS_PER_BYTE, _EVERY = 500_000_000, 1_000, 1_000_000
"""Steps of SQLite's machine for a file, and for each of its bytes. A table takes one or two."""
_UNTIDY = re.compile(r"(NULL|TEXT|NUMERIC|non-\w+) value |CHECK constraint failed")
"""What the check of a database says of values that only break a rule of their table."""


def _refuse_other_files(action: int, *names: str | None) -> int:
    """Forbid a query to attach a file: one that is not there would be made, query only or not."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


class SqliteReader:
    """A table or query of a SQLite file; see :class:`~dpdesk.io.formats.table.TableReader`.

    Values keep their own type, which may differ from row to row: numbers get their shortest text,
    texts stay as they are, NULL becomes the empty text.
    """

    encoding = "utf-8"
    _which_tables = "type IN ('table', 'view')"

    def __init__(self, request: ReadRequest) -> None:
        self._path = Path(request.path)
        if not is_database(self._path, "sqlite"):
            raise no_database(self._path, "SQLite")
        self.notes = Notes()
        self._is_made, self._values, self._held = True, 0, 0
        _check_size(self._path)
        try:
            self._con = sqlite3.connect(f"file:{quote(str(self._path))}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise self._told(error) from error
        try:
            self._describe(request)
        except sqlite3.Error as error:
            self._con.close()
            raise self._told(error) from error
        except UnicodeDecodeError as error:
            self._con.close()
            raise damaged(self._path.name, "a name of a column is not text") from error
        except InputError:
            self._con.close()
            raise

    def _describe(self, request: ReadRequest) -> None:
        # Bytes that are no UTF-8 are found, and named, when the texts are taken over.
        self._con.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        self._con.execute("PRAGMA query_only = ON")
        self._con.execute("PRAGMA temp_store = MEMORY")  # never the system's temp folder
        self._con.set_authorizer(_refuse_other_files)
        # A view or a computed column of a small file makes any text, and rows without end.
        size = self._path.stat().st_size
        self._con.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(_MOST_BYTES, max(_LARGE, size)))
        self._left = self._most = _STEPS + _STEPS_PER_BYTE * size
        self._con.set_progress_handler(self._used_up, _EVERY)
        statement, self.rows = self._statement(request)
        check_log(self._path, "-wal")
        self._cursor = self._con.execute(statement)
        names = tuple(item[0] for item in self._cursor.description or ())
        check_names(names, self._path.name)
        self.variables = tuple(Variable(name) for name in names)

    def _used_up(self) -> bool:
        """Whether the database has done more than reading a file of its size takes."""
        self._left -= _EVERY
        return self._left < 0

    def _statement(self, request: ReadRequest) -> tuple[str, int | None]:
        if request.query is not None:
            return request.query, None
        found = self._con.execute(
            f"SELECT name FROM sqlite_master WHERE {self._which_tables} "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        )
        names = tuple(row[0] for row in found)
        wanted = request.table
        if wanted is not None and wanted not in names and len(name_parts(wanted)) == 1:
            (wanted,) = name_parts(wanted)  # as for other databases, a name may stand in quotes
        name = chosen(wanted, names, self._path.name, "table")
        self._check_columns(name)
        computed = (
            "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ?1 "
            "UNION ALL SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden = 2"
        )
        self._is_made = self._con.execute(computed, [name]).fetchone() is not None
        rows = self._con.execute(f"SELECT count(*) FROM {identifier(name)}").fetchone()[0]
        return f"SELECT * FROM {identifier(name)}", int(rows)

    def _check_columns(self, table: str) -> None:
        """Raise InputError for a table whose columns cannot be read."""

    def close(self) -> None:
        """End the connection."""
        self._con.close()

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in the order in which the database gives them."""
        names = tuple(variable.name for variable in self.variables)
        watch, done = NullWatch(names, self.notes), 0
        size = max(1, min(_MOST_ROWS, _CELLS // len(names)))
        if limit is None:
            self._check_whole()
        while limit is None or done < limit:
            count = size if limit is None else min(size, limit - done)
            try:
                rows = self._fetched(count)
            except sqlite3.Error as error:
                raise self._told(error, done + 1) from error
            if not rows:
                break
            yield tuple(
                watch.values(j, self._texts(names[j], values, done))
                for j, values in enumerate(zip(*rows, strict=True))
            )
            done += len(rows)
        check_log(self._path, "-wal")  # another program may have written meanwhile
        if limit is None and self.rows not in (None, done):
            raise disagreement(self._path.name, "rows", self.rows or 0, done)

    def _fetched(self, count: int) -> list[tuple[object, ...]]:
        """The next rows, at most so many; what is made of them does not fill the memory."""
        if not self._is_made:
            return self._cursor.fetchmany(count)
        rows: list[tuple[object, ...]] = []
        while len(rows) < count and (some := self._cursor.fetchmany(min(_FEW, count - len(rows)))):
            rows += some
            self._values += sum(map(len, some))
            self._held += sum(len(value) for row in some for value in row if isinstance(value, str))
            check_swollen(self._path.name, self._held, self._values, self._path.stat().st_size)
        return rows

    def _check_whole(self) -> None:
        """Refuse a damaged database, of which the library may give less than there is."""
        try:
            found = self._con.execute("PRAGMA quick_check").fetchall()
        except sqlite3.Error as error:
            if "malformed" not in str(error):
                return  # an index with a collation of its own program cannot be checked
            raise self._told(error) from error
        faults = [str(row[0]) for row in found if not _UNTIDY.match(str(row[0]))]
        if faults and faults[0] != "ok":
            what = " ".join(faults[0].replace("*** in database main ***", "").split())
            raise damaged(
                self._path.name, msg("the database is damaged ({what})", what=what[:_LONGEST])
            )

    def _texts(self, name: str, values: Sequence[object], start: int) -> pyarrow.Array:
        import pyarrow as pa

        texts = [_text(value) for value in values]
        if False in texts:
            row = start + texts.index(False) + 1
            raise no_text(self._path.name, name, "BLOB", row)
        try:
            return pa.array(texts, pa.string())
        except (UnicodeEncodeError, pa.ArrowInvalid):
            raise self._no_utf8(name, texts, start) from None

    def _no_utf8(self, name: str, texts: Sequence[object], start: int) -> InputError:
        at = next(j for j, text in enumerate(texts) if isinstance(text, str) and _broken(text))
        return InputError(
            "encoding.undecodable",
            msg(
                "{name}, row {start:,}, column `{name2}`: found bytes that are not text in "
                "the encoding UTF-8.",
                name=self._path.name,
                start=start + at + 1,
                name2=name,
            ),
            hint="Correct the value in the database.",
            details={"row": start + at + 1, "column": name},
        )

    def _told(self, error: sqlite3.Error, row: int | None = None) -> DpdeskError:
        text = str(error).rstrip(".")
        if "interrupted" in text:
            return InputError(
                "source.endless",
                msg(
                    "{name}: the database takes more than {most:,} steps for the table, more than "
                    "a file of its size should need.",
                    name=self._path.name,
                    most=self._most,
                ),
                hint=COPY_ROWS,
            )
        if "readonly" in text:
            try:
                check_log(self._path, "-journal")
            except InputError as unfinished:
                return unfinished
        if "locked" in text or "unable to open" in text:
            return StorageError(
                "storage.failed",
                msg("{path}: the database cannot be read: {text}.", path=self._path, text=text),
                hint="Close the program that uses it, or read a copy.",
            )
        if "malformed" in text or "not a database" in text:
            return damaged(self._path.name, msg("the database is damaged ({text})", text=text), row)
        return InputError(
            "source.query",
            msg("{name}: the database refused the query: {text}.", name=self._path.name, text=text),
            hint="Check `query` under [source].",
        )


def _text(value: object) -> str | bool | None:
    """The text of a value; None for NULL, False for bytes."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return number_text(value)
    return False if isinstance(value, bytes) else str(value)


def _check_size(path: Path) -> None:
    """Raise when a file is shorter than its header says, which the library reads as zeros."""
    with path.open("rb") as file:
        head = file.read(100)
    page = int.from_bytes(head[16:18], "big")
    pages = int.from_bytes(head[28:32], "big") if head[24:28] == head[92:96] else 0
    wanted, size = (65_536 if page == 1 else page) * pages, path.stat().st_size
    if size < wanted:
        what = msg(
            "the database breaks off after {size:,} bytes, its header says {wanted:,}",
            size=size,
            wanted=wanted,
        )
        raise damaged(path.name, what)


def _broken(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
