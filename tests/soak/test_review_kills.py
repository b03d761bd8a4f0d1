"""A review survives the death of whoever signs in it at any moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.review_killing import kill_again_and_again
from tests.helpers.soak import SoakBook, scaled

pytestmark = pytest.mark.costly_keys
KILLS = 500


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes of Linux")
def test_a_kill_at_any_moment_leaves_a_review_as_before_or_after(
    tmp_path: Path, book: SoakBook
) -> None:
    tally = kill_again_and_again(tmp_path, scaled(KILLS), seed=6)
    book.note(
        "Kill (SIGKILL) `dpdesk review` while it submits, votes, reveals, merges or releases",
        f"{scaled(KILLS):,} times",
        f"the event there {tally.there:,} times, absent {tally.absent:,} times, "
        f"{tally.cut_short:,} times cut short while writing; no event lost or half written, "
        "every folder verified after the next start",
    )
