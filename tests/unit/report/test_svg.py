"""Charts as SVG: well-formed, accessible, complete, and safe with any text."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    ChartTable,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    table_from,
)
from dpdesk.report.svg import render_chart
from dpdesk.report.svg_canvas import make_scale, written

NAMESPACE = "{http://www.w3.org/2000/svg}"
NO_TABLE = ChartTable((), ())


def bars(**changes: object) -> BarChart:
    values: dict[str, object] = {
        "id": "risk",
        "question": "How risky is it now?",
        "answer": "Not very.",
        "category_axis": Axis("Class size", "rows"),
        "value_axis": Axis("Rows", "%", percent=True),
        "categories": ("1", "2", "3+"),
        "series": (
            BarSeries("Original", (0.5, 0.3, 0.2), SeriesStyle.REFERENCE, outline=True),
            BarSeries("Release", (0.1, 0.0, 0.9)),
        ),
        "table": NO_TABLE,
        "hatched": frozenset({0, 1}),
        "threshold_before": 2,
        "threshold_label": "k = 3",
    }
    return BarChart(**{**values, **changes})  # type: ignore[arg-type]


def points(**changes: object) -> ScatterChart:
    xs, ys = np.array([0.1, 0.5, 0.9]), np.array([0.9, 0.4, 0.0])
    values: dict[str, object] = {
        "id": "nodes",
        "question": "Which node?",
        "answer": "This one.",
        "x_axis": Axis("Loss", "%", percent=True),
        "y_axis": Axis("Suppressed", "%", percent=True),
        "series": (
            PointSeries("all", xs, ys, look=SeriesStyle.REFERENCE),
            PointSeries("front", xs, ys, look=SeriesStyle.SECOND, stepped=True),
            PointSeries("chosen", xs[:1], ys[:1], emphasis=True, labels=("A",)),
        ),
        "table": table_from(["x"], [[1]]),
        "y_limit": 0.02,
        "y_limit_label": "at most 2 %",
    }
    return ScatterChart(**{**values, **changes})  # type: ignore[arg-type]


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in parsed(svg).iter(f"{NAMESPACE}text")]


@pytest.mark.parametrize("chart", [bars(), points(), bars(horizontal=True)])
def test_question_and_answer_are_title_and_description(chart: BarChart | ScatterChart) -> None:
    root = parsed(render_chart(chart))
    assert root.get("role") == "img"
    names = (root.get("aria-labelledby") or "").split()
    found = {node.get("id"): node.text for node in root if node.get("id") in names}
    assert list(found.values()) == [chart.question, chart.answer]


@pytest.mark.parametrize("horizontal", [False, True])
def test_bars_show_axes_units_names_threshold_and_values(horizontal: bool) -> None:
    shown = texts(render_chart(bars(horizontal=horizontal)))
    for text in ("Class size (rows)", "Rows (%)", "1", "3+", "Original", "Release", "k = 3"):
        assert text in shown
    assert ("90 %" if horizontal else "20 → 90 %") in shown
    assert "0 %" in shown


def test_failing_bars_are_hatched_and_outlines_are_empty() -> None:
    svg = render_chart(bars())
    fills = [node.get("style") or "" for node in parsed(svg).iter(f"{NAMESPACE}rect")]
    assert any("url(#risk-hatch-first)" in fill for fill in fills)
    assert any(fill.startswith("fill:none") for fill in fills)
    assert 'id="risk-hatch-first"' in svg


def test_bar_lengths_are_proportional_to_values() -> None:
    chart = bars(series=(BarSeries("x", (0.25, 0.5, 1.0)),), hatched=frozenset())
    heights = [
        float(node.get("height") or 0)
        for node in parsed(render_chart(chart)).iter(f"{NAMESPACE}rect")
        if node.find(f"{NAMESPACE}title") is not None
    ]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.2)
    assert heights[2] == pytest.approx(4 * heights[0], abs=0.2)


def test_long_names_make_the_bars_lie_down() -> None:
    chart = bars(categories=("a very long name of a category", "b", "c"), hatched=frozenset())
    boxes = [
        node
        for node in parsed(render_chart(chart)).iter(f"{NAMESPACE}rect")
        if node.find(f"{NAMESPACE}title") is not None
    ]
    assert len({box.get("x") for box in boxes}) == 1


def test_points_show_limit_labels_and_a_stepped_front() -> None:
    svg = render_chart(points())
    assert {"at most 2 %", "A", "Loss (%)", "Suppressed (%)"} <= set(texts(svg))
    path = next(
        node for node in parsed(svg).iter(f"{NAMESPACE}path") if "H" in (node.get("d") or "")
    )
    assert (path.get("d") or "").count("V") == 2


def test_close_points_are_drawn_once() -> None:
    same = np.full(10_000, 0.5)
    chart = points(series=(PointSeries("all", same, same),), y_limit=None)
    assert len(render_chart(chart)) < 10_000


def test_points_that_are_no_numbers_are_left_out() -> None:
    xs, ys = np.array([0.1, np.nan, 0.3]), np.array([0.1, 0.2, np.inf])
    svg = render_chart(points(series=(PointSeries("all", xs, ys),), y_limit=None))
    assert "nan" not in svg
    assert "inf" not in svg


def test_series_differ_without_colour() -> None:
    """Four filled series: solid, rules, solid dark, dots; four markers of different shape."""
    looks = (SeriesStyle.FIRST, SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.FOURTH)
    series = tuple(BarSeries(look.value, (1.0, 1.0, 1.0), look) for look in looks)
    svg = render_chart(bars(series=series, hatched=frozenset()))
    assert "risk-rules-second" in svg
    assert "risk-dots-fourth" in svg
    one = np.array([0.5])
    shapes = set()
    for look in looks:
        drawn = render_chart(points(series=(PointSeries("x", one, one, look=look),), y_limit=None))
        marks = [
            node for node in parsed(drawn) if node.tag.split("}")[1] in ("circle", "rect", "path")
        ]
        shapes.add((marks[-1].tag, re.sub(r"[\d.,]+", "0", marks[-1].get("d") or "")))
    assert len(shapes) == 4


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(TEXT, min_size=1, max_size=8, unique=True),
    question=TEXT,
    data=st.data(),
    log=st.booleans(),
)
def test_any_texts_and_values_give_a_well_formed_picture(
    names: list[str], question: str, data: st.DataObject, log: bool
) -> None:
    values = data.draw(st.lists(st.floats(0, 1e12), min_size=len(names), max_size=len(names)))
    chart = bars(
        question=question,
        categories=tuple(names),
        series=(BarSeries("<script>", tuple(values)),),
        value_axis=Axis("Rows", log=log),
        hatched=frozenset(),
        threshold_before=None,
    )
    svg = render_chart(chart)
    parsed(svg)
    assert "<script>" not in svg
    assert not re.search(r'="[^"]*(nan|inf)', svg)


@given(st.lists(st.floats(0, 1e9), max_size=5), st.booleans())
def test_scales_have_few_gridlines_and_hold_all_values(values: list[float], log: bool) -> None:
    scale = make_scale(Axis("x", log=log), values, 0, 100)
    assert 2 <= len(scale.ticks) <= 10
    for value in values:
        assert 0 <= scale(value) <= 100
        assert value <= scale.high * (1 + 1e-9)
    assert all(math.isfinite(tick) for tick in scale.ticks)


def test_gridlines_say_exactly_where_they_stand() -> None:
    scale = make_scale(Axis("x", percent=True), [0.14], 0, 100)
    labels = [scale.tick_label(tick) for tick in scale.ticks]
    assert labels == ["0 %", "2.5 %", "5 %", "7.5 %", "10 %", "12.5 %", "15 %"]


@pytest.mark.parametrize(
    ("value", "percent", "text"),
    [
        (0, True, "0 %"),
        (0.5, True, "50 %"),
        (0.012, True, "1.2 %"),
        (0.0001, True, "<0.1 %"),
        (1, True, "100 %"),
        (1234567, False, "1,234,567"),
        (0.25, False, "0.25"),
        (12345.6, False, "12,346"),
    ],
)
def test_numbers_are_written_for_people(value: float, percent: bool, text: str) -> None:
    assert written(value, percent) == text


def test_linked_points_are_joined_and_a_bare_axis_has_no_numbers() -> None:
    series = (PointSeries("n", np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([7, 8])),)
    chart = points(
        series=series,
        links=((7, 8), (7, 99)),
        y_axis=Axis("", bare=True, minimum=0.0, maximum=1.0),
        y_limit=None,
    )
    bare = parsed(render_chart(chart))
    joined = parsed(render_chart(replace(chart, links=())))
    lines = f"{NAMESPACE}line"
    assert len(list(bare.iter(lines))) == len(list(joined.iter(lines))) + 1
    assert "0.5" not in texts(render_chart(chart))


def test_a_standing_line_and_the_names_of_curves_are_written() -> None:
    xs, ys = np.array([0.1, 1.0, 10.0]), np.array([90.0, 9.0, 0.9])
    curve = PointSeries("BMax", xs, ys, joined=True, labels=("", "BMax", ""))
    log = {"x_axis": Axis("ε", log=True), "y_axis": Axis("±", "people", log=True)}
    svg = render_chart(
        points(series=(curve,), x_limit=40.0, x_limit_label="ε = 40", y_limit=9.0, **log)
    )
    assert texts(svg).count("BMax") == 2  # in the key and beside the curve
    assert "ε = 40" in texts(svg)
    places = [float(node.get("x1") or 0) for node in parsed(svg).iter(f"{NAMESPACE}line")]
    assert max(places) <= 900


def test_room_before_the_first_whole_number_has_no_gridline() -> None:
    axis = Axis("Dimensions", minimum=-0.5, whole=True)
    scale = make_scale(axis, [0.0, 4.0], 0.0, 100.0)
    assert scale.low == -0.5
    assert scale.ticks == (0.0, 1.0, 2.0, 3.0, 4.0)
