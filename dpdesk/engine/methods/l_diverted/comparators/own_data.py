"""Ways to release a sensitive column compared on a user's own data: internal, uses the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.charts import (
    Axis,
    Chart,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import CodedColumn, RowSource
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.schema import Role
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.l_diverted.combined import columns_to_draw
from dpdesk.engine.methods.l_diverted.comparators.experiment import (
    SELECTIVITIES,
    Floats,
    Measured,
    Sample,
    Setting,
    Trial,
    Way,
    measure,
    random_pool,
)
from dpdesk.engine.methods.l_diverted.settings import Settings
from dpdesk.engine.querying import Comparison

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource


Line = tuple[Floats, Floats]
_LOOKS = (
    SeriesStyle.FIRST,
    SeriesStyle.SECOND,
    SeriesStyle.THIRD,
    SeriesStyle.FOURTH,
    SeriesStyle.FAIL,
    SeriesStyle.REFERENCE,
)
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
            (
                x_axis.label,
                *(msg("{file}: {note}", file=label, note=_ERROR.lower()) for label in kept),
            ),
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
    more = msg(" {series:,} more are in the table alone.", series=len(chart.series) - len(kept))
    return replace(chart, series=looks, answer=chart.answer + (more if names else ""))


def _at(line: Line, place: float) -> float | None:
    found = np.flatnonzero(line[0] == place)
    return round(float(line[1][found[0]]), 4) if len(found) else None


def _answer(lines: Mapping[str, Line]) -> str:
    if not lines:
        return "No query of the pool is of this kind."
    ends = sorted((float(y[-1]), label) for label, (_, y) in lines.items())
    said = [
        msg("{label} with {error}", label=label, error=format_figure(error, "share"))
        for error, label in ends
    ]
    if len(said) == 1:
        return msg("At the right end: {said}.", said=said[0])
    return msg(
        "At the right end the smallest error: {said}; the largest: {said2}.",
        said=said[0],
        said2=said[-1],
    )


def selectivity_lines(measured: Sequence[Measured], labels: Sequence[str]) -> dict[str, Line]:
    """One line for each trial: error by selectivity."""
    x = np.array(SELECTIVITIES)
    return {label: (x, each.by_selectivity) for label, each in zip(labels, measured, strict=True)}


def size_lines(measured: Sequence[Measured]) -> dict[str, Line]:
    """One line for each bin of selectivity: error by ℓ′."""
    sizes = np.array([float(each.trial.setting.size) for each in measured])
    errors = np.array([each.by_selectivity for each in measured])
    names = [f"selectivity {low:.1%}" for low in SELECTIVITIES]
    names = [msg("{name} and more", name=name) if name is names[-1] else name for name in names]
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


def way_label(measured: Measured) -> str:
    """The way of a trial, with ε where it has one."""
    trial = measured.trial
    if trial.way is not Way.LAPLACE:
        return str(trial.way.value)
    return f"{trial.way.value}, ε = {_plain(trial.setting.epsilon)}, m = {trial.setting.queries}"


def _plain(number: Fraction) -> str:
    return f"{float(number):g}"


_MOST_ROWS = 200_000
_MOST_COLUMNS = 12
_MOST_VALUES = 100
_PREDICATES = 120
_CONDITIONS = 3
_SIZES = (2, 3, 5, 7, 10)
_EPSILONS = (Fraction(1, 20), Fraction(1))
_TABLE_ALONE = (Way.CORRECTED, Way.LARGEST)
_ASKED = (Role.QUASI_IDENTIFIER, Role.INSENSITIVE, Role.SENSITIVE)


def compare_on_own_data(
    given: MethodInput,
    rows: RowSource,
    source: RandomSource,
    token: CancelToken,
    report: Report,
    releases: int = 2,
) -> tuple[Comparison, ...]:
    """Compare ways to release each sensitive column of a plan, on random queries.

    ``given`` is the plan's input; a predicate asks for values of up to three released columns that
    are not drawn and have at most 100 values. Nothing is released or kept. Raises RefusedError
    ``compare.columns``, what eligibility raises for too frequent values, InputError, Cancelled.
    """
    settings = Settings.from_parameters(given.parameters)
    drawn = settings.diverted(given.roles)
    asked = [name for name, role in given.roles.items() if role in _ASKED and name not in drawn]
    columns = _usable(rows, asked, token)
    if not columns:
        raise RefusedError(
            "compare.columns",
            msg(
                "{where}: no column with 2 to {most} values is left to ask for.",
                where=given.where,
                most=_MOST_VALUES,
            ),
            hint="Queries combine the sensitive column with other released columns.",
        )
    found = []
    for column in columns_to_draw(given, settings, rows, token):
        sample = _sample(columns, column)
        found.append(_compared(column.name, sample, settings.l, source, token, report, releases))
    return tuple(found)


def _usable(rows: RowSource, names: Sequence[str], token: CancelToken) -> list[CodedColumn]:
    found: list[CodedColumn] = []
    for name in names:
        if len(found) < _MOST_COLUMNS:
            (column,) = rows.coded_columns([name], token)
            if 2 <= len(column.domain) <= _MOST_VALUES:
                found.append(column)
    return found


def _sample(columns: Sequence[CodedColumn], sensitive: CodedColumn) -> Sample:
    """The rows, or every so-many-th of very many, so that a comparison ends in seconds."""
    step = -(-len(sensitive.codes) // _MOST_ROWS)
    table = np.array([column.codes[::step] for column in columns], np.int32)
    return Sample(table, sensitive.codes[::step].astype(np.int32), len(sensitive.domain))


def _compared(
    name: str,
    sample: Sample,
    size: int,
    source: RandomSource,
    token: CancelToken,
    report: Report,
    releases: int,
) -> Comparison:
    pool = random_pool(sample, _PREDICATES, _CONDITIONS, np.random.default_rng())
    setting = Setting(size)
    trials = [Trial(way, setting) for way in Way if way is not Way.LAPLACE]
    trials += [Trial(Way.LAPLACE, replace(setting, epsilon=each)) for each in _EPSILONS]
    sizes = sorted({each for each in (*_SIZES, size) if each <= sample.largest_group})
    trials += [Trial(way, Setting(each)) for way in (Way.MIXED, Way.PAPER) for each in sizes]
    measured = measure(sample, pool, trials, releases, source, token, report)
    ways, rest = measured[: -2 * len(sizes)], measured[-2 * len(sizes) :]
    return Comparison(
        name,
        size,
        sample.rows,
        int((sample.matching(pool, sample.sensitive, token) > 0).sum()),
        _sentence(name, ways),
        _charts(name, size, ways, rest[: len(sizes)], rest[len(sizes) :]),
    )


def _charts(
    name: str,
    size: int,
    ways: Sequence[Measured],
    mixed: Sequence[Measured],
    paper: Sequence[Measured],
) -> tuple[Chart, ...]:
    lines = selectivity_lines(ways, [way_label(each) for each in ways])
    groups = {Way.MIXED.value: mixed, Way.PAPER.value: paper}
    question = msg("Which way says most about {name} at ℓ′ = {size}?", name=name, size=size)
    left_out = [way_label(each) for each in ways if each.trial.way in _TABLE_ALONE]
    return (
        without_lines(
            lines_chart(f"ways-{name}", question, SELECTIVITY, lines, log=True), left_out
        ),
        lines_chart(
            f"sizes-{name}",
            msg("What does a larger ℓ′ cost in queries on {name}?", name=name),
            SIZE,
            size_lines(mixed),
        ),
        lines_chart(
            f"small-{name}",
            msg("How wrong are counts of {name} below 10?", name=name),
            SIZE,
            small_lines(groups),
            log=True,
        ),
    )


def _sentence(name: str, ways: Sequence[Measured]) -> str:
    said = [f"{way_label(each)} {format_figure(each.rmse, 'number')}" for each in ways]
    return msg(
        "Root mean square errors of counts of {name}, in rows: {said}. The ways "
        "promise different things: only the errors are compared here.",
        name=name,
        said="; ".join(said),
    )
