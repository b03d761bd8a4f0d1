"""Processes that spend a budget as fast as they can, to be killed at any moment.

``python -m tests.helpers.ledger_writer`` reads paths of ledgers, one a line. For each it starts
:data:`CHILDREN` children that debit the same ledger; a child prints the row and the hash of each
debit once it has it, as code that draws noise would begin then. ``pids`` says whom to kill,
``done`` that all have ended. One process starts all children: the libraries are loaded once.

``python -m tests.helpers.ledger_writer PATH COST LIMIT`` debits until the ledger refuses, and
prints how often it was let.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

from dpdesk.core.errors import RefusedError
from dpdesk.project.ledger import AccountKey, Outcome
from tests.helpers.debits import ask, open_here, pure, witness_of
from tests.helpers.serving import Served, asked_paths, child, kill, say

CHILDREN = 2
COST = Fraction(1, 1000)
LIMIT = Fraction(100)


def main() -> None:
    """Serve until nothing is asked any more."""
    for path in asked_paths():
        children = [child(partial(_spend_for_ever, path, number)) for number in range(CHILDREN)]
        say("pids " + " ".join(map(str, children)))
        for one in children:
            os.waitpid(one, 0)
        say("done")


def _spend_for_ever(path: Path, number: int) -> None:
    with open_here(path, witness=witness_of(path)) as ledger:
        count = 0
        while True:
            debit = ledger.debit(ask(str(float(COST))), LIMIT)
            debit.redeem()
            say(f"{debit.row} {debit.entry}")
            count += 1
            if count % 3 == 0:
                outcome = Outcome.RELEASED if number else Outcome.FAILED
                ledger.settle(debit, outcome, reason="" if number else "a reason")
            if count % 7 == 0:
                ledger.set_limit(AccountKey("residents"), pure("90"), "a reason")


def spend_all(path: Path, cost: str, limit: str) -> int:
    """How many debits the ledger let this process make until it refused."""
    count = 0
    with open_here(path) as ledger:
        while True:
            try:
                ledger.debit(ask(cost), Fraction(limit))
            except RefusedError:
                return count
            count += 1


class Killer(Served):
    """Starts the process above, and kills its children."""

    def __init__(self) -> None:
        super().__init__("tests.helpers.ledger_writer")

    def run(self, path: Path, seconds: float, at_death: Callable[[], None]) -> dict[int, str]:
        """Let the children spend, kill them after so long; the debits that they had in hand."""
        self.ask(path)
        lines = self.lines_until(lambda found: any(line.startswith("pids") for line in found))
        (started,) = [line for line in lines if line.startswith("pids")]
        lines.remove(started)
        lines += self.lines_for(seconds)
        for number in started.split()[1:]:
            kill(int(number))
        lines += self.lines_until(lambda found: "done" in found)
        lines.remove("done")
        at_death()
        return {int(row): entry for row, entry in (line.split() for line in lines)}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(spend_all(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
    else:
        main()
