"""Reviews in folders: copies joined, receipts, read-only folders, crashes; nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.io.canonical import canonical_json
from dpdesk.io.workspace import Workspace
from dpdesk.project.review import making
from dpdesk.project.review.binding import bind_release, binding_faults
from dpdesk.project.review.events import Event
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.payloads import Submission
from dpdesk.project.review.review_file import LoadedReview, ReviewStore
from dpdesk.project.review.state import ReviewState, Status
from dpdesk.project.review.texts import parse_time
from tests.helpers.reviewing import (
    AUTHOR,
    BEN,
    CLARA,
    DORA,
    NOON,
    STRANGER,
    TRUST,
    approval,
    code,
    submission,
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with_space = Workspace.open(tmp_path / "home")
    yield Desk(with_space)
    with_space.close()


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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "release")


def copied(folder: Path, name: str) -> Path:
    return Path(shutil.copytree(folder, folder.with_name(name)))


def test_copies_that_reviewers_made_independently_are_joined(desk: Desk, folder: Path) -> None:
    assert desk.status(folder) is Status.DRAFT
    desk.do(folder, AUTHOR, "submit")
    one, other = copied(folder, "ben"), copied(folder, "clara")
    desk.store.receipts.folder = desk.space.home / "elsewhere"  # the reviewers' own computers
    desk.do(one, BEN, "cast")
    desk.store.receipts.folder = desk.space.home / "elsewhere still"
    desk.do(other, CLARA, "cast")
    desk.store.receipts.folder = desk.space.home / "receipts"
    assert desk.join(folder, [one, other / "internal/review.json"]) == ()
    assert desk.status(folder) is Status.IN_REVIEW
    desk.do(folder, BEN, "reveal")
    desk.do(folder, CLARA, "reveal")
    desk.do(folder, AUTHOR, "release")
    assert desk.status(folder) is Status.RELEASED
    assert sorted(path.name for path in (folder / "internal").iterdir()) == [
        "evidence.json",
        "review.json",
        "seal.json",
    ]


def test_a_removed_event_is_noticed_and_put_back(desk: Desk, folder: Path) -> None:
    desk.do(folder, AUTHOR, "submit")
    review = folder / "internal/review.json"
    before = review.read_bytes()
    desk.do(folder, BEN, "cast")
    whole = review.read_bytes()
    review.write_bytes(before)
    found = desk.load(folder).state
    assert [fault.code for fault in found.faults] == ["receipt.missing"]
    assert "ballot by Ben" in found.faults[0].reason
    assert desk.join(folder, []) == ()
    assert desk.status(folder) is Status.IN_REVIEW
    assert set(events(whole, desk)) < set(events(review.read_bytes(), desk))


def events(data: bytes, desk: Desk) -> list[str]:
    place = desk.space.new_path(".json")
    place.write_bytes(data)
    return [event.id for event in desk.load(place).state.graph.events]


def test_a_review_file_that_is_taken_away_altogether_is_missed(desk: Desk, folder: Path) -> None:
    desk.do(folder, AUTHOR, "submit")
    desk.do(folder, BEN, "start")
    (folder / "internal/review.json").unlink()
    assert desk.faults(folder) == ["receipt.missing"] * 2
    with pytest.raises(RefusedError) as caught:
        desk.do(folder, AUTHOR, "submit")
    assert "merge" in caught.value.sentence
    desk.join(folder, [])
    assert desk.status(folder) is Status.IN_REVIEW


def test_a_fresh_review_in_the_place_of_the_old_one_is_noticed(desk: Desk, folder: Path) -> None:
    desk.do(folder, AUTHOR, "submit")
    desk.do(folder, BEN, "cast")
    (folder / "internal/review.json").unlink()
    elsewhere = desk.store.receipts.folder
    desk.store.receipts.folder = desk.space.home / "the author's"
    desk.do(folder, AUTHOR, "submit")
    desk.store.receipts.folder = elsewhere
    assert desk.faults(folder) == ["receipt.missing"] * 2
    fresh = (folder / "internal/review.json").read_bytes()
    assert desk.join(folder, []) == ("review.other",)
    assert desk.status(folder) is Status.IN_REVIEW
    kept = list((elsewhere / "set-aside").iterdir())
    assert [path.read_bytes() for path in kept] == [fresh]


def test_a_fresh_folder_of_the_same_plan_leads_to_a_note(
    desk: Desk, folder: Path, tmp_path: Path
) -> None:
    desk.do(folder, AUTHOR, "submit")
    desk.do(folder, AUTHOR, "withdraw")
    again = make_folder(tmp_path / "again", "release 2")
    desk.do(again, AUTHOR, "submit")
    notes = desk.store.related(desk.load(again))
    assert [note.code for note in notes] == ["review.same-plan"]
    assert "withdrawn" in notes[0].reason


def test_the_next_round_goes_on_in_its_own_folder(desk: Desk, folder: Path, tmp_path: Path) -> None:
    desk.do(folder, AUTHOR, "submit")
    desk.do(folder, AUTHOR, "withdraw")
    again = make_folder(tmp_path / "again", "release 2")
    desk.do(again, AUTHOR, "submit", bases=[folder])
    state = desk.load(again).state
    assert [item.status for item in state.rounds] == [Status.WITHDRAWN, Status.SUBMITTED]
    assert state.ok
    assert desk.store.related(desk.load(again)) == ()


def test_a_read_only_folder_asks_for_another_place(
    desk: Desk, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.do(folder, AUTHOR, "submit")
    before = (folder / "internal/review.json").read_bytes()
    beside = Workspace.partial_beside

    def refused(self: Workspace, target: Path) -> Path:
        if folder in target.parents:
            problem = OSError(errno.EROFS, os.strerror(errno.EROFS))
            raise StorageError("storage.failed", "no") from problem
        return beside(self, target)

    monkeypatch.setattr(Workspace, "partial_beside", refused)
    with pytest.raises(StorageError) as caught:
        desk.do(folder, BEN, "cast")
    assert caught.value.code == "review.read-only"
    assert "--out" in caught.value.hint
    assert desk.status(folder) is Status.SUBMITTED
    out = tmp_path / "review-of-ben.json"
    desk.do(folder, BEN, "cast", out=out)
    desk.do(folder, CLARA, "cast", out=out)
    assert desk.status(out) is Status.IN_REVIEW
    assert (folder / "internal/review.json").read_bytes() == before
    monkeypatch.undo()
    desk.join(folder, [out])
    assert desk.status(folder) is Status.IN_REVIEW


def test_a_review_is_not_written_over_another_file(
    desk: Desk, folder: Path, tmp_path: Path
) -> None:
    desk.do(folder, AUTHOR, "submit")
    mine = tmp_path / "notes.txt"
    mine.write_text("my notes")
    with pytest.raises(InputError) as caught:
        desk.do(folder, BEN, "cast", out=mine)
    assert caught.value.code == "out.exists"
    assert mine.read_text() == "my notes"


def test_the_copy_of_another_review_is_not_joined(desk: Desk, folder: Path, tmp_path: Path) -> None:
    other = make_folder(tmp_path / "other", "release 2")
    desk.do(folder, AUTHOR, "submit")
    desk.do(other, AUTHOR, "submit")
    before = (folder / "internal/review.json").read_bytes()
    with pytest.raises(RefusedError) as caught:
        desk.join(folder, [other])
    assert caught.value.code == "review.other"
    with pytest.raises(InputError) as missing:
        desk.join(folder, [tmp_path / "nothing"])
    assert missing.value.code == "release.missing"
    empty = make_folder(tmp_path / "empty", "release 3")
    with pytest.raises(InputError) as nothing:
        desk.join(folder, [empty])
    assert nothing.value.code == "review.empty"
    assert (folder / "internal/review.json").read_bytes() == before


def test_joining_mends_a_damaged_file_and_keeps_its_bytes(desk: Desk, folder: Path) -> None:
    desk.do(folder, AUTHOR, "submit")
    copy = copied(folder, "copy")
    desk.do(copy, BEN, "cast")
    review = folder / "internal/review.json"
    damaged = review.read_bytes().replace(b'"note": "Please', b'"note": "Pleese')
    review.write_bytes(damaged)
    assert "event.unreadable" in desk.faults(folder)
    with pytest.raises(RefusedError) as caught:
        desk.do(folder, CLARA, "start")
    assert "damaged" in caught.value.sentence
    assert review.read_bytes() == damaged
    assert "event.unreadable" in desk.join(folder, [copy])
    assert desk.status(folder) is Status.IN_REVIEW
    kept = list((desk.store.receipts.folder / "set-aside").iterdir())
    assert [path.read_bytes() for path in kept] == [damaged]


def test_what_strangers_signed_is_left_out_and_named(desk: Desk, folder: Path) -> None:
    from tests.helpers.reviewing import trusting

    desk.do(folder, AUTHOR, "submit")
    everybody = trusting(AUTHOR, BEN, CLARA, DORA, STRANGER)
    with desk.store.editing(folder, everybody, desk.now) as edit:
        about = edit.state.current
        assert about is not None
        vote = approval(about.submission, STRANGER.fingerprint)
        event = making.cast(STRANGER, edit.state, vote)
        desk.store.receipts.folder = desk.space.home / "elsewhere"
        edit.add(event)
    desk.store.receipts.folder = desk.space.home / "receipts"
    assert desk.faults(folder) == ["signer.unknown"]
    assert desk.join(folder, []) == ("signer.unknown",)
    assert desk.status(folder) is Status.SUBMITTED


def test_what_a_stolen_key_signed_is_not_missed_after_it_was_left_out(
    desk: Desk, folder: Path
) -> None:
    from dpdesk.project.review.trust import RevokedAs

    desk.do(folder, AUTHOR, "submit")
    desk.do(folder, BEN, "cast")
    kind = RevokedAs.COMPROMISED
    trust = TRUST.revoke(BEN.fingerprint, NOON, "stolen on the way", kind)
    desk.now += timedelta(hours=1)
    state = desk.store.load(folder, trust, desk.now).state
    assert [fault.code for fault in state.faults] == ["signer.revoked"]
    with desk.store.editing(folder, trust, desk.now) as edit:
        edit.take(desk.store.join(edit.loaded, []))
        edit.add(making.merge(DORA, edit.state))
    assert desk.store.load(folder, trust, desk.now).state.faults == ()
    assert desk.faults(folder) == ["receipt.missing"]


def test_receipts_never_hold_what_strangers_signed(desk: Desk, folder: Path) -> None:
    from tests.helpers.reviewing import trusting

    desk.do(folder, AUTHOR, "submit")
    loaded = desk.store.load(folder, trusting(BEN), desk.now)
    desk.store.receipts.folder = desk.space.home / "elsewhere"
    desk.store.remember(loaded)
    assert not list(desk.store.receipts.folder.glob("*.json"))


def test_damaged_receipts_are_named_and_set_aside(desk: Desk, folder: Path) -> None:
    root = desk.do(folder, AUTHOR, "submit").id
    book = desk.store.receipts.folder / f"{root}.json"
    book.write_bytes(book.read_bytes()[:-20])
    assert desk.faults(folder) == ["receipt.damaged"]
    desk.store.remember(desk.load(folder))
    assert desk.status(folder) is Status.SUBMITTED
    assert len(list(desk.store.receipts.folder.glob("*.damaged-*"))) == 1


def test_a_clock_that_went_back_signs_nothing(desk: Desk, folder: Path) -> None:
    desk.do(folder, AUTHOR, "submit")
    desk.now = NOON - timedelta(hours=1)
    with pytest.raises(RefusedError) as caught:
        desk.do(folder, BEN, "cast")
    assert "2026-11-20T11:01:00Z" in caught.value.sentence
    assert "2026-11-20T12:01:00Z" in caught.value.sentence
    desk.now = NOON + timedelta(hours=1)
    later = parse_time("2026-11-21T00:00:00Z")
    with pytest.raises(RefusedError) as caught:
        desk.do(folder, BEN, "cast", latest=later)
    assert "2026-11-21T00:00:00Z" in caught.value.sentence
    desk.now = NOON + timedelta(hours=2)
    desk.do(folder, BEN, "cast")


def test_a_full_disk_leaves_the_review_as_it_was(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.do(folder, AUTHOR, "submit")
    before = (folder / "internal/review.json").read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError) as caught:
        desk.do(folder, BEN, "cast")
    assert caught.value.code == "storage.disk-full"
    monkeypatch.undo()
    assert (folder / "internal/review.json").read_bytes() == before
    assert sorted(path.name for path in (folder / "internal").iterdir()) == [
        "evidence.json",
        "review.json",
        "seal.json",
    ]
    assert desk.status(folder) is Status.SUBMITTED


def test_a_folder_that_somebody_else_keeps_is_not_waited_for_for_ever(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    from dpdesk.project.review import homefiles

    monkeypatch.setattr(homefiles, "LONGEST_WAIT", 0)
    handle = os.open(folder / "internal", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(StorageError) as caught:
            desk.do(folder, AUTHOR, "submit")
    finally:
        os.close(handle)
    assert caught.value.code == "review.busy"
    desk.do(folder, AUTHOR, "submit")


def test_the_permissions_are_those_of_the_files_beside_it(desk: Desk, folder: Path) -> None:
    desk.do(folder, AUTHOR, "submit")
    review = folder / "internal/review.json"
    assert review.stat().st_mode & 0o777 == 0o640
    review.chmod(0o600)
    desk.do(folder, BEN, "start")
    assert review.stat().st_mode & 0o777 == 0o600


def test_links_and_devices_are_no_review_files(desk: Desk, folder: Path, tmp_path: Path) -> None:
    review = folder / "internal/review.json"
    review.symlink_to(tmp_path / "secret")
    assert desk.faults(folder) == ["review.unreadable"]
    review.unlink()
    os.mkfifo(review)
    assert desk.faults(folder) == ["review.unreadable"]
    review.unlink()
    review.mkdir()
    assert desk.faults(folder) == ["review.unreadable"]


def test_every_file_that_was_submitted_is_held_against_the_folder(
    desk: Desk, folder: Path, tmp_path: Path
) -> None:
    desk.do(folder, AUTHOR, "submit")
    current = desk.load(folder).state.current
    assert current is not None
    assert binding_faults(current.payload, bind_release(folder, CancelToken())) == ()
    for path in ("public/manifest.json", "public/microdata.csv", "internal/seal.json"):
        changed = copied(folder, f"changed-{Path(path).name}")
        (changed / path).write_text("other")
        found = binding_faults(current.payload, bind_release(changed, CancelToken()))
        assert f"{path} is not the file submitted" in [fault.reason for fault in found]
        (changed / path).unlink()
        found = binding_faults(current.payload, bind_release(changed, CancelToken()))
        assert f"{path}, which was submitted, is missing" in [fault.reason for fault in found]
    (folder / "public/sub").mkdir()
    (folder / "public/sub/more.csv").write_text("x")
    (folder / "public/link.csv").symlink_to(tmp_path)
    found = binding_faults(current.payload, bind_release(folder, CancelToken()))
    assert sorted(fault.code for fault in found) == ["file.added", "file.odd"]


def test_a_public_part_alone_cannot_be_reviewed(desk: Desk, folder: Path) -> None:
    for place in (folder / "public", folder.with_name("nothing")):
        with pytest.raises(InputError) as caught:
            desk.load(place)
        assert caught.value.code == "release.missing"
    with pytest.raises(InputError):
        bind_release(folder / "public", CancelToken())


def test_two_writers_lose_nothing(desk: Desk, folder: Path) -> None:
    """Two processes' threads that add events at once both find theirs in the file."""
    from concurrent.futures import ThreadPoolExecutor

    desk.do(folder, AUTHOR, "submit")
    now: datetime = desk.now

    def begin(who: Signer) -> str:
        with desk.store.editing(folder, TRUST, now) as edit:
            event = making.start(who, edit.state)
            edit.add(event)
        return event.id

    with ThreadPoolExecutor(3) as pool:
        made = list(pool.map(begin, [BEN, CLARA, DORA]))
    assert set(made) < set(desk.load(folder).state.graph.by_id)
