"""A review survives the death of whoever signs in it at any moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.review_killing import KINDS, kill_again_and_again

pytestmark = pytest.mark.costly_keys
KILLS = 15


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes of Linux")
def test_a_kill_at_any_moment_leaves_a_review_as_before_or_after(tmp_path: Path) -> None:
    tally = kill_again_and_again(tmp_path, KILLS, seed=5)
    assert tally.there > 0
    assert tally.absent > 0
    assert tally.kinds >= KINDS
