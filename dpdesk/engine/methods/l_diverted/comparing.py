"""Errors of several ways to release, on one pool of queries: the paper's experiments.

Everything here compares with the true counts: it is internal, for anyone who holds the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.schema import Role
from dpdesk.engine.decoys import LARGEST_FIRST, MIXED
from dpdesk.engine.decoys.partition import permutation, row_groups, uniform, value_groups
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.l_diverted.combined import columns_to_draw
from dpdesk.engine.methods.l_diverted.estimation.estimate import iterative_bayes
from dpdesk.engine.methods.l_diverted.estimation.solving import nonnegative_counts
from dpdesk.engine.methods.l_diverted.groups import FullTransition, group_model
from dpdesk.engine.methods.l_diverted.mechanism import divert
from dpdesk.engine.methods.l_diverted.settings import Settings
from dpdesk.engine.noise.laplace import DiscreteLaplace
from dpdesk.engine.querying import Comparison

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource


# Ways to release a sensitive column, and what their releases say of a pool of queries.
#
# Anatomy: Xiao and Tao, 2006. Global randomised response: mechanism A of the l-diverted paper,
# which keeps a value with probability p = 1/ℓ′ and else publishes any other. Laplace noise: every
# query is answered with noise of scale m/ε. All are simulations on the true data, for comparison
# alone.

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
_PIECE = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """A table in codes: ``columns`` of shape (columns, rows), and sensitive codes below ``values``.

    The number of rows must be a multiple of every ℓ′ that is tried; :meth:`cut` sees to that.
    """

    columns: Codes = field(repr=False)
    sensitive: Codes = field(repr=False)
    values: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.sensitive)

    @property
    def largest_group(self) -> int:
        """The largest ℓ′ for which the sensitive column is eligible."""
        return self.rows // int(np.bincount(self.sensitive).max())

    def cut(self, rows: int, generator: np.random.Generator) -> Sample:
        """A random part of the rows, in the same order."""
        kept = np.sort(generator.permutation(self.rows)[:rows])
        return Sample(self.columns[:, kept], self.sensitive[kept], self.values)

    def whole_groups(self, size: int, generator: np.random.Generator) -> Sample:
        """All rows but a random few, so that they make groups of ``size``."""
        return self.cut(self.rows - self.rows % size, generator)

    def matching(self, pool: Codes, values: NDArray[np.int32], token: CancelToken) -> Floats:
        """Matching rows by value for each predicate, shape (predicates, V); raises Cancelled.

        ``values`` has shape (rows,) or (rows, per row).
        """
        from dpdesk.engine.methods.l_diverted.comparing_kernels import count_matching

        each = values if values.ndim == 2 else values[:, None]
        found = np.zeros((len(pool), self.values), np.int64)
        for first in range(0, len(pool), _PIECE):
            token.check()
            part = slice(first, first + _PIECE)
            count_matching(self.columns, pool[part], each, found[part])
        return found.astype(np.float64)


def random_pool(
    sample: Sample, predicates: int, most_columns: int, generator: np.random.Generator
) -> Codes:
    """Predicates on 1 to ``most_columns`` random columns, shape (predicates, columns), −1: any."""
    width = len(sample.columns)
    wanted = np.full((predicates, width), -1, np.int32)
    for query in range(predicates):
        size = int(generator.integers(1, min(most_columns, width) + 1))
        chosen = generator.permutation(width)[:size]
        row = int(generator.integers(sample.rows))
        wanted[query, chosen] = sample.columns[chosen, row]
    return wanted


class Way(Enum):
    """A way to release and to estimate; the value is its name in charts."""

    MIXED = "ℓ′-diverted: mixed groups, all values at once"
    CORRECTED = "ℓ′-diverted: mixed groups, corrected iterative Bayes"
    LARGEST = "ℓ′-diverted: largest-first groups, all values at once"
    PAPER = "ℓ′-diverted as printed in the paper"
    ANATOMY = "Anatomy"
    RESPONSE = "Global randomised response"
    LAPLACE = "Laplace noise on each query"


@dataclass(frozen=True)
class Setting:
    """ℓ′ (also Anatomy's ℓ and 1/p), the queries m that a budget ε is split among."""

    size: int
    queries: int = 100
    epsilon: Fraction = Fraction(1, 20)


def estimates(
    way: Way,
    sample: Sample,
    pool: Codes,
    setting: Setting,
    source: RandomSource,
    token: CancelToken,
) -> Floats:
    """What one release says of every query: shape (predicates, V), rows.

    ``sample`` must be eligible and a multiple of ℓ′. Raises ValueError where it is not, Cancelled.
    """
    return _WAYS[way](sample, pool, setting, source, token)


def _diverted(
    rule: str, solve: Callable[[Floats, Floats, Setting, bool, CancelToken], Floats]
) -> Callable[[Sample, Codes, Setting, RandomSource, CancelToken], Floats]:
    def run(
        sample: Sample, pool: Codes, setting: Setting, source: RandomSource, token: CancelToken
    ) -> Floats:
        published = divert(sample.sensitive, sample.values, setting.size, rule, source, token)
        counts = np.bincount(published, minlength=sample.values)
        seen = np.flatnonzero(counts)
        matching = sample.matching(pool, published, token)
        found = np.zeros_like(matching)
        found[:, seen] = solve(
            matching[:, seen], counts[seen].astype(np.float64), setting, rule == MIXED, token
        )
        return found

    return run


def _all_values(
    matching: Floats, counts: Floats, setting: Setting, mixed: bool, token: CancelToken
) -> Floats:
    model = group_model(counts.astype(np.int64), setting.size, mixed, token)
    matrix = FullTransition(model).matrix
    return np.array([nonnegative_counts(matrix, row) if row.any() else row for row in matching])


def _iterated(as_in_paper: bool) -> Callable[[Floats, Floats, Setting, bool, CancelToken], Floats]:
    def solve(
        matching: Floats, counts: Floats, setting: Setting, mixed: bool, token: CancelToken
    ) -> Floats:
        rows, found = float(counts.sum()), np.zeros_like(matching)
        for query, row in enumerate(matching):
            token.check()
            hits = float(row.sum())
            for value in range(len(counts)):
                pair = np.array([hits - row[value], row[value]])
                both = np.array([rows - counts[value], counts[value]])
                states = iterative_bayes(pair, both, setting.size, as_in_paper=as_in_paper)
                found[query, value] = states[1]
        return found

    return solve


def _anatomy(
    sample: Sample, pool: Codes, setting: Setting, source: RandomSource, token: CancelToken
) -> Floats:
    """|group ∩ P|·count/|group|, summed: each row stands for ℓ values with equal parts."""
    counts = np.bincount(sample.sensitive, minlength=sample.values).astype(np.int64)
    groups = value_groups(counts, setting.size, LARGEST_FIRST, source, token)
    ids = permutation(sample.rows, source, token)
    members = row_groups(sample.sensitive, ids, groups, token)
    of_row = np.empty((sample.rows, setting.size), np.int32)
    for place in range(setting.size):
        of_row[members[:, place]] = groups
    return sample.matching(pool, of_row, token) / setting.size


def _response(
    sample: Sample, pool: Codes, setting: Setting, source: RandomSource, token: CancelToken
) -> Floats:
    keep = uniform(setting.size, sample.rows, source) == 0
    other = uniform(sample.values - 1, sample.rows, source).astype(np.int32)
    other += other >= sample.sensitive
    published = np.where(keep, sample.sensitive, other).astype(np.int32)
    p = 1 / setting.size
    rest = (1 - p) / (sample.values - 1)
    matrix = np.full((sample.values, sample.values), rest)
    np.fill_diagonal(matrix, p)
    matching = sample.matching(pool, published, token)
    return np.array([nonnegative_counts(matrix, row) if row.any() else row for row in matching])


def _laplace(
    sample: Sample, pool: Codes, setting: Setting, source: RandomSource, token: CancelToken
) -> Floats:
    exact = sample.matching(pool, sample.sensitive, token)
    noise = DiscreteLaplace(Fraction(setting.queries) / setting.epsilon)
    return exact + noise.draw(exact.size, source, token).reshape(exact.shape)


_WAYS: dict[Way, Callable[[Sample, Codes, Setting, RandomSource, CancelToken], Floats]] = {
    Way.MIXED: _diverted(MIXED, _all_values),
    Way.CORRECTED: _diverted(MIXED, _iterated(as_in_paper=False)),
    Way.LARGEST: _diverted(LARGEST_FIRST, _all_values),
    Way.PAPER: _diverted(LARGEST_FIRST, _iterated(as_in_paper=True)),
    Way.ANATOMY: _anatomy,
    Way.RESPONSE: _response,
    Way.LAPLACE: _laplace,
}


SELECTIVITIES = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05)
"""Where the paper's bins of selectivity begin; the last one is open."""
SMALL = 10
"""The paper's small counts have fewer rows than this."""
STEP = "Compare ways to release"


@dataclass(frozen=True)
class Trial:
    """One point of a chart to be measured: a way to release, with a setting."""

    way: Way
    setting: Setting


@dataclass(frozen=True, eq=False)
class Measured:
    """Mean relative errors of a trial, over its queries and releases.

    ``by_selectivity`` has one number for each bin of :data:`SELECTIVITIES`, ``small`` is that of
    counts from 1 to 9; NaN where no query is. ``rmse`` is the root mean square error in rows of
    all queries with rows.
    """

    trial: Trial
    by_selectivity: Floats = field(repr=False)
    small: float
    rmse: float


def measure(
    sample: Sample,
    pool: Codes,
    trials: Sequence[Trial],
    releases: int,
    source: RandomSource,
    token: CancelToken,
    report: Report,
) -> tuple[Measured, ...]:
    """Release ``releases`` times for each trial, and compare what is estimated with the truth.

    The sample is cut at random, by less than ℓ′ rows, to make whole groups. Raises ValueError for
    an ℓ′ that the sample is not eligible for, Cancelled.
    """
    cuts: dict[int, tuple[Sample, Floats]] = {}
    found = []
    for done, trial in enumerate(trials):
        report(StepProgress(STEP, done, len(trials)))
        size = trial.setting.size
        if size not in cuts:
            part = sample.whole_groups(size, np.random.default_rng(size))
            cuts[size] = part, part.matching(pool, part.sensitive, token)
        part, truth = cuts[size]
        found.append(_measured(trial, part, pool, truth, releases, source, token))
    report(StepProgress(STEP, len(trials), len(trials)))
    return tuple(found)


def _measured(
    trial: Trial,
    sample: Sample,
    pool: Codes,
    truth: Floats,
    releases: int,
    source: RandomSource,
    token: CancelToken,
) -> Measured:
    held = truth > 0
    errors, squares = np.zeros(truth.shape), 0.0
    for _ in range(releases):
        token.check()
        gap = estimates(trial.way, sample, pool, trial.setting, source, token) - truth
        errors[held] += np.abs(gap[held]) / truth[held]
        squares += float((gap[held] ** 2).mean())
    errors /= releases
    share = truth / sample.rows
    bins = [
        (share >= low) & (share < high)
        for low, high in zip(SELECTIVITIES, (*SELECTIVITIES[1:], 1.1), strict=True)
    ]
    return Measured(
        trial,
        np.array([_mean(errors[inside]) for inside in bins]),
        _mean(errors[held & (truth < SMALL)]),
        float(np.sqrt(squares / releases)),
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


# Ways to release a sensitive column compared on a user's own data: internal, uses the truth.


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
    more = msg(" {series:,} more are only in the table.", series=len(chart.series) - len(kept))
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
    question = msg("Which method says most about {name} at ℓ′ = {size}?", name=name, size=size)
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
        "Root mean square errors of counts of {name}, in rows: {said}. The methods promise "
        "different things: only the errors are compared here.",
        name=name,
        said="; ".join(said),
    )
