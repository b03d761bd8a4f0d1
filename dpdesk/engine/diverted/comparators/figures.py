"""Charts of measured errors: the paper's figures, and the comparison on a user's own data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpdesk.core.charts import Axis, Look, PointSeries, ScatterChart, format_figure, table_from
from dpdesk.engine.diverted.comparators.experiment import SELECTIVITIES, Measured
from dpdesk.engine.diverted.comparators.pool import Floats
from dpdesk.engine.diverted.comparators.ways import Way

Line = tuple[Floats, Floats]
_LOOKS = (Look.FIRST, Look.SECOND, Look.THIRD, Look.FOURTH, Look.FAIL, Look.REFERENCE)
_ERROR = "Mean relative error"
SIZE = Axis("ℓ′", "values in a group", whole=True)
SELECTIVITY = Axis("Selectivity of the query, at least", percent=True)


def lines_chart(
    name: str, question: str, x_axis: Axis, lines: Mapping[str, Line], *, log: bool = False
) -> ScatterChart:
    """Mean relative errors as lines; what was not measured (NaN) is left out.

    ``log`` is for errors of very different sizes.
    """
    kept = {label: (x[np.isfinite(y)], y[np.isfinite(y)]) for label, (x, y) in lines.items()}
    kept = {label: line for label, line in kept.items() if len(line[0])}
    return ScatterChart(
        id=name,
        question=question,
        answer=_answer(kept),
        x_axis=x_axis,
        y_axis=Axis(_ERROR, percent=True, log=log, minimum=None if log else 0.0),
        series=tuple(
            PointSeries(label, x, y, look=_LOOKS[place % len(_LOOKS)], joined=True)
            for place, (label, (x, y)) in enumerate(kept.items())
        ),
        table=table_from(
            (x_axis.label, *(f"{label}: {_ERROR.lower()}" for label in kept)),
            [
                (place, *(_at(line, place) for line in kept.values()))
                for place in sorted({float(each) for x, _ in kept.values() for each in x})
            ],
        ),
        short=question.rstrip("?"),
    )


def without_lines(chart: ScatterChart, names: Sequence[str]) -> ScatterChart:
    """A picture without some of its lines, so that the others differ; the table has all."""
    kept = [one for one in chart.series if one.name not in names]
    looks = tuple(replace(one, look=_LOOKS[n % len(_LOOKS)]) for n, one in enumerate(kept))
    more = f" {len(chart.series) - len(kept):,} more are in the table alone."
    return replace(chart, series=looks, answer=chart.answer + (more if names else ""))


def _at(line: Line, place: float) -> float | None:
    found = np.flatnonzero(line[0] == place)
    return round(float(line[1][found[0]]), 4) if len(found) else None


def _answer(lines: Mapping[str, Line]) -> str:
    if not lines:
        return "No query of the pool is of this kind."
    ends = sorted((float(y[-1]), label) for label, (_, y) in lines.items())
    said = [f"{label} with {format_figure(error, 'share')}" for error, label in ends]
    if len(said) == 1:
        return f"At the right end: {said[0]}."
    return f"At the right end the smallest error: {said[0]}; the largest: {said[-1]}."


def selectivity_lines(measured: Sequence[Measured], labels: Sequence[str]) -> dict[str, Line]:
    """One line for each trial: error by selectivity."""
    x = np.array(SELECTIVITIES)
    return {label: (x, each.by_selectivity) for label, each in zip(labels, measured, strict=True)}


def size_lines(measured: Sequence[Measured]) -> dict[str, Line]:
    """One line for each bin of selectivity: error by ℓ′."""
    sizes = np.array([float(each.trial.setting.size) for each in measured])
    errors = np.array([each.by_selectivity for each in measured])
    names = [f"selectivity {low:.1%}" for low in SELECTIVITIES]
    names = [f"{name} and more" if name is names[-1] else name for name in names]
    return {name: (sizes, errors[:, place]) for place, name in enumerate(names)}


def small_lines(groups: Mapping[str, Sequence[Measured]]) -> dict[str, Line]:
    """One line for each group of trials: error of counts below 10 by ℓ′."""
    return {
        label: (
            np.array([float(each.trial.setting.size) for each in measured]),
            np.array([each.small for each in measured]),
        )
        for label, measured in groups.items()
    }


def query_lines(groups: Mapping[str, Sequence[Measured]], place: int) -> dict[str, Line]:
    """One line for each group of trials: error of a bin of selectivity by the number m."""
    return {
        label: (
            np.array([float(each.trial.setting.queries) for each in measured]),
            np.array([each.by_selectivity[place] for each in measured]),
        )
        for label, measured in groups.items()
    }


def way_label(measured: Measured) -> str:
    """The way of a trial, with ε where it has one."""
    trial = measured.trial
    if trial.way is not Way.LAPLACE:
        return str(trial.way.value)
    return f"{trial.way.value}, ε = {_plain(trial.setting.epsilon)}, m = {trial.setting.queries}"


def _plain(number: Fraction) -> str:
    return f"{float(number):g}"
