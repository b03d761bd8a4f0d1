"""The ± of an average, as queries give it, holds its error in 95 of 100 cases: computed exactly."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.core.pivot import CubeGrid
from dpdesk.core.query import Grouping, Query
from dpdesk.engine.cubes.olap.cube import ReleasedCube
from dpdesk.engine.cubes.olap.grids import cube_grid
from dpdesk.engine.private.kinds import Noise
from tests.helpers.released_cubes import MemoryRelease, design, released

TAIL = 1e-6
Weighted = tuple[np.ndarray, np.ndarray]


def errors_of(noise: Noise, spread: float) -> Weighted:
    """The errors of one noisy cell in steps, and how likely they are."""
    reach = int(14 * spread) + 6 if noise is Noise.LAPLACE else int(5 * spread**0.5) + 4
    values = np.arange(-reach, reach + 1)
    if noise is Noise.LAPLACE:
        weights = exp(-1 / spread) ** np.abs(values)
    else:
        weights = np.exp(-(values**2) / (2 * spread))
    return values, weights / weights.sum()


def asked(content: MemoryRelease, dimension: str) -> CubeGrid:
    cube = ReleasedCube.from_manifest(content.manifest)
    query = Query((Grouping(dimension),), measure="average of pay")
    return cube_grid(cube, query, content, CancelToken())


def every_pair(keys: dict[str, Any]) -> Weighted:
    """All pairs of errors (of the sum and of the count) that matter, and how likely they are."""
    small = design({"d": ["a", "b"]}, **keys)
    noises = [
        errors_of(channel.plan.noise, float(channel.spreads[0])) for channel in small.channels
    ]
    places = np.indices([len(values) for values, _ in noises]).reshape(2, -1)
    chances = noises[0][1][places[0]] * noises[1][1][places[1]]
    likely = chances > TAIL / len(chances)
    errors = np.stack([noises[i][0][places[i]] for i in range(2)])[:, likely]
    return errors, chances[likely]


@pytest.mark.parametrize("place", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize(
    ("budget", "upper", "step"),
    [
        ({"epsilon": 1}, 2, 1),
        ({"epsilon": 2}, 10, 1),
        ({"epsilon": 6}, 4, 1),
        ({"epsilon": 6}, 2, 1),
        ({"epsilon": 10}, 3, 1),
        ({"epsilon": 4}, 100, 50),
        ({"rho": 0.5, "delta": 1e-6}, 4, 1),
        ({"rho": 6, "delta": 1e-6}, 2, 1),
        ({"rho": 2, "delta": 1e-6}, 90, 45),
    ],
)
def test_the_half_width_of_averages_holds_in_95_of_100_cases(
    budget: dict[str, float], upper: int, step: int, place: float
) -> None:
    persons = 40
    average = {"average": "pay", "lower": 0, "upper": upper, "step": step}
    keys = budget | {"measure": average, "planner": "base", "publish": [["d"]]}
    errors, chances = every_pair(keys)
    domains = {"d": [f"c{number}" for number in range(errors.shape[1])]}
    made = design(domains, **keys)
    total = round(persons * upper * (place - 0.5) / float(made.channels[0].unit))
    truth = upper / 2 + total * float(made.channels[0].unit) / persons
    noisy = tuple(np.array([total, persons])[i] + errors[i] for i in range(2))
    grid = asked(released(made, noisy, domains, **keys), "d")
    told = ~np.isnan(grid.values)
    inside = np.abs(grid.values - truth)[told] <= grid.half_widths[told] + 1e-9
    assert chances.sum() > 1 - 1e-4
    assert (chances[told] * inside).sum() / chances[told].sum() >= 0.95


def test_queries_give_the_half_width_that_the_release_states() -> None:
    average = {"average": "pay", "lower": 0, "upper": 500}
    keys: dict[str, Any] = {"measure": average, "planner": "base", "publish": [["sex"]]}
    made = design({"sex": "fm"}, **keys)
    noisy = (np.array([0, 0]), np.array([60, 80]))
    grid = asked(released(made, noisy, {"sex": "fm"}, **keys), "sex")
    stated = made.measures[0].widths[0]
    assert grid.half_widths == pytest.approx(stated / np.array([60, 80]))
