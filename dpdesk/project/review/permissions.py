"""What a person may do now, and why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpdesk.core.errors import RefusedError
from dpdesk.core.messages import msg
from dpdesk.project.review.cards import Card
from dpdesk.project.review.events import EventType
from dpdesk.project.review.state import BallotState, ReviewState, Round, Status
from dpdesk.project.review.texts import CLOCK_TOLERANCE, fold_person, time_text

_OPEN = (Status.SUBMITTED, Status.IN_REVIEW)
_FINAL = (Status.RELEASED, Status.SUPERSEDED)
_MAY = ""


@dataclass(frozen=True)
class Permission:
    """Whether an action is allowed now; ``reason`` is a sentence that says why it is not."""

    action: EventType
    reason: str = _MAY

    @property
    def allowed(self) -> bool:
        """Whether the action is allowed."""
        return not self.reason


def permissions(state: ReviewState, card: Card | None) -> Mapping[EventType, Permission]:
    """What the holder of a key may do now; None for somebody without a key.

    A clock that has gone back behind the events or ``state.latest`` signs nothing.
    """
    general = _general(state, card)
    fingerprint = card.fingerprint if card else ""
    return {
        action: Permission(action, general or _reason(action, state, fingerprint))
        for action in EventType
    }


def require(action: EventType, state: ReviewState, card: Card) -> None:
    """Raise RefusedError ``review.not-allowed`` with the reason unless the action is allowed."""
    permission = permissions(state, card)[action]
    if not permission.allowed:
        raise RefusedError(
            "review.not-allowed", permission.reason, details={"action": action.value}
        )


def own_ballots(state: ReviewState, fingerprint: str) -> tuple[BallotState, ...]:
    """The ballots of the current round that a key made."""
    current = state.current
    items = current.ballots if current else ()
    return tuple(item for item in items if item.event.signer.fingerprint == fingerprint)


def _general(state: ReviewState, card: Card | None) -> str:
    """Why somebody may do nothing at all; empty when that depends on the action."""
    if card is None:
        return "You have no key on this computer: make one and have it trusted."
    entry = state.trust.entry(card.fingerprint)
    if entry is None:
        return "Your key is not in this computer's list of trusted keys: have it added."
    if fold_person(entry.person) != fold_person(card.person):
        return msg(
            "Your key is that of {person} in this computer's list of trusted keys, but it "
            "was made for {person_1}: have the list corrected.",
            person=entry.person,
            person_1=card.person,
        )
    if entry.revoked is not None:
        return msg(
            "Your key was revoked on {time}: make another one.", time=time_text(entry.revoked.time)
        )
    newest = state.graph.latest()
    times = [time for time in (newest and newest.time, state.latest) if time]
    if times and state.now < max(times) - CLOCK_TOLERANCE:
        return msg(
            "This computer's clock shows {time}, but something here was made on {time_1}: "
            "set the clock right.",
            time=time_text(state.now),
            time_1=time_text(max(times)),
        )
    if state.graph.faults:
        return msg(
            "The review file is damaged ({reason}): merge it with an intact copy.",
            reason=state.graph.faults[0].reason,
        )
    return _MAY


def _reason(action: EventType, state: ReviewState, fingerprint: str) -> str:
    whole = next((fault for fault in state.faults if fault.round is None), None)
    if state.current is None and not whole and action is not EventType.SUBMIT:
        return "The release has not been submitted yet."
    if action is EventType.MERGE and state.current is not None:
        return _MAY
    if whole is not None:
        return msg(
            "The review is not complete ({reason}): merge it with an intact copy.",
            reason=whole.reason,
        )
    if action is EventType.SUBMIT or state.current is None:
        return _submit(state, fingerprint)
    if action is EventType.WITHDRAW:
        return _withdraw(state, state.current, fingerprint)
    if action is EventType.SUPERSEDE:
        return _supersede(state.current)
    if state.faults:
        return msg("Something is wrong with the review: {reason}.", reason=state.faults[0].reason)
    if action is EventType.RELEASE:
        return _release(state.current)
    return _review(action, state, state.current, fingerprint)


def _is_author(state: ReviewState, fingerprint: str) -> bool:
    entry = state.trust.entry(fingerprint)
    return entry is not None and state.trust.identity(entry.person) == state.author


def _submit(state: ReviewState, fingerprint: str) -> str:
    if state.current is None:
        return _MAY
    if not _is_author(state, fingerprint):
        name = state.rounds[0].submission.signer.person
        return msg("Only the author, {name}, may submit again.", name=name)
    if state.status in _FINAL:
        return "It was released: that is final. Submit a new release that supersedes it."
    return _MAY


def _withdraw(state: ReviewState, current: Round, fingerprint: str) -> str:
    if not _is_author(state, fingerprint):
        return msg(
            "Only the author, {person}, may withdraw.", person=current.submission.signer.person
        )
    if current.status in _FINAL:
        return "It was released: that is final. It can only be superseded."
    return "It has already been withdrawn." if current.withdrawal else _MAY


def _supersede(current: Round) -> str:
    if current.status is Status.SUPERSEDED:
        return "It has already been superseded."
    return _MAY if current.status is Status.RELEASED else "It was not released."


def _release(current: Round) -> str:
    if current.status is Status.APPROVED:
        return _MAY
    if current.status in _OPEN:
        missing = current.payload.reviewers - len(current.voters)
        if missing > 0:
            return msg(
                "{missing} more of {reviewers} votes must be cast.",
                missing=missing,
                reviewers=current.payload.reviewers,
            )
        names = ", ".join(item.person for item in current.waiting)
        return msg("Votes must be revealed first: {names}.", names=names)
    return msg(
        "It is {status}; only what is approved can be released.", status=current.status.value
    )


def _review(action: EventType, state: ReviewState, current: Round, fingerprint: str) -> str:
    if _is_author(state, fingerprint):
        return "Authors cannot review their own release."
    if action is EventType.REVEAL:
        return _reveal(state, current, fingerprint)
    if current.status not in _OPEN:
        return msg("The review is over: it is {status}.", status=current.status.value)
    entry = state.trust.entry(fingerprint)
    person = state.trust.identity(entry.person) if entry else ""
    if any(item.folded == person for item in current.ballots):
        return "Your vote has been cast; it cannot be changed."
    if current.closed is not None:
        return "The votes are being revealed: no more can be cast."
    if action is EventType.START and any(
        event.signer.fingerprint == fingerprint for event in current.started
    ):
        return "You have already begun."
    return _MAY


def _reveal(state: ReviewState, current: Round, fingerprint: str) -> str:
    if current.withdrawal or current.status in _FINAL:
        return msg("The review is over: it is {status}.", status=current.status.value)
    own = own_ballots(state, fingerprint)
    if not own:
        return "You have cast no vote with this key."
    if all(item.late for item in own):
        return "The round was closed without your vote."
    if all(item.vote is not None for item in own):
        return "Your vote has already been revealed."
    missing = current.payload.reviewers - len(current.voters)
    if missing > 0:
        needed = current.payload.reviewers
        return msg(
            "{missing} more of {needed} votes must be cast before any is revealed.",
            missing=missing,
            needed=needed,
        )
    return _MAY
