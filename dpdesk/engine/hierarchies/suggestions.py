"""A first hierarchy for a column, so that nobody starts before an empty form.

What a disclosure-control officer would try first: dates become periods, measured numbers intervals,
codes with leading digits in common are masked, ranges and words of a scale keep their order. Where
the values do not tell what belongs together, no grouping is invented: the value, then ``*``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.schema import ColumnType
from dpdesk.core.suggested import SuggestedHierarchy, Why
from dpdesk.engine.hierarchies.code_suggestions import suggest_codes
from dpdesk.engine.hierarchies.dates import FORMATS, RIVALS, read_date
from dpdesk.engine.hierarchies.industry_suggestions import suggest_sections
from dpdesk.engine.hierarchies.name_hints import hint_of
from dpdesk.engine.hierarchies.number_suggestions import suggest_numbers, told_apart
from dpdesk.engine.hierarchies.word_suggestions import suggest_words

_MOST_FORMS = 3
_MOST_APART = 3
_FEWEST_DATES = 3
_FIRST_YEAR, _LAST_YEAR = 1800, 2200
_PERIODS = tuple(form for form in FORMATS if form != "yyyy")
_BARE = ("yyyymmdd", "yyyymm")
_RANGE = re.compile(r"\D{0,12}?(\d{1,9})\s*(?:-|–|—|to|bis|à|a|до)\s*(\d{1,9})\D{0,20}")
_END = re.compile(r"\D{0,12}(\d{1,9})\D{0,20}")
_BELOW = re.compile(r"\s*(?:<|≤|under|unter|below|less|up to|bis|moins)", re.IGNORECASE)
_MOST_RANGES = 200
_MOST_READ = 20_000


@dataclass(frozen=True)
class _Column:
    """Distinct present values with their rows, in the order of the domain."""

    name: str
    values: tuple[str, ...]
    rows: tuple[int, ...]


def suggest_hierarchy(
    values: Sequence[str],
    column_type: ColumnType,
    missing: Collection[str] = (),
    name: str = "",
    rows: Sequence[int] | None = None,
) -> SuggestedHierarchy:
    """A sensible hierarchy for a column, with the reason.

    ``values`` are the distinct values, ``rows`` how many rows hold each (None: one each), in the
    same order; ``missing`` are values that are declared missing. The name is a weak hint: it
    decides only where the values leave it open.
    """
    tokens = set(missing)
    counts = [1] * len(values) if rows is None else rows
    kept = [(v, n) for v, n in zip(values, counts, strict=True) if v not in tokens]
    column = _Column(name, tuple(v for v, _ in kept), tuple(n for _, n in kept))
    if len(kept) <= 2 or column_type in (ColumnType.BOOLEAN, ColumnType.EMPTY):
        return _plain(column, Why.FEW)
    hint = hint_of(name)
    return (
        _dates(column, column_type)
        or suggest_words(column.values, name)
        or suggest_sections(column.values, name)
        or suggest_numbers(column.values, column.rows, hint)
        or _ranges(column)
        or suggest_codes(column.values[:: 1 + len(kept) // _MOST_READ], hint)
        or _plain(column, Why.FEW if len(kept) <= 4 else Why.NAMES)
    )


def _plain(column: _Column, why: Why) -> SuggestedHierarchy:
    return SuggestedHierarchy(HierarchyBuilder("order"), why, {"n": f"{len(set(column.values)):,}"})


def _dates(column: _Column, column_type: ColumnType) -> SuggestedHierarchy | None:
    """Periods, when all values but a few words are dates in at most three forms."""
    apart: list[str] = []
    left = list(dict.fromkeys(column.values))
    if len(left) - _MOST_APART > 0 and column_type is not ColumnType.DATE:
        apart = [value for value in left if not any(sign.isdigit() for sign in value)]
        left = [value for value in left if value not in set(apart)]
    if len(apart) > _MOST_APART or len(left) < _FEWEST_DATES:
        return None
    forms = _forms(left)
    if not forms:
        return None
    facts = {"form": " or ".join(forms)}
    for pair in RIVALS:
        if set(forms) <= set(pair) and all(_fits(left, form) for form in pair):
            # Both readings fit; the form shows which one is proposed, so that it can be changed.
            forms = [pair[0]]
            facts = {"form": pair[0], "other": pair[1]}
    options: dict[str, object] = {"format": forms}
    if apart:
        options["apart"] = apart
    return SuggestedHierarchy(HierarchyBuilder("dates", options), Why.DATES, facts, tuple(apart))


def _forms(values: Sequence[str]) -> list[str]:
    """At most three forms that read all values, the one that reads most first; else none."""
    found: list[str] = []
    left = list(values)
    while left and len(found) < _MOST_FORMS:
        first = [form for form in _PERIODS if form not in found and _reads(left[0], form)]
        if not first:
            return []
        best = max(first, key=lambda form: sum(_reads(value, form) for value in left))
        if best in _BARE and found:
            return []
        found.append(best)
        left = [value for value in left if not _reads(value, best)]
    return [] if left else found


def _fits(values: Sequence[str], form: str) -> bool:
    return all(_reads(value, form) for value in values)


def _reads(value: str, form: str) -> bool:
    found = read_date(value, (form,))
    if found is None:
        return False
    return form not in _BARE or _FIRST_YEAR <= found.year < _LAST_YEAR


def _ranges(column: _Column) -> SuggestedHierarchy | None:
    """Neighbours put together, when the values are ranges such as 15-24 with open ends."""
    found, apart = told_apart(column.values[: _MOST_RANGES + 1], _ends)
    closed = sum(_RANGE.fullmatch(value) is not None for value, _ in found)
    if not 3 <= len(found) <= _MOST_RANGES or closed * 2 < len(found) or len(apart) > _MOST_APART:
        return None
    found.sort(key=lambda pair: pair[1])
    if any(after[1][0] <= before[1][2] for before, after in pairwise(found)):
        return None
    order = [value for value, _ in found]
    options: dict[str, object] = {"order": order, "sizes": [2, 2] if len(order) > 6 else [2]}
    if apart:
        options["apart"] = apart
    facts = {"n": f"{len(order):,}"}
    return SuggestedHierarchy(HierarchyBuilder("order", options), Why.RANGES, facts, tuple(apart))


def _ends(value: str) -> tuple[int, int, int] | None:
    """First number of a range, its place among those with the same, and its last number.

    Ranges of codes (01-01301) are none: no end has a zero in front, but where both are as long.
    """
    match = _RANGE.fullmatch(value)
    if match is not None:
        low, high = int(match[1]), int(match[2])
        padded = any(end.startswith("0") and len(end) > 1 for end in match.groups())
        if low > high or (padded and len(match[1]) != len(match[2])):
            return None
        return (low, 1, high)
    match = _END.fullmatch(value)
    if match is None:
        return None
    number = int(match[1])
    return (number - 1, 0, number - 1) if _BELOW.match(value) else (number, 2, number)
