"""The profile of a source: what each column holds, and the role that it suggests."""

from __future__ import annotations

from collections.abc import Sequence
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
_INTEGER = r"[+-]?\d+"
_BOOLEAN = (
    "true", "false", "yes", "no", "y", "n", "t", "f", "ja", "nein", "oui", "non", "si", "sí",
    "wahr", "falsch",
)  # fmt: skip
_DATES = (
    (r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?", None),
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%d/%m/%Y", "%m/%d/%Y")),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%d-%m-%Y", "%m-%d-%Y")),
)


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
    for number, column in enumerate(columns, start=1):
        profiles.append(_profile(con, column, rows, reading, place, token))
        report(StepProgress(PROFILE, number, len(columns), "columns"))
    return tuple(profiles)


def _profile(
    con: DuckDBPyConnection,
    column: Column,
    rows: int,
    reading: Reading,
    place: Path,
    token: CancelToken,
) -> ColumnProfile:
    declared = ", ".join(literal(code) for code in reading.missing)
    is_missing = f"v IN ({declared})" if declared else "false"
    with query(con, token, place) as cursor:
        cursor.execute(
            f"CREATE OR REPLACE TEMP TABLE tally AS SELECT {column.sql}::VARCHAR AS v, "
            f"count(*) AS n FROM {DATA} GROUP BY {column.sql}"
        )
        cursor.execute(
            f"CREATE OR REPLACE TEMP VIEW present AS SELECT * FROM tally WHERE NOT {is_missing}"
        )
        facts = cursor.execute(_facts(reading.decimal)).fetchone()
        if facts is None:
            raise AssertionError("an aggregate without groups gives one row")
        top = cursor.execute(f"SELECT v, n FROM present ORDER BY n DESC, v LIMIT {_TOP}").fetchall()
        kind = _type_of(facts)
        ends = None
        if kind in _ORDERED:
            ends = cursor.execute(_ends(kind, reading.decimal, facts)).fetchone()
    distinct, unique, present = int(facts[0]), int(facts[1]), int(facts[2])
    counted = tuple(ValueCount(str(v), int(n)) for v, n in top)
    return ColumnProfile(
        name=column.name,
        type=kind,
        rows=rows,
        missing=rows - present,
        distinct=distinct,
        unique=unique,
        top=counted,
        suggestion=suggest_role(column.name, kind, rows, present, distinct, unique),
        minimum=None if ends is None or ends[0] is None else str(ends[0]),
        maximum=None if ends is None or ends[1] is None else str(ends[1]),
    )


_ORDERED = (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.DATE)
_FACTS = ("distinct", "unique", "present", "integer", "decimal", "boolean")


def _matches(pattern: str, value: str = "t") -> str:
    return f"regexp_full_match({value}, {literal(pattern)})"


def _facts(decimal: str) -> str:
    """One pass over the distinct present values: counts, and which types fit them all."""
    mark = r"\." if decimal == "." else ","
    number = rf"[+-]?(\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?"
    words = ", ".join(literal(word) for word in _BOOLEAN)
    dates = [f"bool_and(coalesce({_is_date(*form)}, false))" for form in _DATES]
    return (
        "SELECT count(*), count(*) FILTER (n = 1), coalesce(sum(n), 0), "
        f"bool_and({_matches(_INTEGER)}), bool_and({_matches(number)}), "
        f"bool_and(lower(t) IN ({words})) AND count(DISTINCT lower(t)) <= 2, "
        f"{', '.join(dates)} FROM (SELECT v, n, trim(v) AS t FROM present)"
    )


def _is_date(pattern: str, formats: tuple[str, ...] | None) -> str:
    """Whether a value has the form and is a day of the calendar."""
    if formats is None:
        return f"{_matches(pattern)} AND try_cast(left(t, 10) AS DATE) IS NOT NULL"
    listed = ", ".join(f"try_strptime(t, {literal(form)})" for form in formats)
    return f"{_matches(pattern)} AND coalesce({listed}) IS NOT NULL"


def _type_of(facts: Sequence[object]) -> ColumnType:
    if not facts[0]:
        return ColumnType.EMPTY
    if facts[3]:
        return ColumnType.INTEGER
    if facts[4]:
        return ColumnType.DECIMAL
    if facts[5]:
        return ColumnType.BOOLEAN
    return ColumnType.DATE if any(facts[len(_FACTS) :]) else ColumnType.TEXT


def _ends(kind: ColumnType, decimal: str, facts: Sequence[object]) -> str:
    """The statement for the least and the greatest value, as they are written."""
    if kind is ColumnType.DATE:
        form = _DATES[list(facts[len(_FACTS) :]).index(True)][1]
        if form is None:
            key = "try_cast(trim(v) AS TIMESTAMP)"
        else:
            key = f"coalesce({', '.join(f'try_strptime(trim(v), {literal(f)})' for f in form)})"
    else:
        number = "trim(v)" if decimal == "." else "replace(trim(v), ',', '.')"
        key = f"try_cast({number} AS DOUBLE)"
        if kind is ColumnType.INTEGER:
            key = f"struct_pack(a := {key}, b := try_cast({number} AS HUGEINT))"
    return f"SELECT arg_min(v, {key}), arg_max(v, {key}) FROM present"
