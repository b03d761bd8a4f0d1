"""Which rows are kept: conditions as people type and read them, decided without widgets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from dpdesk.core.row_conditions import (
    BARE,
    LISTS,
    MOST_DIGITS,
    NUMBERS,
    Comparison,
    Condition,
    plain_number,
    read_query,
)
from dpdesk.ui.words.counts import short_name

translate = QCoreApplication.translate
_VALUE = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(,|\Z)')


def comparison_words(comparison: Comparison) -> str:
    """What a list of comparisons offers."""
    words = {
        Comparison.IS: translate("DataPanel", "is"),
        Comparison.IS_NOT: translate("DataPanel", "is not"),
        Comparison.BEGINS: translate("DataPanel", "begins with"),
        Comparison.CONTAINS: translate("DataPanel", "contains"),
        Comparison.MISSING: translate("DataPanel", "is missing"),
        Comparison.PRESENT: translate("DataPanel", "is not missing"),
        Comparison.EQUALS: translate("DataPanel", "is the number"),
        Comparison.DIFFERS: translate("DataPanel", "is a number other than"),
        Comparison.LEAST: translate("DataPanel", "is at least"),
        Comparison.MOST: translate("DataPanel", "is at most"),
        Comparison.ABOVE: translate("DataPanel", "is more than"),
        Comparison.BELOW: translate("DataPanel", "is less than"),
    }
    return words[comparison]


def example_words(comparison: Comparison) -> str:
    """What an empty field for the value says."""
    if comparison in LISTS:
        return translate("DataPanel", "a value, or several with commas")
    if comparison in NUMBERS:
        return translate("DataPanel", "a number")
    return translate("DataPanel", "a text")


def parse_values(text: str) -> tuple[str, ...]:
    """Values from a line, separated by commas.

    One that holds a comma, begins with a quote, is empty, or begins or ends with a blank stands in
    double quotes.
    """
    found: list[str] = []
    place = 0
    while (part := _VALUE.match(text, place)) is not None:
        value = part[2].strip() if part[1] is None else part[1].replace('""', '"')
        if value or part[1] is not None:
            found.append(value)
        place = part.end()
        if part[3] == "":
            break
    return tuple(dict.fromkeys(found))


def values_text(values: Sequence[str]) -> str:
    """The line from which :func:`parse_values` reads these values."""
    return ", ".join(_quoted(value) for value in values)


def _quoted(value: str) -> str:
    if value and value == value.strip() and "," not in value and not value.startswith('"'):
        return value
    return '"' + value.replace('"', '""') + '"'


def condition_of(
    column: str, comparison: Comparison, text: str, decimal: str
) -> tuple[Condition | None, str]:
    """What a line of the form says, or None and one sentence on what it needs."""
    shown = short_name(column)
    if not column:
        return None, translate("DataPanel", "Choose the column of the condition.")
    if comparison in BARE:
        return Condition(column, comparison), ""
    if comparison in NUMBERS:
        number = plain_number(text, decimal)
        if number is not None:
            return Condition(column, comparison, (number,)), ""
        sentence = translate(
            "DataPanel",
            "{column} is compared with a number: write digits, at most {most}, and “{mark}” before "
            "decimals, as the file does.",
        )
        return None, sentence.format(column=shown, most=MOST_DIGITS, mark=decimal)
    values = parse_values(text) if comparison in LISTS else (text,) if text else ()
    if values:
        return Condition(column, comparison, values), ""
    sentence = translate("DataPanel", "Write what {column} is compared with.")
    return None, sentence.format(column=shown)


def value_text(condition: Condition, decimal: str) -> str:
    """The text from which :func:`condition_of` makes a condition again."""
    if condition.comparison in LISTS:
        return values_text(condition.values)
    text = "".join(condition.values)
    return text.replace(".", decimal) if condition.comparison in NUMBERS else text


def query_sentence(query: str | None, decimal: str) -> str:
    """Which rows a query keeps, in one sentence; empty without a query."""
    if not query:
        return ""
    found = read_query(query)
    if found is None:
        return translate("DataPanel", "Only the rows of a query in SQL.")
    return conditions_sentence(found[0], decimal)


def conditions_sentence(conditions: Sequence[Condition], decimal: str) -> str:
    """Conditions as one sentence."""
    if not conditions:
        return translate("DataPanel", "All rows.")
    both = translate("DataPanel", "{first} and {second}")
    said = _phrase(conditions[0], decimal)
    for condition in conditions[1:]:
        said = both.format(first=said, second=_phrase(condition, decimal))
    return translate("DataPanel", "Only rows where {conditions}.").format(conditions=said)


def _phrase(condition: Condition, decimal: str) -> str:
    name, words = short_name(condition.column), comparison_words(condition.comparison)
    if condition.comparison in BARE:
        return f"{name} {words}"
    if condition.comparison in NUMBERS:
        return f"{name} {words} {value_text(condition, decimal)}"
    shown = [f"“{short_name(value)}”" for value in condition.values]
    either = translate("DataPanel", "{first} or {second}")
    said = shown[0]
    for value in shown[1:]:
        said = either.format(first=said, second=value)
    return f"{name} {words} {said}"
