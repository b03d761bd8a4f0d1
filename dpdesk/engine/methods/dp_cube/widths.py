"""The ± of the cells of a cube as they are released: of the noise, and of making numbers whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpdesk.engine.cubes.lattice import CubePlan, Floats
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.widths import (
    half_width,
    half_widths,
    rounding_does_nothing,
    rounding_of_cell,
)


def released_width(
    settings: CubeSettings, plan: CubePlan, mask: int, variance: float, step: float
) -> float:
    """The ± of a cell of a cuboid whose noise has this variance; ``step`` is the grid's.

    It holds for the numbers that are shown unless they are not what least squares give:
    :attr:`~dpdesk.engine.cubes.settings.CubeSettings.covered`.
    """
    return half_width(
        settings.noise, variance + _rounded(settings, plan, mask, variance, step), step
    )


def released_widths(
    settings: CubeSettings, plan: CubePlan, variances: Sequence[float], step: float
) -> tuple[float, ...]:
    """:func:`released_width` of the published cuboids, in order."""
    return tuple(
        released_width(settings, plan, mask, variance, step)
        for mask, variance in zip(settings.published, variances, strict=True)
    )


def widths_of_lattice(
    settings: CubeSettings, plan: CubePlan, variances: Floats, step: float
) -> Floats:
    """:func:`released_width` of all cuboids, shape (2^d,); infinite and NaN ones stay."""
    if not settings.integral:
        return half_widths(settings.noise, variances, step)
    added = [_rounded(settings, plan, mask, one, step) for mask, one in enumerate(variances)]
    return half_widths(settings.noise, variances + np.array(added), step)


def rounded(
    settings: CubeSettings, plan: CubePlan, variances: Sequence[float], step: float
) -> tuple[float, ...]:
    """Variances of the published cuboids with what making numbers whole adds to them."""
    return tuple(
        variance + _rounded(settings, plan, mask, variance, step)
        for mask, variance in zip(settings.published, variances, strict=True)
    )


def moved_by_rounding(settings: CubeSettings, plan: CubePlan) -> bool:
    """Whether numbers are made whole that were not so before."""
    whole = rounding_does_nothing(len(plan.sources), nonnegative=settings.nonnegative)
    return settings.integral and not whole


def _rounded(
    settings: CubeSettings, plan: CubePlan, mask: int, variance: float, step: float
) -> float:
    if not moved_by_rounding(settings, plan) or not variance > 0:
        return 0.0
    inside = [bool(mask >> axis & 1) for axis in range(len(plan.shape))]
    return rounding_of_cell(inside, plan.shape) * step**2
