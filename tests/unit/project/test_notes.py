"""Notes of what files of the home folder hold, when a kill or a full disk cuts them short."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dpdesk.core.errors import StorageError
from dpdesk.project import past_tables, roundings
from dpdesk.project.past_tables import PastRelease, PastTables
from dpdesk.project.review import receipts
from dpdesk.project.roundings import Noted, Roundings
from tests.helpers.review_desk import Desk
from tests.helpers.reviewing import AUTHOR, BEN
from tests.unit.project.review.conftest import desk, folder

__all__ = ["desk", "folder"]  # fixtures of reviews

FIRST, SECOND = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture(autouse=True)
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the witness."""
    monkeypatch.setenv("DPDESK_WITNESS", str(tmp_path / "outside" / "witness.jsonl"))
    return tmp_path / "outside"


def test_a_note_that_is_cut_short_swallows_none_after_it_and_names_nothing_new() -> None:
    Noted("notes.txt", FIRST).tell(3, "", "")
    path = Noted("notes.txt", FIRST).path
    before = path.read_bytes()
    Noted("notes.txt", SECOND).tell(12, "", "")
    whole = path.read_bytes()
    for kept in range(len(before), len(whole)):
        path.write_bytes(whole[:kept])
        assert Noted("notes.txt", SECOND).count() in (0, 1, 12)
        Noted("notes.txt", FIRST).tell(4, "", "")
        Noted("notes.txt", SECOND).tell(13, "", "")
        assert Noted("notes.txt", FIRST).count() == 4
        assert Noted("notes.txt", SECOND).count() == 13
        assert {name for name, _ in Noted("notes.txt", "").all()} == {FIRST, SECOND}


def test_notes_of_earlier_versions_count() -> None:
    Noted("notes.txt", FIRST).tell(1, "", "")
    path = Noted("notes.txt", FIRST).path
    path.write_bytes(f"{FIRST} 3\n{SECOND} 2\n{FIRST} 5\nfed".encode())
    assert Noted("notes.txt", FIRST).count() == 5
    assert Noted("notes.txt", SECOND).count() == 2


def test_no_event_is_missed_because_a_note_of_one_was_cut_short(
    desk: Desk, folder: Path, outside: Path
) -> None:
    desk.do(folder, AUTHOR, "submit")
    notes = outside / receipts.NOTED
    before = notes.read_bytes()
    desk.do(folder, BEN, "start")
    whole = notes.read_bytes()
    for kept in range(len(before), len(whole)):
        notes.write_bytes(whole[:kept])
        assert desk.faults(folder) == []
        desk.store.remember(desk.load(folder))
        assert desk.faults(folder) == []
    # So it is where an earlier version has gone on with such a line.
    notes.write_bytes(before.rstrip()[:-20] + before.lstrip() + whole)
    assert desk.faults(folder) == []


def entry(code: str) -> PastRelease:
    return PastRelease(code, "A table", "2026-01-01", ())


def test_a_register_whose_note_a_kill_prevented_is_noted_when_it_is_entered_again(
    tmp_path: Path, outside: Path
) -> None:
    register = PastTables(tmp_path, "residents", "")
    register.enter(entry("a" * 64))
    (outside / past_tables.NOTED).unlink()  # as if it had been killed before
    register.enter(entry("a" * 64))
    for path in (tmp_path / past_tables.FOLDER).glob("*.json"):
        path.unlink()
    assert register.missing() == 1


def test_draws_whose_note_a_kill_prevented_are_noted_when_they_are_used_again(
    tmp_path: Path, outside: Path
) -> None:
    kept = Roundings(tmp_path, "residents", "")

    def draw(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
        return np.arange(count, dtype=np.uint64)

    kept.directions([["a"], ["b"]], lambda cells: [True] * len(cells))
    kept.row_keys(3, draw)
    (outside / roundings.NOTED).unlink()  # as if it had been killed before
    kept.directions([["a"]], lambda cells: [True] * len(cells))
    kept.row_keys(2, draw)
    for path in (tmp_path / roundings.FOLDER).glob("*.json"):
        path.unlink()
    with pytest.raises(StorageError, match="drawn at random"):
        kept.directions([["a"]], lambda cells: [False] * len(cells))
    with pytest.raises(StorageError, match="drawn at random"):
        kept.row_keys(2, draw)
