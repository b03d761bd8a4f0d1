"""From a Parquet file to a table of texts in the database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.labels import NO_BOOK, Codebook, Variable
from dpdesk.core.plan import SourceSpec
from dpdesk.io.canonical import UnreadableJsonError, parse_canonical
from dpdesk.io.csvload import CHECK, LOAD, RAW, STEPS, Loaded
from dpdesk.io.database import identifier, in_memory, parquet_source, query
from dpdesk.io.failures import disagreement, storage_error
from dpdesk.io.formats.numbers import text_sql
from dpdesk.io.labelwatch import note_unforeseen
from dpdesk.io.nul import refuse_nul
from dpdesk.io.parquetfaults import readable
from dpdesk.io.parquetnotes import check_sums, notes_on
from dpdesk.io.reading import Reading
from dpdesk.io.source import file_sha256
from dpdesk.io.tablewriters import LABELS_KEY
from dpdesk.io.variablesfile import labels_of

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

_MOST_DIGITS = 38
_NO_TEXT = ("STRUCT", "MAP", "LIST", "BLOB", "UNION", "[]", "VARIANT", "GEOMETRY")


def load_parquet(
    con: DuckDBPyConnection, path: Path, spec: SourceSpec, token: CancelToken, report: Report
) -> Loaded:
    """Load ``path`` into the table ``raw``: every value as its canonical text, null as "".

    Raises InputError ``parquet.*`` for a file that is no Parquet, is damaged, has no rows, or has
    columns that have no text (lists, structures, bytes); StorageError; Cancelled.
    """
    names, rows = parquet_shape(path)
    report(StepStarted(CHECK, 1, STEPS))
    digest = file_sha256(path, token, report, CHECK)
    check_sums(path, token)
    report(StepStarted(LOAD, 2, STEPS))
    source = parquet_source(path)
    with readable(path, token), query(con, token, path) as cursor:
        described = _described(cursor, path, names)
        listed = ", ".join(f"{_as_text(row)} AS c{j}" for j, row in enumerate(described))
        cursor.execute(f"CREATE TABLE {RAW} AS SELECT {listed} FROM {source}")
        loaded = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
    if loaded is None or loaded[0] != rows:
        raise disagreement(path.name, "rows", rows, loaded[0] if loaded else 0)
    texts = [(j, name) for j, name in enumerate(names) if str(described[j][1]) == "VARCHAR"]
    refuse_nul(con, texts, path, token)
    book, told = _labels(path, names)
    variables = tuple(book.get(name) or Variable(name) for name in names)
    odd = note_unforeseen(con, variables, "parquet", spec.missing or (), path, token)
    found = notes_on(con, path, names, [str(row[1]) for row in described], token)
    notes = (*told, *found, *_null_notes(con, path, names, described, token), *odd)
    return Loaded(names, rows, Reading("parquet", missing=spec.missing, notes=notes), digest, book)


def _labels(path: Path, names: tuple[str, ...]) -> tuple[Codebook, tuple[str, ...]]:
    """What an export of DPDesk says of its columns in the metadata of the file, and notes on it."""
    import pyarrow.parquet

    metadata = pyarrow.parquet.read_schema(path).metadata or {}
    raw = metadata.get(LABELS_KEY.encode())
    if raw is None:
        return NO_BOOK, ()
    try:
        book = labels_of(parse_canonical(raw))
    except UnreadableJsonError:
        return NO_BOOK, ("The labels in the metadata of the file are damaged; it is read without.",)
    found = tuple(variable for variable in book.variables if variable.name in names)
    return Codebook(found), ("Labels and user-missing values come from the metadata of the file.",)


def parquet_shape(path: Path) -> tuple[tuple[str, ...], int]:
    """Column names and number of rows that the file's footer declares."""
    import pyarrow
    import pyarrow.parquet

    try:
        with path.open("rb") as file, pyarrow.parquet.ParquetFile(file) as parquet:
            schema = parquet.schema_arrow
            names = tuple(schema.names)
            rows = int(parquet.metadata.num_rows)
    except pyarrow.ArrowException:
        raise InputError(
            "parquet.damaged",
            f"{path.name}: the file is no Parquet file, or it is damaged.",
            hint="Write it again with the program it comes from.",
        ) from None
    except OSError as problem:
        raise storage_error(problem, path, "read") from problem
    _check_decimals(path, schema)
    _check_names(path, names)
    if rows == 0 or not names:
        raise InputError(
            "parquet.no-rows", f"{path.name}: found {len(names)} columns and {rows} rows."
        )
    return names, rows


def _check_names(path: Path, names: tuple[str, ...]) -> None:
    seen: dict[str, int] = {}
    for j, name in enumerate(names):
        first = seen.setdefault(name, j)
        if first != j:
            raise InputError(
                "parquet.duplicate-names",
                f"{path.name}: the columns {first + 1} and {j + 1} are both named `{name}`, "
                "expected a name of its own for each.",
                hint="Rename one of them.",
                details={"column": name},
            )


def _check_decimals(path: Path, schema: pyarrow.Schema) -> None:
    """Refuse decimals that the database would round to floating-point numbers."""
    for field in schema:
        digits = getattr(field.type, "precision", 0)
        if digits > _MOST_DIGITS:
            raise InputError(
                "parquet.type",
                f"{path.name}: the column `{field.name}` holds decimals of up to {digits} digits, "
                f"expected at most {_MOST_DIGITS}.",
                hint="Write it with fewer digits, or turn it into text first.",
                details={"column": str(field.name)},
            )


def first_rows(path: Path, count: int, token: CancelToken) -> tuple[tuple[str, ...], ...]:
    """The first rows as canonical texts, for a preview."""
    con, (names, _) = in_memory(), parquet_shape(path)
    try:
        with readable(path, token), query(con, token, path) as cursor:
            listed = ", ".join(_as_text(row) for row in _described(cursor, path, names))
            found = cursor.execute(
                f"SELECT {listed} FROM {parquet_source(path)} LIMIT {count}"
            ).fetchall()
    finally:
        con.close()
    return tuple(tuple(row) for row in found)


def _as_text(described: tuple[object, ...]) -> str:
    return f"coalesce({text_sql(str(described[0]), str(described[1]))}, '')"


def _described(
    cursor: DuckDBPyConnection, path: Path, names: tuple[str, ...]
) -> list[tuple[object, ...]]:
    """Names and types of the columns in the database, in the order of ``names``.

    The database gives a column whose name another has but for case a name of its own, so columns
    are told apart by their places.
    """
    described = cursor.execute(f"DESCRIBE SELECT * FROM {parquet_source(path)}").fetchall()
    if len(described) != len(names):
        raise disagreement(path.name, "columns", len(names), len(described))
    _check_types(path, names, described)
    return described


def _check_types(path: Path, names: tuple[str, ...], described: list[tuple[object, ...]]) -> None:
    for name, (_, kind, *_) in zip(names, described, strict=True):
        if any(word in str(kind).upper() for word in _NO_TEXT):
            raise InputError(
                "parquet.type",
                f"{path.name}: the column `{name}` holds values of type {kind}, expected texts, "
                "numbers, dates or truth values.",
                hint="Leave the column out, or turn it into text first.",
                details={"column": name},
            )


def _null_notes(
    con: DuckDBPyConnection,
    path: Path,
    names: tuple[str, ...],
    described: list[tuple[object, ...]],
    token: CancelToken,
) -> tuple[str, ...]:
    """Say where null and the empty text were both found, since both become the empty text."""
    texts = [(j, str(row[0])) for j, row in enumerate(described) if str(row[1]) == "VARCHAR"]
    if not texts:
        return ()
    listed = ", ".join(
        f"bool_or({identifier(name)} IS NULL) AND bool_or({identifier(name)} = '')"
        for _, name in texts
    )
    with query(con, token, path) as cursor:
        both = cursor.execute(f"SELECT {listed} FROM {parquet_source(path)}").fetchone() or ()
    mixed = [names[j] for (j, _), found in zip(texts, both, strict=True) if found]
    return tuple(
        f"Column `{name}` holds null and the empty text; both are read as the empty text."
        for name in mixed
    )
