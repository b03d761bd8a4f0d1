"""The budget survives the death of its spenders at any moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.helpers.ledger_killing import kill_again_and_again
from tests.helpers.release_spender import BUY, Spender
from tests.helpers.soak import SoakBook, scaled

KILLS = 500


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
def test_a_kill_at_any_moment_never_shows_less_than_was_spent(
    tmp_path: Path, book: SoakBook
) -> None:
    tally = kill_again_and_again(tmp_path, scaled(KILLS), seed=6)
    book.note(
        "Kill (SIGKILL) two programs that debit one budget as fast as they can, at a random moment",
        f"{scaled(KILLS):,} times",
        f"{tally.cut_short:,} times in the middle of a commit; all of {tally.in_hand:,} debits "
        f"that came into a program's hand there, {tally.unseen:,} more were spent without; every "
        "chain unbroken",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
def test_no_release_is_without_its_debit_whenever_its_run_is_killed(
    tmp_path: Path, book: SoakBook
) -> None:
    spender = Spender(tmp_path)
    try:
        tally = spender.kill_again_and_again(scaled(KILLS), seed=8)
    finally:
        spender.close()
    book.note(
        "Kill (SIGKILL) runs that release cubes with noise, at a random moment",
        f"{scaled(KILLS):,} times",
        f"all of {tally.releases:,} releases whole and debited; {tally.debits:,} debits, of which "
        f"{tally.unknown:,} show as spent, outcome unknown",
    )


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
def test_no_bought_table_is_without_its_debit_whenever_its_purchase_is_killed(
    tmp_path: Path, book: SoakBook
) -> None:
    spender = Spender(tmp_path, BUY)
    try:
        tally = spender.kill_again_and_again(scaled(KILLS), seed=12)
    finally:
        spender.close()
    book.note(
        "Kill (SIGKILL) purchases of single tables beside a release, at a random moment",
        f"{scaled(KILLS):,} times",
        f"all of {tally.releases:,} releases whole and debited; {tally.debits:,} debits, of which "
        f"{tally.unknown:,} show as spent, outcome unknown",
    )
