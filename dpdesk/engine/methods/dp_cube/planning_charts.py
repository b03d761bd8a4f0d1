"""Before a budget is chosen: the ε for an accuracy, and what is known of a table.

Shares of the budget do not depend on its size, so one plan serves every ε. No count of the data is
behind any number here.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log10, sqrt

from dpdesk.core.charts import Cell, ChartTable, format_figure, table_from
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.channels import make_channels
from dpdesk.engine.cubes.lattice import cells, magnification
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.method import Detail, DetailPart
from dpdesk.engine.methods.dp_cube.charts import WIDTH_AXES, in_cells, name_of, several, unit_of
from dpdesk.engine.methods.dp_cube.design import CubeDesign
from dpdesk.engine.methods.dp_cube.errors import pins_left_out, released_variances
from dpdesk.engine.methods.dp_cube.widths import moved_by_rounding, released_width, released_widths
from dpdesk.engine.private.kinds import Noise

_DOUBLINGS, _HALVINGS = 24, 11


def table_names(settings: CubeSettings) -> tuple[str, ...]:
    """The published tables as people read them, in the order of the plan."""
    return tuple(name_of(settings, mask) for mask in settings.published)


def needed_budget(design: CubeDesign, place: int, wanted: float, token: CancelToken) -> Fraction:
    """The least ε or ρ with which 95 % of the cells of a table err by at most ``wanted``.

    ``place`` is the table's among the published ones, -1 for the least exact of all; rounded up to
    three digits. Somewhat more than the least where there are many single exact cells
    (:func:`pins_left_out`). Raises ValueError for a width that is not above 0, RefusedError
    ``cube.accuracy`` for one that no sane budget reaches, Cancelled.
    """
    if not wanted > 0:
        raise ValueError("the wanted error must be above 0")

    def reaches(budget: Fraction) -> bool:
        token.check()
        return _width(design, place, budget) <= wanted

    low = high = design.settings.budget
    for _ in range(_DOUBLINGS):
        if reaches(high):
            break
        low, high = high, high * 2
    else:
        raise _unreachable(design, place, high)
    for _ in range(_DOUBLINGS):
        if low < high and not reaches(low):
            break
        low, high = low / 2, low if reaches(low) else high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    unit = Fraction(10) ** (floor(log10(high)) - 2)
    return ceil(high / unit) * unit


def _unreachable(design: CubeDesign, place: int, budget: Fraction) -> RefusedError:
    sign = "ε" if design.settings.noise is Noise.LAPLACE else "ρ"
    unit, least = unit_of(design.channels[0]), _number(_width(design, place, budget))
    said = msg("No {sign} up to {budget:.3g} reaches this error", sign=sign, budget=float(budget))
    if moved_by_rounding(design.settings, design.plan):
        said = msg(
            "No {sign} reaches this error: making numbers whole alone adds ± {least} {unit}",
            sign=sign,
            least=least,
            unit=unit,
        )
    return RefusedError("cube.accuracy", msg("{said}.", said=said), hint="Type a larger error.")


def _width(design: CubeDesign, place: int, budget: Fraction) -> float:
    """± 95 % of a cell of a table with this budget and the design's plan."""
    settings = replace(design.settings, budget=budget)
    channel = make_channels(settings, design.plan)[0]
    variances = released_variances(settings, channel, pinned=not pins_left_out(settings))
    widths = released_widths(settings, channel.plan, variances, float(channel.unit))
    return max(widths) if place < 0 else widths[place]


def table_detail(design: CubeDesign, mask: int) -> Detail | None:
    """What is known of a published table before it exists: its error, and where it comes from."""
    settings = design.settings
    if mask not in settings.published:
        return None
    place, unit = settings.published.index(mask), unit_of(design.channels[0])
    variance = design.errors[0].variances[place]
    deviation = sqrt(variance)
    name, shape = name_of(settings, mask), design.plan.shape
    width = released_width(settings, design.plan, mask, variance, float(design.channels[0].unit))
    own = [source for source in design.plan.sources if source.cuboid == mask]
    share = sum((source.share for source in own), Fraction(0))
    said = "It has noise of its own" if own else "It is computed from other tables"
    measures: list[list[Cell]] = [
        [
            msg("± of the {measure} ({unit})", measure=one.name, unit=one.unit),
            round(one.widths[place], 3),
        ]
        for one in several(design.measures)
    ]
    numbers = table_from(
        ["Figure", "Value"],
        [
            ["Cells", cells(mask, shape)],
            [msg("Standard deviation of a cell ({unit})", unit=unit), round(deviation, 3)],
            [
                msg("{width} ({unit})", width=WIDTH_AXES[settings.covered], unit=unit),
                round(width, 3),
            ],
            *measures,
            ["Share of the budget (%)", round(100 * float(share), 3) if own else None],
        ],
    )
    return Detail(
        title=msg("How exact is {table}?", table=name),
        sentence=msg(
            "± {width} {unit} {often}. {said}.",
            width=_number(width),
            unit=unit,
            often=in_cells(settings),
            said=said,
        ),
        parts=(
            DetailPart("Error", numbers),
            DetailPart("Computed from", _sources(design, mask), _SOURCES_NOTE),
        ),
        confidential=False,
    )


_SOURCES_NOTE = (
    "Tables with noise that hold all dimensions of this one; the fewer of their cells are added "
    "up, the more they tell."
)


def _sources(design: CubeDesign, mask: int) -> ChartTable:
    shape = design.plan.shape
    holding = [source for source in design.plan.sources if not mask & ~source.cuboid]
    order = sorted(holding, key=lambda source: magnification(mask, source.cuboid, shape))
    return table_from(
        ["Table with noise", "Cells added up", "Share of the budget"],
        [
            [
                name_of(design.settings, source.cuboid),
                magnification(mask, source.cuboid, shape),
                format_figure(float(source.share), "share"),
            ]
            for source in order
        ],
    )


def _number(value: float) -> str:
    return format_figure(float(value), "number" if value < 1000 else "count")
