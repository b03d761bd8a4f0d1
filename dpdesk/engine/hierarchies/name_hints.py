"""What the name of a column says about its values: a weak hint, in the words of many languages."""

from __future__ import annotations

import re
import unicodedata
from enum import Enum


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
_LONGEST = 200


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
    plain = unicodedata.normalize("NFKD", name[:_LONGEST].replace("ß", "ss"))
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
