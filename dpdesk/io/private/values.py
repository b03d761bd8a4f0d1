"""Values for a private method: each is of the type that the plan declares, or unreadable.

What a value becomes depends on that value alone: no other one, no type that a file or a library
gave a column because of what stands in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.core.frequency import UNREADABLE as UNREADABLE
from dpdesk.core.source_spec import DATE, NUMBER, SourceSpec
from dpdesk.io.column_types import DATE_FORMS, DATE_ORDERS, ISO_DATE, number_pattern
from dpdesk.io.database import literal


def value_sql(v: str, kind: str, missing: Sequence[str], decimal: str, date_order: str) -> str:
    """SQL for a value of the declared type, from its text ``v`` in SQL.

    Missing values stay what they are; a value of another type is unreadable. Texts get the Unicode
    form NFC: a person whose name is written in two forms would count as two persons.
    """
    absent = f"{v} IN ({', '.join(map(literal, ['', *missing]))})"
    if kind == NUMBER:
        good, read = _matches(v, number_pattern(decimal)), v
    elif kind == DATE:
        good, read = _is_date(v, date_order), v
    else:
        good, read = f"NOT contains({v}, chr(0))", f"nfc_normalize({v})"
    lost = literal(UNREADABLE)
    return f"CASE WHEN {absent} THEN {v} WHEN {good} THEN {read} ELSE {lost} END"


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
