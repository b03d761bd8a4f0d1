"""Receipts: what this computer has seen cannot be taken out of a review unnoticed."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from dpdesk.core.errors import RefusedError
from dpdesk.io.canonical import canonical_json
from dpdesk.project.review import making
from dpdesk.project.review.graph import LARGEST_REVIEW
from dpdesk.project.review.state import Status
from dpdesk.project.review.texts import parse_time
from tests.helpers.review_desk import Desk, make_folder
from tests.helpers.reviewing import (
    AUTHOR,
    BEN,
    CLARA,
    DORA,
    NOON,
    STRANGER,
    TRUST,
    approval,
)


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


def test_a_review_that_is_swapped_after_its_receipts_were_deleted_is_missed(
    desk: Desk, folder: Path
) -> None:
    desk.do(folder, AUTHOR, "submit")
    review = folder / "internal/review.json"
    before = review.read_bytes()
    desk.do(folder, BEN, "cast")
    whole = review.read_bytes()
    shutil.rmtree(desk.store.receipts.folder)
    assert desk.faults(folder) == []  # nothing is missing as long as the review is whole

    review.write_bytes(before)
    assert desk.faults(folder) == ["receipt.lost"]
    review.unlink()
    assert desk.faults(folder) == ["receipt.lost"]
    with pytest.raises(RefusedError):
        desk.do(folder, AUTHOR, "submit")
    review.write_bytes(whole)
    assert desk.faults(folder) == []


def test_a_review_file_without_events_is_not_taken_for_a_draft(desk: Desk, folder: Path) -> None:
    (folder / "internal/review.json").write_bytes(canonical_json({"format": 1, "events": []}))
    assert desk.faults(folder) == ["review.unreadable"]


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


def test_a_clock_that_went_back_does_not_vouch_that_a_vote_was_seen_in_time(
    desk: Desk, folder: Path
) -> None:
    from dpdesk.project.review.trust import RevokedAs

    desk.do(folder, AUTHOR, "submit")
    desk.do(folder, BEN, "cast")
    shutil.rmtree(desk.store.receipts.folder)
    known = desk.now + timedelta(days=2)  # by the audit log
    stolen = desk.now + timedelta(days=1)
    desk.store.remember(desk.store.load(folder, TRUST, desk.now, known))
    trust = TRUST.revoke(BEN.fingerprint, stolen, "stolen", RevokedAs.COMPROMISED)
    state = desk.store.load(folder, trust, known).state
    assert [fault.code for fault in state.faults] == ["signer.compromised"]


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


def test_whatever_is_wrong_with_receipts_names_their_path_once_and_ends_without_a_stop(
    desk: Desk, folder: Path
) -> None:
    root = desk.do(folder, AUTHOR, "submit").id
    book = desk.store.receipts.folder / f"{root}.json"
    whole = book.read_bytes()

    def cut() -> None:
        book.write_bytes(whole[:-20])

    def enlarge() -> None:
        with book.open("wb") as stream:
            stream.truncate(2 * LARGEST_REVIEW + 1)

    def replace_by_folder() -> None:
        book.mkdir()

    def replace_by_link() -> None:
        book.symlink_to(folder)

    for damage in (cut, enlarge, replace_by_folder, replace_by_link):
        book.unlink(missing_ok=True)
        damage()
        (fault,) = desk.load(folder).state.faults
        assert fault.code == "receipt.damaged"
        assert fault.reason.count(str(book)) == 1
        assert not fault.reason.endswith(".")
        if book.is_dir() and not book.is_symlink():
            book.rmdir()


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
