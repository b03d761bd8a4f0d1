"""Local descent: from given shares to a local optimum, dropping shares that are of no use.

The largest variance is approached through p-norms with growing p; the p-norm of m values is within
a factor m^(1/p) of the largest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np

from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.optimal import kernels
from dpdesk.engine.cubes.optimal.objectives import Goal, Objective
from dpdesk.engine.cubes.stopping import Ints

FINAL_POWERS = (64.0, 128.0, 512.0, 2048.0, 8192.0)
"""The norms that end a search for the smallest maximum."""


@dataclass(frozen=True, eq=False)
class Point:
    """Shares over the (renumbered) lattice, sum 1, and log of the p-norm that they reach."""

    value: float
    shares: Floats


@dataclass(eq=False)
class Descent:
    """Descents for one objective; not for use by two threads at once.

    Shares below ``spare`` times the mean share are dropped after each descent: with Laplace noise a
    small share buys information in proportion to its square, hence next to nothing.
    """

    objective: Objective
    stop: Ints
    spare: float = 0.1
    work: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.work = np.zeros((3, len(self.objective.weights)))

    def run(self, shares: Floats, power: float, steps: int, tolerance: float) -> Point:
        """At most ``steps`` steps down the p-norm (the sum for 0) from these shares."""
        goal = self.objective
        candidates = np.flatnonzero(shares)
        logs = np.log(shares[candidates])
        value = kernels.descend(
            logs, candidates, goal.inverse, goal.weights, goal.needed, goal.costs, power,
            float(goal.kappa), self.work, steps, tolerance, self.stop,
        )  # fmt: skip
        fitted = np.exp(logs - logs.max())
        fitted /= fitted.sum()
        slim = np.where(fitted < self.spare / len(fitted), 0.0, fitted)
        found = np.zeros(len(shares))
        found[candidates] = slim / slim.sum()
        if not goal.reaches(found):
            found[candidates] = fitted
        return Point(float(value), found)

    def settle(self, shares: Floats, power: float, limit: float = inf) -> Point:
        """A local optimum; given up early if it looks worse than ``limit`` by some percent."""
        if power:
            shares = self.run(shares, min(power, 8.0), 15, 1e-3).shares
        point = self.run(shares, power, 20, 1e-3)
        if point.value > limit + 0.07:
            return point
        point = self.run(point.shares, power, 60, 1e-4)
        if point.value > limit + 0.02:
            return point
        return self.run(point.shares, power, 200, 1e-6)

    def finish(self, shares: Floats) -> Floats:
        """The best shares on the way from here to a sharp local optimum of the goal itself."""
        best, reached = shares, self.objective.figure(shares)
        for power in FINAL_POWERS if self.objective.goal is Goal.MAXIMUM else (0.0,):
            shares = self.run(shares, power, 600, 1e-8).shares
            figure = self.objective.figure(shares)
            if figure < reached:
                best, reached = shares, figure
            if self.stop[0]:
                break
        return best
