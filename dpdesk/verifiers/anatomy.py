"""Checks of a release whose sensitive values stand apart, from its files and with its source.

Nothing here comes from the drawing: groups are counted from the text of both tables, and the
manifest is taken for a claim, never for a fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.release import (
    ROWS_COMPARED,
    CheckStatus,
    ClaimCheck,
    PublishedTable,
    RowDifference,
)
from dpdesk.core.schema import PLAN_ROLES, Role
from dpdesk.verifiers.anonymity.verification import compare, merged, shown, whole_number
from dpdesk.verifiers.drawing import unlikely
from dpdesk.verifiers.promises import Sentences, first_difference, in_words, parameter_fault
from dpdesk.verifiers.reading import Given, guarantee_of

MODEL, GROUP, VALUES = "anatomy", "group", "sensitive.csv"
ROWS, MANIFEST = "microdata.csv", "manifest.json"
Worded = Callable[[int, str, Mapping[str, Role]], Sentences]
"""Words a guarantee for l, the column that stands apart, and the roles of the others."""

_CONFIRMED, _FAILED, _NEEDS = CheckStatus.CONFIRMED, CheckStatus.FAILED, CheckStatus.NEEDS_SOURCE
_ROLE_KEYS = {"quasi_identifiers": Role.QUASI_IDENTIFIER} | {
    role.value: role
    for role in PLAN_ROLES
    if role not in (Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.PSEUDONYM)
}
_TOTALS = "the values of all groups together"
_PLACED = "each row of the source has a row whose group holds its value"
_APART = "values are in groups that are drawn at random"


@dataclass(frozen=True)
class Claimed:
    """What a manifest claims: l over a column, and the role of every other released one."""

    size: int
    sensitive: str
    roles: Mapping[str, Role]


def verify_public(
    manifest: Mapping[str, object], published: PublishedTable, worded: Worded, token: CancelToken
) -> tuple[ClaimCheck, ...]:
    """Check every claim that the published tables can confirm or refute."""
    claimed = _claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return (claimed,)
    values = published.beside(VALUES, token)
    checks = [_words_check(manifest, claimed, worded), *_parameter_checks(manifest, claimed)]
    if values.columns != (GROUP, "value", "count"):
        columns = ", ".join(values.columns)
        checks.append(_failed("columns of sensitive.csv", columns, "group, value, count", VALUES))
        return in_words(checks, manifest)
    checks += _group_checks(manifest, claimed, published, values, token)
    checks += [
        ClaimCheck(
            _APART,
            CheckStatus.NOT_CHECKABLE,
            "how groups were drawn is a property of the run that no file can show",
            MANIFEST,
        ),
        ClaimCheck(
            _PLACED, _NEEDS, "which value a row has can be checked only with the source", ROWS
        ),
        ClaimCheck(
            _TOTALS,
            _NEEDS,
            "how often each value occurs can be checked only with the source",
            VALUES,
        ),
    ]
    return in_words(checks, manifest)


def verify_against_source(
    manifest: Mapping[str, object],
    published: PublishedTable,
    given: Given,
    difference: RowDifference,
    worded: Worded,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """All checks of :func:`verify_public`, those that need the source settled."""
    checks = verify_public(manifest, published, worded, token)
    claimed = _claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck) or not any(check.claim == _TOTALS for check in checks):
        return checks
    expected = [
        name
        for name in given.source.columns
        if given.roles[name] is not Role.IDENTIFIER and name != claimed.sensitive
    ]
    claim = "the columns are those of the source, without identifiers"
    right = published.columns == (*expected, GROUP)
    found = "in its order" if right else "the columns or their order are different"
    settled = [ClaimCheck(claim, _CONFIRMED if right else _FAILED, found, ROWS)]
    text = msg(
        "{n:,} rows of the table are not rows of the source, and {m:,} of its rows are missing",
        n=difference.extra,
        m=difference.missing,
    )
    status = _FAILED if difference.extra or difference.missing else _CONFIRMED
    settled.append(ClaimCheck(ROWS_COMPARED, status, text, ROWS))
    if difference.unplaced is not None:
        text = msg("{n:,} rows of the source have none", n=difference.unplaced)
        status = _FAILED if difference.unplaced else _CONFIRMED
        settled.append(ClaimCheck(_PLACED, status, text, ROWS))
    pairs, rising = difference.rising
    if unlikely(pairs, rising, Fraction(1, 2)):
        text = msg(
            "of {n:,} pairs of rows with the same value, {m:,} are in groups in the order of the "
            "source, where about half would be",
            n=pairs,
            m=rising,
        )
        settled.append(ClaimCheck(_APART, _FAILED, text, ROWS))
    table = given.source.frequency_table((claimed.sensitive,), token)
    every = zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True)
    counts = {table.domains[0][code]: rows for code, rows in every}
    same = counts == dict(published.beside(VALUES, token).value_counts("value", token))
    found = "each occurs as often as in the source" if same else "they are not those of the source"
    settled.append(ClaimCheck(_TOTALS, _CONFIRMED if same else _FAILED, found, VALUES))
    return in_words(merged(checks, settled), manifest)


def _claim_of(manifest: Mapping[str, object], published: PublishedTable) -> Claimed | ClaimCheck:
    """The claim of a manifest whose columns the table has, or what is wrong with it."""
    guarantee, given = guarantee_of(manifest)
    if guarantee.get("model") != MODEL:
        return _failed("guarantee, model", guarantee.get("model"), f'"{MODEL}"')
    size, names = whole_number(given.get("l")), given.get("separated")
    if size is None or size < 2:
        return _failed("guarantee, l", given.get("l"), "a whole number of 2 or more")
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        return _failed("guarantee, separated", names, "a list with one column name")
    if not published.columns or published.columns[-1] != GROUP or names[0] in published.columns:
        expected = "group as the last column, and no column with the values that are kept apart"
        return _failed("columns", ", ".join(published.columns), expected, ROWS)
    listed: dict[str, Role] = {}
    for key, role in _ROLE_KEYS.items():
        columns = given.get(key, [])
        if not isinstance(columns, list):
            return _failed(msg("guarantee, {key}", key=key), columns, "a list of column names")
        for name in columns:
            if name in listed or name not in published.columns[:-1]:
                expected = "a column of the table that has one role"
                return _failed(msg("guarantee, {key}", key=key), name, expected)
            listed[name] = role
    for name in published.columns[:-1]:
        if name not in listed:
            claim = "every column of the table has one role"
            return ClaimCheck(
                claim, _FAILED, msg("the guarantee gives `{name}` no role", name=name), ROWS
            )
    return Claimed(size, names[0], {name: listed[name] for name in published.columns[:-1]})


def _words_check(manifest: Mapping[str, object], claimed: Claimed, worded: Worded) -> ClaimCheck:
    claim = "the words of the guarantee"
    stated, parameters = guarantee_of(manifest)
    facts: dict[str, object] = {"l": claimed.size, "separated": [claimed.sensitive]}
    for key, role in _ROLE_KEYS.items():
        if names := [name for name, given in claimed.roles.items() if given is role]:
            facts[key] = names
    wrong = parameter_fault(parameters, facts)
    if wrong:
        found = msg(
            "`{wrong}` of its parameters is not what the settings and the columns give", wrong=wrong
        )
        return ClaimCheck(claim, _FAILED, found, MANIFEST)
    words = worded(claimed.size, claimed.sensitive, claimed.roles)
    key_of = first_difference(manifest, words)
    if key_of is not None:
        text = msg("`{key}` is not what the settings and the columns give", key=key_of)
        other = words.differs_in_words(stated)
        return ClaimCheck(claim, _FAILED, text, MANIFEST, words=other)
    return ClaimCheck(claim, _CONFIRMED, "they are what the settings give", MANIFEST)


def _parameter_checks(manifest: Mapping[str, object], claimed: Claimed) -> list[ClaimCheck]:
    checks = []
    if manifest.get("method") != MODEL:
        checks.append(_failed("method", manifest.get("method"), f'"{MODEL}"'))
    given = manifest.get("parameters")
    if not isinstance(given, Mapping):
        return [*checks, _failed("parameters", given, "a table of settings")]
    if whole_number(given.get("l")) != claimed.size:
        expected = msg("{size:,} as in the guarantee", size=claimed.size)
        checks.append(_failed("parameters, l", given.get("l"), expected))
    if given.get("sensitive") not in (None, "", claimed.sensitive):
        expected = "the column of the guarantee"
        checks.append(_failed("parameters, sensitive", given.get("sensitive"), expected))
    return checks


def _group_checks(
    manifest: Mapping[str, object],
    claimed: Claimed,
    published: PublishedTable,
    values: PublishedTable,
    token: CancelToken,
) -> list[ClaimCheck]:
    """Groups as both tables have them: their numbers, their sizes, their values."""
    rows, listed = published.value_counts(GROUP, token), values.value_counts(GROUP, token)
    result = manifest.get("result")
    stated = result if isinstance(result, Mapping) else {}
    size, smallest = claimed.size, min(rows.values(), default=0)
    whole = published.rows // size
    pairs = values.group_sizes((GROUP, "value"), token).groups
    least = values.fewest_values((GROUP,), "value", token) if values.rows else 0
    numbers = {str(number + 1) for number in range(len(rows))}
    columns = ", ".join((claimed.sensitive,))
    return [
        compare("rows_out", stated.get("rows_out"), published.rows),
        compare("groups", stated.get("groups"), len(rows)),
        compare("smallest_group", stated.get("smallest_group"), smallest),
        _check(
            msg("l = {l:,} for {columns}", l=size, columns=columns),
            least >= size and pairs == values.rows,
            msg("the group with the fewest has {n:,} different values", n=least),
            VALUES,
        ),
        _check(
            "each value occurs once in its group",
            pairs == values.rows and dict(values.value_counts("count", token)) == {"1": pairs},
            msg("{n:,} lines for {m:,} pairs of group and value", n=values.rows, m=pairs),
            VALUES,
        ),
        _check(
            "groups have as many values as rows",
            dict(rows) == dict(listed),
            msg("compared for {n:,} groups", n=len({*rows, *listed})),
            VALUES,
        ),
        _check(
            "groups are numbered from 1, as many as l allows",
            {*rows} == numbers and len(rows) == whole,
            msg("{n:,} rows make {m:,} groups", n=published.rows, m=len(rows)),
            ROWS,
        ),
    ]


def _check(claim: str, confirmed: bool, found: str, path: str) -> ClaimCheck:
    return ClaimCheck(claim, _CONFIRMED if confirmed else _FAILED, found, path)


def _failed(claim: str, found: object, expected: str, path: str = MANIFEST) -> ClaimCheck:
    text = msg("found {shown}, expected {expected}", shown=shown(found), expected=expected)
    return ClaimCheck(claim, _FAILED, text, path)
