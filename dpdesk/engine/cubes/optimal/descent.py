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
from dpdesk.engine.cubes.optimal.terms import Shares, Terms
from dpdesk.engine.cubes.stopping import Ints

FINAL_POWERS = (64.0, 128.0, 512.0, 2048.0, 8192.0)
"""The norms that end a search for the smallest maximum."""

_BENDS = tuple(1.0 + step / 10 for step in range(11))
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Point:
    """Shares of the budget, sum 1, and log of the p-norm that they reach."""

    value: float
    shares: Shares


@dataclass(eq=False)
class Descent:
    """Descents for one objective; not for use by two threads at once.

    Shares below ``spare`` times the mean share are dropped after each descent: with Laplace noise a
    small share buys information in proportion to its square, hence next to nothing.
    """

    objective: Objective
    stop: Ints
    spare: float = 0.1
    terms: Terms = field(init=False)
    work: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.terms = Terms(self.objective)
        longest = max(len(self.terms.weights), len(self.terms.needed))
        self.work = np.zeros((5, longest))

    def lower(
        self, candidates: Ints, shares: Floats, power: float, steps: int, tolerance: float,
        kappa: float,
    ) -> tuple[float, Floats]:  # fmt: skip
        """At most ``steps`` steps down the p-norm (the sum for 0): its log, shares of sum 1."""
        logs = np.log(shares)
        value = kernels.descend(
            logs, candidates, self.terms.maps(candidates), self.terms.weights, self.terms.needed,
            self.terms.costs, power, kappa, self.work, steps, tolerance, self.stop,
        )  # fmt: skip
        fitted = np.exp(logs - logs.max())
        return float(value), fitted / fitted.sum()

    def run(self, shares: Shares, power: float, steps: int, tolerance: float) -> Point:
        """:meth:`lower`, and drop what is too small, as long as everything stays known."""
        candidates, before = _arrays(shares)
        kappa = float(self.objective.kappa)
        value, fitted = self.lower(candidates, before, power, steps, tolerance, kappa)
        slim = _kept(candidates, fitted, self.spare / len(fitted))
        if not self.terms.reaches(slim):
            slim = _kept(candidates, fitted, 0.0)
        return Point(value, slim)

    def settle(self, shares: Shares, power: float, limit: float = inf) -> Point:
        """A local optimum; given up early if it looks worse than ``limit`` by some percent."""
        if power:
            shares = self.run(shares, min(power, 8.0), 15, 1e-3).shares
        point = self.run(shares, power, 20, 1e-3)
        if point.value > limit + 0.12:
            return point
        point = self.run(point.shares, power, 60, 1e-4)
        if point.value > limit + 0.04:
            return point
        return self.run(point.shares, power, 200, 1e-6)

    def soften(self, shares: Shares, power: float) -> Shares:
        """Shares near a good local optimum of Laplace noise, by way of problems less bent.

        Were information proportional to the share (as for Gaussian noise), the problem would be
        convex; the power of the share grows from 1 to 2 in steps, each from the optimum before.
        """
        for kappa in _BENDS:
            candidates, before = _arrays(shares)
            _, fitted = self.lower(candidates, before, power, 60, 1e-4, kappa)
            shares = _kept(candidates, fitted, float(fitted.max()) * _NEGLIGIBLE)
        return shares

    def finish(self, shares: Shares) -> Shares:
        """The best shares on the way from here to a sharp local optimum of the goal itself."""
        best, reached = shares, self.terms.figure(shares)
        for power in FINAL_POWERS if self.objective.goal is Goal.MAXIMUM else (0.0,):
            shares = self.run(shares, power, 600, 1e-8).shares
            figure = self.terms.figure(shares)
            if figure < reached:
                best, reached = shares, figure
            if self.stop[0]:
                break
        return best


def _arrays(shares: Shares) -> tuple[Ints, Floats]:
    candidates = sorted(shares)
    return np.array(candidates, np.int64), np.array([shares[mask] for mask in candidates])


def _kept(candidates: Ints, shares: Floats, least: float) -> Shares:
    """What is not below ``least``, with the sum 1."""
    kept = shares >= least
    left = shares[kept] / shares[kept].sum()
    return dict(zip(candidates[kept].tolist(), left.tolist(), strict=True))
