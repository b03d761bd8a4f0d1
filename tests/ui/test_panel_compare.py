"""The compare panel over the real application."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import SetHierarchy, SetMethod, SetParameters, SetRoles, SetSource
from dpdesk.core.charts import BarChart
from dpdesk.core.schema import Role
from dpdesk.ui.charts import ChartView
from dpdesk.ui.panels.compare import ComparePanel
from dpdesk.ui.panels.compare.presenter import Pins
from dpdesk.ui.shell import Mark
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.cubes import people as register_people
from tests.helpers.cubes import write_plan, write_register
from tests.helpers.events import settle
from tests.helpers.people_plan import open_plan, write_people
from tests.helpers.sitting import shown

pytestmark = pytest.mark.plain


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ComparePanel:
    with theme.building():
        panel = ComparePanel(bench, theme)
    return shown(panel, qtbot)


@pytest.fixture
def three(panel: ComparePanel, bench: Workbench, qtbot: QtBot, tmp_path: Path) -> ComparePanel:
    """Two candidates that can be compared, and one of other quasi-identifiers."""
    open_plan(bench, write_people(tmp_path), qtbot)
    keep(bench, qtbot, "three")
    bench.apply(SetParameters({"k": 10}))
    keep(bench, qtbot, "ten")
    bench.apply(SetRoles({"job": Role.INSENSITIVE}))
    keep(bench, qtbot, "fewer")
    return panel


def keep(bench: Workbench, qtbot: QtBot, name: str) -> None:
    count = len(bench.candidates)
    bench.keep_candidate(name)
    qtbot.waitUntil(lambda: len(bench.candidates) == count + 1 and not bench.hub.busy)


def pin_button(panel: ComparePanel, card: int, pin: str) -> QToolButton:
    buttons = panel.cards.cards[card].findChildren(QToolButton)
    return next(button for button in buttons if button.text() == pin)


@pytest.mark.styled
def test_empty_it_says_how_to_keep_a_candidate(panel: ComparePanel, qtbot: QtBot) -> None:
    go = next(one for one in panel.findChildren(QPushButton) if one.isVisible())
    with qtbot.waitSignal(panel.wantsPanel) as asked:
        qtbot.mouseClick(go, Qt.MouseButton.LeftButton)
    assert asked.args == ["protect"]
    assert not panel.can_run()
    assert findings(panel) == []


def test_two_are_pinned_and_the_other_scope_is_greyed(three: ComparePanel) -> None:
    assert three.pins == Pins(1, 2)
    assert three.status().mark is Mark.DONE
    assert not pin_button(three, 2, "B").isEnabled()
    assert "job not among them" in three.cards.cards[2]._reason.text()
    assert "A is better in" in three._answer.text()


def test_pins_move_by_button_and_by_point(three: ComparePanel, qtbot: QtBot) -> None:
    qtbot.mouseClick(pin_button(three, 1, "A"), Qt.MouseButton.LeftButton)
    assert three.pins == Pins(2, 1)
    three._scatter.pointPicked.emit(1)
    assert three.pins == Pins(1, 2)
    qtbot.mouseClick(pin_button(three, 2, "A"), Qt.MouseButton.LeftButton)
    assert three.pins == Pins(3, 0)
    assert "chart:risk" not in three.pages


@pytest.mark.styled
def test_no_width_cuts_the_cards_in_german(german: None, three: ComparePanel) -> None:
    for width in range(640, 1200, 40):
        three.resize(width, 700)
        settle()
        assert three.cards.horizontalScrollBar().maximum() == 0, width


def test_the_axes_can_be_chosen(three: ComparePanel, qtbot: QtBot) -> None:
    across = next(
        box
        for box in three.findChildren(QComboBox)
        if box.accessibleName() == "Figure on the horizontal axis"
    )
    across.setFocus()
    qtbot.keyClick(across, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: across.currentIndex() == 0)
    across.activated.emit(0)
    chart = three._scatter.chart
    assert chart is not None
    assert chart.table.columns[1] == across.currentText() == "Rows kept"


def test_charts_of_a_and_b_stand_on_the_same_axis(three: ComparePanel) -> None:
    three.show_page("chart:risk")
    charts = [view.chart for view in three._views]
    first, second = charts
    assert isinstance(first, BarChart)
    assert isinstance(second, BarChart)
    assert first.value_axis.maximum == second.value_axis.maximum
    assert first.threshold_label == "k = 3"
    assert second.threshold_label == "k = 10"
    shown = [view for view in three.findChildren(ChartView) if view.isVisible()]
    assert shown == list(three._views)


@pytest.mark.parametrize(("pin", "place"), [("A", 0), ("B", 1)])
def test_releasing_a_candidate_restores_its_work_undoably(
    three: ComparePanel, bench: Workbench, qtbot: QtBot, pin: str, place: int
) -> None:
    kept, before = bench.candidates[place].work, bench.work
    make = next(one for one in three.findChildren(QPushButton) if one.text() == f"Release &{pin}…")
    with qtbot.waitSignal(three.wantsPanel) as asked:
        qtbot.mouseClick(make, Qt.MouseButton.LeftButton)
    assert asked.args == ["review"]
    assert bench.work == kept
    bench.undo()
    assert bench.work == before


def test_the_data_that_are_open_are_not_exchanged_without_a_question(
    three: ComparePanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    first = bench.work.source
    assert first is not None
    (tmp_path / "next").mkdir()
    other = tmp_path / "next" / "later.csv"
    other.write_bytes((bench.work.base / first.path).read_bytes())
    bench.apply(SetSource(replace(first, path=str(other))))
    qtbot.waitUntil(lambda: not bench.hub.busy and bench.data is not None)
    work = bench.work
    make = next(one for one in three.findChildren(QPushButton) if one.text() == "Release &A…")
    qtbot.mouseClick(make, Qt.MouseButton.LeftButton)
    assert bench.work == work
    assert "which is not open now" in three.band.text
    three.band.triggered.emit("keep-data")
    assert bench.work == work
    qtbot.mouseClick(make, Qt.MouseButton.LeftButton)
    three.band.triggered.emit("open-data")
    assert bench.work.source == first
    bench.undo()
    assert bench.work == work
    qtbot.waitUntil(lambda: not bench.hub.busy)


def test_undo_takes_back_what_was_done_to_candidates_last(
    three: ComparePanel, bench: Workbench
) -> None:
    kept, work = bench.candidates, bench.work
    bench.remove_candidate(1)
    assert bench.undo_label == "Remove candidate 1"
    bench.undo()
    assert bench.candidates == kept
    assert bench.work == work
    bench.rename_candidate(2, "other")
    bench.undo()
    assert bench.candidates == kept
    bench.remove_candidate(1)
    bench.apply(SetParameters({"k": 4}))
    bench.undo()
    assert bench.work == work
    assert len(bench.candidates) == 2


def test_a_candidate_can_be_renamed(three: ComparePanel, bench: Workbench, qtbot: QtBot) -> None:
    line = three.cards.cards[0].findChild(QLineEdit)
    assert line is not None
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, "for the office")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert bench.candidates[0].name == "for the office"
    three.show_page("table")
    assert three._model.table.rows[0].cells[0].text == "for the office"


def test_a_removed_candidate_gives_its_pin_away(
    three: ComparePanel, bench: Workbench, qtbot: QtBot
) -> None:
    remove = next(
        one for one in three.cards.cards[0].findChildren(QPushButton) if one.text() == "Remove"
    )
    qtbot.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert [one.id for one in bench.candidates] == [2, 3]
    assert three.pins == Pins(2, 0)
    assert len(three.cards.cards) == 2


def test_the_table_says_better_by_shape_and_word(three: ComparePanel) -> None:
    three.show_page("table")
    rows = {row.label: row for row in three._model.table.rows}
    words = [cell.words for cell in rows["Loss"].cells]
    assert words[2].endswith("★ A")
    assert rows["Loss"].cells[2].tip == "★ A: A is better here"
    assert rows["Loss"].cells[3].grey


@pytest.mark.parametrize("page", ["points", "table", "chart:nodes", "guarantee"])
@pytest.mark.styled
def test_the_sweep_finds_nothing(three: ComparePanel, page: str) -> None:
    three.show_page(page)
    assert findings(three) == []


def test_the_table_is_a_sound_model(three: ComparePanel, qtmodeltester: object) -> None:
    three.show_page("table")
    qtmodeltester.check(three._model)  # type: ignore[attr-defined]


@pytest.mark.styled
def test_it_fits_the_smallest_window(
    three: ComparePanel, theme: ThemeManager, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: three.minimumSizeHint().width() <= 900)
    three.resize(900, 590)
    qtbot.waitUntil(lambda: three.width() == 900)
    for page in three.pages:
        three.show_page(page)
        assert three.minimumSizeHint().width() <= 900


def test_nothing_keeps_a_closed_panel_alive(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot
) -> None:
    with theme.building():
        made = ComparePanel(bench, theme)
    reference = weakref.ref(made)
    made.deleteLater()
    del made
    qtbot.waitUntil(lambda: bool(gc.collect() or True) and reference() is None)


def test_plans_of_tables_are_badged_and_greyed_beside_rows(
    panel: ComparePanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    source = write_register(tmp_path, register_people())
    open_plan(bench, write_plan(source), qtbot)
    keep(bench, qtbot, "one")
    bench.apply(SetParameters({"epsilon": 2}))
    keep(bench, qtbot, "two")
    bench.apply(SetParameters({"dimensions": ["sex", "region"], "levels": None}))
    keep(bench, qtbot, "other")
    bench.apply(SetHierarchy("age", None))  # its intervals lack texts that are no numbers
    bench.apply(SetMethod("k-anonymity", {"k": 2, "max_suppression": 1}))
    keep(bench, qtbot, "rows")
    assert panel.pins == Pins(1, 2)
    reasons = [card._reason.text() for card in panel.cards.cards]
    assert "Other dimensions: sex, region" in reasons[2]
    assert "no figure in common" in reasons[3]
    assert [not card._planned.isHidden() for card in panel.cards.cards] == [True] * 3 + [False]
    assert "A is better in" in panel._answer.text()
    assert not (bench.context.home / "ledger.sqlite").exists()
