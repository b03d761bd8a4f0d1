"""The profile of a source: what each column holds, and the role that it suggests.

Everything is counted inside the database, from the distinct values of one column at a time (of many
at a time in a wide table). The type is guessed on some values and then proven on all of them.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.schema import (
    ColumnProfile,
    ColumnType,
    Role,
    RoleSuggestion,
    ValueCount,
    few_rows_each,
)
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import literal, query
from dpdesk.io.missing import Candidate, missing_sql
from dpdesk.io.missing import candidates as column_types
from dpdesk.io.reading import Reading

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    _Values = tuple[pa.LargeStringArray, NDArray[np.int64]]
    """The different values of a column, and in how many rows each is."""


# Counts of a numeric column in intervals of equal width, made inside the database.


def histogram(
    con: DuckDBPyConnection,
    column: Column,
    decimal: str,
    missing: tuple[str, ...],
    ends: tuple[float, float],
    bins: int,
    place: Path,
    token: CancelToken,
) -> tuple[int, ...]:
    """Rows per interval of ``ends`` (both ends included) cut into ``bins`` equal parts.

    Missing values and texts that are no numbers count nowhere.
    """
    values = f"SELECT {column.sql}::VARCHAR AS v, count(*) AS n FROM {DATA} GROUP BY {column.sql}"
    with query(con, token, place) as cursor:
        return counted_histogram(cursor, column, values, decimal, missing, ends, bins)


def counted_histogram(
    cursor: DuckDBPyConnection,
    column: Column,
    values: str,
    decimal: str,
    missing: tuple[str, ...],
    ends: tuple[float, float],
    bins: int,
) -> tuple[int, ...]:
    """As :func:`histogram`, of what the SQL in ``values`` gives: texts v with their rows n."""
    text = "trim(v)" if decimal == "." else f"replace(trim(v), {literal(decimal)}, '.')"
    absent = missing_sql(column, missing)
    low, high = ends
    width = (high - low) / bins or 1.0
    found = cursor.execute(
        f"WITH tally AS ({values}), numbers AS (SELECT try_cast({text} AS DOUBLE) AS x, n "
        f"FROM tally{f' WHERE NOT ({absent})' if absent else ''}) "
        "SELECT least(? - 1, floor((x - ?) / ?))::INTEGER AS bin, sum(n)::BIGINT FROM numbers "
        "WHERE x BETWEEN ? AND ? GROUP BY bin",
        [bins, low, width, low, high],
    ).fetchall()
    counts = dict(found)
    return tuple(counts.get(number, 0) for number in range(bins))


# The role that a column's profile and name suggest, with the reason in one sentence.


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
        r"|county|munic.*|district|town|city|locations?|zones?|neighbou?rhood|puma|marital.*|marstat|civil.*|hhcivil|famil.*|edu.*"
        r"|occup.*|occucode|job.*|workclass|profession|employ.*|industry.*|indp.*|language"
        r"|urb.*|.*household.?size|h?h.?size|size.?hh|h?h.?gr(ö|oe)(ß|ss)e|persons?.in.?(household|hh)|nuts.*|relat.*|stabbr|rb090|pb220a|db040"
        r"|edad|âge|eta|età|idade|leeftijd|ålder|alder|sexe|sexo|sesso|geschl.*|geburts.*|naissance"
        r"|nacimiento|familienstand|zivilstand|etat.?civil|état.?civil|estado.?civil|stato.?civile"
        r"|staatsangeh.*|herkunft|bundesland|kanton|canton|gemeinde|kreis|wohnort|commune|comune"
        r"|staatsang\.?|erwerbsst.*|haushaltsgr.*|departement|département|provinc.*|fylke|kommune|beruf|berufs.*|bildung.*|ausbildung"
        r"|postleitzahl|code.?postal|postnummer|religion.*|konfession|branche"
        r"|p[le]\d{3}[a-z]?|place.?size|ortsgr.*|soc.?prof.*|bmi|height.*|(körper|koerper).*",
    ),
    (
        Role.SENSITIVE,
        r".*income|income.*|inc|salary.*|wages?.*|wagp|earn.*|disease.*|diagnos.*|health.*|illness"
        r"|icd.*|debt.*|saving.*|assets?|wealth|crim.*|convict.*|hiv.*|drug.*|benefit.*|tax.*"
        r"|expend.*|pincp|.*incp|einkommen.*|lohn.*|gehalt.*|(er|vor)?krank.*|behinderung.*|gesundheit.*"
        r"|schulden|salaire.*|revenus?|maladie.*|santé|sante|handicap.*|ingresos?|salario|sueldo"
        r"|[ph]y\d{3}[gn]?|ph\d{3}[a-z]?|povpip|d(ear|eye|rem|phy|drs|out|vet)"
        r"|depress.*|suicid.*|smok.*|cigar.*|alcoh.*|alc(abuse|sol)|rauch.*|alkohol.*|tabac.*"
        r"|enfermedad.*|salud|reddito|stipendio|malattia|disab.*|(netto|brutto)(?!.*gewicht).*",
    ),
)
_OR_OF_A_BODY = r"weights?|wt|gewicht|poids"
_BODIES = r"(body.?)?(height|mass)|bmi|height.?cm|gr(ö|oe)(ß|ss)e|(körper|koerper).*|taille|stature"


def side_by_side(profiles: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ...]:
    """The profiles of a table, with roles that only its other columns make clear.

    Next to the height of people, ``weight`` is that of their bodies, not of a survey.
    """
    if not any(re.fullmatch(_BODIES, one.name.strip().casefold()) for one in profiles):
        return tuple(profiles)
    return tuple(
        replace(one, suggestion=_of_a_body(one)) if one.suggestion.role is Role.WEIGHT else one
        for one in profiles
    )


def _of_a_body(one: ColumnProfile) -> RoleSuggestion:
    facts = one.rows, one.rows - one.missing, one.distinct, one.unique
    return suggest_role(one.name, one.type, *facts, bodies=True)


_IN_PARTS = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
"""What one word of a name may say: ``PLZ_Detail`` is a postcode, ``w_partner`` not a weight."""
_FREE_TEXT = (
    r"comments?|remarks?|notes?|verbatim|(free|open).?text|freitext|bemerkung(en)?|anmerkung(en)?"
    r"|kommentare?|notiz(en)?|commentaires?|remarques?|comentarios?|observaciones|commenti"
)
_HUMPS = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z])")
_NEARLY_UNIQUE = 0.9
_SMALL_DOMAIN = 200
_SOME_ROWS = 20
_SOME_VALUES = 20


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
    name: str,
    kind: ColumnType,
    rows: int,
    present: int,
    distinct: int,
    unique: int,
    *,
    bodies: bool = False,
) -> RoleSuggestion:
    """A role for a column from its counts (in rows) and its name; the user decides.

    ``bodies``: the table measures bodies, so that ``weight`` is hardly one of a survey.
    """
    facts = _Facts(name, kind, rows, present, distinct, unique)
    hinted = _hinted(name)
    if not present or distinct == 1:
        what = "it holds no value at all" if not present else "all its rows hold the same value"
        return RoleSuggestion(Role.INSENSITIVE, msg("Certainly insensitive: {what}.", what=what))
    if hinted is Role.WEIGHT and bodies and re.fullmatch(_OR_OF_A_BODY, name.strip().casefold()):
        hinted = Role.QUASI_IDENTIFIER
    if hinted in (Role.WEIGHT, Role.CLUSTER):
        return _survey(facts, hinted)
    if _free_text(facts) and any(re.fullmatch(_FREE_TEXT, one) for one in _words(name)):
        reason = "Its name suggests free-text remarks, which may name people: identifier?"
        return RoleSuggestion(Role.IDENTIFIER, reason)
    if facts.own >= _NEARLY_UNIQUE and rows >= _SOME_ROWS:
        return _nearly_unique(facts, hinted)
    if hinted is not None:
        return _by_name(facts, hinted)
    return _by_counts(facts)


def _free_text(facts: _Facts) -> bool:
    """Whether the values may be in people's own words; a few texts that recur are codes."""
    recurs = facts.distinct < _SOME_VALUES
    few = few_rows_each(facts.rows, facts.present, facts.distinct)
    return facts.kind is ColumnType.TEXT and (few or not recurs)


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
    """The whole name, then its words of three letters or more, all in small letters.

    A capital within a name begins a word too: ``PULocationID`` has three.
    """
    plain = re.sub(r"[\s_]+", "_", name.strip())
    parts = _HUMPS.sub("_", plain).casefold()
    return (plain.casefold(), *re.findall(r"[^\W\d_]{3,}", parts))


def _percent(share: float) -> str:
    text = f"{share * 100:.0f}"
    return f"{text if share == 1.0 or text != '100' else '99.9'} %"


def _survey(facts: _Facts, hinted: Role) -> RoleSuggestion:
    if hinted is Role.WEIGHT:
        if facts.kind in (ColumnType.INTEGER, ColumnType.DECIMAL):
            reason = "Probably weight: it holds numbers, and its name suggests a survey weight."
            return RoleSuggestion(Role.WEIGHT, reason)
        return _by_counts(facts)
    if facts.own < _NEARLY_UNIQUE or facts.distinct < facts.present:
        reason = msg(
            "Probably cluster: {n:,} values group the rows, and its name suggests a household.",
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
            "{share}, though its name suggests a property: {hinted}?",
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
            "Its name suggests an identifier, and it holds {count}: identifier?", count=count
        )
    elif hinted is Role.QUASI_IDENTIFIER:
        reason = msg(
            "Probably quasi-identifier: {count}, and its name suggests something that "
            "others may know.",
            count=count,
        )
    else:
        reason = msg(
            "Perhaps sensitive: {count}, and its name suggests something that people keep private.",
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
            "Insensitive, only a guess: only {n:,} different values; check it.", n=facts.distinct
        )
        return RoleSuggestion(Role.INSENSITIVE, reason)
    reason = msg("Insensitive, only a guess: {n:,} different values; check it.", n=facts.distinct)
    return RoleSuggestion(Role.INSENSITIVE, reason)


# The profile of many columns at a time: for wide tables.
#
# A statement on a table of 10,000 columns takes tens of milliseconds whatever it asks, and a column
# asks for several. So a batch of columns is read by one statement and counted by compiled loops;
# what these do not settle is asked for all columns of the batch at once.

TOP, SAMPLE = 10, 1_000
_WIDE = 100
_MOST_COLUMNS = 400
_MOST_CELLS = 4_000_000
_TEXT = Candidate(ColumnType.TEXT, "")
_EMPTY = Candidate(ColumnType.EMPTY, "")
_AT_ENDS = "min(v) FILTER (WHERE o = low), min(v) FILTER (WHERE o = high)"
"""Of values that are equal as numbers, the first text: another run has them in another order."""
_NEAR = 1e-12
"""Numbers that differ by less of their size are compared exactly, by the database."""


def batch_size(columns: int, rows: int) -> int:
    """How many columns to profile at a time; 1 for tables that are not wide or that are long."""
    if columns <= _WIDE:
        return 1
    return max(1, min(_MOST_COLUMNS, _MOST_CELLS // max(1, rows)))


def profile_batch(
    cursor: DuckDBPyConnection,
    columns: Sequence[Column],
    rows: int,
    reading: Reading,
    candidates: Sequence[Candidate],
    token: CancelToken,
) -> list[ColumnProfile]:
    """Profile these columns; the same as one after the other."""
    found = []
    for column, counted in zip(columns, _counted(cursor, columns, token), strict=True):
        found.append(_without_missing(cursor, column, reading.missing, counted))
        token.check()
    types = _types_and_ends(cursor, found, candidates, reading.decimal)
    profiles = []
    for column, (texts, counts), (kind, low, high) in zip(columns, found, types, strict=True):
        distinct, unique, present = len(texts), int((counts == 1).sum()), int(counts.sum())
        suggestion = suggest_role(column.name, kind.kind, rows, present, distinct, unique)
        profiles.append(
            ColumnProfile(
                name=column.name,
                type=kind.kind,
                rows=rows,
                missing=rows - present,
                distinct=distinct,
                unique=unique,
                top=_most_frequent(texts, counts),
                suggestion=suggestion,
                minimum=low,
                maximum=high,
                date_order=kind.date_order,
            )
        )
    return profiles


def _counted(
    cursor: DuckDBPyConnection, columns: Sequence[Column], token: CancelToken
) -> Iterator[_Values]:
    """The values of each column and their counts."""
    import numpy as np
    import pyarrow as pa

    from dpdesk.io.count_kernels import count_texts

    read = (c.sql if c.domain is None else f"enum_code({c.sql})" for c in columns)
    listed = ", ".join(f"{sql} AS k{j}" for j, sql in enumerate(read))
    table = cursor.sql(f"SELECT {listed} FROM {DATA}").to_arrow_table()
    for j, column in enumerate(columns):
        token.check()
        if column.domain is not None:
            counts = np.bincount(table.column(j).to_numpy(), minlength=len(column.domain))
            texts, seen = pa.array(column.domain, pa.large_string()), counts > 0
            yield texts.filter(pa.array(seen)), counts[seen]
            continue
        texts = table.column(j).drop_null().cast(pa.large_string()).combine_chunks()
        places, counts = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
        known = count_texts(*_buffers(texts), secrets.randbits(62), places, counts)
        yield texts.take(pa.array(places[:known])), counts[:known]


def _buffers(texts: pa.LargeStringArray) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where the texts end, and their bytes."""
    import numpy as np

    _, ends, data = texts.buffers()
    bounds = np.frombuffer(ends or bytes(8), np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return bounds, np.frombuffer(data or b"", np.uint8)


def _without_missing(
    cursor: DuckDBPyConnection, column: Column, declared: Sequence[str], found: _Values
) -> _Values:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts, counts = found
    if column.user_missing:
        cursor.register("listed", pa.table({"v": texts, "i": range(len(texts))}))
        absent = missing_sql(column, declared)
        kept = cursor.sql(f"SELECT i FROM listed WHERE NOT ({absent}) ORDER BY i").to_arrow_table()
        cursor.unregister("listed")
        places = kept.column(0).combine_chunks()
        return texts.take(places), counts[places.to_numpy()]
    present = pc.invert(pc.is_in(texts, value_set=pa.array(declared, pa.large_string())))
    return texts.filter(present), counts[present.to_numpy(zero_copy_only=False)]


def _most_frequent(texts: pa.LargeStringArray, counts: NDArray[np.int64]) -> tuple[ValueCount, ...]:
    import numpy as np

    from dpdesk.io.count_kernels import most_frequent

    best = np.empty(TOP, np.int64)
    found = best[: most_frequent(*_buffers(texts), counts, best)].tolist()
    return tuple(ValueCount(texts[place].as_py(), int(counts[place])) for place in found)


def _types_and_ends(
    cursor: DuckDBPyConnection,
    found: Sequence[_Values],
    candidates: Sequence[Candidate],
    decimal: str,
) -> list[tuple[Candidate, str | None, str | None]]:
    """The type of each column, and its smallest and largest value where the type has an order.

    What nearly every column is, whole numbers or decimal ones, is seen without the database, which
    then compares only the values next to the ends.
    """
    import numpy as np
    import pyarrow as pa

    from dpdesk.io.count_kernels import DECIMAL, INTEGER, OTHER, as_numbers

    kinds = {INTEGER: ColumnType.INTEGER, DECIMAL: ColumnType.DECIMAL}
    by_kind = {code: next(c for c in candidates if c.kind is kind) for code, kind in kinds.items()}
    types: dict[int, Candidate] = {}
    looked_at: list[pa.LargeStringArray] = []
    for j, (texts, _) in enumerate(found):
        values = np.empty(len(texts), np.float64)
        kind = as_numbers(*_buffers(texts), ord(decimal), values)
        if len(texts) and kind != OTHER:
            types[j], low, high = by_kind[kind], values.min(), values.max()
            near = (values <= low + abs(low) * _NEAR) | (values >= high - abs(high) * _NEAR)
            texts = texts.filter(pa.array(near))
        looked_at.append(texts)
    numbers = np.repeat(np.arange(len(looked_at), dtype=np.int32), [len(t) for t in looked_at])
    cursor.register("listed", pa.table({"c": numbers, "v": pa.chunked_array(looked_at)}))
    cursor.execute("CREATE TEMP TABLE tally AS SELECT c, v::VARCHAR AS v FROM listed")
    cursor.unregister("listed")
    types |= _types(cursor, candidates, types)
    ends = _ends(cursor, types)
    cursor.execute("DROP TABLE tally")
    return [(types.get(j, _EMPTY), *ends.get(j, (None, None))) for j in range(len(found))]


def _types(
    cursor: DuckDBPyConnection, candidates: Sequence[Candidate], known: Mapping[int, Candidate]
) -> dict[int, Candidate]:
    """Per column with values, the first type that fits some of them, and then all.

    Columns whose type is ``known`` are left out.
    """
    fits = ", ".join(f"bool_and({item.condition})" for item in candidates)
    # Any sample does: it only spares a look at all values for a type that does not fit some.
    others = f"WHERE c NOT IN ({_listed([*known])})" if known else ""
    sample = f"SELECT c, unnest(min(v, {SAMPLE})) AS v FROM tally {others} GROUP BY c"
    likely = {
        c: fitting
        for c, *fitting in cursor.execute(f"SELECT c, {fits} FROM ({sample}) GROUP BY c").fetchall()
    }
    found: dict[int, Candidate] = {}
    for place, item in enumerate(candidates):
        open_ones = [c for c, fitting in likely.items() if fitting[place] and c not in found]
        if open_ones:
            proven = cursor.execute(
                f"SELECT c FROM tally WHERE c IN ({_listed(open_ones)}) GROUP BY c "
                f"HAVING bool_and({item.condition})"
            ).fetchall()
            found.update((c, item) for (c,) in proven)
    return {c: found.get(c, _TEXT) for c in likely}


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _ends(
    cursor: DuckDBPyConnection, types: Mapping[int, Candidate]
) -> dict[int, tuple[str | None, str | None]]:
    """Smallest and largest value of the columns whose type has an order."""
    by_order: dict[str, list[int]] = {}
    for c, item in types.items():
        if item.order:
            by_order.setdefault(item.order, []).append(c)
    found: dict[int, tuple[str | None, str | None]] = {}
    for order, numbers in by_order.items():
        for c, low, high in cursor.execute(
            f"WITH keyed AS MATERIALIZED (SELECT c, v, {order} AS o FROM tally "
            f"WHERE c IN ({_listed(numbers)})), "
            "ends AS (SELECT c, min(o) AS low, max(o) AS high FROM keyed GROUP BY c) "
            f"SELECT c, {_AT_ENDS} FROM keyed JOIN ends USING (c) GROUP BY c"
        ).fetchall():
            found[c] = (low, high)
    return found


PROFILE = "Profile the columns"


def profile_columns(
    con: DuckDBPyConnection,
    columns: tuple[Column, ...],
    rows: int,
    reading: Reading,
    place: Path,
    token: CancelToken,
    report: Report,
    date_order: str = "",
) -> tuple[ColumnProfile, ...]:
    """Profile every column from its distinct values and their counts.

    ``date_order`` is how dates are written, as far as the plan says it.

    One after the other, or many at a time in a wide table, where each statement costs the more the
    more columns the table has.
    """
    report(StepStarted(PROFILE, 1, 1))
    profiles: list[ColumnProfile] = []
    candidates = column_types(reading.decimal, date_order)
    size = batch_size(len(columns), rows)
    if size > 1:
        for start in range(0, len(columns), size):
            batch = columns[start : start + size]
            with query(con, token, place) as cursor:
                profiles += profile_batch(cursor, batch, rows, reading, candidates, token)
            report(StepProgress(PROFILE, len(profiles), len(columns), "columns"))
        return _with_user_missing(con, columns, profiles, place, token)
    for number, column in enumerate(columns, start=1):
        with query(con, token, place) as cursor:
            profiles.append(_profile(cursor, column, rows, reading.missing, candidates))
        report(StepProgress(PROFILE, number, len(columns), "columns"))
    return _with_user_missing(con, columns, profiles, place, token)


def _with_user_missing(
    con: DuckDBPyConnection,
    columns: tuple[Column, ...],
    profiles: list[ColumnProfile],
    place: Path,
    token: CancelToken,
) -> tuple[ColumnProfile, ...]:
    """The profiles with the rows whose value the source itself declares missing."""
    found = []
    for column, profile in zip(columns, profiles, strict=True):
        rows = 0
        if column.user_missing and profile.missing:
            with query(con, token, place) as cursor:
                counted = cursor.execute(
                    f"SELECT coalesce(sum(n), 0)::BIGINT FROM (SELECT {column.sql}::VARCHAR AS v, "
                    f"count(*) AS n FROM {DATA} GROUP BY {column.sql}) "
                    f"WHERE {missing_sql(column, ())}"
                ).fetchone()
            rows = int(counted[0]) if counted else 0
        found.append(replace(profile, user_missing=rows) if rows else profile)
    return side_by_side(found)


def _profile(
    cursor: DuckDBPyConnection,
    column: Column,
    rows: int,
    missing: tuple[str, ...],
    candidates: tuple[Candidate, ...],
) -> ColumnProfile:
    values = f"SELECT {column.sql}::VARCHAR AS v, count(*) AS n FROM {DATA} GROUP BY {column.sql}"
    return profile_counted(cursor, column, values, rows, missing, candidates)


def profile_counted(
    cursor: DuckDBPyConnection,
    column: Column,
    values: str,
    rows: int,
    missing: tuple[str, ...],
    candidates: tuple[Candidate, ...],
) -> ColumnProfile:
    """The profile of a column of which the SQL in ``values`` gives the texts v, with rows n."""
    absent = missing_sql(column, missing)
    cursor.execute(
        f"CREATE TEMP TABLE tally AS SELECT v, n FROM ({values})"
        + (f" WHERE NOT ({absent})" if absent else "")
    )
    counts = "SELECT count(*), count(*) FILTER (n = 1), coalesce(sum(n), 0)::BIGINT FROM tally"
    distinct, unique, present = cursor.execute(counts).fetchall()[0]
    top = cursor.execute(f"SELECT v, n FROM tally ORDER BY n DESC, v LIMIT {TOP}").fetchall()
    found = _type_of(cursor, candidates) if distinct else Candidate(ColumnType.EMPTY, "")
    ends: tuple[str | None, str | None] = (None, None)
    if found.order:
        ends = cursor.execute(
            f"WITH keyed AS MATERIALIZED (SELECT v, {found.order} AS o FROM tally), "
            "ends AS (SELECT min(o) AS low, max(o) AS high FROM keyed) "
            f"SELECT {_AT_ENDS} FROM keyed, ends"
        ).fetchall()[0]
    cursor.execute("DROP TABLE tally")
    return ColumnProfile(
        name=column.name,
        type=found.kind,
        rows=rows,
        missing=rows - present,
        distinct=distinct,
        unique=unique,
        top=tuple(ValueCount(value, count) for value, count in top),
        suggestion=suggest_role(column.name, found.kind, rows, present, distinct, unique),
        minimum=ends[0],
        maximum=ends[1],
        date_order=found.date_order,
    )


def _type_of(cursor: DuckDBPyConnection, candidates: tuple[Candidate, ...]) -> Candidate:
    """The first type that fits some values, and then all of them."""
    fits = ", ".join(f"bool_and({item.condition})" for item in candidates)
    sample = cursor.execute(f"SELECT {fits} FROM (SELECT v FROM tally LIMIT {SAMPLE})").fetchall()[
        0
    ]
    for item, likely in zip(candidates, sample, strict=True):
        if not likely:
            continue
        against = f"SELECT 1 FROM tally WHERE NOT ({item.condition}) LIMIT 1"
        if not cursor.execute(against).fetchall():
            return item
    return Candidate(ColumnType.TEXT, "")
