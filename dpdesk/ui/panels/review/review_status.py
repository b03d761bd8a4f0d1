"""Where the review of a release stands, in sentences: status, votes, signatures, faults, notes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QCoreApplication

from dpdesk.app.review.values import (
    BallotState,
    Difference,
    Event,
    EventType,
    Fault,
    Outcome,
    Release,
    ReviewPicture,
    ReviewState,
    Round,
    Status,
    Submission,
    Supersede,
    Withdraw,
    fingerprint_text,
)
from dpdesk.core.messages import msg
from dpdesk.ui.words.counts import quoted
from dpdesk.ui.words.spoken import said

translate = QCoreApplication.translate
_UNKNOWN = "signer.unknown"


@dataclass(frozen=True)
class ReviewStatus:
    """What is to be seen of a review; ``kind`` is as message bands have it.

    ``faults`` spoil it: nothing is signed or exported then. All are whole sentences.
    """

    kind: str
    sentence: str
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()

    @property
    def spoiled(self) -> bool:
        """Whether something is wrong with the review."""
        return bool(self.faults)


def standing_of(picture: ReviewPicture) -> ReviewStatus:
    """Where the review stands on this computer."""
    state = picture.state
    faults = _faults(picture)
    notes = _notes(picture)
    votes = tuple(map(_vote_line, state.current.ballots if state.current else ()))
    events = tuple(event_line(one, counts=one.id not in state.void) for one in state.graph.events)
    if faults:
        sentence = _wrong_words(state, faults)
        return ReviewStatus("fail", sentence, faults, notes, votes, events)
    kind, sentence = _status_words(state)
    return ReviewStatus(kind, sentence, (), notes, votes, events)


def _wrong_words(state: ReviewState, faults: tuple[str, ...]) -> str:
    """What is wrong, in one sentence: with the release while there is no review of it at all."""
    codes = {one.code for one in state.faults}
    newest = state.graph.latest()
    if codes == {"clock.ahead"} and newest is not None:
        text = translate(
            "Review",
            "This computer's clock shows {now}, but this review was signed on {then}: set the "
            "clock right. Until then nothing can be signed or exported.",
        )
        return text.format(now=when(state.now), then=when(newest.time))
    if codes == {"receipt.missing"}:
        text = translate(
            "Review",
            "This folder lacks what this computer has seen of its review, so nothing can be signed "
            "or exported: “Join copies” brings it back. {fault}",
        )
        return text.format(fault=faults[0])
    if state.graph.events or state.faults:
        text = translate(
            "Review",
            "This review is not to be relied on: nothing can be signed or exported. {fault}",
        )
        return text.format(fault=faults[0])
    text = translate("Review", "This release failed its check, so it cannot be submitted: {fault}")
    more = translate("Review", "({n} more below.)").format(n=len(faults) - 1)
    words = text.format(fault=faults[0])
    return f"{words} {more}" if len(faults) > 1 else words


def stranger_faults(state: ReviewState) -> tuple[Fault, ...]:
    """Faults that only say that this computer trusts nobody yet."""
    if state.trust.entries:
        return ()
    return tuple(fault for fault in state.faults if fault.code == _UNKNOWN)


def signed_words(picture: ReviewPicture | None) -> str:
    """Who stands for the release, in one sentence, for the place where it is exported."""
    state = None if picture is None else picture.state
    if state is None or not state.ok or state.current is None:
        return translate("Review", "Nobody has signed off this release yet.")
    words = {
        Status.RELEASED: translate("Review", "Signed off and released: reviewed by {names}."),
        Status.SUPERSEDED: translate("Review", "It was released, and superseded since."),
        Status.APPROVED: translate("Review", "Approved by {names}, not released yet."),
        Status.WITHDRAWN: translate("Review", "Its author withdrew it: it is not signed off."),
    }
    names = ", ".join(sorted(one.person for one in state.current.ballots if not one.late))
    other = translate("Review", "Not signed off: its review is {status}.")
    return words.get(state.status, other).format(names=names, status=status_words(state.status))


def status_words(status: Status) -> str:
    """A status as it stands in a sentence."""
    texts = {
        Status.DRAFT: translate("Review", "not submitted"),
        Status.SUBMITTED: translate("Review", "submitted"),
        Status.IN_REVIEW: translate("Review", "in review"),
        Status.APPROVED: translate("Review", "approved"),
        Status.CHANGES: translate("Review", "waiting for changes"),
        Status.REJECTED: translate("Review", "rejected"),
        Status.RELEASED: translate("Review", "released"),
        Status.WITHDRAWN: translate("Review", "withdrawn"),
        Status.SUPERSEDED: translate("Review", "superseded"),
    }
    return texts[status]


def outcome_words(outcome: Outcome) -> str:
    """What a reviewer says of the whole."""
    texts = {
        Outcome.APPROVE: translate("Review", "approves"),
        Outcome.CHANGES: translate("Review", "requests changes"),
        Outcome.REJECT: translate("Review", "rejects"),
    }
    return texts[outcome]


def when(moment: datetime) -> str:
    """A moment of an event, for people; signers write their own, in UTC."""
    return moment.strftime("%Y-%m-%d %H:%M UTC")


def event_line(event: Event, *, counts: bool = True) -> str:
    """Who signed what, when, with which key, and the words that came with it."""
    texts = {
        EventType.SUBMIT: translate("Review", "submitted the release"),
        EventType.START: translate("Review", "began to review"),
        EventType.BALLOT: translate("Review", "cast a sealed vote"),
        EventType.REVEAL: translate("Review", "revealed the vote"),
        EventType.MERGE: translate("Review", "joined copies of the review"),
        EventType.RELEASE: translate("Review", "released it"),
        EventType.WITHDRAW: translate("Review", "withdrew it"),
        EventType.SUPERSEDE: translate("Review", "superseded it by another release"),
    }
    text = translate("Review", "{time}  {person} {did} (key {key}).").format(
        time=when(event.time),
        person=event.signer.person,
        did=texts[event.type],
        key=fingerprint_text(event.signer.fingerprint, 12),
    )
    words = _said(event)
    if words:
        text += " " + quoted(words)
    return text if counts else text + " " + translate("Review", "This does not count.")


def _said(event: Event) -> str:
    payload = event.payload
    if isinstance(payload, Submission | Release):
        return payload.note.strip()
    return payload.reason.strip() if isinstance(payload, Withdraw | Supersede) else ""


def _vote_line(ballot: BallotState) -> str:
    if ballot.vote is None:
        text = translate("Review", "{person}: sealed; nobody can read it yet.")
        text = text.format(person=ballot.person)
    else:
        text = f"{ballot.person} {outcome_words(ballot.vote.outcome)}."
        if ballot.vote.comment.strip():
            text += " " + quoted(ballot.vote.comment.strip())
    if ballot.late:
        text += " " + translate("Review", "It came too late to count.")
    return text


def _faults(picture: ReviewPicture) -> tuple[str, ...]:
    strangers = stranger_faults(picture.state)
    found = [_sentence(one.reason) for one in picture.state.faults if one not in strangers]
    found += [
        msg("{path}: {reason}.", path=one.path, reason=said(one.reason).rstrip("."))
        for one in picture.verified.failures
    ]
    return tuple(dict.fromkeys(found))


def _notes(picture: ReviewPicture) -> tuple[str, ...]:
    state = picture.state
    listed = (*picture.notes, *state.past, *stranger_faults(state))
    found = [_sentence(one.reason) for one in listed]
    questions = {one.id: one.question for one in picture.checked.checklist.items}
    found += [_difference(one, questions.get(one.id, one.id)) for one in picture.differences]
    return tuple(dict.fromkeys(found))


def _difference(one: Difference, question: str) -> str:
    absent = translate("Review", "absent")
    text = translate("Review", "“{question}” was {before} for the author and is {now} here.")
    return text.format(
        question=said(question),
        before=said(one.submitted.value) if one.submitted else absent,
        now=said(one.found.value) if one.found else absent,
    )


def _sentence(reason: str) -> str:
    reason = said(reason)
    text, first = reason.rstrip("."), reason.split(" ", 1)[0]
    # A path or a code begins the sentence as it is written.
    plain = first.isalpha()
    return f"{text[:1].upper()}{text[1:]}." if plain else f"{text}."


def _status_words(state: ReviewState) -> tuple[str, str]:
    current = state.current
    if current is None:
        return "info", translate("Review", "This release has not been submitted for review yet.")
    kinds = {Status.APPROVED: "ok", Status.RELEASED: "ok"}
    kinds |= dict.fromkeys(
        (Status.CHANGES, Status.REJECTED, Status.WITHDRAWN, Status.SUPERSEDED), "caution"
    )
    if stranger_faults(state):
        text = translate(
            "Review",
            "The signatures are whole, but this computer trusts no keys yet, so nobody knows whose "
            "they are: add the cards of the people in People and keys.",
        )
        return "caution", text
    return kinds.get(state.status, "info"), f"{_state_words(state.status)} {_round_words(current)}"


def _state_words(status: Status) -> str:
    texts = {
        Status.DRAFT: translate("Review", "Not submitted."),
        Status.SUBMITTED: translate("Review", "Submitted; nobody has begun to review."),
        Status.IN_REVIEW: translate("Review", "In review."),
        Status.APPROVED: translate("Review", "Approved: it can be released."),
        Status.CHANGES: translate("Review", "Changes are requested: the author submits again."),
        Status.REJECTED: translate("Review", "Rejected: it must not be released."),
        Status.RELEASED: translate("Review", "Released: this is final."),
        Status.WITHDRAWN: translate("Review", "Withdrawn by its author."),
        Status.SUPERSEDED: translate("Review", "Superseded: another release takes its place."),
    }
    return texts[status]


def _round_words(current: Round) -> str:
    cast, needed = len(current.voters), current.payload.reviewers
    text = translate("Review", "Round {n}: {cast} of {needed} votes are cast, {open} revealed.")
    revealed = sum(one.vote is not None for one in current.ballots if not one.late)
    return text.format(n=current.number, cast=cast, needed=needed, open=revealed)
