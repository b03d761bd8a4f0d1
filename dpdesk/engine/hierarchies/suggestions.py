"""A first hierarchy for a column, so that nobody starts before an empty form."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dpdesk.core.parameters import plain_number
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.schema import ColumnType
from dpdesk.engine.hierarchies.dates import detect_formats
from dpdesk.engine.hierarchies.intervals import nice_widths, parse_numbers

_CODE_LENGTH = 5
_AMBIGUOUS = {"dd/mm/yyyy", "mm/dd/yyyy"}


def suggest_builder(
    values: Sequence[str], column_type: ColumnType, missing: Collection[str] = ()
) -> HierarchyBuilder:
    """A sensible builder for distinct values of a column; it builds without error.

    Codes of one length (at least five characters, all with digits) are masked, numbers become
    intervals of nice widths, dates periods, everything else the raw value and then ``*``.
    """
    tokens = set(missing)
    present = [value for value in values if value not in tokens]
    plain = HierarchyBuilder("order")
    if len(present) < 3 or column_type in (ColumnType.BOOLEAN, ColumnType.EMPTY):
        return plain
    if column_type is ColumnType.DATE:
        return _dates(present) or plain
    if _are_codes(present):
        return HierarchyBuilder("mask", {"from": "right"})
    parsed = parse_numbers(present)
    if parsed is None or ({"."} & set("".join(present)) and {","} & set("".join(present))):
        return _dates(present) or plain
    widths = [plain_number(width) for width in nice_widths(parsed)]
    return HierarchyBuilder("intervals", {"widths": widths})


def _dates(present: Sequence[str]) -> HierarchyBuilder | None:
    forms = detect_formats(present)
    if not forms:
        return None
    if set(forms) >= _AMBIGUOUS:
        # Both readings fit; the form shows which one is proposed, so that it can be changed.
        forms = ["dd/mm/yyyy"]
    return HierarchyBuilder("dates", {"format": [forms[0]]})


def _are_codes(present: Sequence[str]) -> bool:
    """Equal length, long enough, ASCII letters and digits only, a digit in each."""
    length = len(present[0])
    return (
        length >= _CODE_LENGTH
        and all(len(value) == length for value in present)
        and all(value.isascii() and value.isalnum() for value in present)
        and all(any(letter.isdigit() for letter in value) for value in present)
    )
