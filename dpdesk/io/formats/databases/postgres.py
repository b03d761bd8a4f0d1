"""PostgreSQL; runs in the reading process.

Rows come by COPY as text, which keeps every digit, and are taken apart by Arrow: measured, several
times faster than fetching them as Python values.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from typing import Any

from dpdesk.core.errors import InputError
from dpdesk.core.labels import Variable
from dpdesk.core.messages import msg
from dpdesk.io.failures import disagreement
from dpdesk.io.formats.columns import NullWatch, check_names, no_text
from dpdesk.io.formats.databases.server import connect, name_parts, server_name, stop, told
from dpdesk.io.formats.moments import note_outside
from dpdesk.io.formats.numbers import decimals
from dpdesk.io.formats.request import ReadRequest, ServerFacts
from dpdesk.io.formats.table import Notes, Values

_BLOCK = 8 << 20
_LISTS = ("A", "C")
"""The categories of types that are arrays, and rows of a table."""
_BYTEA, _FLOAT4, _FLOAT8, _NUMERIC = 17, 700, 701, 1700
_NUMBERS = (20, 21, 23, _FLOAT4, _FLOAT8, _NUMERIC)
_DATED = (1082, 1114, 1184)
"""Dates, and moments without and with a time zone."""


class PostgresReader:
    """A table or query of a server; see :class:`~dpdesk.io.formats.table.TableReader`."""

    encoding = "utf-8"
    _as_text = "{column}::text"
    """The text of a column for the server, in its SQL."""
    server: ServerFacts

    def __init__(self, request: ReadRequest) -> None:
        import psycopg

        self._name = server_name(request.path)
        self.notes, self.rows, self.sha256 = Notes(), None, ""
        if request.table is None and request.query is None:
            raise InputError(
                "source.table",
                msg("{name}: expected a `table` or a `query` under [source].", name=self._name),
                hint='Add for instance table = "people".',
            )
        self._con = connect(request)
        try:
            self._describe(request)
        except psycopg.Error as error:
            self._con.close()
            raise told(self._name, error) from error
        except InputError:
            self._con.close()
            raise

    def _describe(self, request: ReadRequest) -> None:
        self._con.autocommit = False
        self._source = self._query(request)
        described = self._con.execute(self._select(None, "LIMIT 0")).description or []
        self._kinds = [(column.name, column.type_code) for column in described]
        check_names([name for name, _ in self._kinds], self._name)
        self._check_kinds()
        self.variables = tuple(Variable(name) for name, _ in self._kinds)
        self.server = ServerFacts(
            self._con.info.parameter_status("server_encoding") or "",
            tuple(j for j, (_, kind) in enumerate(self._kinds) if kind in _NUMBERS),
        )

    def _check_kinds(self) -> None:
        """Raise for the first column of bytes, lists or rows, as for those of other databases."""
        found = self._con.execute(
            "SELECT oid, typname::text, typcategory::text FROM pg_type WHERE oid = ANY (%s)",
            [[kind for _, kind in self._kinds]],
        ).fetchall()
        types = {oid: (name, category) for oid, name, category in found}
        for name, kind in self._kinds:
            word, category = types.get(kind, ("", ""))
            if kind == _BYTEA or category in _LISTS:
                raise no_text(self._name, name, f"{word[1:]}[]" if category == "A" else word)

    def _query(self, request: ReadRequest) -> Any:
        from psycopg import sql

        if request.query is not None:
            return sql.SQL("({}\n)").format(sql.SQL(request.query.strip().rstrip(";")))
        parts = name_parts(request.table or "")
        return sql.SQL("SELECT * FROM {}").format(sql.Identifier(*parts))

    def _select(self, columns: Any, tail: str) -> Any:
        from psycopg import sql

        listed = sql.SQL("*") if columns is None else columns
        inner = sql.SQL("SELECT {} FROM ({}) AS source ").format(listed, self._source)
        return inner + sql.SQL(tail)

    def stop(self) -> None:
        """Have the server stop what it does for this reader; from any thread, without waiting."""
        stop(self._con)

    def close(self) -> None:
        """End the connection."""
        self._con.close()

    def batches(self, limit: int | None) -> Iterator[tuple[Values, ...]]:
        """The rows in the order of the server; their hash is known when all have come."""
        import pyarrow as pa
        from psycopg import sql

        names = [name for name, _ in self._kinds]
        watch = NullWatch(names, self.notes)
        columns = sql.SQL(", ").join(
            sql.SQL(self._as_text).format(column=sql.Identifier(name)) for name in names
        )
        select = self._select(columns, "" if limit is None else f"LIMIT {limit}")
        copy = sql.SQL("COPY ({}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)").format(select)
        fields, options = self._conversion()
        done = 0
        with _Pump(self._con, copy, _prefix(names)) as pump:
            try:
                for batch in _batches(pump.stream, fields, options):
                    self._note_dates(batch, done)
                    done += batch.num_rows
                    yield tuple(
                        self._column(watch, j, array, kind)
                        for j, (array, (_, kind)) in enumerate(
                            zip(batch.columns, self._kinds, strict=True)
                        )
                    )
            except pa.ArrowInvalid:
                # Of an empty stream; but a reader that fails otherwise, or closes the pipe on the
                # server's words, must not pass for the end of the table.
                pump.finish()
                if pump.error is None and pump.bytes:
                    raise
        if pump.error is not None:
            raise told(self._name, pump.error) from pump.error
        if pump.rows != done:
            raise disagreement(self._name, "rows", pump.rows, done)
        self.sha256 = pump.digest.hexdigest()

    def _column(self, watch: NullWatch, j: int, array: Any, kind: int) -> Values:
        return watch.values(j, decimals(array) if kind == _NUMERIC else array)

    def _conversion(self) -> tuple[list[str], Any]:
        """Names of the columns in the stream, and how they become Arrow values."""
        import pyarrow as pa
        from pyarrow import csv

        fields = [f"c{j}" for j in range(len(self._kinds))]
        types = {_FLOAT4: pa.float32(), _FLOAT8: pa.float64()}
        options = csv.ConvertOptions(
            column_types={
                field: types.get(kind, pa.string())
                for field, (_, kind) in zip(fields, self._kinds, strict=True)
            },
            null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False,
        )  # fmt: skip
        return fields, options

    def _note_dates(self, batch: Any, done: int) -> None:
        for (name, kind), texts in zip(self._kinds, batch.columns, strict=True):
            if kind in _DATED:
                note_outside(self.notes, name, texts, done)


def _batches(stream: Any, fields: list[str], options: Any) -> Iterator[Any]:
    from pyarrow import csv

    yield from csv.open_csv(
        stream,
        read_options=csv.ReadOptions(column_names=fields, block_size=_BLOCK, use_threads=False),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=options,
    )


def _prefix(names: list[str]) -> bytes:
    """What the hash begins with: the columns, so that a renamed one is another source."""
    return ("\0".join(names) + "\0\0").encode("utf-8")


class _Pump:
    """Moves what the server sends into a pipe, on a thread, and hashes it."""

    def __init__(self, con: Any, copy: Any, prefix: bytes) -> None:
        self._con, self._copy = con, copy
        self.digest = hashlib.sha256(prefix)
        self.error: Exception | None = None
        self.bytes = 0
        self.rows = 0
        """How many rows the server says that it sent."""
        read, self._write = os.pipe()
        self.stream = os.fdopen(read, "rb")
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> _Pump:
        self._thread.start()
        return self

    def _run(self) -> None:
        try:
            with (
                os.fdopen(self._write, "wb", 1 << 20) as out,
                self._con.cursor() as cursor,
            ):
                with cursor.copy(self._copy) as rows:
                    for block in rows:
                        self.digest.update(block)
                        self.bytes += len(block)
                        out.write(block)
                self.rows = cursor.rowcount
        except Exception as error:  # noqa: BLE001 - told by the reader
            self.error = error

    def finish(self) -> None:
        """Read what is left; the server has had its say then."""
        while self.stream.read(_BLOCK):
            pass
        self._thread.join()

    def __exit__(self, *_: object) -> None:
        self.stream.close()
        self._thread.join()
