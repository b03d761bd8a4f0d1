"""The exact planner: equal noise with the smallest possible largest variance, with proof.

The largest variance is spread(s) * m, where m is the largest magnification and s the number of
sources, and s is at least the size of a smallest cover of the published cuboids by magnifications
up to m. So the optimum is the least of spread(k(m)) * m over the finitely many m, where k(m) is a
minimum set cover: an integer program for each m that simple bounds do not rule out. Starts from the
plan of BMax, so it is never worse; what the solver cannot settle in the time allowed is stated as a
gap. The problem is NP-hard (data cubes paper, Theorem 5).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.planners.bmax import best_cover
from dpdesk.engine.cubes.planners.problem import (
    HUGE,
    CoverProblem,
    cover_problem,
    most_sources,
    spread,
)
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.solver import INFEASIBLE, Program, Solver
from dpdesk.engine.cubes.stopping import Ints
from dpdesk.engine.private.kinds import Noise

MOST_EXACT_DIMENSIONS = 10
"""More published dimensions than this are left to the other planners."""

SECONDS = 120.0
"""Time for the integer programs unless the caller says otherwise."""

_TOLERANCE = 1e-6


def plan_exact(
    shape: Sequence[int], published: Sequence[int], noise: Noise,
    token: CancelToken | None = None, report: Report = silent, *, seconds: float = SECONDS,
    forbidden: Collection[int] = (),
) -> CubePlan:  # fmt: skip
    """The optimum of BMax's goal, ``proven`` where the proof was finished in ``seconds``.

    ``forbidden`` cuboids get no noise; the proof is about plans without them.

    Without the proof the note states how far the plan may be from the optimum. Raises RefusedError
    beyond :data:`MOST_EXACT_DIMENSIONS` published dimensions or when the solver fails, InputError
    as :func:`~dpdesk.engine.cubes.planners.problem.cover_problem` does, and Cancelled.
    """
    token = token or CancelToken()
    problem = cover_problem(shape, published, noise, forbidden)
    if len(problem.dimensions) > MOST_EXACT_DIMENSIONS:
        raise RefusedError(
            "cube.too-many-dimensions",
            msg(
                "The exact planner takes at most {most} dimensions, and the published cuboids "
                "have {len} together.",
                most=MOST_EXACT_DIMENSIONS,
                len=len(problem.dimensions),
            ),
            hint="Choose the planner bmax or optimal.",
        )
    search = _Search(problem, best_cover(problem, token), monotonic() + seconds)
    with Solver() as solver:
        least = search.run(solver, token, report)
    if least >= search.value:
        note = "Proven: no plan with equal noise has a smaller largest variance."
    else:
        gap = 100 * (1 - least / search.value)
        note = msg("No plan with equal noise is more than {n:.2g} % better (time ran out).", n=gap)
    return problem.plan(search.best, note, proven=least >= search.value)


@dataclass(frozen=True, eq=False)
class _Cover:
    """A set cover without what is dominated: which candidate covers which row.

    ``count`` is a proven lower bound of the cover's size.
    """

    most: int
    covers: NDArray[np.bool_]
    candidates: Ints
    count: int


class _Search:
    """The best sources so far, and the covers that could still beat them."""

    def __init__(self, problem: CoverProblem, best: Ints, end: float) -> None:
        self.problem = problem
        self.best = best
        self.value = problem.worst(best)
        self.end = end

    def run(self, solver: Solver, token: CancelToken, report: Report) -> int:
        """Settle every magnification; the proven lower bound of the largest variance."""
        open_covers = []
        for most in np.unique(self.problem.sizes).tolist():
            if most >= min(HUGE, self.value):
                break
            cover = self._relaxed(most, solver, token)
            if cover is not None:
                open_covers.append(cover)
        # The most promising first: what it finds may rule out others.
        open_covers.sort(key=self._hope)
        bounds = [self.value]
        for done, cover in enumerate(open_covers):
            bounds.append(self._settle(cover, solver, token))
            report(StepProgress("proof", done + 1, len(open_covers), "integer programs"))
        return min(*bounds, self.value)

    def _room(self, most: int) -> int:
        """How many sources a better plan may have at this magnification."""
        return most_sources(self.problem.noise, (self.value - 1) // most)

    def _hope(self, cover: _Cover) -> int:
        return spread(self.problem.noise, cover.count) * cover.most

    def _relaxed(self, most: int, solver: Solver, token: CancelToken) -> _Cover | None:
        """The cover for a magnification, None when bounds rule it out."""
        token.check()
        covers = self._matrix(most)
        reach = np.cumsum(np.sort(covers.sum(axis=0))[::-1])
        count = int(np.searchsorted(reach, len(covers))) + 1
        if count > self._room(most):
            return None
        covers, candidates = _reduced(covers)
        left = self.end - monotonic()
        if left > 0:
            answer = solver.solve(_program(covers, len(candidates)), left, token)
            if np.isfinite(answer.bound):
                count = max(count, ceil(answer.bound - _TOLERANCE))
        if count > self._room(most):
            return None
        return _Cover(most, covers, candidates, count)

    def _matrix(self, most: int) -> NDArray[np.bool_]:
        """Which cuboid (column) covers which published one (row)."""
        problem = self.problem
        rows = problem.published[:, None]
        columns = np.arange(len(problem.sizes), dtype=np.int64)[None, :]
        below = (rows & ~columns) == 0
        below[:, problem.forbidden] = False
        return np.asarray(below & (problem.sizes[rows ^ columns] <= most))

    def _settle(self, cover: _Cover, solver: Solver, token: CancelToken) -> int:
        """Solve one cover; a proven lower bound of the variance at its magnification."""
        room = self._room(cover.most)
        left = self.end - monotonic()
        if cover.count > room:
            return self.value
        if left <= 0:
            return self._hope(cover)
        answer = solver.solve(_program(cover.covers, room, integral=True), left, token)
        if answer.x is not None:
            self._offer(cover.candidates[answer.x > 0.5])
        if answer.status == INFEASIBLE:
            return self.value
        count = cover.count
        if np.isfinite(answer.bound):
            count = max(count, ceil(answer.bound - _TOLERANCE))
        return spread(self.problem.noise, count) * cover.most

    def _offer(self, sources: Ints) -> None:
        value = self.problem.worst(sources)
        if value < self.value:
            self.best, self.value = sources, value


def _program(covers: NDArray[np.bool_], room: int, *, integral: bool = False) -> Program:
    """The smallest cover with at most ``room`` candidates; its relaxation unless ``integral``."""
    count, candidates = covers.shape
    rows, columns = np.nonzero(covers)
    return Program(
        cost=np.ones(candidates),
        rows=np.append(rows, np.full(candidates, count)),
        columns=np.append(columns, np.arange(candidates)),
        values=np.ones(len(rows) + candidates),
        least=np.append(np.ones(count), 0.0),
        most=np.append(np.full(count, np.inf), float(room)),
        lower=np.zeros(candidates),
        upper=np.ones(candidates),
        integral=integral,
    )


def _reduced(covers: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Ints]:
    """Without candidates that cover no more than another, and rows covered with another.

    Also returns which candidates (columns) are left.
    """
    candidates = np.arange(covers.shape[1], dtype=np.int64)
    while True:
        spare = _within_another(covers.T)
        covers, candidates = covers[:, ~spare], candidates[~spare]
        # A row is covered with another when whatever covers the other covers it too.
        implied = _within_another(~covers)
        if not implied.any():
            return covers, candidates
        covers = covers[~implied]


def _within_another(sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows are subsets of another row; of equal rows all but the first are."""
    counted = sets.astype(np.float32)
    common = counted @ counted.T
    inside = common == common.diagonal()[:, None]
    first = np.tri(len(sets), k=-1, dtype=bool)
    return np.asarray((inside & (~inside.T | first)).any(axis=1))
