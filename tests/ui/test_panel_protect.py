"""The protect panel over the real application: searching, live charts, picking, keeping."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea
from pytestqt.qtbot import QtBot

from dpdesk.app.types import SetMethod, SetParameters, SetRoles
from dpdesk.core.charts import BarChart, Figure, ScatterChart
from dpdesk.core.jobs import Note
from dpdesk.core.schema import Role
from dpdesk.ui.forms.fields import IntegerField, NumberField
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.models import DataGrid
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.shell import Mark
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.widgets import EmptyState
from dpdesk.ui.words.spoken import spoken_figures
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.people_plan import (
    Patient,
    open_plan,
    write_people,
)
from tests.helpers.sitting import shown

pytestmark = pytest.mark.plain


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ProtectPanel:
    with theme.building():
        panel = ProtectPanel(bench, theme)
    return shown(panel, qtbot)


@pytest.fixture
def ready(panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path) -> ProtectPanel:
    """The panel with a finished search and its view."""
    open_plan(bench, write_people(tmp_path), qtbot)
    panel.activated()
    qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
    return panel


@pytest.mark.styled
def test_what_is_said_of_a_setting_pushes_no_picture_away_under_the_mouse(
    ready: ProtectPanel,
) -> None:
    result = ready.result
    ready.grab()
    before = result.deck.mapTo(ready, QPoint())
    result.show_band("caution", "Something is missing.", (("go:hierarchies", "Go there"),))
    ready.grab()
    assert result.band.isVisible()
    assert result.deck.mapTo(ready, QPoint()) == before
    result._show_notes([Note("a", "One thing is to be noted.")])
    ready.grab()
    assert result.deck.mapTo(ready, QPoint()) == before


def settled(panel: ProtectPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not panel.busy)


def button(panel: ProtectPanel, words: str) -> QPushButton:
    found = [
        one
        for one in panel.findChildren(QPushButton)
        if one.isVisible() and one.text().replace("&", "") == words
    ]
    assert len(found) == 1, words
    return found[0]


def slider_of(panel: ProtectPanel, key: str) -> NumberField:
    form = panel.settings.form
    assert form is not None
    field = form.field(key)
    assert isinstance(field, NumberField)
    assert field.slider is not None
    return field


def risk_chart(panel: ProtectPanel) -> BarChart:
    chart = panel.result.deck.view("risk").chart
    assert isinstance(chart, BarChart)
    return chart


def test_without_data_it_leads_to_the_data(panel: ProtectPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(panel.wantsPanel) as asked:
        qtbot.mouseClick(button(panel, "Go to Data"), Qt.MouseButton.LeftButton)
    assert asked.args == ["data"]
    assert not panel.can_run()


def test_without_quasi_identifier_it_leads_to_the_attributes(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path
) -> None:
    write_people(tmp_path)
    open_plan(bench, tmp_path / "people.csv", qtbot)
    panel.activated()
    assert not bench.exploring
    with qtbot.waitSignal(panel.wantsPanel) as asked:
        qtbot.mouseClick(button(panel, "Go to Attributes"), Qt.MouseButton.LeftButton)
    assert asked.args == ["attributes"]
    shown = [one for one in panel.findChildren(EmptyState) if one.isVisible()]
    assert [one.accessibleName() for one in shown] == ["Mark at least one quasi-identifier"]


def test_it_searches_by_itself_and_answers(ready: ProtectPanel) -> None:
    assert "60" in ready.result.sentence
    assert ready.status().mark is Mark.DONE
    assert {chart.id for chart in ready.result.deck.charts} >= {"risk", "nodes", "loss"}
    assert [tile.accessibleName().partition(":")[0] for tile in ready.result.tiles] == [
        "Rows kept",
        "Share suppressed",
        "Smallest class",
        "Average risk",
        "Loss",
    ]


def test_every_move_of_a_slider_is_drawn_and_undone_at_once(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    slider = slider_of(ready, "k").slider
    assert slider is not None
    before = bench.work.parameters["k"]
    for position in (4, 5, 6):
        slider.setValue(position)
        settled(ready, qtbot)
        assert bench.work.parameters["k"] == position
        assert risk_chart(ready).threshold_label == f"k = {position}"
    bench.undo()
    settled(ready, qtbot)
    assert bench.work.parameters["k"] == before
    assert risk_chart(ready).threshold_label == f"k = {before}"
    field = slider_of(ready, "k")
    assert isinstance(field, IntegerField)
    assert field.plain() == before


def test_a_fast_drag_ends_with_the_last_position(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    slider = slider_of(ready, "k").slider
    assert slider is not None
    for position in range(4, 20):
        slider.setValue(position)
    settled(ready, qtbot)
    assert risk_chart(ready).threshold_label == "k = 19"


def test_the_numbers_are_those_of_a_run(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    shown = {tile.accessibleName() for tile in ready.result.tiles}
    ready.keep()
    qtbot.waitUntil(lambda: len(bench.candidates) == 1 and not bench.hub.busy)
    figures = {figure.key: figure for figure in bench.candidates[0].figures}
    assert any(f"Rows kept: {figures['rows_kept'].value:,.0f}." in text for text in shown)


@pytest.mark.styled
def test_the_line_at_k_can_be_dragged_and_moved_by_keys(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    view = ready.result.deck.view("risk")
    surface = view.surface
    assert surface is not None
    k = bench.work.parameters["k"]
    assert isinstance(k, int)
    surface.setFocus()
    qtbot.keyClick(surface, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    settled(ready, qtbot)
    assert bench.work.parameters["k"] == k + 1
    chart = view.chart
    assert isinstance(chart, BarChart)
    assert chart.threshold_label == f"k = {k + 1}"
    place = surface.line_place()
    assert place is not None
    qtbot.mousePress(surface.viewport(), Qt.MouseButton.LeftButton, pos=place)
    far = QPoint(surface.width() - 30, place.y())
    qtbot.mouseMove(surface.viewport(), far)
    qtbot.mouseRelease(surface.viewport(), Qt.MouseButton.LeftButton, pos=far)
    settled(ready, qtbot)
    dragged = bench.work.parameters["k"]
    assert isinstance(dragged, int)
    assert dragged > 20
    bench.undo()
    assert bench.work.parameters["k"] in (k, k + 1)
    settled(ready, qtbot)


def test_the_limit_of_suppression_can_be_dragged(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    ready.result.deck.show_page("nodes")
    surface = ready.result.deck.view("nodes").surface
    assert surface is not None
    surface.setFocus()
    before = float(str(bench.work.parameters.get("max_suppression", 0)))
    qtbot.keyClick(surface, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    settled(ready, qtbot)
    after = float(str(bench.work.parameters["max_suppression"]))
    assert after == pytest.approx(before + 0.005)


def test_a_bar_opens_to_its_rows_and_leads_back(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    deck = ready.result.deck
    deck.show_page("risk")
    surface = deck.view("risk").surface
    assert surface is not None
    surface.setFocus()
    qtbot.keyClick(surface, Qt.Key.Key_PageDown)
    qtbot.keyClick(surface, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: deck.detail.isVisible())
    chart = deck.view("risk").chart
    assert isinstance(chart, BarChart)
    model = deck.detail.grid.model()
    rows = [int(str(model.index(at, 0).data()).replace(",", "")) for at in range(model.rowCount())]
    assert sum(rows) == chart.table.rows[0][1]
    qtbot.waitUntil(deck.detail.back.hasFocus)
    qtbot.keyClick(deck.detail.back, Qt.Key.Key_Backspace)
    assert deck.view("risk").isVisible()
    qtbot.waitUntil(surface.hasFocus)


def test_an_attribute_opens_to_its_values_until_the_settings_change(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    deck = ready.result.deck
    deck.show_page("loss")
    surface = deck.view("loss").surface
    assert surface is not None
    surface.setFocus()
    qtbot.keyClick(surface, Qt.Key.Key_PageDown)
    qtbot.keyClick(surface, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: deck.detail.isVisible())
    assert isinstance(deck.detail.chart.chart, BarChart)
    qtbot.mouseClick(deck.detail.strip.button("1"), Qt.MouseButton.LeftButton)
    assert deck.detail.grid.isVisible()
    bench.apply(SetParameters({"k": 9}))
    settled(ready, qtbot)
    assert deck.view("loss").isVisible()


def test_where_it_is_narrow_settings_and_result_stand_one_at_a_time(
    ready: ProtectPanel, qtbot: QtBot
) -> None:
    ready.resize(1200, 760)
    qtbot.waitUntil(lambda: not ready.sides.narrow)
    assert ready.settings.isVisible()
    assert ready.result.isVisible()
    assert not ready.sides.strip.isVisible()
    ready.resize(600, 760)
    qtbot.waitUntil(lambda: ready.sides.narrow)
    assert ready.result.isVisible()
    assert not ready.settings.isVisible()
    qtbot.mouseClick(ready.sides.strip.button("settings"), Qt.MouseButton.LeftButton)
    assert ready.settings.isVisible()
    assert not ready.result.isVisible()
    ready.resize(1200, 760)
    qtbot.waitUntil(lambda: ready.result.isVisible() and ready.settings.isVisible())


@pytest.mark.parametrize("page", ["nodes", "steps"])
def test_enter_on_a_point_takes_it_by_hand_and_search_again_gives_it_back(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot, page: str
) -> None:
    deck = ready.result.deck
    deck.show_page(page)
    surface = deck.view(page).surface
    assert surface is not None
    surface.setFocus()
    qtbot.keyClick(surface, Qt.Key.Key_PageDown)
    qtbot.keyClick(surface, Qt.Key.Key_PageDown)
    marked = surface.chosen
    assert marked is not None
    explored = bench.explored
    assert explored is not None
    qtbot.keyClick(surface, Qt.Key.Key_Return)
    assert bench.work.parameters["levels"] == explored.pick(marked)["levels"]
    settled(ready, qtbot)
    again = [one for one in ready.settings.findChildren(QPushButton) if "again" in one.text()]
    assert again[0].isVisible()
    qtbot.mouseClick(again[0], Qt.MouseButton.LeftButton)
    settled(ready, qtbot)
    assert "levels" not in bench.work.parameters
    assert not again[0].isVisible()


def test_the_table_of_nodes_holds_all_of_them_by_the_names_of_their_levels_and_chooses(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    deck = ready.result.deck
    deck.show_page("nodes")
    view = deck.view("nodes")
    view.toggle_table()
    chart = next(chart for chart in deck.charts if chart.id == "nodes")
    assert isinstance(chart, ScatterChart)
    (grid,) = (one for one in view.findChildren(DataGrid) if one.isVisible())
    model = grid.model()
    assert model.rowCount() == len({one for part in chart.series for one in part.ids.tolist()})
    lines = [model.index(row, 0).data() for row in range(model.rowCount())]
    assert len(set(lines)) == len(lines)
    served = [model.index(row, 1).data() for row in range(model.rowCount())]
    assert served == sorted(served, reverse=True)
    wanted = next(row for row, line in enumerate(lines) if row and "…)" in line)
    grid.setCurrentIndex(model.index(wanted, 0))
    (told,) = (one for one in shown_texts(ready) if one.startswith("Marked: "))
    assert lines[wanted] in told
    qtbot.keyClick(grid, Qt.Key.Key_Return)
    levels = bench.work.parameters["levels"]
    assert isinstance(levels, Mapping)
    assert all(f"{name} {level}" in lines[wanted] for name, level in levels.items())
    settled(ready, qtbot)
    assert grid.currentIndex().data() == lines[wanted]


def test_a_marked_point_falls_when_it_is_a_point_of_other_data(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    ready.result.deck.show_page("nodes")
    surface = ready.result.deck.view("nodes").surface
    assert surface is not None
    surface.setFocus()
    qtbot.keyClick(surface, Qt.Key.Key_PageDown)
    assert any(one.startswith("Marked: ") for one in shown_texts(ready))
    bench.apply(SetRoles({"job": Role.INSENSITIVE}))
    qtbot.waitUntil(lambda: not bench.stale and not ready.busy)
    assert not any(one.startswith("Marked: ") for one in shown_texts(ready))
    assert surface.chosen is None


def shown_texts(panel: ProtectPanel) -> list[str]:
    return [one.text() for one in panel.findChildren(QLabel) if one.isVisible()]


def test_what_is_not_reached_offers_the_nearest_setting(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    bench.apply(SetParameters({"k": 61, "max_suppression": 0}))
    settled(ready, qtbot)
    assert "61" in ready.result.band.text
    assert ready.status().mark is Mark.ATTENTION
    assert not ready.can_keep()
    band = ready.result.band
    qtbot.waitUntil(lambda: any(b.isVisible() for b in band.findChildren(QPushButton)))
    remedy = next(one for one in ready.result.band.findChildren(QPushButton) if one.isVisible())
    qtbot.mouseClick(remedy, Qt.MouseButton.LeftButton)
    settled(ready, qtbot)
    assert bench.work.parameters["k"] == 60
    assert ready.result.band.isHidden()
    assert ready.can_keep()


def test_a_removed_attribute_is_said(ready: ProtectPanel, bench: Workbench, qtbot: QtBot) -> None:
    bench.apply(SetParameters({"levels": {"age": 3, "sex": 0, "job": 1}}))
    settled(ready, qtbot)
    notes = ready.result._note_text.text()
    assert "“age” and “job” are removed completely" in notes


def test_going_through_choices_by_keys_is_one_step_and_choosing_is_one_each(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    bench.apply(SetParameters({"k": 7}))
    settled(ready, qtbot)
    form = ready.settings.form
    assert form is not None
    combo = form.field("objective").control
    assert isinstance(combo, NarrowCombo)
    ready.window().activateWindow()
    combo.setFocus()
    qtbot.waitUntil(combo.hasFocus)
    for _ in range(3):
        qtbot.keyClick(combo, Qt.Key.Key_Down)
    settled(ready, qtbot)
    assert bench.work.parameters["objective"] == "precision"
    bench.undo()
    settled(ready, qtbot)
    assert bench.work.parameters.get("objective", "loss") == "loss"
    assert bench.work.parameters["k"] == 7
    for place in (1, 2):
        combo.setCurrentIndex(place)
    bench.undo()
    settled(ready, qtbot)
    assert bench.work.parameters["objective"] == "discernibility"


def test_a_removed_attribute_comes_with_a_setting_that_keeps_it(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    bench.apply(SetParameters({"k": 20, "max_suppression": 0}))
    settled(ready, qtbot)
    assert "removed completely" in ready.result._note_text.text()
    (way,) = (
        one
        for one in ready.result.findChildren(QPushButton)
        if one.isVisible() and one.text() == "Try groups of rows instead"
    )
    qtbot.mouseClick(way, Qt.MouseButton.LeftButton)
    settled(ready, qtbot)
    assert bench.work.parameters["algorithm"] == "mondrian"
    assert "max_suppression" not in bench.work.parameters, "nothing is left out any more"
    assert "classes of at least 20 rows" in ready.result.sentence.replace("\u00a0", " ")
    assert way.isHidden()


def test_where_there_is_little_height_the_first_note_stands_for_all(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    result = ready.result
    first, second = Note("a", "`age` is removed."), Note("b", "`job` has no levels.")
    result.set_compact(True)
    result._show_notes((first, second))
    assert result._note_text.text() == "△ “age” is removed."
    assert result._more.text() == "1 more"
    qtbot.mouseClick(result._more, Qt.MouseButton.LeftButton)
    assert result._note_text.text() == "△ “age” is removed.\n△ “job” has no levels."
    assert result._more.text() == "1 fewer"
    qtbot.mouseClick(result._more, Qt.MouseButton.LeftButton)
    result.set_compact(False)
    assert "job" in result._note_text.text()
    assert result._more.isHidden()


def test_another_role_makes_the_search_run_again(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    first = bench.explored
    bench.apply(SetRoles({"job": Role.INSENSITIVE}))
    qtbot.waitUntil(lambda: not bench.stale and not ready.busy)
    assert bench.explored is not first
    assert ready.status().mark is Mark.DONE
    assert all("job" not in row[0] for row in _node_rows(ready))


def _node_rows(panel: ProtectPanel) -> list[tuple[str, ...]]:
    chart = next(chart for chart in panel.result.deck.charts if chart.id == "nodes")
    assert isinstance(chart, ScatterChart)
    return [tuple(str(cell) for cell in row) for row in chart.table.rows]


def patient_of(bench: Workbench) -> Patient:
    return next(method for method in bench.methods if isinstance(method, Patient))


def test_a_cancelled_search_waits_for_the_user(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    patient = patient_of(bench)
    bench.choose_method(patient)
    qtbot.waitUntil(ready.result.strip.isVisible)
    qtbot.waitUntil(lambda: "step 1 of 2: Waiting" in ready.result.strip.text)
    qtbot.mouseClick(button(ready, "Cancel"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not bench.exploring)
    assert bench.stale
    assert not ready.result.strip.isVisible()
    ready.activated()
    assert not bench.exploring
    assert ready.status().mark is Mark.STALE
    patient.leave.set()
    band = ready.result.band
    qtbot.waitUntil(lambda: any(b.isVisible() for b in band.findChildren(QPushButton)))
    qtbot.mouseClick(button(ready, "Search now"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not bench.stale)


def test_while_it_searches_the_last_charts_stay_and_say_so(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    bench.choose_method(patient_of(bench))
    qtbot.waitUntil(lambda: bench.exploring)
    assert ready.result.deck.charts[0].id == "risk"
    assert ready.result.deck.view("risk")._head.stale.text() == "↻ Searching all settings…"
    assert not ready.can_keep()
    bench.undo()
    qtbot.waitUntil(lambda: not bench.exploring and not bench.stale)


def test_pause_leaves_the_charts_alone_until_asked(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    qtbot.mouseClick(button(ready, "Pause"), Qt.MouseButton.LeftButton)
    bench.apply(SetParameters({"k": 7}))
    assert not ready.busy
    assert risk_chart(ready).threshold_label == "k = 3"
    band = ready.result.band
    qtbot.waitUntil(lambda: any(b.isVisible() for b in band.findChildren(QPushButton)))
    qtbot.mouseClick(button(ready, "Draw now"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: risk_chart(ready).threshold_label == "k = 7")


def test_a_wrong_level_by_hand_is_explained_with_a_way_out(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    bench.apply(SetParameters({"levels": {"age": 9, "sex": 0, "job": 0}}))
    settled(ready, qtbot)
    assert "“age” is 9" in ready.result.band.text
    ready.result.band.triggered.emit("again")
    settled(ready, qtbot)
    assert ready.can_keep()


def test_a_second_method_appears_without_touching_the_window(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    others = ("common-values", "patient")
    assert ready.settings.goals.ids == (
        *("k-anonymity", "anatomy", "l-diverted", "randomised-response"),
        *("dp-cube", "dp-graph", "priview", "itemsets", "dp-choice"),
        "table",
        *others,
    )
    card = ready.settings.goals.card("common-values")
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert bench.work.method == "common-values"
    qtbot.waitUntil(lambda: not bench.stale and not ready.busy)
    assert ready.result.band.text == "No value is held by 3 rows."
    assert ready.status().mark is Mark.ATTENTION
    slider = slider_of(ready, "least").slider
    assert slider is not None
    slider.setValue(1)
    settled(ready, qtbot)
    assert ready.result.sentence == "✓ Possible."
    assert [tile.accessibleName() for tile in ready.result.tiles] == ["Rows kept: 60."]
    bench.undo()
    bench.undo()
    assert bench.work.method == "k-anonymity"
    qtbot.waitUntil(lambda: not bench.stale and not ready.busy)


def test_no_picture_of_one_protection_stays_under_another(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    settled(ready, qtbot)
    assert ready.result.sentence
    bench.apply(SetMethod("anatomy", {"l": 500}))
    qtbot.waitUntil(lambda: bench.explore_problem is not None and not ready.busy)
    assert bench.explored is not None
    assert bench.explored.work.method == "k-anonymity"
    assert ready.result.sentence == ""
    assert not ready.result.deck.strip.isVisible()
    assert ready.result.band.kind == "fail"
    bench.undo()
    qtbot.waitUntil(lambda: not bench.stale and not ready.busy)


def test_the_same_settings_are_not_kept_twice(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    qtbot.mouseClick(button(ready, "Keep as candidate"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(bench.candidates) == 1 and not bench.hub.busy)
    assert "candidate 1" in ready._header.said
    with qtbot.waitSignal(ready.wantsPanel) as asked:
        qtbot.mouseClick(button(ready, "Compare 1"), Qt.MouseButton.LeftButton)
    assert asked.args == ["compare"]
    ready.keep()
    assert "already kept" in ready._header.said
    assert not bench.hub.busy
    bench.apply(SetParameters({"k": 9}))
    assert ready._header.said == ""
    settled(ready, qtbot)


def test_release_leads_to_review(ready: ProtectPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(ready.wantsPanel) as asked:
        qtbot.mouseClick(button(ready, "Release…"), Qt.MouseButton.LeftButton)
    assert asked.args == ["review"]


def test_the_guarantee_is_readable_whole(ready: ProtectPanel) -> None:
    ready.result.deck.show_page("guarantee")
    card = ready.result._guarantee
    assert card.isVisible()
    assert "covers at least 3 rows" in card.accessibleName()
    assert "This assumes: " in ready.result._claim.text()


@pytest.mark.parametrize("page", ["risk", "nodes", "guarantee", "figures"])
@pytest.mark.styled
def test_the_sweep_finds_nothing(ready: ProtectPanel, page: str) -> None:
    ready.result.deck.show_page(page)
    assert findings(ready) == []


@pytest.mark.styled
def test_the_sweep_finds_nothing_when_empty(panel: ProtectPanel) -> None:
    assert findings(panel) == []


@pytest.mark.parametrize(("size", "percent"), [((900, 590), 100), ((1500, 900), 200)])
@pytest.mark.styled
def test_nothing_is_wider_than_the_panel(
    ready: ProtectPanel, theme: ThemeManager, qtbot: QtBot, size: tuple[int, int], percent: int
) -> None:
    theme.set_text_size(percent)
    qtbot.waitUntil(lambda: ready.minimumSizeHint().width() <= size[0])
    ready.resize(*size)
    qtbot.waitUntil(lambda: ready.width() == size[0])
    seen = [area for area in ready.findChildren(QScrollArea) if area.isVisible()]
    qtbot.waitUntil(lambda: all(area.horizontalScrollBar().maximum() == 0 for area in seen))


def test_in_a_low_window_the_picture_comes_before_the_tiles(ready: ProtectPanel) -> None:
    ready.resize(1200, 900)
    assert ready.result.tiles[0].isVisible()
    ready.resize(1200, 640)
    assert not ready.result.tiles[0].isVisible()
    assert ready.result.sentence
    ready.resize(1200, 900)
    assert ready.result.tiles[0].isVisible()


def test_nothing_keeps_a_closed_panel_alive(
    bench: Workbench, theme: ThemeManager, qtbot: QtBot
) -> None:
    with theme.building():
        made = ProtectPanel(bench, theme)
    reference = weakref.ref(made)
    made.deleteLater()
    del made
    qtbot.waitUntil(lambda: bool(gc.collect() or True) and reference() is None)


def test_figures_stand_right_and_have_units_of_one_or_many(
    ready: ProtectPanel, bench: Workbench, qtbot: QtBot
) -> None:
    result = ready.result
    figures = (
        Figure("a", "Smallest class, original", 1, "count", "rows"),
        Figure("b", "Rows kept", 1200, "count", "rows"),
    )
    result._show_figures(spoken_figures(figures))
    model = result._figure_model
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    assert [model.index(row, 1).data() for row in (0, 1)] == ["1 row", "1,200 rows"]
    assert model.index(0, 1).data(Qt.ItemDataRole.TextAlignmentRole) == right
