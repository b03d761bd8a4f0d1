"""The profile of a source: what each column holds, and the role that it suggests.

Everything is counted inside the database, from the distinct values of one column at a time. The
type is guessed on some values and then proven on all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.schema import ColumnProfile, ColumnType, ValueCount
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import literal, query
from dpdesk.io.reading import Reading
from dpdesk.io.roles import suggest_role

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PROFILE = "Profile the columns"
_TOP = 10
_SAMPLE = 1_000
_TRIMMED = "trim(v)"
_BOOLEAN_PAIRS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("ja", "nein"), ("oui", "non"),
    ("sí", "no"), ("si", "no"), ("wahr", "falsch"), ("vrai", "faux"),
)  # fmt: skip
_ISO_DATE = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
_DATE_FORMS = (
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%m/%d/%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%m-%d-%Y"),
)


@dataclass(frozen=True)
class _Candidate:
    """A type, the condition that each of its values meets, and the key that orders them."""

    kind: ColumnType
    condition: str
    order: str = ""


def profile_columns(
    con: DuckDBPyConnection,
    columns: tuple[Column, ...],
    rows: int,
    reading: Reading,
    place: Path,
    token: CancelToken,
    report: Report,
) -> tuple[ColumnProfile, ...]:
    """Profile every column, one after the other, from its distinct values and their counts."""
    report(StepStarted(PROFILE, 1, 1))
    profiles: list[ColumnProfile] = []
    candidates = _candidates(reading.decimal)
    for number, column in enumerate(columns, start=1):
        with query(con, token, place) as cursor:
            profiles.append(_profile(cursor, column, rows, reading.missing, candidates))
        report(StepProgress(PROFILE, number, len(columns), "columns"))
    return tuple(profiles)


def _profile(
    cursor: DuckDBPyConnection,
    column: Column,
    rows: int,
    missing: tuple[str, ...],
    candidates: tuple[_Candidate, ...],
) -> ColumnProfile:
    declared = ", ".join(literal(code) for code in missing)
    cursor.execute(
        f"CREATE TEMP TABLE tally AS SELECT v, n FROM (SELECT {column.sql}::VARCHAR AS v, "
        f"count(*) AS n FROM {DATA} GROUP BY {column.sql})"
        + (f" WHERE v NOT IN ({declared})" if declared else "")
    )
    counts = "SELECT count(*), count(*) FILTER (n = 1), coalesce(sum(n), 0)::BIGINT FROM tally"
    distinct, unique, present = cursor.execute(counts).fetchall()[0]
    top = cursor.execute(f"SELECT v, n FROM tally ORDER BY n DESC, v LIMIT {_TOP}").fetchall()
    found = _type_of(cursor, candidates) if distinct else _Candidate(ColumnType.EMPTY, "")
    ends: tuple[str | None, str | None] = (None, None)
    if found.order:
        ends = cursor.execute(
            f"SELECT arg_min(v, {found.order}), arg_max(v, {found.order}) FROM tally"
        ).fetchall()[0]
    cursor.execute("DROP TABLE tally")
    return ColumnProfile(
        name=column.name,
        type=found.kind,
        rows=rows,
        missing=rows - present,
        distinct=distinct,
        unique=unique,
        top=tuple(ValueCount(value, count) for value, count in top),
        suggestion=suggest_role(column.name, found.kind, rows, present, distinct, unique),
        minimum=ends[0],
        maximum=ends[1],
    )


def _candidates(decimal: str) -> tuple[_Candidate, ...]:
    """The types in the order in which they are tried; the first that fits all values is taken."""
    mark = r"\." if decimal == "." else ","
    number = rf"[+-]?(\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?"
    as_number = _TRIMMED if decimal == "." else f"replace({_TRIMMED}, ',', '.')"
    day = f"try_cast(left({_TRIMMED}, 10) AS DATE)"
    return (
        _Candidate(ColumnType.INTEGER, _matches(r"[+-]?\d+"), f"try_cast({_TRIMMED} AS HUGEINT)"),
        _Candidate(ColumnType.DECIMAL, _matches(number), f"try_cast({as_number} AS DOUBLE)"),
        *(
            _Candidate(ColumnType.BOOLEAN, f"lower({_TRIMMED}) IN ({_words(pair)})")
            for pair in _BOOLEAN_PAIRS
        ),
        _Candidate(ColumnType.DATE, f"{_matches(_ISO_DATE)} AND {day} IS NOT NULL", _TRIMMED),
        *(_date(form, code) for form, code in _DATE_FORMS),
    )


def _matches(pattern: str) -> str:
    return f"regexp_full_match({_TRIMMED}, {literal(pattern)})"


def _words(pair: tuple[str, str]) -> str:
    return ", ".join(literal(word) for word in pair)


def _date(form: str, code: str) -> _Candidate:
    moment = f"try_strptime({_TRIMMED}, {literal(code)})"
    return _Candidate(ColumnType.DATE, f"{_matches(form)} AND {moment} IS NOT NULL", moment)


def _type_of(cursor: DuckDBPyConnection, candidates: tuple[_Candidate, ...]) -> _Candidate:
    """The first type that fits some values, and then all of them."""
    fits = ", ".join(f"bool_and({item.condition})" for item in candidates)
    sample = cursor.execute(f"SELECT {fits} FROM (SELECT v FROM tally LIMIT {_SAMPLE})").fetchall()[
        0
    ]
    for item, likely in zip(candidates, sample, strict=True):
        if not likely:
            continue
        against = f"SELECT 1 FROM tally WHERE NOT ({item.condition}) LIMIT 1"
        if not cursor.execute(against).fetchall():
            return item
    return _Candidate(ColumnType.TEXT, "")
