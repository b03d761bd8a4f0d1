"""Computers and folders in which reviews are made, for tests."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from dpdesk.core.jobs import CancelToken
from dpdesk.io.canonical import canonical_json
from dpdesk.io.workspace import Workspace
from dpdesk.project.review import making
from dpdesk.project.review.binding import bind_release
from dpdesk.project.review.events import Event, Submission
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.review_file import LoadedReview, ReviewStore
from dpdesk.project.review.state import ReviewState, Status
from tests.helpers.reviewing import (
    DORA,
    NOON,
    TRUST,
    approval,
    code,
    submission,
)


class Desk:
    """One computer: its receipts, its clock."""

    def __init__(self, space: Workspace) -> None:
        self.store = ReviewStore(space.home, space)
        self.space = space
        self.now = NOON

    def load(self, place: Path) -> LoadedReview:
        return self.store.load(place, TRUST, self.now)

    def status(self, place: Path) -> Status:
        state = self.load(place).state
        assert state.ok, state.faults
        return state.status

    def faults(self, place: Path) -> list[str]:
        return [fault.code for fault in self.load(place).state.faults]

    def do(self, folder: Path, who: Signer, what: str, **other: object) -> Event:
        self.now += timedelta(minutes=1)
        with self.store.editing(folder, TRUST, self.now, **other) as edit:  # type: ignore[arg-type]
            event = self.make(edit.state, folder, who, what)
            edit.add(event)
        return event

    def make(self, state: ReviewState, folder: Path, who: Signer, what: str) -> Event:
        current = state.current
        if what == "submit":
            return making.submit(
                who, state, bound(folder, current.submission.id if current else None)
            )
        if what == "cast" and current is not None:
            return making.cast(who, state, approval(current.submission, who.fingerprint))
        if what == "withdraw":
            return making.withdraw(who, state, "A column is wrong.")
        event = getattr(making, what)(who, state)
        assert isinstance(event, Event)
        return event

    def join(self, folder: Path, copies: Sequence[Path], who: Signer = DORA) -> tuple[str, ...]:
        self.now += timedelta(minutes=1)
        with self.store.editing(folder, TRUST, self.now) as edit:
            joined = self.store.join(edit.loaded, copies)
            edit.take(joined)
            edit.add(making.merge(who, edit.state))
        return tuple(fault.code for fault in joined.left_out)


def make_folder(place: Path, text: str = "release 1") -> Path:
    (place / "public").mkdir(parents=True)
    (place / "internal").mkdir(mode=0o700)
    manifest = {"commitment": code(text), "title": text}
    (place / "public/manifest.json").write_bytes(canonical_json(manifest))
    (place / "public/microdata.csv").write_text(f"age\n{text}\n")
    (place / "internal/evidence.json").write_bytes(canonical_json({"plan": {"version": 1}}))
    (place / "internal/seal.json").write_bytes(canonical_json({"seal": text}))
    (place / "internal/seal.json").chmod(0o640)
    return place


def bound(folder: Path, previous: str | None = None) -> Submission:
    binding = bind_release(folder, CancelToken())
    return submission(
        previous=previous,
        manifest_sha256=binding.manifest_sha256,
        seal_sha256=binding.seal_sha256,
        plan_sha256=binding.plan_sha256,
        commitment=binding.commitment,
        files=binding.files,
    )


def copied(folder: Path, name: str) -> Path:
    return Path(shutil.copytree(folder, folder.with_name(name)))
