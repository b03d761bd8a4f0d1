"""What must hold of a project whose writer was killed."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dpdesk.project.file import ProjectContents
from dpdesk.project.history import History
from dpdesk.project.work import WorkState
from tests.helpers.project_writer import CANDIDATE_EACH, Killer
from tests.helpers.projects import Desk

LONGEST, SAME_FILE = 0.4, 25


@dataclass
class Tally:
    """Changes acknowledged, how often one more was there, how often a commit was cut short."""

    acknowledged: int = 0
    one_more: int = 0
    cut_short: int = 0


def kill_again_and_again(desk: Desk, folder: Path, times: int, seed: int) -> Tally:
    """Kill a writer so many times, and check the project each time.

    A new project is begun now and then, so that files of all sizes are met.
    """
    moments, killer = random.Random(seed), Killer(desk.home)
    tally = Tally()
    try:
        for number in range(times):
            if number % SAME_FILE == 0:
                path = desk.write(folder / f"{number}.dpdesk", History(WorkState()))
                there = 0
            said = killer.run(path, moments.uniform(0, LONGEST))
            tally.cut_short += path.with_name(path.name + "-journal").exists()
            found = check_whole(desk, path)
            last = said[-1] if said else there
            assert said == list(range(there + 1, last + 1))
            assert found in (last, last + 1)
            tally.acknowledged += len(said)
            tally.one_more += found - last
            there = found
    finally:
        killer.close()
    return tally


def check_whole(desk: Desk, path: Path) -> int:
    """The number of the last change in the project, which must be whole in every respect."""
    project = desk.open(path)
    assert project.read_only is None
    contents = project.contents
    check = project.check_audit()
    project.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    count = len(contents.history.moments) - 1
    assert check is not None
    assert check.ok
    assert [entry.subject for entry in contents.audit] == [str(n + 1) for n in range(count)]
    check_changes(contents, count)
    assert sorted(item.name for item in path.parent.glob(f"*{path.name}*")) == [path.name]
    return count


def check_changes(contents: ProjectContents, count: int) -> None:
    """Every change up to ``count`` is there with all that belongs to it."""
    history = contents.history
    assert history.current == count
    for number, moment in enumerate(history.moments[1:], start=1):
        if number % 4 == 0:
            hierarchy = moment.state.hierarchies[f"column {number}"]
            assert getattr(hierarchy, "attribute", "") == f"column {number}"
        else:
            assert moment.state.title.split(" ")[:2] == ["change", str(number)]
    last = count - count % CANDIDATE_EACH
    if last:
        assert contents.shelf.candidates[-1].name == f"change {last}"
    assert contents.shelf.next_id == last // CANDIDATE_EACH + 1
