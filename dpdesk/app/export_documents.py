"""Documents about a release, and its tables as observations: CSVW, DDI Codebook, SDMX."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.release import ReleaseFacts
from dpdesk.io.canonical import canonical_json
from dpdesk.io.losses import described, losses
from dpdesk.io.published import PublishedCsv
from dpdesk.io.release_folder import MICRODATA, VARIABLES, holds_rows
from dpdesk.io.variablesfile import read_labels, read_variables

_AGENCY = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*(\.[A-Za-z][A-Za-z0-9_\-]*)*", re.ASCII)


def write_document(
    facts: ReleaseFacts,
    file_format: str,
    agency: str,
    method: str,
    path: Path,
    token: CancelToken,
    report: Report,
    step: str,
) -> list[str]:
    """Write one of the formats ``DOCUMENTS`` of a verified release to the new file ``path``.

    ``method`` is the title of the method that made it.

    Returns sentences about what it cannot hold. Raises InputError ``export.agency``, OSError,
    Cancelled.
    """
    if file_format == "sdmx-csv":
        _write_observations(facts, agency, path, token, report, step)
    else:
        writers: dict[str, Callable[[ReleaseFacts, str, CancelToken], bytes]]
        writers = {"csvw": _csvw, "ddi": partial(_ddi, method), "sdmx-structure": _structure}
        path.write_bytes(writers[file_format](facts, agency, token))
    book = _any_labels(facts)
    columns = [variable.name for variable in book.variables]
    return losses(file_format, described(columns, book), str(facts.manifest["title"]))


def _any_labels(facts: ReleaseFacts) -> Codebook:
    """All labels of the release, of whatever columns; they were checked before."""
    path = facts.public / VARIABLES
    return read_labels(path) if path.is_file() else NO_BOOK


def _csvw(facts: ReleaseFacts, agency: str, token: CancelToken) -> bytes:
    from dpdesk.io.csvw import csvw_metadata

    table = PublishedCsv(facts.public / MICRODATA, token)
    book = published_labels(facts, table.columns)
    return canonical_json(csvw_metadata(MICRODATA, table.columns, book, facts.manifest))


def _ddi(method: str, facts: ReleaseFacts, agency: str, token: CancelToken) -> bytes:
    manifest = cast("dict[str, Any]", facts.manifest)
    if not holds_rows(facts.public):
        from dpdesk.io.ddi.tables import cube_codebook

        return cube_codebook(manifest, method, _cube(facts, agency))
    from dpdesk.io.ddi.columns import column_contents
    from dpdesk.io.ddi.document import FileContent
    from dpdesk.io.ddi.microdata import microdata_codebook

    table = PublishedCsv(facts.public / MICRODATA, token)
    sha256 = str(manifest["files"][MICRODATA]["sha256"])
    file = FileContent(MICRODATA, table.rows, len(table.columns), sha256)
    contents = column_contents(table, published_labels(facts, table.columns), token)
    return microdata_codebook(manifest, method, file, contents)


def _structure(facts: ReleaseFacts, agency: str, token: CancelToken) -> bytes:
    from dpdesk.io.sdmx.structure import structure_message

    return structure_message(_cube(facts, agency))


def _write_observations(
    facts: ReleaseFacts, agency: str, path: Path, token: CancelToken, report: Report, step: str
) -> None:
    from dpdesk.app.private.pages import read_tables
    from dpdesk.io.sdmx.data import write_sdmx_csv

    cube = _cube(facts, agency)
    tables = read_tables(facts.manifest, facts.public, token)
    total = sum(table.cells for table in tables.values())

    def done(rows: int) -> None:
        report(StepProgress(step, rows, total, "rows"))

    write_sdmx_csv(cube, tables, path, token, done)


def _cube(facts: ReleaseFacts, agency: str) -> Any:
    from dpdesk.io.sdmx.cubes import AGENCY, sdmx_cube

    if agency and not _AGENCY.fullmatch(agency):
        raise InputError(
            "export.agency",
            f"`{agency}` is no identifier of an agency, expected letters, digits, `_` and `-`, "
            "beginning with a letter.",
            hint="Give the identifier that the agency has in its SDMX registry.",
        )
    manifest = cast("dict[str, Any]", facts.manifest)
    dimensions = tuple(item["dimension"] for item in manifest["result"]["domains"])
    return sdmx_cube(manifest, published_labels(facts, dimensions), agency or AGENCY)


def published_labels(facts: ReleaseFacts, columns: tuple[str, ...]) -> Codebook:
    """What the release says of ``columns``; nothing where it has no labels."""
    path = facts.public / VARIABLES
    return read_variables(path, columns) if path.is_file() else NO_BOOK
