"""Where the review of a release stands, in sentences; what a person may do now; drafts kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot

from dpdesk.app.review.drafts import forget_draft, keep_draft
from dpdesk.app.review.values import (
    BallotState,
    Card,
    Difference,
    Event,
    EventType,
    Fault,
    KeptDraft,
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
    proposed_vote,
    why_not_lock,
)
from dpdesk.core.messages import msg
from dpdesk.ui.jobs import JobCancelled, JobDone, JobFailed, JobOutcome
from dpdesk.ui.jobs.hub import alone, failure
from dpdesk.ui.panels.review.deciding import Choice, Draft, begin
from dpdesk.ui.words.numbers import quoted
from dpdesk.ui.words.spoken import moment_words, said
from dpdesk.ui.workbench import Workbench
from dpdesk.ui.workbench.tasks import CheckedRelease

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
            "Parts of the review that this computer has seen are missing from this folder, "
            "so nothing can be signed or exported: “Join copies” restores them. {fault}",
        )
        return text.format(fault=faults[0])
    if state.graph.events or state.faults:
        text = translate(
            "Review",
            "This review is not to be relied on: nothing can be signed or exported. {fault}",
        )
        names = sorted({one.signer.person for one in state.graph.events})
        who = translate("Review", "Signed before it was changed, as far as can be read: {names}.")
        more = " " + who.format(names=", ".join(names)) if names else ""
        return text.format(fault=faults[0]) + more
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
        return translate("Review", "No one has signed off this release yet.")
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
    return f"{moment_words(moment)} UTC"


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
        text = translate("Review", "{person}: sealed; no one can read it yet.")
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
            "The signatures are intact, but this computer trusts no keys yet, so it is not "
            "known whose they are: add the cards of the people in People and keys.",
        )
        return "caution", text
    parts = (_state_words(state.status), _round_words(current), _next_words(state.status, current))
    return kinds.get(state.status, "info"), " ".join(filter(None, parts))


def _state_words(status: Status) -> str:
    texts = {
        Status.DRAFT: translate("Review", "Not submitted."),
        Status.SUBMITTED: translate("Review", "Submitted; no one has begun to review."),
        Status.IN_REVIEW: translate("Review", "In review."),
        Status.APPROVED: translate("Review", "Approved: it can be released."),
        Status.CHANGES: translate("Review", "Changes are requested: the author submits again."),
        Status.REJECTED: translate("Review", "Rejected: it must not be released."),
        Status.RELEASED: translate("Review", "Released: this is final."),
        Status.WITHDRAWN: translate("Review", "Withdrawn by its author."),
        Status.SUPERSEDED: translate("Review", "Superseded: another release replaces it."),
    }
    return texts[status]


def _next_words(status: Status, current: Round) -> str:
    """What brings a round further, in which reviewers work on copies of the folder."""
    if status not in (Status.SUBMITTED, Status.IN_REVIEW):
        return ""
    if len(current.voters) < current.payload.reviewers:
        return translate(
            "Review",
            "Each reviewer votes in a copy of this folder; “Join copies” brings the votes "
            "together.",
        )
    return translate(
        "Review",
        "Now each reviewer reveals their vote; “Join copies” brings the revealed votes together.",
    )


def _round_words(current: Round) -> str:
    cast, needed = len(current.voters), current.payload.reviewers
    text = translate("Review", "Round {n}: {cast} of {needed} votes are cast, {open} revealed.")
    revealed = sum(one.vote is not None for one in current.ballots if not one.late)
    return text.format(n=current.number, cast=cast, needed=needed, open=revealed)


class CheckedReview(QObject):
    """``changed()`` when :attr:`picture`, :attr:`problem` or :attr:`busy` is new.

    Nothing is read here: a release and its review are read in one go, by the workbench.
    """

    changed = Signal()

    def __init__(self, workbench: Workbench, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bench = workbench
        self._seen: CheckedRelease | None = None
        self._job = 0
        workbench.hub.finished.connect(self._on_finished)

    @property
    def picture(self) -> ReviewPicture | None:
        """The release with its review; None while it has not been looked at."""
        return None if self._seen is None else self._seen.picture

    @property
    def cards(self) -> tuple[Card, ...]:
        """The keys of this computer that can sign."""
        return () if self._seen is None else self._seen.cards

    def kept(self, card: Card) -> KeptDraft | None:
        """What the holder of a key had decided when the review was looked at."""
        return None if self._seen is None else self._seen.drafts.get(card.fingerprint)

    @property
    def places(self) -> Mapping[str, Path]:
        """Folders of other releases that the review names, by the hash of their manifest."""
        return {} if self._seen is None else self._seen.places

    @property
    def problem(self) -> JobFailed | None:
        """Why the review could not be looked at."""
        if self._seen is None or self._seen.unseen is None:
            return None
        return failure(0, self.tr("Reading the review"), self._seen.unseen)

    @property
    def busy(self) -> bool:
        """Whether it is being looked at."""
        return self._job != 0

    @property
    def job(self) -> int:
        """Number of the job that looks, 0 when there is none."""
        return self._job

    def follow(self) -> None:
        """Take over what the workbench knows of the release at hand."""
        seen, job = self._bench.checked, self._bench.verify_job
        if seen is not self._seen or job != self._job:
            self._seen, self._job = seen, job
            self.changed.emit()

    @property
    def beside(self) -> Path | None:
        """The file into which the review is written, as its folder is read-only; else None."""
        files = () if self._seen is None else self._seen.beside
        return files[-1] if files else None

    @Slot()
    def look(self) -> None:
        """Check the release and look at its review again; what was seen stays until then."""
        self.look_with(())

    def look_with(self, beside: tuple[Path, ...]) -> None:
        """The same, with more files into which some of the review was written."""
        bench = self._bench
        if bench.release is not None:
            bench.verify_again(bench.verified_with, beside)
            self.follow()

    @Slot(object)
    def _on_finished(self, outcome: JobOutcome) -> None:
        if self._job and outcome.job == self._job:
            self.follow()


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
        text = translate("Review", "Decide on every check and every file first: {n}.")
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
        EventType.REVEAL: translate("Review", "Everyone can read your vote from now on."),
        EventType.RELEASE: translate(
            "Review",
            "This is final: it can never be taken back, only be superseded by another release.",
        ),
        EventType.MERGE: translate(
            "Review",
            "What reviewers signed in their own copies is added to this folder, and you "
            "sign that all of it is here. What this computer has seen before is restored, "
            "too.",
        ),
        EventType.WITHDRAW: translate(
            "Review", "You withdraw your submission; you can submit again later."
        ),
        EventType.SUPERSEDE: translate(
            "Review",
            "You declare for good that another release replaces this one. The other one "
            "must itself have been reviewed and released.",
        ),
        Beside.LOCK: translate(
            "Review",
            "You sign how this release was made: roles, hierarchies, method, rules. Others "
            "can apply it to later data; only source and title may differ then.",
        ),
    }
    return texts[action]


class Drafts(QObject):
    """``problemChanged()`` when :attr:`problem` is new.

    One draft is written at a time, and always the newest.
    """

    problemChanged = Signal()

    def __init__(
        self, workbench: Workbench, looker: CheckedReview, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bench, self._looker = workbench, looker
        self._drafts: dict[tuple[str, str], Draft] = {}
        self._seen_by: dict[tuple[str, str], ReviewPicture] = {}
        self._waiting: dict[tuple[str, str], KeptDraft] = {}
        self._under_way: KeptDraft | None = None
        self._signed: set[tuple[str, str]] = set()
        self._problem = ""

    @property
    def problem(self) -> str:
        """Why what was decided last could not be kept, as a sentence; empty when it was."""
        return self._problem

    @property
    def kept(self) -> bool:
        """Whether all that was decided is on the disk."""
        return not self._waiting

    def of(self, card: Card | None) -> Draft | None:
        """What the holder of a key has decided so far; None when there is nothing to decide."""
        picture = self._looker.picture
        current = None if picture is None else picture.state.current
        if picture is None or current is None or card is None:
            return None
        if not picture.rights(card)[EventType.BALLOT].allowed:
            return None
        place = (current.submission.id, card.fingerprint)
        known = self._drafts.get(place)
        if known is None or self._seen_by.get(place) is not picture:
            made = proposed_vote(picture.state, card)
            items, kept = picture.checked.checklist.items, self._looker.kept(card)
            fresh = begin(current.submission.id, current.payload, made, items, kept)
            if known is not None:
                fresh = replace(fresh, choices=known.choices, void=known.void)
            known = self._drafts[place] = fresh
            self._seen_by[place] = picture
        return known

    def decide(self, draft: Draft, taken: Mapping[str, Choice]) -> Draft:
        """Take decisions and keep them; returns the draft with them."""
        changed = draft.decided(taken)
        place = (draft.submission, draft.reviewer)
        self._drafts[place] = changed
        self._signed.discard(place)
        self._keep(changed.kept)
        return changed

    def signed(self, submission: str, reviewer: str) -> None:
        """The vote is signed: nothing is to be kept any more, what is being written included."""
        self._signed.add((submission, reviewer))
        for book in (self._drafts, self._seen_by, self._waiting):
            book.pop((submission, reviewer), None)

    def flush(self) -> None:
        """Keep at once what has not been kept; only when the window has closed.

        Raises StorageError.
        """
        for draft in tuple(self._waiting.values()):
            keep_draft(self._bench.context, draft)
        self._waiting.clear()

    def _keep(self, draft: KeptDraft) -> None:
        self._waiting[(draft.submission, draft.reviewer)] = draft
        self._write_next()

    def _write_next(self) -> None:
        """What waits stays in the book until it is known to be on the disk."""
        if self._under_way is not None or not self._waiting:
            return
        draft = next(iter(self._waiting.values()))
        started = self._bench.hub.query(
            self.tr("Saving the decisions"),
            alone(partial(keep_draft, self._bench.context, draft)),
            done=self._on_kept,
            failed=self._on_failed,
            cancelled=self._on_cancelled,
            quiet=True,
        )
        self._under_way = draft if started else None

    def _on_kept(self, outcome: JobDone[object]) -> None:
        draft, self._under_way = self._under_way, None
        if draft is not None:
            place = (draft.submission, draft.reviewer)
            if self._waiting.get(place) is draft:
                del self._waiting[place]
            if place in self._signed:  # it came to the disk after the vote had been signed
                self._bench.hub.query(
                    self.tr("Saving the decisions"),
                    alone(partial(forget_draft, self._bench.context, *place)),
                    quiet=True,
                )
        self._tell("")
        self._write_next()

    def _on_failed(self, outcome: JobFailed) -> None:
        self._under_way = None  # it waits for the next decision, or for the end
        self._tell(outcome.sentence)

    def _on_cancelled(self, outcome: JobCancelled) -> None:
        self._under_way = None

    def _tell(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self.problemChanged.emit()
