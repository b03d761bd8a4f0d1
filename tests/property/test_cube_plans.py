"""Planners with equal noise agree with the enumeration of all noise sources on small cubes."""

from __future__ import annotations

from fractions import Fraction
from math import log

from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.engine.cubes.lattice import CubePlan
from dpdesk.engine.cubes.planners import plan_all, plan_base, plan_bmax, plan_pmost
from dpdesk.engine.private.kinds import Noise
from tests.reference import cube_plans as reference

noises = st.sampled_from(Noise)


@st.composite
def requests(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int]]:
    """A shape with up to three dimensions, and a workload on it."""
    shape = tuple(draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)))
    cuboids = st.integers(0, (1 << len(shape)) - 1)
    return shape, draw(st.lists(cuboids, min_size=1, unique=True))


def worst(plan: CubePlan) -> float:
    sources = [reference.cuboid(source.cuboid) for source in plan.sources]
    published = [reference.cuboid(mask) for mask in plan.published]
    return reference.worst(sources, published, plan.shape, plan.noise)


@settings(deadline=None, max_examples=150)
@given(requests(), noises)
def test_bmax_keeps_its_promises(request: tuple[tuple[int, ...], list[int]], noise: Noise) -> None:
    shape, published = request
    plan = plan_bmax(shape, published, noise)
    found = worst(plan)
    assert plan.published == tuple(published)
    assert plan.spent <= 1
    assert len({source.cuboid for source in plan.sources}) == len(plan.sources)
    assert found <= worst(plan_all(shape, published, noise))
    assert found <= worst(plan_base(shape, published, noise))
    optimum = reference.smallest_worst([reference.cuboid(mask) for mask in published], shape, noise)
    assert optimum <= found <= (log(len(published)) + 1) ** 2 * optimum


@settings(deadline=None, max_examples=150)
@given(
    requests(),
    noises,
    st.fractions(Fraction(1, 2), 100, max_denominator=4),
    st.lists(st.fractions(0, 5, max_denominator=4), min_size=8, max_size=8),
)
def test_pmost_is_never_better_than_the_best_nor_worse_than_the_baselines(
    request: tuple[tuple[int, ...], list[int]],
    noise: Noise,
    theta: Fraction,
    drawn: list[Fraction],
) -> None:
    shape, published = request
    weights = {mask: drawn[mask] for mask in published}
    plan = plan_pmost(shape, published, noise, theta=theta, budget=Fraction(1), weights=weights)
    unit = Fraction(2) if noise is Noise.LAPLACE else Fraction(1, 2)
    by_cuboid = {reference.cuboid(mask): weight for mask, weight in weights.items()}

    def precise(plan: CubePlan) -> Fraction:
        sources = [reference.cuboid(source.cuboid) for source in plan.sources]
        assert all(any(coarse <= fine for fine in sources) for coarse in by_cuboid)
        return reference.precise_weight(sources, by_cuboid, shape, noise, theta / unit)

    found = precise(plan)
    assert found <= reference.most_precise_weight(by_cuboid, shape, noise, theta / unit)
    assert found >= precise(plan_all(shape, published, noise))
    assert found >= precise(plan_base(shape, published, noise))
    assert plan.note == (f"Weight {found} of {sum(weights.values())} stays within the variance.")
