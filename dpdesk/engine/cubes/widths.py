"""The ± of the cells of a cube as they are released: of the noise, and of making numbers whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.widths import half_width, half_widths, rounding_of_cell


def released_width(
    settings: CubeSettings, shape: Sequence[int], mask: int, variance: float, step: float
) -> float:
    """The ± of a cell of a cuboid whose noise has this variance; ``step`` is the grid's.

    It holds for the numbers that are shown unless they are not what least squares give:
    :attr:`~dpdesk.engine.cubes.settings.CubeSettings.covered`.
    """
    return half_width(
        settings.noise, variance + _rounded(settings, shape, mask, variance, step), step
    )


def released_widths(
    settings: CubeSettings, shape: Sequence[int], variances: Sequence[float], step: float
) -> tuple[float, ...]:
    """:func:`released_width` of the published cuboids, in order."""
    return tuple(
        released_width(settings, shape, mask, variance, step)
        for mask, variance in zip(settings.published, variances, strict=True)
    )


def widths_of_lattice(
    settings: CubeSettings, shape: Sequence[int], variances: Floats, step: float
) -> Floats:
    """:func:`released_width` of all cuboids, shape (2^d,); infinite and NaN ones stay."""
    if not settings.integral:
        return half_widths(settings.noise, variances, step)
    added = [_rounded(settings, shape, mask, one, step) for mask, one in enumerate(variances)]
    return half_widths(settings.noise, variances + np.array(added), step)


def rounded(
    settings: CubeSettings, shape: Sequence[int], variances: Sequence[float], step: float
) -> tuple[float, ...]:
    """Variances of the published cuboids with what making numbers whole adds to them."""
    return tuple(
        variance + _rounded(settings, shape, mask, variance, step)
        for mask, variance in zip(settings.published, variances, strict=True)
    )


def _rounded(
    settings: CubeSettings, shape: Sequence[int], mask: int, variance: float, step: float
) -> float:
    if not settings.integral or not variance > 0:
        return 0.0
    inside = [bool(mask >> axis & 1) for axis in range(len(shape))]
    return rounding_of_cell(inside, shape) * step**2
