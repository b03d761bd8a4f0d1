"""Codes whose leading characters group, such as postcodes: which characters to hide."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import Enum
from fractions import Fraction
from functools import reduce
from math import gcd

from dpdesk.core.plan import HierarchyBuilder, SuggestedHierarchy, Why

# What the name of a column says about its values: a weak hint, in the words of many languages.


class Hint(Enum):
    """What a name speaks of."""

    AGE = "age"
    MEASURE = "an amount"
    COUNT = "a number of things"
    ORDER = "an order"
    PREFIX_CODE = "a code whose leading digits group"
    CODE = "a code or a kind"
    NONE = ""


_WORDS: tuple[tuple[Hint, str], ...] = (
    (
        Hint.AGE,
        "age agep ages agegr agegrp agegroup ageyoung ageold alter lebensalter edad eta idade "
        "leeftijd alder ika wiek vek yas",
    ),
    (
        Hint.ORDER,
        "edu educ education schooling schl isced bildung ausbildung grade level niveau nivel "
        "livello stufe decile quintile quartile rank rang score likert educacion istruzione "
        "opleiding utdanning utbildning koulutus wyksztalcenie",
    ),
    (
        Hint.COUNT,
        "size hsize hhsize count num nb nbr anzahl zahl cantidad aantal antall antal liczba pocet "
        "children kids kinder enfants hijos figli persons personen personnes personas persone "
        "members rooms zimmer cars noc npf tamano",
    ),
    (
        Hint.PREFIX_CODE,
        "zip zipcode plz postcode postleitzahl postal cp cap codigopostal postnummer nuts lau puma "
        "fips insee isco occ occp occupation beruf profession nace naics sic isic noga indp "
        "industry industrie branche naf icd municipality munic gemeinde commune comune kommune "
        "municipio gmina obec ags",
    ),
    (
        Hint.MEASURE,
        "income inc salary wage wages earnings lohn gehalt einkommen salaire revenu ingreso "
        "ingresos salario reddito inkomen inntekt inkomst tulot dochod amount betrag montant "
        "importe price preis prix cost costs expend expenditure tax debt debts savings turnover "
        "height weight groesse grosse gewicht poids taille peso altura bmi hours stunden "
        "heures horas distance duration year years jahr annee ano anno",
    ),
    (
        Hint.CODE,
        "id nr number nummer numero code cod kod kode codigo type typ tipo kind cat category "
        "kategorie categorie categoria class klasse classe group gruppe groupe race rac ethnic "
        "ethnicity etni hisp sex gender geschlecht sexe sexo sesso kon marital marstat mar msp "
        "civil familienstand relat relationship relig religion nation nationality citizen "
        "citizenship country land pays pais paese region regio regione county province "
        "provincia district bezirk kreis canton kanton cantone fylke departement dept state "
        "bundesland voivodeship "
        "oblast okres location serial serialno hid pid hhid status "
        "language sprache langue lengua",
    ),
)
_HINTS = {word: hint for hint, words in reversed(_WORDS) for word in words.split()}
_STARTS = (
    ("num", Hint.COUNT),
    ("occu", Hint.PREFIX_CODE),
    ("educ", Hint.ORDER),
)
_ENDS = (
    ("code", Hint.CODE),
    ("type", Hint.CODE),
    ("income", Hint.MEASURE),
    ("einkommen", Hint.MEASURE),
    ("size", Hint.COUNT),
    ("grosse", Hint.COUNT),
    ("groesse", Hint.COUNT),
    ("anzahl", Hint.COUNT),
)
# Variables of EU-SILC, whose names are no words: ids, age, education, occupation, activity.
_VARIABLES = {
    **dict.fromkeys(("db030", "hb030", "pb030", "rb030", "rx030"), Hint.CODE),
    **dict.fromkeys(("rx010", "rx020", "px020"), Hint.AGE),
    **dict.fromkeys(("pe040", "pe041"), Hint.ORDER),
    **dict.fromkeys(("pl050", "pl051", "pl111"), Hint.PREFIX_CODE),
}
_ORDER = tuple(Hint)
_LONGEST_HINT = 200


def hint_of(name: str) -> Hint:
    """What the name of a column speaks of; ``Hint.NONE`` for most names.

    Words are told apart by signs, digits and capitals; the earliest of :class:`Hint` wins, since
    ``age group`` speaks of an age before a group.
    """
    known = _VARIABLES.get(name.strip().lower())
    if known is not None:
        return known
    found = {_of_word(word) for word in words_of(name)} - {Hint.NONE}
    return min(found, key=_ORDER.index, default=Hint.NONE)


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name without accents, in small letters: ``PULocationID`` is pu, location, id.

    The whole name without signs is one of them.
    """
    plain = unicodedata.normalize("NFKD", name[:_LONGEST_HINT].replace("ß", "ss"))
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    split = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", plain)
    whole = "".join(re.findall(r"[^\W\d_]+", plain))
    return tuple(dict.fromkeys(word.lower() for word in (*split, whole)))


def _of_word(word: str) -> Hint:
    known = _HINTS.get(word)
    if known is not None:
        return known
    starts = (hint for start, hint in _STARTS if word.startswith(start) and len(word) <= 10)
    ends = (hint for end, hint in _ENDS if word.endswith(end))
    return next(starts, next(ends, Hint.NONE))


_LONGEST = 20
_MOST_LEVELS = 5
_SHRINKS = Fraction(3, 4)
_FEWEST, _FEW, _FEWEST_UNNAMED = 3, 4, 10
_SHORT_PART = 2
_NAME_LIKE = re.compile(r"[^\W\d_]{4,}")
_SEPARATOR = re.compile(r"[^\w]|_")
_ZERO_TAIL = re.compile(r"(\d+)[.,]0+", re.ASCII)
_UNNAMED = ((4, Fraction(3)), (3, Fraction(5)))
"""Digits that all codes have, and how often the smallest goes into the largest at least."""


def suggest_codes(values: Sequence[str], hint: Hint) -> SuggestedHierarchy | None:
    """Masking from the right for codes with letters or signs; None when they are none.

    Each must hold a digit and no word, and their beginnings must put some of them together.
    """
    distinct = list(dict.fromkeys(values))
    if len(distinct) < _FEWEST or not all(_is_code(value) for value in distinct):
        return None
    if len(distinct) <= _FEW and hint is not Hint.PREFIX_CODE and len(distinct[0]) < 5:
        return None
    found = _masked(distinct, Why.CODES)
    if found is None and len(distinct) > _FEW and len({len(value) for value in distinct}) == 1:
        return SuggestedHierarchy(
            HierarchyBuilder("order"), Why.LOOSE_CODES, {"n": f"{len(distinct):,}"}
        )
    return found


def suggest_number_codes(texts: Sequence[str], hint: Hint) -> SuggestedHierarchy | None:
    """Masking for whole numbers that are codes: leading zeros, one length, or named so; or None."""
    distinct = list(dict.fromkeys(text.strip() for text in texts))
    if distinct != list(dict.fromkeys(texts)) or len(distinct) < _FEWEST:
        return None
    digits = [_without_zero_tail(text) for text in distinct]
    if not all(text.isascii() and text.isdigit() for text in digits):
        return None
    lengths = {len(text) for text in digits}
    longest = max(lengths)
    if len(lengths) == 1 and _are_codes(digits, hint):
        return _masked(distinct, Why.CODES)
    if hint is Hint.PREFIX_CODE and longest >= 3 and min(lengths) >= longest - 2:
        return _masked(distinct, Why.PADDED_CODES, pad="0")
    return None


def _are_codes(digits: Sequence[str], hint: Hint) -> bool:
    """Whether numbers of one length are codes rather than amounts."""
    if len(digits[0]) < 2 or hint in (Hint.AGE, Hint.MEASURE, Hint.COUNT):
        return False
    if hint is Hint.PREFIX_CODE or any(text.startswith("0") for text in digits):
        return True
    if len(digits) < _FEWEST_UNNAMED:
        return False
    numbers = [int(text) for text in digits]
    if reduce(gcd, numbers) >= 10:
        return False
    spread = Fraction(max(numbers), min(numbers))
    return any(len(digits[0]) >= length and spread >= least for length, least in _UNNAMED)


def _without_zero_tail(text: str) -> str:
    """``481`` for ``481.0``: whole numbers that were written as decimals."""
    found = _ZERO_TAIL.fullmatch(text)
    return text if found is None else found[1]


def _is_code(value: str) -> bool:
    return (
        2 <= len(value) <= _LONGEST
        and any(sign.isdigit() for sign in value)
        and value.strip() == value
        and not _NAME_LIKE.search(value)
    )


def _masked(values: Sequence[str], why: Why, pad: str = "") -> SuggestedHierarchy | None:
    length = max(len(value) for value in values)
    whole = [value.rjust(length, pad) if pad else value for value in values]
    hidden = _useful(whole)
    if not hidden:
        return None
    options: dict[str, object] = {"from": "right"}
    if hidden != list(range(1, length)):
        options["steps"] = hidden
    if pad:
        options["pad"] = pad
    shortest = min(len(value) for value in whole)
    groups = len({value[: len(value) - hidden[0]] for value in whole})
    facts = {
        "n": f"{len(values):,}",
        "length": str(length) if shortest == length else f"{shortest}–{length}",
        "hidden": str(hidden[0]),
        "groups": f"{groups:,}",
    }
    return SuggestedHierarchy(HierarchyBuilder("mask", options), why, facts)


def _useful(values: Sequence[str]) -> list[int]:
    """How many characters to hide at each level: only where it puts clearly more together.

    Where a sign ends a part, fewer are enough, and a short first part (a state before a county)
    is never torn. Of two levels with the same groups, the one that ends a part is taken.
    """
    same = len({len(value) for value in values}) == 1
    places = range(1, len(values[0])) if same else _last_parts(values)
    before = len(set(values))
    kept: list[int] = []
    for hidden in places:
        if same and _tears_first_part(values, hidden):
            break
        groups = len({value[: len(value) - hidden] for value in values})
        if groups < 2:
            break
        if kept and groups == before and _ends_part(values, hidden) > _ends_part(values, kept[-1]):
            kept[-1] = hidden
        shrinks = groups <= before * _SHRINKS
        if shrinks or (groups < before and same and _ends_part(values, hidden)):
            kept.append(hidden)
            before = groups
    return kept[::-2][::-1] if len(kept) > _MOST_LEVELS else kept


def _last_parts(values: Sequence[str]) -> list[int]:
    """For codes of different length: their last part, when it has the same length in all."""
    lengths = {len(_SEPARATOR.split(value)[-1]) for value in values}
    parts = {len(_SEPARATOR.split(value)) for value in values}
    return sorted(lengths) if len(lengths) == 1 and parts == {2} and lengths != {0} else []


def _ends_part(values: Sequence[str], hidden: int) -> bool:
    """Whether all codes end a part where the visible characters end."""
    place = len(values[0]) - hidden
    return all(_SEPARATOR.fullmatch(value[place - 1]) is not None for value in values)


def _tears_first_part(values: Sequence[str], hidden: int) -> bool:
    """Whether a short first part, which a sign closes in all codes, would lose a character."""
    place = len(values[0]) - hidden
    return any(
        place < end <= _SHORT_PART + 1
        and all(_SEPARATOR.fullmatch(value[end - 1]) is not None for value in values)
        for end in range(2, min(_SHORT_PART + 1, len(values[0])) + 1)
    )
