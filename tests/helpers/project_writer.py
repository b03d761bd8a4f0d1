"""A process that changes a project as fast as it can, to be killed at any moment.

``python -m tests.helpers.project_writer HOME`` reads paths of projects, one a line. For each it
starts a child that opens the project and makes numbered changes; the child prints each number as
soon as the change was acknowledged. ``pid N`` says who to kill, ``done STATUS`` that it has ended.
One process starts all children, so that the libraries are loaded once.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from dpdesk.project.audit import AuditNote
from dpdesk.project.candidates import CandidateShelf
from dpdesk.project.file import ProjectUpdate
from dpdesk.project.history import History
from dpdesk.project.work import SetHierarchy, SetTitle
from tests.helpers.projects import AGE, Desk, candidate

CANDIDATE_EACH = 3


def main(home: Path) -> None:
    """Serve until nothing is asked any more."""
    for line in sys.stdin.buffer:
        path = Path(os.fsdecode(line.rstrip(b"\n")))
        child = os.fork()
        if child == 0:
            _change_for_ever(home, path)
        _say(f"pid {child}")
        _, status = os.waitpid(child, 0)
        _say(f"done {status}")


def _say(text: str) -> None:
    os.write(1, text.encode("ascii") + b"\n")


def _change_for_ever(home: Path, path: Path) -> None:
    try:
        project = Desk(home).open(path)
        history = History.restored(project.contents.history)
        shelf = CandidateShelf.restored(project.contents.shelf)
        number = len(history.moments())
        while True:
            change(history, shelf, number)
            notes = (AuditNote("changed", str(number)),)
            project.save(ProjectUpdate(history.snapshot(), shelf.snapshot(), notes=notes))
            project.flush()
            _say(str(number))
            number += 1
    except BaseException as error:  # noqa: BLE001 - a child must never come back to the loop
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(3)


def change(history: History, shelf: CandidateShelf, number: int) -> None:
    """Change number ``number``: a moment; now and then a branch, a hierarchy, a candidate."""
    if number % 5 == 0:
        history.undo()
    if number % 4 == 0:
        history.do(SetHierarchy(f"column {number}", replace(AGE, attribute=f"column {number}")))
    else:
        history.do(SetTitle(f"change {number} " + "x" * (number * 37 % 2_000)))
    if number % CANDIDATE_EACH == 0:
        if shelf.full:
            shelf.remove(shelf.candidates[0].id)
        shelf.add(candidate(f"change {number}", history.state))


@dataclass
class Killer:
    """Starts the process above, and kills its children."""

    home: Path
    process: subprocess.Popen[bytes] = field(init=False)
    _rest: bytes = b""

    def __post_init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.helpers.project_writer", str(self.home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, path: Path, seconds: float) -> list[int]:
        """Let a child change ``path``, kill it after so long; the numbers that it acknowledged."""
        assert self.process.stdin is not None
        self.process.stdin.write(os.fsencode(path) + b"\n")
        self.process.stdin.flush()
        (first,) = self._lines(None, 1)
        child = int(first.removeprefix("pid "))
        lines = self._lines(time.monotonic() + seconds, None)
        os.kill(child, signal.SIGKILL)
        while not lines or not lines[-1].startswith("done "):
            lines += self._lines(None, 1)
        assert lines.pop() == f"done {int(signal.SIGKILL)}"
        return [int(line) for line in lines]

    def _lines(self, deadline: float | None, count: int | None) -> list[str]:
        """Lines until the deadline, or so many."""
        out: IO[bytes] | None = self.process.stdout
        assert out is not None
        found: list[str] = []
        while count is None or len(found) < count:
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
    main(Path(sys.argv[1]))
