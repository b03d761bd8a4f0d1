"""What making a cube non-negative will do to it, told from noise and invented cubes alone.

An example cube is filled with a made-up value in some of its base cells and 0 elsewhere, noise of
the planned variances is drawn many times, and the two estimates are compared with the example. The
data are not needed, so a choice made after looking at this costs no budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.engine.cubes.consistency.integral import nonnegative_cube
from dpdesk.engine.cubes.consistency.residual import Measured, consistent_cube
from dpdesk.engine.cubes.lattice import Floats, members
from dpdesk.engine.cubes.plans import Noise

MOST_EXAMPLE_CELLS = 100_000
"""Base cells beyond which examples would take too long."""

DRAWS = 20
"""Draws of the noise for each example."""


@dataclass(frozen=True)
class Example:
    """An invented cube: this share of the base cells holds ``value``, the others 0."""

    filled: float
    value: float


@dataclass(frozen=True)
class Bias:
    """Mean effect of non-negativity on the cells of one cuboid of one example.

    ``empty`` and ``other`` are the mean error of cells that are truly 0 and of all others (0 where
    there are none); without the choice both are 0 but for the draws. ``error_before`` and
    ``error_after`` are the root of the mean squared error of all cells.
    """

    example: Example
    cuboid: int
    empty: float
    other: float
    error_before: float
    error_after: float


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
            f"The base cuboid has {prod(shape):,} cells; the bias is simulated for at most "
            f"{MOST_EXAMPLE_CELLS:,}.",
            hint="Look at the bias of a cube with fewer dimensions and the same noise.",
        )
    token = token or CancelToken()
    wanted, chosen = list(cuboids), list(examples)
    found = []
    for number, example in enumerate(chosen):
        study = _Study(shape, example, wanted)
        generator = np.random.default_rng(number)
        for draw in range(draws):
            noisy = _measured(study, own, noise, generator)
            extra = _measured(study, residuals or {}, noise, generator)
            cube = consistent_cube(shape, noisy, extra, token=token)
            after = nonnegative_cube(cube, token)
            study.add({mask: (cube.cuboid(mask), after.cuboid(mask)) for mask in wanted})
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
        self.sums = {mask: np.zeros((4,)) for mask in wanted}

    def margin(self, mask: int) -> Floats:
        """The example's values of a cuboid."""
        away = tuple(axis for axis in range(len(self.shape)) if not mask >> axis & 1)
        return np.asarray(self.truth.sum(axis=away))

    def add(self, estimates: Mapping[int, tuple[Floats, Floats]]) -> None:
        """Count one draw: (least squares, non-negative) by cuboid."""
        for mask, (before, after) in estimates.items():
            truth = self.margin(mask)
            error = after - truth
            empty = truth == 0
            self.sums[mask] += (
                error[empty].mean() if empty.any() else 0.0,
                error[~empty].mean() if not empty.all() else 0.0,
                ((before - truth) ** 2).mean(),
                (error**2).mean(),
            )

    def results(self, draws: int) -> list[Bias]:
        """The means over all draws."""
        return [Bias(self.example, mask, *_row(sums / draws)) for mask, sums in self.sums.items()]


def _row(means: Floats) -> tuple[float, float, float, float]:
    empty, other, before, after = means.tolist()
    return empty, other, before**0.5, after**0.5


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
