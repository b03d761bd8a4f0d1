"""A process that changes a project as fast as it can, to be killed at any moment.

``python -m tests.helpers.project_writer HOME`` reads paths of projects, one a line. For each it
starts a child that opens the project and makes numbered changes; the child prints each number as
soon as the change was acknowledged. ``pid N`` says who to kill, ``done STATUS`` that it has ended.
One process starts all children, so that the libraries are loaded once.
"""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from dpdesk.project.audit import AuditNote
from dpdesk.project.candidates import CandidateShelf
from dpdesk.project.file import ProjectUpdate
from dpdesk.project.history import History
from dpdesk.project.work import SetHierarchy, SetTitle
from tests.helpers.projects import AGE, Desk, candidate
from tests.helpers.serving import Served, asked_paths, child, kill, say

CANDIDATE_EACH = 3


def main(home: Path) -> None:
    """Serve until nothing is asked any more."""
    for path in asked_paths():
        number = child(partial(_change_for_ever, home, path))
        say(f"pid {number}")
        _, status = os.waitpid(number, 0)
        say(f"done {status}")


def _change_for_ever(home: Path, path: Path) -> None:
    project = Desk(home).open(path)
    history = History.restored(project.contents.history)
    shelf = CandidateShelf.restored(project.contents.shelf)
    number = len(history.moments())
    while True:
        change(history, shelf, number)
        notes = (AuditNote("changed", str(number)),)
        project.save(ProjectUpdate(history.snapshot(), shelf.snapshot(), notes=notes))
        project.flush()
        say(str(number))
        number += 1


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


class Killer(Served):
    """Starts the process above, and kills its children."""

    def __init__(self, home: Path) -> None:
        super().__init__("tests.helpers.project_writer", str(home))

    def run(self, path: Path, seconds: float) -> list[int]:
        """Let a child change ``path``, kill it after so long; the numbers that it acknowledged."""
        self.ask(path)
        number = int(self.line().removeprefix("pid "))
        lines = self.lines_for(seconds)
        kill(number)
        while not lines or not lines[-1].startswith("done "):
            lines.append(self.line())
        assert lines.pop() == f"done {int(signal.SIGKILL)}"
        return [int(line) for line in lines]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
