"""The error of every measure of a cube, each in its unit."""

from __future__ import annotations

import math

import pytest

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.methods.dp_cube.design import CubeDesign, design_cube
from dpdesk.engine.methods.dp_cube.exploration import CubeExploration
from dpdesk.engine.private.method import PrivateInput
from dpdesk.report.cubes import unit_words

MEASURES = [
    "count",
    {"sum": "pay", "lower": 0, "upper": 500, "step": 5},
    {"average": "pay", "lower": 0, "upper": 500},
]


def given(measure: object) -> PrivateInput:
    values = parse_parameters(
        PARAMETERS,
        {
            "dimensions": ["a"],
            "domains": {"a": ["x", "y"]},
            "rho": "0.03",
            "planner": "base",
            "measure": measure,
        },
        "the plan",
    )
    return PrivateInput({"a": Role.QUASI_IDENTIFIER, "pay": Role.INSENSITIVE}, {}, values)


def design(measure: object) -> CubeDesign:
    return design_cube(given(measure), CancelToken(), silent)


def test_every_measure_has_its_error_and_its_unit() -> None:
    made = design(MEASURES)
    count, total, average = made.measures
    assert [one.unit for one in made.measures] == ["people", "units of pay", "units of pay / n"]
    # Three channels, 0.01 each: sigma = sensitivity/sqrt(0.02), of the finest table.
    sigma = 1 / math.sqrt(0.02)
    assert count.widths[-1] == pytest.approx(1.96 * sigma + 0.6)
    assert total.widths[-1] == pytest.approx(1.96 * 500 * sigma + 0.6 * 5)
    both = math.hypot(250 * sigma, 250 * sigma)
    assert average.widths[-1] == pytest.approx(1.96 * both + 0.6 * 251)
    assert average.per_person


def test_the_window_states_all_of_them() -> None:
    source = given(MEASURES)
    view = CubeExploration(source, CancelToken()).view(source.parameters)
    for words in ("count ± ", "sum of pay ± ", "average of pay ± ", "n: people in the cell"):
        assert words in view.sentence
    heads = view.charts[0].table.columns  # type: ignore[union-attr]
    assert "± 95 %, average of pay (units of pay / n)" in heads
    assert sum(figure.key.startswith("largest_error_") for figure in view.figures) == 3


def test_one_measure_alone_needs_no_list() -> None:
    made = design("count")
    assert [figure.key for figure in made.figures if "largest" in figure.key] == ["largest_error"]


def test_a_manifest_names_the_units_of_its_measures() -> None:
    assert unit_words("count", MEASURES) == "people"
    assert unit_words("sum of pay", MEASURES) == "units of pay"
    assert unit_words("centred sum of pay", MEASURES) == "units of pay"
    assert unit_words("average of pay", MEASURES) == "units of pay / n"
    assert unit_words("", {"sum": "pay"}) == "units of pay"
    assert unit_words("", "count") == "people"
