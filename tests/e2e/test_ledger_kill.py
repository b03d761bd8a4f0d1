"""The budget survives the death of its spenders at any moment, and nobody overspends it."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from dpdesk.project.ledger import AccountKey
from tests.helpers.debits import open_here
from tests.helpers.ledger_killing import kill_again_and_again
from tests.helpers.release_spender import BUY, Spender

KILLS, KILLED_RUNS, KILLED_PURCHASES, PROCESSES = 30, 10, 8, 4


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
def test_a_kill_at_any_moment_never_shows_less_than_was_spent(tmp_path: Path) -> None:
    # On a busy machine the kills of a round may all fall between commits: another round then.
    for seed in range(5, 15):
        folder = tmp_path / str(seed)
        folder.mkdir()
        tally = kill_again_and_again(folder, KILLS, seed=seed)
        assert tally.in_hand > KILLS
        if tally.cut_short:
            return
    pytest.fail("no commit was cut short in ten rounds")


def test_processes_that_spend_at_once_stay_within_the_limit_together(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    command = [sys.executable, "-m", "tests.helpers.ledger_writer", str(path), "0.03", "1"]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    counts = [int(process.communicate()[0]) for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES
    assert sum(counts) == 33
    with open_here(path) as ledger:
        assert ledger.check().ok
        assert ledger.book.spending(AccountKey("residents")).pure == Fraction("0.99")


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
def test_no_release_is_without_its_debit_whenever_its_run_is_killed(tmp_path: Path) -> None:
    spender = Spender(tmp_path)
    try:
        tally = spender.kill_again_and_again(KILLED_RUNS, seed=7)
    finally:
        spender.close()
    assert 2 <= tally.releases < tally.debits
    assert tally.unknown > 0


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a Unix signal")
def test_no_bought_table_is_without_its_debit_whenever_its_purchase_is_killed(
    tmp_path: Path,
) -> None:
    spender = Spender(tmp_path, BUY)
    try:
        tally = spender.kill_again_and_again(KILLED_PURCHASES, seed=11)
    finally:
        spender.close()
    assert 2 <= tally.releases < tally.debits
    assert tally.unknown > 0
    assert (spender.target / "0").is_dir()
