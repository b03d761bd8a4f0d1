"""Search for good shares under Laplace noise, where the problem is not convex.

A share buys information by its square, so good plans have few noisy cuboids, and which ones is a
matter of combination: there are many local optima. The search starts from the optima of problems
that are made less convex step by step (``Descent.soften``), from slightly different shares each
time; then chains of "move in the lattice or cross with another chain, descend, keep if better",
of which the worse half ends after each round. Random numbers have a fixed seed and the length is a
number of descents, never a time, so a request gives the same plan every time; only where two
computers round exponentials differently may they part. Data play no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf, log2
from random import Random

from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.engine.cubes.optimal.descent import Descent, Point
from dpdesk.engine.cubes.optimal.moves import crossing, neighbour
from dpdesk.engine.cubes.optimal.objectives import Goal
from dpdesk.engine.cubes.optimal.terms import Shares

POWER = 32.0
"""The p-norm that chains minimise in place of the maximum."""

SHARP = 128.0
"""The p-norm of the last chain."""

_CHAINS = 8
_MOST_STARTS = 24
_SOFTENED = 6  # descents that one softening takes
_CROSSED, _JOINED = 0.1, 0.3
_FEW = 10
_STEP = "noise shares"


@dataclass(eq=False)
class Search:
    """One search of about ``effort`` descents; ``candidates`` are cuboids to begin with.

    Progress counts on from the descents ``before``.
    """

    descent: Descent
    effort: int
    candidates: Sequence[int]
    token: CancelToken
    report: Report = silent
    random: Random = field(default_factory=lambda: Random(20261121))
    before: int = 0
    power: float = field(init=False)
    done: int = 0

    def __post_init__(self) -> None:
        self.power = POWER if self.descent.objective.goal is Goal.MAXIMUM else 0.0

    def best(self, given: Sequence[Shares]) -> Shares:
        """The best shares that starts (these and softened ones) and chains lead to."""
        points = [self._settled(shares, inf) for shares in given]
        for number in range(min(_MOST_STARTS, self.effort // (8 * _SOFTENED))):
            softened = self.descent.soften(self._start(number), self.power)
            self.done += _SOFTENED
            points.append(self._settled(softened, inf))
        points = sorted(points, key=lambda point: point.value)[:_CHAINS]
        rounds = ceil(log2(len(points))) + (2 if self.power else 1)
        each = max(self.effort - self.done, 0) // rounds
        while True:
            steps = each // len(points)
            points = sorted(
                (self._chain(point, steps, points) for point in points),
                key=lambda point: point.value,
            )
            if len(points) == 1:
                return self._finished([self._sharpened(points[0])])
            points = points[: ceil(len(points) / 2)] if len(points) > 2 else points[:1]

    def joined(self, given: Sequence[Shares]) -> Shares:
        """The best shares that crossing these plans, and chains from the best of them, lead to."""
        points = sorted(
            (self._settled(shares, inf) for shares in given), key=lambda point: point.value
        )
        point = self._chain(points[0], max(self.effort - self.done, 0) // 2, points, _JOINED)
        return self._finished([self._sharpened(point)])

    def _sharpened(self, point: Point) -> Point:
        """A last chain at a norm nearer to the maximum, with what is left of the effort."""
        if not self.power:
            return point
        self.power = SHARP
        start = self._settled(point.shares, inf)
        return self._chain(start, max(self.effort - self.done, 0), [start])

    def _finished(self, points: Sequence[Point]) -> Shares:
        ends = [self.descent.finish(point.shares) for point in points]
        self.token.check()
        return min(ends, key=self.descent.terms.figure)

    def _settled(self, shares: Shares, limit: float) -> Point:
        self.token.check()
        self.done += 1
        if self.done % 50 == 0:
            self.report(StepProgress(_STEP, self.before + self.done, None, "descents"))
        return self.descent.settle(shares, self.power, limit)

    def _start(self, number: int) -> Shares:
        """All candidates with nearly equal shares; the first ones with equal ones."""
        width = 0.3 if number else 0.0
        return {mask: self.random.lognormvariate(0.0, width) for mask in self.candidates}

    def _anywhere(self, random: Random) -> int:
        dimensions = self.descent.objective.dimensions
        if dimensions <= _FEW:
            return random.randrange(1 << dimensions)
        return random.choice(self.candidates)

    def _chain(
        self, point: Point, steps: int, others: Sequence[Point], crossed: float = _CROSSED
    ) -> Point:
        goal, random = self.descent.objective, self.random
        for _ in range(steps):
            if len(others) > 1 and random.random() < crossed:
                shares = crossing(point.shares, random.choice(others).shares, random)
            else:
                shares = neighbour(point.shares, goal.dimensions, random, self._anywhere)
            shares = {mask: share for mask, share in shares.items() if goal.allowed[mask]}
            if shares and self.descent.terms.reaches(shares):
                found = self._settled(shares, point.value)
                if found.value < point.value - 1e-9:
                    point = found
            else:
                self.done += 1
        return point
