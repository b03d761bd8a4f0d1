"""A chart says its question and answer, walks by arrows, has a twin, and leaks nothing."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QImage, QPainter
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import Axis, Chart, ChartTable, PointSeries, ScatterChart
from dpdesk.core.errors import StorageError
from dpdesk.ui.charts import ChartView, table_csv
from dpdesk.ui.charts.axes import NumberAxis, PlotFrame, nice_step, plain_text
from dpdesk.ui.charts.items import Bar, BarsItem
from dpdesk.ui.theme import ThemeManager
from tests.helpers.sample_charts import lattice_chart, loss_chart, size_chart


def corner_chart() -> ScatterChart:
    """Five points: four corners and the middle, numbered 10 to 14."""
    return ScatterChart(
        id="corners",
        question="Which corner?",
        answer="All of them.",
        x_axis=Axis("loss", percent=True),
        y_axis=Axis("size", "rows"),
        series=(
            PointSeries(
                "corners",
                np.array([0.0, 1.0, 0.0, 1.0, 0.5]),
                np.array([0.0, 0.0, 1.0, 1.0, 0.5]),
                np.array([10, 11, 12, 13, 14], np.int64),
            ),
        ),
        table=ChartTable(("corner", "loss"), ((10, 0.0), (11, 1.0))),
    )


@pytest.fixture
def view(qtbot: QtBot, theme: ThemeManager) -> ChartView:
    view = ChartView(theme)
    qtbot.addWidget(view)
    view.resize(640, 480)
    view.show()
    return view


def pixel_of(view: ChartView, number: int) -> QPoint:
    surface = view.surface
    assert surface is not None
    xs, ys = surface._pixels()
    at = list(surface._points[2]).index(number)
    return QPoint(round(xs[at]), round(ys[at]))


def colours(image: QImage) -> set[str]:
    return {
        image.pixelColor(x, y).name()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    }


def test_question_and_answer_are_the_accessible_texts(view: ChartView) -> None:
    chart = size_chart()
    view.set_chart(chart)
    assert view.accessibleName() == chart.question
    assert view.accessibleDescription() == chart.answer
    assert view.surface is not None
    assert view.surface.accessibleName() == chart.question


def test_the_twin_holds_the_same_numbers(view: ChartView) -> None:
    view.set_chart(size_chart())
    view.toggle_table()
    assert view.shows_table
    model = view._grid.model()
    assert view._grid.isVisible()
    assert model.index(5, 2).data() == "37,421"
    view.set_chart(loss_chart())
    assert model.rowCount() == len(loss_chart().table.rows)
    view.toggle_table()
    assert not view.shows_table


def test_before_the_first_chart_the_placeholder_says_what_to_do(view: ChartView) -> None:
    view.set_placeholder("Mark a quasi-identifier to see the risk")
    assert view.accessibleName() == "Mark a quasi-identifier to see the risk"
    view.set_chart(size_chart())
    view.set_chart(None)
    assert view._placeholder.isVisible()


def test_a_click_picks_the_nearest_point(view: ChartView, qtbot: QtBot) -> None:
    view.set_chart(corner_chart())
    surface = view.surface
    assert surface is not None
    qtbot.waitUntil(lambda: surface.plotItem.vb.sceneBoundingRect().width() > 300)
    place = pixel_of(view, 14) + QPoint(7, -5)
    with qtbot.waitSignal(view.pointPicked) as picked:
        qtbot.mouseClick(surface.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert picked.args == [14]
    assert "50\u00a0%" in view._readout.text()
    assert "rows" in view._readout.text()


def test_a_click_into_the_void_picks_nothing(view: ChartView, qtbot: QtBot) -> None:
    view.set_chart(corner_chart())
    surface = view.surface
    assert surface is not None
    qtbot.waitUntil(lambda: surface.plotItem.vb.sceneBoundingRect().width() > 300)
    middle = (pixel_of(view, 10) + pixel_of(view, 14)) / 2
    with qtbot.assertNotEmitted(view.pointPicked):
        qtbot.mouseClick(surface.viewport(), Qt.MouseButton.LeftButton, pos=middle)


def test_arrows_walk_and_enter_pins(view: ChartView, qtbot: QtBot) -> None:
    view.set_chart(corner_chart())
    surface = view.surface
    assert surface is not None
    qtbot.waitUntil(lambda: surface.plotItem.vb.sceneBoundingRect().width() > 300)
    view.select_point(10)
    walked: list[int] = []
    view.pointSelected.connect(walked.append)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Left):
        qtbot.keyClick(surface, key)
    assert walked[0] in (11, 14)
    assert walked[-1] in (10, 12, 14)
    with qtbot.waitSignal(view.pointPicked) as picked:
        qtbot.keyClick(surface, Qt.Key.Key_Return)
    assert picked.args == [walked[-1]]


def test_page_keys_reach_every_point(view: ChartView, qtbot: QtBot) -> None:
    view.set_chart(corner_chart())
    surface = view.surface
    assert surface is not None
    walked: list[int] = []
    view.pointSelected.connect(walked.append)
    for _ in range(5):
        qtbot.keyClick(surface, Qt.Key.Key_PageDown)
    assert walked == [10, 12, 14, 11, 13]
    qtbot.keyClick(surface, Qt.Key.Key_PageUp)
    assert walked[-1] == 11


def test_a_click_on_a_bar_names_its_category(view: ChartView, qtbot: QtBot) -> None:
    view.set_chart(size_chart())
    surface = view.surface
    assert surface is not None
    qtbot.waitUntil(lambda: surface.plotItem.vb.sceneBoundingRect().width() > 300)
    with qtbot.waitSignal(view.pointPicked) as picked:
        qtbot.mouseClick(surface.viewport(), Qt.MouseButton.LeftButton, pos=pixel_of(view, 4))
    assert picked.args == [4]
    assert view._readout.text() == "10–19 · before 5,230 · after 5,140"


def test_the_marked_point_survives_new_data(view: ChartView) -> None:
    view.set_chart(lattice_chart(seed=1))
    view.select_point(7)
    view.set_chart(lattice_chart(seed=2))
    assert view.surface is not None
    assert view.surface.chosen == 7


@pytest.mark.parametrize("chart", [size_chart(), loss_chart(), lattice_chart()], ids=lambda c: c.id)
def test_dark_has_no_light_box(view: ChartView, theme: ThemeManager, chart: Chart) -> None:
    view.set_chart(chart)
    theme.set_mode("dark")
    seen = colours(view.grab().toImage())
    assert "#ffffff" not in seen
    assert theme.tokens.surface.lower() in seen


def test_points_without_a_place_are_left_out(view: ChartView) -> None:
    chart = corner_chart()
    series = chart.series[0]
    broken = PointSeries("corners", series.x.copy(), series.y, series.ids)
    broken.x[1] = np.nan
    view.set_chart(
        ScatterChart("c", "Which?", "", chart.x_axis, chart.y_axis, (broken,), chart.table)
    )
    assert view.surface is not None
    assert view.surface.position_of(11) is None
    assert view.surface.position_of(12) == (0.0, 1.0)


def test_an_empty_scatter_is_drawn(view: ChartView) -> None:
    none = PointSeries("none", np.empty(0), np.empty(0))
    chart = ScatterChart(
        "empty", "Which?", "None.", Axis("a"), Axis("b", log=True), (none,), ChartTable((), ())
    )
    view.set_chart(chart)
    assert not view.grab().isNull()


def test_export_writes_what_the_suffix_says(view: ChartView, qtbot: QtBot, tmp_path: Path) -> None:
    view.set_chart(loss_chart())
    with qtbot.waitSignal(view.exported):
        view.save_as(tmp_path / "loss.csv")
    lines = (tmp_path / "loss.csv").read_text().splitlines()
    assert lines[0] == "attribute,loss"
    assert lines[4] == "marital-status,0.31"
    view.save_as(tmp_path / "loss.png")
    image = QImage(str(tmp_path / "loss.png"))
    assert image.width() == 2 * view._sheet.width()


def test_the_drawing_is_a_file_of_its_own(view: ChartView, tmp_path: Path) -> None:
    view.set_chart(loss_chart())
    view.save_as(tmp_path / "loss.svg")
    text = (tmp_path / "loss.svg").read_text()
    root = ElementTree.fromstring(text)
    shown = "".join(root.itertext())
    assert loss_chart().question in shown
    assert loss_chart().answer.split()[0] in shown
    assert "var(" not in text, "drawing programs know no variables"


def test_what_became_of_saving_is_said_below_the_picture(view: ChartView, tmp_path: Path) -> None:
    view.set_chart(loss_chart())
    view._on_file_chosen(str(tmp_path / "nowhere" / "loss.csv"))
    assert view._saved.isVisible()
    assert "nowhere" in view._saved.text()
    view._on_file_chosen(str(tmp_path / "loss.csv"))
    assert view._saved.text() == f"Saved as {tmp_path / 'loss.csv'}"
    view.set_chart(size_chart())
    assert not view._saved.isVisible()


def test_tools_and_key_stand_beside_the_words_where_there_is_room(
    view: ChartView, qtbot: QtBot
) -> None:
    view.set_chart(size_chart())
    head = view._head
    view.resize(900, 480)
    qtbot.waitUntil(lambda: view._tools.geometry().top() < head.title.geometry().bottom())
    assert view._tools.geometry().left() > head.title.geometry().left()
    assert head.legend.geometry().left() > head.upright.geometry().right()
    high = head.height()
    view.resize(330, 480)
    qtbot.waitUntil(lambda: view._tools.geometry().top() >= head.answer.geometry().bottom())
    qtbot.waitUntil(lambda: head.height() > high)
    right = max(one.geometry().right() for one in (view._tools, head.legend, head.upright))
    assert right <= head.width()


def test_the_width_of_a_scroll_bar_does_not_move_the_key_again_and_again(
    view: ChartView, qtbot: QtBot
) -> None:
    view.set_chart(size_chart())
    head = view._head

    def beside(width: int) -> bool:
        head.resize(width, head.height())
        return head._keys.indexOf(head.legend) >= 0

    least = next(width for width in range(900, 0, -1) if not beside(width)) + 1
    assert not beside(least)
    for _ in range(3):
        assert not beside(least - 14)
        assert not beside(least)
    assert beside(least + 100)
    assert beside(least)


def test_where_it_is_low_the_picture_comes_before_its_answer(view: ChartView, qtbot: QtBot) -> None:
    answer = "A long answer that needs several lines. " * 5
    view.set_chart(replace(size_chart(), answer=answer))
    view.resize(340, 600)
    qtbot.waitUntil(view._head.answer.isVisible)
    view.resize(340, 310)
    qtbot.waitUntil(lambda: not view._head.answer.isVisible())
    assert view._head.title.toolTip() == answer
    view.resize(340, 600)
    qtbot.waitUntil(view._head.answer.isVisible)


def test_a_chart_that_cannot_be_written_says_where(view: ChartView, tmp_path: Path) -> None:
    view.set_chart(loss_chart())
    with pytest.raises(StorageError, match="nowhere"):
        view.save_as(tmp_path / "nowhere" / "loss.csv")


def test_the_twin_as_csv_quotes_what_must_be_quoted() -> None:
    table = ChartTable(("a,b", "n"), (('say "x"', 1_000), (None, 0.5)))
    assert table_csv(table) == '"a,b",n\n"say ""x""",1000\n,0.5\n'


def test_nothing_keeps_a_closed_view_alive(qtbot: QtBot, theme: ThemeManager) -> None:
    view = ChartView(theme)
    view.resize(400, 300)
    view.show()
    view.set_chart(lattice_chart(500))
    view.grab()
    reference = weakref.ref(view)
    view.close()
    view.deleteLater()
    del view
    qtbot.waitUntil(lambda: bool(gc.collect() or True) and reference() is None)


def test_ticks_are_round_and_have_no_factor() -> None:
    assert [nice_step(rough) for rough in (0.013, 0.2, 2.1, 3.0, 7.1)] == [
        0.02,
        0.2,
        2.5,
        5.0,
        10.0,
    ]
    assert plain_text(45_000.0, 5_000.0) == "45,000"
    assert plain_text(0.0004, 0.0002) == "0.0004"
    assert plain_text(2.0, 0.5) == "2.0"
    assert plain_text(0.25, 0.25) == "0.25"
    assert plain_text(75.0, 25.0) == "75"


def test_the_focus_on_a_plot_is_visible(view: ChartView, theme: ThemeManager, qtbot: QtBot) -> None:
    view.set_chart(corner_chart())
    surface = view.surface
    assert surface is not None
    view.activateWindow()
    surface.setFocus()
    qtbot.waitUntil(surface.hasFocus)
    edge = surface.grab().toImage()
    assert edge.pixelColor(0, edge.height() // 2).name() == theme.tokens.accent.lower()


def test_marks_cover_the_whole_view_after_the_axes_have_moved(
    view: ChartView, qtbot: QtBot
) -> None:
    view.set_chart(size_chart())
    surface = view.surface
    assert surface is not None
    surface.grab()
    surface.set_ranges((-0.6, 5.4), (0, 90_000))
    surface.grab()
    assert surface._lines.items[1].boundingRect().height() == pytest.approx(90_000)


@pytest.mark.parametrize("percent", [100, 200])
def test_axes_write_their_ends_and_nothing_is_cut(
    view: ChartView, theme: ThemeManager, qtbot: QtBot, percent: int
) -> None:
    theme.set_text_size(percent)
    view.resize(700, 560)
    view.set_chart(loss_chart())
    surface = view.surface
    assert surface is not None
    qtbot.waitUntil(lambda: surface.plotItem.vb.sceneBoundingRect().width() > 200)
    image = surface.grab().toImage()
    painter = QPainter(image)
    axis = surface._axes["bottom"]
    written = [text for _, _, text in axis.generateDrawSpecs(painter)[2]]
    painter.end()
    assert (written[0], written[-1]) == ("0 %", "100 %")
    edges = {(x, y) for y in range(image.height()) for x in (0, 1, image.width() - 1)}
    edges |= {(x, y) for x in range(image.width()) for y in (0, 1, image.height() - 1)}
    assert len({image.pixelColor(x, y).name() for x, y in edges}) == 1


# What decisions/charts-in-the-window.md says of the library's own items.


def drawn(*items: pg.GraphicsObject) -> PlotFrame:
    """Items in a frame of 400 × 300 pixels."""
    frame = PlotFrame({side: NumberAxis(side) for side in ("left", "bottom")})
    frame.resize(400, 300)
    frame.setBackground("w")
    for item in items:
        frame.add(item)
    frame.set_ranges((-1, 1), (-0.1, 1))
    return frame


def test_a_bar_of_the_library_vanishes_where_ours_is_seen(qtbot: QtBot) -> None:
    theirs = pg.BarGraphItem(x=[0], height=[0.0004], width=1, brush="k", pen=None)
    ours = BarsItem()
    ours.set_bars(
        (Bar(-0.5, 0.5, 0.0004, "#000000"),), ("#000000", "#FFFFFF"), QFont(), lying=False
    )
    seen = []
    for item in (theirs, ours):
        frame = drawn(item)
        qtbot.addWidget(frame)
        with qtbot.waitExposed(frame):
            frame.show()
        area = frame.plotItem.vb.sceneBoundingRect().toRect()
        image, x = frame.grab().toImage(), area.center().x()
        rows = range(area.top() + 2, area.bottom() - 2)
        seen.append(any(image.pixelColor(x, y).lightness() < 128 for y in rows))
    assert seen == [False, True]


def test_a_key_of_the_library_keeps_one_width_however_narrow_its_plot_is(qtbot: QtBot) -> None:
    plot = pg.PlotWidget()
    qtbot.addWidget(plot)
    plot.resize(320, 200)
    key = plot.addLegend()
    for number in range(6):
        plot.plot([0, 1], [number, number], name=f"one of the names of a table, number {number}")
    with qtbot.waitExposed(plot):
        plot.show()
    wide = key.boundingRect().width()
    plot.resize(240, 200)
    plot.grab()
    assert key.boundingRect().width() == wide > plot.plotItem.vb.width()


def test_the_label_of_a_line_of_the_library_lies_on_its_line(qtbot: QtBot) -> None:
    sides = [(0, 0), (0, 1)]
    line = pg.InfiniteLine(0.4, angle=0, label="at most 2 %", labelOpts={"anchors": sides})
    frame = drawn(line)
    qtbot.addWidget(frame)
    with qtbot.waitExposed(frame):
        frame.show()
    frame.grab()
    label = line.label.mapRectToScene(line.label.boundingRect())
    at = frame.plotItem.vb.mapViewToScene(pg.Point(0, 0.4)).y()
    assert label.top() - 1 <= at <= label.bottom() + 1


def test_an_answer_names_values_in_quotation_marks(view: ChartView) -> None:
    view.set_chart(replace(corner_chart(), answer="`a` is far from `b`."))
    assert view.accessibleDescription() == "“a” is far from “b”."


def test_without_a_chart_nothing_can_be_switched_or_saved(view: ChartView) -> None:
    save = next(b for b in view.findChildren(QToolButton) if "Save" in b.accessibleName())
    view.set_placeholder("Choose columns first.")
    assert not save.isVisible()
    view.set_chart(size_chart())
    assert save.isVisible()
