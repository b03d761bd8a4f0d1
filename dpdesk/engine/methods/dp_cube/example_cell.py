"""One example cell: what it could be released as, in equally likely values.

The true size is an example that somebody types, never a count of the data.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

import numpy as np

from dpdesk.core.charts import (
    Axis,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.cube_parameters import COUNT, SUM
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.optimal.curves import noise_quantiles
from dpdesk.engine.cubes.settings import Covered
from dpdesk.engine.methods.dp_cube.charts import name_of, unit_of
from dpdesk.engine.methods.dp_cube.design import CubeDesign
from dpdesk.engine.methods.dp_cube.widths import released_width

DOTS = 50
_COLUMNS = 14
_HEADROOM = 1.3
_RELEASED = {
    Covered.RELEASED: "in 95 % of the cases it is released as",
    Covered.WITH_NEGATIVES: "before negative numbers are removed, in 95 % of the cases it is",
    Covered.LEAST_SQUARES: "if tables agreed by least squares, in 95 % of the cases it would be",
}


def example_cell(design: CubeDesign, place: int, size: float) -> ScatterChart:
    """Fifty dots for a cell of the published table at ``place`` that truly holds ``size``.

    Of the first measure; where that is an average, of the count behind it.
    """
    settings, number = design.settings, _told(design)
    channel = design.channels[number]
    place = place if 0 <= place < len(settings.published) else len(settings.published) - 1
    mask, variance = settings.published[place], design.errors[number].variances[place]
    unit, step = unit_of(channel), float(channel.unit)
    values = size + sqrt(variance) * _quantiles(design, mask)
    width = released_width(settings, design.plan, mask, variance, step)
    across, along = _stacked(values)
    cell = msg(
        "a cell of {name_of} that truly holds {number} {unit}",
        name_of=name_of(settings, mask),
        number=_number(size),
        unit=unit,
    )
    return ScatterChart(
        id="cube-example",
        question=msg("What could {cell} be released as?", cell=cell),
        answer=(
            msg(
                "Each dot is one case in {dots}: {released} {number} to {number2} (± "
                "{number3}{share}). The size is your example; nothing was counted.",
                dots=DOTS,
                released=_RELEASED[settings.covered],
                number=_number(size - width),
                number2=_number(size + width),
                number3=_number(width),
                share=_share(width, size),
            )
        ),
        x_axis=Axis("Released value", unit),
        y_axis=Axis("One dot: one case in 50", minimum=0.0, maximum=_top(along), bare=True),
        series=(PointSeries("One case in 50", across, along, look=SeriesStyle.FIRST),),
        table=table_from(
            ["Case", msg("Released value ({unit})", unit=unit), "Chance of less (%)"],
            [
                [number + 1, round(value, 2), round(100 * (number + 0.5) / DOTS, 1)]
                for number, value in enumerate(values.tolist())
            ],
        ),
        x_limit=size,
        x_limit_label=msg("example: {size}", size=_number(size)),
        short="Example cell",
    )


def _told(design: CubeDesign) -> int:
    """The place of the channel whose cells somebody can have an idea of."""
    kinds = [channel.measure.kind for channel in design.channels]
    return next((at for at, kind in enumerate(kinds) if kind in (COUNT, SUM)), 0)


def _quantiles(design: CubeDesign, mask: int) -> Floats:
    """Of the noise, in units of its deviation; normal ones where exact tables are part of it."""
    if design.settings.part is None:
        return noise_quantiles(design.plan, mask, DOTS)
    places = (np.arange(DOTS) + 0.5) / DOTS
    return np.array([NormalDist().inv_cdf(place) for place in places.tolist()])


def _stacked(values: Floats) -> tuple[Floats, Floats]:
    """Dots in columns, one upon the other, as places of a plot."""
    low, high = float(values[0]), float(values[-1])
    width = (high - low) / _COLUMNS or 1.0
    columns = np.minimum(((values - low) / width).astype(np.int64), _COLUMNS - 1)
    heights = np.array([np.count_nonzero(columns[:at] == columns[at]) for at in range(len(values))])
    return low + (columns + 0.5) * width, heights + 0.5


def _top(heights: Floats) -> float:
    """The end of the axis, with room above all dots for what stands beside the line."""
    return float(heights.max()) * _HEADROOM


def _share(width: float, size: float) -> str:
    if size <= 0:
        return ""
    return msg(", {width} of the example", width=format_figure(width / size, "share"))


def _number(value: float) -> str:
    return format_figure(float(value), "number" if abs(value) < 1000 else "count")
