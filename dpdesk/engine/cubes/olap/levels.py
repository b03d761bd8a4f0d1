"""Levels to which the categories of a released dimension can be rolled up, from labels alone.

A manifest may list them (parents of each category, level by level). Else labels that are intervals
of one width can be joined to wider ones (20-29 and 30-39 to 20-39), and codes of one length can
lose their last signs (1101 and 1102 become 110*): whatever the labels say by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from dpdesk.core.plain import number_text
from dpdesk.core.spans import Span, span_of

Levels = tuple[tuple[str, ...], ...]
_CODE = re.compile(r"[A-Za-z]{0,3}[0-9]+\**", re.ASCII)
_MANY = 3
_NICE = (1, 2, 5)
_MOST_LEVELS = 4
_MOST_TIMES = 5
_RANGE = re.compile(r"\d+-\d+|\d+", re.ASCII)
_HALF_OPEN = re.compile(r"\[.*, .*\[")


def levels_of(categories: Sequence[str], given: object = None) -> Levels:
    """Labels of each category at each level, the categories themselves first.

    ``given`` is what the manifest lists for the dimension: a list of levels, each with a label for
    every category. Raises TypeError or ValueError when that is something else.
    """
    base = tuple(categories)
    if given is not None:
        return (base, *_given(base, given))
    for derive in (_wider, _shorter):
        found = derive(base)
        if found:
            return (base, *found)
    return (base,)


def _given(base: tuple[str, ...], given: object) -> Levels:
    if not isinstance(given, list | tuple):
        raise TypeError("expected a list of levels")
    found: list[tuple[str, ...]] = []
    below = base
    for level in given:
        if not isinstance(level, list | tuple) or len(level) != len(base):
            raise ValueError("a level has not one label for each category")
        labels = tuple(str(label) for label in level)
        if len(set(zip(below, labels, strict=True))) != len(set(below)):
            raise ValueError("a level is not a roll-up of the one below")
        found.append(labels)
        below = labels
    return tuple(found)


def _wider(base: tuple[str, ...]) -> Levels:
    """Wider intervals: each next width is a nice multiple of the one before."""
    spans = [span_of(label) for label in base]
    bounded = [
        (span.low, width)
        for label, span in zip(base, spans, strict=True)
        if span is not None and span.low is not None and (width := _width(label, span)) is not None
    ]
    widths = {width for _, width in bounded}
    if len(bounded) < _MANY or len(widths) != 1:
        return ()
    starts = sorted(low for low, _ in bounded)
    if any(later - earlier not in widths for earlier, later in pairwise(starts)):
        return ()
    width = widths.pop()
    found: list[tuple[str, ...]] = []
    while len(found) < _MOST_LEVELS:
        step = next(_coarser(base, spans, width, found[-1] if found else base), None)
        if step is None:
            break
        width, labels = step
        found.append(labels)
    return tuple(found)


def _coarser(
    base: tuple[str, ...], spans: Sequence[Span | None], width: Fraction, below: tuple[str, ...]
) -> Iterator[tuple[Fraction, tuple[str, ...]]]:
    """Wider intervals that leave fewer labels than ``below``, but not hardly any."""
    for wide in _wider_widths(width):
        labels = tuple(
            _joined(label, span, wide, base) for label, span in zip(base, spans, strict=True)
        )
        joined = {
            label
            for label, text, span in zip(labels, base, spans, strict=True)
            if span is not None and _bounded(text, span)
        }
        if len(joined) > 1 and len(set(labels)) < len(set(below)):
            yield wide, labels


def _wider_widths(width: Fraction) -> Iterator[Fraction]:
    """Multiples of a width, nice ones first: 1 to 5, 5 to 10, 10 to 20, 20 to 100, else twice."""
    for power in range(-3, 7):
        for factor in _NICE:
            times = Fraction(10) ** power * factor / width
            if 1 < times <= _MOST_TIMES and times.denominator == 1 and (width != 1 or times > 2):
                yield width * times
    yield 2 * width


def _bounded(label: str, span: Span) -> bool:
    return _width(label, span) is not None


def _width(label: str, span: Span) -> Fraction | None:
    """Width of an interval: of ``20-29`` ten, of a single whole number one."""
    if span.low is None or span.high is None:
        return None
    if _RANGE.fullmatch(label.strip()):
        return span.high - span.low + 1
    return span.high - span.low if _HALF_OPEN.fullmatch(label.strip()) else None


def _joined(label: str, span: Span | None, wide: Fraction, base: tuple[str, ...]) -> str:
    """The wide interval that a label lies in, cut to what the domain has of it."""
    if span is None or not _bounded(label, span) or span.low is None:
        return label
    start = span.low // wide * wide
    inside = [
        other
        for text in base
        if (other := span_of(text)) is not None
        and _bounded(text, other)
        and other.low is not None
        and start <= other.low < start + wide
    ]
    low = min(other.low for other in inside if other.low is not None)
    high = max(other.high for other in inside if other.high is not None)
    if _RANGE.fullmatch(label.strip()):
        return f"{number_text(low)}-{number_text(high)}" if low != high else number_text(low)
    return f"[{number_text(low)}, {number_text(high)}["


def _shorter(base: tuple[str, ...]) -> Levels:
    """Codes of one length without their last signs, down to the first."""
    codes = [label for label in base if _CODE.fullmatch(label)]
    lengths = {len(code) for code in codes}
    if len(codes) < _MANY or len(lengths) != 1 or len(codes) < len(base) - 2:
        return ()
    length = lengths.pop()
    kept = max(len(code.rstrip("*")) for code in codes)
    found: list[tuple[str, ...]] = []
    for keep in range(kept - 1, 0, -1):
        labels = tuple(
            label[:keep] + "*" * (length - keep) if label in codes else label for label in base
        )
        before = found[-1] if found else base
        if len(set(labels)) < len(set(before)):
            found.append(labels)
    return tuple(found[:_MOST_LEVELS])
