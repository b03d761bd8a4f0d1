"""What the compare panel decides, without widgets."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from dpdesk.app.types import Candidate, SetMethod, SetRoles, WorkState
from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Chart,
    ChartTable,
    Figure,
    PointSeries,
    ScatterChart,
)
from dpdesk.core.plan import HierarchyBuilder, SourceSpec
from dpdesk.core.release import Guarantee
from dpdesk.core.schema import Role
from dpdesk.engine.methods.k_anonymity.method import KAnonymity
from dpdesk.ui.panels.compare import presenter
from dpdesk.ui.panels.compare.presenter import Pins
from dpdesk.ui.panels.compare.table import CompareTable, compare_table
from dpdesk.ui.panels.protect.presenter import candidate_name

TABLE = ChartTable((), ())


def work(k: int = 5, quasi: tuple[str, ...] = ("age", "sex"), file: str = "a.csv") -> WorkState:
    state = WorkState(source=SourceSpec(file), base=Path("/data"))
    state = SetMethod("k-anonymity", {"k": k, "max_suppression": 0.02}).apply(state)
    return SetRoles(dict.fromkeys(quasi, Role.QUASI_IDENTIFIER)).apply(state)


def candidate(number: int, loss: float, risk: float, state: WorkState | None = None) -> Candidate:
    figures = (
        Figure("rows_kept", "Rows kept", 100 - number, "count", "rows", "higher", headline=True),
        Figure("loss", "Loss", loss, "share", better="lower", headline=True, about="loss"),
        Figure("risk", "Risk", risk, "share", better="lower", headline=True, about="risk"),
        Figure("seen", "Rows before", 100, "count"),
    )
    guarantee = Guarantee("k-anonymity", {}, f"Claim {number}.", ("Alone.",), ("All else.",))
    charts: tuple[Chart, ...] = (bars(loss), points(risk))
    result = {"node": {"age": number, "sex": 0}}
    when = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    given = state or work(number + 2)
    return Candidate(number, f"Name {number}", given, guarantee, figures, charts, result, when)


def bars(top: float) -> BarChart:
    axis = Axis("Share", percent=True)
    series = (BarSeries("Release", (top / 2, top)),)
    return BarChart("bars", "How much?", "", Axis("Size"), axis, ("1", "2"), series, TABLE)


def points(y: float) -> ScatterChart:
    series = (PointSeries("All", np.array([0.1, np.nan]), np.array([y, y])),)
    return ScatterChart("points", "Where?", "", Axis("x"), Axis("y"), series, TABLE)


ONE, TWO = candidate(1, 0.2, 0.3), candidate(2, 0.4, 0.1)
OTHER = candidate(3, 0.1, 0.1, work(9, ("age", "zip")))


def test_the_first_two_comparable_candidates_are_pinned() -> None:
    assert Pins().settled((ONE, OTHER, TWO)) == Pins(1, 2)
    assert Pins().settled((ONE, OTHER)) == Pins(1, 0)
    assert Pins().settled(()) == Pins(0, 0)


def test_pins_stay_and_change_places() -> None:
    assert Pins(2, 1).settled((ONE, TWO)) == Pins(2, 1)
    assert Pins(1, 2).with_a(2) == Pins(2, 1)
    assert Pins(1, 2).with_b(1) == Pins(2, 1)
    assert Pins(1, 2).with_a(3) == Pins(3, 2)
    assert Pins(7, 2).settled((ONE, TWO)) == Pins(1, 2)


def test_another_scope_is_named() -> None:
    shown = presenter.entries((ONE, TWO, OTHER), Pins(1, 2))
    assert [entry.reason for entry in shown[:2]] == ["", ""]
    assert shown[2].reason == "Other quasi-identifiers: sex not among them"
    wider = candidate(4, 0, 0, work(2, ("age", "sex", "zip")))
    assert presenter.scope_reason(wider, ONE) == "Other quasi-identifiers: zip in addition"
    moved = candidate(5, 0, 0, work(2, file="b.csv"))
    assert presenter.scope_reason(moved, ONE) == "Other data than A: b.csv"


def test_candidates_of_the_data_that_are_open_come_first_and_others_say_so() -> None:
    moved = candidate(5, 0, 0, work(2, file="b.csv"))
    here = moved.scope[0]
    pins = Pins().settled((ONE, TWO, moved), here)
    assert pins == Pins(5, 0)
    first, second, open_now = presenter.entries((ONE, TWO, moved), pins, here)
    assert open_now.cautions == ()
    assert first.elsewhere == second.elsewhere == "Made from a.csv, which is not open now"
    assert first.reason == "Other data than A: a.csv"


def test_candidates_without_a_common_figure_say_so_and_are_never_called_equal() -> None:
    strange = replace(TWO, figures=(replace(TWO.figures[0], key="of_another_kind"),))
    assert presenter.scope_reason(strange, ONE) == "No figure in common with A"
    a, b = presenter.entries((ONE, strange), Pins(1, 2))
    assert "no figure in common" in presenter.answer(a, b, ())
    assert "no figure in common" in presenter.answer(a, b, ONE.figures[1:])


def test_only_shared_figures_of_comparable_candidates_count() -> None:
    fewer = replace(TWO, figures=TWO.figures[:2])
    shown = presenter.entries((ONE, fewer, OTHER), Pins(1, 2))
    assert [figure.key for figure in presenter.shared_figures(shown)] == ["rows_kept", "loss"]


def test_axes_start_with_loss_and_risk() -> None:
    shown = presenter.entries((ONE, TWO), Pins(1, 2))
    figures = presenter.shared_figures(shown)
    assert presenter.default_axes(figures) == ("loss", "risk")
    assert presenter.default_axes(figures[:1]) == ("rows_kept", "rows_kept")
    assert presenter.default_axes(()) == ("", "")


def test_the_scatter_shows_comparable_candidates_and_says_where_better_is() -> None:
    shown = presenter.entries((ONE, TWO, OTHER), Pins(1, 2))
    chart = presenter.scatter(shown, "loss", "risk")
    assert chart is not None
    assert chart.answer == "Better candidates lie further left and down."
    drawn = {one.name: (one.ids.tolist(), one.labels) for one in chart.series}
    assert drawn == {"A": ([1], ("1 (A)",)), "B": ([2], ("2 (B)",))}
    assert [row[0] for row in chart.table.rows] == ["1 (A) Name 1", "2 (B) Name 2"]
    assert presenter.scatter(shown, "loss", "no such") is None


@pytest.mark.parametrize(
    ("values", "better", "expected"),
    [
        ([1.0, 2.0, 3.0], "lower", 1.0),
        ([1.0, 2.0, 3.0], "higher", 3.0),
        ([2.0, 2.0], "lower", None),
        ([1.0, 2.0], "", None),
        ([], "lower", None),
    ],
)
def test_the_best_of_some_values(values: list[float], better: str, expected: float | None) -> None:
    assert presenter.best_of(values, better) == expected


def test_differences_have_a_sign_a_shape_and_a_word() -> None:
    one, two = ONE.figures, TWO.figures
    assert presenter.difference(one[0], two[0]) == "+1 ★ A"
    assert presenter.difference(one[1], two[1]) == "−20 pts ★ A"
    assert presenter.difference(one[2], two[2]) == "+20 pts ★ B"
    assert presenter.difference(one[3], two[3]) == "= same"
    assert presenter.difference(one[3], replace(two[3], value=90)) == "+10"
    assert presenter.difference(one[1], replace(two[1], value=float("nan"))) == "–"


def test_the_answer_says_who_is_better_in_what() -> None:
    a, b = presenter.entries((ONE, TWO), Pins(1, 2))
    figures = presenter.shared_figures((a, b))
    found = presenter.answer(a, b, figures)
    assert found == "A is better in rows kept, loss; B is better in risk."
    assert presenter.answer(a, b, figures[:2]) == (
        "A is better in everything that differs: rows kept, loss."
    )
    assert "do not differ" in presenter.answer(a, replace(b, candidate=ONE), figures)
    assert "second candidate" in presenter.answer(a, None, figures)


def test_charts_of_both_are_drawn_on_the_same_axes() -> None:
    one, two = presenter.same_axes(bars(0.2), bars(0.8))
    assert isinstance(one, BarChart)
    assert isinstance(two, BarChart)
    assert one.value_axis.maximum == two.value_axis.maximum == 0.8
    first, second = presenter.same_axes(points(0.3), points(0.1))
    assert isinstance(first, ScatterChart)
    assert isinstance(second, ScatterChart)
    assert first.y_axis == second.y_axis
    assert (first.y_axis.minimum, first.y_axis.maximum) == (0.1, 0.3)


def test_charts_that_only_one_has_are_not_offered() -> None:
    a, b = presenter.entries((ONE, replace(TWO, charts=TWO.charts[1:])), Pins(1, 2))
    assert [one.id for one in presenter.shared_charts(a, b)] == ["points"]
    assert presenter.shared_charts(a, None) == ()


def lines(table: CompareTable) -> dict[str, list[str]]:
    return {row.label: [cell.words for cell in row.cells] for row in table.rows if row.cells}


def test_the_table_puts_the_difference_beside_a_and_b() -> None:
    shown = presenter.entries((OTHER, TWO, ONE), Pins(1, 2))
    table = compare_table(shown, (KAnonymity(),))
    assert table.columns == ("1 (A)", "2 (B)", "A − B", "3")
    rows = lines(table)
    assert rows["Name"] == ["Name 1", "Name 2", "", "Name 3"]
    assert rows["Loss"] == ["20\u00a0%", "40\u00a0%", "−20 pts ★ A", "10\u00a0%"]
    assert rows["Rows before"] == ["100", "100", "= same", "100"]
    assert rows["Claim"] == ["Claim 1.", "Claim 2.", "", "Claim 3."]
    grey = [cell.grey for row in table.rows for cell in row.cells[3:]]
    assert all(grey)


def test_the_best_is_marked_where_more_than_two_are_compared() -> None:
    third = candidate(3, 0.3, 0.2, TWO.work)
    rows = lines(compare_table(presenter.entries((ONE, TWO, third), Pins(1, 2)), (KAnonymity(),)))
    assert rows["Loss"][:2] == ["★ 20\u00a0%", "40\u00a0%"]


def test_pointing_at_a_candidate_says_its_figures_beside_those_of_a() -> None:
    third = replace(TWO, id=3, name="Third")
    shown = presenter.entries((ONE, TWO, third), Pins(1, 2))
    assert [line[:5] for line in presenter.looked_at(shown, 3)] == ["1 (A)", "3: ro"]
    first, second = presenter.looked_at(shown, -1, ("loss",))
    assert first.startswith("1 (A): loss 20\u00a0%")
    assert second.startswith("2 (B): loss 40\u00a0%")


def test_the_table_shows_only_what_differs_in_the_plans() -> None:
    tree = HierarchyBuilder("mask", {"from": "right"})
    changed = replace(TWO, work=replace(TWO.work, hierarchies={"age": tree}))
    shown = presenter.entries((ONE, changed), Pins(1, 2))
    rows = lines(compare_table(shown, (KAnonymity(),)))
    assert rows["k, the smallest class"] == ["3 rows", "4 rows", ""]
    assert rows["Hierarchy of age"] == ["–", "mask from right", ""]
    assert rows["Level of age"] == ["1", "2", ""]
    assert "Level of sex" not in rows
    names = {"age": ("", "30-39", "*")}
    named = [replace(one, level_names=names) for one in (ONE, changed)]
    rows = lines(compare_table(presenter.entries(named, Pins(1, 2)), (KAnonymity(),)))
    assert rows["Level of age"] == ["1 (30-39 …)", "2 (*)", ""]
    assert "Rows suppressed, at most" not in rows
    assert "Method" not in rows


def test_candidates_are_named_by_strength_and_method_each_differently() -> None:
    method, state = KAnonymity(), work(7)
    first = candidate_name(method, state, ())
    assert first == "k = 7, k-anonymous microdata"
    taken = replace(ONE, name=first)
    assert candidate_name(method, state, (taken,)) == "k = 7 (2), k-anonymous microdata"
