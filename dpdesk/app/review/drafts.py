"""Votes in the making: kept on this computer alone until they are signed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from dpdesk.app.context import AppContext
from dpdesk.core.errors import DpdeskError

if TYPE_CHECKING:
    from dpdesk.project.review.cards import Card
    from dpdesk.project.review.drafts import DraftBox, KeptDraft
    from dpdesk.project.review.state import ReviewState


def kept_drafts(
    context: AppContext, state: ReviewState, cards: Iterable[Card]
) -> Mapping[str, KeptDraft]:
    """What the holders of these keys have decided of the current submission, by fingerprint.

    What was decided in the round before and not signed comes along, as far as it is about the same
    bytes and figures; the rest is named in ``void``. Drafts of a review that is over are removed.
    """
    from dpdesk.project.review.drafts import DraftBox, carried
    from dpdesk.project.review.events import EventType
    from dpdesk.project.review.permissions import permissions
    from dpdesk.project.review.state import Status

    if state.current is None:
        return {}
    box, found = DraftBox(context.home), {}
    submission, payload = state.current.submission.id, state.current.payload
    over = state.ok and state.status in (Status.RELEASED, Status.SUPERSEDED)
    for card in cards:
        if over:
            _tidy(box, submission, card)
        elif permissions(state, card)[EventType.BALLOT].allowed:
            kept = box.find(submission, card.fingerprint)
            if kept is None and payload.previous is not None:
                kept = box.find(payload.previous, card.fingerprint)
            if kept is None:
                continue
            found[card.fingerprint] = carried(kept, submission, payload)
            if kept.submission != submission:
                with suppress(DpdeskError):  # it is carried over again the next time
                    box.keep(found[card.fingerprint])
                    box.remove(kept.submission, card.fingerprint)
    return found


def _tidy(box: DraftBox, submission: str, card: Card) -> None:
    with suppress(DpdeskError):
        box.remove(submission, card.fingerprint)


def keep_draft(context: AppContext, draft: KeptDraft) -> None:
    """Keep what a reviewer has decided so far. Raises StorageError."""
    from dpdesk.project.review.drafts import DraftBox

    DraftBox(context.home).keep(draft)


def forget_draft(context: AppContext, submission: str, reviewer: str) -> None:
    """Remove what was kept, when the vote is signed. Raises StorageError."""
    from dpdesk.project.review.drafts import DraftBox

    DraftBox(context.home).remove(submission, reviewer)
