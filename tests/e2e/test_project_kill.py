"""A project survives the death of its writer at any moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.killing import kill_again_and_again
from tests.helpers.projects import Desk

KILLS = 30


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
def test_a_kill_at_any_moment_loses_no_acknowledged_change(
    private_home: Path, tmp_path: Path
) -> None:
    desk = Desk(private_home)
    try:
        tally = kill_again_and_again(desk, tmp_path, KILLS, seed=3)
    finally:
        desk.close()
    assert tally.acknowledged > KILLS
    assert tally.cut_short > 0
