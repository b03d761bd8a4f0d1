"""Databases for private methods: a value is read by itself, and a table is no view.

A view, or a table that a program computes while it is read (a virtual one of SQLite), may hold
anything, such as totals in which one person changes many rows. A column that is computed so may
fail at the value of one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.io.formats.columns import NullWatch
from dpdesk.io.formats.databases.duckdb_file import DuckdbReader
from dpdesk.io.formats.databases.postgres import PostgresReader
from dpdesk.io.formats.databases.server import need_utf8
from dpdesk.io.formats.databases.sqlite_file import SqliteReader
from dpdesk.io.formats.numbers import decimals, number_text
from dpdesk.io.formats.private.texts import checked_texts, texts_of
from dpdesk.io.formats.request import ReadRequest
from dpdesk.io.formats.table import Values

_LONGEST = 4 << 20
"""Bytes of the longest row that is read from a server."""
_NUMBERS = (700, 701, 1700)
"""PostgreSQL's types of numbers with a point."""
_FIRST_VIRTUAL = 18_00_00
"""The version of PostgreSQL from which on a table can have columns that are not stored."""
_COPY = "Copy the rows into a table of their own."


class PrivateSqlite(SqliteReader):
    """A table of a SQLite file; bytes and broken texts are unreadable."""

    _which_tables = "type = 'table' AND rootpage > 0"

    def _check_columns(self, table: str) -> None:
        """2 is the mark of a column that is computed while it is read."""
        virtual = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 2"
        _refuse_computed(self._path.name, self._con.execute(virtual, [table]).fetchone())

    def _texts(self, name: str, values: Sequence[object], start: int) -> Any:
        return texts_of([_text(value) for value in values])

    def _check_whole(self) -> None:
        """The check of a database tells of single values as well."""


class PrivateDuckdb(DuckdbReader):
    """A table of a DuckDB file."""

    _only_tables = "AND table_type = 'BASE TABLE'"

    def _check_columns(self, schema: str, table: str) -> None:
        found = self._con.execute(
            "SELECT column_name FROM duckdb_columns() WHERE is_generated "
            "AND database_name = current_database() AND schema_name = ? AND table_name = ?",
            [schema, table],
        ).fetchone()
        _refuse_computed(self._path.name, found)

    def _refuse_swollen(self) -> None:
        """One row could reach the limit."""

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """See :meth:`DuckdbReader.batches`."""
        for batch in super().batches(limit):
            yield tuple(Values(checked_texts(column.values)) for column in batch)


class PrivatePostgres(PostgresReader):
    """A table of a server; a row of more than 4 MiB is unreadable where it is too long."""

    def __init__(self, request: ReadRequest) -> None:
        super().__init__(request)
        most = _LONGEST // max(1, len(self.variables))
        self._as_text = (
            # NULL is neither longer nor shorter, and stays NULL.
            f"CASE WHEN octet_length({{column}}::text) > {most} THEN chr(1114111) "
            "ELSE {column}::text END"
        )

    def _describe(self, request: ReadRequest) -> None:
        super()._describe(request)
        # A text of another encoding may have no form in UTF-8, and the server would stop at it.
        need_utf8(self._name, self.server.encoding)
        table = self._source.as_string(self._con).removeprefix("SELECT * FROM ")
        found = self._con.execute(
            "SELECT relkind IN ('r', 'p') FROM pg_class WHERE oid = to_regclass(%s)", [table]
        ).fetchone()
        if found is None or not found[0]:
            raise InputError(
                "source.view",
                msg(
                    "{name}: `{table}` is a view, in which one person may change many rows, "
                    "expected a table for a differentially private method.",
                    name=self._name,
                    table=str(request.table),
                ),
                hint=_COPY,
                details={"key": "table"},
            )
        if self._con.info.server_version < _FIRST_VIRTUAL:
            return
        virtual = (
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) "
            "AND attgenerated = 'v' AND NOT attisdropped"
        )
        _refuse_computed(self._name, self._con.execute(virtual, [table]).fetchone())

    def _conversion(self) -> tuple[list[str], Any]:
        """All columns come as bytes: what is no text is unreadable."""
        import pyarrow as pa
        from pyarrow import csv

        fields = [f"c{j}" for j in range(len(self._kinds))]
        options = csv.ConvertOptions(
            column_types=dict.fromkeys(fields, pa.binary()),
            null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False,
        )  # fmt: skip
        return fields, options

    def _note_dates(self, batch: Any, done: int) -> None:
        """Nothing is told of single values."""

    def _column(self, watch: NullWatch, j: int, array: Any, kind: int) -> Values:
        texts = checked_texts(array)
        return Values(decimals(texts) if kind in _NUMBERS else texts)


class PrivateAnswer(PrivatePostgres):
    """What a server answers to a question on a table that was looked at before."""

    def _describe(self, request: ReadRequest) -> None:
        PostgresReader._describe(self, request)


def _refuse_computed(name: str, column: Sequence[object] | None) -> None:
    """Raise InputError ``source.computed`` where a column is computed while it is read."""
    if column is not None:
        raise InputError(
            "source.computed",
            msg(
                "{name}: the column `{column}` is computed while it is read, which the value of "
                "one row could stop, expected stored columns for a differentially private method.",
                name=name,
                column=str(column[0]),
            ),
            hint=_COPY,
            details={"key": "table"},
        )


def _text(value: object) -> str | bytes | None:
    """The text of a value; bytes that are no text where there is none."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return number_text(value)
    return b"\xff" if isinstance(value, bytes) else str(value)
