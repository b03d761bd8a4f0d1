"""Whether a row meets conditions on its own values, one value after the other, without SQL."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from dpdesk.core.row_conditions import Comparison, Condition

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def meets(
    row: Mapping[str, str], conditions: Sequence[Condition], missing: Sequence[str], decimal: str
) -> bool:
    """Whether all conditions hold for a row."""
    for condition in conditions:
        value = row[condition.column]
        if value in missing:
            if condition.comparison is not Comparison.MISSING:
                return False
        elif not _holds(value, condition, decimal):
            return False
    return True


def number(text: str, decimal: str) -> float | None:
    """The number that a text is with this decimal mark; None when it is none."""
    while text and unicodedata.category(text[0]) == "Zs":
        text = text[1:]
    while text and unicodedata.category(text[-1]) == "Zs":
        text = text[:-1]
    if decimal == ",":
        text = text.translate({ord(","): ".", ord("."): "?"})
    return float(text) if _NUMBER.fullmatch(text) else None


def _holds(value: str, condition: Condition, decimal: str) -> bool:
    texts, kind = condition.values, condition.comparison
    if kind is Comparison.MISSING:
        return False
    if kind is Comparison.PRESENT:
        return True
    if kind is Comparison.IS:
        return any(value == text for text in texts)
    if kind is Comparison.IS_NOT:
        return all(value != text for text in texts)
    if kind is Comparison.BEGINS:
        return value[: len(texts[0])] == texts[0]
    if kind is Comparison.CONTAINS:
        return texts[0] in value
    found, limit = number(value, decimal), float(texts[0])
    if found is None:
        return False
    return {
        Comparison.EQUALS: found == limit,
        Comparison.DIFFERS: found != limit,
        Comparison.LEAST: found >= limit,
        Comparison.MOST: found <= limit,
        Comparison.ABOVE: found > limit,
        Comparison.BELOW: found < limit,
    }[kind]
