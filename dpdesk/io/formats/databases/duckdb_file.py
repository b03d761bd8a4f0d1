"""DuckDB databases; runs in the reading process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.io.database import identifier, in_utc
from dpdesk.io.failures import check_swollen
from dpdesk.io.formats.columns import (
    COPY_ROWS,
    NullWatch,
    check_log,
    check_names,
    is_database,
    no_database,
    no_text,
)
from dpdesk.io.formats.databases.server import quoted_part
from dpdesk.io.formats.endings import chosen
from dpdesk.io.formats.moments import note_outside
from dpdesk.io.formats.numbers import text_sql
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import Notes, Values

if TYPE_CHECKING:
    import pyarrow

_BATCH = 50_000
_MOST_ROWS = 1 << 30
"""Rows of a view, which takes next to nothing in its file."""
_NO_TEXT = ("STRUCT", "MAP", "LIST", "BLOB", "UNION", "[", "VARIANT", "GEOMETRY")
_LOCKED = re.compile(r"\block\b", re.IGNORECASE)  # not the "block" of a damaged file
_OPTIONS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "memory_limit": "1GB",
    "threads": "2",
}


class DuckdbReader:
    """A table or query of a DuckDB file; see :class:`~dpdesk.io.formats.table.TableReader`."""

    encoding = "utf-8"
    _only_tables = ""

    def __init__(self, request: ReadRequest) -> None:
        import duckdb

        self._path = Path(request.path)
        if not is_database(self._path, "duckdb"):
            raise no_database(self._path, "DuckDB")
        self.notes = Notes()
        if os.sep == "/" and "\\" in str(self._path):
            raise InputError(
                "source.path",
                msg(
                    "{path}: DuckDB takes the backslash in this name for a folder separator.",
                    path=self._path,
                ),
                hint="Give the file, or its folder, a name without a backslash.",
            )
        try:
            # It would spill beside the database; what is raw may lie in the private folder only.
            spill = f"{request.target}.spill" if request.target else ""
            options = {**_OPTIONS, "temp_directory": spill}
            self._con = in_utc(duckdb.connect(str(self._path), read_only=True, config=options))
        except duckdb.Error as error:
            raise self._told(error) from error
        try:
            self._describe(request)
        except duckdb.Error as error:
            self._con.close()
            raise self._told(error) from error
        except InputError:
            self._con.close()
            raise

    def _describe(self, request: ReadRequest) -> None:
        check_log(self._path, ".wal")
        self._con.execute("SET enable_external_access = false")
        self._con.execute("SET lock_configuration = true")
        self._source, self.rows = self._table(request)
        described = self._con.execute(f"DESCRIBE SELECT * FROM {self._source}").fetchall()
        self._kinds = [(str(row[0]), str(row[1])) for row in described]
        if request.query is not None:
            # Below a SELECT, a column gets another name when one has it but for case.
            described = self._con.execute(f"DESCRIBE {self._source}").fetchall()
        self._names = [str(row[0]) for row in described]
        check_names(self._names, self._path.name)
        for name, (_, kind) in zip(self._names, self._kinds, strict=True):
            is_enum = kind.startswith("ENUM(") and kind.endswith(
                ")"
            )  # the words may be in its labels
            if not is_enum and any(word in kind.upper() for word in _NO_TEXT):
                raise no_text(self._path.name, name, kind)
        self.variables = tuple(Variable(name) for name in self._names)

    def _table(self, request: ReadRequest) -> tuple[str, int | None]:
        if request.query is not None:
            self._check_one_select(request.query)
            return f"({request.query.strip().rstrip(';')}\n)", None
        found = self._con.execute(
            "SELECT table_schema, table_name, table_type FROM information_schema.tables "
            f"WHERE table_catalog = current_database() {self._only_tables} ORDER BY ALL"
        ).fetchall()
        schemas = {
            ".".join(map(quoted_part, (name,) if schema == "main" else (schema, name))): (
                schema,
                name,
                kind,
            )
            for schema, name, kind in found
        }
        schema, name, kind = schemas[
            chosen(request.table, tuple(schemas), self._path.name, "table")
        ]
        self._check_columns(schema, name)
        source = f"{identifier(schema)}.{identifier(name)}"
        if kind == "VIEW":
            self._refuse_endless(source, name)
        rows = self._con.execute(f"SELECT count(*) FROM {source}").fetchone()
        return source, int(rows[0]) if rows else 0

    def _refuse_endless(self, source: str, view: str) -> None:
        """Raise InputError ``source.endless`` for a view of rows without end."""
        recursive = self._con.execute(
            "SELECT 1 FROM duckdb_views() WHERE NOT internal AND sql ILIKE '%recursive%' UNION ALL "
            "SELECT 1 FROM duckdb_functions() WHERE NOT internal "
            "AND macro_definition ILIKE '%recursive%'"
        ).fetchall()
        bounded = f"SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {_MOST_ROWS + 1})"
        if recursive or self._con.execute(bounded).fetchall()[0][0] > _MOST_ROWS:
            raise InputError(
                "source.endless",
                msg(
                    "{name}: the view `{view}` has more than {most:,} rows, or is computed by "
                    "recursion, which may never end.",
                    name=self._path.name,
                    view=view,
                    most=_MOST_ROWS,
                ),
                hint=COPY_ROWS,
            )

    def _check_columns(self, schema: str, table: str) -> None:
        """Raise InputError for a table whose columns cannot be read."""

    def _check_one_select(self, query: str) -> None:
        """Raise InputError ``source.query``: what follows a SELECT would be run as well."""
        import duckdb

        found = self._con.extract_statements(query)
        if [one.type for one in found] != [duckdb.StatementType.SELECT]:
            raise InputError(
                "source.query",
                f"{self._path.name}: the database refused the query: it is not one SELECT.",
                hint="Check `query` under [source].",
            )

    def close(self) -> None:
        """End the connection."""
        self._con.close()

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in the order of the database."""
        import duckdb

        watch = NullWatch(self._names, self.notes)
        listed = ", ".join(f"{text_sql(name, kind)} AS c{j}" for j, (name, kind) in
                           enumerate(self._kinds))  # fmt: skip
        tail = "" if limit is None else f" LIMIT {limit}"
        try:
            if limit is None:
                self._refuse_swollen()
            found = self._con.sql(f"SELECT {listed} FROM {self._source}{tail}")
            done = 0
            for batch in found.to_arrow_reader(_BATCH):
                self._note_dates(batch, done)
                done += batch.num_rows
                yield tuple(watch.values(j, array) for j, array in enumerate(batch.columns))
        except duckdb.Error as error:
            raise self._told(error) from error

    def _refuse_swollen(self) -> None:
        """Raise InputError ``read.swollen``; lengths are summed up without making the texts."""
        texts = [identifier(name) for name, kind in self._kinds if kind == "VARCHAR"]
        listed = ", ".join(["count(*)", *(f"coalesce(sum(strlen({name})), 0)" for name in texts)])
        ((rows, *sums),) = self._con.execute(f"SELECT {listed} FROM {self._source}").fetchall()
        size = self._path.stat().st_size
        check_swollen(self._path.name, sum(map(int, sums)), rows * len(self._kinds), size)

    def _note_dates(self, batch: pyarrow.RecordBatch, done: int) -> None:
        for name, (_, kind), texts in zip(self._names, self._kinds, batch.columns, strict=True):
            if kind.startswith(("DATE", "TIMESTAMP")):
                note_outside(self.notes, name, texts, done)

    def _told(self, error: Exception) -> DpdeskError:
        text = " ".join(str(error).split())[:200]
        corrupt = "corrupt" in text.lower()
        if not corrupt and _LOCKED.search(text):
            return StorageError(
                "storage.failed",
                msg("{path}: another program has the database open for writing.", path=self._path),
                hint="Close that program, or read a copy of the file.",
            )
        if corrupt or any(word in text for word in ("IO Error", "Serialization", "version number")):
            return InputError(
                "read.damaged",
                msg(
                    "{name}: the database cannot be read ({text}).", name=self._path.name, text=text
                ),
                hint="Export the table as Parquet with the program that wrote the file.",
            )
        return InputError(
            "source.query",
            msg("{name}: the database refused the query: {text}.", name=self._path.name, text=text),
            hint="Check `query` under [source].",
        )
