"""Curves and budgets before a release know what single exact cells tell of others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.dp_cube import errors
from dpdesk.engine.methods.dp_cube.bias_charts import error_by_budget, planners_side_by_side
from dpdesk.engine.methods.dp_cube.design import CubeDesign
from dpdesk.engine.methods.dp_cube.errors import PlannerErrors, error_curve, widths_at
from dpdesk.engine.methods.dp_cube.exploration import needed_budget
from dpdesk.engine.private.widths import half_width
from tests.helpers.exact_cubes import design_of

TOKEN = CancelToken()
CELLS: list[Any] = [
    {"cuboid": ["a", "b"], "cells": [["0", "0"], ["0", "1"], ["0", "2"], ["1", "0"], ["1", "1"]]},
]


def _design(**keys: Any) -> CubeDesign:
    return design_of(exact=CELLS, publish=[["a", "b"], ["a"], ["b"]], **keys)


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_a_curve_at_a_budget_is_the_error_of_the_design_with_that_budget(epsilon: float) -> None:
    settings, plan = _design().settings, _design().plan
    there = _design(epsilon=epsilon)
    variances = there.errors[0].variances
    found = widths_at(settings, plan, Fraction(epsilon))
    assert found.largest == pytest.approx(half_width(settings.noise, max(variances), 1.0))
    middle = float(np.median(variances))
    assert found.middle == pytest.approx(half_width(settings.noise, middle, 1.0))
    curve = error_curve(settings, lambda _: plan, [Fraction(epsilon)], TOKEN)
    assert curve.tolist() == [found.largest]


def test_a_table_whose_cells_are_all_but_one_known_has_the_error_of_that_one() -> None:
    """Every cell of the coarser tables is then known, or a sum of known ones and that cell."""
    design = _design()
    a_b, a, b = (design.errors[0].variances[i] for i in _order(design, [["a", "b"], ["a"], ["b"]]))
    assert a_b == pytest.approx(a) == pytest.approx(b)


def _order(design: CubeDesign, tables: list[list[str]]) -> list[int]:
    names = design.settings.dimensions
    masks = [sum(1 << names.index(name) for name in table) for table in tables]
    return [design.settings.published.index(mask) for mask in masks]


@pytest.mark.parametrize("wanted", [20.0, 60.0])
def test_the_proposed_budget_is_the_least_with_which_the_design_itself_reaches_the_error(
    wanted: float,
) -> None:
    needed = needed_budget(_design(), -1, wanted, TOKEN)
    reached = [
        half_width(design.settings.noise, max(design.errors[0].variances), 1.0) <= wanted
        for design in (
            _design(epsilon=float(needed)),
            _design(epsilon=float(needed * Fraction(49, 50))),
        )
    ]
    assert reached == [True, False]


def test_where_many_cells_are_exact_a_bound_is_given_and_called_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    design = _design()
    settings, budget = design.settings, design.settings.budget

    def answers() -> tuple[float, list[str]]:
        now = widths_at(settings, design.plan, budget)
        found = [PlannerErrors("all", now, np.array([now.largest]))]
        charts = (
            error_by_budget(settings, [budget], found, "people", decided=True),
            planners_side_by_side(settings, found, "people", decided=True),
        )
        return now.largest, [chart.answer for chart in charts]

    exact, plain = answers()
    monkeypatch.setattr(errors, "MOST_AT_ONCE", 0)
    bound, told = answers()
    assert bound > exact * 1.05
    assert not any("at most this" in answer for answer in plain)
    assert all("at most this" in answer for answer in told)
