"""Items about the published columns: which there are, and what those released unchanged show."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb
from typing import NamedTuple

from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.plain import quoted
from dpdesk.core.release import ColumnFacts, Content, TableFacts, hidden_columns
from dpdesk.core.schema import ColumnType, Role
from dpdesk.project.review.policy import column_pattern, folded
from dpdesk.project.review.questions import (
    Answer,
    Basis,
    Case,
    Question,
    TableQuestion,
    named,
    part,
    percent,
    value,
)
from dpdesk.project.review.votes import ItemStatus as Status

# What released columns tell of hidden values, as the evidence has it from before a release.


_EVIDENCE = Basis.EVIDENCE
_EVEN = 2
_LEFT_ALONE = frozenset(
    role.value for role in (Role.SENSITIVE, Role.INSENSITIVE, Role.WEIGHT, Role.CLUSTER)
)
"""Roles of columns that are released as they are, unless their values are drawn."""
_TOGETHER = 3
_TRIED = ("columns", "pairs", "rows_for_pairs", "triples", "rows_for_triples")
_ADVICE_ON_TELLING = (
    "Judge whether others may know these columns; if so, leave one of them out, make it coarser, "
    "or do not rely on the chance that the guarantee names."
)
_NOT_MEASURED = Answer(
    Status.REVIEW,
    "What columns reveal about each other was not measured, or is in the internal part.",
    _EVIDENCE,
    "Look at the whole release folder, or make the release again.",
)


class _Found(NamedTuple):
    """What some columns tell of ``column``: rows that are certain, guessed, and nearly certain.

    ``nearly`` is None where it was not measured: in evidence of an earlier version.
    """

    column: str
    rows: int
    unaided: int
    by: tuple[str, ...]
    certain: int
    guessed: int
    nearly: int | None

    def surer(self, size: int) -> bool:
        return self.guessed * size > self.rows and self.guessed > self.unaided


def _telling(case: Case) -> Answer:
    raw = case.facts.release.evidence.risk.get("telling")
    if raw is None:
        return _NOT_MEASURED
    found = _read(raw)
    if found is None:
        text = "What the evidence says about columns that reveal others cannot be read."
        return Answer(Status.FAIL, text, _EVIDENCE, "Make the release again.")
    size = _size(case)
    sure = max((each for each in found if each.certain), key=_certain_share, default=None)
    best = max((each for each in found if each.surer(size)), key=_guessed_share, default=None)
    near = max((each for each in found if each.nearly), key=_nearly_share, default=None)
    if near is not None and sure is not None and _nearly_share(near) <= _certain_share(sure):
        near = None
    if sure is None and best is None and near is None:
        if any(each.nearly is None for each in found):
            return _NOT_MEASURED
        if not _hidden(case) <= {str(each.get("column")) for each in _tables(raw)}:
            return _NOT_MEASURED
        text = msg(
            "No column by itself gives a hidden value away with a chance of 90 % or "
            "more, and no columns that were tried together (up to three) guess one "
            "right both more often than once in {l:,} and more often than without any "
            "column.",
            l=size,
        )
        return Answer(Status.PASS, text, _EVIDENCE, more=_not_tried(raw))
    parts = []
    if sure is not None:
        parts.append(
            msg(
                "For {certain}, {by} alone reveals {column}.",
                certain=part(sure.certain, sure.rows),
                by=named(sure.by),
                column=quoted(sure.column),
            )
        )
    if near is not None:
        parts.append(
            msg(
                "For {rows}, {by} alone reveals {column} with a chance of 90 % or more.",
                rows=part(near.nearly or 0, near.rows),
                by=named(near.by),
                column=quoted(near.column),
            )
        )
    if best is not None:
        parts.append(
            msg(
                "From {by}, {column} is guessed right for {guessed}.",
                by=named(best.by),
                column=quoted(best.column),
                guessed=part(best.guessed, best.rows),
            )
        )
    return Answer(Status.REVIEW, joined(parts), _EVIDENCE, _ADVICE_ON_TELLING, _not_tried(raw))


def _hidden(case: Case) -> set[str]:
    """Columns that others could give away, as far as manifest and plan say it.

    Those that are sensitive, where another column is released unchanged next to them.
    """
    release = case.facts.release
    given = release.manifest.guarantee.parameters
    changed = set(hidden_columns(given))
    roles = release.evidence.roles
    unchanged = {name for name, role in roles.items() if role in _LEFT_ALONE} - changed
    targets = changed or {name for name, role in roles.items() if role == Role.SENSITIVE.value}
    return {name for name in targets if unchanged - {name}}


def _not_tried(raw: object) -> str:
    """Which sets of columns were not tried, as far as the evidence says it."""
    more, partly = False, ""
    for each in _tables(raw):
        examined = each.get("examined")
        tried = examined if isinstance(examined, Mapping) else {}
        known = [_whole(tried.get(key)) for key in _TRIED]
        rows = _whole(each.get("rows")) or 0
        if None in known:
            continue
        columns, pairs, paired, triples, screened = (number or 0 for number in known)
        more = more or columns > _TOGETHER
        sets = (comb(columns, 2), comb(columns, _TOGETHER))
        if (pairs, triples) < sets or 0 < min(paired, screened) < rows:
            partly = partly or (
                msg(
                    "Of {c:,} columns, {p:,} pairs were tried in {a:,} rows and {t:,} sets of "
                    "three in {b:,} rows; the best were counted in all {n:,} rows.",
                    c=columns,
                    p=pairs,
                    a=paired,
                    t=triples,
                    b=screened,
                    n=rows,
                )
            )
    parts = ["Sets of four or more columns were not examined."] if more else []
    return joined([*parts, partly] if partly else parts)


def _tables(raw: object) -> list[Mapping[str, object]]:
    return [each for each in raw if isinstance(each, Mapping)] if isinstance(raw, list) else []


def _certain_share(found: _Found) -> float:
    return found.certain / found.rows


def _nearly_share(found: _Found) -> float:
    return (found.nearly or 0) / found.rows


def _guessed_share(found: _Found) -> float:
    return found.guessed / found.rows


def _size(case: Case) -> int:
    """The ℓ′ of drawn values; elsewhere, more often than not is what calls for a look."""
    size = case.facts.release.manifest.guarantee.parameters.get("l")
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 1 else _EVEN


def _read(raw: object) -> list[_Found] | None:
    """All findings of the evidence; None when one cannot be read."""
    found: list[_Found] = []
    for each in raw if isinstance(raw, list) else [None]:
        told = _one(each)
        if told is None:
            return None
        found += told
    return found


def _one(raw: object) -> list[_Found] | None:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("column"), str):
        return None
    rows, unaided = _whole(raw.get("rows")), _whole(raw.get("guessed_unaided"))
    single, together = raw.get("by_one_column"), raw.get("together")
    if not rows or unaided is None or not isinstance(single, list) or "together" not in raw:
        return None
    found = []
    for each in [*single, *([] if together is None else [together])]:
        names = each.get("columns") if isinstance(each, Mapping) else None
        certain = _whole(each.get("certain")) if isinstance(each, Mapping) else None
        guessed = _whole(each.get("guessed")) if isinstance(each, Mapping) else None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return None
        if certain is None or guessed is None or not certain <= guessed <= rows:
            return None
        nearly = None
        if "nearly" in each:
            nearly = _whole(each["nearly"])
            if nearly is None or not certain <= nearly <= rows:
                return None
        alone = (certain, guessed, nearly) if each is not together else (0, guessed, 0)
        found.append(_Found(raw["column"], rows, unaided, tuple(names), *alone))
    return found


def _whole(raw: object) -> int | None:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw >= 0 else None


TELLING_ITEM = Question("telling", "Do other columns give a hidden value away?", _telling)
"""Asked of every release of rows."""


def _alone(case: Case) -> Answer:
    """A class has k rows by the quasi-identifiers alone; other columns tell them apart."""
    release = case.facts.release
    alone = _whole(release.evidence.risk.get("rows_alone"))
    rows = _whole(release.manifest.result.get("rows_out"))
    if alone is None or not rows:
        text = (
            "The number of rows that are equal to no other was not counted, or is in the internal "
            "part."
        )
        advice = "Look at the whole release folder, or make the release again."
        return Answer(Status.REVIEW, text, _EVIDENCE, advice)
    if alone > rows:
        text = "What the evidence says about rows that are alone is impossible."
        return Answer(Status.FAIL, text, _EVIDENCE, "Make the release again.")
    text = msg(
        "By all released columns together, {alone} can be distinguished from all others.",
        alone=part(alone, rows),
    )
    if not alone:
        return Answer(Status.PASS, text, _EVIDENCE)
    advice = (
        "Judge whether others may know these columns of a person; if so, make them "
        "quasi-identifiers as well, or leave them out."
    )
    return Answer(Status.REVIEW, text, _EVIDENCE, advice)


ALONE_ITEM = Question("rows-alone", "Is a row alone by all released columns?", _alone)
"""Asked of releases of classes: k says nothing of the columns that are not quasi-identifiers."""


_ADVICE = (
    "Ask who needs the link, who has the key and its backups, and who gets other releases with "
    "the same pseudonyms; leave the identifier out where no one needs it."
)


def _pseudonyms(case: Case, table: TableFacts) -> Answer | None:
    columns = table.with_role(Role.PSEUDONYM)
    if not columns:
        return None
    stated = case.facts.release.manifest.guarantee.parameters
    text = joined(_words(each, stated, table) for each in columns[:3])
    return Answer(Status.REVIEW, text, Basis.TABLE, _ADVICE)


def _words(column: ColumnFacts, stated: Mapping[str, object], table: TableFacts) -> str:
    domains, groups = stated.get("pseudonym_domains"), stated.get("pseudonyms_of_groups")
    domain = domains.get(column.name) if isinstance(domains, Mapping) else None
    of = "groups" if isinstance(groups, list) and column.name in groups else "persons"
    several = table.rows - column.missing - column.unique
    text = msg(
        "{name} holds {distinct} of {of}; ",
        name=quoted(column.name),
        distinct=counted(
            "{n:,} different pseudonym", "{n:,} different pseudonyms", n=column.distinct
        ),
        of=of,
    )
    if several > 0:
        text += msg(
            "{several:,} of {rows:,} rows share theirs with another row, so anyone who knows what "
            "such rows have in common may find them. ",
            several=several,
            rows=table.rows,
        )
    else:
        text += "no two rows share one. "
    if domain:
        return text + msg(
            "By the linkage domain {domain} it joins other releases too.",
            domain=quoted(str(domain)),
        )
    return text + "It was made for this release alone."


PSEUDONYM_ITEM = TableQuestion(
    "pseudonyms", "May identifiers be linked by pseudonyms?", _pseudonyms, always=False
)
"""The question about pseudonyms."""


FEW_ROWS = 20
NEARLY_UNIQUE, OFTEN_UNIQUE = Fraction(9, 10), Fraction(1, 20)
"""Shares of rows with a value of their own that a person judges where the policy sets no limit."""

_TABLE = Basis.TABLE
_UNCHANGED = (Role.SENSITIVE, Role.INSENSITIVE)
_BESIDES = (Role.INSENSITIVE, Role.WEIGHT, Role.CLUSTER)
_NO_COLUMN = "No column of this kind is published"


def _identifiers(case: Case, table: TableFacts) -> Answer:
    roles = case.facts.release.evidence.roles
    names = [each.name for each in table.columns]
    present = [name for name in names if roles.get(name) == Role.IDENTIFIER.value]
    advice = "Leave the column out, or give it another role and say why."
    if present:
        text = counted(
            "The table has {columns}, which the plan calls an identifier.",
            "The table has {columns}, which the plan calls identifiers.",
            n=len(present),
            columns=named(present),
        )
        return Answer(Status.FAIL, text, _TABLE, advice)
    alike = [
        each
        for each in table.with_role(*_UNCHANGED)
        if each.suggestion.role is Role.IDENTIFIER and table.rows >= FEW_ROWS
    ]
    if alike:
        names = [each.name for each in alike]
        text = counted(
            "{names} looks like an identifier: {note}",
            "{names} look like identifiers: {note}",
            n=len(names),
            names=named(names),
            note=alike[0].suggestion.reason,
        )
        return Answer(Status.REVIEW, text, _TABLE, advice)
    if not roles:
        text = "No column looks like an identifier; the roles are in the internal part."
        return Answer(Status.REVIEW, text, _TABLE, "Check the whole release folder.")
    left_out = sum(role == Role.IDENTIFIER.value for role in roles.values())
    text = "The plan's one identifier is not in the table."
    if left_out != 1:
        text = msg("None of the {n:,} identifiers of the plan is in the table.", n=left_out)
    if not left_out:
        text = "The plan names no identifier."
    basis = Basis.SOURCE if case.facts.confirmed("identifiers are left out") else _TABLE
    return Answer(Status.PASS, text, basis)


def _forbidden(case: Case, table: TableFacts) -> Answer:
    if not case.policy.forbidden:
        text = "The policy forbids no column."
        return Answer(Status.NOT_APPLICABLE, text, Basis.POLICY)
    patterns = [(pattern, column_pattern(pattern)) for pattern in case.policy.forbidden]
    hits = [
        (each.name, pattern)
        for each in table.columns
        for pattern, expression in patterns
        if expression.fullmatch(folded(each.name))
    ]
    if hits:
        names = list(dict.fromkeys(name for name, _ in hits))
        text = msg(
            "The table has {columns}, which the policy forbids (`{rule}`).",
            columns=named(names),
            rule=hits[0][1],
        )
        return Answer(Status.FAIL, text, _TABLE, "Leave the column out.")
    columns = counted("{n:,} published column", "{n:,} published columns", n=len(table.columns))
    return Answer(
        Status.PASS,
        msg("None of the {columns} is one that the policy forbids.", columns=columns),
        _TABLE,
    )


def _required(case: Case, table: TableFacts) -> Answer | None:
    if not case.policy.required:
        return None
    names = [folded(each.name) for each in table.columns]
    lacking = [
        pattern
        for pattern in case.policy.required
        if not any(column_pattern(pattern).fullmatch(name) for name in names)
    ]
    if lacking:
        text = msg(
            "The table has no column {columns}, which the policy requires.", columns=named(lacking)
        )
        return Answer(Status.FAIL, text, _TABLE, "Publish the column, or ask for an exception.")
    return Answer(Status.PASS, "The table has every column that the policy requires.", _TABLE)


def _number_of_columns(case: Case, table: TableFacts) -> Answer:
    limit = case.policy.whole("maximum_columns") or 0
    text = msg(
        "The table has {columns}; the policy allows {limit:,}.",
        columns=counted("{n:,} column", "{n:,} columns", n=len(table.columns)),
        limit=limit,
    )
    status = Status.PASS if len(table.columns) <= limit else Status.FAIL
    return Answer(status, text, _TABLE, "Leave columns out that users do not need.")


def _own_values(case: Case, table: TableFacts) -> Answer:
    """Rows that one unchanged column alone singles out, whatever their class."""
    columns = sorted(table.with_role(*_UNCHANGED), key=lambda each: -each.unique)
    if not columns or not table.rows:
        return Answer(Status.NOT_APPLICABLE, f"{_NO_COLUMN}.", _TABLE)
    limit = case.policy.share("maximum_unique_rows")
    worst = columns[0]
    text = msg(
        "In {name} {unique} have a value that no one else has, among {distinct}",
        name=quoted(worst.name),
        unique=part(worst.unique, table.rows),
        distinct=counted("{n:,} different value", "{n:,} different values", n=worst.distinct),
    )
    advice = "Leave the column out, round or group it, or make it a quasi-identifier."
    if limit is not None:
        over = Fraction(worst.unique, table.rows) > limit
        text += msg("; the policy allows {percent}.", percent=percent(limit))
        return Answer(Status.FAIL if over else Status.PASS, text, _TABLE, advice)
    status = max((_uniqueness(each, table.rows) for each in columns), key=lambda s: s.severity)
    if status is Status.FAIL:
        named = [each for each in columns if _uniqueness(each, table.rows) is Status.FAIL]
        text = msg(
            "{name} is released unchanged and has {distinct} in {rows:,} rows: anyone who knows "
            "such a value of a person can find the row.",
            name=quoted(named[0].name),
            distinct=counted(
                "{n:,} different value", "{n:,} different values", n=named[0].distinct
            ),
            rows=table.rows,
        )
    return Answer(status, text, _TABLE, advice)


def _uniqueness(column: ColumnFacts, rows: int) -> Status:
    if rows < FEW_ROWS:
        return Status.PASS
    nearly = max(column.distinct, column.unique) >= NEARLY_UNIQUE * rows
    if nearly and column.role is Role.INSENSITIVE:
        return Status.FAIL
    return Status.REVIEW if nearly or column.unique >= OFTEN_UNIQUE * rows else Status.PASS


def _exposed(case: Case, table: TableFacts) -> Answer:
    """Rows in groups below k for anyone who knows one more column that is not sensitive."""
    found = [(each, each.spread) for each in table.with_role(*_BESIDES) if each.spread is not None]
    if not found or not table.rows:
        text = msg(
            "{no_column}: all others are quasi-identifiers or sensitive.", no_column=_NO_COLUMN
        )
        return Answer(Status.NOT_APPLICABLE, text, _TABLE)
    found.sort(key=lambda pair: -pair[1].exposed)
    (worst, spread), limit = found[0], case.policy.share("maximum_exposed")
    if spread.exposed:
        text = msg(
            "Anyone who also knows {name} faces groups below {k:,}: that is so for "
            "{exposed}, of whom {alone:,} would be alone",
            name=quoted(worst.name),
            k=table.k,
            exposed=part(spread.exposed, table.rows),
            alone=spread.alone,
        )
        others = [each.name for each, facts in found[1:] if facts.exposed]
        text += msg("; less often with {others}", others=named(others)) if others else ""
    else:
        text = msg(
            "Even with one of {name}, every group has {k:,} rows or more",
            name=named([each.name for each, _ in found]),
            k=table.k,
        )
    advice = "If others may know the column, make it a quasi-identifier, or leave it out."
    if limit is not None:
        over = Fraction(spread.exposed, table.rows) > limit
        text += msg("; the policy allows {percent}.", percent=percent(limit))
        return Answer(Status.FAIL if over else Status.PASS, text, _TABLE, advice)
    return Answer(
        Status.REVIEW if spread.exposed else Status.PASS, msg("{text}.", text=text), _TABLE, advice
    )


def _raw_contents(case: Case, table: TableFacts) -> Answer:
    columns = [each for each in table.columns if each.role is not Role.QUASI_IDENTIFIER]
    if not columns:
        return Answer(Status.NOT_APPLICABLE, f"{_NO_COLUMN}.", _TABLE)
    addresses = [each.name for each in columns if each.content is Content.ADDRESSES]
    texts = [each.name for each in columns if each.content is Content.FREE_TEXT]
    dates = [each.name for each in columns if each.type is ColumnType.DATE]
    parts = []
    if addresses:
        parts.append(
            counted(
                "{addresses} holds e-mail addresses",
                "{addresses} hold e-mail addresses",
                n=len(addresses),
                addresses=named(addresses),
            )
        )
    if texts:
        parts.append(
            counted(
                "{texts} looks like free text",
                "{texts} look like free text",
                n=len(texts),
                texts=named(texts),
            )
        )
    if dates:
        parts.append(
            counted(
                "{dates} holds exact dates",
                "{dates} hold exact dates",
                n=len(dates),
                dates=named(dates),
            )
        )
    if not parts:
        text = "No unchanged column holds dates, free text or e-mail addresses."
        return Answer(Status.PASS, text, _TABLE)
    text = msg("Released unchanged: {join}.", join=joined(parts, "; "))
    advice = "Leave free text and addresses out; publish years, months or intervals for dates."
    return Answer(Status.FAIL if addresses else Status.REVIEW, text, _TABLE, advice)


def _extremes(case: Case, table: TableFacts) -> Answer | None:
    numbers = (ColumnType.INTEGER, ColumnType.DECIMAL)
    columns = [each for each in table.with_role(*_UNCHANGED) if each.type in numbers]
    if not columns:
        return None
    far = [
        (each.name, each.extreme)
        for each in columns
        if each.extreme is not None and each.extreme.rows < max(table.k, 2)
    ]
    if not far:
        text = "No unchanged number is far above all others and rare."
        return Answer(Status.PASS, text, _TABLE)
    name, most = far[0]
    text = msg(
        "The largest value of {name}, {most}, is more than twice the 99th percentile "
        "and held by {rows}",
        name=quoted(name),
        most=value(most.value),
        rows=counted("{n:,} row", "{n:,} rows", n=most.rows),
    )
    others = [other for other, _ in far[1:]]
    text += msg("; likewise in {others}.", others=named(others)) if others else "."
    advice = "Top-code the column: publish one value for everything above a limit."
    return Answer(Status.REVIEW, text, _TABLE, advice)


def _weights(case: Case, table: TableFacts) -> Answer | None:
    columns = table.with_role(Role.WEIGHT)
    if not columns:
        return None
    text = joined(_weight_words(each, table) for each in columns[:3])
    advice = (
        "Ask whether a weight reveals the stratum, region or non-response of a person; if so, "
        "calibrate or coarsen it."
    )
    return Answer(Status.REVIEW, text, _TABLE, advice)


def _weight_words(column: ColumnFacts, table: TableFacts) -> str:
    text = msg(
        "{name} is released unchanged, with {distinct}; {unique} have a weight of their own",
        name=quoted(column.name),
        distinct=counted("{n:,} different value", "{n:,} different values", n=column.distinct),
        unique=part(column.unique, table.rows),
    )
    if column.spread is not None:
        text += msg(
            ", and in {exposed} class and weight together leave groups below {k:,}",
            exposed=part(column.spread.exposed, table.rows),
            k=table.k,
        )
    return text + "."


def _groups(case: Case, table: TableFacts) -> Answer | None:
    columns = table.with_role(Role.CLUSTER)
    advice = "Leave the column out, or ask what the composition of a household gives away."
    whole = _households(case)
    if not columns:
        joins = bool(case.facts.release.manifest.guarantee.parameters.get("pseudonyms_of_groups"))
        status = Status.REVIEW if joins else Status.PASS
        return Answer(status, whole, Basis.EVIDENCE, advice if joins else "") if whole else None
    text = joined(
        msg(
            "{name} divides the {rows:,} rows into {distinct}, the largest of {rows2}; {unique} "
            "are alone in theirs.",
            name=quoted(each.name),
            rows=table.rows,
            distinct=counted("{n:,} group", "{n:,} groups", n=each.distinct),
            rows2=counted("{n:,} row", "{n:,} rows", n=each.top.rows),
            unique=counted("{n:,} row", "{n:,} rows", n=each.unique),
        )
        for each in columns[:3]
    )
    if whole:
        text = joined((text, whole))
    return Answer(Status.REVIEW, text, _TABLE, advice)


def _households(case: Case) -> str:
    """What the evidence says of households that are released whole; empty where none are."""
    release = case.facts.release
    found = release.evidence.risk.get("households")
    if release.manifest.guarantee.parameters.get("households") != "whole":
        return ""
    given = found if isinstance(found, Mapping) else {}
    known = {key: n for key, n in given.items() if isinstance(n, int)}
    return msg(
        "Households are released whole, {kept:,} of {all:,}, at least {fewest:,} in each class; "
        "{alone:,} of them have a composition that no other has, {few:,} one that fewer than k "
        "have.",
        kept=known.get("kept", 0),
        all=known.get("households", 0),
        fewest=known.get("fewest_in_a_class", 0),
        alone=known.get("unique_makeup", 0),
        few=known.get("makeup_below_k", 0),
    )


def _population(case: Case, table: TableFacts) -> Answer | None:
    """What the population file says of classes, and that it was judged by nothing."""
    release = case.facts.release
    asked = release.manifest.guarantee.parameters
    if not {"k_map", "delta_max"} & set(asked):
        return None
    found = release.evidence.result.get("population")
    given = found if isinstance(found, Mapping) else {}
    rows = given.get("rows")
    text = msg(
        "Classes were compared with {rows:,} rows of the population file {name}.",
        rows=rows if isinstance(rows, int) else 0,
        name=quoted(str(given.get("name", ""))),
    )
    advice = (
        "Ask what the reference date of the file is, whom it leaves out, and whether others have "
        "it."
    )
    return Answer(Status.REVIEW, text, Basis.EVIDENCE, advice)


COLUMN_ITEMS = (
    TableQuestion("identifiers", "Are all identifiers left out?", _identifiers),
    TableQuestion("forbidden-columns", "Is every forbidden column left out?", _forbidden),
    TableQuestion(
        "required-columns", "Is every required column published?", _required, always=False
    ),
    TableQuestion(
        "number-of-columns", "Are there few enough columns?", _number_of_columns, "maximum_columns"
    ),
    TableQuestion("own-values", "Does an unchanged column single people out?", _own_values),
    TableQuestion("one-column-more", "What if others know one more column?", _exposed),
    TableQuestion("raw-contents", "Are dates, free text or addresses released?", _raw_contents),
    TableQuestion(
        "extremes", "Is anyone recognisable by an extreme value?", _extremes, always=False
    ),
    TableQuestion("weights", "May the weights be published?", _weights, always=False),
    TableQuestion("groups", "May rows be linked to each other?", _groups, always=False),
    TableQuestion("population", "Is the population file the right one?", _population, always=False),
    PSEUDONYM_ITEM,
)
"""Questions about columns, in reading order."""
