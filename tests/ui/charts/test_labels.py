"""Texts beside bars and axes: whole where there is room, and never those of some bars alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter, QTransform
from pytestqt.qtbot import QtBot

from dpdesk.core.charts import Axis, BarChart, BarSeries, ChartTable, SeriesStyle
from dpdesk.ui.charts import ChartView
from dpdesk.ui.charts.axes import NumberAxis, label_of, log_places
from dpdesk.ui.charts.items import MarkersItem, in_lines, layout_bars
from dpdesk.ui.charts.surface import PlotSurface
from dpdesk.ui.theme import ThemeManager

LONG = tuple(
    f"Administrative district of the northern lower valley and hills {n}" for n in range(8)
)


def chart(*series: BarSeries, names: tuple[str, ...], lying: bool = False) -> BarChart:
    return BarChart(
        id="bars",
        question="How many?",
        answer="Some.",
        category_axis=Axis("Name"),
        value_axis=Axis("Rows", "count"),
        categories=names,
        series=series,
        table=ChartTable(("Name", "Rows"), ()),
        horizontal=lying,
    )


def surface_of(view: ChartView, qtbot: QtBot, size: tuple[int, int]) -> PlotSurface:
    qtbot.addWidget(view)
    view.resize(*size)
    view.show()
    qtbot.waitExposed(view)
    view.grab()
    assert isinstance(view.surface, PlotSurface)
    return view.surface


def written(surface: PlotSurface) -> list[str]:
    """The labels that are drawn at bars."""
    item = surface._bars
    box = surface.plotItem.vb
    (left, right), (low, high) = box.viewRange()
    area: QRectF = box.sceneBoundingRect()
    scale = area.width() / (right - left), area.height() / (high - low)
    way = -1 if not box.yInverted() else 1
    top = area.top() if box.yInverted() else area.bottom()
    transform = QTransform(scale[0], 0, 0, way * scale[1], area.left() - left * scale[0], top)
    assert transform.map(QPointF(left, low)).x() == pytest.approx(area.left())
    return [bar.label for bar, _ in item._labels(item._folded(transform), area)]


def test_names_of_sixty_letters_stand_whole_beside_lying_bars(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    view = ChartView(theme)
    view.set_chart(chart(BarSeries("Rows", (5.0,) * 8), names=LONG, lying=True))
    surface = surface_of(view, qtbot, (680, 520))
    ticks = surface._axes["left"]._tickLevels[0]
    assert [" ".join(name.split()) for _, name in ticks] == list(LONG)


def test_names_that_must_be_cut_stay_different(theme: ThemeManager) -> None:
    metrics = QFontMetrics(theme.theme.font("note"))
    shown = in_lines(LONG, 90, 2, metrics)
    assert len(set(shown)) == len(LONG)
    lines = [line for name in shown for line in name.split("\n")]
    assert max(map(metrics.horizontalAdvance, lines)) <= 90


def test_all_bars_have_a_label_or_those_of_each_group_or_one(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    names = tuple("abcdefgh")
    series = [BarSeries(f"S{n}", tuple(n + at + 1.0 for at in range(8))) for n in range(3)]
    view = ChartView(theme)
    view.set_chart(chart(*series, names=names, lying=True))
    surface = surface_of(view, qtbot, (600, 720))
    assert len(written(surface)) == 24
    low = ChartView(theme)
    low.set_chart(chart(*series, names=names, lying=True))
    assert written(surface_of(low, qtbot, (600, 300))) == [str(at + 3) for at in range(8)]


def test_the_most_that_a_bar_may_be_is_said_briefly_where_there_is_little_room(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    most = BarSeries("Largest of these tables", (54.27, 65.02, 34.1), outline=True, bound=True)
    typical = BarSeries("Typical table", (54.0, 43.26, 26.15))
    view = ChartView(theme)
    view.set_chart(chart(most, typical, names=("1", "2", "3")))
    surface = surface_of(view, qtbot, (520, 420))
    assert written(surface) == ["54 of 54.27", "43.26 of 65.02", "26.15 of 34.1"]


def test_series_that_take_turns_stand_in_one_row(theme: ThemeManager) -> None:
    considered = BarSeries("Considered", (3.0, 0.0, 5.0), SeriesStyle.REFERENCE)
    chosen = BarSeries("Chosen", (0.0, 2.0, 0.0))
    bars = layout_bars(chart(considered, chosen, names=("a", "b", "c")), theme.theme)
    assert sorted((bar.low + bar.high) / 2 for bar in bars) == pytest.approx([0, 1, 2], abs=0.03)
    assert [bar.label for bar in bars] == ["3", "5", "2"]


@pytest.mark.parametrize(("low", "high"), [(2.4, 11.0), (8.1, 24.2), (0.01, 5.0), (90.0, 130.0)])
def test_an_axis_of_ratios_has_numbers_and_says_what_it_is(low: float, high: float) -> None:
    from math import log10

    assert len(log_places(log10(low), log10(high))) >= 3
    assert label_of(Axis("± in 95 % of the cells", "people", log=True)) == (
        "± in 95 % of the cells (people, log scale)"
    )
    assert label_of(Axis("Budget", log=True)) == "Budget (log scale)"


@pytest.mark.parametrize("percent", [True, False])
@pytest.mark.parametrize("powers", [range(-18, 1, 2), range(-4, 5), range(-2, 3)])
def test_numbers_far_apart_are_all_told_apart_on_an_axis_of_ratios(
    qapp: object, percent: bool, powers: range
) -> None:
    axis = NumberAxis("left")
    axis.describe(Axis("Error", percent=percent, log=True))
    texts = axis.tickStrings([float(power) for power in powers], 1.0, 1.0)
    assert len(set(texts)) == len(powers)
    for text, power in zip(texts, powers, strict=True):
        number = float(text.removesuffix(" %").replace(",", ""))
        assert number == pytest.approx(10.0 ** (power + 2 * percent), rel=1e-9)


@pytest.mark.parametrize("points", [1, 2])
def test_a_curve_is_seen_even_if_it_has_a_single_point(qapp: object, points: int) -> None:
    item, places = MarkersItem(), np.array([20.0, 30.0][:points])
    colours = ("#ff0000", "#ffffff", "#000000")
    item.set_points(places, places, "disc", 8.0, colours, joined=Qt.PenStyle.SolidLine)
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill("#ffffff")
    painter = QPainter(image)
    item.draw(painter, QTransform())
    painter.end()
    assert image.pixelColor(20, 20).name() == "#ff0000"


def test_no_number_of_an_axis_is_cut_at_its_end(qtbot: QtBot, theme: ThemeManager) -> None:
    view = ChartView(theme)
    shown = replace(
        chart(BarSeries("Rows", (5_990.0,)), names=("a",), lying=True),
        value_axis=Axis("Rows", maximum=5_999.0),
    )
    view.set_chart(shown)
    surface = surface_of(view, qtbot, (500, 300))
    axis = surface._axes["bottom"]
    assert isinstance(axis, NumberAxis)
    ((step, ticks),) = axis.tickValues(0.0, 6_000.0, 300.0)
    assert 6_000 not in [round(tick) for tick in ticks] or 6_000 % step
    assert len(ticks) >= 2


def test_before_and_after_stand_below_each_other_where_bars_are_narrow(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    before = BarSeries("Original", (0.845, 0.135, 0.02, 0.01), outline=True)
    after = BarSeries("Release", (0.0, 0.0, 0.003, 0.972))
    shown = replace(
        chart(before, after, names=("1", "2", "3–4", "20+")),
        value_axis=Axis("Rows", percent=True),
    )
    view = ChartView(theme)
    view.set_chart(shown)
    labels = written(surface_of(view, qtbot, (260, 420)))
    assert labels[0] == "84.5 →\n0\u00a0%"
    assert all(label.count("\n") == 1 for label in labels)


@pytest.mark.parametrize("widths", [(900, 330), (330, 900, 330), (900, 600, 400, 330)])
def test_the_title_of_an_axis_stands_in_its_middle_at_every_width(
    qtbot: QtBot, theme: ThemeManager, widths: tuple[int, ...]
) -> None:
    view = ChartView(theme)
    plain = chart(BarSeries("Rows", (5.0, 7.0)), names=("one", "two"), lying=True)
    titled = replace(plain, value_axis=Axis("Detail lost", "% of the detail of the cells"))
    view.set_chart(titled)
    surface = surface_of(view, qtbot, (widths[0], 400))
    for width in widths:
        view.resize(width, 400)
        view.grab()
        axis = surface._axes["bottom"]
        text = axis.label.boundingRect().width()
        assert text <= axis.width() + 1
        assert abs(axis.label.pos().x() + text / 2 - axis.width() / 2) <= 1
