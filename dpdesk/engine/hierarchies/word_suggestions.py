"""Words that have an order: answers on a scale, months, days of the week."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.suggested import SuggestedHierarchy, Why
from dpdesk.engine.hierarchies.name_hints import words_of

_FEWEST, _FIVE, _MANY = 3, 5, 6
_MOST_WORDS = 30
_MOST_APART = 3
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
    if not _FEWEST <= len(distinct) <= _MOST_WORDS:
        return None
    apart = [value for value in distinct if _plain(value) in _NO_ANSWER]
    words = [value for value in distinct if value not in set(apart)]
    if len(words) < _FEWEST or len(apart) > _MOST_APART:
        return None
    return _calendar(words, apart, name) or _scale(words, apart)


def _plain(value: str) -> str:
    """In small letters, without a number in front, with one blank between words."""
    text = _NUMBERING.sub("", value.strip(), count=1) if value[:1] in "(0123456789" else value
    return _GAPS.sub(" ", text.strip().casefold().replace("’", "'"))


def _scale(words: Sequence[str], apart: Sequence[str]) -> SuggestedHierarchy | None:
    plain = {_plain(word): word for word in words}
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
