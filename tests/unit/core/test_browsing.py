"""States of a browsed cube, the trail of steps, and pivots of grids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpdesk.core.pivot import (
    BrowseState,
    CubeGrid,
    Kept,
    Place,
    Step,
    Trail,
    digits_of,
    drawn,
    in_order,
    in_percent,
    label_text,
    pivot_chart,
    pivot_of,
    shown_half,
)
from dpdesk.core.query import Chosen, Grouping
from dpdesk.report.svg import render_chart

START = BrowseState((Grouping("age", 1),), (Grouping("sex"),))


def test_a_dimension_stands_in_one_place_and_keeps_its_level() -> None:
    moved = START.put("age", Place.COLUMNS, 0)
    assert moved.rows == ()
    assert moved.columns == (Grouping("age", 1), Grouping("sex"))
    assert moved.place_of("age") is Place.COLUMNS
    assert moved.put("age", Place.NOWHERE).place_of("age") is Place.NOWHERE
    assert START.turned().turned() == START
    assert START.at_level("age", 0).level_of("age") == 0


def test_filters_become_conditions_in_the_order_in_which_they_were_made() -> None:
    kept = START.keep("region", ("n", "s")).keep("sex", ("f",)).keep("region", ("n",))
    assert kept.kept == (Kept("region", ("n",)), Kept("sex", ("f",)))
    query = kept.query()
    assert query.where == (Chosen("region", ("n",)), Chosen("sex", ("f",)))
    assert query.margins
    assert [each.column for each in query.by] == ["age", "sex"]
    assert kept.keep("region", None).keep("sex", None) == START


@pytest.mark.parametrize("usual", [0, 1, 2])
def test_a_half_width_that_is_shown_is_never_less_and_hardly_more(usual: int) -> None:
    for half in (1e-9, 0.00321, 0.05, 0.3, 0.99, 1.0, 7.04, 250.001):
        shown = shown_half(half, usual)
        assert half <= shown <= half + 10.0 ** -digits_of(half, usual)
        assert shown == round(shown, digits_of(half, usual))
    assert shown_half(0.0, usual) == 0
    assert shown_half(float("inf"), usual) == float("inf")
    assert np.isnan(shown_half(float("nan"), usual))


def test_a_small_error_of_an_average_is_not_written_as_none() -> None:
    value, half = np.array([0.5312]), np.array([0.00321])
    grid = CubeGrid(("sex",), (("f",),), "average of share", value, half / 2, half)
    chart = pivot_chart(pivot_of(grid, 1), "?", "!", "")
    assert chart.table.rows[0][2:] == (0.5312, 0.0033)


def test_the_trail_goes_back_and_forth_and_a_new_step_replaces_what_was_undone() -> None:
    trail = Trail((Step("load", START),))
    there = trail.go("turn", START.turned())
    assert trail.go("same", START) is trail
    assert there.back().state == START
    assert there.back().back().at == 0
    assert there.back().forth() == there
    other = there.back().go("sum", START.put("sex", Place.NOWHERE))
    assert [step.words for step in other.steps] == ["load", "sum"]


def grid() -> CubeGrid:
    values = np.array([[100.0, 0.4, 100.4], [50.0, np.nan, 50.0], [150.0, -3.0, 147.0]])
    halves = np.array([[1.0, 5.0, 4.0], [40.0, np.nan, 1.0], [0.0, 0.6, 2.0]])
    labels = (("a", "b", None), ("x", "y", None))
    return CubeGrid(("row", "column"), labels, "count", values, halves / 2, halves)


def test_errors_are_shares_of_values_unless_these_are_near_zero() -> None:
    pivot = pivot_of(grid(), 1)
    assert pivot.shades().tolist() == [[0, -1, 1], [5, -1, 1], [0, 3, 0]]
    assert pivot.doubtful(0.3).tolist() == [
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]
    assert pivot.row_labels == (("a",), ("b",), (None,))
    assert label_text((None, None)) == "ALL"
    assert label_text(("a", None)) == "a · ALL"


def test_bars_leave_out_margins_and_carry_errors() -> None:
    pivot = pivot_of(grid(), 1)
    assert drawn(pivot) == ([0, 1], [0, 1])
    chart = pivot_chart(pivot, "Question?", "Answer.", "persons")
    assert chart.categories == ("a", "b")
    assert [series.values for series in chart.series] == [(100.0, 50.0), (0.4, 0.0)]
    assert chart.series[0].errors == (1.0, 40.0)
    assert chart.series[0].name == f"{pivot.column_axes[0]} {pivot.column_labels[0][0]}"
    assert chart.table.rows[3] == ("b", "y", None, None)
    turned = pivot_of(grid(), 2)
    assert len(turned.row_labels) == 9
    assert pivot_chart(turned, "Q?", "A.", "").categories == ("a · x", "a · y", "b · x", "b · y")


@pytest.mark.parametrize("of", ["row", "column", "all"])
def test_percentages_hold_wherever_value_and_total_hold(of: str) -> None:
    pivot = pivot_of(grid(), 1)
    shares = in_percent(pivot, of)
    assert shares.standard_errors.shape == (3, 3)
    assert np.isnan(shares.standard_errors).all()
    for row in range(3):
        for column in range(3):
            base = (2 if of != "row" else row, 2 if of != "column" else column)
            value, total = pivot.values[row, column], pivot.values[base]
            if np.isnan(value) or total - pivot.half_widths[base] <= 0:
                assert np.isnan([shares.values[row, column], shares.half_widths[row, column]]).all()
                continue
            low, high = (shares.values + sign * shares.half_widths for sign in (-1, 1))
            assert shares.values[row, column] == pytest.approx(100 * value / total)
            if (row, column) == base:
                assert shares.half_widths[base] == 0
                continue
            for x in np.linspace(-1, 1, 5) * pivot.half_widths[row, column]:
                for y in np.linspace(-1, 1, 5) * pivot.half_widths[base]:
                    true = 100 * (value + x) / (total + y)
                    assert low[row, column] - 1e-9 <= true <= high[row, column] + 1e-9


def test_where_the_total_may_be_zero_no_percentage_is_known() -> None:
    wide = replace(grid(), half_widths=np.full((3, 3), 60.0))
    shares = in_percent(pivot_of(wide, 1), "row")
    assert np.isnan(shares.values[1]).all()
    assert not np.isnan(shares.values[0]).any()


def test_rows_are_sorted_with_sums_and_what_is_not_known_at_their_end() -> None:
    pivot = pivot_of(grid(), 1)
    assert in_order(pivot, ("x",), falling=False).row_labels == (("b",), ("a",), (None,))
    fallen = in_order(pivot, ("x",), falling=True)
    assert fallen.row_labels == (("a",), ("b",), (None,))
    unknown = in_order(pivot, ("y",), falling=False)
    assert unknown.row_labels == (("a",), ("b",), (None,))
    turned = in_order(pivot_of(grid(), 1), (None,), falling=False)
    assert turned.row_labels[0] == ("b",)
    assert turned.values[0].tolist()[::2] == [50.0, 50.0]
    assert turned.half_widths[0].tolist()[::2] == [40.0, 1.0]
    assert turned.standard_errors[0].tolist()[::2] == [20.0, 0.5]
    assert in_order(pivot, ("z",), falling=True) is pivot


def test_a_column_is_sorted_down_then_up_then_not_and_no_longer_once_it_is_gone() -> None:
    once = START.sorted_by(("f",))
    assert once.order == (("f",), True)
    assert once.sorted_by(("f",)).order == (("f",), False)
    assert once.sorted_by(("f",)).sorted_by(("f",)).order is None
    assert once.turned().order is None
    assert once.keep("sex", ("f",)).order == once.order


def test_a_grid_is_an_answer_with_intervals() -> None:
    rows = grid().answer().rows
    assert rows[0].labels == ("a", "x")
    assert (rows[0].low, rows[0].high) == (99.0, 101.0)
    assert rows[4].value is None
    assert "not estimable" in rows[4].note
    assert rows[-1].labels == (None, None)


@pytest.mark.parametrize("horizontal", [False, True])
def test_whiskers_are_drawn_into_the_picture(horizontal: bool) -> None:
    chart = replace(pivot_chart(pivot_of(grid(), 1), "Q?", "A.", ""), horizontal=horizontal)
    bare = replace(chart, series=tuple(replace(series, errors=()) for series in chart.series))
    thick = [text.count('stroke-width="2"') for text in (render_chart(chart), render_chart(bare))]
    assert thick[0] - thick[1] == 3 * 4
    assert "± 40" in render_chart(chart)
