"""Tables that `forbid` names are neither published nor given noise, by any planner."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.cubes.lattice import CubePlan
from dpdesk.engine.cubes.optimal.objectives import Goal
from dpdesk.engine.cubes.optimal.planner import plan_optimal
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.cubes.planners import (
    plan_base,
    plan_bmax,
    plan_exact,
    plan_pmost,
    unit_variance,
)
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.kinds import Noise
from tests.reference import cube_plans as reference

SHAPE = (2, 7, 5)
Planner = Callable[[list[int], list[int]], CubePlan]


def pmost(published: list[int], forbidden: list[int]) -> CubePlan:
    return plan_pmost(
        SHAPE,
        published,
        Noise.LAPLACE,
        theta=Fraction(40),
        budget=Fraction(1),
        forbidden=forbidden,
    )


def optimal(published: list[int], forbidden: list[int]) -> CubePlan:
    return plan_optimal(
        SHAPE, published, Noise.LAPLACE, goal=Goal.SUM, effort=40, forbidden=forbidden
    )


def gaussian(published: list[int], forbidden: list[int]) -> CubePlan:
    return plan_optimal(SHAPE, published, Noise.GAUSSIAN, forbidden=forbidden)


def bmax(published: list[int], forbidden: list[int]) -> CubePlan:
    return plan_bmax(SHAPE, published, Noise.LAPLACE, forbidden=forbidden)


@pytest.mark.parametrize("plan", [bmax, pmost, optimal, gaussian])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_no_planner_gives_noise_to_a_forbidden_table_and_all_others_come_out(
    plan: Planner, data: st.DataObject
) -> None:
    forbidden = data.draw(st.lists(st.sampled_from(range(8)), unique=True, max_size=6))
    free = [mask for mask in range(8) if mask not in forbidden]
    published = data.draw(st.lists(st.sampled_from(free), unique=True, min_size=1))
    made = plan(published, forbidden)
    sources = [source.cuboid for source in made.sources]
    assert set(sources).isdisjoint(forbidden)
    assert all(any(not mask & ~source for source in sources) for mask in published)


def smallest_worst(published: list[int], forbidden: set[int]) -> float:
    """By trying every set of allowed sources."""
    allowed = [mask for mask in range(8) if mask not in forbidden]
    wanted = [reference.cuboid(mask) for mask in published]
    found = [
        reference.worst([reference.cuboid(one) for one in chosen], wanted, SHAPE, Noise.LAPLACE)
        for count in range(1, len(allowed) + 1)
        for chosen in combinations(allowed, count)
        if all(any(not mask & ~source for source in chosen) for mask in published)
    ]
    return min(found)


@pytest.mark.parametrize("forbidden", [{0b111}, {0b111, 0b011}, {0b101}])
def test_the_exact_planner_is_best_among_plans_without_forbidden_tables(
    forbidden: set[int],
) -> None:
    published = [mask for mask in range(8) if mask not in forbidden]
    plan = plan_exact(SHAPE, published, Noise.LAPLACE, forbidden=forbidden)
    sources = [reference.cuboid(source.cuboid) for source in plan.sources]
    wanted = [reference.cuboid(mask) for mask in published]
    assert plan.proven
    assert {source.cuboid for source in plan.sources}.isdisjoint(forbidden)
    reached = reference.worst(sources, wanted, SHAPE, Noise.LAPLACE)
    assert reached == smallest_worst(published, forbidden)
    assert float(unit_variance(Noise.LAPLACE, Fraction(1))) == 2


def test_the_base_planner_refuses_when_the_finest_table_is_forbidden() -> None:
    with pytest.raises(InputError) as caught:
        plan_base(SHAPE, [0b011, 0b110], Noise.LAPLACE, [0b111])
    assert caught.value.code == "cube.forbid"
    assert plan_base(SHAPE, [0b011], Noise.LAPLACE, [0b111]).sources[0].cuboid == 0b011


def read(**keys: object) -> CubeSettings:
    given = {"dimensions": ["sex", "age"], "epsilon": 1, **keys}
    return CubeSettings.from_parameters(parse_parameters(PARAMETERS, given, "The plan"), "The plan")


def test_all_tables_and_tables_with_few_dimensions_leave_forbidden_ones_out() -> None:
    assert read(forbid=[["sex", "age"]]).published == (0, 1, 2)
    assert read(publish={"max_dimensions": 1}, forbid=[["age"], []]).published == (1,)
    assert read(forbid=[["age", "sex"]]).forbidden == {3}


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"publish": [["sex"]], "forbid": [["sex"]]}, "both name sex"),
        ({"publish": {"max_dimensions": 0}, "forbid": [[]]}, "every table"),
        ({"forbid": [["age"], ["age"]]}, "twice"),
        ({"forbid": [["agee"]]}, "not a dimension"),
        ({"forbid": "age"}, "expected a list"),
    ],
)
def test_what_cannot_be_forbidden_is_said(keys: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(**keys)
