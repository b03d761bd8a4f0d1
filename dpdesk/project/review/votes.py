"""What a reviewer decides: each check, each file, and the whole; and the rules for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from dpdesk.core.messages import msg
from dpdesk.project.review.texts import BadFieldError, Fields, says_something, shown, text_fault

MOST_FILES, MOST_ITEMS = 5_000, 500
LONGEST_PATH, LONGEST_ITEM = 500, 100


class Outcome(StrEnum):
    """What a reviewer says of the whole submission, and what a round comes to."""

    APPROVE = "approve"
    CHANGES = "changes"
    REJECT = "reject"


class Decision(StrEnum):
    """What a reviewer says of one check or one file."""

    ACCEPT = "accept"
    CHANGE = "change"
    REJECT = "reject"


class ItemStatus(StrEnum):
    """How an item of the checklist stands, by the figures of the release."""

    PASS = "pass"
    REVIEW = "review"
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"

    @property
    def severity(self) -> int:
        """0 for what stands in nobody's way, 1 for what a person judges, 2 for a failure."""
        return {ItemStatus.REVIEW: 1, ItemStatus.FAIL: 2}.get(self, 0)


@dataclass(frozen=True)
class CheckDecision:
    """The decision on one item of the checklist."""

    decision: Decision
    comment: str = ""


@dataclass(frozen=True)
class FileDecision:
    """The decision on one file, of exactly these bytes."""

    sha256: str
    decision: Decision
    comment: str = ""


@dataclass(frozen=True)
class Vote:
    """A whole vote. ``submission`` is an event's id, ``reviewer`` a key's fingerprint.

    ``checks`` are by item id, ``files`` by path in the release folder (``public/…``).
    """

    submission: str
    reviewer: str
    outcome: Outcome
    checks: Mapping[str, CheckDecision]
    files: Mapping[str, FileDecision]
    comment: str = ""

    def as_json(self) -> dict[str, object]:
        """The vote as the object that is committed to and revealed."""
        return {
            "submission": self.submission,
            "reviewer": self.reviewer,
            "outcome": self.outcome.value,
            "checks": {
                item: {"decision": check.decision.value, "comment": check.comment}
                for item, check in self.checks.items()
            },
            "files": {
                path: {
                    "sha256": file.sha256,
                    "decision": file.decision.value,
                    "comment": file.comment,
                }
                for path, file in self.files.items()
            },
            "comment": self.comment,
        }


class VoteProblem(NamedTuple):
    """A rule that a vote breaks; ``item`` or ``path`` says where (both empty: the whole)."""

    reason: str
    item: str = ""
    path: str = ""


def read_vote(fields: Fields) -> Vote:
    """A vote from a table of a file. Raises BadFieldError."""
    fields.only("submission", "reviewer", "outcome", "checks", "files", "comment")
    checks, files = fields.table("checks", MOST_ITEMS), fields.table("files", MOST_FILES)
    return Vote(
        submission=fields.code("submission"),
        reviewer=fields.code("reviewer"),
        outcome=fields.choice("outcome", Outcome),
        checks={item_id(checks, key): _check(checks.table(key)) for key in checks.raw},
        files={file_path(files, key): _file(files.table(key)) for key in files.raw},
        comment=fields.text("comment"),
    )


def item_id(fields: Fields, key: str) -> str:
    """A key that is the id of a checklist item. Raises BadFieldError."""
    if not key or text_fault(key, LONGEST_ITEM, lines=False):
        name = fields.name(shown(key, 60))
        raise BadFieldError(msg("`{name}` is not the name of an item", name=name))
    return key


def file_path(fields: Fields, key: str) -> str:
    """A key that is a path in a release folder. Raises BadFieldError."""
    parts = key.split("/")
    plain = not text_fault(key, LONGEST_PATH, lines=False) and "\\" not in key
    if not plain or len(parts) < 2 or parts[0] not in ("public", "internal"):
        raise BadFieldError(
            msg("`{name}` is not a path in a release folder", name=fields.name(shown(key, 60)))
        )
    if any(part in ("", ".", "..") for part in parts) or key == "internal/review.json":
        raise BadFieldError(
            msg("`{name}` is not the path of a file to be signed", name=fields.name(shown(key, 60)))
        )
    return key


def vote_problems(
    vote: Vote,
    statuses: Mapping[str, ItemStatus],
    files: Mapping[str, str],
    failing: Collection[str] = (),
) -> tuple[VoteProblem, ...]:
    """The rules that a vote breaks, given the checklist and the files {path: sha256} submitted.

    Every item and every file is decided, the files with the bytes submitted; a comment says why an
    item that did not pass is accepted, why one that passed is not, why a file is not, and why the
    whole is not approved; approving the whole takes accepting everything. Statuses are written by
    an author: ``failing`` are items that fail on the computer of the reviewer.
    """
    return (
        *_check_problems(vote, statuses, failing),
        *_file_problems(vote, files),
        *_whole_problems(vote),
    )


def _check_problems(
    vote: Vote, statuses: Mapping[str, ItemStatus], failing: Collection[str]
) -> list[VoteProblem]:
    found = [VoteProblem("is not decided", item) for item in statuses.keys() - vote.checks.keys()]
    unknown = vote.checks.keys() - statuses
    found += [VoteProblem("is not an item of the checklist", item) for item in unknown]
    for item in sorted(vote.checks.keys() & statuses.keys()):
        check, accepted = vote.checks[item], vote.checks[item].decision is Decision.ACCEPT
        if says_something(check.comment):
            continue
        if accepted and statuses[item] is ItemStatus.FAIL:
            found.append(VoteProblem("failed and is accepted without a comment", item))
        elif accepted and item in failing:
            reason = "fails on this computer and is accepted without a comment"
            found.append(VoteProblem(reason, item))
        elif not accepted and statuses[item] is ItemStatus.PASS:
            found.append(VoteProblem("passed and is not accepted, without a comment", item))
    return sorted(found)


def _file_problems(vote: Vote, files: Mapping[str, str]) -> list[VoteProblem]:
    found = [VoteProblem("is not decided", "", path) for path in files.keys() - vote.files.keys()]
    found += [VoteProblem("is not submitted", "", path) for path in vote.files.keys() - files]
    for path in sorted(vote.files.keys() & files.keys()):
        file = vote.files[path]
        if file.sha256 != files[path]:
            found.append(VoteProblem("is decided for other bytes than those submitted", "", path))
        if file.decision is not Decision.ACCEPT and not says_something(file.comment):
            found.append(VoteProblem("is not accepted, without a comment", "", path))
    return sorted(found)


def _whole_problems(vote: Vote) -> list[VoteProblem]:
    if vote.outcome is not Outcome.APPROVE:
        if says_something(vote.comment):
            return []
        return [VoteProblem("the release is not approved, without a comment")]
    decisions = {part.decision for part in vote.checks.values()}
    decisions |= {part.decision for part in vote.files.values()}
    if decisions <= {Decision.ACCEPT}:
        return []
    return [VoteProblem("the release is approved although not everything is accepted")]


def _check(fields: Fields) -> CheckDecision:
    fields.only("decision", "comment")
    return CheckDecision(fields.choice("decision", Decision), fields.text("comment"))


def _file(fields: Fields) -> FileDecision:
    fields.only("sha256", "decision", "comment")
    return FileDecision(
        fields.code("sha256"), fields.choice("decision", Decision), fields.text("comment")
    )
