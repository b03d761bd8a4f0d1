"""The stated ± holds the error of whole-number noise in at least 95 of 100 cases, at any scale."""

from __future__ import annotations

from math import exp, floor, sqrt

import numpy as np
import pytest

from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.widths import half_width

SCALES = [*np.linspace(0.03, 3, 100), *np.linspace(3, 15, 25)]


def probabilities(noise: Noise, scale: float) -> np.ndarray:
    """Of one error, from -k to k; what lies beyond is below 10^-13."""
    values = np.arange(-int(32 * scale) - 6, int(32 * scale) + 7)
    with np.errstate(under="ignore"):
        if noise is Noise.LAPLACE:
            weights = exp(-1 / scale) ** np.abs(values)
        else:
            weights = np.exp(-(values**2) / (2 * scale**2))
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("cells", [1, 2, 3, 4, 8, 16])
def test_the_half_width_of_sums_of_noisy_cells_holds(noise: Noise, cells: int) -> None:
    for scale in SCALES:
        one = probabilities(noise, scale)
        total = one
        for _ in range(cells - 1):
            total = np.convolve(total, one)
        middle = len(total) // 2
        values = np.arange(len(total)) - middle
        variance = float((total * values**2).sum())
        reach = floor(half_width(noise, variance, 1.0))
        covered = total[max(0, middle - reach) : middle + reach + 1].sum()
        assert covered >= 0.95, (scale, variance, reach)


def test_the_step_widens_by_its_own_size() -> None:
    wide, narrow = half_width(Noise.LAPLACE, 400.0, 10.0), half_width(Noise.LAPLACE, 4.0, 1.0)
    assert wide == pytest.approx(10 * narrow)


def test_no_noise_has_no_width() -> None:
    assert half_width(Noise.LAPLACE, 0.0, 5.0) == 0
    assert half_width(Noise.GAUSSIAN, 1e-20, 1.0) <= sqrt(20) * 1e-10
