"""Before a budget is chosen: planners side by side, and their error against the budget.

No count of the data is behind any number here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    ChartTable,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.cube_parameters import ACCURACY
from dpdesk.core.messages import joined, msg
from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.settings import Covered, CubeSettings
from dpdesk.engine.methods.dp_cube.charts import WIDTH_AXES
from dpdesk.engine.methods.dp_cube.errors import pins_left_out
from dpdesk.engine.methods.dp_cube.planner_errors import NAMES, PlannerErrors
from dpdesk.engine.private.kinds import Noise

BUDGETS, PLANNERS = "cube-budgets", "cube-planners"
MOST_CURVES = 4
_LOOKS = (SeriesStyle.FIRST, SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.FOURTH)
_AT_MOST = "Each ± is at most this: what the single exact cells reveal is left out."
_LARGEST = {
    Covered.RELEASED: "Largest ± in 95 % of a table's cells",
    Covered.WITH_NEGATIVES: "Largest ± before negative numbers are removed",
    Covered.LEAST_SQUARES: "Largest ± by least squares",
}
_ALIKE = 0.005
"""Curves that differ by no more than this part are drawn as one."""


def error_by_budget(
    settings: CubeSettings,
    budgets: Sequence[Fraction],
    found: Sequence[PlannerErrors],
    unit: str,
    *,
    decided: bool,
    coming: Sequence[str] = (),
) -> ScatterChart:
    """The largest error against the budget, a line for each planner; the chosen one first.

    Without a ``decided`` budget there is no line at one. ``coming`` are planners that are still
    being computed.
    """
    sign, now = _sign(settings), float(settings.budget)
    places = np.array([float(budget) for budget in budgets])
    groups = _alike(found)
    shown, hidden = groups[:MOST_CURVES], groups[MOST_CURVES:]
    own = found[0]
    chart = ScatterChart(
        id=BUDGETS,
        question=msg("How large is the error for which {sign}?", sign=sign),
        answer=_sentences(
            _budget_answer(f"{sign} = {now:g}", own, found, unit, decided),
            _bound(settings),
            _left(hidden, coming),
        ),
        x_axis=Axis(msg("Privacy loss {sign}", sign=sign), "smaller protects more", log=True),
        y_axis=Axis(_LARGEST[settings.covered], unit, log=True),
        series=tuple(
            PointSeries(
                _named(group),
                places,
                group[0].curve,
                look=look,
                joined=True,
                labels=_label_at(_named(group), number, len(places)),
            )
            for number, (look, group) in enumerate(zip(_LOOKS, shown, strict=False))
        ),
        table=_budget_table(sign, places, found, unit),
        short=msg("Error by {sign}", sign=sign),
    )
    return _with_lines(chart, sign, now, own.now.largest, unit) if decided else chart


def _with_lines(
    chart: ScatterChart, sign: str, now: float, error: float, unit: str
) -> ScatterChart:
    """Lines at the chosen budget and its error, both of which can be dragged."""
    return replace(
        chart,
        x_limit=now,
        x_limit_label=f"{sign} = {now:g}",
        x_limit_key="epsilon" if sign == "ε" else "rho",
        y_limit=error,
        y_limit_label=msg("± {size} {unit}", size=_number(error), unit=unit),
        y_limit_key=ACCURACY,
    )


def _alike(found: Sequence[PlannerErrors]) -> list[list[PlannerErrors]]:
    """Planners by curves that look the same: the chosen one's first, then the most exact first."""
    groups: list[list[PlannerErrors]] = []
    for one in (found[0], *sorted(found[1:], key=lambda each: each.now.largest)):
        near = (group for group in groups if np.allclose(group[0].curve, one.curve, rtol=_ALIKE))
        group = next(near, None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


def _named(group: Sequence[PlannerErrors]) -> str:
    return " = ".join(one.name for one in group)


def _label_at(name: str, number: int, places: int) -> tuple[str, ...]:
    """The name beside its curve, each at another place so that none lies on the next."""
    at = round((number + 0.6) / (MOST_CURVES + 0.5) * (places - 1))
    return tuple(name if place == at else "" for place in range(places))


def _sentences(*said: str) -> str:
    return joined(said)


def _bound(settings: CubeSettings) -> str:
    """What to say where errors are upper bounds."""
    return _AT_MOST if pins_left_out(settings) else ""


def _left(hidden: Sequence[Sequence[PlannerErrors]], coming: Sequence[str]) -> str:
    said = []
    if hidden:
        names = ", ".join(_named(group) for group in hidden)
        said.append(msg("Not drawn, but in the table: {names}.", names=names))
    if coming:
        said.append(
            msg("Not computed yet: {names}.", names=", ".join(NAMES[name] for name in coming))
        )
    return joined(said)


def _budget_answer(
    at: str, own: PlannerErrors, found: Sequence[PlannerErrors], unit: str, decided: bool
) -> str:
    width = _number(own.now.largest)
    if not decided:
        return msg(
            "Nothing is chosen yet: with {at}, for instance, {planner} would have ± {width} "
            "{unit} in its least exact table.",
            at=at,
            planner=own.name,
            width=width,
            unit=unit,
        )
    said = msg(
        "At {at}, {name} has ± {width} {unit} in its least exact table",
        at=at,
        name=own.name,
        width=width,
        unit=unit,
    )
    best = min(found, key=lambda one: one.now.largest)
    if best is own or best.now.largest > (1 - _ALIKE) * own.now.largest:
        return msg("{said}; no planner shown here has less.", said=said)
    return msg(
        "{said}; {name} would have ± {number}.",
        said=said,
        name=best.name,
        number=_number(best.now.largest),
    )


def _budget_table(
    sign: str, places: Floats, found: Sequence[PlannerErrors], unit: str
) -> ChartTable:
    return table_from(
        [sign, *(msg("{planner}, ± ({unit})", planner=one.name, unit=unit) for one in found)],
        [
            [float(f"{place:.3g}"), *(float(f"{one.curve[row]:.4g}") for one in found)]
            for row, place in enumerate(places.tolist())
        ],
    )


def planners_side_by_side(
    settings: CubeSettings,
    found: Sequence[PlannerErrors],
    unit: str,
    *,
    decided: bool,
    coming: Sequence[str] = (),
) -> BarChart:
    """All planners for one budget: the error of their least exact table and of the middle one."""
    sign = _sign(settings)
    order = sorted(found, key=lambda one: one.now.largest)
    best, own = order[0], found[0]
    at = f"{sign} = {float(settings.budget):g}"
    at = at if decided else msg("{at}, as an example", at=at)
    if best is own:
        said = msg(
            "At {at}, {name}, which is chosen, has the smallest largest error", at=at, name=own.name
        )
    else:
        said = msg(
            "At {at}, {name} has the smallest largest error, ± {number} {unit}; "
            "{name2}, which is chosen, has ± {number2}",
            at=at,
            name=best.name,
            number=_number(best.now.largest),
            unit=unit,
            name2=own.name,
            number2=_number(own.now.largest),
        )
    return BarChart(
        id=PLANNERS,
        question="Which planner is the most exact?",
        answer=_sentences(msg("{said}.", said=said), _bound(settings), _left((), coming)),
        category_axis=Axis("Planner"),
        value_axis=Axis(WIDTH_AXES[settings.covered], unit, minimum=0.0),
        categories=tuple(
            msg("{planner} (chosen)", planner=one.name) if one is own else one.name for one in order
        ),
        series=(
            BarSeries("Least exact table", tuple(one.now.largest for one in order)),
            BarSeries(
                "Table in the middle", tuple(one.now.middle for one in order), SeriesStyle.SECOND
            ),
        ),
        table=table_from(
            ["Planner", msg("Largest ± ({unit})", unit=unit), msg("Middle ± ({unit})", unit=unit)],
            [[one.name, round(one.now.largest, 3), round(one.now.middle, 3)] for one in order],
        ),
        horizontal=True,
        short="Planners",
    )


def _sign(settings: CubeSettings) -> str:
    return "ε" if settings.noise is Noise.LAPLACE else "ρ"


def _number(value: float) -> str:
    return format_figure(float(value), "number" if value < 1000 else "count")
