"""Sources of foreign formats, Parquet files and databases for a private method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.labels import Codebook
from dpdesk.core.plan import SourceSpec
from dpdesk.io.csvload import CHECK, LOAD, RAW, STEPS, Loaded, Source
from dpdesk.io.database import parquet_source, query
from dpdesk.io.emptyrows import blank_sql
from dpdesk.io.formats.loading import request_for, scratch
from dpdesk.io.formats.numbers import text_sql
from dpdesk.io.formats.process import read_in_process
from dpdesk.io.formats.request import ReadProgress, ReadRequest
from dpdesk.io.private.coded import lost_codes, take_codes
from dpdesk.io.private.loading import (
    RequestedColumns,
    book_of,
    counted,
    lost_values,
    wanted_columns,
)
from dpdesk.io.private.values import typed_sql
from dpdesk.io.reading import Reading, format_of
from dpdesk.io.source import FilePrint, file_print

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from dpdesk.io.coded_rows import CodedRows

_MOST_CODED = 1_000
"""Columns of a table that may be held as codes."""


def load_typed(source: Source, token: CancelToken, report: Report, held: bool = False) -> Loaded:
    """Load the declared columns; see :func:`dpdesk.io.private.loading.load_private`."""
    con, path, spec = source.con, source.path, source.spec
    report(StepStarted(CHECK, 1, STEPS))
    digest = None if spec.is_url else file_print(path, token, report, CHECK)
    report(StepStarted(LOAD, 2, STEPS))

    def progress(made: ReadProgress) -> None:
        report(StepProgress(LOAD, made.done, made.total, "rows"))

    coded: CodedRows | None = None
    with scratch(source.workspace) as target:
        request = replace(
            _request(spec, path, source.base, target),
            coded=held
            and format_of(spec, path) == "parquet"
            and 0 < len(spec.types) <= _MOST_CODED,
        )
        done = read_in_process(request, path.name, token, progress)
        names = tuple(variable.name for variable in done.variables)
        wanted = wanted_columns(spec, names, path.name)
        if done.coded is not None:
            coded = take_codes(con, path, target, spec, wanted, done.coded, token)
        if done.coded is not None and coded is None:
            target.unlink()
            read_in_process(replace(request, coded=False), path.name, token, progress)
        if coded is None:
            rows = _take_over(con, path, target, spec, names, wanted, token)
    reading = Reading(
        format_of(spec, path), encoding=done.encoding, missing=spec.missing,
        header=spec.header is not False, skip=spec.skip or 0,
    )  # fmt: skip
    book = book_of(wanted, Codebook(done.variables))
    digest = digest or FilePrint(done.sha256)
    if coded is not None:
        told = lost_codes(coded, wanted.names)
        given = wanted.names, coded.rows, reading, digest, book, names, told
        return Loaded(*given, coded=coded.domains, held=coded)
    facts = lost_values(con, path, wanted.names, token)
    return Loaded(wanted.names, rows, reading, digest, book, names, facts)


def column_names(path: Path, base: Path, spec: SourceSpec, token: CancelToken) -> tuple[str, ...]:
    """The names of the columns, as this reading finds them. Raises InputError, Cancelled."""
    request = replace(_request(spec, path, base, Path()), target="", limit=1)
    done = read_in_process(request, path.name, token, lambda made: None)
    return tuple(variable.name for variable in done.variables)


def _request(spec: SourceSpec, path: Path, base: Path, target: Path) -> ReadRequest:
    return replace(
        request_for(spec, path, base, target),
        private=True,
        query=None,
        skip=spec.skip or 0,
        wanted=tuple(name for name, _ in spec.types),
    )


def _take_over(
    con: DuckDBPyConnection,
    path: Path,
    target: Path,
    spec: SourceSpec,
    names: Sequence[str],
    wanted: RequestedColumns,
    token: CancelToken,
) -> int:
    """Make the table ``raw`` of the one that the reader wrote; how many rows it has."""
    source = parquet_source(target)
    with query(con, token, path) as cursor:
        found = cursor.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        kinds = {str(row[0]): str(row[1]) for row in found}
        texts = [_text(place, kinds) for place in wanted.places]
        inner = ", ".join(f"{text} AS f{j}" for j, text in enumerate(texts))
        listed = typed_sql([f"f{j}" for j in range(len(texts))], wanted.kinds, spec)
        filled = " OR ".join(f"NOT {blank_sql(_text(j, kinds))}" for j in range(len(names)))
        cursor.execute(
            f"CREATE TABLE {RAW} AS SELECT {listed} FROM (SELECT {inner} FROM {source} "
            f"WHERE {counted(spec, filled)})"
        )
        rows = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
    return int(rows[0]) if rows else 0


def _text(place: int, kinds: dict[str, str]) -> str:
    """SQL for the text of a column of the table that the reader wrote."""
    odd = f"s{place}, " if f"s{place}" in kinds else ""
    return f"coalesce({odd}{text_sql(f'c{place}', kinds[f'c{place}'])}, '')"
