"""The public part of a release in another format, in one file."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.app.auditing import mention_files
from dpdesk.app.context import AppContext
from dpdesk.app.export_gate import check_exportable
from dpdesk.app.private.browsing import table_words
from dpdesk.app.verifying import read_release
from dpdesk.core.capabilities import Content
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.cuboid import LISTS, Domain, listed_tables
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.export_formats import (
    DOCUMENTS,
    FORMATS,
    HOLDS,
    OF_AGENCIES,
    SDMX,
    STATISTICAL,
    SYNTHETIC,
)
from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress, StepStarted
from dpdesk.core.labels import NO_BOOK, Codebook, Kind, Variable
from dpdesk.core.language import ENGLISH, speaking, voice
from dpdesk.core.messages import joined, msg
from dpdesk.core.parameters import nearest, one_of
from dpdesk.core.release import Manifest, ReleaseFacts
from dpdesk.core.table_parameters import typed_text
from dpdesk.engine.methods.registered import default_registry
from dpdesk.io.canonical import canonical_json
from dpdesk.io.csvw import read_labels, read_variables
from dpdesk.io.export_losses import described, losses
from dpdesk.io.formats.numbers import number_text
from dpdesk.io.formats.outcolumns import About
from dpdesk.io.published import PublishedCsv
from dpdesk.io.release_folder import (
    ABOUT,
    INTERNAL,
    MICRODATA,
    PUBLIC,
    TABLE,
    TABLES,
    VARIABLES,
    holds_rows,
)
from dpdesk.io.safewrite import together, write_new
from dpdesk.io.tablewriters import LABELS_KEY, Sheet, write_crosstabs, write_parquet, write_xlsx

if TYPE_CHECKING:
    from dpdesk.engine.registry import Registry
    from dpdesk.io.workspace import Workspace


def label_sheets(book: Codebook) -> tuple[Sheet, ...]:
    """A row for each column, and one for each code that has a label or is missing; or none."""
    if not book:
        return ()
    say = voice()
    columns = [
        say.text("Column"),
        say.text("Label"),
        say.text("Type"),
        say.text("Measurement level"),
        say.text("Display format"),
        say.text("User-missing from"),
        say.text("User-missing to"),
        say.text("Lettered missing values"),
    ]
    codes = [say.text("Column"), say.text("Code"), say.text("Label"), say.text("User-missing")]
    return (
        Sheet("Variables", [columns, *map(_column, book.variables)]),
        Sheet("Codes", [codes, *(row for one in book.variables for row in _codes(one))]),
    )


def _column(variable: Variable) -> list[str]:
    say, missing = voice(), variable.missing
    kinds = {
        Kind.NUMBER: say.text("numeric"),
        Kind.TEXT: say.text("text"),
        Kind.DATE: say.text("date"),
        Kind.DATETIME: say.text("date and time"),
        Kind.TIME: say.text("time of day"),
    }
    levels = {
        "nominal": say.text("nominal"),
        "ordinal": say.text("ordinal"),
        "scale": say.text("scale"),
    }
    return [
        variable.name,
        variable.label,
        kinds[variable.kind],
        levels.get(variable.measure, ""),
        variable.format,
        _end(missing.low),
        _end(missing.high),
        say.text("yes") if missing.letters else "",
    ]


def _end(number: float | None) -> str:
    say = voice()
    ends = {float("-inf"): say.text("lowest"), float("inf"): say.text("highest")}
    return "" if number is None else ends.get(number) or number_text(number)


def _codes(variable: Variable) -> list[list[str]]:
    yes = voice().text("yes")
    listed = dict.fromkeys((*variable.value_labels, *variable.missing.values))
    return [
        [
            variable.name,
            code,
            variable.value_labels.get(code, ""),
            yes if code in variable.missing.values else "",
        ]
        for code in listed
    ]


_STEP = "Write the file"


def export_release(
    release: Path,
    file_format: str,
    out: Path,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
    agency: str = "",
    registry: Registry | None = None,
    *,
    replace: bool = False,
    rows: int | None = None,
) -> Path:
    """Write the table of a release (or of its ``public/`` alone) to the file ``out``.

    The tables of a cube stand below each other in it, each with its name in the column ``table``.
    Public tables next to rows are written to files next to ``out``, named after it.

    Every value stays text. Parquet carries the manifest in its metadata (key ``dpdesk.manifest``)
    and its guarantee (``dpdesk.guarantee``); Excel files have a second sheet ``About``; SPSS, Stata
    and SAS transport files have numbers where all texts of a column are numbers. What a format
    cannot hold (:mod:`dpdesk.core.export_formats`) is told by a Note for each thing. ``csvw``,
    ``ddi`` and ``sdmx-structure`` are documents about the data, ``sdmx-csv`` holds tables as
    observations, ``synthetic`` rows that are drawn from a model of them (``rows``: how
    many; None for as many as the release speaks of); ``agency`` is the identifier of the agency
    that maintains their structure.
    ``registry`` holds the methods that may be known, those of this version when None. Nothing
    internal is read, but for ``argus`` and ``jj``: these hold true values, are made of a whole
    release folder alone, and only their owner may read them. ``out`` must be absent or an empty
    file; with ``replace``, where the user was asked before, another one is replaced, as a whole or
    not at all.

    Raises
    ------
    InputError
        Unknown format or one that does not fit the release (``export.format``), ``agency`` is no
        identifier (``export.agency``), it needs the internal part (``export.internal``) or a place
        that is not to be published (``export.public``), ``release`` is no folder, ``out`` is there
        already (``export.exists``), is a folder or lies inside the release.
    RefusedError
        The release is not verified (``export.not-verified``), something of it was compared with
        nothing and nobody accepted that (``export.not-compared``), its method does not say which
        formats it fits (``export.silent-method``), or the table does not fit into the format
        (``export.too-large``).
    StorageError
        ``out`` cannot be written.
    Cancelled
        The token was cancelled; ``out`` is as it was.
    """
    _check_format(file_format)
    _check_options(file_format, agency, rows)
    target = out.absolute()
    if target.resolve().is_relative_to(_whole(release.resolve())):
        raise InputError(
            "export.inside",
            msg("{out}: is inside the release, to which nothing may be added.", out=out),
            hint="Choose a place outside the release folder.",
        )
    _check_free(out, replace=replace)
    report(StepStarted("Check the release", 1, 2))
    known = registry or default_registry()
    check_exportable(release, workspace, known, token)
    facts = read_release(release)
    _check_fit(file_format, facts, known)
    report(StepStarted(_STEP, 2, 2))
    if file_format not in OF_AGENCIES:
        from dpdesk.app.past_tables import enter_release

        enter_release(workspace.home, facts, known, token)
    else:
        written = _write_internal(
            facts, file_format, out, workspace, token, report, replace=replace
        )
        mention_files(AppContext(workspace.home, workspace, known), release, written, report)
        return target
    further = _further(facts, file_format, out, known)
    with together(workspace) as begin:
        fresh = begin(out, new=not replace)
        sentences = write_verified(
            facts, file_format, fresh, workspace, token, report, agency, known, rows
        )
        for name, place in further.items():
            beside, table = begin(place, new=not replace), facts.public / name
            read, place_of = PublishedCsv(table, token), (file_format, beside, token, report)
            sentences += _write(facts, table, read, *place_of, NO_BOOK)  # labels are of the rows
            note = msg("`{name}` of the release is in `{file}`.", name=name, file=place.name)
            sentences.append(note)
    for sentence in dict.fromkeys(sentences):
        report(Note("export.changed", sentence))
    context = AppContext(workspace.home, workspace, known)
    mention_files(context, release, (out, *further.values()), report)
    return target


def _write_internal(
    facts: ReleaseFacts,
    file_format: str,
    out: Path,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
    *,
    replace: bool,
) -> tuple[Path, ...]:
    """Write files that hold true values: ``out``, and others next to it that are named after it."""
    from dpdesk.app.table_exports import agency_files

    files = agency_files(facts, file_format, out, token)
    places = {place: out.with_name(place) for place in list(files)[1:]}
    with together(workspace) as begin:
        for content, place in zip(files.values(), (out, *places.values()), strict=True):
            write_new(begin(place, private=True, new=not replace), content, 0o600)
    report(Note("export.internal", HOLDS[file_format].bare))
    for name in places:
        report(Note("export.changed", msg("`{file}` belongs to it.", file=name)))
    return (out, *places.values())


def _check_free(out: Path, *, replace: bool) -> None:
    if not replace and out.is_file() and out.stat().st_size:
        raise InputError(
            "export.exists",
            msg("{out}: the file already exists.", out=out),
            hint="Name another, or remove it.",
        )


def _further(
    facts: ReleaseFacts, file_format: str, out: Path, registry: Registry
) -> dict[str, Path]:
    """Where the tables next to the first one are written, next to ``out`` and named after it."""
    names = () if file_format in DOCUMENTS else registry.about(facts.method).tables
    if not holds_rows(facts.public):
        names = names[1:]  # the first of them is the table that is written to ``out``
    return {name: out.with_name(f"{out.stem}-{Path(name).stem}{out.suffix}") for name in names}


def write_verified(
    facts: ReleaseFacts,
    file_format: str,
    path: Path,
    workspace: Workspace,
    token: CancelToken,
    report: Report,
    agency: str = "",
    registry: Registry | None = None,
    rows: int | None = None,
) -> list[str]:
    """Write a verified release to the new file ``path``; the sentences about what it cannot hold.

    Raises what :func:`export_release` raises of the format, OSError, Cancelled.
    """
    if file_format == "xlsx" and _has_cells(facts):
        _write_printed(facts, path, token)
        return []
    if file_format in DOCUMENTS:
        method = (registry or default_registry()).get(facts.method, str(facts.public)).title
        return write_document(facts, file_format, agency, method, path, token, report, _STEP, rows)
    with _one_table(facts, workspace, token) as source:
        table = PublishedCsv(source, token)
        return _write(facts, source, table, file_format, path, token, report)


def _has_cells(facts: ReleaseFacts) -> bool:
    """Whether a release holds protected tables."""
    return not holds_rows(facts.public) and "tables" in facts.manifest.result


def _write_printed(facts: ReleaseFacts, path: Path, token: CancelToken) -> None:
    from dpdesk.app.table_exports import printed_tables

    with speaking(_language(facts)):
        tables = printed_tables(facts, token)
        about = about_lines(facts.manifest)
    write_crosstabs(tables, path, about, datetime.fromisoformat(facts.manifest.created), token)


@contextmanager
def _one_table(facts: ReleaseFacts, workspace: Workspace, token: CancelToken) -> Iterator[Path]:
    """The one CSV to export: the microdata or only table, or all tables below each other."""
    if holds_rows(facts.public):
        yield facts.public / MICRODATA
        return
    for name in (TABLE, LISTS[0]):
        if (facts.public / name).is_file():
            yield facts.public / name
            return
    path = workspace.new_path(".csv")
    if (facts.public / TABLES).is_dir():
        from dpdesk.app.cells import both_tables
        from dpdesk.io.table_files import write_below

        published, _ = both_tables(facts.manifest, facts.public, None, token)
        try:
            write_below(list(published.values()), path, token)
            yield path
        finally:
            path.unlink(missing_ok=True)
        return
    from dpdesk.io.cuboid_files import read_tables, write_long

    tables = read_tables(facts.manifest, facts.public, token)
    items = _cuboids(facts)
    shown = [tables[item["file"]] for item in items]
    named = list(zip(_table_names(items), shown, strict=True))
    dimensions = list(dict.fromkeys(d for _, table in named for d in table.domain.dimensions))
    try:
        write_long(named, dimensions, path, token)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _cuboids(facts: ReleaseFacts) -> list[Mapping[str, Any]]:
    return listed_tables(facts.manifest.result)


def _table_names(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """How tables are called; with dimensions in quotes where two would be called the same."""
    names = [table_words(item) for item in items]
    return names if len(set(names)) == len(names) else [table_words(i, _as_json) for i in items]


_as_json = partial(json.dumps, ensure_ascii=False)


def _check_format(file_format: str) -> None:
    if file_format not in FORMATS:
        near = nearest(file_format, FORMATS)
        raise InputError(
            "export.format",
            msg(
                "Unknown format `{format}`, expected one of {known}.",
                format=file_format,
                known=", ".join(f"`{name}`" for name in FORMATS),
            ),
            hint=msg("Did you mean `{near}`?", near=near) if near else "",
        )


def _check_options(file_format: str, agency: str, rows: int | None) -> None:
    """Refuse what would be ignored: an agency or a number of rows for a format that takes none."""
    given = (("agency", bool(agency), SDMX), ("rows", rows is not None, (SYNTHETIC,)))
    for option, is_given, takers in given:
        if is_given and file_format not in takers:
            raise InputError(
                "export.option",
                msg(
                    "`{option}` does not apply to the format `{format}`, expected {known}.",
                    option=option,
                    format=file_format,
                    known=one_of(takers),
                ),
                hint="Remove it; it would be ignored.",
                details={"option": option},
            )


_WORDS = {
    Content.ROWS: "microdata",
    Content.TABLES: "tables of a cube",
    Content.GRAPH: "a graph",
    Content.ITEMSETS: "sets of items",
    Content.CHOICES: "choices",
    Content.CELLS: "protected tables",
}


def _check_fit(file_format: str, facts: ReleaseFacts, registry: Registry) -> None:
    about = registry.about(facts.method)
    if about.content is None or about.exports is None:
        raise RefusedError(
            "export.silent-method",
            msg(
                "{public}: the method `{method}` does not say which formats its releases fit, "
                "so none is written.",
                public=facts.public,
                method=facts.method,
            ),
            hint="Its tables are text files; use them as they are.",
        )
    if file_format in about.exports:
        return
    said = [method.capabilities for method in registry]
    fitting = {each.content for each in said if file_format in (each.exports or ())}
    if about.content in fitting:
        raise InputError(
            "export.format",
            msg(
                "{public}: the method `{method}` does not say that its releases fit the format "
                "`{format}`.",
                public=facts.public,
                method=facts.method,
                format=file_format,
            ),
            hint="Export to another format.",
        )
    described = [text for content, text in _WORDS.items() if content in fitting]
    raise InputError(
        "export.format",
        msg(
            "{public}: `{file_format}` describes {join}, and this release holds {words}.",
            public=facts.public,
            file_format=file_format,
            join=joined(described, " and "),
            words=_WORDS[about.content],
        ),
        hint="Export to another format.",
    )


def _whole(release: Path) -> Path:
    """The folder that nothing may be added to: the release that a public part belongs to."""
    beside = release.parent / INTERNAL
    return release.parent if release.name == PUBLIC and beside.is_dir() else release


def _write(
    facts: ReleaseFacts,
    source: Path,
    table: PublishedCsv,
    file_format: str,
    path: Path,
    token: CancelToken,
    report: Report,
    book: Codebook | None = None,
) -> list[str]:
    """Write the table; sentences about what the file has otherwise, or not at all.

    ``book`` are its labels, None for what the release says of them.
    """
    manifest, book = facts.manifest, _labels(facts, table) if book is None else book

    def done(rows: int) -> None:
        report(StepProgress(_STEP, rows, table.rows, "rows"))

    if file_format in STATISTICAL:
        writer = _statistical_writer(file_format)
        return writer(table, book, path, _about(facts), token, done)
    if file_format == "csv":
        shutil.copyfile(source, path)
    elif file_format == "parquet":
        write_parquet(table, path, _metadata(facts, book), token, done)
    elif file_format == "xlsx":
        created = datetime.fromisoformat(manifest.created)
        sheet = "Microdata" if holds_rows(facts.public) else "Tables"
        with speaking(_language(facts)):
            more = label_sheets(book)
        about = _spoken(facts)
        write_xlsx(table, path, about, created, path.parent, token, done, sheet, more)
    else:
        raise ValueError(f"the format {file_format} has no writer")
    return losses(file_format, described(table.columns, book), manifest.title)


def _metadata(facts: ReleaseFacts, book: Codebook) -> dict[str, bytes]:
    """What stands in the footer of a Parquet file."""
    guarantee = json.dumps(facts.manifest.guarantee.as_json(), sort_keys=True).encode()
    metadata = {
        "dpdesk.manifest": canonical_json(facts.manifest),
        "dpdesk.guarantee": guarantee,
    }
    if book:
        metadata[LABELS_KEY] = (facts.public / VARIABLES).read_bytes()
    return metadata


def _spoken(facts: ReleaseFacts) -> list[tuple[str, str]]:
    """What the file is and what is promised of it, in the language of the page for users."""
    with speaking(_language(facts)):
        return about_lines(facts.manifest)


def _about(facts: ReleaseFacts) -> About:
    """The same for files that have a place for notes."""
    manifest = facts.manifest
    created = date.fromisoformat(manifest.created)
    lines = tuple(msg("{file}: {note}", file=name, note=text) for name, text in _spoken(facts))
    return About(manifest.title, created, lines)


_WRITERS = {"sav": "spss.writer", "dta": "stata.writer", "xpt": "sas.transport_writer"}


def _statistical_writer(file_format: str) -> Callable[..., list[str]]:
    """The writer of a statistical format; imported when it is asked for."""
    module = import_module(f"dpdesk.io.formats.{_WRITERS[file_format]}")
    writer: Callable[..., list[str]] = getattr(module, f"write_{file_format}")
    return writer


def _labels(facts: ReleaseFacts, table: PublishedCsv) -> Codebook:
    """What the release says of its columns, or of the dimensions among them."""
    if not holds_rows(facts.public):
        from dpdesk.app.private.labelling import read_dimension_labels

        return read_dimension_labels(facts.public, facts.manifest)
    return published_labels(facts, table.columns)


def _language(facts: ReleaseFacts) -> str:
    """The language of the page for users."""
    from dpdesk.report.pages import language_of

    page = facts.public / ABOUT
    return language_of(page.read_bytes()) if page.is_file() else ENGLISH


def about_lines(manifest: Manifest) -> list[tuple[str, str]]:
    """Names and texts of the sheet ``About``: what the file is and what is promised of it."""
    say = voice()
    lines = [
        (say.text("Title"), manifest.title),
        (say.text("Released"), say.day(manifest.created)),
        (say.text("Method"), manifest.method),
        (say.text("Made with"), msg("DPDesk {dpdesk}", dpdesk=manifest.dpdesk)),
    ]
    guarantee = manifest.guarantee
    lines.append((say.text("Claim"), say.say(guarantee.claim)))
    if say.language != ENGLISH:
        lines.append((say.text("The English wording"), guarantee.claim))
    lines += [(say.text("Assumes"), say.say(sentence)) for sentence in guarantee.assumes]
    lines += [(say.text("Does not cover"), say.say(one)) for one in guarantee.does_not_cover]
    lines += [
        (say.text("Setting {key}", key=key), value if isinstance(value, str) else _setting(value))
        for key, value in manifest.parameters.items()
    ]
    lines.append((say.text("Commitment"), manifest.commitment))
    return lines


def _setting(value: object) -> str:
    """A setting as a plan writes it."""
    return "" if value is None else typed_text(value)


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
    rows: int | None = None,
) -> list[str]:
    """Write one of the formats ``DOCUMENTS`` of a verified release to the new file ``path``.

    ``method`` is the title of the method that made it, ``rows`` the number of synthetic rows (None:
    as many as the release speaks of).

    Returns sentences about what it cannot hold. Raises InputError ``export.agency``, OSError,
    Cancelled.
    """
    if file_format == SYNTHETIC:
        return _write_synthetic(facts, rows, path, token)
    if file_format == "sdmx-csv":
        _write_observations(facts, agency, path, token, report, step)
    else:
        writers: dict[str, Callable[[ReleaseFacts, str, CancelToken], bytes]]
        writers = {"csvw": _csvw, "ddi": partial(_ddi, method), "sdmx-structure": _structure}
        path.write_bytes(writers[file_format](facts, agency, token))
    book = _any_labels(facts)
    columns = [variable.name for variable in book.variables]
    return losses(file_format, described(columns, book), facts.manifest.title)


_MODEL = (
    "The rows are drawn from a model that is fitted to the released tables: none of them is about "
    "a person, and no ε is spent on them.",
    "What the tables do not say is made up: how columns that no table contains together relate "
    "to each other, and everything that the noise hides. Use the rows to try out programs, and "
    "for analyses of what is in the tables; not to look for persons or rare cases, nor for "
    "standard errors as if they were data.",
)


def _write_synthetic(
    facts: ReleaseFacts, rows: int | None, path: Path, token: CancelToken
) -> list[str]:
    """Rows from the tables of counts; sentences on what they are, and how far they err."""
    from dpdesk.engine.cubes.synthetic import MOST_ROWS, released_total, synthetic_rows
    from dpdesk.engine.noise.randomness import SystemRandomness
    from dpdesk.io.cuboid_files import read_tables, write_rows

    manifest = facts.manifest
    tables = read_tables(manifest, facts.public, token)
    counts = [
        tables[str(item["file"])]
        for item in _cuboids(facts)
        if item.get("measure", COUNT) == COUNT and _counts_only(manifest)
    ]
    counts = [table for table in counts if table.domain.dimensions] or counts[:0]
    if not counts:
        raise InputError(
            "export.format",
            msg(
                "{public}: the release has no table of counts to draw rows from.",
                public=facts.public,
            ),
            hint="Export the tables themselves.",
        )
    total = released_total(counts)
    wanted = min(max(total, 1), MOST_ROWS) if rows is None else rows
    if not 1 <= wanted <= MOST_ROWS:
        raise InputError(
            "export.rows",
            msg(
                "The number of rows is {rows:,}, expected 1 to {most:,}.",
                rows=wanted,
                most=MOST_ROWS,
            ),
        )
    domain = Domain.from_json(manifest.result["domains"])
    made = synthetic_rows(domain, counts, wanted, SystemRandomness(), token)
    write_rows(made.domain, made.codes, path, token)
    worst = max(made.errors, key=lambda error: error.largest)
    errors = msg(
        "{rows:,} rows; scaled to the {total:,} of the release, cells of its tables differ from "
        "what was released by {mean:,.1f} on average and by {largest:,.1f} at most (table "
        "{table}); the errors of the release, which its page states, come on top.",
        rows=wanted,
        total=total,
        mean=made.mean,
        largest=worst.largest,
        table=" × ".join(worst.dimensions),
    )
    return [_MODEL[0], errors, _MODEL[1]]


def _counts_only(manifest: Manifest) -> bool:
    """Whether tables without a named measure hold counts."""
    return manifest.parameters.get("measure", COUNT) in (COUNT, None) or isinstance(
        manifest.parameters.get("measure"), list
    )


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
    manifest = facts.manifest
    if not holds_rows(facts.public):
        from dpdesk.io.ddi import cube_codebook

        return cube_codebook(manifest, method, _cube(facts, agency))
    from dpdesk.io.ddi import FileContent, column_contents, microdata_codebook

    table = PublishedCsv(facts.public / MICRODATA, token)
    sha256 = manifest.files[MICRODATA].sha256
    file = FileContent(MICRODATA, table.rows, len(table.columns), sha256)
    contents = column_contents(table, published_labels(facts, table.columns), token)
    return microdata_codebook(manifest, method, file, contents)


def _structure(facts: ReleaseFacts, agency: str, token: CancelToken) -> bytes:
    from dpdesk.io.sdmx import structure_message

    return structure_message(_cube(facts, agency))


def _write_observations(
    facts: ReleaseFacts, agency: str, path: Path, token: CancelToken, report: Report, step: str
) -> None:
    if _has_cells(facts):
        from dpdesk.app.table_exports import write_observations

        write_observations(facts, _cube(facts, agency), path, token)
        return
    from dpdesk.io.cuboid_files import read_tables
    from dpdesk.io.sdmx import write_sdmx_csv

    cube, tables = _cube(facts, agency), read_tables(facts.manifest, facts.public, token)
    total = sum(table.cells for table in tables.values())

    def done(rows: int) -> None:
        report(StepProgress(step, rows, total, "rows"))

    write_sdmx_csv(cube, tables, path, token, done)


def _cube(facts: ReleaseFacts, agency: str) -> Any:
    from dpdesk.io.sdmx import AGENCY, sdmx_cube, sdmx_tables

    if agency and not _AGENCY.fullmatch(agency):
        raise InputError(
            "export.agency",
            msg(
                "`{agency}` is not an identifier of an agency, expected letters, digits, `_` and "
                "`-`, beginning with a letter.",
                agency=agency,
            ),
            hint="Give the identifier that the agency has in its SDMX registry.",
        )
    if _has_cells(facts):
        return sdmx_tables(facts.manifest, agency or AGENCY)
    dimensions = Domain.from_json(facts.manifest.result["domains"]).dimensions
    return sdmx_cube(facts.manifest, published_labels(facts, dimensions), agency or AGENCY)


def published_labels(facts: ReleaseFacts, columns: tuple[str, ...]) -> Codebook:
    """What the release says of ``columns``; nothing where it has no labels."""
    path = facts.public / VARIABLES
    return read_variables(path, columns) if path.is_file() else NO_BOOK
