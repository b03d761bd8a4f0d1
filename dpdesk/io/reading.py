"""What was read and how: shown to the user before and after loading."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

from dpdesk.core.errors import DpdeskError, InputError, StorageError
from dpdesk.core.home import expanded
from dpdesk.core.messages import msg
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import FRAME_ENDING, check_options, source_format
from dpdesk.io.spelled_paths import as_on_disk

LATER_ENDINGS = (".xls", ".ods", ".por")
PREVIEW_ROWS = 200


@dataclass(frozen=True)
class Reading:
    """How a source is read; what the plan names wins over what was detected.

    ``format`` is a key of :data:`dpdesk.core.source_spec.FORMATS`; the text options are empty
    unless it is ``"csv"``. ``missing`` are the declared codes, ``missing_candidates`` further texts
    that look like such codes. ``newline`` is
    ``"LF"``, ``"CRLF"``, ``"CR"``, ``"mixed"``, ``"none"``, or empty when not known yet.
    ``skipped_lines`` counts lines that are neither header nor row, ``skip`` those of titles above
    the table (of a sheet: rows). ``notes`` are sentences.
    """

    format: str
    delimiter: str = ""
    encoding: str = ""
    decimal: str = "."
    quote: str = ""
    header: bool = True
    missing: tuple[str, ...] = ("",)
    newline: str = ""
    skipped_lines: int = 0
    notes: tuple[str, ...] = ()
    missing_candidates: tuple[str, ...] = ()
    skip: int = 0
    escape: str = ""

    def as_dict(self) -> dict[str, object]:
        """Plain values, as JSON can carry them."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in plain.items()}


@dataclass(frozen=True)
class SourcePreview:
    """The head of a source: how it would be read, and its first rows.

    ``problem`` is what stands in the way, when the head shows it already.
    """

    reading: Reading
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...] = field(repr=False)
    problem: DpdeskError | None = None


def resolve_source(spec: SourceSpec, base: Path) -> Path:
    """The absolute path of a source; relative paths start at ``base`` (the plan's folder).

    Raises InputError ``source.format`` for an ending that this version cannot read,
    ``source.option`` for a key that does not apply to the source; StorageError for a missing file
    or a folder.
    """
    check_options(spec, spec.name)
    if spec.is_url:
        return _named_after(spec)
    path = as_on_disk(Path(base, expanded(spec.held or spec.path)).absolute())
    if path.suffix.lower() in LATER_ENDINGS:
        raise InputError(
            "source.format",
            msg(
                "{name}: the format `{suffix}` is not read.",
                name=path.name or spec.path,
                suffix=path.suffix,
            ),
            hint="Save the table as .xlsx, .sav, CSV or Parquet first.",
            details={"ending": path.suffix},
        )
    if path.suffix.lower() == ".rda":
        path = _described_by(path)
    if path.is_dir():
        raise StorageError(
            "storage.folder",
            msg("{path}: found a folder, expected a data file.", path=path),
            details={"path": str(path)},
        )
    if not path.exists():
        is_frame = path.suffix.lower() == FRAME_ENDING
        raise StorageError(
            "storage.missing",
            msg("{source}: there is no such file.", source=path),
            hint="The plan is for a DataFrame; run it in Python and give it as `source`."
            if is_frame
            else "Check the path; paths in a plan are relative to the plan.",
            details={"path": str(path)},
        )
    if not path.is_file():
        raise StorageError(
            "storage.folder",
            msg("{path}: this is not a regular file.", path=path),
            details={"path": str(path)},
        )
    return path


def _described_by(metadata: Path) -> Path:
    """The text that ARGUS metadata describe: of the same name, in whatever case."""
    from dpdesk.io.formats.argus import find_beside

    for ending in (".asc", ".tab") if metadata.is_file() else ():
        found = find_beside(metadata, f"{metadata.stem}{ending}")
        if found is not None:
            return found
    return metadata.with_suffix(".asc")


def _named_after(spec: SourceSpec) -> Path:
    """A path for the messages about a database server; there is no such file."""
    parts = urlsplit(spec.path)
    return Path("/", parts.hostname or "local", parts.path.strip("/"), spec.table or "query")


def _is_duckdb(path: Path) -> bool:
    """Whether a file of the ending that both kinds of databases use begins as DuckDB's do."""
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def format_of(spec: SourceSpec, path: Path) -> str:
    """What a source is: a key of :data:`dpdesk.core.source_spec.FORMATS`."""
    known = source_format(spec)
    return "duckdb" if path.suffix.lower() == ".db" and _is_duckdb(path) else known
