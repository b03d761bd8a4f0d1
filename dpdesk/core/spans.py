"""Numbers behind labels: what ``20-29``, ``[20, 30[``, ``<20`` or ``90+`` stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_N = r"[+-]?\d+(?:[.,]\d+)?"
_PLAIN = re.compile(rf"({_N})")
_RANGE = re.compile(rf"({_N})\s*(?:-|–|\.\.| to )\s*({_N})")
_BRACKETS = re.compile(rf"([\[(\]])\s*({_N})\s*(?:;|,\s)\s*({_N})\s*([\])\[])")
_BELOW = re.compile(rf"(<=|≤|<)\s*({_N})")
_ABOVE = re.compile(rf"(>=|≥|>)\s*({_N})")
_FROM = re.compile(rf"({_N})\s*(?:\+|and over|and more|or more)")
_LONGEST = 80


@dataclass(frozen=True)
class Span:
    """Numbers from ``low`` to ``high`` (None: no bound); an open end does not hold its bound."""

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False

    def within(self, other: Span) -> bool:
        """Whether every number of this span belongs to the other one."""
        return _not_before(self, other) and _not_after(self, other)

    def apart(self, other: Span) -> bool:
        """Whether no number belongs to both."""
        return _before(self, other) or _before(other, self)


def _not_before(inner: Span, outer: Span) -> bool:
    if outer.low is None:
        return True
    if inner.low is None:
        return False
    same = inner.low == outer.low and (inner.low_open or not outer.low_open)
    return inner.low > outer.low or same


def _not_after(inner: Span, outer: Span) -> bool:
    if outer.high is None:
        return True
    if inner.high is None:
        return False
    same = inner.high == outer.high and (inner.high_open or not outer.high_open)
    return inner.high < outer.high or same


def _before(left: Span, right: Span) -> bool:
    if left.high is None or right.low is None:
        return False
    if left.high == right.low:
        return left.high_open or right.low_open
    return left.high < right.low


def exact(text: str) -> Fraction | None:
    """The number that a text is, with a point or a comma before decimals; else None."""
    if len(text) > _LONGEST or not text.isascii() or _PLAIN.fullmatch(text.strip()) is None:
        return None
    return Fraction(text.strip().replace(",", "."))


def span_of(label: str) -> Span | None:
    """The numbers that a label stands for; None when it is no number and no interval."""
    text = label.strip()
    if len(text) > _LONGEST:
        return None
    number = exact(text)
    if number is not None:
        return Span(number, number)
    if found := _RANGE.fullmatch(text):
        return _ordered(Span(_read(found[1]), _read(found[2])))
    if found := _BRACKETS.fullmatch(text):
        low_open, high_open = found[1] != "[", found[4] != "]"
        return _ordered(Span(_read(found[2]), _read(found[3]), low_open, high_open))
    if found := _BELOW.fullmatch(text):
        return Span(high=_read(found[2]), high_open=found[1] == "<")
    if found := _ABOVE.fullmatch(text):
        return Span(low=_read(found[2]), low_open=found[1] == ">")
    if found := _FROM.fullmatch(text):
        return Span(low=_read(found[1]))
    return None


def _ordered(span: Span) -> Span | None:
    if span.low is None or span.high is None or span.low > span.high:
        return None
    return span


def _read(text: str) -> Fraction:
    return Fraction(text.replace(",", "."))
