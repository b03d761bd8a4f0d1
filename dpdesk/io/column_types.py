"""The types that a column may have: what each of its values must be, in SQL, and their order."""

from __future__ import annotations

from dataclasses import dataclass

from dpdesk.core.schema import ColumnType
from dpdesk.io.database import literal

_TRIMMED = "trim(v)"
_BOOLEAN_PAIRS = (
    ("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("ja", "nein"), ("oui", "non"),
    ("sí", "no"), ("si", "no"), ("wahr", "falsch"), ("vrai", "faux"),
)  # fmt: skip
ISO_DATE = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
DATE_FORMS = (
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", "%d.%m.%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%d/%m/%Y"),
    (r"\d{1,2}/\d{1,2}/\d{4}", "%m/%d/%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%d-%m-%Y"),
    (r"\d{1,2}-\d{1,2}-\d{4}", "%m-%d-%Y"),
)


DATE_ORDERS = {"%Y": "ymd", "%d": "dmy", "%m": "mdy"}
"""How a date is written whose form begins like this."""


@dataclass(frozen=True)
class Candidate:
    """A type, the condition that each value ``v`` meets, and the key that orders them (or none).

    ``date_order`` tells the order of year, month and day in dates.
    """

    kind: ColumnType
    condition: str
    order: str = ""
    date_order: str = ""


def number_pattern(decimal: str) -> str:
    """What a number with this decimal mark looks like."""
    mark = r"\." if decimal == "." else ","
    return rf"[+-]?(\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?"


def candidates(decimal: str) -> tuple[Candidate, ...]:
    """The types in the order in which they are tried; the first that fits all values is taken."""
    number = number_pattern(decimal)
    as_number = _TRIMMED if decimal == "." else f"replace({_TRIMMED}, ',', '.')"
    day = f"try_cast(left({_TRIMMED}, 10) AS DATE)"
    return (
        Candidate(ColumnType.INTEGER, _matches(r"[+-]?\d+"), f"try_cast({_TRIMMED} AS HUGEINT)"),
        Candidate(ColumnType.DECIMAL, _matches(number), f"try_cast({as_number} AS DOUBLE)"),
        *(
            Candidate(ColumnType.BOOLEAN, f"lower({_TRIMMED}) IN ({_words(pair)})")
            for pair in _BOOLEAN_PAIRS
        ),
        Candidate(ColumnType.DATE, f"{_matches(ISO_DATE)} AND {day} IS NOT NULL", _TRIMMED, "ymd"),
        *(_date(form, code) for form, code in DATE_FORMS),
    )


def _matches(pattern: str) -> str:
    return f"regexp_full_match({_TRIMMED}, {literal(pattern)})"


def _words(pair: tuple[str, str]) -> str:
    return ", ".join(literal(word) for word in pair)


def _date(form: str, code: str) -> Candidate:
    moment = f"try_strptime({_TRIMMED}, {literal(code)})"
    order = DATE_ORDERS[code[:2]]
    return Candidate(ColumnType.DATE, f"{_matches(form)} AND {moment} IS NOT NULL", moment, order)
