"""A project survives the death of its writer at any moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.killing import kill_again_and_again
from tests.helpers.projects import Desk
from tests.helpers.soak import SoakBook, scaled

KILLS = 500


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
def test_a_kill_at_any_moment_loses_no_acknowledged_change(
    private_home: Path, tmp_path: Path, book: SoakBook
) -> None:
    desk = Desk(private_home)
    try:
        tally = kill_again_and_again(desk, tmp_path, scaled(KILLS), seed=4)
    finally:
        desk.close()
    book.note(
        "Kill (SIGKILL) a program that changes a project as fast as it can, at a random moment",
        f"{scaled(KILLS):,} times",
        f"{tally.cut_short:,} times in the middle of a commit; all of {tally.acknowledged:,} "
        f"acknowledged changes there, one more {tally.one_more:,} times; every file whole, every "
        "audit log unbroken",
    )
