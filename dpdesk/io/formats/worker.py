"""The process that reads foreign formats: one request, progress, one answer."""

from __future__ import annotations

import importlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import DpdeskError, StorageError
from dpdesk.core.messages import msg
from dpdesk.io.formats.request import Answer, ReadDone, ReadFailed, ReadProgress, ReadRequest
from dpdesk.io.formats.stat_faults import no_rows
from dpdesk.io.formats.table import TableReader, Values

if TYPE_CHECKING:
    import pyarrow

_POLITE = 5


_READERS = {
    "sav": "statistical.StatisticalReader",
    "dta": "statistical.StatisticalReader",
    "sas7bdat": "statistical.StatisticalReader",
    "fixed": "fixedwidth.FixedWidthReader",
    "xlsx": "excel.reader.WorkbookReader",
    "xpt": "sas.transport.TransportReader",
    "jj": "jj.JjReader",
    "frame": "frame.FrameReader",
    "sqlite": "databases.sqlite_file.SqliteReader",
    "duckdb": "databases.duckdb_file.DuckdbReader",
    "postgresql": "databases.postgres.PostgresReader",
}
"""Where the reader of each format is found; imported when it is asked for."""
_PRIVATE = {
    "parquet": "private.parquet.ParquetRows",
    "sav": "private.statistical.PrivateStatistical",
    "dta": "private.statistical.PrivateStatistical",
    "sas7bdat": "private.statistical.PrivateStatistical",
    "xpt": "private.transport.PrivateTransport",
    "xlsx": "private.workbook.PrivateWorkbook",
    "jj": "jj.PrivateJj",
    "frame": "frame.FrameReader",
    "sqlite": "private.databases.PrivateSqlite",
    "duckdb": "private.databases.PrivateDuckdb",
    "postgresql": "private.databases.PrivatePostgres",
    "answer": "private.databases.PrivateAnswer",
}
"""Those that read for a private method: nothing is refused or told because of one row."""


def open_reader(request: ReadRequest) -> TableReader:
    """Open the source of a request with the reader of its format. Raises DpdeskError."""
    readers = _PRIVATE if request.private else _READERS
    module, name = readers[request.format].rsplit(".", 1)
    found = importlib.import_module(f"dpdesk.io.formats.{module}")
    reader: TableReader = getattr(found, name)(request)
    return reader


def read_table(request: ReadRequest, tell: Callable[[Answer], None]) -> ReadDone:
    """Read the table into the Parquet file that the request names. Raises DpdeskError, OSError."""
    if request.listing:
        from dpdesk.io.formats.databases.server import tables_of

        return ReadDone((), 0, tables=tables_of(request))
    if request.format == "parquet" and not request.private:
        from dpdesk.io.formats.parquet_look import look

        return look(request)
    if request.coded and request.limit is None:
        done = _coded(request, tell)
        if done is not None:
            return done
        request = replace(request, coded=False)
    with closing(open_reader(request)) as reader:
        if request.limit is not None:
            head = _head(reader, request.limit)
            done = ReadDone(reader.variables, len(head), head=head)
        else:
            done = ReadDone(reader.variables, write_table(reader, request, tell))
        return replace(
            done,
            notes=() if request.private else reader.notes.told(),
            encoding=reader.encoding,
            sha256=getattr(reader, "sha256", ""),
            skip=getattr(reader, "skip", 0),
            server=getattr(reader, "server", None),
        )


def _coded(request: ReadRequest, tell: Callable[[Answer], None]) -> ReadDone | None:
    """What :func:`read_table` gives for a table that was written as codes; None if it cannot be."""
    from dpdesk.io.formats.coded import most_coded, write_codes

    with closing(open_reader(request)) as reader:

        def progress(done: int) -> None:
            tell(ReadProgress(done, reader.rows))

        most = most_coded(reader.rows or 0)
        table = write_codes(_never_empty(reader.batches(None)), request.target, most, progress)
        if table is None or not table.batches:
            Path(request.target).unlink(missing_ok=True)
            return None
        return ReadDone(reader.variables, table.rows, encoding=reader.encoding, coded=table)


def write_table(reader: TableReader, request: ReadRequest, tell: Callable[[Answer], None]) -> int:
    """Write the table of a reader into the Parquet file of the request; how many rows it has."""
    done, writer, target = 0, None, request.target
    try:
        for batch in _never_empty(reader.batches(None)):
            table = _as_table(batch)
            if writer is None:
                writer = _writer(target, table)
            writer.write_table(table)
            done += table.num_rows
            tell(ReadProgress(done, reader.rows))
    finally:
        if writer is not None:
            writer.close()
    if writer is None and request.private:  # a refusal would depend on one row
        _writer(target, _as_table(tuple(Values(_nothing()) for _ in reader.variables))).close()
    elif writer is None:
        raise no_rows(Path(request.path).name, len(reader.variables))
    return done


def _writer(target: str, table: pyarrow.Table) -> Any:
    from pyarrow import parquet

    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return parquet.ParquetWriter(target, table.schema)


def _nothing() -> pyarrow.Array:
    import pyarrow

    return pyarrow.array([], pyarrow.string())


def _head(reader: TableReader, limit: int) -> tuple[tuple[str, ...], ...]:
    """The first rows as texts, made by the same statement as those of the whole table."""
    import pyarrow

    from dpdesk.io.database import in_memory
    from dpdesk.io.formats.numbers import texts_sql

    tables = [_as_table(batch) for batch in _never_empty(reader.batches(limit))]
    if not tables:
        return ()
    con = in_memory()
    con.register("head", pyarrow.concat_tables(tables))
    listed = texts_sql(con, "head", len(reader.variables))
    return tuple(tuple(row) for row in con.execute(f"SELECT {listed} FROM head").fetchall())


def _never_empty(batches: Iterator[tuple[Values, ...]]) -> Iterator[tuple[Values, ...]]:
    for batch in batches:
        if len(batch[0].values):
            yield batch


def _as_table(batch: tuple[Values, ...]) -> pyarrow.Table:
    import pyarrow

    columns: dict[str, Any] = {}
    for j, column in enumerate(batch):
        columns[f"c{j}"] = column.values
        if column.odd is not None:
            columns[f"s{j}"] = column.odd
    return pyarrow.table(columns)


def failed(error: Exception, request: ReadRequest) -> ReadFailed:
    """An error as the answer that tells of it."""
    if isinstance(error, DpdeskError):
        details = tuple(error.details.items())
        storage = isinstance(error, StorageError)
        return ReadFailed(error.code, error.sentence, error.hint, details, storage)
    if isinstance(error, OSError) and error.errno is not None:  # that of a library has none
        from dpdesk.io.failures import private_error, storage_error

        if error.filename is not None and os.fspath(error.filename) == request.path:
            told = storage_error(error, Path(request.path), "read")
        else:
            told = private_error(error, Path(request.target).parent, "write in")
        return ReadFailed(told.code, told.sentence, told.hint, tuple(told.details.items()), True)
    name = Path(request.path).name
    return ReadFailed(
        "read.stopped",
        msg(
            "{name}: the reader found something it does not know ({kind}: {error}).",
            name=name,
            kind=type(error).__name__,
            error=error,
        ),
        "The file may be damaged; save it again, or save it as CSV or Parquet.",
    )


def main() -> None:
    """Answer the one request that comes in."""
    with suppress(OSError, AttributeError):  # there is no such call on Windows
        os.nice(_POLITE)
    # What a library prints must not stand among the answers.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def tell(answer: Answer) -> None:
        pickle.dump(answer, out)
        out.flush()

    request = pickle.load(sys.stdin.buffer)
    try:
        tell(read_table(request, tell))
    except BrokenPipeError:
        return
    except Exception as error:  # noqa: BLE001 - told to the one who asked
        tell(failed(error, request))
