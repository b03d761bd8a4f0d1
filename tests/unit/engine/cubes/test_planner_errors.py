"""Planners side by side before a budget is spent: exact curves, what is kept, what comes later."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from dpdesk.core.charts import BarChart, ScatterChart
from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import ParameterValue, parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.channels import make_channels
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.method import ExplorationView
from dpdesk.engine.methods.dp_cube.errors import budgets_around, expected_errors
from dpdesk.engine.methods.dp_cube.exploration import CubeExploration
from dpdesk.engine.methods.dp_cube.plan_worker import PlanWorker
from dpdesk.engine.methods.dp_cube.planning import PlanShelf
from dpdesk.engine.private.method import PrivateInput
from dpdesk.engine.private.widths import half_width

SHAPE = (2, 3, 4)
DOMAINS = {name: [f"{name}{i}" for i in range(n)] for name, n in zip("abc", SHAPE, strict=True)}


def parameters(**changes: object) -> dict[str, ParameterValue]:
    given: dict[str, object] = {"dimensions": ["a", "b", "c"], "domains": DOMAINS} | changes
    return parse_parameters(PARAMETERS, given, "the plan")


def settings(**changes: object) -> CubeSettings:
    return CubeSettings.from_parameters(
        parameters(**(({} if "rho" in changes else {"epsilon": 1}) | changes)), "the plan"
    )


def exploration() -> CubeExploration:
    roles = dict.fromkeys("abc", Role.QUASI_IDENTIFIER)
    return CubeExploration(PrivateInput(roles, {}, {}), CancelToken())


def chart(view: ExplorationView, identifier: str) -> ScatterChart:
    found = next(one for one in view.charts if one.id == identifier)
    assert isinstance(found, ScatterChart)
    return found


def bars(view: ExplorationView) -> BarChart:
    found = next(one for one in view.charts if one.id == "cube-planners")
    assert isinstance(found, BarChart)
    return found


def grown(explored: CubeExploration, given: dict[str, ParameterValue]) -> ExplorationView:
    view = explored.view(given)
    for _ in range(9):
        if not view.pending:
            return view
        view = explored.grow(given, CancelToken(), silent)
    raise AssertionError("it never ends")


@pytest.mark.parametrize(
    "changes",
    [
        {"planner": "all"},
        {"planner": "base", "measure": {"sum": "pay", "lower": 0, "upper": 50, "step": 5}},
        {"planner": "bmax", "rho": 1},
        {"planner": "pmost", "theta": 60},
        {"planner": "bmax", "neighbours": "replace", "rows_per_person": 3, "consistency": "none"},
    ],
)
def test_every_point_of_a_curve_is_the_error_of_a_design_with_that_budget(
    changes: dict[str, object],
) -> None:
    wanted = settings(**changes)
    shelf = PlanShelf()
    found = shelf.errors(wanted, SHAPE, CancelToken())
    for budget, width in zip(budgets_around(wanted), found.curve.tolist(), strict=True):
        each = replace(wanted, budget=budget)
        plan = PlanShelf().plan(each, SHAPE, CancelToken())
        channel = make_channels(each, plan)[0]
        variance = max(expected_errors(each, channel).variances)
        assert width == pytest.approx(half_width(each.noise, variance, float(channel.unit)))


def test_budgets_around_hold_the_chosen_one_however_far_it_is() -> None:
    for epsilon in ("0.0004", "0.5", "40"):
        found = budgets_around(settings(epsilon=epsilon))
        assert found[0] <= Fraction(epsilon) <= found[-1]
        assert list(found) == sorted(found)


def test_a_plan_is_made_once_for_all_budgets() -> None:
    explored = exploration()
    first = explored.design(parameters(epsilon=1))
    second = explored.design(parameters(epsilon=2))
    assert first.plan is second.plan
    assert first.errors != second.errors


def test_all_planners_stand_side_by_side_once_the_slow_ones_are_ready() -> None:
    explored, given = exploration(), parameters(rho="0.5", planner="base", theta=9)
    first = explored.view(given)
    assert "Not computed yet: Optimal, Exact" in bars(first).answer
    view = grown(explored, given)
    rows = {str(row[0]): float(str(row[1])) for row in bars(view).table.rows}
    assert set(rows) == {"Base", "BMax", "All", "PMost", "Optimal", "Exact"}
    assert rows["Optimal"] == min(rows.values())
    assert rows["Exact"] <= rows["BMax"]
    assert len(chart(view, "cube-budgets").series) <= 4
    heads = chart(view, "cube-budgets").table.columns
    assert all(any(name in head for head in heads) for name in rows)
    # Another budget needs no new plan.
    assert "Not computed" not in bars(explored.view(parameters(rho=1, planner="base"))).answer


def test_curves_that_look_the_same_are_one_with_both_names() -> None:
    view = exploration().view(parameters(epsilon=1, planner="base", publish=[["a", "b", "c"]]))
    names = [one.name for one in chart(view, "cube-budgets").series]
    assert names == ["Base = BMax = All"]


def test_without_a_budget_there_are_curves_and_no_line() -> None:
    view = exploration().view(parameters(planner="all"))
    assert view.supposed
    assert not view.feasible
    found = chart(view, "cube-budgets")
    assert found.x_limit is None
    assert found.y_limit is None
    assert "cube-tables" not in [one.id for one in view.charts]
    gaussian = chart(exploration().view(parameters(noise="discrete-gaussian")), "cube-budgets")
    assert gaussian.x_axis.title == "Privacy loss ρ"


def test_the_lines_cross_on_the_curve_of_the_chosen_planner() -> None:
    found = chart(exploration().view(parameters(epsilon="0.3", planner="all")), "cube-budgets")
    assert found.x_limit == 0.3
    assert found.y_limit is not None
    own = found.series[0]
    on_curve = np.interp(np.log(0.3), np.log(own.x), np.log(own.y))
    assert np.log(found.y_limit) == pytest.approx(on_curve, abs=0.02)
    assert (found.x_limit_key, found.y_limit_key) == ("epsilon", "accuracy")


def test_the_budget_for_an_error_of_the_least_exact_table_reaches_it() -> None:
    explored, given = exploration(), parameters(epsilon=1, planner="base")
    key, needed = explored.needed(given, -1, 25.0, CancelToken())
    assert key == "epsilon"
    shelf = PlanShelf()
    below = needed * Fraction(99, 100)
    widths = [
        shelf.errors(settings(epsilon=str(float(one)), planner="base"), SHAPE, CancelToken()).now
        for one in (needed, below)
    ]
    assert widths[0].largest <= 25 < widths[1].largest


def test_the_bias_is_that_of_the_simulation_and_said_before_the_choice() -> None:
    explored, given = exploration(), parameters(rho="0.02", planner="base")
    found = chart(explored.grow(given, CancelToken(), silent), "cube-bias")
    assert found.answer.startswith("If you choose “No negative numbers”, empty cells are")
    off, empty, typical, without = (one.y for one in found.series)
    # sigma² = 1/(2ρ) = 25, and one source: every cell is cut off at 0 by itself, on average up by
    # sigma·φ(x/sigma) − x·Φ(−x/sigma). 200 draws of 24 cells, 5 of which hold x: within 0.5.
    assert without == pytest.approx(5, rel=1e-6)
    assert empty == pytest.approx(5 / math.sqrt(2 * math.pi), abs=0.15)
    normal = NormalDist()
    sizes = found.series[0].x / 5
    cut = [5 * normal.pdf(x) - 5 * x * normal.cdf(-x) for x in sizes.tolist()]
    assert off == pytest.approx(cut, abs=0.5)
    assert (typical < without + 0.2).all()
    on = explored.view(given | {"nonnegative": True})
    assert chart(on, "cube-bias").answer.startswith("With “No negative numbers”, empty cells")
    assert chart(on, "cube-bias").table == found.table


def test_no_bias_is_shown_where_the_choice_is_not_offered() -> None:
    average = {"average": "pay", "lower": 0, "upper": 9}
    given = parameters(rho=1, planner="base", measure=average)
    view = exploration().grow(given, CancelToken(), silent)
    assert "cube-bias" not in [one.id for one in view.charts]


def test_an_example_cell_has_fifty_cases_that_are_those_of_its_noise() -> None:
    explored, given = exploration(), parameters(epsilon="0.1", planner="base")
    found = explored.example(given, 7, 100.0, CancelToken())
    values = np.array([float(str(row[1])) for row in found.table.rows])
    assert len(values) == 50
    # Laplace noise with scale 10: the quantile at p below 1/2 is 10 ln(2p).
    lower = 100 + 10 * np.log(2 * (np.arange(25) + 0.5) / 50)
    assert values[:25] == pytest.approx(lower, abs=0.2)
    assert values[::-1] == pytest.approx(200 - values)


def test_no_dot_of_an_example_cell_reaches_what_stands_beside_its_line() -> None:
    found = exploration().example(parameters(epsilon="0.1"), 7, 100.0, CancelToken())
    assert found.y_axis.maximum is not None
    assert max(found.series[0].y) < 0.8 * found.y_axis.maximum


def test_the_example_of_an_average_is_the_count_behind_it() -> None:
    average = {"average": "pay", "lower": 0, "upper": 500}
    given = parameters(epsilon=1, planner="base", measure=average)
    found = exploration().example(given, 7, 10.0, CancelToken())
    assert found.x_axis.unit == "people"
    values = np.array([float(str(row[1])) for row in found.table.rows])
    assert np.abs(values - 10).max() < 15  # not hundreds, as the centred sum would have


def test_an_exact_table_has_no_noise_to_show() -> None:
    given = parameters(epsilon=1, exact=[["a"]])
    found = exploration().example(given, 1, 10.0, CancelToken())
    assert {float(str(row[1])) for row in found.table.rows} == {10.0}


def test_a_worker_answers_refuses_and_can_be_stopped_and_used_again() -> None:
    worker, wanted = PlanWorker(), settings(planner="exact")
    assert worker.plan(wanted, SHAPE, CancelToken()).sources
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        worker.plan(wanted, SHAPE, token)
    assert worker.plan(wanted, SHAPE, CancelToken()).sources
    worker.close()
