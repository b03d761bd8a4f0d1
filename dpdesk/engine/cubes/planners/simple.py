"""The two baselines: noise in every published cuboid, or in the base cuboid alone.

Source: data cubes paper, section 3 (K_all and K_base).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.engine.cubes.planners.problem import cover_problem
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.private.kinds import Noise


def plan_all(shape: Sequence[int], published: Sequence[int], noise: Noise) -> CubePlan:
    """Independent noise in each published cuboid, the budget shared equally (K_all).

    Raises InputError as :func:`~dpdesk.engine.cubes.planners.problem.cover_problem` does.
    """
    problem = cover_problem(shape, published, noise)
    return problem.plan(problem.published, "Noise in every published cuboid.")


def plan_base(
    shape: Sequence[int],
    published: Sequence[int],
    noise: Noise,
    forbidden: Collection[int] = (),
) -> CubePlan:
    """The whole budget in one cuboid of all published dimensions; the others are its sums (K_base).

    Dimensions that no published cuboid has are left out: they would only add noise. Raises
    InputError when that cuboid is forbidden, and as
    :func:`~dpdesk.engine.cubes.planners.problem.cover_problem` does.
    """
    problem = cover_problem(shape, published, noise, forbidden)
    if problem.base in problem.forbidden:
        raise InputError(
            "cube.forbid",
            "The planner `base` puts all noise in the finest table, which `forbid` names.",
            hint='Use another planner, such as "bmax".',
            details={"key": "planner"},
        )
    base = np.array([problem.base], np.int64)
    return problem.plan(base, "Noise in the base cuboid; the others are its sums.")
