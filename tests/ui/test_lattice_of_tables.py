"""The lattice of tables in the protect panel: clicks and keys change the plan, undo takes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.types import SetParameters
from dpdesk.core.charts import LatticeChart
from dpdesk.core.cube_parameters import CuboidStatus
from dpdesk.ui.charts.lattice_board import LatticeBoard
from dpdesk.ui.charts.lattice_view import LatticeView
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.a11y import findings
from tests.helpers.cubes import people, write_plan, write_register
from tests.helpers.people_plan import open_plan
from tests.helpers.pinned import pin

pytestmark = pytest.mark.plain

SEX, REGION, AGE = 0b001, 0b010, 0b100
Open = Callable[..., LatticeBoard]


@pytest.fixture
def panel(bench: Workbench, theme: ThemeManager, qtbot: QtBot) -> ProtectPanel:
    with theme.building():
        made = ProtectPanel(bench, theme)
    qtbot.addWidget(made)
    made.resize(1300, 860)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def opened(panel: ProtectPanel, bench: Workbench, qtbot: QtBot, tmp_path: Path) -> Open:
    def make(source: Path | None = None, **keys: object) -> LatticeBoard:
        plan = source or write_plan(write_register(tmp_path, people()), **keys)
        open_plan(bench, plan, qtbot)
        panel.activated()
        qtbot.waitUntil(lambda: not bench.stale and not panel.busy)
        panel.result.deck.show_page("cube-lattice")
        board = lattice(panel).board
        assert board is not None
        board.setFocus()
        return board

    return make


def lattice(panel: ProtectPanel) -> LatticeView:
    found = panel.result.deck.lattice
    assert found is not None
    return found


def settled(panel: ProtectPanel, qtbot: QtBot) -> LatticeChart:
    qtbot.waitUntil(lambda: not panel.busy)
    chart = lattice(panel).chart
    assert isinstance(chart, LatticeChart)
    return chart


def spot(board: LatticeBoard, cuboid: int) -> QPoint:
    place = board.position_of(cuboid)
    assert place is not None
    return QPoint(round(place[0]), round(place[1]))


def click(board: LatticeBoard, cuboid: int, qtbot: QtBot) -> None:
    qtbot.mouseClick(board, Qt.MouseButton.LeftButton, pos=spot(board, cuboid))


def keys_of(bench: Workbench) -> dict[str, object]:
    found = bench.work.parameters
    return {key: found.get(key) for key in ("publish", "forbid", "weights")}


def test_a_click_and_the_space_bar_take_a_table_out_and_undo_brings_it_back(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened()
    click(board, SEX | AGE, qtbot)
    assert board.chosen == SEX | AGE
    assert lattice(panel).inspector.name.text() == "sex × age"
    qtbot.keyClick(board, Qt.Key.Key_Space)
    named = bench.work.parameters["publish"]
    assert isinstance(named, tuple)
    assert len(named) == 7
    assert ("sex", "age") not in named
    assert "7 tables of 8" in settled(panel, qtbot).answer
    assert bench.history.undo_label == "Not published: sex × age"
    bench.undo()
    assert bench.work.parameters.get("publish", "all") == "all"
    assert "All 8 tables" in settled(panel, qtbot).answer


@pytest.mark.styled
def test_clicks_and_typed_tables_make_the_same_plan(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened(planner="optimal", publish=[["sex"], ["region"]])
    for cuboid in (SEX | AGE, REGION):
        click(board, cuboid, qtbot)
        qtbot.keyClick(board, Qt.Key.Key_Space)
    click(board, SEX, qtbot)
    qtbot.keyClick(board, Qt.Key.Key_Plus)
    click(board, AGE, qtbot)
    qtbot.keyClick(board, Qt.Key.Key_Delete)
    settled(panel, qtbot)
    clicked = keys_of(bench)
    form = panel.settings.form
    assert isinstance(form, CubeForm)
    fields = {key: form.field(key) for key in clicked}
    shown = {key: field.plain() for key, field in fields.items()}
    assert shown["publish"] == [["sex"], ["sex", "age"]]
    assert shown["forbid"] == [["age"]]
    assert shown["weights"] == [{"dimensions": ["sex"], "weight": 2}]
    for _ in range(4):
        bench.undo()
    assert keys_of(bench) == {
        "publish": (("sex",), ("region",)), "forbid": None, "weights": None,
    }  # fmt: skip
    for key, text in (
        ("publish", "sex\nsex × age"),
        ("forbid", "age"),
        ("weights", "sex: 2"),
    ):
        area = fields[key].area if key == "publish" else fields[key].control  # type: ignore[attr-defined]
        area.setPlainText(text)
    assert keys_of(bench) == clicked
    settled(panel, qtbot)


@pytest.mark.styled
def test_what_is_typed_shows_in_the_lattice(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    opened(publish=[["sex"], ["region"]])
    form = panel.settings.form
    assert isinstance(form, CubeForm)
    form.field("forbid").control.setPlainText("age × sex")  # type: ignore[attr-defined]
    chart = lattice(panel).chart
    assert isinstance(chart, LatticeChart)
    assert SEX | AGE in chart.choice.forbidden  # at once, before the plan is made
    settled(panel, qtbot)
    assert "forbidden" in {row[3] for row in settled(panel, qtbot).table.rows}


def test_arrow_keys_walk_along_the_lattice_and_enter_looks_behind(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened(planner="base")
    board.choose(0)
    steps = (
        (Qt.Key.Key_Down, REGION),
        (Qt.Key.Key_Left, SEX),
        (Qt.Key.Key_End, AGE),
        (Qt.Key.Key_Home, SEX),
        (Qt.Key.Key_Down, SEX | REGION),
        (Qt.Key.Key_Down, SEX | REGION | AGE),
        (Qt.Key.Key_Down, SEX | REGION | AGE),
        (Qt.Key.Key_PageUp, REGION | AGE),
        (Qt.Key.Key_Up, AGE),
    )
    for key, reached in steps:
        qtbot.keyClick(board, key)
        assert board.chosen == reached
    assert "age: ✓ published · computed" in board.accessibleDescription()
    qtbot.keyClick(board, Qt.Key.Key_Return)
    detail = panel.result.deck.detail
    qtbot.waitUntil(lambda: detail.isVisible())
    assert detail.accessibleName() == "How accurate is age?"


def test_delete_forbids_a_table_which_then_gets_no_noise(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened()
    top = SEX | REGION | AGE
    assert settled(panel, qtbot).node(top).noisy
    click(board, top, qtbot)
    qtbot.keyClick(board, Qt.Key.Key_Delete)
    assert bench.work.parameters["forbid"] == (("sex", "region", "age"),)
    assert bench.work.parameters.get("publish", "all") == "all"
    assert not settled(panel, qtbot).node(top).noisy
    qtbot.mouseClick(lattice(panel).inspector.avoid, Qt.MouseButton.LeftButton)
    assert "forbid" not in bench.work.parameters
    settled(panel, qtbot)


def test_weights_wait_for_a_planner_that_looks_at_them(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened()
    inspector = lattice(panel).inspector
    qtbot.keyClick(board, Qt.Key.Key_Plus)
    assert "PMost and Optimal" in inspector.message.text()
    assert not inspector.heavier.isEnabled()
    assert bench.work.parameters.get("weights") is None


@pytest.mark.styled
def test_a_weight_is_typed_and_stepped(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened(planner="pmost", theta=50)
    click(board, SEX, qtbot)
    inspector = lattice(panel).inspector
    inspector.weight.selectAll()
    qtbot.keyClicks(inspector.weight, "2.5")
    qtbot.keyClick(inspector.weight, Qt.Key.Key_Return)
    settled(panel, qtbot)
    assert form_text(panel, "weights") == "sex: 2.5"
    qtbot.mouseClick(inspector.lighter, Qt.MouseButton.LeftButton)
    settled(panel, qtbot)
    assert form_text(panel, "weights") == "sex: 2"
    inspector.weight.selectAll()
    qtbot.keyClicks(inspector.weight, "no")
    qtbot.keyClick(inspector.weight, Qt.Key.Key_Return)
    assert "above 0" in inspector.message.text()
    assert form_text(panel, "weights") == "sex: 2"


def form_text(panel: ProtectPanel, key: str) -> str:
    form = panel.settings.form
    assert form is not None
    text = form.field(key).control.toPlainText()  # type: ignore[attr-defined]
    return str(text)


@pytest.mark.styled
def test_e_makes_a_table_exact_which_changes_errors_and_guarantee_and_one_undo_takes_it_back(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    cells = [{"cuboid": ["region"], "cells": [["north"]]}]
    board = opened(exact=cells)
    inspector = lattice(panel).inspector
    before = settled(panel, qtbot)
    click(board, SEX | AGE, qtbot)
    assert "no ε protection" in inspector.caution.text()
    qtbot.keyClick(board, Qt.Key.Key_E)
    at_once = lattice(panel).chart
    assert isinstance(at_once, LatticeChart)
    assert at_once.node(SEX).exact
    assert bench.history.undo_label == "Published exactly: sex × age"
    assert form_text(panel, "exact") == "sex × age\nregion: north"
    chart = settled(panel, qtbot)
    assert chart.minimal_change > before.minimal_change
    assert f"minimal change of size {chart.minimal_change}" in chart.answer
    assert chart.node(REGION).width > before.node(REGION).width  # type: ignore[operator]
    assert f"(size {chart.minimal_change})" in inspector.caution.text()
    said = [label.text() for label in panel.result.findChildren(QLabel)]
    assert any(
        "without ε protection: sex × age and 1 cell of region (north)." in one for one in said
    )
    bench.undo()
    assert form_text(panel, "exact") == "region: north"
    assert settled(panel, qtbot).minimal_change == before.minimal_change


@pytest.mark.styled
def test_the_button_makes_a_table_exact_and_what_follows_can_neither_be_forbidden_nor_weighed(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened(planner="pmost", theta=50)
    inspector = lattice(panel).inspector
    click(board, SEX | AGE, qtbot)
    qtbot.mouseClick(inspector.exactly, Qt.MouseButton.LeftButton)
    assert bench.work.parameters["exact"] == (("sex", "age"),)
    settled(panel, qtbot)
    assert inspector.exactly.text() == "No longer exact"
    qtbot.keyClick(board, Qt.Key.Key_Delete)
    assert "released exactly, so it is published" in inspector.message.text()
    click(board, AGE, qtbot)
    assert "without noise" in inspector.state.text()
    assert not inspector.exactly.isEnabled()
    assert not inspector.heavier.isEnabled()
    qtbot.keyClick(board, Qt.Key.Key_Delete)
    assert "follows from sex × age" in inspector.message.text()
    assert findings(panel) == []
    click(board, SEX | AGE, qtbot)
    qtbot.mouseClick(inspector.exactly, Qt.MouseButton.LeftButton)
    assert bench.work.parameters.get("exact") is None
    assert not settled(panel, qtbot).exact


def test_exact_tables_that_do_not_go_with_the_settings_are_fixed_in_the_lattice(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened(planner="base", nonnegative=True)
    click(board, SEX, qtbot)
    qtbot.keyClick(board, Qt.Key.Key_E)
    qtbot.waitUntil(lambda: panel.result.band.kind == "fail")
    assert "is not offered alongside exact tables" in panel.result.band.text
    assert settled(panel, qtbot).node(SEX).exact
    assert board.isVisible()
    qtbot.keyClick(board, Qt.Key.Key_E)
    qtbot.waitUntil(lambda: "8 tables" in panel.result.sentence)


def test_the_last_table_stays_and_the_reason_stands_beside_the_picture(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened(publish=[["sex"]])
    click(board, SEX, qtbot)
    qtbot.keyClick(board, Qt.Key.Key_Space)
    assert bench.work.parameters["publish"] == (("sex",),)
    assert "last table" in lattice(panel).inspector.message.text()


def test_a_double_click_publishes_and_the_menu_offers_the_same(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened(publish=[["sex"]])
    click(board, AGE, qtbot)
    qtbot.mouseDClick(board, Qt.MouseButton.LeftButton, pos=spot(board, AGE))
    assert bench.work.parameters["publish"] == (("sex",), ("age",))
    settled(panel, qtbot)
    board.menuAsked.emit(QPoint(0, 0))
    (menu,) = [one for one in lattice(panel).findChildren(QMenu) if one.isVisible()]
    words = [action.text().partition("\t")[0] for action in menu.actions()]
    assert words == [
        "Do not publish it",
        "Forbid this table",
        "Publish exactly",
        "More weight",
        "Less weight",
    ]
    menu.actions()[1].trigger()
    menu.close()
    assert bench.work.parameters["forbid"] == (("age",),)
    settled(panel, qtbot)


def test_the_choice_can_be_fixed_where_no_plan_can_be_made(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    board = opened(planner="base")
    click(board, SEX | REGION | AGE, qtbot)
    qtbot.keyClick(board, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: panel.result.band.kind == "fail")
    settled(panel, qtbot)
    assert board.chosen == SEX | REGION | AGE
    qtbot.keyClick(board, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: "8 tables" in panel.result.sentence)


def test_before_epsilon_is_chosen_the_lattice_is_planned_with(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open, tmp_path: Path
) -> None:
    plan = write_plan(write_register(tmp_path, people()), planner="base")
    plan.write_text(plan.read_text("utf-8").replace("epsilon = 1.0\n", ""), "utf-8")
    board = opened(plan)
    chart = settled(panel, qtbot)
    assert chart.supposed
    assert chart.budget_words == "ε = 1"
    assert panel.result.band.kind == "info"
    click(board, SEX, qtbot)
    qtbot.keyClick(board, Qt.Key.Key_Space)
    assert "7 tables of 8" in settled(panel, qtbot).answer


@pytest.mark.styled
def test_the_table_says_the_same_and_every_control_is_named(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    opened(publish=[["sex"], ["age"]])
    assert findings(panel) == []
    view = lattice(panel)
    view.toggle_table()
    assert view.shows_table
    rows = settled(panel, qtbot).table.rows
    assert [row[0] for row in rows if row[3] == "published"] == ["sex", "age"]
    assert findings(panel) == []


def test_a_large_lattice_is_walked_one_step_at_a_time_and_found_by_name(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open, tmp_path: Path
) -> None:
    board = opened(wide_plan(tmp_path))
    assert board.chosen == 0
    assert len(board.layout_.places) == 13
    qtbot.keyClick(board, Qt.Key.Key_Down)
    assert board.chosen is not None
    assert board.chosen.bit_count() == 1
    finder = lattice(panel).finder
    qtbot.keyClicks(finder.words, "q03 q07 q09")
    finder.list.setCurrentRow(0)
    wanted = 1 << 3 | 1 << 7 | 1 << 9
    assert board.chosen == wanted
    board.setFocus()
    qtbot.keyClick(board, Qt.Key.Key_Space)
    named = bench.work.parameters["publish"]
    assert isinstance(named, tuple)
    assert ("q03", "q07", "q09") in named
    assert settled(panel, qtbot).node(wanted).standing is CuboidStatus.PUBLISHED


def wide_plan(folder: Path) -> Path:
    names = [f"q{i:02}" for i in range(12)]
    lines = [",".join(names), *(",".join(str(n >> i & 1) for i in range(12)) for n in range(9))]
    (folder / "wide.csv").write_text("\n".join(lines) + "\n")
    domains = ", ".join(f'{name} = ["0", "1"]' for name in names)
    plan = folder / "wide.toml"
    plan.write_text(
        f"""version = 1
[source]
path = "wide.csv"
[protection]
method = "dp-cube"
dimensions = {names}
domains = {{ {domains} }}
publish = {{ max_dimensions = 1 }}
planner = "base"
epsilon = 1
[budget]
population = "wide"
""".replace("'", '"')
    )
    return pin(plan)


@pytest.mark.parametrize(
    ("keys", "key", "reason"),
    [
        ({"exact": [["nope"]]}, "exact", "“Tables without noise” names “nope”"),
        ({"exact": [["sex"]], "consistency": "l1"}, "consistency", "consistency l2"),
        ({"exact": [["sex"]], "publish": [["sex"]]}, "exact", "no noise protects anything"),
        ({"exact": [["sex"], ["sex"]], "epsilon": None}, "exact", "names sex twice"),
    ],
)
def test_a_plan_whose_exact_tables_are_refused_opens_with_the_lattice_and_the_reason(
    keys: dict[str, object],
    key: str,
    reason: str,
    panel: ProtectPanel,
    bench: Workbench,
    qtbot: QtBot,
    opened: Open,
) -> None:
    given = {name: value for name, value in keys.items() if value is not None}
    opened(**given)
    assert settled(panel, qtbot).choice.dimensions == ("sex", "region", "age")
    assert reason in panel.result.band.text
    form = panel.settings.form
    assert form is not None
    assert form.field(key).control.property("invalid")
    if key == "exact":
        remedy = next(
            one
            for one in panel.result.findChildren(QPushButton)
            if one.text() == "Publish nothing exactly"
        )
        remedy.click()
    else:
        bench.apply(SetParameters({"exact": None}))
    settled(panel, qtbot)
    assert panel.result.band.text == ""
    assert not form.field(key).control.property("invalid")


@pytest.mark.parametrize("percent", [100, 125])
def test_what_exactness_costs_stands_above_the_fold_in_a_small_window(
    panel: ProtectPanel, theme: ThemeManager, qtbot: QtBot, opened: Open, percent: int
) -> None:
    theme.set_text_size(percent)
    panel.resize(840, 600)
    board = opened(exact=[["sex"]])
    click(board, SEX, qtbot)
    settled(panel, qtbot)
    caution = lattice(panel).inspector.caution
    assert "no ε protection" in caution.text()
    qtbot.waitUntil(lambda: not caution.visibleRegion().isEmpty())


@pytest.mark.styled
def test_a_slow_planner_that_was_stopped_is_offered_and_computed_on_demand(
    panel: ProtectPanel, bench: Workbench, qtbot: QtBot, opened: Open
) -> None:
    opened()
    growing, compute = panel._growing, panel.result.compute
    qtbot.waitUntil(lambda: growing.job != 0)
    bench.hub.cancel(growing.job)
    qtbot.waitUntil(compute.isVisible)
    assert findings(panel) == []
    compute.click()
    assert not compute.isVisible()
    qtbot.waitUntil(lambda: growing.job != 0)
    bench.hub.cancel(growing.job)
    qtbot.waitUntil(lambda: growing.job == 0)


def test_a_german_window_calls_the_picture_in_german(
    german: None, panel: ProtectPanel, opened: Open, qtbot: QtBot
) -> None:
    board = opened()
    view = lattice(panel)
    for heard in (view, board):
        assert heard.accessibleName().startswith("Welche Tabellen werden veröffentlicht")
        assert "tables published" not in heard.accessibleDescription()
