"""Checks of a diverted release from its published files.

Nothing here comes from the mechanism: values are counted from the text of the released rows, and
the manifest is taken for a claim, never for a fact. That values were drawn as they should be is a
property of the run that no file can show, and the checks say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isclose, sqrt

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.recoding import Recoding
from dpdesk.core.release import (
    ROWS_COMPARED,
    CheckStatus,
    ClaimCheck,
    LinkedRows,
    PublishedTable,
    RowDifference,
)
from dpdesk.core.schema import PLAN_ROLES, Role
from dpdesk.verifiers.anonymity import remaking as anonymity
from dpdesk.verifiers.anonymity.evidence import alone_in
from dpdesk.verifiers.anonymity.verification import compare, shown, whole_number
from dpdesk.verifiers.drawing import drawn_check
from dpdesk.verifiers.promises import Sentences, first_difference, in_words, parameter_fault
from dpdesk.verifiers.reading import Given, guarantee_of

# Whether what the evidence tells reviewers follows from its value counts, and these from the data.
#
# Written apart from the code that made these figures.


_CLOSE = 1e-9
_THOUSAND = 1000


def figures_fault(
    evidence: Mapping[str, object],
    counts: Mapping[str, Mapping[str, int]],
    size: int,
    result: Mapping[str, object],
) -> str | None:
    """Why risk or figures of the evidence are not those of ℓ′ and the value counts, or None.

    ``counts`` holds the rows of each value of every drawn column, checked before; ``result`` is
    that of the manifest.
    """
    beliefs = _table(_table(evidence.get("risk")).get("beliefs"))
    if set(beliefs) != set(counts):
        return "`beliefs` of its risk are not of the columns that were drawn"
    for name, rows in counts.items():
        found = _table(beliefs[name])
        for key, expected in _beliefs(rows, size).items():
            if not _same(found.get(key), expected):
                return msg(
                    "`{key}` of its risk is not what ℓ′ and the values of `{name}` give",
                    key=key,
                    name=name,
                )
    told = {
        "belief": 1 / size,
        "deviation": sqrt(_THOUSAND - _THOUSAND / size),
        "largest_l": min(sum(rows.values()) // max(rows.values()) for rows in counts.values()),
        **{key: result[key] for key in ("rows_removed", "rows_suppressed") if key in result},
    }
    listed = evidence.get("figures")
    items = listed if isinstance(listed, list | tuple) else ()
    figures = {item.get("key"): item.get("value") for item in items if isinstance(item, Mapping)}
    for key, value in told.items():
        if not _same(figures.get(key), value):
            return msg("`{key}` of its figures is not what ℓ′ and the value counts give", key=key)
    return None


def source_counts_fault(
    name: str, recorded: Mapping[str, object], source: Mapping[str, int], all_rows: bool
) -> str | None:
    """Why recorded value counts cannot be those of the source, or None.

    With ``all_rows`` they must be equal; else rows were suppressed before they were counted, so
    that none may be larger.
    """
    if all_rows and dict(recorded) != dict(source):
        return msg("`value_counts` of `{name}` are not those of the source", name=name)
    for value, rows in recorded.items():
        if not isinstance(rows, int) or rows > source.get(value, 0):
            return msg(
                "`value_counts` of `{name}` has more rows of a value than the source", name=name
            )
    return None


def _beliefs(rows: Mapping[str, int], size: int) -> dict[str, float]:
    total, most = sum(rows.values()), max(rows.values())
    return {
        "values": len(rows),
        "rows": total,
        "most_rows_of_a_value": most,
        "rows_allowed": total // size,
        "belief_before_rarest": min(rows.values()) / total,
        "belief_before_most_frequent": most / total,
        "belief_after": 1 / size,
    }


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _same(found: object, expected: object) -> bool:
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    return isinstance(expected, int | float) and isclose(found, expected, rel_tol=_CLOSE)


MODEL = "l-diverted zero-differential privacy"
Worded = Callable[[int, Sequence[str], Mapping[str, Role], int, int | None, int], Sentences]
"""Words a guarantee for ℓ′, drawn columns, roles, rows removed, k, and rows suppressed."""
TABLE = "microdata.csv"
MANIFEST = "manifest.json"

_CONFIRMED, _FAILED = CheckStatus.CONFIRMED, CheckStatus.FAILED
_ROLE_KEYS = {role.value: role for role in PLAN_ROLES if role is not Role.IDENTIFIER} | {
    "quasi_identifiers": Role.QUASI_IDENTIFIER
}


@dataclass(frozen=True)
class Claimed:
    """What a manifest claims at its heart: ℓ′ over these columns, and the role of every column."""

    size: int
    diverted: tuple[str, ...]
    roles: Mapping[str, Role]
    rows_removed: int
    k: int | None = None
    rows_suppressed: int = 0

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that others may know, in file order."""
        return tuple(n for n, role in self.roles.items() if role is Role.QUASI_IDENTIFIER)


def verify_public(
    manifest: Mapping[str, object],
    published: PublishedTable,
    worded: Worded,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """Check every claim of ``manifest`` that the published table can confirm or refute.

    A manifest that is malformed gives failed checks that say what was expected; nothing is raised
    but what reading the table raises.
    """
    claimed = claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return (claimed,)
    checks = [_nature_check(claimed), _words_check(manifest, claimed, worded)]
    checks += _parameter_checks(manifest, claimed)
    result = _mapping(manifest["result"])
    checks += _row_checks(result, claimed, published)
    if claimed.k is not None:
        checks += _k_checks(claimed.k, claimed, result, published, token)
        checks.append(limit_check(manifest, claimed, published.rows, CheckStatus.NEEDS_SOURCE))
    for name in claimed.diverted:
        token.check()
        checks.append(_values_check(name, published.value_counts(name, token), claimed))
    return in_words(checks, manifest)


def drawn_columns(manifest: Mapping[str, object]) -> frozenset[str]:
    """The columns that the guarantee calls diverted, as far as it can be read."""
    names = _mapping(_mapping(manifest.get("guarantee")).get("parameters")).get("diverted")
    listed = names if isinstance(names, list | tuple) else ()
    return frozenset(name for name in listed if isinstance(name, str))


def claim_of(manifest: Mapping[str, object], published: PublishedTable) -> Claimed | ClaimCheck:
    """The claim of a manifest whose columns the table has, or what is wrong with it."""
    guarantee, result = manifest.get("guarantee"), manifest.get("result")
    if not isinstance(guarantee, Mapping) or not isinstance(guarantee.get("parameters"), Mapping):
        return _bad("guarantee", guarantee, "a table with `model`, `parameters` and `claim`")
    if guarantee.get("model") != MODEL:
        return _bad("guarantee, model", guarantee.get("model"), f'"{MODEL}"')
    if not isinstance(result, Mapping):
        return _bad("result", result, "a table of figures")
    given = guarantee["parameters"]
    size, removed = whole_number(given.get("l")), whole_number(result.get("rows_removed"))
    if size is None or size < 2:
        return _bad("guarantee, l", given.get("l"), "a whole number of 2 or more")
    if removed is None or removed >= size:
        expected = msg("a whole number below ℓ′ = {size:,}", size=size)
        return _bad("rows_removed", result.get("rows_removed"), expected)
    roles = _roles(given, published)
    if isinstance(roles, ClaimCheck):
        return roles
    names = given.get("diverted")
    if not isinstance(names, list | tuple) or not names or len(set(names)) != len(names):
        return _bad("guarantee, diverted", names, "a list of different column names")
    for name in names:
        if roles.get(name) is not Role.SENSITIVE:
            return _bad("guarantee, diverted", name, "a column of the table that is sensitive")
    k, suppressed = whole_number(given.get("k")), whole_number(result.get("rows_suppressed", 0))
    if "k" in given and (k is None or k < 2 or Role.QUASI_IDENTIFIER not in roles.values()):
        return _bad("guarantee, k", given.get("k"), "2 or more, with quasi-identifiers")
    if suppressed is None or (k is None) is ("rows_suppressed" in result):
        found = result.get("rows_suppressed")
        return _bad("rows_suppressed", found, "a number of rows, where k is claimed")
    return Claimed(size, tuple(names), roles, removed, k, suppressed)


def _roles(given: Mapping[str, object], published: PublishedTable) -> dict[str, Role] | ClaimCheck:
    """The role of every published column, in file order; each must have exactly one."""
    listed: dict[str, Role] = {}
    for key, role in _ROLE_KEYS.items():
        names = given.get(key, [])
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            return _bad(msg("guarantee, {key}", key=key), names, "a list of column names")
        for name in names:
            if name in listed or name not in published.columns:
                return _bad(
                    msg("guarantee, {key}", key=key),
                    name,
                    "a column of the table that has one role",
                )
            listed[name] = role
    claim = "every column of the table has one role"
    for name in published.columns:
        if name not in listed:
            return ClaimCheck(
                claim, _FAILED, msg("the guarantee gives `{name}` no role", name=name), TABLE
            )
    return {name: listed[name] for name in published.columns}


def _nature_check(claimed: Claimed) -> ClaimCheck:
    return ClaimCheck(
        msg("ℓ′ = {n:,} for {columns}", n=claimed.size, columns=", ".join(claimed.diverted)),
        CheckStatus.NOT_CHECKABLE,
        "how values were drawn is a property of the run: no file can show it, and the groups were "
        "kept nowhere",
        MANIFEST,
    )


def _words_check(manifest: Mapping[str, object], claimed: Claimed, worded: Worded) -> ClaimCheck:
    claim = "the words of the guarantee"
    stated, parameters = guarantee_of(manifest)
    wrong = parameter_fault(parameters, _facts(claimed))
    if wrong:
        found = msg(
            "`{wrong}` of its parameters is not what the settings and the columns give", wrong=wrong
        )
        return ClaimCheck(claim, _FAILED, found, MANIFEST)
    words = worded(
        claimed.size,
        claimed.diverted,
        claimed.roles,
        claimed.rows_removed,
        claimed.k,
        claimed.rows_suppressed,
    )
    key = first_difference(manifest, words)
    if key is not None:
        text = msg("`{key}` is not what the settings and the columns give", key=key)
        other = words.differs_in_words(stated)
        return ClaimCheck(claim, _FAILED, text, MANIFEST, words=other)
    return ClaimCheck(claim, _CONFIRMED, "they are what the settings give", MANIFEST)


def _facts(claimed: Claimed) -> dict[str, object]:
    """The parameters of the guarantee, from ℓ′, k and the columns."""
    found: dict[str, object] = {"l": claimed.size, "diverted": list(claimed.diverted)}
    if claimed.k is not None:
        found["k"] = claimed.k
    for key, role in _ROLE_KEYS.items():
        names = [name for name, given in claimed.roles.items() if given is role]
        if names and (role is not Role.QUASI_IDENTIFIER or key == "quasi_identifiers"):
            found[key] = names
    return found


def _parameter_checks(manifest: Mapping[str, object], claimed: Claimed) -> list[ClaimCheck]:
    checks = []
    if manifest.get("method") != "l-diverted":
        checks.append(_bad("method", manifest.get("method"), '"l-diverted"'))
    given = manifest.get("parameters")
    if not isinstance(given, Mapping):
        return [*checks, _bad("parameters", given, "a table of settings")]
    if whole_number(given.get("l")) != claimed.size:
        expected = msg("{size:,} as in the guarantee", size=claimed.size)
        checks.append(_bad("parameters, l", given.get("l"), expected))
    if given.get("k") != claimed.k:
        checks.append(_bad("parameters, k", given.get("k"), "k as in the guarantee"))
    named = given.get("sensitive")
    listed = isinstance(named, list | tuple)
    if named is not None and (not listed or set(named) != set(claimed.diverted)):
        checks.append(_bad("parameters, sensitive", named, "the columns of the guarantee"))
    return checks


def _row_checks(result: object, claimed: Claimed, published: PublishedTable) -> list[ClaimCheck]:
    claim = "the number of rows is a multiple of ℓ′"
    rest = published.rows % claimed.size
    text = msg("{n:,} rows make {m:,} groups", n=published.rows, m=published.rows // claimed.size)
    if published.rows == 0:
        whole = ClaimCheck(claim, _FAILED, "the table has no rows", TABLE)
    elif rest:
        found = msg("{n:,} rows leave {m:,} over", n=published.rows, m=rest)
        whole = ClaimCheck(claim, _FAILED, found, TABLE)
    else:
        whole = ClaimCheck(claim, _CONFIRMED, text, TABLE)
    removed = ClaimCheck(
        "rows_removed",
        CheckStatus.NEEDS_SOURCE,
        msg(
            "the manifest says {n:,}, fewer than ℓ′ = {m:,}", n=claimed.rows_removed, m=claimed.size
        ),
        MANIFEST,
    )
    rows_out = _mapping(result).get("rows_out")
    return [whole, compare("rows_out", rows_out, published.rows), removed]


def _k_checks(
    k: int,
    claimed: Claimed,
    result: Mapping[str, object],
    published: PublishedTable,
    token: CancelToken,
) -> list[ClaimCheck]:
    names = claimed.quasi_identifiers
    sizes, claim = (
        published.group_sizes(names, token),
        msg("k = {k:,} over {columns}", k=k, columns=", ".join(names)),
    )
    text = msg(
        "counted {n:,} combinations; the smallest covers {least:,}",
        n=sizes.groups,
        least=sizes.smallest,
    )
    status = _CONFIRMED if sizes.rows and sizes.smallest >= k else _FAILED
    node = result.get("node")
    levels = node if isinstance(node, Mapping) else {}
    if set(levels) != set(names) or any(whole_number(level) is None for level in levels.values()):
        shape = _bad("node", node, "a level for each quasi-identifier")
    else:
        said = ", ".join(f"{name} {level}" for name, level in levels.items())
        shape = ClaimCheck(
            "node", CheckStatus.NEEDS_SOURCE, msg("the manifest says {text}", text=said), MANIFEST
        )
    lost = msg("the manifest says {n:,} rows", n=claimed.rows_suppressed)
    return [
        ClaimCheck(claim, status, text, TABLE),
        shape,
        ClaimCheck("rows_suppressed", CheckStatus.NEEDS_SOURCE, lost, MANIFEST),
    ]


def limit_check(
    manifest: Mapping[str, object], claimed: Claimed, rows_out: int, within: CheckStatus
) -> ClaimCheck:
    """Whether no more rows are suppressed than ``max_suppression`` allows; ``within`` if so."""
    claim = "suppression within max_suppression"
    given = _mapping(manifest.get("parameters")).get("max_suppression", 0)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        return _bad(claim, given, "a share from 0 to 1")
    rows = rows_out + claimed.rows_removed + claimed.rows_suppressed
    allowed = int(Fraction(repr(given)) * rows)
    status = within if claimed.rows_suppressed <= allowed else _FAILED
    text = msg(
        "{n:,} of {rows:,} rows, {allowed:,} allowed",
        n=claimed.rows_suppressed,
        rows=rows,
        allowed=allowed,
    )
    return ClaimCheck(claim, status, text, MANIFEST)


def _values_check(name: str, counts: Mapping[str, int], claimed: Claimed) -> ClaimCheck:
    text = msg(
        "{n:,} different values are published; which ones the source has can be "
        "checked only with the source",
        n=len(counts),
    )
    return ClaimCheck(msg("values of {column}", column=name), CheckStatus.NEEDS_SOURCE, text, TABLE)


def evidence_fault(
    manifest: Mapping[str, object],
    evidence: Mapping[str, object],
    published: PublishedTable,
    token: CancelToken,
) -> str | None:
    """Why the counts in the evidence cannot belong to this manifest and table, or None."""
    claimed = claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return None
    result = _mapping(evidence.get("result"))
    for key, value in _mapping(manifest["result"]).items():
        if result.get(key) != value:
            return msg("`{key}` of its result is not the one of the manifest", key=key)
    rows = published.rows + claimed.rows_removed
    source = _mapping(evidence.get("source"))
    if source.get("rows") != rows + claimed.rows_suppressed:
        return "its source has another number of rows than the release and what was taken away"
    recorded = _mapping(result.get("value_counts"))
    if set(recorded) != set(claimed.diverted):
        return "`value_counts` are not of the columns that were drawn"
    whole: dict[str, dict[str, int]] = {}
    for name in claimed.diverted:
        counts = _mapping(recorded[name])
        fault = counts_fault(name, counts, rows, claimed.size) or value_fault(
            name, published.value_counts(name, token), counts, claimed.size
        )
        if fault is not None:
            return msg("`value_counts` does not fit the table: {fault}", fault=fault)
        whole[name] = {value: whole_number(count) or 0 for value, count in counts.items()}
    fault = _alone_fault(evidence, claimed, published, token)
    return fault or figures_fault(evidence, whole, claimed.size, _mapping(manifest["result"]))


def _alone_fault(
    evidence: Mapping[str, object], claimed: Claimed, published: PublishedTable, token: CancelToken
) -> str | None:
    """Whether so many rows can be alone by the columns that were not drawn, as the table has them.

    They were counted before rows were taken away, each of which was alone, or left another alone.
    """
    told = _table(evidence.get("risk")).get("rows_alone")
    others = [name for name in published.columns if name not in claimed.diverted]
    if told is None or not others:
        return None
    found, gone = alone_in(published, others, token), claimed.rows_removed + claimed.rows_suppressed
    count = whole_number(told)
    if count is None or abs(count - found) > gone:
        return msg("`{key}` of its risk is not what the table gives", key="rows_alone")
    return None


def counts_fault(name: str, counts: Mapping[str, object], rows: int, size: int) -> str | None:
    """Why a column with these values is not one of so many rows that can be drawn, or None."""
    numbers = [whole_number(count) for count in counts.values()]
    if None in numbers or sum(number or 0 for number in numbers) != rows:
        return msg("the values of `{name}` do not add up to {rows:,} rows", name=name, rows=rows)
    most = max((number or 0 for number in numbers), default=0)
    if most * size > rows:
        return msg(
            "a value of `{name}` has {most:,} of {rows:,} rows, too many for ℓ′ = {size:,}",
            name=name,
            most=most,
            rows=rows,
            size=size,
        )
    return None


def value_fault(
    name: str, published: Mapping[str, int], source: Mapping[str, object], size: int
) -> str | None:
    """Why published values cannot come from a column with these values, or None.

    A value of f rows is in f groups, so at most ℓ′·f rows can publish it. No more than that holds
    for certain: published counts may well be above N/ℓ′.
    """
    for value, found in published.items():
        there = whole_number(source.get(value)) or 0
        if not there:
            return msg(
                "`{name}` publishes {value}, which the source does not have",
                name=name,
                value=shown(value),
            )
        if found > size * there:
            return msg(
                "`{name}` publishes {value} {found:,} times, at most {size:,} can",
                name=name,
                value=shown(value),
                found=found,
                size=size * there,
            )
    return None


def _bad(claim: str, found: object, expected: str) -> ClaimCheck:
    return ClaimCheck(
        claim,
        _FAILED,
        msg("found {shown}, expected {expected}", shown=shown(found), expected=expected),
        MANIFEST,
    )


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


# Checks of a diverted release against its source: rows, values, eligibility.


def verify_against_source(
    manifest: Mapping[str, object],
    published: PublishedTable,
    given: Given,
    difference: RowDifference,
    worded: Worded,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """All checks of :func:`verify_public`, those that need the source settled.

    ``difference`` compares the rows of the table with those of the source.
    """
    checks = {check.claim: check for check in verify_public(manifest, published, worded, token)}
    claimed = claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return tuple(checks.values())
    recoding = claimed_recoding(manifest, given, token)
    settled = [
        _columns_check(published, given),
        *_source_row_checks(claimed, published, given, recoding),
        _difference_check(claimed, difference),
        *(
            (_node_check(recoding), limit_check(manifest, claimed, published.rows, _CONFIRMED))
            if recoding is not None
            else ()
        ),
    ]
    for name in claimed.diverted:
        token.check()
        counts = _source_counts(manifest, name, given, token)
        found = published.value_counts(name, token)
        fault = value_fault(name, found, counts, claimed.size)
        if fault is None and claimed.k is None:
            fault = counts_fault(name, counts, given.source.rows, claimed.size)
        text = fault or msg(
            "each of {n:,} is one of the {m:,} of the source", n=len(found), m=len(counts)
        )
        status = _CONFIRMED if fault is None else _FAILED
        settled.append(ClaimCheck(msg("values of {column}", column=name), status, text, TABLE))
    whole = checks | {check.claim: check for check in settled}
    return in_words(tuple(whole.values()), manifest)


def evidence_source_fault(
    manifest: Mapping[str, object],
    evidence: Mapping[str, object],
    given: Given,
    token: CancelToken,
) -> str | None:
    """Why the value counts in the evidence cannot be those of the source, or None.

    Where classes were suppressed for k, only that none is larger.
    """
    result = evidence.get("result")
    recorded = result.get("value_counts") if isinstance(result, Mapping) else None
    if not isinstance(recorded, Mapping):
        return "gives no `value_counts`"
    for name, counts in recorded.items():
        token.check()
        source = _source_counts(manifest, name, given, token)
        fault = source_counts_fault(name, counts, source, given.parameters.get("k") is None)
        if fault is not None:
            return fault
    return None


def claimed_recoding(
    manifest: Mapping[str, object], given: Given, token: CancelToken
) -> Recoding | None:
    """What a manifest claims was done to the quasi-identifiers first, None when it claims nothing.

    From the source and the plan's hierarchies alone; raises what a malformed manifest raises.
    """
    guarantee, result = manifest["guarantee"], manifest["result"]
    parameters = guarantee["parameters"] if isinstance(guarantee, Mapping) else {}
    k = parameters.get("k") if isinstance(parameters, Mapping) else None
    if k is None or not isinstance(result, Mapping):
        return None
    node, names = (
        result["node"],
        [name for name, role in given.roles.items() if role is Role.QUASI_IDENTIFIER],
    )
    if not isinstance(k, int) or not isinstance(node, Mapping):
        raise TypeError("k or the levels are malformed")
    levels = {name: int(node[name]) for name in names}
    return anonymity.claimed_recoding(
        k, (), levels, given.source, given.roles, given.hierarchies, token
    )


def draws_check(
    manifest: Mapping[str, object], given: Given, linked: LinkedRows, token: CancelToken
) -> ClaimCheck:
    """How often rows that are known again show their own value: each with a chance of 1 in ℓ′."""
    size, tallies = whole_number(guarantee_of(manifest)[1].get("l")) or 1, []
    for name, tally in linked.shown.items():
        released = _released_texts(manifest, name, given, token)
        own = sum(rows for (value, text), rows in tally.items() if released[value] == text)
        tallies.append((sum(tally.values()), own, Fraction(1, size)))
    return drawn_check(tallies, linked.alone, linked.neighbours)


def _node_check(recoding: Recoding) -> ClaimCheck:
    """The rows are compared with the source at these levels, so they are settled with the rows."""
    text = msg(
        "the rows of the table were compared with those of the source at these levels of {columns}",
        columns=", ".join(recoding.attributes),
    )
    return ClaimCheck("node", _CONFIRMED, text, MANIFEST)


def _columns_check(published: PublishedTable, given: Given) -> ClaimCheck:
    claim = "the columns are those of the source, without identifiers"
    expected = tuple(
        name for name in given.source.columns if given.roles[name] is not Role.IDENTIFIER
    )
    if published.columns == expected:
        return ClaimCheck(
            claim, _CONFIRMED, msg("{n:,} columns, in its order", n=len(expected)), TABLE
        )
    return ClaimCheck(claim, _FAILED, "the columns or their order are different", TABLE)


def _source_row_checks(
    claimed: Claimed, published: PublishedTable, given: Given, recoding: Recoding | None
) -> list[ClaimCheck]:
    rows = given.source.rows - claimed.rows_suppressed
    rest = rows % claimed.size
    right = claimed.rows_removed == rest and published.rows == rows - rest
    text = msg("{n:,} rows of the source leave {m:,} over", n=rows, m=rest)
    checks = [ClaimCheck("rows_removed", _CONFIRMED if right else _FAILED, text, MANIFEST)]
    if recoding is not None:
        least = recoding.rows_suppressed
        text = msg(
            "{n:,} rows are in classes below k, and {m:,} are left out",
            n=least,
            m=claimed.rows_suppressed,
        )
        status = _CONFIRMED if claimed.rows_suppressed >= least else _FAILED
        checks.append(ClaimCheck("rows_suppressed", status, text, MANIFEST))
    return checks


def _difference_check(claimed: Claimed, difference: RowDifference) -> ClaimCheck:
    claim = ROWS_COMPARED
    taken = claimed.rows_removed + claimed.rows_suppressed
    if difference.extra:
        text = msg("{n:,} rows of the table are not rows of the source", n=difference.extra)
        return ClaimCheck(claim, _FAILED, text, TABLE)
    if difference.missing != taken:
        text = msg("{n:,} rows are missing, {m:,} were taken away", n=difference.missing, m=taken)
        return ClaimCheck(claim, _FAILED, text, TABLE)
    text = msg(
        "compared row by row; {n:,} are missing, as many as were taken away", n=difference.missing
    )
    return ClaimCheck(claim, _CONFIRMED, text, TABLE)


def _source_counts(
    manifest: Mapping[str, object], name: str, given: Given, token: CancelToken
) -> dict[str, int]:
    """Rows of the source by the text that a column releases for them."""
    table = given.source.frequency_table((name,), token)
    released = _released_texts(manifest, name, given, token)
    counts: dict[str, int] = {}
    for code, count in zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True):
        text = released[table.domains[0][code]]
        counts[text] = counts.get(text, 0) + count
    return counts


def _released_texts(
    manifest: Mapping[str, object], name: str, given: Given, token: CancelToken
) -> dict[str, str]:
    """The text that a drawn column releases for each value of the source."""
    parameters = manifest.get("parameters")
    levels = parameters.get("levels") if isinstance(parameters, Mapping) else None
    level = levels.get(name, 0) if isinstance(levels, Mapping) else 0
    table = given.source.frequency_table((name,), token)
    if level:
        return anonymity.released_texts(table, 0, given.hierarchies[name], level)
    return {value: value for value in table.domains[0]}
