"""What “No negative numbers” and “Whole numbers” would do, before anybody chooses them.

Simulated with noise alone on invented tables, so that choosing after a look costs no budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10, prod, sqrt

import numpy as np

from dpdesk.core.charts import (
    Axis,
    ChartTable,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.cube_parameters import AVERAGE
from dpdesk.core.messages import joined, msg
from dpdesk.engine.cubes.channels import Channel
from dpdesk.engine.cubes.consistency.bias import (
    MOST_EXAMPLE_CELLS,
    Bias,
    CellErrors,
    Example,
)
from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.methods.dp_cube.charts import unit_of
from dpdesk.engine.methods.dp_cube.design import CubeDesign

BIAS = "cube-bias"
FILLED = 0.2
"""Share of the base cells that hold somebody in the invented tables."""

_MULTIPLES = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
_DRAWN_CELLS = 40_000
_MOST_DRAWS, _LEAST_DRAWS = 200, 4
_ASSUMED = "Assumes an invented table: one cell in five holds this many, the others nothing."


@dataclass(frozen=True)
class BiasStudy:
    """What to simulate: all of it follows from the settings. Sizes are in steps of the measure."""

    shape: tuple[int, ...]
    own: tuple[tuple[int, float], ...]
    residuals: tuple[tuple[int, float], ...]
    sizes: tuple[float, ...]
    draws: int


def study_of(design: CubeDesign) -> BiasStudy | None:
    """The simulation of a design; None where the choice is not offered or nothing is known.

    It needs least squares, a noise source with all dimensions, and at most
    :data:`~dpdesk.engine.cubes.consistency.bias.MOST_EXAMPLE_CELLS` base cells.
    """
    channel, shape = design.channels[0], design.plan.shape
    base = (1 << len(shape)) - 1
    sources = {source.cuboid for source in design.plan.sources}
    if design.settings.consistency != "l2" or base not in sources or not _offered(design):
        return None
    if prod(shape) > MOST_EXAMPLE_CELLS or base not in design.settings.published:
        return None
    draws = max(_LEAST_DRAWS, min(_MOST_DRAWS, _DRAWN_CELLS // prod(shape)))
    return BiasStudy(
        shape,
        _filled(channel.own_information()),
        _filled(channel.residual_information()),
        _sizes(sqrt(_base_variance(design)) / float(channel.unit)),
        draws,
    )


def _offered(design: CubeDesign) -> bool:
    """Whether the settings may ask for it: counts, and sums of values of 0 or more, none exact."""
    return design.settings.part is None and all(
        one.kind != AVERAGE and one.lower >= 0 and one.step.denominator == 1
        for one in design.settings.measures
    )


def _base_variance(design: CubeDesign) -> float:
    base = (1 << len(design.plan.shape)) - 1
    return design.errors[0].variances[design.settings.published.index(base)]


def _filled(information: Floats) -> tuple[tuple[int, float], ...]:
    return tuple((int(mask), float(information[mask])) for mask in np.flatnonzero(information))


def _sizes(deviation: float) -> tuple[float, ...]:
    """Round sizes up to some standard deviations, whole ones: nobody is half a person."""
    found = {max(1.0, _rounded(deviation * times)) for times in _MULTIPLES}
    return tuple(sorted(found))


def _rounded(value: float) -> float:
    if value < 1:
        return 1.0
    places = max(0, int(log10(value)) - 1)
    return float(round(value, -places))


def examples_of(study: BiasStudy) -> list[Example]:
    """The invented tables, one for each size."""
    return [Example(FILLED, size) for size in study.sizes]


def bias_chart(design: CubeDesign, found: Sequence[Bias]) -> ScatterChart:
    """Mean and typical error of a base cell by its true size, with and without the choices."""
    channel = design.channels[0]
    unit, step = unit_of(channel), float(channel.unit)
    sizes = np.array([each.example.value for each in found]) * step
    cleaned = [each.choices[1] for each in found]
    off = np.array([each.other for each in cleaned]) * step
    empty = np.array([each.empty for each in cleaned]) * step
    typical = np.array([each.spread_other for each in cleaned]) * step
    without = np.full(len(found), sqrt(_base_variance(design)))
    names = (
        "Bias of cells of this size",
        "Bias of empty cells",
        "Typical error with it",
        "Typical error without",
    )
    looks = (SeriesStyle.FIRST, SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.REFERENCE)
    curves = (off, empty, typical, without)
    return ScatterChart(
        id=BIAS,
        question="What would “No negative numbers” do to the cells?",
        answer=joined([_answer(design, found, channel), _ASSUMED]),
        x_axis=Axis("True size of the filled cells of an invented table", unit, minimum=0.0),
        y_axis=Axis("Error of a cell of the finest table", unit),
        series=tuple(
            PointSeries(
                name,
                sizes,
                curve,
                look=look,
                joined=True,
                labels=_named_at(name, place, len(sizes)),
            )
            for place, (name, curve, look) in enumerate(zip(names, curves, looks, strict=True))
        ),
        table=_table(found, unit, step),
        short="Bias",
    )


def _named_at(name: str, place: int, count: int) -> tuple[str, ...]:
    """Names beside the curves, each at another place so that none lies on the next."""
    at = round((0.5, 0.65, 0.15, 0.85)[place] * (count - 1))
    return tuple(name if number == at else "" for number in range(count))


def _answer(design: CubeDesign, found: Sequence[Bias], channel: Channel) -> str:
    """The mean error of small cells, and the typical one, with and without."""
    middle = found[len(found) // 2]
    size, step = middle.example.value * float(channel.unit), float(channel.unit)
    cleaned = middle.choices[1]
    choice = (
        "With “No negative numbers”"
        if design.settings.nonnegative
        else "If you choose “No negative numbers”"
    )
    after, before = cleaned.spread_other * step, sqrt(_base_variance(design))
    return msg(
        "{choice}, empty cells come out {empty} too large on average and cells "
        "of {size} {unit} {less} (typical error {after} instead of "
        "{before}). “Whole numbers” adds no bias.",
        choice=choice,
        empty=_number(cleaned.empty * step),
        size=_number(size),
        unit=unit_of(channel),
        less=_less(cleaned.other * step),
        after=_number(after),
        before=_number(before),
    )


def _less(value: float) -> str:
    return msg(
        "{number} too {value}", number=_number(abs(value)), value="small" if value < 0 else "large"
    )


def _table(found: Sequence[Bias], unit: str, step: float) -> ChartTable:
    words = ("as they are", "no negative numbers", "whole numbers", "both")
    heads = [msg("True size ({unit})", unit=unit)]
    for choice in words:
        heads += [
            msg("Bias, empty cells: {choice}", choice=choice),
            msg("Bias: {choice}", choice=choice),
            msg("Typical error: {choice}", choice=choice),
        ]
    return table_from(heads, [_row(each, step) for each in found])


def _row(found: Bias, step: float) -> list[float]:
    row = [found.example.value * step]
    for choice in found.choices:
        row += [_three(value * step) for value in _figures(choice)]
    return row


def _figures(choice: CellErrors) -> tuple[float, float, float]:
    return choice.empty, choice.other, choice.spread_other


def _three(value: float) -> float:
    return float(f"{value:.3g}")


def _number(value: float) -> str:
    return format_figure(_three(value), "number")
