"""Checks of a diverted release against its source: rows, values, eligibility."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.jobs import CancelToken
from dpdesk.core.published import CheckStatus, ClaimCheck, PublishedTable
from dpdesk.core.schema import Role
from dpdesk.engine.diverted.verification import (
    MANIFEST,
    TABLE,
    Claimed,
    claim_of,
    value_fault,
    verify_public,
)
from dpdesk.engine.method import MethodInput
from dpdesk.engine.randomised_method import RowDifference

_CONFIRMED, _FAILED = CheckStatus.CONFIRMED, CheckStatus.FAILED


def verify_against_source(
    manifest: Mapping[str, object],
    published: PublishedTable,
    given: MethodInput,
    difference: RowDifference,
    token: CancelToken,
) -> tuple[ClaimCheck, ...]:
    """See :meth:`~dpdesk.engine.randomised_method.RandomisedMethod.verify_with_source`."""
    checks = {check.claim: check for check in verify_public(manifest, published, token)}
    claimed = claim_of(manifest, published)
    if isinstance(claimed, ClaimCheck):
        return tuple(checks.values())
    settled = [_columns_check(published, given), *_row_checks(claimed, published, given)]
    settled.append(_difference_check(claimed, difference))
    for name in claimed.diverted:
        token.check()
        counts = _source_counts(manifest, name, given, token)
        found = published.value_counts(name, token)
        fault = value_fault(name, found, counts, given.source.rows, claimed.size)
        text = fault or f"each of {len(found):,} is one of the {len(counts):,} of the source"
        status = _CONFIRMED if fault is None else _FAILED
        settled.append(ClaimCheck(f"values of {name}", status, text, TABLE))
    return tuple((checks | {check.claim: check for check in settled}).values())


def _columns_check(published: PublishedTable, given: MethodInput) -> ClaimCheck:
    claim = "the columns are those of the source, without identifiers"
    expected = tuple(
        name for name in given.source.columns if given.roles[name] is not Role.IDENTIFIER
    )
    if published.columns == expected:
        return ClaimCheck(claim, _CONFIRMED, f"{len(expected):,} columns, in its order", TABLE)
    return ClaimCheck(claim, _FAILED, "the columns or their order are others", TABLE)


def _row_checks(
    claimed: Claimed, published: PublishedTable, given: MethodInput
) -> list[ClaimCheck]:
    rows, rest = given.source.rows, given.source.rows % claimed.size
    right = claimed.rows_removed == rest and published.rows == rows - rest
    text = f"{rows:,} rows of the source leave {rest:,} over"
    return [ClaimCheck("rows_removed", _CONFIRMED if right else _FAILED, text, MANIFEST)]


def _difference_check(claimed: Claimed, difference: RowDifference) -> ClaimCheck:
    claim = "rows are those of the source, but for what was drawn"
    if difference.extra:
        text = f"{difference.extra:,} rows of the table are no rows of the source"
        return ClaimCheck(claim, _FAILED, text, TABLE)
    if difference.missing != claimed.rows_removed:
        text = f"{difference.missing:,} rows are missing, {claimed.rows_removed:,} were removed"
        return ClaimCheck(claim, _FAILED, text, TABLE)
    text = f"compared row by row; {difference.missing:,} are missing, as many as were removed"
    return ClaimCheck(claim, _CONFIRMED, text, TABLE)


def _source_counts(
    manifest: Mapping[str, object], name: str, given: MethodInput, token: CancelToken
) -> dict[str, object]:
    """Rows of the source by the text that a column releases for them."""
    parameters = manifest.get("parameters")
    levels = parameters.get("levels") if isinstance(parameters, Mapping) else None
    level = levels.get(name, 0) if isinstance(levels, Mapping) else 0
    table = given.source.frequency_table((name,), token)
    released = {value: value for value in table.domains[0]}
    if level:
        rows = {row[0]: row for row in given.hierarchies[name].rows()}
        last = len(next(iter(rows.values()))) - 1
        top = next(iter(rows.values()))[last]
        lone = top if level == last else ""
        released = {
            value: rows[value][level] if value in rows else lone or value for value in released
        }
    counts: dict[str, object] = {}
    for code, count in zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True):
        text = released[table.domains[0][code]]
        counts[text] = int(str(counts.get(text, 0))) + count
    return counts
