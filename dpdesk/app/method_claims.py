"""Whether the checks of a method bear on all that its releases state, and on nothing else.

A check that a method makes of its own release is no more than what that method looked at. What it
states and names no check for was compared with nothing, and the claims of the program itself are
none of a method's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpdesk.app.evidence_checks import HIERARCHY_FILES_CLAIM, RECORD_CLAIM
from dpdesk.app.idle_entries import IDLE_CLAIM
from dpdesk.app.page_checks import ABOUT_CLAIM
from dpdesk.app.reports import PRINTED_CLAIM, REPORT_CLAIM
from dpdesk.app.texts import TEXTS_CLAIM
from dpdesk.core.messages import msg
from dpdesk.core.public_fields import LISTED
from dpdesk.core.release import (
    DRAWN_AS_STATED,
    FIGURES_CLAIM,
    MADE_AGAIN,
    ROWS_COMPARED,
    CheckStatus,
    ClaimCheck,
    Manifest,
)
from dpdesk.engine.method import GUARANTEE, Method
from dpdesk.engine.registry import rows_of
from dpdesk.io.release_folder import MANIFEST

_OWN = frozenset(
    (
        MADE_AGAIN,
        DRAWN_AS_STATED,
        LISTED,
        ABOUT_CLAIM,
        TEXTS_CLAIM,
        REPORT_CLAIM,
        PRINTED_CLAIM,
        FIGURES_CLAIM,
        HIERARCHY_FILES_CLAIM,
        RECORD_CLAIM,
        IDLE_CLAIM,
    )
)
_COMPARED = (CheckStatus.CONFIRMED, CheckStatus.FAILED)


def beyond(
    method: Method,
    manifest: Manifest,
    checks: Sequence[ClaimCheck],
    *,
    compared: bool = False,
) -> list[ClaimCheck]:
    """What has to be said in addition to the checks that a method made of a release.

    ``compared`` says whether the source was at hand. Empty for a method whose checks bear on the
    guarantee and on each part of the result, as it says of itself.
    """
    rows = rows_of(method)
    own = _OWN if compared and rows is not None and rows.draws else _OWN | {ROWS_COMPARED}
    text = "is not a claim that the method could check"
    more = [
        ClaimCheck(check.claim, CheckStatus.FAILED, text, MANIFEST)
        for check in checks
        if check.claim in own
    ]
    if any(check.status is CheckStatus.FAILED and not check.words for check in checks):
        return more  # the others may not have been made after it
    return [*more, *_unsaid(method, manifest, checks)]


def _unsaid(
    method: Method, manifest: Manifest, checks: Sequence[ClaimCheck]
) -> Iterator[ClaimCheck]:
    """A claim for each stated part that no check is about."""
    for part in (GUARANTEE, *sorted(manifest.result)):
        named = method.checked_by.get(part)
        told = [] if named is None else [one for one in checks if one.claim.startswith(named)]
        if part == GUARANTEE:  # words and numbers can be made again: nature is no excuse
            told = [one for one in told if one.status in _COMPARED]
        if not told:
            found = msg("the checks of the method `{id}` say nothing about it", id=method.id)
            yield ClaimCheck(_claim(part), CheckStatus.NOT_CHECKED, found, MANIFEST)


def _claim(part: str) -> str:
    return part if part == GUARANTEE else msg("result, {key}", key=part)
