"""Runs of a plan that spends a budget, one after the other, to be killed at any moment.

``python -m tests.helpers.release_spender HOME PLAN TARGET WAY`` makes one release, ``TARGET/0``.
A first child makes ``TARGET/1`` and says how many seconds that took it. Then the process starts a
child for each line that it reads; the child makes releases ``TARGET/2``, … from the first number
that is free. ``pid`` says whom to kill once its work begins, ``done`` that it has ended. The
libraries are loaded once. With the way ``buy`` all but the first are single tables, bought beside
it.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

from dpdesk.app.buying import TableRequest, buy
from dpdesk.app.context import AppContext
from dpdesk.app.shops import shop_of_file
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.io.workspace import Workspace
from dpdesk.project.ledger import DebitRecord, Outcome
from tests.helpers.cubes import people, release, write_plan, write_register
from tests.helpers.debits import open_here
from tests.helpers.serving import Served, child, kill, say

RELEASE, BUY = "release", "buy"
_WISH = TableRequest(("sex", "region"), ("epsilon", Fraction(1, 16)))


def main(home: Path, plan: Path, target: Path, way: str) -> None:
    """Serve until nothing is asked any more."""
    with AppContext.open(home) as context:
        release(context, plan, target / "0")
    # A child starts its own helper processes: what it needs, only a child can tell.
    os.waitpid(child(partial(_release_once, home, plan, target / "1", way)), 0)
    for _ in sys.stdin.buffer:
        os.waitpid(child(partial(_release_for_ever, home, plan, target, way)), 0)
        say("done")


def _make(context: AppContext, plan: Path, out: Path, way: str) -> None:
    if way == BUY:
        first = out.parent / "0"
        buy(context, shop_of_file(plan), _WISH, [first], out, CancelToken(), silent)
    else:
        release(context, plan, out)


def _release_once(home: Path, plan: Path, out: Path, way: str) -> None:
    with AppContext.open(home) as context:
        begun = time.monotonic()
        _make(context, plan, out, way)
        say(f"seconds {time.monotonic() - begun}")


def _release_for_ever(home: Path, plan: Path, target: Path, way: str) -> None:
    with AppContext.open(home) as context:
        number = 0
        say(f"pid {os.getpid()}")
        while True:
            while (target / str(number)).exists():
                number += 1
            _make(context, plan, target / str(number), way)


@dataclass
class Tally:
    """Releases that came about, debits in all, and how often a kill left a debit without one."""

    releases: int = 0
    debits: int = 0
    unknown: int = 0


class Spender(Served):
    """Starts the process above, kills its children, and looks what they left."""

    def __init__(self, folder: Path, way: str = RELEASE) -> None:
        self.home, self.target = folder / "home", folder / "target"
        self.target.mkdir()
        plan = write_plan(write_register(folder / "data", people(60)), planner="all")
        names = [str(path) for path in (self.home, plan, self.target)]
        super().__init__("tests.helpers.release_spender", *names, way)

    def kill_again_and_again(self, times: int, seed: int) -> Tally:
        """Kill a child so many times, and check what is there each time.

        On a busy machine all kills may fall before a debit or after a release: more then, up to
        ten times as many.
        """
        moments = random.Random(seed)
        seconds = float(self.line().removeprefix("seconds "))
        tally = self.look()
        for kills in range(10 * times):
            if kills >= times and tally.unknown and 2 <= tally.releases < tally.debits:
                break
            self.ask("")
            number = int(self.line().removeprefix("pid "))
            assert self.lines_for(moments.uniform(0, 2 * seconds)) == []
            kill(number)
            assert self.line() == "done"
            tally = self.look()
        return tally

    def look(self) -> Tally:
        """Every release has its debit, nothing is half there, every debit counts."""
        Workspace.open(self.home).close()
        debits = self.debits()
        paid: set[int] = set()
        for release_folder in self.target.iterdir():
            assert release_folder.name.isdecimal(), "a half-written release was left"
            evidence = json.loads((release_folder / "internal/evidence.json").read_bytes())
            row = int(evidence["budget"]["debit"].partition(":")[2])
            assert debits[row].outcome in (Outcome.RELEASED, Outcome.UNKNOWN)
            paid.add(row)
        assert len(paid) == len(list(self.target.iterdir()))
        released = {row for row, one in debits.items() if one.outcome is Outcome.RELEASED}
        assert released <= paid
        unknown = sum(one.outcome is Outcome.UNKNOWN for one in debits.values())
        return Tally(len(paid), len(debits), unknown)

    def debits(self) -> dict[int, DebitRecord]:
        """The debits of the ledger, which must be whole."""
        with open_here(self.home / "ledger.sqlite", create=False) as ledger:
            assert ledger.check().ok
            return dict(ledger.book.debits)


if __name__ == "__main__":
    main(*(Path(name) for name in sys.argv[1:4]), sys.argv[4])
