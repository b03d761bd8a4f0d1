"""Variances of known plans after consistency, on eight dimensions (unit 1/epsilon^2)."""

from __future__ import annotations

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.lattice import cell_variances, information
from dpdesk.engine.cubes.planners import best_cover, cover_problem
from dpdesk.engine.private.kinds import Noise

SHAPE = (9, 16, 7, 15, 6, 5, 2, 2)


@pytest.mark.parametrize(("dimensions", "variance"), [(2, 1379.29), (3, 4948.33)])
def test_bmax_on_tables_of_a_few_dimensions(dimensions: int, variance: float) -> None:
    published = [mask for mask in range(256) if mask.bit_count() == dimensions]
    problem = cover_problem(SHAPE, published, Noise.LAPLACE)
    sources = best_cover(problem, CancelToken())
    assert 2 * problem.worst_consistent(sources) == pytest.approx(variance, abs=0.005)


def test_the_plan_of_sixty_four_sources() -> None:
    problem = cover_problem(SHAPE, range(256), Noise.LAPLACE)
    sources = np.arange(64) | 0b11000000
    assert 2 * problem.worst(sources) == 32_768
    assert 2 * problem.worst_consistent(sources) == pytest.approx(16_263.53, abs=0.005)
    own = np.zeros(256)
    own[sources] = 1 / (2 * 64**2)
    assert cell_variances(information(own, SHAPE), SHAPE).mean() == pytest.approx(
        9148.24, abs=0.005
    )


def test_equal_gaussian_noise_in_all_cuboids_is_the_optimum_of_the_maximum() -> None:
    problem = cover_problem(SHAPE, range(256), Noise.GAUSSIAN)
    unit = 1 / (2 * 0.024356)
    assert unit * problem.worst_consistent(np.arange(256)) == pytest.approx(1159.3, abs=0.05)
