"""A first hierarchy for a column, so that nobody starts before an empty form.

What a disclosure-control officer would try first: dates become periods, measured numbers intervals,
codes with leading digits in common are masked, ranges and words of a scale keep their order. Where
the values do not tell what belongs together, no grouping is invented: the value, then ``*``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import ceil, floor, gcd
from typing import TypeVar

from dpdesk.core.parameters import plain_number
from dpdesk.core.plan import HierarchyBuilder, SuggestedHierarchy, Why
from dpdesk.core.schema import ColumnType
from dpdesk.engine.hierarchies.code_suggestions import (
    Hint,
    hint_of,
    suggest_codes,
    suggest_number_codes,
    words_of,
)
from dpdesk.engine.hierarchies.dates import FORMATS, RIVALS, read_date
from dpdesk.engine.hierarchies.intervals import is_number, parse_number, widths_for

_NAMES = frozenset(["nace", "isic", "noga", "naf", "ateco", "wz"])
_FEWEST, _INDUSTRY_SUGGESTIONS_MOST_APART = 5, 3
_SECTIONS = (
    ("A", 1, 3), ("B", 5, 9), ("C", 10, 33), ("D", 35, 35), ("E", 36, 39), ("F", 41, 43),
    ("G", 45, 47), ("H", 49, 53), ("I", 55, 56), ("J", 58, 63), ("K", 64, 66), ("L", 68, 68),
    ("M", 69, 75), ("N", 77, 82), ("O", 84, 84), ("P", 85, 85), ("Q", 86, 88), ("R", 90, 93),
    ("S", 94, 96), ("T", 97, 98), ("U", 99, 99),
)  # fmt: skip
_SECTION_OF = {number: letter for letter, low, high in _SECTIONS for number in range(low, high + 1)}


def suggest_sections(values: Sequence[str], name: str) -> SuggestedHierarchy | None:
    """Sections, where the name speaks of the classification and all codes are its divisions.

    A few words among them (for missing) stay apart.
    """
    if _NAMES.isdisjoint(words_of(name)):
        return None
    distinct = list(dict.fromkeys(values))
    codes = [value for value in distinct if value.isascii() and value.isdigit()]
    apart = [value for value in distinct if not any(sign.isdigit() for sign in value)]
    known = all(len(code) <= 2 and int(code) in _SECTION_OF for code in codes)
    if not known or len(codes) < _FEWEST or len(apart) > _INDUSTRY_SUGGESTIONS_MOST_APART:
        return None
    if len(codes) + len(apart) < len(distinct) or len({int(code) for code in codes}) < len(codes):
        return None
    groups: dict[str, list[str]] = {}
    for code in sorted(codes, key=int):
        groups.setdefault(_SECTION_OF[int(code)], []).append(code)
    options: dict[str, object] = {"order": sorted(codes, key=int), "groups": [groups]}
    if apart:
        options["apart"] = apart
    facts = {"n": f"{len(codes)}", "groups": f"{len(groups)}"}
    return SuggestedHierarchy(HierarchyBuilder("order", options), Why.SECTIONS, facts, tuple(apart))


_MOST_WORDS, _FEWEST_NUMBERS = 3, 5
_FEW, _SMALL, _MEDIUM = 4, 12, 20
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
        return _number_suggestions_plain(numbers, Why.RUNNING)
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
        return _number_suggestions_plain(numbers, Why.FEW)
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
        return _number_suggestions_plain(numbers, Why.FEW)
    if numbers.whole and numbers.low >= 0 and _look_like_codes(numbers):
        return _number_suggestions_plain(numbers, Why.NUMBER_CODES)
    if numbers.whole and hint in _CODED:
        return _number_suggestions_plain(numbers, Why.NAMED_CODES)
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
    facts = _facts(numbers) | {"widths": ", ".join(_shown(width) for width in widths)}
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


def _number_suggestions_plain(numbers: Numbers, why: Why) -> SuggestedHierarchy:
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
    if not numbers.apart or not isinstance(found.builder, HierarchyBuilder):
        return found
    options = {**found.builder.options, "apart": list(numbers.apart)}
    builder = HierarchyBuilder(found.builder.kind, options)
    return SuggestedHierarchy(builder, found.why, found.facts, numbers.apart)


_WORD_SUGGESTIONS_FEWEST, _FIVE, _MANY = 3, 5, 6
_WORD_SUGGESTIONS_MOST_WORDS = 30
_NO_ANSWER = frozenset(
    (
        "unknown", "not known", "don't know", "dont know", "do not know", "refused", "refusal",
        "no answer", "no response", "not stated", "not applicable", "n/a", "na", "missing",
        "keine angabe", "weiß nicht", "unbekannt", "ne sait pas", "sans réponse", "inconnu",
        "no sabe", "no contesta", "non so", "non risponde",
    )
)  # fmt: skip
# From low to high; words for the same place are parted by strokes.
_SCALES = (
    "very bad|very poor|terrible; bad|poor; fair|average|moderate|medium|satisfactory"
    "|neither good nor bad|so so; good; very good; excellent",
    "sehr schlecht; schlecht; mittelmäßig|mittel|ausreichend|teils teils; gut; sehr gut",
    "très mauvais|très mauvaise; mauvais|mauvaise; moyen|moyenne|passable|assez bon|assez bonne; "
    "bon|bonne; très bon|très bonne; excellent|excellente",
    "muy malo|muy mala; malo|mala; regular; bueno|buena; muy bueno|muy buena; excelente",
    "pessimo; cattivo; discreto; buono; ottimo",
    "never; almost never|hardly ever; rarely|seldom; sometimes|occasionally; often|frequently; "
    "very often|usually|mostly|almost always|nearly always; always",
    "nie|niemals; selten; manchmal|gelegentlich; oft|häufig; sehr oft|meistens; immer",
    "jamais; rarement; parfois|quelquefois|de temps en temps; souvent; très souvent; toujours",
    "nunca; rara vez; a veces; a menudo; muy a menudo; siempre",
    "none; very low; low; medium|moderate|middle|average; high; very high",
    "sehr niedrig|sehr gering; niedrig|gering; mittel; hoch; sehr hoch",
    "très bas|très faible; bas|faible; moyen; haut|élevé; très haut|très élevé",
    "muy bajo; bajo; medio; alto; muy alto",
    "molto basso; basso; medio; alto; molto alto",
    "none; minimal|very mild; mild|slight|light; moderate; severe|serious; very severe|extreme",
    "very small|tiny; small; medium|middle; large|big; very large|huge",
    "sehr klein; klein; mittel|mittelgroß; groß; sehr groß",
    "strongly disagree|totally disagree; disagree; somewhat disagree|rather disagree"
    "|slightly disagree|tend to disagree; neutral|undecided|neither agree nor disagree; "
    "somewhat agree|rather agree|slightly agree|tend to agree; agree; strongly agree|totally agree",
    "very dissatisfied|very unsatisfied; dissatisfied|unsatisfied; somewhat dissatisfied"
    "|rather dissatisfied; neutral|neither satisfied nor dissatisfied; somewhat satisfied"
    "|rather satisfied; satisfied; very satisfied",
    "with great difficulty; with difficulty; with some difficulty; fairly easily; easily; "
    "very easily",
    "not at all; a little|slightly|not very; somewhat|moderately|fairly; quite a bit|a lot|very; "
    "very much|extremely",
    "no; partly|partially|in part; yes",
    "young; middle aged|middle age; old|elderly",
    "thinly populated|thinly populated area; intermediate|intermediate area; "
    "densely populated|densely populated area",
    "none|no education|no schooling; pre primary|early childhood; primary|elementary; "
    "lower secondary; secondary|upper secondary; post secondary|post secondary non tertiary; "
    "short cycle tertiary; tertiary|bachelor|bachelors; master|masters; "
    "doctorate|doctoral|phd",
)
_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "januari februari maart april mei juni juli augustus september oktober november december",
)
_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
)
_NAMED_MONTH = frozenset(["month", "monat", "mois", "mes", "mese", "maand", "mth"])
_NUMBERING = re.compile(r"\(?\d{1,2}\s*[).:=–-]?\s+")
_GAPS = re.compile(r"[\s_–-]+")
_THREE = 3


def suggest_words(values: Sequence[str], name: str) -> SuggestedHierarchy | None:
    """Neighbours in order, where all values but a few that answer nothing are such words.

    Months become quarters and half-years, days of the week work days and the weekend; what the
    data lack of them is listed too, so that no quarter shifts.
    """
    distinct = list(dict.fromkeys(values))
    if not _WORD_SUGGESTIONS_FEWEST <= len(distinct) <= _WORD_SUGGESTIONS_MOST_WORDS:
        return None
    apart = [value for value in distinct if _word_suggestions_plain(value) in _NO_ANSWER]
    words = [value for value in distinct if value not in set(apart)]
    if len(words) < _WORD_SUGGESTIONS_FEWEST or len(apart) > _MOST_APART:
        return None
    return _calendar(words, apart, name) or _scale(words, apart)


def _word_suggestions_plain(value: str) -> str:
    """In small letters, without a number in front, with one blank between words."""
    text = _NUMBERING.sub("", value.strip(), count=1) if value[:1] in "(0123456789" else value
    return _GAPS.sub(" ", text.strip().casefold().replace("’", "'"))


def _scale(words: Sequence[str], apart: Sequence[str]) -> SuggestedHierarchy | None:
    plain = {_word_suggestions_plain(word): word for word in words}
    if len(plain) != len(words):
        return None
    for scale in _SCALES:
        places = {
            synonym.casefold(): place
            for place, names in enumerate(scale.split("; "))
            for synonym in names.split("|")
        }
        found = {places[word]: plain[word] for word in plain if word in places}
        if len(found) == len(words):  # all are known, and no two stand at the same place
            return _ordered([found[place] for place in sorted(found)], apart)
    return None


def _ordered(order: list[str], apart: Sequence[str]) -> SuggestedHierarchy:
    options: dict[str, object] = {"order": order}
    if len(order) == _FIVE:  # both ends in pairs, around the middle
        ends = (order[:2], order[3:])
        options["groups"] = [{", ".join(end): end for end in ends}]
    else:
        options["sizes"] = [2, 2] if len(order) > _MANY else [2]
    facts = {"n": f"{len(order)}", "low": order[0], "high": order[-1]}
    return _built(options, apart, Why.SCALE, facts)


def _calendar(words: Sequence[str], apart: Sequence[str], name: str) -> SuggestedHierarchy | None:
    if not _NAMED_MONTH.isdisjoint(words_of(name)):
        numbers = _numbered(words)
        if numbers is not None:
            return _built({"order": numbers, "sizes": [3, 2]}, apart, Why.MONTHS, {})
    for names, sizes, why in ((_MONTHS, [3, 2], Why.MONTHS), (_DAYS, [5], Why.DAYS)):
        for line in names:
            order = _all_of(line.split(), words)
            if order is not None:
                return _built({"order": order, "sizes": sizes}, apart, why, {})
    return None


def _numbered(words: Sequence[str]) -> list[str] | None:
    """1 to 12, or 01 to 12, as the months are written; None when they are others."""
    for form in ("{}", "{:02}"):
        numbers = [form.format(month) for month in range(1, 13)]
        if set(words) <= set(numbers):
            return numbers
    return None


def _all_of(names: Sequence[str], words: Sequence[str]) -> list[str] | None:
    """All names, written as those at hand: whole or with three letters, in their case."""
    for short in (False, True):
        cut = [name[:_THREE] if short else name for name in names]
        for case in _CASES:
            written = [case(name) for name in cut]
            if set(words) <= set(written) and len(set(written)) == len(written):
                return written
    return None


_CASES: tuple[Callable[[str], str], ...] = (str.capitalize, str.lower, str.upper)


def _built(
    options: Mapping[str, object], apart: Sequence[str], why: Why, facts: Mapping[str, str]
) -> SuggestedHierarchy:
    more = {"apart": list(apart)} if apart else {}
    return SuggestedHierarchy(
        HierarchyBuilder("order", {**options, **more}), why, facts, tuple(apart)
    )


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
    facts = {"form": ", ".join(forms)}
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
