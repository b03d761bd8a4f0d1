"""The ``query`` of a source, run over the rows that were read.

It runs in a database of its own that knows the table ``data`` and nothing else: no file, no
extension, no other setting can be reached from there. Values are the texts that the program works
with; a missing value is NULL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, NOTHING_MISSING, Codebook, Variable
from dpdesk.core.messages import msg
from dpdesk.core.plan import SourceSpec
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import MEMORY_LIMIT, identifier, in_utc, literal, query
from dpdesk.io.formats.columns import check_names, no_text
from dpdesk.io.formats.numbers import text_sql
from dpdesk.io.missing import condition, refuse_nul
from dpdesk.io.private.values import UNREADABLE
from dpdesk.io.query_tree import DATA, QueryTree, folded, place_of, read_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_BATCH = 50_000
_RESULT, _PICKED = "result", "picked"
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERS = frozenset((*_WHOLE, *(f"U{name}" for name in _WHOLE), "DECIMAL", "DOUBLE", "FLOAT"))
_PLAIN = frozenset(("VARCHAR", "BOOLEAN", "ENUM", "DATE", "INTERVAL"))
_LONGEST = 300


def queried(
    con: DuckDBPyConnection,
    loaded: Loaded,
    spec: SourceSpec,
    path: Path,
    spill: Path | None,
    token: CancelToken,
) -> Loaded:
    """Replace the table ``raw`` in ``con`` by what the query of ``spec`` makes of it.

    Rows that a query only keeps stay as they are, missing codes and labels too. ``spill`` is a
    private folder; without it nothing is written. Raises InputError ``source.query`` for a query
    that is refused or that cannot be run, ``source.names``, ``source.type``, ``read.no-rows``;
    StorageError, Cancelled.
    """
    found = queried_rows(con, loaded, spec, path, spill, token)
    if not found.rows:
        raise InputError(
            "read.no-rows",
            msg(
                "{name}: the query keeps none of {rows:,} rows, expected at least one.",
                name=path.name,
                rows=loaded.rows,
            ),
            hint="Check `query` under [source].",
        )
    return found


def queried_rows(
    con: DuckDBPyConnection,
    loaded: Loaded,
    spec: SourceSpec,
    path: Path,
    spill: Path | None,
    token: CancelToken,
) -> Loaded:
    """What :func:`queried` does, for a query that may keep no row."""
    tree = read_query(spec.query or "", path.name).spelled_as(loaded.names)
    way = _kept if tree.keeps_rows and not tree.takes_rows_whole(loaded.names) else _made
    return way(con, tree, loaded, path, spill, token)


def _kept(
    con: DuckDBPyConnection,
    tree: QueryTree,
    loaded: Loaded,
    path: Path,
    spill: Path | None,
    token: CancelToken,
) -> Loaded:
    """The rows that a query keeps, with the texts that they had."""
    tree.check_names(loaded.names, path.name)
    chosen = tree.columns(loaded.names, path.name)
    names = tuple(name for _, name in chosen)
    check_names(names, path.name)
    known = {folded(name) for name in loaded.names}
    wanted = sorted(place_of(name, loaded.names, path.name) for name in tree.named & known)
    marker = free_name(known | tree.named)
    with locked(con, loaded, wanted, marker, path, spill, token) as inner:
        with told(path):
            picked = inner.sql(tree.selecting(marker)).to_arrow_table()
        listed = ", ".join(f"{RAW}.c{place} AS c{j}" for j, (place, _) in enumerate(chosen))
        with query(con, token, path) as cursor:
            cursor.register(_PICKED, picked)
            cursor.execute(
                f"CREATE TABLE {_RESULT} AS SELECT {listed} FROM {RAW} JOIN "
                f"(SELECT {identifier(marker)} AS n, row_number() OVER () AS place FROM {_PICKED}) "
                f"AS chosen ON {RAW}.rowid = chosen.n ORDER BY chosen.place"
            )
            cursor.unregister(_PICKED)
    rows = _replace_raw(con, path, token)
    note = msg("The query kept {rows:,} of {all:,} rows.", rows=rows, all=loaded.rows)
    book = _chosen_book(loaded, chosen)
    return replace(_noted(loaded, note), names=names, rows=rows, book=book)


def _made(
    con: DuckDBPyConnection,
    tree: QueryTree,
    loaded: Loaded,
    path: Path,
    spill: Path | None,
    token: CancelToken,
) -> Loaded:
    """The rows that a query makes: all texts anew, NULL as the first text that is missing."""
    everything = range(len(loaded.names))
    for name in loaded.names:
        place_of(name, loaded.names, path.name)
    tree.check_moments(loaded.names, path.name)
    missing = loaded.reading.missing
    empty = "" if "" in missing or not missing else missing[0]
    with locked(con, loaded, everything, None, path, spill, token) as inner:
        statement = tree.text.strip().rstrip(";")
        with told(path):
            # A table would give two columns of one name different ones.
            names = tuple(inner.sql(statement).columns)
            check_names(names, path.name)
            inner.execute(f"CREATE TABLE {_RESULT} AS {statement}")
        described = inner.execute(f"DESCRIBE {_RESULT}").fetchall()
        texts = [
            _text_of(path, name, str(row[0]), str(row[1]), loaded.reading.decimal)
            for name, row in zip(names, described, strict=True)
        ]
        listed = ", ".join(
            f"coalesce({text}, {literal(empty)}) AS c{j}" for j, text in enumerate(texts)
        )
        made = inner.sql(f"SELECT {listed} FROM {_RESULT}").to_arrow_table()
    with query(con, token, path) as cursor:
        cursor.register(_PICKED, made)
        cursor.execute(f"CREATE TABLE {_RESULT} AS SELECT * FROM {_PICKED}")
        cursor.unregister(_PICKED)
    rows = _replace_raw(con, path, token)
    refuse_nul(con, list(enumerate(names)), path, token)
    notes = [msg("The query made {rows:,} rows from {all:,}.", rows=rows, all=loaded.rows)]
    if loaded.book.variables:
        notes.append("Labels and values declared missing are not kept for rows that a query makes.")
    return replace(_noted(loaded, *notes), names=names, rows=rows, book=NO_BOOK)


@contextmanager
def locked(
    con: DuckDBPyConnection,
    loaded: Loaded,
    places: Sequence[int],
    marker: str | None,
    path: Path,
    spill: Path | None,
    token: CancelToken,
    longest: int | None = None,
) -> Iterator[DuckDBPyConnection]:
    """A database with some columns of ``raw`` as the table ``data``, from which nothing leads out.

    ``marker`` is the name of a further column with the number of the row, from 0 on. With
    ``longest`` it has the rows alone whose values in these columns are of so many bytes together
    at most, and each of them is looked at as the query is written: nothing is moved out of a TRY.
    """
    listed = [
        f"{_value_sql(loaded, place)} AS {identifier(loaded.names[place])}" for place in places
    ]
    listed += [] if marker is None else [f"rowid AS {identifier(marker)}"]
    sizes = " + ".join(("0", *(f"strlen(c{place})" for place in places)))
    short = "" if longest is None else f" WHERE {sizes} <= {longest}"
    outer = closed_off(spill, as_written=longest is not None)
    try:
        with query(con, token, path) as source, query(outer, token, path) as inner:
            chosen = source.sql(f"SELECT {', '.join(listed)} FROM {RAW}{short}")
            rows = chosen.to_arrow_reader(_BATCH)
            inner.register(_PICKED, rows)
            inner.execute(f"CREATE TABLE {DATA} AS SELECT * FROM {_PICKED}")
            inner.unregister(_PICKED)
            yield inner
    finally:
        outer.close()


def closed_off(spill: Path | None, as_written: bool = False) -> DuckDBPyConnection:
    """An empty database that reaches no file and whose settings stay.

    ``as_written``: its optimizer, which takes long lists out of the condition that they stand in,
    is off. One thread, so that rows come in the same order each time.
    """
    import duckdb

    con = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "python_enable_replacements": "false",
            "memory_limit": MEMORY_LIMIT,
            "temp_directory": "" if spill is None else str(spill / "query"),
            "threads": "1",
            "enable_optimizer": "false" if as_written else "true",
        },
    )
    in_utc(con)
    con.execute("SET enable_progress_bar = false")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")
    return con


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Let the error be the query's when the database cannot run it."""
    import duckdb

    try:
        yield
    except (duckdb.InterruptException, duckdb.OutOfMemoryException, duckdb.IOException):
        raise
    except duckdb.Error as problem:
        said = " ".join(str(problem).split("\n\nLINE")[0].split())
        hint = "Values are texts; write for instance TRY_CAST(age AS DOUBLE) >= 18."
        raise InputError(
            "source.query",
            msg(
                "{name}: the query cannot be run: {said}.",
                name=path.name,
                said=said.rstrip(".")[:_LONGEST],
            ),
            hint=hint,
            details={"key": "query"},
        ) from problem


def _value_sql(loaded: Loaded, place: int) -> str:
    """SQL for the value of a column as a query sees it."""
    missing = loaded.reading.missing
    user = loaded.book.missing(loaded.names[place]) if missing else NOTHING_MISSING
    if loaded.unreadable is not None:
        missing = (*missing, UNREADABLE)
    if not missing:
        return f"c{place}"
    return f"CASE WHEN {condition(user, missing, f'c{place}')} THEN NULL ELSE c{place} END"


def _text_of(path: Path, name: str, inside: str, kind: str, decimal: str) -> str:
    """SQL for the text of a column that a query made, with the decimal mark of the source."""
    text, base = text_sql(inside, kind), kind.upper().partition("(")[0]
    is_plain = base in _PLAIN or base.startswith("TIME")
    if "[" in kind or not (is_plain or base in _NUMBERS):
        raise no_text(path.name, name, kind)
    return f"replace({text}, '.', ',')" if decimal == "," and base in _NUMBERS else text


def _chosen_book(loaded: Loaded, chosen: Sequence[tuple[int, str]]) -> Codebook:
    """What the source says of the columns that are kept, by their new names."""
    known = {variable.name: variable for variable in loaded.book.variables}
    found: list[Variable] = []
    for place, name in chosen:
        variable = known.get(loaded.names[place])
        if variable is not None:
            found.append(replace(variable, name=name))
    return Codebook(tuple(found)) if found else NO_BOOK


def _noted(loaded: Loaded, *notes: str) -> Loaded:
    reading = replace(loaded.reading, notes=(*loaded.reading.notes, *notes))
    return replace(loaded, reading=reading)


def _replace_raw(con: DuckDBPyConnection, path: Path, token: CancelToken) -> int:
    """Let the result of the query be the table ``raw``; the number of its rows."""
    with query(con, token, path) as cursor:
        cursor.execute(f"DROP TABLE {RAW}")
        cursor.execute(f"ALTER TABLE {_RESULT} RENAME TO {RAW}")
        found: Any = cursor.execute(f"SELECT count(*) FROM {RAW}").fetchone()
    return int(found[0])


def free_name(taken: Collection[str]) -> str:
    """A name for a column that is none of these, which are in small letters."""
    return next(name for number in count() if (name := f"row_{number}") not in taken)
