"""Limit lines: what they stand for, where they are, and that two of them cross on a curve."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import Axis, PointSeries, ScatterChart, table_from
from dpdesk.ui.charts import ChartView
from dpdesk.ui.charts.axes import LimitHandle, crossing, handles_of
from dpdesk.ui.theme import ThemeManager
from tests.helpers.sample_charts import lattice_chart


def curve_chart(epsilon: float = 1.0) -> ScatterChart:
    xs = np.logspace(-2, 1, 25)
    return ScatterChart(
        id="curve",
        question="How large is the error at each ε?",
        answer="At ε = 1, ± 30 people.",
        x_axis=Axis("ε", log=True),
        y_axis=Axis("±", "people", log=True),
        series=(PointSeries("Base", xs, 30 / xs, joined=True, labels=("Base", *[""] * 24)),),
        table=table_from(["ε"], [[1]]),
        x_limit=epsilon,
        x_limit_label=f"ε = {epsilon:g}",
        x_limit_key="epsilon",
        y_limit=30 / epsilon,
        y_limit_label=f"± {30 / epsilon:g} people",
        y_limit_key="accuracy",
    )


@pytest.fixture
def view(qtbot: QtBot, theme: ThemeManager) -> ChartView:
    made = ChartView(theme)
    qtbot.addWidget(made)
    made.resize(700, 560)
    made.let_limit_move()
    made.set_chart(curve_chart())
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_a_line_on_a_log_axis_has_the_value_of_its_place() -> None:
    lying, standing = handles_of(curve_chart())
    assert (lying.upright, standing.upright) == (False, True)
    assert standing.place == pytest.approx(0)
    assert standing.value_at(-1.0) == pytest.approx(0.1)
    assert standing.stepped(20) == pytest.approx(10)
    assert standing.words(0.25) == "ε = 0.25"
    assert lying.words(1234.0) == "± 1,200 people"


def test_a_share_keeps_its_bounds() -> None:
    handle = LimitHandle(lattice_chart(), upright=False)
    assert handle.value_at(1.7) == 1.0
    assert not handle.follows


def test_the_other_line_crosses_on_the_curve() -> None:
    chart = curve_chart()
    lying, standing = handles_of(chart)
    assert crossing(chart, standing, -1.0) == pytest.approx(np.log10(300))
    assert crossing(chart, lying, np.log10(300)) == pytest.approx(-1.0)


@pytest.mark.parametrize(("upright", "key"), [(True, "epsilon"), (False, "accuracy")])
def test_both_lines_can_be_dragged(view: ChartView, qtbot: QtBot, upright: bool, key: str) -> None:
    surface = view.surface
    assert surface is not None
    place = surface.line_place(upright=upright)
    assert place is not None
    viewport, by = surface.viewport(), QPoint(-40, 0) if upright else QPoint(0, -40)
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(view.limitMoved) as moved:
        qtbot.mouseMove(viewport, place + by)
    assert moved.args is not None
    assert moved.args[0] == key
    smaller = moved.args[1] < 1 if upright else moved.args[1] > 30
    assert smaller
    # What arrives while the line is held waits until it is let go.
    before = surface.line_place(upright=True)
    view.set_chart(curve_chart(0.5))
    assert surface.line_place(upright=True) == before
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=place + by)
    assert surface.line_place(upright=True) != before


def test_shift_and_arrows_move_the_line_that_goes_that_way(view: ChartView, qtbot: QtBot) -> None:
    surface = view.surface
    assert surface is not None
    surface.setFocus()
    shift = Qt.KeyboardModifier.ShiftModifier
    for key, name in ((Qt.Key.Key_Left, "epsilon"), (Qt.Key.Key_Up, "accuracy")):
        with qtbot.waitSignal(view.limitMoved) as moved:
            qtbot.keyClick(surface, key, shift)
        assert moved.args is not None
        assert moved.args[0] == name
    assert "Shift" in surface.toolTip()


def test_a_point_under_the_line_is_chosen_by_a_click_and_the_line_moved_by_a_drag(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    view = ChartView(theme)
    qtbot.addWidget(view)
    view.resize(700, 560)
    view.let_limit_move()
    ids = np.array([7, 8, 9], np.int64)
    points = PointSeries("Feasible", np.array([0.2, 0.5, 0.8]), np.array([0.05, 0.05, 0.4]), ids)
    chart = ScatterChart(
        id="nodes",
        question="Which node?",
        answer="One of three.",
        x_axis=Axis("Loss", percent=True, minimum=0.0, maximum=1.0),
        y_axis=Axis("Rows suppressed", percent=True, minimum=0.0, maximum=1.0),
        series=(points,),
        table=table_from(["Loss"], [[1]]),
        y_limit=0.05,
        y_limit_label="at most 5 %",
        y_limit_key="max_suppression",
    )
    view.set_chart(chart)
    with qtbot.waitExposed(view):
        view.show()
    surface = view.surface
    assert surface is not None
    qtbot.waitUntil(lambda: surface.plotItem.vb.sceneBoundingRect().width() > 300)
    at = surface.line_place(upright=False)
    assert at is not None
    across = surface.plotItem.vb.sceneBoundingRect()
    low, high = surface.plotItem.vb.viewRange()[0]
    place = QPoint(round(across.left() + (0.2 - low) / (high - low) * across.width()), at.y())
    moved: list[object] = []
    view.limitMoved.connect(lambda *values: moved.append(values))
    with qtbot.waitSignal(view.pointPicked) as picked:
        qtbot.mouseClick(surface.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert picked.args == [7]
    assert not moved
    qtbot.mousePress(surface.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.assertNotEmitted(view.pointPicked):
        qtbot.mouseMove(surface.viewport(), place - QPoint(0, 60))
        qtbot.mouseRelease(surface.viewport(), Qt.MouseButton.LeftButton, pos=place - QPoint(0, 60))
    assert moved
