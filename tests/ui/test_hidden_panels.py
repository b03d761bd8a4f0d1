"""Panels that nobody sees do no work: they note changes, and catch up when they are seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QStackedWidget, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.types import AppContext, Role, SetParameters, SetRoles
from dpdesk.core.charts import Chart
from dpdesk.ui.charts import ChartView
from dpdesk.ui.desk import Desk
from dpdesk.ui.forms.form import ParameterForm
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.hierarchies.tree_pane import TreePane
from dpdesk.ui.shell import Mark, Panel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Aspect, Changes
from tests.helpers.asking import ScriptedAsker
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.releases import SOURCE, write_source


class Noting(Panel):
    """Remembers what it was told, and when it would have worked."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Changes] = []
        self.worked: list[Changes] = []

    def noted(self, changes: Changes) -> None:
        self.told.append(changes)

    def catch_up(self, changes: Changes) -> None:
        self.worked.append(changes)


ROLES: Changes = frozenset({Aspect.ROLES})
DATA: Changes = frozenset({Aspect.DATA})


@pytest.fixture
def pair(qtbot: QtBot) -> tuple[QStackedWidget, Noting]:
    """A stack that shows something else than the panel."""
    stack, panel = QStackedWidget(), Noting()
    stack.addWidget(QWidget())
    stack.addWidget(panel)
    qtbot.addWidget(stack)
    stack.show()
    return stack, panel


def test_a_hidden_panel_notes_each_change_and_works_for_none(
    pair: tuple[QStackedWidget, Noting],
) -> None:
    _, panel = pair
    panel.take(ROLES)
    panel.take(DATA)
    assert panel.told == [ROLES, DATA]
    assert panel.worked == []
    assert panel.behind


def test_all_changes_come_joined_when_the_panel_is_seen(
    pair: tuple[QStackedWidget, Noting],
) -> None:
    stack, panel = pair
    panel.take(ROLES)
    panel.take(DATA)
    stack.setCurrentIndex(1)
    assert panel.worked == [ROLES | DATA]
    assert not panel.behind
    stack.setCurrentIndex(0)
    stack.setCurrentIndex(1)
    assert panel.worked == [ROLES | DATA]


def test_a_seen_panel_works_at_once(pair: tuple[QStackedWidget, Noting]) -> None:
    stack, panel = pair
    stack.setCurrentIndex(1)
    panel.take(ROLES)
    panel.take(DATA)
    assert panel.worked == [ROLES, DATA]


class Watch:
    """Counts what panels do while nobody sees them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.caught_up: Counter[str] = Counter()
        self.unseen: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self._patch = monkeypatch
        draw, fill, grow = ChartView.set_chart, ParameterForm.set_values, TreePane.show_look
        watch = self

        def set_chart(view: ChartView, chart: Chart | None) -> None:
            if chart is not None:
                watch.count(view, "chart")
            draw(view, chart)

        def set_values(form: ParameterForm, values: dict[str, object], *more: object) -> None:
            watch.count(form, "form")
            fill(form, values, *more)

        def show_look(pane: TreePane, look: object, level: int) -> None:
            if look is not None:
                watch.count(pane, "tree")
            grow(pane, look, level)  # type: ignore[arg-type]

        monkeypatch.setattr(ChartView, "set_chart", set_chart)
        monkeypatch.setattr(ParameterForm, "set_values", set_values)
        monkeypatch.setattr(TreePane, "show_look", show_look)

    def panels(self, panels: dict[str, Panel]) -> None:
        """Count how often each of these catches up."""
        for name, panel in panels.items():
            self._patch.setattr(panel, "catch_up", self._counted(name, panel))

    def _counted(self, name: str, panel: Panel) -> object:
        work = panel.catch_up

        def catch_up(changes: Changes) -> None:
            self.caught_up[name] += 1
            work(changes)

        return catch_up

    def count(self, widget: QWidget, what: str) -> None:
        """Note something heavy, by whether the panel around it is in front."""
        panel: QWidget | None = widget
        while panel is not None and not isinstance(panel, Panel):
            panel = panel.parentWidget()
        if panel is None:  # in the making: nobody's part yet
            return
        (self.seen if panel.isVisible() else self.unseen)[what] += 1


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


@pytest.fixture
def desk(
    watch: Watch,
    qtbot: QtBot,
    tmp_path: Path,
    hub: JobHub,
    theme: ThemeManager,
    settings: MemorySettings,
) -> Iterator[Desk]:
    with AppContext.open(tmp_path / "home") as context:
        made = Desk(context, hub, theme, settings, ScriptedAsker())
        watch.panels(made.panels)
        qtbot.addWidget(made.window)
        made.window.show()
        yield made
        hub.cancel_all()
        settle(made, qtbot)
        made.workbench.close()


def settle(desk: Desk, qtbot: QtBot) -> None:
    """Wait until nothing is under way."""
    bench = desk.workbench

    def calm() -> bool:
        return not bench.hub.busy and not desk.protect.busy

    qtbot.waitUntil(calm)


def open_people(desk: Desk, qtbot: QtBot, folder: Path) -> None:
    """Open the people and leave the Data step, with roles given."""
    desk.open_text(str(write_source(folder).parent / SOURCE))
    qtbot.waitUntil(lambda: desk.workbench.profile is not None)
    settle(desk, qtbot)
    desk.window.show_panel("attributes")
    desk.attributes.accept_button.click()
    settle(desk, qtbot)


def test_tagging_is_the_work_of_one_panel(
    desk: Desk, watch: Watch, qtbot: QtBot, tmp_path: Path
) -> None:
    open_people(desk, qtbot, tmp_path / "work")
    watch.caught_up.clear()
    columns = desk.workbench.data.columns if desk.workbench.data is not None else ()
    desk.workbench.apply(SetRoles({columns[0]: Role.QUASI_IDENTIFIER}))
    settle(desk, qtbot)
    assert set(watch.caught_up) == {"attributes"}
    assert not watch.unseen
    assert watch.seen["chart"], "the panel in front draws: the counter sees it"
    waiting = {name for name, panel in desk.panels.items() if panel.behind}
    assert {"hierarchies", "protect", "review"} <= waiting


def test_the_navigation_is_right_about_hidden_panels(
    desk: Desk, watch: Watch, qtbot: QtBot, tmp_path: Path
) -> None:
    open_people(desk, qtbot, tmp_path / "work")
    desk.window.show_panel("protect")
    qtbot.waitUntil(lambda: desk.workbench.explored is not None)
    settle(desk, qtbot)
    desk.workbench.apply(SetParameters({"k": 2, "max_suppression": 1.0}))
    settle(desk, qtbot)
    assert desk.protect.status().mark is Mark.DONE
    desk.window.show_panel("data")
    assert desk.workbench.data is not None
    desk.workbench.apply(SetParameters({"k": desk.workbench.data.rows + 1, "max_suppression": 0.0}))
    settle(desk, qtbot)
    assert desk.protect.status().mark is not Mark.DONE
    assert desk.protect.behind
    desk.workbench.undo()
    settle(desk, qtbot)
    assert desk.protect.status().mark is Mark.DONE
    quasi = desk.workbench.work.with_role(Role.QUASI_IDENTIFIER)
    desk.workbench.apply(SetRoles(dict.fromkeys(quasi, Role.INSENSITIVE)))
    settle(desk, qtbot)
    assert desk.hierarchies.status().note == "mark a quasi-identifier first"
    assert not watch.unseen


def test_a_panel_that_is_seen_again_shows_what_is_so_now(
    desk: Desk, qtbot: QtBot, tmp_path: Path
) -> None:
    open_people(desk, qtbot, tmp_path / "work")
    quasi = desk.workbench.work.with_role(Role.QUASI_IDENTIFIER)
    desk.window.show_panel("hierarchies")
    settle(desk, qtbot)
    assert {one.attribute for one in desk.hierarchies.attributes.entries} >= set(quasi)
    desk.window.show_panel("data")
    desk.workbench.apply(SetRoles({quasi[0]: Role.INSENSITIVE}))
    settle(desk, qtbot)
    desk.window.show_panel("hierarchies")
    shown = {one.attribute for one in desk.hierarchies.attributes.entries}
    assert quasi[0] not in shown
    assert shown >= set(quasi[1:])


def test_a_search_that_begins_with_the_look_at_it_shows_the_settings_once(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_people(desk, qtbot, tmp_path / "work")
    shown: list[object] = []
    show = desk.protect.settings.show_work

    def counted(*given: object) -> None:
        shown.append(given)
        show(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(desk.protect.settings, "show_work", counted)
    desk.window.show_panel("protect")
    assert desk.workbench.exploring
    assert len(shown) == 1
    settle(desk, qtbot)
