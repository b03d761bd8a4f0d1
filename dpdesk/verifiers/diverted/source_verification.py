"""Checks of a diverted release against its source: rows, values, eligibility."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.published import (
    ROWS_COMPARED,
    CheckStatus,
    ClaimCheck,
    PublishedTable,
    RowDifference,
)
from dpdesk.core.recoding import Recoding
from dpdesk.core.schema import Role
from dpdesk.verifiers.anonymity import remaking as anonymity
from dpdesk.verifiers.diverted.verification import (
    MANIFEST,
    TABLE,
    Claimed,
    Worded,
    claim_of,
    counts_fault,
    limit_check,
    source_counts_fault,
    value_fault,
    verify_public,
)
from dpdesk.verifiers.promises import in_words
from dpdesk.verifiers.reading import Given

_CONFIRMED, _FAILED = CheckStatus.CONFIRMED, CheckStatus.FAILED


def verify_against_source(
    manifest: Mapping[str, object],
    published: PublishedTable,
    given: Given,
    difference: RowDifference,
    worded: Worded,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """All checks of :func:`~.verification.verify_public`, those that need the source settled.

    ``difference`` compares the rows of the table with those of the source.
    """
    checks = {check.claim: check for check in verify_public(manifest, published, worded, token)}
    claimed = claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return tuple(checks.values())
    recoding = claimed_recoding(manifest, given, token)
    settled = [
        _columns_check(published, given),
        *_row_checks(claimed, published, given, recoding),
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
    return ClaimCheck(claim, _FAILED, "the columns or their order are others", TABLE)


def _row_checks(
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
    parameters = manifest.get("parameters")
    levels = parameters.get("levels") if isinstance(parameters, Mapping) else None
    level = levels.get(name, 0) if isinstance(levels, Mapping) else 0
    table = given.source.frequency_table((name,), token)
    released = {value: value for value in table.domains[0]}
    if level:
        released = anonymity.released_texts(table, 0, given.hierarchies[name], level)
    counts: dict[str, int] = {}
    for code, count in zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True):
        text = released[table.domains[0][code]]
        counts[text] = counts.get(text, 0) + count
    return counts
