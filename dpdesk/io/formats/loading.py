"""From a source of a foreign format to a table of texts in the database, and to a preview."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dpdesk.core.home import expanded
from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.labels import Codebook, Kind
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import queries_rows
from dpdesk.io.csvload import CHECK, LOAD, RAW, STEPS, Loaded, Source
from dpdesk.io.database import parquet_source, query
from dpdesk.io.failures import disagreement
from dpdesk.io.formats.databases.hosts import confirmed, password_of, refuse_unconfirmed
from dpdesk.io.formats.numbers import texts_sql
from dpdesk.io.formats.process import read_in_process
from dpdesk.io.formats.request import ReadDone, ReadProgress, ReadRequest
from dpdesk.io.labelwatch import note_unforeseen
from dpdesk.io.missing import refuse_nul
from dpdesk.io.reading import PREVIEW_ROWS, Reading, SourcePreview, format_of
from dpdesk.io.source import FilePrint, file_print
from dpdesk.io.workspace import Workspace


def load_foreign(source: Source, token: CancelToken, report: Report) -> Loaded:
    """Load a source into the table ``raw``; see :func:`dpdesk.io.parquetload.load_parquet`.

    Raises InputError (``read.*``, ``encoding.*``, ``catalog.*``) that names the row and the column
    where there is one, StorageError, Cancelled; nothing is left behind.
    """
    con, path, spec = source.con, source.path, source.spec
    report(StepStarted(CHECK, 1, STEPS))
    digest = None if spec.is_url else file_print(path, token, report, CHECK)
    report(StepStarted(LOAD, 2, STEPS))

    def progress(made: ReadProgress) -> None:
        report(StepProgress(LOAD, made.done, made.total, "rows"))

    with scratch(source.workspace) as target:
        request = request_for(spec, path, source.base, target)
        done = read_in_process(request, path.name, token, progress)
        with query(con, token, path) as cursor:
            listed = texts_sql(cursor, parquet_source(target), len(done.variables))
            cursor.execute(f"CREATE TABLE {RAW} AS SELECT {listed} FROM {parquet_source(target)}")
            loaded = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
    if loaded is None or loaded[0] != done.rows:
        raise disagreement(path.name, "rows", done.rows, loaded[0] if loaded else 0)
    names = tuple(variable.name for variable in done.variables)
    texts = [(j, one.name) for j, one in enumerate(done.variables) if one.kind is Kind.TEXT]
    refuse_nul(con, texts, path, token)
    form = format_of(spec, path)
    told = note_unforeseen(con, done.variables, form, spec.missing or (), path, token)
    reading = reading_of(spec, path, replace(done, notes=(*done.notes, *told)))
    book = Codebook(done.variables)
    return Loaded(names, done.rows, reading, digest or FilePrint(done.sha256), book)


def preview_foreign(path: Path, base: Path, spec: SourceSpec, token: CancelToken) -> SourcePreview:
    """The first rows; raises what :func:`load_foreign` raises. No value touches the disk."""
    request = replace(request_for(spec, path, base, Path()), target="", limit=PREVIEW_ROWS)
    done = read_in_process(request, path.name, token, lambda made: None)
    names = tuple(variable.name for variable in done.variables)
    return SourcePreview(reading_of(spec, path, done), names, done.head)


def request_for(spec: SourceSpec, path: Path, base: Path, target: Path) -> ReadRequest:
    """What is asked of the reading process; paths that the plan names start at ``base``."""

    def below(name: str | None) -> str | None:
        return None if name is None else str(Path(base, expanded(name)).absolute())

    known = confirmed() if spec.is_url else frozenset()
    if spec.is_url:
        refuse_unconfirmed(spec.path, known)
    return ReadRequest(
        path=spec.path if spec.is_url else str(path),
        target=str(target),
        format=format_of(spec, path),
        encoding=spec.encoding,
        table=spec.table,
        query=None if queries_rows(spec) else spec.query,
        metadata=below(spec.path if spec.path.lower().endswith(".rda") else spec.metadata),
        catalog=below(spec.catalog),
        header=spec.header,
        skip=spec.skip,
        columns=spec.columns,
        password=password_of(spec.path) if spec.is_url else None,
        confirmed=known,
    )


def reading_of(spec: SourceSpec, path: Path, done: ReadDone) -> Reading:
    """How a source of a foreign format was read."""
    return Reading(
        format_of(spec, path),
        encoding=done.encoding,
        missing=spec.missing,
        notes=done.notes,
        skip=done.skip,
    )


@contextmanager
def scratch(workspace: Workspace) -> Iterator[Path]:
    """A path for the table that the reading process writes; the file is removed afterwards."""
    path = workspace.new_path(".parquet")
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
