"""What a person may do with a review now, which button leads on, and why others are off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from dpdesk.app.review.values import Card, EventType, ReviewPicture
from dpdesk.ui.panels.review.deciding import Draft
from dpdesk.ui.panels.review.standing import standing_of

translate = QCoreApplication.translate
ORDER = (
    EventType.SUBMIT,
    EventType.START,
    EventType.BALLOT,
    EventType.REVEAL,
    EventType.RELEASE,
    EventType.MERGE,
    EventType.WITHDRAW,
)
# What leads on comes first; joining copies and withdrawing are never the one thing to do.
_LEADING = (EventType.RELEASE, EventType.REVEAL, EventType.BALLOT, EventType.START)


@dataclass(frozen=True)
class Doable:
    """For each action why it is off (empty: it is not), and the one that leads on."""

    reasons: Mapping[EventType, str]
    primary: EventType | None

    def lines(self) -> tuple[str, ...]:
        """The reasons as lines."""
        return tuple(
            f"{action_words(one)}: {reason}" for one, reason in self.reasons.items() if reason
        )


def doable(picture: ReviewPicture, card: Card | None, draft: Draft | None) -> Doable:
    """What the holder of a key may do now."""
    rights = picture.rights(card)
    reasons = {action: rights[action].reason for action in ORDER}
    found = standing_of(picture)
    for action in ORDER:
        settles = action in (EventType.MERGE, EventType.WITHDRAW)
        if found.spoiled and not reasons[action] and not settles:
            reasons[action] = found.faults[0]
    if not reasons[EventType.BALLOT] and draft is not None and not draft.complete:
        text = translate("Review", "Decide every check and every file first: {n}.")
        reasons[EventType.BALLOT] = text.format(n=draft.words())
    leading = [one for one in _LEADING if not reasons[one]]
    if not reasons[EventType.SUBMIT] and picture.state.current is None:
        leading.append(EventType.SUBMIT)
    return Doable(reasons, leading[0] if leading else None)


def action_words(action: EventType) -> str:
    """The name of an action."""
    texts = {
        EventType.SUBMIT: translate("Review", "Submit for review"),
        EventType.START: translate("Review", "Begin the review"),
        EventType.BALLOT: translate("Review", "Sign the vote"),
        EventType.REVEAL: translate("Review", "Reveal the vote"),
        EventType.RELEASE: translate("Review", "Release"),
        EventType.MERGE: translate("Review", "Join copies"),
        EventType.WITHDRAW: translate("Review", "Withdraw"),
    }
    return texts[action]


def meaning(action: EventType) -> str:
    """What signing this means, in a sentence or two."""
    texts = {
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
    }
    return texts[action]
