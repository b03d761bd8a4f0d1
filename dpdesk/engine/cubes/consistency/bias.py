"""What making a cube non-negative will do to it, told from noise and invented cubes alone.

An example cube is filled with a made-up value in some of its base cells and 0 elsewhere, noise of
the planned variances is drawn many times, and the estimates are compared with the example. The
data are not needed, so a choice made after looking at this costs no budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.consistency.integral import base_cube, nonnegative_cube, whole_cube
from dpdesk.engine.cubes.consistency.residual import Measured, consistent_cube
from dpdesk.engine.cubes.lattice import Floats, members
from dpdesk.engine.cubes.stopping import Ints
from dpdesk.engine.private.kinds import Noise

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
