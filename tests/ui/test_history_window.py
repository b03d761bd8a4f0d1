"""All states of the work: seen with their times, found by words, gone to, kept in the project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext, Role, SetParameters, SetRoles
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.history import HistoryWindow
from tests.helpers.a11y import findings
from tests.helpers.releases import write_source
from tests.helpers.sitting import Sitting


class Office(Sitting):
    """A desk with the plan open, and a person at it."""

    def branch(self) -> None:
        """Two changes that are undone, and another one in their place."""
        self.bench.apply(SetParameters({"k": 10}))
        self.bench.apply(SetRoles({"illness": Role.QUASI_IDENTIFIER}))
        self.bench.undo()
        self.bench.undo()
        self.bench.apply(SetParameters({"k": 20}))
        self.quiet()

    def states(self) -> HistoryWindow:
        self.window.actions_.refresh()
        self.window.actions_.trigger("edit.states")
        found = self.desk.beside.history
        assert found is not None
        return found

    def labels(self) -> list[str]:
        return [step.label for step in self.states().shown]


@pytest.fixture
def office(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Office]:
    plan = write_source(tmp_path / "work")
    with AppContext.open(tmp_path / "home") as context:
        made = Office(qtbot, context, hub, theme)
        made.open(plan)
        yield made
        made.end()


def test_every_state_stands_with_its_time_and_what_became_of_it(office: Office) -> None:
    office.branch()
    window = office.states()
    lines = [window.grid.lines.row(number) for number in range(4)]
    assert [str(line[0]).strip() for line in lines] == [
        "Open zq-plan.toml",
        "k: 10 rows",
        "illness: quasi-identifier",
        "k: 20 rows",
    ]
    places = [line[2] for line in lines]
    assert places == ["before", "↳ set aside, kept", "↳ set aside, kept", "● current state"]
    assert all(len(str(line[1])) == len("2026-01-01 12:00:00") for line in lines)
    assert window.answer.text().startswith("4 states, of which 2 were undone")
    assert not window.go.isEnabled()
    assert findings(window) == []


def test_an_older_branch_is_gone_to_by_keyboard_and_undone_again(office: Office) -> None:
    office.branch()
    window = office.states()
    window.grid.selectRow(2)
    assert window.go.isEnabled()
    office.qtbot.keyClick(window.grid, Qt.Key.Key_Return)
    office.quiet()
    assert office.bench.work.role("illness") is Role.QUASI_IDENTIFIER
    assert office.bench.work.parameters["k"] == 10
    (here,) = [step.label for step in window.shown if step.current]
    assert here == "illness: quasi-identifier"
    office.qtbot.keyClicks(window.search, "20")
    assert [step.label for step in window.shown] == ["k: 20 rows"]
    assert window.answer.text() == "1 of 4 states found."
    window.grid.selectRow(0)
    window.go.click()
    office.quiet()
    assert office.bench.work.parameters["k"] == 20
    office.qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isVisible()


def test_branches_are_there_after_closing_and_opening_the_project(
    office: Office, tmp_path: Path
) -> None:
    office.branch()
    before = office.labels()
    keeper, path = office.desk.projects.keeper, tmp_path / "study.dpdesk"
    office.asker.answer = path
    office.desk.projects.ask_new()
    office.quiet(lambda: keeper.path is not None)
    office.desk.projects.close()
    office.quiet(lambda: keeper.path is None)
    office.desk.open_text(str(path))
    office.quiet(lambda: keeper.path is not None and office.bench.profile is not None)
    window = office.states()
    assert office.labels() == before
    window.grid.selectRow(2)
    window.go.click()
    office.quiet()
    assert office.bench.work.role("illness") is Role.QUASI_IDENTIFIER


def test_states_beyond_those_of_the_menu_are_reached_through_it(office: Office) -> None:
    for number in range(70):
        office.bench.apply(SetParameters({"k": 2 + number}))
    office.bench.go_to(0)
    office.bench.apply(SetParameters({"k": 99}))
    office.quiet()
    office.window.on_history()
    menu = office.window._trail.history.findChild(QMenu)
    assert menu is not None
    last = menu.actions()[-1]
    assert last.text() == "&All 72 states, with times…"
    last.trigger()
    menu.hide()
    window = office.desk.beside.history
    assert window is not None
    assert window.isVisible()
    assert len(window.shown) == 72
    row = next(n for n, step in enumerate(window.shown) if step.label == "k: 71 rows")
    window.grid.selectRow(row)
    window.go.click()
    office.quiet()
    assert office.bench.work.parameters["k"] == 71
