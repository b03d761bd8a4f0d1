"""The proof of the exact planner on all cuboids of eight dimensions: half a minute of work."""

from __future__ import annotations

from fractions import Fraction

from dpdesk.engine.cubes.planners import plan_exact
from dpdesk.engine.private.kinds import Noise
from tests.reference import cube_plans as reference

SHAPE = (9, 16, 7, 15, 6, 5, 2, 2)


def test_all_cuboids_of_eight_dimensions_are_proven() -> None:
    plan = plan_exact(SHAPE, range(256), Noise.LAPLACE, seconds=600)
    sources = [reference.cuboid(source.cuboid) for source in plan.sources]
    published = [reference.cuboid(mask) for mask in range(256)]
    assert plan.proven
    assert 2 * reference.worst(sources, published, SHAPE, Noise.LAPLACE) == 31_752
    assert [source.share for source in plan.sources] == [Fraction(1, 21)] * 21
