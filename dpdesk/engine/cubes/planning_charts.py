"""Before a budget is chosen: error against ε for planners side by side, and the ε for an accuracy.

Shares of the budget do not depend on its size, so one plan serves every ε: errors scale with 1/ε,
or with 1/sqrt(ρ). No count of the data is behind any number here.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log10, sqrt

import numpy as np

from dpdesk.core.charts import (
    Axis,
    ChartTable,
    Look,
    PointSeries,
    ScatterChart,
    format_figure,
    table_from,
)
from dpdesk.core.errors import DpdeskError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.cubes.channels import make_channels
from dpdesk.engine.cubes.charts import name_of, unit_of
from dpdesk.engine.cubes.design import CubeDesign, noise_plan
from dpdesk.engine.cubes.errors import expected_errors, half_width
from dpdesk.engine.cubes.lattice import cells, magnification
from dpdesk.engine.cubes.plans import Noise
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.method import Detail, DetailPart

_OTHERS = ("bmax", "all", "base")
_LOOKS = (Look.FIRST, Look.SECOND, Look.THIRD, Look.FOURTH)
_NAMES = {
    "bmax": "BMax",
    "pmost": "PMost",
    "all": "All",
    "base": "Base",
    "exact": "Exact",
    "optimal": "Optimal",
}
_DECADES = 1.0
_PLACES = 13
_DOUBLINGS, _HALVINGS = 24, 11


def error_by_budget(design: CubeDesign, token: CancelToken) -> ScatterChart:
    """The largest error against the budget, a line for each planner. Raises Cancelled."""
    settings = design.settings
    pure = settings.noise is Noise.LAPLACE
    now, sign = float(settings.budget), "ε" if pure else "ρ"
    budgets = now * np.logspace(-_DECADES, _DECADES, _PLACES)
    errors = _largest_errors(design, token)
    lines = {name: error * _scaled(now, budgets, pure) for name, error in errors.items()}
    unit = unit_of(design.channels[0])
    own = _NAMES[settings.planner]
    best = min(errors, key=lambda name: errors[name])
    return ScatterChart(
        id="cube-budgets",
        question=f"How large is the error for which {sign}?",
        answer=_budget_answer(f"{sign} = {now:g}", own, best, errors, unit),
        x_axis=Axis(f"Privacy loss {sign}", "smaller protects more", log=True),
        y_axis=Axis("Largest ± in 95 % of a table's cells", unit, log=True),
        series=(
            *(
                PointSeries(name, budgets, line, look=look, joined=True)
                for look, (name, line) in zip(_LOOKS, lines.items(), strict=False)
            ),
            PointSeries(
                "Chosen",
                np.array([now]),
                np.array([errors[own]]),
                look=Look.FAIL,
                emphasis=True,
                labels=(f"± {_number(errors[own])}",),
            ),
        ),
        table=table_from(
            [sign, *(f"{name}, ± ({unit})" for name in lines)],
            [
                [float(f"{budget:.3g}"), *(float(f"{line[i]:.4g}") for line in lines.values())]
                for i, budget in enumerate(budgets)
            ],
        ),
        short=f"Error by {sign}",
    )


def _budget_answer(at: str, own: str, best: str, errors: dict[str, float], unit: str) -> str:
    said = f"At {at}, {own} has ± {_number(errors[own])} {unit} in its least exact table"
    if best == own or errors[best] > 0.995 * errors[own]:
        return f"{said}; no planner shown here has less."
    return f"{said}; {best} would have ± {_number(errors[best])}."


def _scaled(now: float, budgets: np.ndarray, pure: bool) -> np.ndarray:
    ratio = now / budgets
    return np.asarray(ratio if pure else np.sqrt(ratio))


def _largest_errors(design: CubeDesign, token: CancelToken) -> dict[str, float]:
    """± 95 % of the least exact table at the present budget, by planner; the chosen one first."""
    settings, step = design.settings, float(design.channels[0].unit)

    def widest(variances: tuple[float, ...]) -> float:
        return half_width(settings.noise, max(variances), step)

    found = {_NAMES[settings.planner]: widest(design.errors[0].variances)}
    for planner in _OTHERS:
        if planner == settings.planner:
            continue
        token.check()
        other = replace(settings, planner=planner, residuals=False)
        try:
            plan = noise_plan(other, design.plan.shape, token, silent)
            errors = expected_errors(other, make_channels(other, plan)[0])
        except DpdeskError:
            token.check()
            continue
        found[_NAMES[planner]] = widest(errors.variances)
    return found


def table_names(settings: CubeSettings) -> tuple[str, ...]:
    """The published tables as people read them, in the order of the plan."""
    return tuple(name_of(settings, mask) for mask in settings.published)


def needed_budget(design: CubeDesign, place: int, wanted: float, token: CancelToken) -> Fraction:
    """The least ε or ρ with which 95 % of the cells of a table err by at most ``wanted``.

    ``place`` is the table's among the published ones; rounded up to three digits. Raises
    ValueError for a width that is not above 0 or that no sane budget reaches, Cancelled.
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
        raise ValueError("no sane budget reaches this error")
    for _ in range(_DOUBLINGS):
        if low < high and not reaches(low):
            break
        low, high = low / 2, low if reaches(low) else high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    unit = Fraction(10) ** (floor(log10(high)) - 2)
    return ceil(high / unit) * unit


def _width(design: CubeDesign, place: int, budget: Fraction) -> float:
    """± 95 % of a cell of a table with this budget and the design's plan."""
    settings = replace(design.settings, budget=budget)
    channel = make_channels(settings, design.plan)[0]
    variance = expected_errors(settings, channel).variances[place]
    return half_width(settings.noise, variance, float(channel.unit))


def table_detail(design: CubeDesign, mask: int) -> Detail | None:
    """What is known of a published table before it exists: its error, and where it comes from."""
    settings = design.settings
    if mask not in settings.published:
        return None
    place, unit = settings.published.index(mask), unit_of(design.channels[0])
    variance = design.errors[0].variances[place]
    deviation = sqrt(variance)
    width = half_width(settings.noise, variance, float(design.channels[0].unit))
    name, shape = name_of(settings, mask), design.plan.shape
    own = [source for source in design.plan.sources if source.cuboid == mask]
    share = sum((source.share for source in own), Fraction(0))
    said = "It has noise of its own" if own else "It is computed from other tables"
    numbers = table_from(
        ["Figure", "Value"],
        [
            ["Cells", cells(mask, shape)],
            [f"Standard deviation of a cell ({unit})", round(deviation, 3)],
            [f"± in 95 % of the cells ({unit})", round(width, 3)],
            ["Share of the budget (%)", round(100 * float(share), 3) if own else None],
        ],
    )
    return Detail(
        title=f"How exact is {name}?",
        sentence=f"± {_number(width)} {unit} in 95 % of its cells. {said}.",
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
