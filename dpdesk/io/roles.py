"""The role that a column's profile and name suggest, with the reason in one sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dpdesk.core.messages import msg
from dpdesk.core.schema import ColumnType, Role, RoleSuggestion, few_rows_each

_HINTS: tuple[tuple[Role, str], ...] = (
    (
        Role.WEIGHT,
        r"w|wt|wgt|weights?|(sampling|survey|design|person|household|hh|final|calibrat\w*)"
        r".?weights?|.*_weights|p?wgtp|rb050|db090|hochrechnung.*|gewicht|gew|poids|ponderation"
        r"|factor_?de_?expansion|peso_?muestral",
    ),
    (
        Role.CLUSTER,
        r"hid|hh.?id|household(.?id)?|db030|serial(no)?|family.?id|haushalt(s.?(id|nr))?|ori.?hid"
        r"|hhnr|foyer|menage|hogar|idhog|famiglia|haushalts?[-._ ]?(nr|nummer|id|kennung)\.?",
    ),
    (
        Role.IDENTIFIER,
        r"id|.*[_. -]id|person.?id|pid|uuid|guid|ssn|nin|nino|passport.*|.*e?mail.*|phone.*|tel"
        r"|iban|account.*|.*name|surname|address|street.*|.*number|svnr|ahv.*|record.*|nir|dni|nif"
        r"|pesel|bsn|personnummer|.*strasse|.*straße|adresse|nom|prenom|prénom|nombre|apellidos?",
    ),
    (
        Role.QUASI_IDENTIFIER,
        r"age(?!nt|ncy).*|alter|sex|gender|geschlecht|race.*|rac\d.*|hisp.*|msp|noc|npf|e?thnic.*|etni.*"
        r"|nation.*|citizen.*|.*country.*|birth.*|dob|yob|zip.*|post.?code.*|plz|region.*|state"
        r"|county|munic.*|district|town|city|puma|marital.*|marstat|civil.*|hhcivil|famil.*|edu.*"
        r"|occup.*|occucode|job.*|workclass|profession|employ.*|industry.*|indp.*|language"
        r"|urb.*|.*household.?size|h?h.?size|size.?hh|h?h.?gr(ö|oe)(ß|ss)e|persons?.in.?(household|hh)|nuts.*|relat.*|stabbr|rb090|pb220a|db040"
        r"|edad|âge|eta|età|idade|leeftijd|ålder|alder|sexe|sexo|sesso|geschl.*|geburts.*|naissance"
        r"|nacimiento|familienstand|zivilstand|etat.?civil|état.?civil|estado.?civil|stato.?civile"
        r"|staatsangeh.*|herkunft|bundesland|kanton|canton|gemeinde|kreis|wohnort|commune|comune"
        r"|staatsang\.?|erwerbsst.*|haushaltsgr.*|departement|département|provinc.*|fylke|kommune|beruf|berufs.*|bildung.*|ausbildung"
        r"|postleitzahl|code.?postal|postnummer|religion.*|konfession|branche",
    ),
    (
        Role.SENSITIVE,
        r".*income|income.*|inc|salary.*|wages?.*|wagp|earn.*|disease.*|diagnos.*|health.*|illness"
        r"|icd.*|debt.*|saving.*|assets?|wealth|crim.*|convict.*|hiv.*|drug.*|benefit.*|tax.*"
        r"|expend.*|pincp|.*incp|einkommen.*|lohn.*|gehalt.*|(er|vor)?krank.*|behinderung.*|gesundheit.*"
        r"|schulden|salaire.*|revenus?|maladie.*|santé|sante|handicap.*|ingresos?|salario|sueldo"
        r"|enfermedad.*|salud|reddito|stipendio|malattia|disab.*|(netto|brutto)(?!.*gewicht).*",
    ),
)
_IN_PARTS = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
"""What one word of a name may say: ``PLZ_Detail`` is a postcode, ``w_partner`` not a weight."""
_FREE_TEXT = (
    r"comments?|remarks?|notes?|verbatim|(free|open).?text|freitext|bemerkung(en)?|anmerkung(en)?"
    r"|kommentare?|notiz(en)?|commentaires?|remarques?|comentarios?|observaciones|commenti"
)
_NEARLY_UNIQUE = 0.9
_SMALL_DOMAIN = 200
_SOME_ROWS = 20


@dataclass(frozen=True)
class _Facts:
    """What the rules look at; counts in rows, ``own`` the share of rows with a value of its own."""

    name: str
    kind: ColumnType
    rows: int
    present: int
    distinct: int
    unique: int

    @property
    def own(self) -> float:
        return self.unique / self.present if self.present else 0.0


def suggest_role(
    name: str, kind: ColumnType, rows: int, present: int, distinct: int, unique: int
) -> RoleSuggestion:
    """A role for a column from its counts (in rows) and its name; the user decides."""
    facts = _Facts(name, kind, rows, present, distinct, unique)
    hinted = _hinted(name)
    if not present or distinct == 1:
        what = "it holds no value at all" if not present else "all its rows hold the same value"
        return RoleSuggestion(Role.INSENSITIVE, msg("Insensitive, surely: {what}.", what=what))
    if hinted in (Role.WEIGHT, Role.CLUSTER):
        return _survey(facts, hinted)
    if kind is ColumnType.TEXT and any(re.fullmatch(_FREE_TEXT, one) for one in _words(name)):
        reason = "Its name speaks of remarks in own words, which may name people: identifier?"
        return RoleSuggestion(Role.IDENTIFIER, reason)
    if facts.own >= _NEARLY_UNIQUE and rows >= _SOME_ROWS:
        return _nearly_unique(facts, hinted)
    if hinted is not None:
        return _by_name(facts, hinted)
    return _by_counts(facts)


def _hinted(name: str) -> Role | None:
    whole, *words = _words(name)
    for role, form in _HINTS:
        if re.fullmatch(form, whole):
            return role
    parts = [(role, form) for role, form in _HINTS if role in _IN_PARTS]
    return next(
        (role for role, form in parts if any(re.fullmatch(form, one) for one in words)), None
    )


def _words(name: str) -> tuple[str, ...]:
    """The whole name, then its words of three letters or more, all in small letters."""
    plain = re.sub(r"[\s_]+", "_", name.strip().casefold())
    return (plain, *re.findall(r"[^\W\d_]{3,}", plain))


def _percent(share: float) -> str:
    text = f"{share * 100:.0f}"
    return f"{text if share == 1.0 or text != '100' else '99.9'} %"


def _survey(facts: _Facts, hinted: Role) -> RoleSuggestion:
    if hinted is Role.WEIGHT:
        if facts.kind in (ColumnType.INTEGER, ColumnType.DECIMAL):
            reason = "Weight, likely: it holds numbers, and its name speaks of a survey weight."
            return RoleSuggestion(Role.WEIGHT, reason)
        return _by_counts(facts)
    if facts.own < _NEARLY_UNIQUE or facts.distinct < facts.present:
        reason = msg(
            "Cluster, likely: {n:,} values group the rows, and its name speaks of a household.",
            n=facts.distinct,
        )
        return RoleSuggestion(Role.CLUSTER, reason)
    return _nearly_unique(facts, Role.IDENTIFIER)


def _nearly_unique(facts: _Facts, hinted: Role | None) -> RoleSuggestion:
    share = msg("{percent} of the rows have a value of their own", percent=_percent(facts.own))
    if facts.kind is ColumnType.DECIMAL and hinted is not Role.IDENTIFIER:
        reason = msg(
            "{share}, and the values are measurements: sensitive? They can single people out.",
            share=share,
        )
        return RoleSuggestion(Role.SENSITIVE, reason)
    if hinted in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        reason = msg(
            "{share}, though its name speaks of a property: {hinted}?",
            share=share,
            hinted=hinted.value,
        )
        return RoleSuggestion(hinted, reason)
    second = ", and its name fits" if hinted is Role.IDENTIFIER else ""
    return RoleSuggestion(
        Role.IDENTIFIER, msg("{share}{second}: identifier?", share=share, second=second)
    )


def _by_name(facts: _Facts, hinted: Role) -> RoleSuggestion:
    count = msg("{distinct:,} different values", distinct=facts.distinct)
    if hinted is Role.IDENTIFIER:
        if facts.distinct * 2 < facts.present:
            return _by_counts(facts)
        reason = msg(
            "Its name speaks of an identifier, and it holds {count}: identifier?", count=count
        )
    elif hinted is Role.QUASI_IDENTIFIER:
        reason = msg(
            "Quasi-identifier, likely: {count}, and its name speaks of what others may know.",
            count=count,
        )
    else:
        reason = msg(
            "Sensitive, perhaps: {count}, and its name speaks of what people keep private.",
            count=count,
        )
    return RoleSuggestion(hinted, reason)


def _by_counts(facts: _Facts) -> RoleSuggestion:
    if facts.own >= 0.5 and facts.rows >= _SOME_ROWS:
        reason = msg(
            "{percent} of the rows have a value of their own: check its role.",
            percent=_percent(facts.own),
        )
        return RoleSuggestion(Role.QUASI_IDENTIFIER, reason)
    if few_rows_each(facts.rows, facts.present, facts.distinct):
        reason = msg(
            "{n:,} different values, each in few rows: they may point to people; check its role.",
            n=facts.distinct,
        )
        return RoleSuggestion(Role.QUASI_IDENTIFIER, reason)
    if facts.kind is not ColumnType.DECIMAL and facts.distinct <= _SMALL_DOMAIN:
        reason = msg(
            "Insensitive, a mere guess: only {n:,} different values; check it.", n=facts.distinct
        )
        return RoleSuggestion(Role.INSENSITIVE, reason)
    reason = msg("Insensitive, a mere guess: {n:,} different values; check it.", n=facts.distinct)
    return RoleSuggestion(Role.INSENSITIVE, reason)
