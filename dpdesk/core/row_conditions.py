"""Conditions on the values of a row, and the ``query`` of a source that keeps rows by them.

Each condition looks at one column of the row itself, so that the query is one that private methods
allow too. Values are texts; a missing value meets no condition but the one that asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from dpdesk.core.messages import msg

START = "SELECT * FROM data WHERE "
_AND = " AND "
MOST_DIGITS = 15
"""As many digits as any number keeps when it is compared as one of double precision."""


class Comparison(StrEnum):
    """How the value of a column is compared."""

    IS = "is"
    IS_NOT = "is-not"
    BEGINS = "begins"
    CONTAINS = "contains"
    MISSING = "missing"
    PRESENT = "present"
    EQUALS = "equals"
    DIFFERS = "differs"
    LEAST = "least"
    MOST = "most"
    ABOVE = "above"
    BELOW = "below"


LISTS = (Comparison.IS, Comparison.IS_NOT)
"""Comparisons with one text or several."""
BARE = (Comparison.MISSING, Comparison.PRESENT)
"""Comparisons with nothing."""
_NUMBERS: Mapping[Comparison, str] = MappingProxyType(
    {
        Comparison.EQUALS: "=",
        Comparison.DIFFERS: "<>",
        Comparison.LEAST: ">=",
        Comparison.MOST: "<=",
        Comparison.ABOVE: ">",
        Comparison.BELOW: "<",
    }
)
NUMBERS = tuple(_NUMBERS)
"""Comparisons of numbers: a value that is not a number meets none of them."""
_FUNCTIONS: Mapping[Comparison, str] = MappingProxyType(
    {Comparison.BEGINS: "starts_with", Comparison.CONTAINS: "contains"}
)
_SINGLE: Mapping[Comparison, str] = MappingProxyType({Comparison.IS: "=", Comparison.IS_NOT: "<>"})
_SEVERAL: Mapping[Comparison, str] = MappingProxyType(
    {Comparison.IS: "IN", Comparison.IS_NOT: "NOT IN"}
)
_BARE: Mapping[Comparison, str] = MappingProxyType(
    {Comparison.MISSING: "IS NULL", Comparison.PRESENT: "IS NOT NULL"}
)


@dataclass(frozen=True)
class Condition:
    """A comparison of the values of a column.

    ``values`` are one or more texts for `LISTS`, none for `BARE`, else one. That of a comparison
    of numbers has a point as decimal mark, whatever that of the source.
    """

    column: str
    comparison: Comparison
    values: tuple[str, ...] = ()


def plain_number(text: str, decimal: str) -> str | None:
    """A number that is written with a decimal mark, with a point; None for another text.

    Numbers of more than `MOST_DIGITS` digits are none, since they could not be told apart.
    """
    found = re.fullmatch(rf"\s*(?:\+|(-))?([0-9]+)(?:{re.escape(decimal)}([0-9]+))?\s*", text)
    if found is None or len(found[2]) + len(found[3] or "") > MOST_DIGITS:
        return None
    return (found[1] or "") + found[2] + ("" if found[3] is None else f".{found[3]}")


def query_of(conditions: Sequence[Condition], decimal: str) -> str | None:
    """The query that keeps the rows for which all conditions hold; None when there is none.

    ``decimal`` is the decimal mark of the source, a point or a comma.
    """
    if not conditions:
        return None
    return START + _AND.join(_sql(condition, decimal) for condition in conditions)


def read_query(query: str) -> tuple[tuple[Condition, ...], frozenset[str]] | None:
    """The conditions that :func:`query_of` writes as this query, and the decimal marks it is for.

    A query that compares no numbers is for both marks. None for every query that is not, letter by
    letter, one that :func:`query_of` writes.
    """
    if not query.startswith(START):
        return None
    found = tuple(_conditions(query[len(START) :]))
    marks = frozenset(mark for mark in (".", ",") if query_of(found, mark) == query)
    return (found, marks) if marks else None


def _sql(condition: Condition, decimal: str) -> str:
    # With the table's name before it, no name of a column is a word of SQL.
    name = 'data."' + condition.column.replace('"', '""') + '"'
    comparison, texts = condition.comparison, [_literal(text) for text in condition.values]
    if comparison in _BARE:
        return f"{name} {_BARE[comparison]}"
    if comparison in _FUNCTIONS:
        return f"{_FUNCTIONS[comparison]}({name}, {texts[0]})"
    if comparison in _NUMBERS:
        return msg(
            "{number} {numbers} {values}",
            number=_number(name, decimal),
            numbers=_NUMBERS[comparison],
            values=condition.values[0],
        )
    if len(texts) == 1:
        return f"{name} {_SINGLE[comparison]} {texts[0]}"
    return f"{name} {_SEVERAL[comparison]} ({', '.join(texts)})"


def _number(name: str, decimal: str) -> str:
    """SQL for the value as a number, NULL where it is not one; as types of columns are found."""
    mark = r"\." if decimal == "." else ","
    pattern = rf"^[+-]?(\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?$"
    text = f"regexp_extract(trim({name}), '{pattern}')"
    if decimal == ",":
        text = f"replace({text}, ',', '.')"
    return f"TRY_CAST({text} AS DOUBLE)"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_NAME = r'data\."((?:[^"]|"")+)"'
_TEXT = r"'(?:[^']|'')*'"
_PART = re.compile(
    rf"{_NAME} (IS NULL|IS NOT NULL)"
    rf"|{_NAME} (=|<>|IN|NOT IN) (\({_TEXT}(?:, {_TEXT})*\)|{_TEXT})"
    rf"|(starts_with|contains)\({_NAME}, ({_TEXT})\)"
    rf"|TRY_CAST\((?:replace\()?regexp_extract\(trim\({_NAME}\), {_TEXT}\)(?:, ',', '\.'\))?"
    r" AS DOUBLE\) (=|<>|>=|<=|>|<) (-?[0-9.]+)"
)

_WORDS = {word: one for words in (_BARE, _FUNCTIONS) for one, word in words.items()}
_TEXT_SIGNS = {sign: one for signs in (_SINGLE, _SEVERAL) for one, sign in signs.items()}
_NUMBER_SIGNS = {sign: one for one, sign in _NUMBERS.items()}


def _conditions(text: str) -> Iterator[Condition]:
    """What a text could mean; whether it does is told by writing it again."""
    place = 0
    while (found := _PART.match(text, place)) is not None:
        yield _condition(found)
        place = found.end()
        if not text.startswith(_AND, place):
            return
        place += len(_AND)


def _condition(found: re.Match[str]) -> Condition:
    bare, asked, name, sign, texts, function, inner, text, number, order, limit = found.groups()
    if bare is not None:
        return Condition(_plain(bare, '"'), _WORDS[asked])
    if name is not None:
        values = tuple(_plain(one[1:-1], "'") for one in re.findall(_TEXT, texts))
        return Condition(_plain(name, '"'), _TEXT_SIGNS[sign], values)
    if function is not None:
        return Condition(_plain(inner, '"'), _WORDS[function], (_plain(text[1:-1], "'"),))
    return Condition(_plain(number, '"'), _NUMBER_SIGNS[order], (limit,))


def _plain(text: str, quote: str) -> str:
    return text.replace(quote * 2, quote)
