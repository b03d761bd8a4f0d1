"""Ways to release a sensitive column compared on a user's own data: internal, uses the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.charts import Chart, format_figure
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.rows import CodedColumn, RowSource
from dpdesk.core.schema import Role
from dpdesk.engine.diverted.comparators.experiment import Measured, Trial, measure
from dpdesk.engine.diverted.comparators.figures import (
    SELECTIVITY,
    SIZE,
    lines_chart,
    selectivity_lines,
    size_lines,
    small_lines,
    way_label,
    without_lines,
)
from dpdesk.engine.diverted.comparators.pool import Sample, random_pool
from dpdesk.engine.diverted.comparators.ways import Setting, Way
from dpdesk.engine.diverted.releasing import columns_to_draw
from dpdesk.engine.diverted.settings import Settings
from dpdesk.engine.method import MethodInput

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource

BADGE = "internal: uses the truth"
_MOST_ROWS = 200_000
_MOST_COLUMNS = 12
_MOST_VALUES = 100
_PREDICATES = 120
_CONDITIONS = 3
_SIZES = (2, 3, 5, 7, 10)
_EPSILONS = (Fraction(1, 20), Fraction(1))
_TABLE_ALONE = (Way.CORRECTED, Way.LARGEST)
_ASKED = (Role.QUASI_IDENTIFIER, Role.INSENSITIVE, Role.SENSITIVE)


@dataclass(frozen=True)
class Comparison:
    """What was measured for one sensitive column.

    ``rows`` are those that were used (a part of very large data), ``queries`` the queries with at
    least one row. The charts compare with true counts: they never leave the agency.
    """

    column: str
    size: int
    rows: int
    queries: int
    sentence: str
    charts: tuple[Chart, ...]
    badge: str = BADGE

    def as_json(self) -> dict[str, object]:
        """Plain values; the numbers of the charts as their tables."""
        return {
            "column": self.column,
            "l": self.size,
            "rows": self.rows,
            "queries": self.queries,
            "sentence": self.sentence,
            "badge": self.badge,
            "charts": [
                {
                    "question": chart.question,
                    "columns": list(chart.table.columns),
                    "rows": [list(row) for row in chart.table.rows],
                }
                for chart in self.charts
            ],
        }


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
            f"{given.where}: no column with 2 to {_MOST_VALUES} values is left to ask for.",
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
    question = f"Which way tells most of {name} at ℓ′ = {size}?"
    left_out = [way_label(each) for each in ways if each.trial.way in _TABLE_ALONE]
    return (
        without_lines(
            lines_chart(f"ways-{name}", question, SELECTIVITY, lines, log=True), left_out
        ),
        lines_chart(
            f"sizes-{name}",
            f"What does a larger ℓ′ cost in queries on {name}?",
            SIZE,
            size_lines(mixed),
        ),
        lines_chart(
            f"small-{name}",
            f"How wrong are counts of {name} below 10?",
            SIZE,
            small_lines(groups),
            log=True,
        ),
    )


def _sentence(name: str, ways: Sequence[Measured]) -> str:
    said = [f"{way_label(each)} {format_figure(each.rmse, 'number')}" for each in ways]
    return (
        f"Root mean square errors of counts of {name}, in rows: {'; '.join(said)}. The ways "
        "promise different things: only the errors are compared here."
    )
