"""Votes in the making, kept on the reviewer's computer alone: never in the release folder.

Each is a small private file below ``home/drafts``, named by the submission and the reviewer's key.
A decision is kept with a hash of what it is about, so that it never counts for anything else.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpdesk.core.errors import DpdeskError
from dpdesk.io.canonical import UnreadableJsonError, canonical_json, parse_canonical
from dpdesk.io.failures import storage_error
from dpdesk.project.review.events import ChecklistItem, Submission
from dpdesk.project.review.homefiles import locked, private_folder, read_small, write_private
from dpdesk.project.review.texts import LONGEST_COMMENT, is_hash
from dpdesk.project.review.votes import Decision

_LARGEST = 64 * 1024 * 1024
_KEYS = {"format", "submission", "reviewer", "choices", "void"}


@dataclass(frozen=True)
class KeptChoice:
    """A decision (None: only a comment so far) and the hash of what it is about."""

    about: str
    decision: Decision | None = None
    comment: str = ""


@dataclass(frozen=True)
class KeptDraft:
    """What a reviewer has decided of a submission.

    ``choices`` are by the check's id or the file's path; ``void`` names those that fell because
    what they were about has changed.
    """

    submission: str
    reviewer: str
    choices: Mapping[str, KeptChoice] = field(default_factory=dict, repr=False)
    void: tuple[str, ...] = ()


def subjects(payload: Submission) -> dict[str, str]:
    """What there is to decide, as hashes: of a check as it was found, of a file's bytes."""
    return {**{key: _about(one) for key, one in payload.checklist.items()}, **payload.files}


def carried(draft: KeptDraft, submission: str, payload: Submission) -> KeptDraft:
    """The draft for this submission: what is about something else now falls, and is named."""
    now = subjects(payload)
    kept = {key: one for key, one in draft.choices.items() if now.get(key) == one.about}
    fallen = [key for key in draft.choices if key in now and key not in kept]
    void = tuple(dict.fromkeys((*(key for key in draft.void if key in now), *fallen)))
    return KeptDraft(submission, draft.reviewer, kept, void)


class DraftBox:
    """All votes in the making on this computer."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "drafts"

    def find(self, submission: str, reviewer: str) -> KeptDraft | None:
        """What was kept; None when nothing was. A damaged file is set aside, never raised."""
        path = self._path(submission, reviewer)
        if not path.exists():
            return None
        try:
            found = _read(read_small(path, _LARGEST))
        except UnreadableJsonError:
            with contextlib.suppress(OSError):
                path.replace(path.with_name(f"{path.stem}.damaged-{secrets.token_hex(4)}"))
            return None
        except DpdeskError:
            return None
        return found if (found.submission, found.reviewer) == (submission, reviewer) else None

    def keep(self, draft: KeptDraft) -> None:
        """Keep a draft in the place of what was kept; one without decisions is removed.

        Raises StorageError.
        """
        if not draft.choices and not draft.void:
            self.remove(draft.submission, draft.reviewer)
            return
        private_folder(self.folder)
        with locked(self.folder, "drafts"):
            write_private(self._path(draft.submission, draft.reviewer), _bytes(draft))

    def remove(self, submission: str, reviewer: str) -> None:
        """Remove what was kept, if anything was. Raises StorageError."""
        path = self._path(submission, reviewer)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error(error, path, "remove") from error

    def _path(self, submission: str, reviewer: str) -> Path:
        if not is_hash(submission) or not is_hash(reviewer):
            raise ValueError("a draft is named by a submission and a fingerprint")
        name = hashlib.sha256(f"{submission} {reviewer}".encode("ascii")).hexdigest()
        return self.folder / f"{name}.json"


def _about(item: ChecklistItem) -> str:
    facts = canonical_json({"status": item.status.value, "evidence": item.evidence})
    return hashlib.sha256(facts).hexdigest()


def _bytes(draft: KeptDraft) -> bytes:
    choices = {
        key: {
            "about": one.about,
            "decision": None if one.decision is None else one.decision.value,
            "comment": _plain(one.comment),
        }
        for key, one in draft.choices.items()
    }
    return canonical_json(
        {
            "format": 1,
            "submission": draft.submission,
            "reviewer": draft.reviewer,
            "choices": choices,
            "void": list(draft.void),
        }
    )


def _plain(comment: str) -> str:
    """A comment that can be written; one that is too long could not be signed either."""
    return comment[: 2 * LONGEST_COMMENT].encode("utf-8", "replace").decode("utf-8")


def _read(data: bytes) -> KeptDraft:
    """Raises UnreadableJsonError."""
    raw = parse_canonical(data)
    if set(raw) != _KEYS or raw["format"] != 1:
        raise UnreadableJsonError("it is not a draft of this version")
    choices, void = raw["choices"], raw["void"]
    if not isinstance(choices, dict) or not isinstance(void, list):
        raise UnreadableJsonError("it is not a draft")
    kept = {key: _choice(one) for key, one in choices.items()}
    names = tuple(one for one in void if isinstance(one, str))
    return KeptDraft(str(raw["submission"]), str(raw["reviewer"]), kept, names)


def _choice(raw: object) -> KeptChoice:
    if not isinstance(raw, dict) or set(raw) != {"about", "decision", "comment"}:
        raise UnreadableJsonError("a decision in it is none")
    about, decision, comment = raw["about"], raw["decision"], raw["comment"]
    known = decision is None or decision in list(Decision)
    if not isinstance(about, str) or not isinstance(comment, str) or not known:
        raise UnreadableJsonError("a decision in it is none")
    return KeptChoice(about, None if decision is None else Decision(decision), comment)
