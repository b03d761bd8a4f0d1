"""From the values of a scatter to what its axes show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import Axis, PointSeries, ScatterChart

_SAME = 1e-6
"""Values that differ by no more than this part are one value, and rounding."""
Floats = NDArray[np.float64]


def finite(one: PointSeries, chart: ScatterChart) -> PointSeries:
    """The drawable points of a series, as logarithms where the axis asks for it."""
    x, y = _scaled_array(one.x, chart.x_axis), _scaled_array(one.y, chart.y_axis)
    good = np.isfinite(x) & np.isfinite(y)
    whole = bool(good.all())
    return PointSeries(
        one.name,
        x if whole else x[good],
        y if whole else y[good],
        one.ids if whole or not one.ids.size else one.ids[good],
        one.look,
        one.stepped,
        one.emphasis,
        one.labels if whole else tuple(np.array(one.labels)[good]) if one.labels else (),
        one.joined,
    )


def _scaled_array(values: Floats, axis: Axis) -> Floats:
    if not axis.log:
        return np.asarray(values, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(values)


def scaled(value: float | None, axis: Axis) -> float | None:
    """A value as the axis has it; None where a logarithm has none."""
    if value is None or not axis.log:
        return value
    return float(np.log10(value)) if value > 0 else None


def span(arrays: Sequence[Floats], axis: Axis, extra: float | None) -> tuple[float, float]:
    """Ends of an axis: as asked, else those of the data with a little air."""
    filled = [array for array in arrays if array.size]
    lows = [float(array.min()) for array in filled] + ([] if extra is None else [extra])
    highs = [float(array.max()) for array in filled] + ([] if extra is None else [extra])
    asked_low, asked_high = scaled(axis.minimum, axis), scaled(axis.maximum, axis)
    low = asked_low if asked_low is not None else min(lows, default=0.0)
    high = asked_high if asked_high is not None else max(highs, default=1.0)
    if high - low <= _SAME * max(abs(low), abs(high), _SAME):
        low, high = low - 0.5 * (abs(low) or 1), low + 0.5 * (abs(low) or 1)
    air = (high - low) * 0.03
    return low - air, high + air
