"""Search for good shares under Laplace noise, where the problem is not convex.

A share buys information by its square, so good plans have few noisy cuboids, and which ones is a
matter of combination: there are many local optima. The search is iterated local search: descents
from many starts, then chains of "move in the lattice, descend, keep if better"; after each round
the worse half of the chains ends. It uses random numbers of a fixed seed, so the same request gives
the same plan on the same computer unless time runs out; data play no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, log2
from random import Random

import numpy as np

from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.engine.cubes.lattice import Floats, lattice_sizes
from dpdesk.engine.cubes.optimal.descent import Descent, Point
from dpdesk.engine.cubes.optimal.moves import neighbour
from dpdesk.engine.cubes.optimal.objectives import Goal

POWER = 32.0
"""The p-norm that chains minimise in place of the maximum."""

SHARP = 128.0
"""The p-norm of the last chain."""

_CHAINS = 8
_WIDEST = 1 << 12
_STEP = "noise shares"


@dataclass(eq=False)
class Search:
    """One search of ``effort`` descents; ``late`` says when time is up.

    Progress counts on from the descents ``before``.
    """

    descent: Descent
    effort: int
    late: Callable[[], bool]
    token: CancelToken
    report: Report = silent
    random: Random = field(default_factory=lambda: Random(20261121))
    random_starts: int = 30
    before: int = 0
    power: float = field(init=False)
    done: int = 0

    def __post_init__(self) -> None:
        self.power = POWER if self.descent.objective.goal is Goal.MAXIMUM else 0.0

    def best(self, given: Sequence[Floats]) -> Floats:
        """The best shares that starts (these and random ones) and chains lead to."""
        points = [self._settled(shares, np.inf) for shares in given]
        if len(self.descent.objective.weights) <= _WIDEST:
            for number in range(self.random_starts):
                if self.late() or self.done >= self.effort:
                    break
                points.append(self._settled(self._start(number), np.inf))
        points = sorted(points, key=lambda point: point.value)[:_CHAINS]
        rounds = ceil(log2(len(points))) + (2 if self.power else 1)
        each = max(self.effort - self.done, 0) // rounds
        while True:
            steps = each // len(points)
            points = sorted(
                (self._chain(point, steps) for point in points), key=lambda point: point.value
            )
            if len(points) == 1:
                return self._finished([self._sharpened(points[0])])
            points = points[: ceil(len(points) / 2)] if len(points) > 2 else points[:1]
            if self.late():
                return self._finished(points)

    def _sharpened(self, point: Point) -> Point:
        """A last chain at a norm nearer to the maximum, with what is left of the effort."""
        if not self.power or self.late():
            return point
        self.power = SHARP
        return self._chain(self._settled(point.shares, np.inf), max(self.effort - self.done, 0))

    def _finished(self, points: Sequence[Point]) -> Floats:
        ends = [self.descent.finish(point.shares) for point in points]
        self.token.check()
        return min(ends, key=self.descent.objective.figure)

    def _settled(self, shares: Floats, limit: float) -> Point:
        self.token.check()
        self.done += 1
        if self.done % 50 == 0:
            self.report(StepProgress(_STEP, self.before + self.done, None, "descents"))
        return self.descent.settle(shares, self.power, limit)

    def _start(self, number: int) -> Floats:
        """All cuboids, with random shares; half of the time the more cells, the less."""
        sizes = lattice_sizes(self.descent.objective.domain.shape)
        lean = self.random.random() if number % 2 else 0.0
        noise = np.array([self.random.gauss(0.0, 0.3) for _ in range(len(sizes))])
        shares = np.exp(noise - lean * np.log(sizes)) * self.descent.objective.allowed
        return np.asarray(shares / shares.sum())

    def _chain(self, point: Point, steps: int) -> Point:
        goal = self.descent.objective
        for _ in range(steps):
            if self.late():
                break
            shares = neighbour(point.shares, goal.dimensions, self.random)
            shares[~goal.allowed] = 0.0
            if goal.reaches(shares):
                found = self._settled(shares, point.value)
                if found.value < point.value - 1e-9:
                    point = found
            else:
                self.done += 1
        return point
