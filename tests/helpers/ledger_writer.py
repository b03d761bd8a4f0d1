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
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO

from dpdesk.core.errors import RefusedError
from dpdesk.project.ledger import AccountKey, Outcome
from tests.helpers.debits import ask, open_here, pure

CHILDREN = 2
COST = Fraction(1, 1000)
LIMIT = Fraction(100)


def main() -> None:
    """Serve until nothing is asked any more."""
    for line in sys.stdin.buffer:
        path = Path(os.fsdecode(line.rstrip(b"\n")))
        children = []
        for number in range(CHILDREN):
            child = os.fork()
            if child == 0:
                _spend_for_ever(path, number)
            children.append(child)
        _say("pids " + " ".join(map(str, children)))
        for child in children:
            os.waitpid(child, 0)
        _say("done")


def _say(text: str) -> None:
    os.write(1, text.encode("ascii") + b"\n")


def _spend_for_ever(path: Path, number: int) -> None:
    try:
        with open_here(path) as ledger:
            count = 0
            while True:
                debit = ledger.debit(ask(str(float(COST))), LIMIT)
                debit.redeem()
                _say(f"{debit.row} {debit.entry}")
                count += 1
                if count % 3 == 0:
                    outcome = Outcome.RELEASED if number else Outcome.FAILED
                    ledger.settle(debit, outcome, reason="" if number else "a reason")
                if count % 7 == 0:
                    ledger.set_limit(AccountKey("residents"), pure("90"))
    except BaseException as error:  # noqa: BLE001 - a child must never come back to the loop
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(3)


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


@dataclass
class Killer:
    """Starts the process above, and kills its children."""

    process: subprocess.Popen[bytes] = field(init=False)
    _rest: bytes = b""

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.ledger_writer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, path: Path, seconds: float, at_death: Callable[[], None]) -> dict[int, str]:
        """Let the children spend, kill them after so long; the debits that they had in hand."""
        assert self.process.stdin is not None
        self.process.stdin.write(os.fsencode(path) + b"\n")
        self.process.stdin.flush()
        lines = self._lines(None, lambda found: any(line.startswith("pids") for line in found))
        (started,) = [line for line in lines if line.startswith("pids")]
        lines.remove(started)
        lines += self._lines(time.monotonic() + seconds, lambda found: False)
        for child in started.split()[1:]:
            os.kill(int(child), signal.SIGKILL)
        lines += self._lines(None, lambda found: "done" in found)
        lines.remove("done")
        at_death()
        return {int(row): entry for row, entry in (line.split() for line in lines)}

    def _lines(self, deadline: float | None, enough: Callable[[list[str]], bool]) -> list[str]:
        out: IO[bytes] | None = self.process.stdout
        assert out is not None
        found: list[str] = []
        while not enough(found):
            line, mark, rest = self._rest.partition(b"\n")
            if mark:
                found.append(line.decode("ascii"))
                self._rest = rest
                continue
            left = None if deadline is None else deadline - time.monotonic()
            if (left is not None and left <= 0) or not select.select([out], [], [], left)[0]:
                break
            piece = os.read(out.fileno(), 65_536)
            assert piece, "the process ended"
            self._rest += piece
        return found

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(spend_all(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
    else:
        main()
