"""What to do with numbers: intervals, where they measure; nothing, where they only name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, floor, gcd
from typing import TypeVar

from dpdesk.core.parameters import plain_number
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.suggested import SuggestedHierarchy, Why
from dpdesk.engine.hierarchies.code_suggestions import suggest_number_codes
from dpdesk.engine.hierarchies.intervals import is_number, parse_number, widths_for
from dpdesk.engine.hierarchies.name_hints import Hint

_MOST_WORDS, _FEWEST_NUMBERS = 3, 5
_FEW, _SMALL, _MEDIUM = 4, 12, 20
_MOST_READ = 20_000
_FEWEST_RUNNING = 1_000
_YEARS = (1850, 2100)
_TAIL = Fraction(2, 100)
_OPEN_END = re.compile(r"\s*[<>≤≥=]{1,2}\s*\d+|\s*\d+\s*(?:\+|[^\d\W][\w\s.]{1,20})")
_NEGATIVE_CODES = frozenset(
    Fraction(-number) for number in (*range(1, 10), 66, 77, 88, *range(95, 100), 888, 999, 9999)
)
_MEASURED = frozenset((Hint.AGE, Hint.MEASURE, Hint.COUNT))
_CODED = frozenset((Hint.CODE, Hint.PREFIX_CODE))
_Key = TypeVar("_Key")


@dataclass(frozen=True)
class Numbers:
    """Distinct numbers with the rows of each, ascending, and the values that are none of them."""

    texts: tuple[str, ...]
    values: tuple[Fraction, ...]
    rows: tuple[int, ...]
    apart: tuple[str, ...]

    @property
    def distinct(self) -> int:
        """How many numbers."""
        return len(set(self.values))

    @property
    def whole(self) -> bool:
        """Whether all are whole."""
        return all(value.denominator == 1 for value in self.values)

    @property
    def low(self) -> Fraction:
        """The smallest."""
        return self.values[0]

    @property
    def high(self) -> Fraction:
        """The largest."""
        return self.values[-1]


def told_apart(
    values: Sequence[str], read: Callable[[str], _Key | None]
) -> tuple[list[tuple[str, _Key]], list[str]]:
    """Values with what ``read`` makes of them, and those of which it makes nothing."""
    found: list[tuple[str, _Key]] = []
    rest: list[str] = []
    for value in dict.fromkeys(values):
        key = read(value)
        if key is None:
            rest.append(value)
        else:
            found.append((value, key))
    return found, rest


def suggest_numbers(
    values: Sequence[str], rows: Sequence[int], hint: Hint
) -> SuggestedHierarchy | None:
    """A hierarchy for numbers among which a few words may stand; None when they are no numbers."""
    numbers = _read(values, rows)
    if numbers is None:
        return None
    codes = suggest_number_codes(numbers.texts, hint) if numbers.whole else None
    if codes is not None:
        return _apart(codes, numbers)
    if _running(numbers, len(set(values)) - len(numbers.apart), hint):
        return _plain(numbers, Why.RUNNING)
    regular = _without_codes_for_missing(numbers)
    return _named(regular, hint) or _unnamed(regular, hint)


def _running(numbers: Numbers, distinct: int, hint: Hint) -> bool:
    """Whether the numbers only count records: none lacks from 0 or 1 to a thousand or more."""
    many = distinct >= _FEWEST_RUNNING and numbers.whole and 0 <= numbers.low <= 1
    return many and numbers.high - numbers.low + 1 == distinct and hint not in _MEASURED


def _read(values: Sequence[str], rows: Sequence[int]) -> Numbers | None:
    texts, words = told_apart(values, lambda value: is_number(value) or None)
    if not texts or any(not _is_word(word) for word in words[: _MOST_WORDS + 1]):
        return None
    if words and not (len(words) <= _MOST_WORDS and len(texts) >= _FEWEST_NUMBERS):
        return None
    if any("," in text for text, _ in texts) and any("." in text for text, _ in texts):
        return None
    counts = dict(zip(values, rows, strict=True))
    found = [(number, text) for text in _some([text for text, _ in texts])
             if (number := parse_number(text)) is not None]  # fmt: skip
    found.sort()
    return Numbers(
        tuple(text for _, text in found),
        tuple(number for number, _ in found),
        tuple(counts[text] for _, text in found),
        tuple(words),
    )


def _some(texts: Sequence[str]) -> Sequence[str]:
    """Not more numbers than are looked at in a moment, the smallest and the largest among them."""
    if len(texts) <= _MOST_READ:
        return texts
    some = dict.fromkeys(texts[:: -(-len(texts) // _MOST_READ)])
    sizes = [float(text.replace(",", ".")) for text in texts]
    ends = (min(sizes), max(sizes))
    some.update({text: None for text, size in zip(texts, sizes, strict=True) if size in ends})
    return list(some)


def _is_word(text: str) -> bool:
    """Whether a text among numbers may be a code for missing, or an open end such as 85+."""
    return not any(sign.isdigit() for sign in text) or _OPEN_END.fullmatch(text) is not None


def _without_codes_for_missing(numbers: Numbers) -> Numbers:
    """Keep apart what looks like a code for missing: 999 far above the rest, -9 below zero."""
    odd = {*_negative_codes(numbers.values), *_high_codes(numbers.values)}
    kept = [index for index, value in enumerate(numbers.values) if value not in odd]
    if not odd or len({numbers.values[index] for index in kept}) < 3:
        return numbers
    apart = [
        text for text, value in zip(numbers.texts, numbers.values, strict=True) if value in odd
    ]
    return Numbers(
        tuple(numbers.texts[index] for index in kept),
        tuple(numbers.values[index] for index in kept),
        tuple(numbers.rows[index] for index in kept),
        (*numbers.apart, *apart),
    )


def _negative_codes(values: Sequence[Fraction]) -> list[Fraction]:
    """The numbers below zero, when they are few and all of them usual codes."""
    below = [value for value in values if value < 0]
    few = len(below) <= _FEW and all(value in _NEGATIVE_CODES for value in below)
    return below if few else []


def _high_codes(values: Sequence[Fraction]) -> list[Fraction]:
    """Usual codes that lie far above all other numbers."""
    others = [value for value in values if value >= 0 and not _is_high_code(value)]
    if not others:
        return []
    gap = max(Fraction(2), (others[-1] - others[0]) / 5)
    return [value for value in values if _is_high_code(value) and value - others[-1] > gap]


def _is_high_code(value: Fraction) -> bool:
    """9, 99, 999 and the like, and the two or three numbers before each; 88, 888, 77, 777."""
    digits = str(value.numerator) if value.denominator == 1 else ""
    if len(digits) < 2 or value < 0:
        return False
    nines = digits[:-1] == "9" * (len(digits) - 1) and digits[-1] in "6789"
    return nines or digits in ("8" * len(digits), "7" * len(digits))


def _named(numbers: Numbers, hint: Hint) -> SuggestedHierarchy | None:
    """What the name decides, where the numbers allow it."""
    if numbers.distinct < 3:
        return _plain(numbers, Why.FEW)
    if numbers.whole and _YEARS[0] <= numbers.low and numbers.high <= _YEARS[1]:
        return _intervals(numbers, Why.YEARS)
    if hint in _MEASURED and numbers.low >= 0:
        counted = hint is Hint.COUNT and numbers.whole
        return _intervals(numbers, Why.COUNTS if counted else Why.NUMBERS)
    if hint is Hint.ORDER and numbers.whole and _FEW < numbers.distinct <= _MEDIUM:
        return _in_order(numbers)
    return None


def _unnamed(numbers: Numbers, hint: Hint) -> SuggestedHierarchy:
    if numbers.distinct <= _FEW:
        return _plain(numbers, Why.FEW)
    if numbers.whole and numbers.low >= 0 and _look_like_codes(numbers):
        return _plain(numbers, Why.NUMBER_CODES)
    if numbers.whole and hint in _CODED:
        return _plain(numbers, Why.NAMED_CODES)
    return _intervals(numbers, Why.NUMBERS)


def _look_like_codes(numbers: Numbers) -> bool:
    """A dozen whole numbers that begin at 0 or 1, or some tens or hundreds: kinds, as a rule."""
    small = numbers.distinct <= _SMALL and numbers.low <= 2 and numbers.high < 100
    step = reduce(gcd, (value.numerator for value in numbers.values))
    return small or (numbers.distinct <= _MEDIUM and step >= 10 and numbers.high / step < 100)


def _intervals(numbers: Numbers, why: Why) -> SuggestedHierarchy:
    """Nice widths over where nearly all rows are; far ends that few rows reach become one group."""
    lower, upper = _middle(numbers)
    reach = upper - lower
    low_coded = reach > 0 and lower - numbers.low > reach / 2
    high_coded = reach > 0 and numbers.high - upper > reach / 2
    start = lower if low_coded else numbers.low
    end = upper if high_coded else numbers.high
    widths = widths_for(end - start, numbers.whole)
    options: dict[str, object] = {"widths": [plain_number(width) for width in widths]}
    widest = widths[-1]
    facts = _facts(numbers) | {"widths": ", then ".join(_shown(width) for width in widths)}
    if why is Why.COUNTS and numbers.low == 1 and widths[0] == 2:
        options["origin"] = 1
    if high_coded:
        top = ceil(upper / widest) * widest
        options["top"], facts["top"] = plain_number(top), _shown(Fraction(top))
    if low_coded:
        bottom = floor(lower / widest) * widest
        options["bottom"], facts["bottom"] = plain_number(bottom), _shown(Fraction(bottom))
    return _apart(SuggestedHierarchy(HierarchyBuilder("intervals", options), why, facts), numbers)


def _middle(numbers: Numbers) -> tuple[Fraction, Fraction]:
    """Between which numbers all but the outer 2 % of the rows lie on either side.

    A number that most rows hold (no income at all) says nothing about the others: it is left out.
    """
    most = max(numbers.rows)
    pairs = list(zip(numbers.values, numbers.rows, strict=True))
    if most * 2 > sum(numbers.rows) and len(pairs) > 2:
        pairs = [pair for pair in pairs if pair[1] != most]
    total, done = sum(count for _, count in pairs), 0
    lower = upper = pairs[0][0]
    for value, count in pairs:
        if done <= total * _TAIL:
            lower = value
        if done < total * (1 - _TAIL):
            upper = value
        done += count
    return lower, upper


def _in_order(numbers: Numbers) -> SuggestedHierarchy:
    options: dict[str, object] = {
        "order": list(numbers.texts),
        "sizes": [2, 2] if numbers.distinct > 6 else [2],
    }
    found = SuggestedHierarchy(HierarchyBuilder("order", options), Why.ORDER, _facts(numbers))
    return _apart(found, numbers)


def _plain(numbers: Numbers, why: Why) -> SuggestedHierarchy:
    return SuggestedHierarchy(HierarchyBuilder("order"), why, _facts(numbers))


def _facts(numbers: Numbers) -> dict[str, str]:
    return {
        "n": f"{numbers.distinct:,}",
        "low": _shown(numbers.low),
        "high": _shown(numbers.high),
    }


def _shown(number: Fraction) -> str:
    return f"{number.numerator:,}" if number.denominator == 1 else f"{float(number):,.4g}"


def _apart(found: SuggestedHierarchy, numbers: Numbers) -> SuggestedHierarchy:
    if not numbers.apart:
        return found
    options = {**found.builder.options, "apart": list(numbers.apart)}
    builder = HierarchyBuilder(found.builder.kind, options)
    return SuggestedHierarchy(builder, found.why, found.facts, numbers.apart)
