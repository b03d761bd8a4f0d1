"""Numbers into intervals: widths from an origin or lists of cut points, with coded ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import ceil

from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    CutsParameter,
    DecimalParameter,
    NumberListParameter,
    Parameter,
)
from dpdesk.core.plain import is_sane, number_text
from dpdesk.engine.hierarchies.options import (
    APART,
    ROOT,
    Options,
    Rows,
    nested,
    number,
    numbers,
    option_error,
    text,
    value_error,
)

_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)

_PARTS = 25
_SIMPLE = 50

PARAMETERS: tuple[Parameter, ...] = (
    NumberListParameter(
        "widths",
        "Interval widths",
        "Width of the intervals of each level; each a multiple of the one before.",
        minimum=0,
    ),
    DecimalParameter(
        "origin",
        "Intervals start at",
        "A number at which some interval begins.",
        default=Fraction(0),
    ),
    DecimalParameter(
        "bottom", "Bottom code below", "All smaller numbers become one group at level 1."
    ),
    DecimalParameter(
        "top", "Top code from", "This number and all larger ones become one group at level 1."
    ),
    CutsParameter(
        "cuts",
        "Cut points",
        "Instead of widths: where intervals begin, for each level; a level keeps only cuts of "
        "the level below.",
        replaces=("origin",),
    ),
    ChoiceParameter(
        "labels",
        "Write intervals as",
        "How an interval is written in the release.",
        choices=(
            Choice("auto", "20-29 for whole numbers, otherwise [20, 30["),
            Choice("range", "20-29", "First and last whole number."),
            Choice("brackets", "[20, 30[", "From 20 up to, but not including, 30."),
        ),
        default="auto",
    ),
    APART,
)


@dataclass(frozen=True)
class _Style:
    """How numbers and intervals are written: as ranges of whole numbers or in brackets."""

    whole: bool
    mark: str

    def interval(self, low: Fraction, high: Fraction) -> str:
        if not self.whole:
            gap = "; " if self.mark == "," else ", "
            return f"[{self.number(low)}{gap}{self.number(high)}["
        first, last = ceil(low), ceil(high) - 1
        if first == last:
            return str(first)
        return f"{first} to {last}" if first < 0 else f"{first}-{last}"

    def below(self, high: Fraction) -> str:
        return f"<{self.number(high)}"

    def above(self, low: Fraction) -> str:
        return f"≥{self.number(low)}"

    def number(self, value: Fraction) -> str:
        return number_text(value, self.mark)


def build_rows(values: Sequence[str], options: Options, where: str) -> Rows:
    """One row per value, sorted by number: the value, its interval at each level, the top."""
    parsed, mark = _parse(values, where)
    style = _style(parsed, mark, options, where)
    levels = _levels(parsed, options, style, where)
    order = sorted(range(len(values)), key=lambda index: (parsed[index], values[index]))
    return [[values[index], *(label(parsed[index]) for label in levels), ROOT] for index in order]


def declared_levels(
    options: Options, where: str
) -> tuple[tuple[tuple[Fraction, ...], tuple[str, ...]], ...] | None:
    """Cut points and labels of every level, where the options alone settle them; else None.

    A number x belongs to the label at ``bisect_right(cuts, x)``. Raises InputError
    ``hierarchy.options``.
    """
    cuts, widths = nested(options, "cuts"), numbers(options, "widths")
    bottom, top = number(options, "bottom"), number(options, "top")
    origin = number(options, "origin") or Fraction(0)
    if isinstance(cuts, tuple) and cuts:
        _check_cuts_alone(options, where)
        levels = list(_checked_cuts(cuts, where))
    elif widths and bottom is not None and top is not None and bottom < top:
        levels = [
            _cuts_of_width(width, origin, bottom, top) for width in _checked_widths(widths, where)
        ]
    else:
        return None
    whole = all(cut.denominator == 1 for level in levels for cut in level)
    style = _Style(whole and text(options, "labels") != "brackets", ".")
    return tuple((level, _cut_labels(level, style)) for level in levels)


def _cuts_of_width(
    width: Fraction, origin: Fraction, bottom: Fraction, top: Fraction
) -> tuple[Fraction, ...]:
    first = (bottom - origin) // width + 1
    last = -((origin - top) // width)
    inner = (origin + position * width for position in range(first, last + 1))
    return (bottom, *(cut for cut in inner if bottom < cut < top), top)


def _cut_labels(cuts: tuple[Fraction, ...], style: _Style) -> tuple[str, ...]:
    inner = [style.interval(low, high) for low, high in pairwise(cuts)]
    return (style.below(cuts[0]), *inner, style.above(cuts[-1]))


def is_number(value: str) -> bool:
    """Whether :func:`parse_number` reads a text, in a fraction of its time."""
    if _NUMBER.fullmatch(value.strip()) is None:
        return False
    simple = len(value) <= _SIMPLE and "e" not in value and "E" not in value
    return simple or parse_number(value) is not None


def parse_number(value: str) -> Fraction | None:
    """The number that a text is, with a decimal point or comma; None when it is none."""
    stripped = value.strip()
    if not _NUMBER.fullmatch(stripped):
        return None
    exact = Decimal(stripped.replace(",", "."))
    return Fraction(exact) if is_sane(exact) else None


def refuse_thousands(values: Sequence[str], decimal: str, where: str) -> None:
    """Raise InputError ``hierarchy.value`` where the mark that is not ``decimal`` always stands as
    between thousands: 1,234 is not 1.234 in a source with decimal points.
    """
    other = "," if decimal == "." else "."
    marked = [value for value in values if other in value]
    if marked and all(_THOUSANDS.fullmatch(value.strip()) for value in marked):
        hint = "Write them without separators, or say which decimal mark the source has."
        raise value_error(where, marked, "numbers without marks of thousands", hint)


def nice_widths(parsed: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Two or three widths out of 1, 5, 10, 50, … (and twice, four times); about 25 parts at most.

    Ages from 17 to 90 give 5, 10, 20; whole numbers never get the width 1, which would say nothing.
    """
    span = max(parsed, default=Fraction(0)) - min(parsed, default=Fraction(0))
    return widths_for(span, all(number.denominator == 1 for number in parsed))


def widths_for(span: Fraction, whole: bool) -> tuple[Fraction, ...]:
    """The widths of :func:`nice_widths` for numbers that are ``span`` apart at most."""
    if whole and span <= 10:
        return (Fraction(2), Fraction(4))
    width, five = Fraction(1), False
    while span / width > _PARTS:
        width *= 2 if five else 5
        five = not five
    while not whole and span and span / (width / (5 if five else 2)) <= _PARTS:
        width /= 5 if five else 2
        five = not five
    if whole and width == 1:
        return (width * 5, width * 10)
    return (width, width * 2, width * 4) if five else (width, width * 5, width * 10)


def _parse(values: Sequence[str], where: str) -> tuple[list[Fraction], str]:
    parsed = [parse_number(value) for value in values]
    wrong = [value for value, found in zip(values, parsed, strict=True) if found is None]
    if wrong:
        hint = "Declare such values as missing, keep them `apart`, or use another builder."
        raise value_error(where, wrong, "numbers", hint)
    commas = [value for value in values if "," in value]
    points = [value for value in values if "." in value]
    if commas and points:
        raise value_error(
            where, [commas[0], points[0]], "one decimal mark, either a point or a comma"
        )
    return [found for found in parsed if found is not None], "," if commas else "."


def _style(parsed: Sequence[Fraction], mark: str, options: Options, where: str) -> _Style:
    whole = all(number.denominator == 1 for number in parsed)
    asked = text(options, "labels")
    if asked == "range" and not whole:
        wrong = [number_text(found, mark) for found in parsed if found.denominator != 1]
        hint = 'Use labels = "brackets".'
        raise value_error(where, wrong, 'whole numbers, since `labels` is "range"', hint)
    if asked == "brackets":
        whole = False
    return _Style(whole, mark)


def _levels(
    parsed: Sequence[Fraction], options: Options, style: _Style, where: str
) -> list[Callable[[Fraction], str]]:
    cuts = nested(options, "cuts")
    widths = numbers(options, "widths")
    bottom, top = number(options, "bottom"), number(options, "top")
    if isinstance(cuts, tuple) and cuts:
        _check_cuts_alone(options, where)
        return [_by_cuts(level, style) for level in _checked_cuts(cuts, where)]
    if bottom is not None and top is not None and bottom >= top:
        raise option_error(
            where,
            msg(
                "`bottom` is {number} and `top` is {number2}, expected `bottom` below `top`.",
                number=style.number(bottom),
                number2=style.number(top),
            ),
            key="bottom",
        )
    origin = number(options, "origin") or Fraction(0)
    chosen = _checked_widths(widths, where) if widths else nice_widths(parsed)
    return [_by_width(width, origin, bottom, top, style) for width in chosen]


def _check_cuts_alone(options: Options, where: str) -> None:
    """Refuse what would be ignored beside `cuts`."""
    for key in ("widths", "bottom", "top"):
        if options.get(key) is not None:
            raise option_error(
                where, msg("found both `cuts` and `{key}`, expected one.", key=key), key=key
            )


def _checked_widths(widths: tuple[Fraction, ...], where: str) -> tuple[Fraction, ...]:
    for position, width in enumerate(widths):
        if width <= 0:
            raise option_error(
                where,
                msg("`widths` holds {width}, expected widths above 0.", width=number_text(width)),
                key="widths",
            )
        before = widths[position - 1] if position else None
        if before is not None and (width <= before or (width / before).denominator != 1):
            raise option_error(
                where,
                msg(
                    "`widths` holds {width} after {before}, expected each width to be a "
                    "multiple of the one before.",
                    width=number_text(width),
                    before=number_text(before),
                ),
                hint="For instance [5, 10, 20].",
                key="widths",
            )
    return widths


def _checked_cuts(
    cuts: tuple[tuple[Fraction, ...], ...], where: str
) -> tuple[tuple[Fraction, ...], ...]:
    for lower, upper in pairwise(cuts):
        stray = [cut for cut in upper if cut not in lower]
        if stray:
            raise option_error(
                where,
                msg(
                    "`cuts` holds {stray} in a level but not in the level below, expected "
                    "each level to keep only cuts of the level below.",
                    stray=number_text(stray[0]),
                ),
                key="cuts",
            )
    return cuts


def _by_cuts(cuts: tuple[Fraction, ...], style: _Style) -> Callable[[Fraction], str]:
    labels = _cut_labels(cuts, style)
    return lambda value: labels[bisect_right(cuts, value)]


def _by_width(
    width: Fraction,
    origin: Fraction,
    bottom: Fraction | None,
    top: Fraction | None,
    style: _Style,
) -> Callable[[Fraction], str]:
    known: dict[int, str] = {}

    def label(value: Fraction) -> str:
        if bottom is not None and value < bottom:
            return style.below(bottom)
        if top is not None and value >= top:
            return style.above(top)
        position = (value - origin) // width
        if position not in known:
            low = origin + position * width
            high = low + width
            # Intervals end where the coded ends begin, so that a label never promises more.
            low = low if bottom is None else max(low, bottom)
            high = high if top is None else min(high, top)
            known[position] = style.interval(low, high)
        return known[position]

    return label
