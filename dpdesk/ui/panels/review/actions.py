"""What a person may do with a review now, which button leads on, and why others are off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from PySide6.QtCore import QCoreApplication

from dpdesk.app.review.values import Card, EventType, ReviewPicture, why_not_lock
from dpdesk.core.messages import msg
from dpdesk.ui.panels.review.deciding import Draft
from dpdesk.ui.panels.review.review_status import standing_of
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate


class Beside(StrEnum):
    """What is signed beside the review, not in it."""

    LOCK = "lock"


Action: TypeAlias = EventType | Beside
ORDER: tuple[Action, ...] = (
    EventType.SUBMIT,
    EventType.START,
    EventType.BALLOT,
    EventType.REVEAL,
    EventType.RELEASE,
    EventType.MERGE,
    EventType.WITHDRAW,
    EventType.SUPERSEDE,
    Beside.LOCK,
)
# The steps of every review show always; what else there is, only while it can be done.
STEPS = ORDER[:5]
# What leads on comes first; joining copies and withdrawing are never the one thing to do.
_LEADING = (EventType.RELEASE, EventType.REVEAL, EventType.BALLOT, EventType.START)


@dataclass(frozen=True)
class Doable:
    """For each action why it is off (empty: it is not), and the one that leads on."""

    reasons: Mapping[Action, str]
    primary: Action | None

    def lines(self) -> tuple[str, ...]:
        """The reasons as lines, each once; it stands alone where it is against everything."""
        against: dict[str, list[str]] = {}
        for one, reason in self.reasons.items():
            against.setdefault(reason, []).append(action_words(one))
        if len(against) == 1:
            return tuple(reason for reason in against if reason)
        return tuple(
            msg("{file}: {note}", file=", ".join(names), note=reason)
            for reason, names in against.items()
            if reason
        )


def doable(picture: ReviewPicture, card: Card | None, draft: Draft | None) -> Doable:
    """What the holder of a key may do now."""
    rights = picture.rights(card)
    reasons: dict[Action, str] = {
        action: said(rights[action].reason) for action in ORDER if isinstance(action, EventType)
    }
    reasons[Beside.LOCK] = _why_not_lock(picture, card)
    found = standing_of(picture)
    for action in ORDER:
        settles = action in (EventType.MERGE, EventType.WITHDRAW)
        if found.spoiled and not reasons[action] and not settles:
            reasons[action] = found.faults[0]
    if not reasons[EventType.BALLOT] and draft is not None and not draft.complete:
        text = translate("Review", "Decide every check and every file first: {n}.")
        reasons[EventType.BALLOT] = text.format(n=draft.words())
    leading: list[Action] = [one for one in _LEADING if not reasons[one]]
    if not reasons[EventType.SUBMIT] and picture.state.current is None:
        leading.append(EventType.SUBMIT)
    return Doable(reasons, leading[0] if leading else None)


def _why_not_lock(picture: ReviewPicture, card: Card | None) -> str:
    if card is None:
        return said(picture.rights(None)[EventType.MERGE].reason)
    return said(why_not_lock(picture.state))


def action_words(action: Action) -> str:
    """The name of an action."""
    texts: dict[Action, str] = {
        EventType.SUBMIT: translate("Review", "Submit for review"),
        EventType.START: translate("Review", "Begin the review"),
        EventType.BALLOT: translate("Review", "Sign the vote"),
        EventType.REVEAL: translate("Review", "Reveal the vote"),
        EventType.RELEASE: translate("Review", "Release"),
        EventType.MERGE: translate("Review", "Join copies"),
        EventType.WITHDRAW: translate("Review", "Withdraw"),
        EventType.SUPERSEDE: translate("Review", "Supersede"),
        Beside.LOCK: translate("Review", "Lock the protocol"),
    }
    return texts[action]


def meaning(action: Action) -> str:
    """What signing this means, in a sentence or two."""
    texts: dict[Action, str] = {
        EventType.SUBMIT: translate(
            "Review",
            "You sign every file, the plan and the checklist as the author. Any change of a file "
            "afterwards breaks the submission.",
        ),
        EventType.START: translate("Review", "Others see that you have begun to review."),
        EventType.BALLOT: translate(
            "Review",
            "Your vote is sealed until all votes are in, and cannot be changed any more.",
        ),
        EventType.REVEAL: translate("Review", "Everybody reads your vote from now on."),
        EventType.RELEASE: translate(
            "Review",
            "This is final: it can never be taken back, only be superseded by another release.",
        ),
        EventType.MERGE: translate(
            "Review",
            "What reviewers signed in their own copies comes into this folder, and you sign that "
            "all of it is here. What this computer has seen before is put back, too.",
        ),
        EventType.WITHDRAW: translate(
            "Review", "You take your submission back; you can submit again later."
        ),
        EventType.SUPERSEDE: translate(
            "Review",
            "You say for good that another release takes the place of this one. That one must be "
            "reviewed and released itself.",
        ),
        Beside.LOCK: translate(
            "Review",
            "You sign the way in which this release was made: roles, hierarchies, method, rules. "
            "Others apply it to later data, and only source and title may differ then.",
        ),
    }
    return texts[action]
