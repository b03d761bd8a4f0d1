"""From a Parquet file to a table of texts in the database, of few values as codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.core.labels import NO_BOOK, Codebook
from dpdesk.core.messages import msg
from dpdesk.core.plan import SourceSpec
from dpdesk.core.source_spec import changes_values
from dpdesk.io.coding import MOST_CODED_COLUMNS, make_type
from dpdesk.io.csvload import AT_ONCE, CHECK, LOAD, RAW, STEPS, Loaded
from dpdesk.io.database import identifier, in_memory, parquet_source, query
from dpdesk.io.failures import disagreement
from dpdesk.io.formats.coded import most_coded
from dpdesk.io.formats.moments import outside_sentence
from dpdesk.io.formats.numbers import text_sql
from dpdesk.io.formats.parquet_look import no_text_type
from dpdesk.io.formats.process import read_in_process
from dpdesk.io.formats.request import ReadDone, ReadRequest
from dpdesk.io.formats.table import Notes
from dpdesk.io.labelwatch import note_unforeseen
from dpdesk.io.missing import refuse_nul
from dpdesk.io.reading import Reading
from dpdesk.io.source import file_print

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


_FORMAT, _STOPPED = "parquet", "read.stopped"


def look_at(path: Path, limit: int | None, token: CancelToken) -> ReadDone:
    """Columns, rows and notes of a file; see :mod:`dpdesk.io.formats.parquet_look`.

    Raises InputError ``parquet.*``, ``read.*`` and ``encoding.undecodable``, StorageError,
    Cancelled.
    """
    return _asked(ReadRequest(str(path), "", _FORMAT, limit), path, token)


@contextmanager
def readable(
    path: Path, token: CancelToken, culprit: Callable[[], str] = lambda: ""
) -> Iterator[None]:
    """Say what is at fault when the database stops reading ``path``.

    ``culprit()`` names the one column that cannot be read, if there is such a one. Raises
    InputError ``encoding.undecodable`` for a text that is no UTF-8, ``parquet.value`` for a column,
    ``parquet.damaged`` for other faults inside of the file; Cancelled.
    """
    try:
        yield
    except InputError as problem:
        if problem.code != "read.database":
            raise
        _asked(ReadRequest(str(path), "", _FORMAT, faults=True), path, token)
        column = culprit()
        if not column:
            raise damaged_parquet(path) from problem
        raise InputError(
            "parquet.value",
            msg(
                "{name}, column `{column}`: a value cannot be read as its type says.",
                name=path.name,
                column=column,
            ),
            hint="Leave the column out, or turn it into text first.",
            details={"column": column},
        ) from problem


def _asked(request: ReadRequest, path: Path, token: CancelToken) -> ReadDone:
    try:
        return read_in_process(request, path.name, token, lambda made: None)
    except InputError as problem:
        if problem.code != _STOPPED:
            raise
        raise damaged_parquet(path) from problem


def damaged_parquet(path: Path) -> InputError:
    """The error for a file of which no more can be told."""
    return InputError(
        "parquet.damaged",
        msg("{name}: the file is not a Parquet file, or it is damaged.", name=path.name),
        hint="Write it again with the program it comes from.",
    )


_NO_TEXT = ("STRUCT", "MAP", "LIST", "BLOB", "UNION", "[]", "VARIANT", "GEOMETRY")
_OUTSIDE = (
    "c{0}::VARCHAR <> '' AND "
    "(substr(c{0}::VARCHAR, 5, 1) <> '-' OR contains(c{0}::VARCHAR, '(BC)'))"
)
"""Not the text of a date of the years 1 to 9999."""


def load_parquet(
    con: DuckDBPyConnection, path: Path, spec: SourceSpec, token: CancelToken, report: Report
) -> Loaded:
    """Load ``path`` into the table ``raw``: every value as its canonical text, null as "".

    Columns of few values are coded while they are read, unless the plan changes values.

    Raises InputError ``parquet.*`` for a file that is no Parquet, is damaged, has no rows, or has
    columns that have no text (lists, structures, bytes); StorageError; Cancelled.
    """
    report(StepStarted(CHECK, 1, STEPS))
    found = look_at(path, None, token)
    names, rows = tuple(variable.name for variable in found.variables), found.rows
    digest = file_print(path, token, report, CHECK)
    report(StepStarted(LOAD, 2, STEPS))
    source = parquet_source(path)
    _trust_values(con)
    described: list[tuple[object, ...]] = []
    coded: tuple[tuple[str, ...] | None, ...] = ()

    def culprit() -> str:
        return _unreadable(con, path, names, described, token)

    with readable(path, token, culprit), query(con, token, path) as cursor:
        described += _described(cursor, path, names)
        texts = [_as_text(row) for row in described]
        if not changes_values(spec) and not any(one.value_labels for one in found.variables):
            coded = _coded(con, path, texts, rows, token)
        kinds = {j: f"::t{j}" for j, domain in enumerate(coded) if domain is not None}
        listed = ", ".join(f"({text}){kinds.get(j, '')} AS c{j}" for j, text in enumerate(texts))
        cursor.execute(f"CREATE TABLE {RAW} AS SELECT {listed} FROM {source}")
        loaded = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
    if loaded is None or loaded[0] != rows:
        raise disagreement(path.name, "rows", rows, loaded[0] if loaded else 0)
    _compare_empty(con, path, names, found.empty, token)
    refuse_nul(con, _may_hold_nul(names, described, coded), path, token)
    odd = note_unforeseen(con, found.variables, "parquet", spec.missing or (), path, token)
    outside = _outside_notes(con, path, names, [str(row[1]) for row in described], token)
    nulls = _null_notes(con, path, names, described, token)
    con.execute("RESET GLOBAL disabled_optimizers")
    notes = (*found.notes, *outside, *nulls, *odd)
    reading = Reading("parquet", missing=spec.missing, notes=notes)
    # That a column is one of texts is something said of it too.
    known = frozenset(found.described)
    labelled = tuple(one for one in found.variables if one.name in known)
    book = Codebook(labelled) if labelled else NO_BOOK
    return Loaded(names, rows, reading, digest, book, coded=coded)


def _coded(
    con: DuckDBPyConnection, path: Path, columns: Sequence[str], rows: int, token: CancelToken
) -> tuple[tuple[str, ...] | None, ...]:
    """Create the types t0, t1, … for columns with few distinct texts.

    Returns for each column its values, sorted by code point, or None where it stays text; nothing
    for a table of too many columns.
    """
    if len(columns) > MOST_CODED_COLUMNS:
        return ()
    source, limit, many = parquet_source(path), most_coded(rows), list[int]()
    for first in range(0, len(columns), AT_ONCE):
        some = columns[first : first + AT_ONCE]
        counts = ", ".join(f"approx_count_distinct({text})" for text in some)
        with query(con, token, path) as cursor:
            many += cursor.execute(f"SELECT {counts} FROM {source}").fetchone() or ()
    return tuple(
        make_type(con, f"t{j}", f"SELECT DISTINCT {text} AS v FROM {source}", path, token)
        if values <= limit
        else None
        for j, (text, values) in enumerate(zip(columns, many, strict=True))
    )


def _may_hold_nul(
    names: Sequence[str],
    described: Sequence[tuple[object, ...]],
    coded: Sequence[tuple[str, ...] | None],
) -> list[tuple[int, str]]:
    """Places and names of the text columns whose values may contain a NUL."""
    clean = {
        j
        for j, domain in enumerate(coded)
        if domain is not None and not any("\0" in value for value in domain)
    }
    return [
        (j, name)
        for j, name in enumerate(names)
        if str(described[j][1]) == "VARCHAR" and j not in clean
    ]


def _trust_values(con: DuckDBPyConnection) -> None:
    """Let the database look at the values of a file instead of what the file says of them.

    Its optimizer leaves out what the statistics of a file make needless, such as a look for NULL
    in a column that is said to have none; programs have written such statistics wrongly.
    """
    con.execute("SET GLOBAL disabled_optimizers = 'statistics_propagation'")


def _unreadable(
    con: DuckDBPyConnection,
    path: Path,
    names: tuple[str, ...],
    described: list[tuple[object, ...]],
    token: CancelToken,
) -> str:
    """The first column that alone cannot be read, empty where no other one can be read either."""
    faulty = []
    for name, row in zip(names, described, strict=False):
        try:
            with query(con, token, path) as cursor:
                cursor.execute(f"SELECT max({_as_text(row)}) FROM {parquet_source(path)}")
        except InputError:
            faulty.append(name)
    return faulty[0] if 0 < len(faulty) < len(names) else ""


def _compare_empty(
    con: DuckDBPyConnection,
    path: Path,
    names: tuple[str, ...],
    wanted: tuple[int, ...],
    token: CancelToken,
) -> None:
    """Refuse a file of which the other reader finds more or fewer values: ``wanted`` are none."""
    if not wanted:
        return
    found: list[int] = []
    for first in range(0, len(names), AT_ONCE):
        columns = range(first, min(len(names), first + AT_ONCE))
        listed = ", ".join(f"count(*) FILTER (c{j}::VARCHAR = '')" for j in columns)
        with query(con, token, path) as cursor:
            found += cursor.execute(f"SELECT {listed} FROM {RAW}").fetchone() or ()
    for name, one, other in zip(names, wanted, found, strict=True):
        if one != other:
            raise disagreement(
                path.name, msg("missing values of column `{name}`", name=name), one, other
            )


def first_rows(
    path: Path, count: int, token: CancelToken
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The names of the columns and the first rows as canonical texts, for a preview."""
    names = tuple(variable.name for variable in look_at(path, count, token).variables)
    con = in_memory()
    _trust_values(con)
    try:
        with readable(path, token), query(con, token, path) as cursor:
            listed = ", ".join(_as_text(row) for row in _described(cursor, path, names))
            found = cursor.execute(
                f"SELECT {listed} FROM {parquet_source(path)} LIMIT {count}"
            ).fetchall()
    finally:
        con.close()
    return names, tuple(tuple(row) for row in found)


def _as_text(described: tuple[object, ...]) -> str:
    return as_text(str(described[0]), str(described[1]))


def as_text(name: str, kind: str) -> str:
    """SQL for the canonical text of a column of a Parquet file, by its type; never NULL."""
    text = text_sql(name, kind)
    if kind == "TIME WITH TIME ZONE":
        text = rf"regexp_replace({text}, '\+00$', '')"  # all of them are told in UTC
    return f"coalesce({text}, '')"


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
            raise no_text_type(path, name, str(kind))


def _outside_notes(
    con: DuckDBPyConnection,
    path: Path,
    names: tuple[str, ...],
    kinds: list[str],
    token: CancelToken,
) -> tuple[str, ...]:
    """Say where dates of the loaded table are none of the years 1 to 9999."""
    notes = Notes()
    with query(con, token, path) as cursor:
        for j, kind in enumerate(kinds):
            if not kind.startswith(("DATE", "TIMESTAMP")):
                continue
            where = f"FROM {RAW} WHERE {_OUTSIDE.format(j)}"
            found = cursor.execute(f"SELECT count(*), min(rowid) {where}").fetchone() or (0, 0)
            if found[0]:
                text = cursor.execute(f"SELECT c{j} FROM {RAW} WHERE rowid = {found[1]}").fetchone()
                sentence = outside_sentence(found[1] + 1, names[j], text[0] if text else "")
                notes.add(f"outside {j}", sentence, found[0])
    return notes.told()


def _null_notes(
    con: DuckDBPyConnection,
    path: Path,
    names: tuple[str, ...],
    described: list[tuple[object, ...]],
    token: CancelToken,
) -> tuple[str, ...]:
    """Say where null and the empty text were both found, since both become the empty text."""
    texts = [(j, str(row[0])) for j, row in enumerate(described) if str(row[1]) == "VARCHAR"]
    both: list[bool] = []
    for first in range(0, len(texts), AT_ONCE):
        listed = ", ".join(
            f"bool_or({identifier(name)} IS NULL) AND bool_or({identifier(name)} = '')"
            for _, name in texts[first : first + AT_ONCE]
        )
        with query(con, token, path) as cursor:
            both += cursor.execute(f"SELECT {listed} FROM {parquet_source(path)}").fetchone() or ()
    mixed = [names[j] for (j, _), found in zip(texts, both, strict=True) if found]
    return tuple(
        msg(
            "Column `{column}` holds null and the empty text; both are read as the empty text.",
            column=name,
        )
        for name in mixed
    )
