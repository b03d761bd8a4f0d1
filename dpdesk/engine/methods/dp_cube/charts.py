"""Charts of a cube's design, before anything is spent: errors by table, and what ε allows.

Everything here comes from the plan; no count of the data is behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Chart,
    ChartTable,
    Figure,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.messages import counted, joined, msg
from dpdesk.engine.cubes.channels import Channel
from dpdesk.engine.cubes.lattice import Floats, cells, members
from dpdesk.engine.cubes.settings import Covered, CubeSettings
from dpdesk.engine.methods.dp_cube.errors import Errors, MeasureErrors
from dpdesk.engine.methods.dp_cube.widths import released_widths
from dpdesk.engine.private.charts import change_figure, loss_figure, odds_bars
from dpdesk.engine.private.guarantee_words import epsilon_of, except_words

TABLES = "cube-tables"


def design_charts(
    settings: CubeSettings, channel: Channel, errors: Errors, measures: Sequence[MeasureErrors]
) -> tuple[Chart, ...]:
    """Errors by table, errors by size where sizes differ, and what a suspicion can become.

    Pictures are of the first channel; the twin of the first has all measures.
    """
    sizes = len({mask.bit_count() for mask in settings.published}) > 1
    return (
        tables_chart(settings, channel, errors, measures),
        *((sizes_chart(settings, channel, errors),) if sizes else ()),
        odds_chart(settings),
    )


def design_figures(
    settings: CubeSettings, channel: Channel, errors: Errors, measures: Sequence[MeasureErrors]
) -> tuple[Figure, ...]:
    """Headline numbers of a design."""
    widths, unit = _widths(settings, channel, errors), unit_of(channel)
    sources = len(channel.plan.sources)
    return (
        loss_figure(settings),
        Figure(
            "largest_error",
            "Largest error, ±",
            max(widths),
            unit=unit,
            better="lower",
            help=msg("Of the least accurate table, {in_cells}.", in_cells=in_cells(settings)),
            headline=True,
            about="loss",
        ),
        Figure(
            "median_error",
            "Typical error, ±",
            float(np.median(widths)),
            unit=unit,
            better="lower",
            help="The same for the median table.",
            about="loss",
        ),
        *_measure_figures(settings, measures),
        Figure("tables", "Tables", len(settings.published), "count"),
        *_change_figure(settings),
        Figure("noise_sources", "Tables with noise of their own", sources, "count"),
    )


def _change_figure(settings: CubeSettings) -> tuple[Figure, ...]:
    """The size of a minimal change beside exact tables; nothing without those."""
    if settings.part is None:
        return ()
    return (
        change_figure(
            settings.part.generic.l1,
            "rows",
            "Rows that must be added or removed together so that no exact number changes; the "
            "noise is made for that many.",
        ),
    )


def several(measures: Sequence[MeasureErrors]) -> Sequence[MeasureErrors]:
    """The measures, where there is more than one or an average."""
    alone = len(measures) == 1 and not measures[0].per_person
    return () if alone else measures


def _measure_figures(
    settings: CubeSettings, measures: Sequence[MeasureErrors]
) -> tuple[Figure, ...]:
    plain = settings.covered is Covered.RELEASED
    which = "the 95 % noise interval" if plain else "the noise interval, before later steps,"
    return tuple(
        _measure_figure(number, one, which) for number, one in enumerate(several(measures))
    )


def _measure_figure(number: int, one: MeasureErrors, which: str) -> Figure:
    return Figure(
        f"largest_error_{number}",
        msg("Largest error of the {measure}, ±", measure=one.name),
        max(one.widths),
        unit=one.unit,
        better="lower",
        help=msg("Half width of {which} in the least accurate table", which=which)
        + (", to be divided by the n people of the cell." if one.per_person else "."),
        headline=True,
        about="loss",
    )


def measures_sentence(measures: Sequence[MeasureErrors]) -> str:
    """The largest error of each of several measures, for a list; empty for one alone."""
    told = joined(
        (
            msg(
                "{measure} ± {width} {unit}",
                measure=one.name,
                width=_number(max(one.widths)),
                unit=one.unit,
            )
            for one in several(measures)
        ),
        ", ",
    )
    averages = any(one.per_person for one in measures)
    return joined([told, "(n: people in the cell)" if averages else ""]) if told else ""


def unit_of(channel: Channel) -> str:
    """Unit of a cell's value."""
    return (
        "people"
        if not channel.measure.column
        else msg("units of {column}", column=channel.measure.column)
    )


def in_cells(settings: CubeSettings) -> str:
    """How often a ± holds, or for which numbers: see :attr:`CubeSettings.covered`."""
    if settings.covered is Covered.LEAST_SQUARES:
        return msg(
            "by least squares, and more by `{consistency}`", consistency=settings.consistency
        )
    if settings.covered is Covered.WITH_NEGATIVES:
        return "in 95 % of its cells before negative numbers are removed"
    return "in 95 % of its cells"


WIDTH_HEADS = {
    Covered.RELEASED: "± 95 %",
    Covered.WITH_NEGATIVES: "± before negative numbers are removed",
    Covered.LEAST_SQUARES: "± by least squares",
}
"""The head of a column of widths: a chance only where it is that of the released numbers."""

WIDTH_AXES = {**WIDTH_HEADS, Covered.RELEASED: "± in 95 % of the cells"}
"""The same for the axis of a chart."""

OFTEN = {
    Covered.RELEASED: "in 95 % of the cells",
    Covered.WITH_NEGATIVES: "before negative numbers are removed",
    Covered.LEAST_SQUARES: "by least squares",
}
"""How often a width holds, or for which numbers, within a sentence."""


def _widths(settings: CubeSettings, channel: Channel, errors: Errors) -> tuple[float, ...]:
    """The ± of the published tables of a channel."""
    return released_widths(settings, channel.plan, errors.variances, float(channel.unit))


def name_of(settings: CubeSettings, mask: int) -> str:
    """A cuboid as people read it."""
    return " × ".join(settings.dimensions[i] for i in members(mask)) or msg("grand total")


def tables_chart(
    settings: CubeSettings, channel: Channel, errors: Errors, measures: Sequence[MeasureErrors]
) -> ScatterChart:
    """Each published table by its dimensions and its error; those with noise apart.

    Exact tables stand in the chart's table alone.
    """
    own = {source.cuboid for source in channel.plan.sources}
    masks = np.array(settings.published)
    noisy = np.array(errors.variances) > 0
    unit, widths = unit_of(channel), _widths(settings, channel, errors)
    worst = int(np.argmax(widths))
    least = _number(min((width for width in widths if width > 0), default=0.0))
    most = msg(
        "{number} {unit} {in_cells}",
        number=_number(widths[worst]),
        unit=unit,
        in_cells=in_cells(settings),
    )
    answer = msg(
        "Largest in {name_of}: ± {most}; smallest ± {least}.",
        name_of=name_of(settings, int(masks[worst])),
        most=most,
        least=least,
    )
    if least == _number(widths[worst]):
        answer = msg("The same in every table with noise: ± {most}.", most=most)
    return ScatterChart(
        id=TABLES,
        question="How large is the error of each table?",
        answer=answer,
        x_axis=Axis("Dimensions of the table", "number", minimum=-0.5, whole=True),
        y_axis=Axis(WIDTH_AXES[settings.covered], unit, log=True),
        series=_table_series(masks[noisy], np.array(widths)[noisy], own),
        table=_tables_twin(settings, channel, errors, measures),
        short="Errors by table",
        opens="its error and its sources",
    )


def _tables_twin(
    settings: CubeSettings, channel: Channel, errors: Errors, measures: Sequence[MeasureErrors]
) -> ChartTable:
    """Each published table with its error, in every measure."""
    own = {source.cuboid for source in channel.plan.sources}
    unit, widths = unit_of(channel), _widths(settings, channel, errors)
    each, head = several(measures), WIDTH_HEADS[settings.covered]
    return table_from(
        [
            *(
                "Table",
                "Cells",
                "Noise",
                msg("Standard deviation ({unit})", unit=unit),
                msg("{width} ({unit})", width=head, unit=unit),
            ),
            *(
                msg("{width}, {measure} ({unit})", width=head, measure=one.name, unit=one.unit)
                for one in each
            ),
        ],
        [
            [
                name_of(settings, mask),
                cells(mask, channel.plan.shape),
                _noise_of(mask, own, channel),
                round(float(np.sqrt(variance)), 3),
                round(widths[place], 3),
                *(round(one.widths[place], 3) for one in each),
            ]
            for place, (mask, variance) in enumerate(
                zip(settings.published, errors.variances, strict=True)
            )
        ],
    )


def _noise_of(mask: int, own: set[int], channel: Channel) -> str:
    if channel.exact is not None and channel.exact.gives(mask):
        return "none: exact"
    return "own" if mask in own else "computed"


def _table_series(
    masks: NDArray[np.int64], widths: Floats, own: set[int]
) -> tuple[PointSeries, ...]:
    """Points of the published tables, those with noise of their own apart."""
    sizes = np.array([int(mask).bit_count() for mask in masks], dtype=np.float64)
    noisy = np.array([int(mask) in own for mask in masks], dtype=bool)
    parts = (
        ("Noise of its own", noisy, SeriesStyle.SECOND),
        ("Computed from others", ~noisy, SeriesStyle.FIRST),
    )
    return tuple(
        PointSeries(
            name,
            sizes[chosen] + _spread(sizes[chosen]),
            widths[chosen],
            masks[chosen].astype(np.int64),
            look,
        )
        for name, chosen, look in parts
        if chosen.any()
    )


def _spread(sizes: Floats) -> Floats:
    """Small shifts so that tables of one size do not lie on each other."""
    shifts = np.zeros(len(sizes))
    for size in np.unique(sizes):
        places = np.flatnonzero(sizes == size)
        if len(places) > 1:
            shifts[places] = np.linspace(-0.35, 0.35, len(places))
    return shifts


def sizes_chart(settings: CubeSettings, channel: Channel, errors: Errors) -> BarChart:
    """The largest and the typical error by number of dimensions."""
    unit = unit_of(channel)
    by_size: dict[int, list[float]] = {}
    for mask, width in zip(settings.published, _widths(settings, channel, errors), strict=True):
        by_size.setdefault(mask.bit_count(), []).append(width)
    order = sorted(by_size)
    largest = [max(by_size[size]) for size in order]
    typical = [float(np.median(by_size[size])) for size in order]
    return BarChart(
        id="cube-sizes",
        question="How does the error grow with the number of dimensions?",
        answer=(
            msg(
                "From ± {number} with {dimensions} to ± {number2} {unit} with "
                "{dimensions2}, at most.",
                number=_number(largest[0]),
                dimensions=_dimensions(order[0]),
                number2=_number(largest[-1]),
                unit=unit,
                dimensions2=_dimensions(order[-1]),
            )
        ),
        category_axis=Axis("Dimensions", "number"),
        value_axis=Axis(WIDTH_AXES[settings.covered], unit, minimum=0.0),
        categories=tuple(str(size) for size in order),
        series=(
            BarSeries(
                "Largest of these tables", tuple(largest), SeriesStyle.REFERENCE, True, bound=True
            ),
            BarSeries("Typical table", tuple(typical), SeriesStyle.FIRST),
        ),
        table=table_from(
            [
                "Dimensions",
                "Tables",
                msg("Largest ± ({unit})", unit=unit),
                msg("Typical ± ({unit})", unit=unit),
            ],
            [
                [size, len(by_size[size]), round(most, 3), round(middle, 3)]
                for size, most, middle in zip(order, largest, typical, strict=True)
            ],
        ),
        short="Errors by size",
    )


def odds_chart(settings: CubeSettings) -> BarChart:
    """What a suspicion about one person can become, for several chances beforehand.

    Assumes that what is known of different persons is independent. Source: membership privacy
    slides, with posterior <= p e^eps / (1 - p + p e^eps).
    """
    subject = "a value of a person" if settings.replace else "a person being in the data"
    about, given = "about one person", "persons are independent"
    if settings.part is not None:
        subject = "one of two data sets that differ by a minimal change"
        about, given = "alongside the exact tables", "nothing else is known exactly"
    return odds_bars(epsilon_of(settings), subject, about, given + except_words(settings))


def _dimensions(count: int) -> str:
    return "no dimension" if count == 0 else counted("{n} dimension", "{n} dimensions", n=count)


def _number(value: float) -> str:
    return format_figure(float(value), "number" if value < 1000 else "count")
