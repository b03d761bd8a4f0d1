"""What must hold of a ledger whose spenders were killed."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dpdesk.project.ledger import AccountKey
from tests.helpers.debits import open_here, pure, witness_of
from tests.helpers.ledger_writer import CHILDREN, COST, Killer

LONGEST, SAME_FILE = 0.4, 25


@dataclass
class Tally:
    """Debits in hand, debits that nobody got in hand, and how often a commit was cut short."""

    in_hand: int = 0
    unseen: int = 0
    cut_short: int = 0


def kill_again_and_again(folder: Path, times: int, seed: int) -> Tally:
    """Kill two spenders of one ledger so many times, and check the ledger each time.

    A new ledger is begun now and then, so that files of all sizes are met, one half begun too.
    """
    moments, killer, tally = random.Random(seed), Killer(), Tally()
    try:
        for number in range(times):
            if number % SAME_FILE == 0:
                path, known, unseen = folder / f"{number}.sqlite", dict[int, str](), 0
            journal = path.with_name(path.name + "-journal")
            cut = []
            known |= killer.run(
                path,
                moments.uniform(0, LONGEST),
                lambda journal=journal, cut=cut: cut.append(journal.exists()),
            )
            tally.cut_short += sum(cut)
            found = check_whole(path, known)
            # A commit may be whole before its debit came into anybody's hand: spent all the same.
            assert found - len(known) - unseen in range(CHILDREN + 1)
            tally.unseen += found - len(known) - unseen
            unseen = found - len(known)
            if number % SAME_FILE == SAME_FILE - 1 or number == times - 1:
                tally.in_hand += len(known)
    finally:
        killer.close()
    return tally


def check_whole(path: Path, known: dict[int, str]) -> int:
    """The number of debits of a ledger, which must be whole and have all that are known.

    The witness knows every debit that came into a hand, and nothing that the ledger does not have,
    so that nothing stops the next one to write.
    """
    witness = witness_of(path)
    with open_here(path, witness=witness) as ledger:
        assert set(known.values()) <= {one.hash for one in witness.entries(ledger.identity)}
        assert ledger.lost() == ()
        check = ledger.check(known)
        debits = dict(ledger.book.debits)
        spent = ledger.book.spending(AccountKey("residents"))
        ledger.set_limit(AccountKey("residents"), pure("80"), "the next who writes")
        assert {one.hash for one in ledger.entries()} == {
            one.hash for one in witness.entries(ledger.identity)
        }
    assert check.fault is None
    assert set(known) <= set(debits)
    assert spent.pure == COST * len(debits)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert sorted(item.name for item in path.parent.glob(f"{path.name}*")) == [path.name]
    return len(debits)
