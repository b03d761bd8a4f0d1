"""What no plan can beat, for Gaussian noise, where the problem is convex.

For multipliers m_C >= 0 with sum(m_C / weight_C) = 1 (or the weights themselves, for sums) every
plan has the goal at least sum m_C v_C = sum over S of c_S / W_S, where c gathers the m of the
cuboids above S. Two bounds follow for a budget of rho = 1:

* residual sources: W_S costs costs_S W_S / 2, so by Cauchy and Schwarz sum c_S/W_S >=
  (sum of sqrt(c_S costs_S))^2 / 2. This holds for noise in whole cuboids too, as each such source
  is worth no more than residual sources of the same cost.
* whole cuboids: for any y, c/W >= 2 y sqrt(c) - y^2 W; with y = sqrt(c)/W of a plan, of value f,
  scaled at best, the bound is f^2 / (2 max_C h_C), h_C the slope of -f by the information of C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.optimal import kernels
from dpdesk.engine.cubes.optimal.objectives import Goal, Objective, residual_costs


@dataclass(frozen=True, eq=False)
class Bound:
    """No plan with the objective's sources has a figure below ``value`` (for rho = 1).

    ``worth`` holds what a unit of budget would gain in each place, as a part of what it gains in
    the mean: at the optimum 1 where there is a share, and at most 1 elsewhere.
    """

    value: float
    worth: Floats


def lower_bound(objective: Objective, shares: Floats, power: float) -> Bound:
    """The better bound that the multipliers of the p-norm at these shares give.

    For the sum (power 0) the multipliers are the weights.
    """
    known = objective.known(shares)
    needed = objective.needed
    parts = np.zeros_like(known)
    parts[needed] = 1.0 / known[needed]
    variances = parts.copy()
    kernels.build_up(variances, objective.inverse)
    below = np.zeros_like(known)
    kernels.figure(variances, below, objective.weights, power)
    if objective.goal is Goal.MAXIMUM:
        counted = objective.weights > 0
        below /= (below[counted] / objective.weights[counted]).sum()
    value = float((below * variances)[objective.weights > 0].sum())
    kernels.build_up_adjoint(below, objective.inverse)
    costs = objective.costs if len(objective.costs) else residual_costs(objective.domain.shape)
    bound = float(np.sqrt(below * costs)[needed].sum() ** 2 / 2)
    slopes = below * parts * parts
    if len(objective.costs):
        return Bound(
            bound, np.where(costs > 0, 2 * slopes / (np.where(costs > 0, costs, 1) * value), 0)
        )
    kernels.gather_down_adjoint(slopes, objective.inverse)
    return Bound(
        max(bound, value**2 / (2 * float(slopes[objective.allowed].max()))), 2 * slopes / value
    )
