"""Non-negative and whole numbers: post-processing that people like and that biases what it touches.

Both work on the base cuboid, of which all others are sums, so the result is additive by
construction. Neither needs anything but the consistent cube and the variances of its noise.

Non-negative: the least-squares fit to the noisy cuboids among cubes without negative cells, that is
the x >= 0 nearest to the consistent cube in the norm of the measurements. In the residual basis
that norm is diagonal: a residual S of the base counts W_S * mag(S, base). The program is solved by
alternating directions (ADMM), whose dual variable is feasible, so that the gap to the optimum is
known. Cells that are truly 0 can only be estimated too high, and others pay for it:
:func:`expected_bias` shows how much before anything is released.

Whole: base cells are rounded in order so that the sum of every run of cells is off by less than 1
(cumulative rounding). So each base cell, each cell of a cuboid of the leading dimensions, and the
total change by less than 1; cells of other cuboids may change by more, and :class:`WholeCube` says
how much they did. Non-negative cells stay non-negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.consistency.residual import (
    ConsistentCube,
    Measured,
    consistent_cube,
    layout,
    run_passes,
)
from dpdesk.engine.cubes.lattice import Floats, lattice_sizes, members
from dpdesk.engine.cubes.solver import Ints, stop_flag
from dpdesk.engine.private.kinds import Noise

MOST_BASE_CELLS = 500_000
"""Base cells beyond which non-negativity is refused."""

TOLERANCE = 1e-4
"""Gap to the optimum, as a share of the squared distance, at which the search ends."""

_MOST_STEPS = 2000
_CHECKED = 10
_RELAXED = 1.6


@dataclass(frozen=True, eq=False)
class BaseCube:
    """Values of the base cuboid (axes ascending) and of every cuboid as their sums."""

    base: Floats

    def cuboid(self, mask: int) -> Floats:
        """Values of a cuboid, axes ascending."""
        away = tuple(axis for axis in range(self.base.ndim) if not mask >> axis & 1)
        return np.asarray(self.base.sum(axis=away))


@dataclass(frozen=True, eq=False)
class NonNegativeCube(BaseCube):
    """A cube without negative cells; ``gap`` bounds the distance to the optimum (0: reached).

    The gap is a share of the squared distance from the consistent cube.
    """

    gap: float


@dataclass(frozen=True, eq=False)
class WholeCube:
    """Whole numbers in every cuboid, each the sum of base cells; ``before`` is what was rounded."""

    base: Ints
    before: BaseCube

    def cuboid(self, mask: int) -> Ints:
        """Values of a cuboid, axes ascending."""
        away = tuple(axis for axis in range(self.base.ndim) if not mask >> axis & 1)
        return np.asarray(self.base.sum(axis=away))


def refuse_unfit(shape: tuple[int, ...], sources: Iterable[int], *, nonnegative: bool) -> None:
    """Refuse what :func:`base_cube` or :func:`nonnegative_cube` would refuse, before noise exists.

    ``sources`` are the masks of the noisy cuboids. Raises RefusedError when none of them has all
    dimensions, or with ``nonnegative`` beyond :data:`MOST_BASE_CELLS` base cells.
    """
    if (1 << len(shape)) - 1 not in sources:
        raise RefusedError(
            "cube.no-base",
            "No noise source has all dimensions, so there is no base cuboid to make whole or "
            "non-negative.",
            hint="Publish the cuboid of all dimensions too, or choose the planner base.",
        )
    if nonnegative and prod(shape) > MOST_BASE_CELLS:
        raise RefusedError(
            "cube.too-large-for-nonnegative",
            msg(
                "The base cuboid has {cells:,} cells; non-negativity takes at most {most:,}.",
                cells=prod(shape),
                most=MOST_BASE_CELLS,
            ),
            hint="Publish the values as they are, negative ones included.",
        )


def base_cube(cube: ConsistentCube) -> BaseCube:
    """The base cuboid of a consistent cube; raises RefusedError when it is not determined."""
    base = (1 << len(cube.shape)) - 1
    refuse_unfit(cube.shape, [base] if cube.determines(base) else [], nonnegative=False)
    return BaseCube(cube.cuboid(base))


def nonnegative_cube(
    cube: ConsistentCube, token: CancelToken | None = None, report: Report = silent,
    *, tolerance: float = TOLERANCE,
) -> NonNegativeCube:  # fmt: skip
    """The non-negative cube that fits the noisy cuboids behind ``cube`` best.

    Raises RefusedError beyond :data:`MOST_BASE_CELLS` base cells or when the base is not
    determined, ValueError when ``cube`` is no least-squares estimate, and Cancelled.
    """
    if not cube.least_squares:
        raise ValueError("only a least-squares estimate says how much each part of it counts")
    token = token or CancelToken()
    start = base_cube(cube).base
    refuse_unfit(cube.shape, [(1 << len(cube.shape)) - 1], nonnegative=True)
    if start.min() >= 0:
        return NonNegativeCube(start.copy(), 0.0)
    with stop_flag(token) as stop:
        found, gap = _Directions(cube, start.reshape(-1), stop).run(tolerance, token, report)
    return NonNegativeCube(found.reshape(cube.shape), gap)


class _Directions:
    """Alternating directions: minimise (x − center)' M (x − center) / 2 over x >= 0.

    M is diagonal in the residual basis with the ``eigenvalues`` W_S * mag(S, base).
    """

    def __init__(self, cube: ConsistentCube, center: Floats, stop: Ints) -> None:
        self.center = center
        self.stop = stop
        self._places = layout([len(cube.known) - 1], cube.shape)
        self._cells = np.zeros(self._places.total)
        sizes = lattice_sizes(cube.shape)
        self._above = sizes[-1] / sizes
        self.eigenvalues = cube.known * self._above
        # A dimension of one value has no residual; its eigenvalues must not set the pace.
        real = np.array([_has_residual(mask, cube.shape) for mask in range(len(cube.known))])
        spread = self.eigenvalues[real]
        self.pace = float(np.sqrt(spread.min() * spread.max()))

    def filtered(self, values: Floats, factors: Floats) -> Floats:
        """``values`` with each residual multiplied by its factor."""
        start = self._places.starts[-1]
        self._cells[:] = 0
        self._cells[start : start + len(values)] = values
        run_passes(self._places, self._cells, factors * self._above, self.stop)
        return self._cells[start : start + len(values)].copy()

    def run(self, tolerance: float, token: CancelToken, report: Report) -> tuple[Floats, float]:
        """The non-negative point and its relative gap."""
        center, pace = self.center, self.pace
        point = np.maximum(center, 0)
        dual = np.zeros_like(center)
        best, least, bound = point, np.inf, 0.0
        for step in range(_MOST_STEPS):
            shrink = pace / (self.eigenvalues + pace)
            fit = center + self.filtered(point - dual - center, shrink)
            mixed = _RELAXED * fit + (1 - _RELAXED) * point
            before = point
            point = np.maximum(mixed + dual, 0)
            dual = np.minimum(mixed + dual, 0)
            token.check()
            if step % _CHECKED:
                continue
            cost = self._cost(point)
            if cost < least:
                best, least = point, cost
            bound = max(bound, self._bound(-pace * dual))
            gap = 1 - bound / least if least > 0 else 0.0
            if gap <= tolerance:
                return best, max(gap, 0.0)
            report(StepProgress("nonnegative", step, None, "steps"))
            change = _balance(
                float(np.linalg.norm(fit - point)), float(np.linalg.norm(point - before))
            )
            pace, dual = pace * change, dual / change
        return best, gap

    def _cost(self, point: Floats) -> float:
        away = point - self.center
        return float(away @ self.filtered(away, self.eigenvalues)) / 2

    def _bound(self, multiplier: Floats) -> float:
        """The dual value: no non-negative point costs less."""
        inverse = self.filtered(multiplier, 1 / self.eigenvalues)
        return float(-multiplier @ (inverse / 2 + self.center))


def _has_residual(mask: int, shape: tuple[int, ...]) -> bool:
    return all(n > 1 for axis, n in enumerate(shape) if mask >> axis & 1)


def _balance(apart: float, moved: float) -> float:
    """By what to multiply the pace, so that both differences shrink together."""
    if apart > 5 * moved:
        return 2.0
    return 0.5 if moved > 5 * apart else 1.0


def whole_cube(cube: BaseCube) -> WholeCube:
    """Base cells rounded so that every run of cells, in the order of the axes, is off by < 1."""
    sums = np.floor(np.cumsum(cube.base.reshape(-1)) + 0.5).astype(np.int64)
    base = np.diff(sums, prepend=0).reshape(cube.base.shape)
    return WholeCube(base, cube)


# What making a cube non-negative will do to it, told from noise and invented cubes alone.
#
# An example cube is filled with a made-up value in some of its base cells and 0 elsewhere, noise of
# the planned variances is drawn many times, and the estimates are compared with the example. The
# data are not needed, so a choice made after looking at this costs no budget.


MOST_EXAMPLE_CELLS = 100_000
"""Base cells beyond which examples would take too long."""

_SEED = 20261121
DRAWS = 20
"""Draws of the noise for each example."""


@dataclass(frozen=True)
class Example:
    """An invented cube: this share of the base cells holds ``value``, the others 0."""

    filled: float
    value: float


@dataclass(frozen=True)
class CellErrors:
    """Errors of the cells that are truly 0 (``empty``) and of all others, 0 where there are none.

    ``empty`` and ``other`` are means, so what is systematically wrong; ``spread_empty`` and
    ``spread_other`` roots of the mean square, so what is typical.
    """

    empty: float
    other: float
    spread_empty: float
    spread_other: float


@dataclass(frozen=True)
class Bias:
    """Mean effect of non-negativity on the cells of one cuboid of one example.

    ``empty`` and ``other`` are the mean error of cells that are truly 0 and of all others (0 where
    there are none); without the choice both are 0 but for the draws. ``error_before`` and
    ``error_after`` are the root of the mean squared error of all cells. ``choices`` hold the same
    by kind of cell for each of :data:`CHOICES`.
    """

    example: Example
    cuboid: int
    empty: float
    other: float
    error_before: float
    error_after: float
    choices: tuple[CellErrors, ...] = ()


CHOICES = ("plain", "nonnegative", "integral", "both")
"""What can be made of a cube: nothing, no negative numbers, whole numbers, and both."""


def expected_bias(
    shape: tuple[int, ...], own: Mapping[int, float], noise: Noise, cuboids: Iterable[int],
    examples: Iterable[Example], residuals: Mapping[int, float] | None = None, *,
    draws: int = DRAWS, token: CancelToken | None = None, report: Report = silent,
) -> list[Bias]:  # fmt: skip
    """The bias of each cuboid for each example, in their order.

    ``own`` and ``residuals`` hold 1/variance of the noise in one cell of each source. The result is
    the same every time: the draws are pseudo-random, and nothing is released of them.

    Raises RefusedError beyond :data:`MOST_EXAMPLE_CELLS` base cells or when no source determines
    the base cuboid, and Cancelled.
    """
    if prod(shape) > MOST_EXAMPLE_CELLS:
        raise RefusedError(
            "cube.too-large-for-examples",
            msg(
                "The base cuboid has {cells:,} cells; the bias is simulated for at most {most:,}.",
                cells=prod(shape),
                most=MOST_EXAMPLE_CELLS,
            ),
            hint="Look at the bias of a cube with fewer dimensions and the same noise.",
        )
    token = token or CancelToken()
    wanted, chosen = list(cuboids), list(examples)
    found = []
    for number, example in enumerate(chosen):
        study = _Study(shape, example, wanted)
        # The same draws for all, so that examples differ by what they are and not by luck.
        generator = np.random.default_rng(_SEED)
        for draw in range(draws):
            noisy = _measured(study, own, noise, generator)
            extra = _measured(study, residuals or {}, noise, generator)
            cube = consistent_cube(shape, noisy, extra, token=token)
            after = nonnegative_cube(cube, token)
            variants = (cube, after, whole_cube(base_cube(cube)), whole_cube(after))
            study.add({mask: [one.cuboid(mask) for one in variants] for mask in wanted})
            report(StepProgress("examples", number * draws + draw + 1, len(chosen) * draws))
        found.extend(study.results(draws))
    return found


class _Study:
    """One example and the errors of its estimates so far."""

    def __init__(self, shape: tuple[int, ...], example: Example, wanted: list[int]) -> None:
        self.shape = shape
        self.example = example
        cells = np.zeros(prod(shape))
        filled = round(example.filled * len(cells))
        cells[np.random.default_rng(0).permutation(len(cells))[:filled]] = example.value
        self.truth = cells.reshape(shape)
        self.truths = {mask: self.margin(mask) for mask in wanted}
        self.sums = {mask: np.zeros((len(CHOICES), 5)) for mask in wanted}

    def margin(self, mask: int) -> Floats:
        """The example's values of a cuboid."""
        away = tuple(axis for axis in range(len(self.shape)) if not mask >> axis & 1)
        return np.asarray(self.truth.sum(axis=away))

    def add(self, estimates: Mapping[int, Sequence[Floats | Ints]]) -> None:
        """Count one draw: the estimates of each of :data:`CHOICES`, by cuboid."""
        for mask, variants in estimates.items():
            truth = self.truths[mask]
            empty = truth == 0
            for number, estimate in enumerate(variants):
                error = estimate - truth
                squares = error**2
                self.sums[mask][number] += (
                    _mean(error[empty]),
                    _mean(error[~empty]),
                    _mean(squares[empty]),
                    _mean(squares[~empty]),
                    squares.mean(),
                )

    def results(self, draws: int) -> list[Bias]:
        """The means over all draws."""
        return [self._result(mask, sums / draws) for mask, sums in self.sums.items()]

    def _result(self, mask: int, means: Floats) -> Bias:
        rooted = np.column_stack([means[:, :2], np.sqrt(means[:, 2:])])
        choices = tuple(CellErrors(*row[:4]) for row in rooted.tolist())
        before, after = rooted[:2, 4].tolist()
        cleaned = choices[1]
        return Bias(self.example, mask, cleaned.empty, cleaned.other, before, after, choices)


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else 0.0


def _measured(
    study: _Study, information: Mapping[int, float], noise: Noise, generator: np.random.Generator
) -> dict[int, Measured]:
    sources = {}
    for mask, weight in information.items():
        sides = [study.shape[axis] for axis in members(mask)]
        if noise is Noise.LAPLACE:
            drawn = generator.laplace(size=sides, scale=(2 * weight) ** -0.5)
        else:
            drawn = generator.normal(size=sides, scale=weight**-0.5)
        sources[mask] = Measured(study.margin(mask) + drawn, weight)
    return sources
