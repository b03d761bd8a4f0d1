"""Somebody releases a graph of acquaintances beside its exact degrees, by mouse and keys."""

from __future__ import annotations

import csv
from itertools import combinations
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QListWidget

from tests.helpers.person import Person

NODES = [f"n{number}" for number in range(8)]


def edge_list(folder: Path) -> list[tuple[str, str]]:
    """A file of edges, one of them twice, and a loop."""
    pairs = combinations(range(len(NODES)), 2)
    edges = [(NODES[a], NODES[b]) for a, b in pairs if (a + 2 * b) % 3 == 1]
    rows = [*edges, edges[0], ("n7", "n7")]
    with (folder / "edges.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("person", "friend"), *rows])
    return edges


def test_an_edge_list_is_opened_released_beside_its_degrees_and_checked(
    person: Person, tmp_path: Path
) -> None:
    edges = edge_list(tmp_path)
    person.desk.open_text(str(tmp_path / "edges.csv"))
    person.settled(lambda: person.desk.workbench.profile is not None)
    person.go(4)
    person.settled()
    person.click("Differentially private graph")
    person.settled()
    person.reads("Check the two columns that name the ends of an edge")
    check(person, "person", "friend")
    person.settled()
    person.reads("List all possible nodes under “Nodes”")
    person.write("Nodes", ", ".join(NODES))
    person.settled()
    person.reads("“Nodes” lists 1, expected 3 to 4,096 nodes", "write each in a line of its own")
    person.shoot("one-line")
    person.write("Nodes", "\n".join(NODES))
    person.click("More settings")
    person.choose("Degrees without noise", "Degrees")
    person.type("ε, the privacy loss", "1")
    person.settled(lambda: person.desk.protect.result.sentence != "")
    person.reads("3 tables; the error of one edge is ±")
    person.shoot("errors")
    person.type("People of the budget", "friends")
    person.type("Limit of the budget", "2")
    person.settled()
    released(person, tmp_path / "release")
    with (tmp_path / "release/public/graph/degrees.csv").open(encoding="utf-8") as stream:
        published = {node: int(degree) for node, degree in list(csv.reader(stream))[1:]}
    assert published == {node: sum(node in edge for edge in edges) for node in NODES}
    person.click("Which numbers")
    person.settled()
    person.reads("28 cells; each is within ±", "edges of the truth in 95 of 100 cases")
    person.choose("Table of the release", "degrees")
    person.settled()
    person.reads("8 cells, released exactly: without noise")
    person.shoot("numbers")


def released(person: Person, out: Path) -> None:
    """Write the release, which is asked about first, and see its checks."""
    person.go(6)
    person.settled()
    person.type("Folder of the release", str(out))
    person.settled()
    person.reads("Size of a minimal change: 16")
    person.click(person.button("Release, spends ε"))
    person.settled()
    person.reads("drawn once")
    person.click(person.button("Yes: Release"))
    person.settled(lambda: person.desk.workbench.release is not None)
    person.reads("none failed", "Among graphs that agree with that")
    shown = [one for one in person.front.findChildren(QAbstractButton) if one.isVisible()]
    assert "Browse the tables" not in [one.accessibleName() for one in shown]
    person.shoot("released")


def check(person: Person, *columns: str) -> None:
    """Check columns in the list of ends with the space bar."""
    view = person.find("Columns of the two ends", QListWidget)
    view.setFocus(Qt.FocusReason.TabFocusReason)
    for name in columns:
        view.setCurrentItem(view.findItems(name, Qt.MatchFlag.MatchExactly)[0])
        person.qtbot.keyClick(view, Qt.Key.Key_Space)
