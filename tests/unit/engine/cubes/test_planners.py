"""Known answers of the planners with equal noise, and what they refuse."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.lattice import CubePlan
from dpdesk.engine.cubes.planners import (
    plan_all,
    plan_base,
    plan_bmax,
    plan_pmost,
    unit_variance,
)
from dpdesk.engine.private.kinds import Noise
from tests.reference import cube_plans as reference

SMALL = (2, 7, 5)
ADULT = (9, 16, 7, 15, 6, 5, 2, 2)
ONE = Fraction(1)


def worst(plan: CubePlan, epsilon: Fraction = ONE) -> float:
    """Largest variance of a published cell before consistency, by the reference."""
    sources = [reference.cuboid(source.cuboid) for source in plan.sources]
    published = [reference.cuboid(mask) for mask in plan.published]
    unit = float(unit_variance(plan.noise, epsilon))
    return unit * reference.worst(sources, published, plan.shape, plan.noise)


def masks(plan: CubePlan) -> set[int]:
    return {source.cuboid for source in plan.sources}


def test_the_example_of_the_paper() -> None:
    published = range(8)
    assert worst(plan_all(SMALL, published, Noise.LAPLACE)) == 128
    assert worst(plan_base(SMALL, published, Noise.LAPLACE)) == 140
    plan = plan_bmax(SMALL, published, Noise.LAPLACE)
    assert worst(plan) == 64
    assert masks(plan) == {0b111, 0b011, 0b101, 0b001}
    assert all(source.share == Fraction(1, 4) for source in plan.sources)


def test_all_cuboids_of_eight_dimensions() -> None:
    published = range(256)
    assert worst(plan_all(ADULT, published, Noise.LAPLACE)) == 131_072
    assert worst(plan_base(ADULT, published, Noise.LAPLACE)) == 3_628_800
    plan = plan_bmax(ADULT, published, Noise.LAPLACE)
    assert worst(plan) == 32_256
    assert len(plan.sources) == 24


def test_gaussian_noise_counts_sources_and_not_their_square() -> None:
    plan = plan_bmax((50, 2, 2), range(8), Noise.GAUSSIAN)
    assert worst(plan) == reference.smallest_worst(
        reference.cuboids(3), (50, 2, 2), Noise.GAUSSIAN
    ) * float(unit_variance(Noise.GAUSSIAN, ONE))
    assert worst(plan) < worst(plan_bmax((50, 2, 2), range(8), Noise.LAPLACE))


def test_unpublished_dimensions_stay_out_of_the_base() -> None:
    plan = plan_base(ADULT, [0b101, 0b100], Noise.LAPLACE)
    assert masks(plan) == {0b101}
    assert plan.shape == ADULT
    assert plan.published == (0b101, 0b100)


def test_thirty_dimensions_may_be_declared_when_few_are_published() -> None:
    published = [1 << 29, 1 << 3, 1 << 29 | 1 << 3]
    plan = plan_bmax((4,) * 30, published, Noise.LAPLACE)
    assert masks(plan) == {1 << 29 | 1 << 3}
    assert worst(plan) == 8


def test_pmost_reaches_the_weight_of_the_paper() -> None:
    plan = plan_pmost(SMALL, range(8), Noise.LAPLACE, theta=Fraction(40), budget=ONE)
    assert plan.note == "Weight 6 of 8 stays within the variance."
    assert masks(plan) in ({0b111}, {0b111, 0b101})


def test_pmost_takes_the_plan_of_smaller_largest_variance_among_equals() -> None:
    plan = plan_pmost(SMALL, range(8), Noise.LAPLACE, theta=Fraction(40), budget=ONE)
    assert worst(plan) == 80
    assert masks(plan) == {0b111, 0b101}


def test_a_threshold_is_an_absolute_variance() -> None:
    tight = plan_pmost(SMALL, range(8), Noise.LAPLACE, theta=Fraction(10), budget=Fraction(2))
    loose = plan_pmost(SMALL, range(8), Noise.LAPLACE, theta=Fraction(40), budget=ONE)
    assert masks(tight) == masks(loose)


def test_weights_pull_the_precise_cuboids_to_where_they_are_wanted() -> None:
    wanted = {0: Fraction(100)}
    plan = plan_pmost(
        SMALL, range(8), Noise.LAPLACE, theta=Fraction(8), budget=ONE, weights=wanted
    )  # fmt: skip
    assert 0 in masks(plan)
    assert len(plan.sources) == 2


@pytest.mark.parametrize(
    ("shape", "published", "code"),
    [
        (SMALL, [], "cube.nothing-published"),
        (SMALL, [8], "cube.unknown-dimension"),
        (SMALL, [-1], "cube.unknown-dimension"),
        (SMALL, [3, 3], "cube.cuboid-twice"),
        ((2, 0), [1], "cube.empty-domain"),
        ((2,) * 21, [(1 << 21) - 1], "cube.too-many-dimensions"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    shape: tuple[int, ...], published: list[int], code: str
) -> None:
    for planner in (plan_all, plan_base, plan_bmax):
        with pytest.raises(InputError) as refused:
            planner(shape, published, Noise.LAPLACE)
        assert refused.value.code == code


@pytest.mark.parametrize("weights", [{8: ONE}, {0: Fraction(-1)}, {0: Fraction(1, 3**40)}], ids=str)
def test_strange_weights_are_refused(weights: dict[int, Fraction]) -> None:
    with pytest.raises(InputError) as refused:
        plan_pmost(SMALL, range(8), Noise.LAPLACE, theta=ONE, budget=ONE, weights=weights)
    assert refused.value.code == "cube.bad-weights"


@pytest.mark.parametrize(("theta", "budget"), [(0, 1), (1, 0), (-1, 1)])
def test_a_threshold_and_a_budget_are_positive(theta: int, budget: int) -> None:
    with pytest.raises(InputError) as refused:
        plan_pmost(
            SMALL, range(8), Noise.LAPLACE, theta=Fraction(theta), budget=Fraction(budget)
        )  # fmt: skip
    assert refused.value.code == "cube.not-positive"


def test_a_cancelled_planner_stops() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        plan_bmax(SMALL, range(8), Noise.LAPLACE, token)
    with pytest.raises(Cancelled):
        plan_pmost(
            SMALL, range(8), Noise.LAPLACE, theta=ONE, budget=ONE, token=token
        )  # fmt: skip


def test_a_planner_stops_at_a_cancel_that_comes_while_it_runs() -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        plan_bmax(ADULT, range(256), Noise.LAPLACE, token, lambda event: token.cancel())
