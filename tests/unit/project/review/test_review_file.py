"""Reviews in folders: copies joined, receipts, read-only folders, crashes; nothing is lost."""

from __future__ import annotations

import errno
import json
import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from dpdesk.core.errors import InputError, RefusedError, StorageError
from dpdesk.core.jobs import CancelToken
from dpdesk.io.canonical import canonical_json
from dpdesk.io.workspace import Workspace
from dpdesk.project.review import making, review_file
from dpdesk.project.review.binding import bind_release, binding_faults
from dpdesk.project.review.keys import Signer
from dpdesk.project.review.state import Status
from tests.helpers.read_only import make_read_only
from tests.helpers.review_desk import Desk, copied, make_folder
from tests.helpers.reviewing import (
    AUTHOR,
    BEN,
    CLARA,
    DORA,
    TRUST,
)


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
    make_read_only(folder, monkeypatch)
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


def test_what_is_being_written_never_lies_in_the_release_folder(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Path] = []
    beside = Workspace.partial_beside

    def noted(self: Workspace, target: Path) -> Path:
        seen.append(beside(self, target))
        return seen[-1]

    monkeypatch.setattr(Workspace, "partial_beside", noted)
    desk.do(folder, AUTHOR, "submit")
    assert [path.parent for path in seen] == [folder.parent]


def test_where_nothing_can_be_made_beside_the_folder_it_is_written_within(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = Workspace.partial_beside

    def refused(self: Workspace, target: Path) -> Path:
        if target == folder:
            problem = OSError(errno.EACCES, os.strerror(errno.EACCES))
            raise StorageError("storage.failed", "no") from problem
        return beside(self, target)

    monkeypatch.setattr(Workspace, "partial_beside", refused)
    desk.do(folder, AUTHOR, "submit")
    assert desk.status(folder) is Status.SUBMITTED


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


def test_joining_fixes_a_damaged_file_and_keeps_its_bytes(desk: Desk, folder: Path) -> None:
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


@pytest.mark.parametrize("step", ["write_new", "sync_folder", "_mode", "before", "after"])
def test_a_stop_at_any_step_leaves_a_whole_review(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    desk.do(folder, AUTHOR, "submit")
    rename = Path.replace

    def stop(*parts: object, **more: object) -> None:
        raise KeyboardInterrupt

    def renamed(self: Path, target: Path) -> Path:
        if target.name == "review.json" and step == "before":
            stop()
        done = rename(self, target)
        if target.name == "review.json":
            stop()
        return done

    if step in ("before", "after"):
        monkeypatch.setattr(Path, "replace", renamed)
    else:
        monkeypatch.setattr(review_file, step, stop)
    with pytest.raises(KeyboardInterrupt):
        desk.do(folder, BEN, "cast")
    monkeypatch.undo()
    written = step in ("sync_folder", "after")
    assert desk.status(folder) is (Status.IN_REVIEW if written else Status.SUBMITTED)
    assert sorted(path.name for path in (folder / "internal").iterdir()) == [
        "evidence.json",
        "review.json",
        "seal.json",
    ]
    desk.do(folder, CLARA, "cast")
    assert desk.status(folder) is Status.IN_REVIEW


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


@pytest.mark.parametrize(
    ("created", "late"), [("2020-01-01", False), ("2120-01-01", True), ("", False), (3, False)]
)
def test_a_release_is_not_submitted_before_it_is_made(
    desk: Desk, folder: Path, created: object, late: bool
) -> None:
    place = folder / "public/manifest.json"
    place.write_bytes(canonical_json({**json.loads(place.read_bytes()), "created": created}))
    desk.do(folder, AUTHOR, "submit")
    binding = bind_release(folder, CancelToken())
    state = desk.store.load(folder, TRUST, desk.now, binding=binding).state
    assert [fault.code for fault in state.faults] == ["clock.before-release"] * late
    assert state.ok is not late


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


def test_an_approved_review_of_another_release_approves_nothing(
    desk: Desk, folder: Path, tmp_path: Path
) -> None:
    desk.do(folder, AUTHOR, "submit")
    other = make_folder(tmp_path / "other", "release 2")
    shutil.copy(folder / "internal/review.json", other / "internal/review.json")
    assert desk.faults(other) == ["review.other-release"]
    with pytest.raises(RefusedError):
        desk.do(other, BEN, "cast")
    desk.do(other, AUTHOR, "submit")
    assert desk.status(other) is Status.SUBMITTED


def test_nobody_votes_on_files_that_are_not_those_submitted(desk: Desk, folder: Path) -> None:
    desk.do(folder, AUTHOR, "submit")
    (folder / "public/microdata.csv").write_text("age\n7\n")
    binding = bind_release(folder, CancelToken())
    found = desk.store.load(folder, TRUST, desk.now, binding=binding).state
    assert [fault.code for fault in found.faults] == ["file.changed"]
    with pytest.raises(RefusedError) as caught:
        desk.do(folder, BEN, "cast", binding=binding)
    assert "public/microdata.csv is not the file submitted" in caught.value.sentence
    out = folder.with_name("review.json")
    shutil.copy(folder / "internal/review.json", out)
    with pytest.raises(RefusedError):
        desk.do(folder, BEN, "cast", binding=binding, out=out)
    desk.do(folder, AUTHOR, "withdraw", binding=binding)


def test_what_is_signed_is_told_as_signed_though_its_receipt_cannot_be_kept(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.do(folder, AUTHOR, "submit")

    def full(path: Path, *more: object, **named: object) -> None:
        raise StorageError("storage.disk-full", f"{path}: the disk is full.")

    desk.now += timedelta(minutes=1)
    with desk.store.editing(folder, TRUST, desk.now) as edit:
        event = desk.make(edit.state, folder, BEN, "cast")
        with monkeypatch.context() as patch:
            patch.setattr("dpdesk.project.review.receipts.write_private", full)
            written = edit.add(event)
    assert "signed and written" in written.unkept
    assert "the disk is full" in written.unkept
    assert event.id in desk.load(folder).state.graph.by_id
    desk.store.remember(desk.load(folder))
    assert any(event.id in book.seen for book in desk.load(folder).books)


def test_a_note_of_what_was_seen_is_made_later_where_it_failed(
    desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:
        raise StorageError("receipts.not-noted", "The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("dpdesk.project.review.receipts.Noted.tell", full)
        desk.do(folder, AUTHOR, "submit")
    desk.store.remember(desk.load(folder))
    shutil.rmtree(desk.store.receipts.folder)
    (folder / "internal/review.json").unlink()
    assert "receipt.lost" in desk.faults(folder)


def test_what_is_in_its_place_is_written_though_its_folder_cannot_be_synced(
    desk: Desk, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpdesk.project.review import homefiles

    def broken(folder: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(homefiles, "sync_folder", broken)
    monkeypatch.setattr(review_file, "sync_folder", broken)
    desk.do(folder, AUTHOR, "submit")
    assert desk.status(folder) is Status.SUBMITTED
    homefiles.write_private(tmp_path / "trust.json", b"{}")
    assert (tmp_path / "trust.json").read_bytes() == b"{}"


@pytest.mark.parametrize("made", ["pipe", "link"])
def test_what_is_no_file_in_the_place_of_a_lock_is_named(tmp_path: Path, made: str) -> None:
    from dpdesk.project.review.homefiles import locked

    lock = tmp_path / ".trust.lock"
    if made == "pipe":
        os.mkfifo(lock)
    else:
        lock.symlink_to(tmp_path / "other.txt")
    with pytest.raises(StorageError) as error, locked(tmp_path, "trust"):
        pass
    assert (error.value.code, str(lock) in error.value.sentence) == ("storage.kind", True)
    assert not (tmp_path / "other.txt").exists()
