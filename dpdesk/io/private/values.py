"""Values for a private method: each is of the type that the plan declares, or unreadable.

What a value becomes depends on that value alone: no other one, no type that a file or a library
gave a column because of what stands in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.frequency import UNREADABLE as UNREADABLE
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NOTHING_MISSING
from dpdesk.core.schema import form
from dpdesk.core.source_spec import DATE, NUMBER, SourceSpec
from dpdesk.io.csvload import RAW, Loaded
from dpdesk.io.database import literal, query
from dpdesk.io.missing import (
    DATE_FORMS,
    DATE_ORDERS,
    ISO_DATE,
    condition,
    form_sql,
    number_pattern,
)
from dpdesk.io.missing_forms import number_form_sql, other_forms_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def value_sql(v: str, kind: str, missing: Sequence[str], decimal: str, date_order: str) -> str:
    """SQL for a value of the declared type, from its text ``v`` in SQL.

    Missing values stay what they are; a value of another type is unreadable. Texts get the Unicode
    form NFC: a person whose name is written in two forms would count as two persons. What is a
    missing value but for blanks around it, or of numbers but for how the number is written (99.00
    for 99), is that missing value: categories and amounts ignore these differences as well.
    """
    absent = f"{v} IN ({', '.join(map(literal, ['', *missing]))})"
    if kind == NUMBER:
        good, read = _matches(v, number_pattern(decimal)), v
    elif kind == DATE:
        good, read = _is_date(v, date_order), v
    else:
        good, read = f"NOT contains({v}, chr(0))", form_sql(v)
    lost = literal(UNREADABLE)
    plain = f"CASE WHEN {absent} THEN {v} WHEN {good} THEN {read} ELSE {lost} END"
    parts = other_forms_sql(v, missing, decimal if kind == NUMBER else "")
    if parts is None:
        return plain
    # Few values may be missing in another form: what tells is computed for these alone.
    may, listed = parts
    return f"CASE WHEN {may} THEN coalesce({listed}, {plain}) ELSE {plain} END"


def _is_date(v: str, order: str) -> str:
    iso = f"({_matches(v, ISO_DATE)} AND try_cast(left(trim({v}), 10) AS DATE) IS NOT NULL)"
    forms = [
        f"({_matches(v, form)} AND try_strptime(trim({v}), {literal(code)}) IS NOT NULL)"
        for form, code in DATE_FORMS
        if DATE_ORDERS[code[:2]] == order
    ]
    return f"({' OR '.join([iso, *forms])})"


def _matches(v: str, pattern: str) -> str:
    return f"regexp_full_match(trim({v}), {literal(pattern)})"


def typed_sql(texts: Sequence[str], kinds: Sequence[str], spec: SourceSpec) -> str:
    """The list of a SELECT with the columns c0, c1, … of values, from their texts in SQL."""
    how = (spec.missing, spec.decimal or ".", spec.date_order or "")
    columns = (value_sql(v, kind, *how) for v, kind in zip(texts, kinds, strict=True))
    return ", ".join(f"{value} AS c{j}" for j, value in enumerate(columns))


# Numbers that name persons: 1, 01 and 1.0 are one person, as texts of two Unicode forms are.


def join_numbers(
    con: DuckDBPyConnection,
    loaded: Loaded,
    spec: SourceSpec,
    person: str,
    path: Path,
    token: CancelToken,
) -> None:
    """Give the values of the column ``person`` in ``raw`` one form, if it is declared a number.

    Missing and unreadable values stay. What a value becomes depends on that value alone. Raises
    Cancelled.
    """
    types = {form(name): kind for name, kind in spec.types}
    found = [j for j, name in enumerate(loaded.names) if form(name) == form(person)]
    if not found or types.get(form(person)) != NUMBER:
        return
    v, missing = f"c{found[0]}", loaded.reading.missing
    user = loaded.book.missing(loaded.names[found[0]]) if missing else NOTHING_MISSING
    gone = condition(user, (*missing, UNREADABLE), v)
    with query(con, token, path) as cursor:
        cursor.execute(f"UPDATE {RAW} SET {v} = {number_form_sql(v)} WHERE NOT ({gone})")
