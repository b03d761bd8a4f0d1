"""Closed-form errors of a plan: cell variances after consistency."""

from __future__ import annotations

import numpy as np

from dpdesk.engine.cubes.lattice import Floats, cell_variances, down_closure, information
from dpdesk.engine.cubes.optimal.objectives import residual_costs
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.private.kinds import Noise


def plan_information(plan: CubePlan, budget: float, *, replace: bool = False) -> Floats:
    """W of every residual for sensitivity 1 and this epsilon or rho, shape (2^d,).

    A noisy cell has variance 2/(share*epsilon)^2, or 1/(2*share*rho), and one of a residual source
    c/(2*share*rho), where c is its
    :func:`~dpdesk.engine.cubes.optimal.objectives.residual_costs`. Discrete Laplace noise varies a
    little less, so this errs on the safe side.
    """
    size = 1 << len(plan.shape)
    own, direct = np.zeros(size), np.zeros(size)
    costs = residual_costs(plan.shape, replace=replace)
    for source in plan.sources:
        part = float(source.share) * budget
        if source.residual:
            direct[source.cuboid] += 2.0 * part / costs[source.cuboid]
        else:
            own[source.cuboid] += part**2 / 2 if plan.noise is Noise.LAPLACE else 2.0 * part
    known = information(own, plan.shape) + direct
    if plan.exact:
        known[down_closure(plan.exact, len(plan.shape))] = np.inf
    return known


def plan_variances(plan: CubePlan, budget: float, *, replace: bool = False) -> Floats:
    """Variance of one cell of every cuboid after consistency, shape (2^d,).

    Infinite for cuboids that the sources do not determine. For sensitivity 1; it grows with the
    square of the sensitivity. Source: resources/docs/cubes.md.
    """
    return cell_variances(plan_information(plan, budget, replace=replace), plan.shape)
