"""What a reviewer has decided so far: each check and each file of a submission, and what it lacks.

Nothing is decided beforehand but what the same reviewer decided on the very same bytes and figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from PySide6.QtCore import QCoreApplication

from dpdesk.app.review.values import (
    CheckDecision,
    ChecklistItem,
    Decision,
    FileDecision,
    Item,
    ItemStatus,
    KeptChoice,
    KeptDraft,
    Outcome,
    Submission,
    Vote,
    subjects,
    vote_problems,
)
from dpdesk.ui.words.spoken import in_window, said

translate = QCoreApplication.translate
SHAPES = {
    ItemStatus.PASS: "✓",
    ItemStatus.REVIEW: "△",
    ItemStatus.FAIL: "✕",
    ItemStatus.NOT_APPLICABLE: "–",
}


@dataclass(frozen=True)
class Point:
    """One thing to decide. ``key`` is a check's id or, with ``sha256``, a file's path."""

    key: str
    question: str
    mark: str
    evidence: str
    sha256: str = ""


@dataclass(frozen=True)
class Choice:
    """What was decided about a point; None: nothing yet."""

    decision: Decision | None = None
    comment: str = ""


@dataclass(frozen=True)
class Draft:
    """A vote in the making; ``choices`` are by the points' keys.

    ``void`` are the points whose earlier decision fell, as what it was about has changed;
    ``signed`` is what was decided in the vote of an earlier round on what is the same now, and
    ``failing`` are checks that fail on this computer.
    """

    submission: str
    payload: Submission
    reviewer: str
    points: tuple[Point, ...]
    choices: Mapping[str, Choice]
    void: tuple[str, ...] = ()
    signed: Mapping[str, Choice] = field(default_factory=dict)
    failing: frozenset[str] = frozenset()

    def decided(self, taken: Mapping[str, Choice]) -> Draft:
        """The draft with more decisions, or other ones."""
        void = tuple(one for one in self.void if one not in taken)
        return replace(self, choices={**self.choices, **taken}, void=void)

    @property
    def open_files(self) -> tuple[str, ...]:
        """The files about which nothing is decided."""
        files = (one.key for one in self.points if one.sha256)
        return tuple(key for key in files if self.choices[key].decision is None)

    def exceptions(self) -> str:
        """The files that are not accepted, in a sentence; empty when there are none."""
        taken = (None, Decision.ACCEPT)
        files = [one.key for one in self.points if one.sha256]
        names = [key for key in files if self.choices[key].decision not in taken]
        text = translate("Review", "Files not accepted: {names}.")
        return text.format(names=", ".join(names)) if names else ""

    @property
    def kept(self) -> KeptDraft:
        """The draft as it is kept on this computer."""
        about = subjects(self.payload)
        choices = {
            key: KeptChoice(about[key], one.decision, one.comment)
            for key, one in self.choices.items()
            if one != Choice()
        }
        return KeptDraft(self.submission, self.reviewer, choices, self.void)

    def void_words(self) -> str:
        """Which decisions fell, in a sentence; empty when none did."""
        names = [one.question for one in self.points if one.key in self.void]
        if not names:
            return ""
        text = translate(
            "Review",
            "Decide again, because it has changed since and your decision is void: {names}",
        )
        return text.format(names=", ".join(names))

    def problem(self, key: str) -> str:
        """What a decision lacks, as a sentence; empty when it is complete or not taken yet."""
        if self.choices[key].decision is None:
            return ""
        reason = self._lacking.get(key, "")
        return _problem_words(self.choices[key], reason) if reason else ""

    @cached_property
    def _lacking(self) -> Mapping[str, str]:
        """The rules that the decisions break, by the points' keys."""
        found = vote_problems(self._vote(Outcome.CHANGES, "x"), *self._rules())
        return {one.item or one.path: one.reason for one in found}

    @property
    def done(self) -> int:
        """How many points are decided completely."""
        return sum(one.key not in self._lacking for one in self.points)

    @property
    def complete(self) -> bool:
        """Whether everything is decided."""
        return self.done == len(self.points)

    def words(self) -> str:
        """How far it is."""
        text = translate("Review", "{n} of {m} decided")
        return text.format(n=self.done, m=len(self.points))

    def progress_words(self) -> str:
        """How far it is, and how much of it stands as it was signed in an earlier round."""
        same = sum(self.choices[key] == one for key, one in self.signed.items())
        if not same:
            return self.words()
        text = translate("Review", "{words}, {n} of them as you signed before")
        return text.format(words=self.words(), n=same)

    @property
    def first_open(self) -> int:
        """The place of the first point without a decision; 0 when there is none."""
        taken = [self.choices[one.key].decision for one in self.points]
        return taken.index(None) if None in taken else 0

    def vote(self, outcome: Outcome, comment: str) -> Vote:
        """The vote; :attr:`complete` must hold."""
        return self._vote(outcome, comment)

    def whole_problem(self, outcome: Outcome | None, comment: str) -> str:
        """What the outcome lacks, as a sentence; empty when it can be signed."""
        if outcome is None:
            return translate("Review", "Choose your vote on the whole: nothing is chosen yet.")
        for one in vote_problems(self._vote(outcome, comment), *self._rules()):
            return _whole_words(outcome) if not one.item and not one.path else one.reason
        return ""

    def _rules(self) -> tuple[Mapping[str, ItemStatus], Mapping[str, str], frozenset[str]]:
        return self.payload.statuses, self.payload.files, self.failing

    def _vote(self, outcome: Outcome, comment: str) -> Vote:
        checks, files = {}, {}
        for point in self.points:
            choice = self.choices[point.key]
            if choice.decision is None:
                continue
            if point.sha256:
                files[point.key] = FileDecision(point.sha256, choice.decision, choice.comment)
            else:
                checks[point.key] = CheckDecision(choice.decision, choice.comment)
        return Vote(self.submission, self.reviewer, outcome, checks, files, comment)


def begin(
    submission: str,
    payload: Submission,
    proposal: Vote,
    items: tuple[Item, ...],
    kept: KeptDraft | None = None,
) -> Draft:
    """A draft with what the reviewer decided before; ``items`` are the checks as they are here.

    ``proposal`` is what was signed in an earlier round, ``kept`` what was decided since.
    """
    here = {item.id: item for item in items}
    listed = [one.id for one in items if one.id in payload.checklist]
    listed += [key for key in payload.checklist if key not in here]
    checks = [(key, payload.checklist[key]) for key in listed]
    points = [
        Point(
            key,
            said(here[key].question if key in here else one.question),
            _mark(one.status),
            _evidence(one.evidence, here.get(key)),
        )
        for key, one in checks
    ]
    points += [
        Point(path, path, translate("Review", "file"), _file_evidence(code), code)
        for path, code in payload.files.items()
    ]
    made: dict[str, CheckDecision | FileDecision] = {**proposal.checks, **proposal.files}
    choices = {}
    for point in points:
        before = made[point.key]
        open_ = before.decision is Decision.CHANGE and not before.comment
        choices[point.key] = Choice() if open_ else Choice(before.decision, before.comment)
    signed = {key: one for key, one in choices.items() if one.decision is not None}
    failing = frozenset(item.id for item in items if item.status is ItemStatus.FAIL)
    decided = tuple(points), choices, (), signed, failing
    draft = Draft(submission, payload, proposal.reviewer, *decided)
    return draft if kept is None else _taken_up(draft, kept)


def _taken_up(draft: Draft, kept: KeptDraft) -> Draft:
    """The draft with what was kept of it, as far as it is about the same."""
    about, choices = subjects(draft.payload), dict(draft.choices)
    for key, one in kept.choices.items():
        if key in choices and about[key] == one.about:
            choices[key] = Choice(one.decision, one.comment)
    return replace(draft, choices=choices, void=kept.void)


def choice_words(choice: Choice) -> str:
    """A decision with its shape, for the list."""
    texts = {
        None: translate("Review", "○ open"),
        Decision.ACCEPT: translate("Review", "✓ accept"),
        Decision.CHANGE: translate("Review", "△ change"),
        Decision.REJECT: translate("Review", "✕ reject"),
    }
    return texts[choice.decision]


def _mark(status: ItemStatus) -> str:
    texts = {
        ItemStatus.PASS: translate("Review", "pass"),
        ItemStatus.REVIEW: translate("Review", "review"),
        ItemStatus.FAIL: translate("Review", "fail"),
        ItemStatus.NOT_APPLICABLE: translate("Review", "not applicable"),
    }
    return f"{SHAPES[status]} {texts[status]}"


def _evidence(submitted: str, here: Item | None) -> str:
    author = translate("Review", "As the author's program found it: {text}").format(
        text=in_window(submitted)
    )
    if here is None:
        return author + "\n" + translate("Review", "This computer does not know this check.")
    found = translate("Review", "On this computer: {mark}. {text}")
    lines = [found.format(mark=_mark(here.status), text=in_window(here.evidence))]
    if here.advice and here.status in (ItemStatus.REVIEW, ItemStatus.FAIL):
        lines.append(in_window(here.advice))
    signed = ChecklistItem.made(here.question, here.status, here.evidence)
    if signed.evidence != submitted:
        lines.append(author)
    return "\n".join(lines)


def _file_evidence(code: str) -> str:
    parts = " ".join(code[n : n + 8] for n in range(0, len(code), 8))
    text = translate("Review", "The decision holds for exactly these bytes: SHA-256 {code}")
    return text.format(code=parts)


def _problem_words(choice: Choice, reason: str) -> str:
    if "comment" not in reason:
        return translate("Review", "This cannot be signed: it {reason}.").format(reason=reason)
    if choice.decision is Decision.ACCEPT:
        return translate(
            "Review", ("It failed: explain in the comment why you accept it nevertheless.")
        )
    return translate("Review", "Explain in the comment why you do not accept it.")


def _whole_words(outcome: Outcome) -> str:
    if outcome is Outcome.APPROVE:
        return translate(
            "Review", "To approve, you must accept everything: something is not accepted."
        )
    return translate("Review", "Explain in the comment why you do not approve.")
