"""The release of drawn rows: decided from settings, then drawn with the receipt of a debit.

What is decided follows from the settings, the names of columns and the number of rows, so nothing
that is refused, noted or shown before the draws depends on a drawn column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.budget import Debit, protects
from dpdesk.core.charts import (
    Axis,
    Chart,
    Figure,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    table_from,
)
from dpdesk.core.errors import InputError
from dpdesk.core.frequency import UNREADABLE, FrequencyTable, NewValues, RewrittenRows, RowSource
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.messages import msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.plain import number_text, quoted
from dpdesk.core.schema import Role
from dpdesk.engine.method import ExplorationView, MethodInput, Outcome
from dpdesk.engine.methods.randomised_response.querying import row_errors
from dpdesk.engine.methods.randomised_response.settings import (
    Chances,
    Floats,
    Settings,
    response_guarantee,
    stated,
    weights,
)
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.trial import find_outside
from dpdesk.engine.querying import Comparison

_STEPS = tuple(Fraction(step, 10) for step in (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50))
_LOOKS = (SeriesStyle.FIRST, SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.FOURTH)


def decide(given: MethodInput, token: CancelToken) -> Outcome:
    """See :meth:`~dpdesk.engine.method.RowsMethod.decide`."""
    token.check()
    settings = Settings.read(given.parameters, given.where)
    roles = {
        name: role
        for name, role in given.roles.items()
        if role is not Role.IDENTIFIER and name not in settings.names
    }
    rows = given.source.rows
    outside = find_outside(given.source, settings.declared, token)
    strange = {each.column: each.rows for each in outside.columns}
    return Outcome(
        guarantee=response_guarantee(
            settings.epsilon, settings.rows_per_person, settings.names, roles, settings.origins
        ),
        result={
            "rows_out": rows,
            "chances": stated(settings.chances),
            "outside": settings.elsewhere(),
        },
        # Of the drawn values, this alone is known before they are drawn, and it stays inside.
        internal={"counting": {"rows": {"rows_with_values_outside_the_domain": strange}}},
        drawn=frozenset(settings.names),
        charts=(_errors_chart(settings, rows),),
        figures=_figures(settings, rows),
        notes=_notes(settings),
    )


def _figures(settings: Settings, rows: int) -> tuple[Figure, ...]:
    errors = row_errors(settings, rows)
    worst = max(errors, key=errors.__getitem__)
    return (
        Figure(
            "loss",
            "Privacy loss ε",
            float(settings.epsilon),
            better="lower",
            help="Over all drawn columns of a person together.",
            headline=True,
            about="risk",
        ),
        Figure(
            "count_error",
            "Standard error of a count in the whole table, at most",
            errors[worst],
            "count",
            better="lower",
            help=msg("Of one category of {column}.", column=quoted(worst)),
            headline=True,
            about="loss",
        ),
    )


def _notes(settings: Settings) -> tuple[Note, ...]:
    cost = settings.charge.cost
    if protects(cost):
        return ()
    sentence = msg(
        "With {cost} the draws protect no one: odds may change by a factor of more than a hundred "
        "million, and the checklist refuses it.",
        cost=cost,
    )
    return (Note("private.no-protection", sentence),)


def _errors_chart(settings: Settings, rows: int) -> ScatterChart:
    """Standard errors of counts by ε, for the columns whose chances follow from it."""
    axis = Axis("Privacy loss ε of all drawn columns together", log=True)
    known = [name for name in settings.names if settings.chances[name].matrix is None]
    tried = {
        step: [_error_at(settings, name, step, rows) for name in known]
        for step in sorted({*_STEPS, settings.epsilon})
    }
    steps = [step for step, errors in tried.items() if None not in errors]
    lines = {
        name: [float(tried[step][place] or 0.0) for step in steps]
        for place, name in enumerate(known)
    }
    here = row_errors(settings, rows)
    ours = [float(settings.epsilon)]
    places = [float(step) for step in steps]
    return ScatterChart(
        id="errors",
        question="How accurate are counts, by ε?",
        answer=msg(
            "At ε = {epsilon} the count of one category has a standard error of up to {error:,.0f} "
            "rows of {rows:,}.",
            epsilon=number_text(settings.epsilon),
            error=max(here.values()),
            rows=rows,
        ),
        x_axis=axis,
        y_axis=Axis("Standard error of a count", "rows", minimum=0.0),
        series=(
            *(
                PointSeries(
                    name,
                    np.array(places),
                    np.array(errors),
                    look=_LOOKS[place % len(_LOOKS)],
                    joined=True,
                )
                for place, (name, errors) in enumerate(lines.items())
            ),
            PointSeries(
                "this plan",
                np.array(ours * len(here)),
                np.array(list(here.values())),
                look=SeriesStyle.REFERENCE,
                emphasis=True,
            ),
        ),
        table=table_from(
            ("ε", *lines) if lines else ("ε", *here),
            [
                (place, *(round(errors[at], 1) for errors in lines.values()))
                for at, place in enumerate(places)
            ]
            if lines
            else [(ours[0], *(round(each, 1) for each in here.values()))],
        ),
        short="Errors by ε",
        x_limit=ours[0],
        x_limit_key="epsilon",
    )


def _error_at(settings: Settings, name: str, epsilon: Fraction, rows: int) -> float | None:
    """None where ε is too small to be drawn."""
    scaled = {key: share * epsilon / settings.epsilon for key, share in settings.shares.items()}
    column = tuple(each for each in settings.columns if each.name == name)
    try:
        return row_errors(replace(settings, columns=column, shares=scaled), rows)[name]
    except InputError:
        return None


def draw(
    given: MethodInput, rows: RowSource, debit: Debit, source: RandomSource, token: CancelToken
) -> RewrittenRows:
    """The rows, sorted by all that is released of them."""
    settings = Settings.read(given.parameters, given.where)
    charge = settings.charge
    if debit.cost != charge.cost or debit.draws != charge.draws:
        raise ValueError("the debit paid for another release")
    debit.redeem(charge.draws)
    declared = {each.name: each for each in settings.columns}
    released = [name for name, role in given.roles.items() if role is not Role.IDENTIFIER]
    drawn: dict[str, NewValues] = {}
    mapping: dict[str, Mapping[str, str]] = {}
    keys: list[NDArray[np.int64]] = []
    try:
        for column in rows.coded_columns(released, token):
            token.check()
            if column.name not in declared:
                domain, codes = column.domain, column.codes
                if UNREADABLE in domain:
                    mapping[column.name] = readable(domain)
                    domain, codes = _sorted([mapping[column.name][one] for one in domain], codes)
                keys.append(codes.astype(np.int64))
                continue
            dimension = declared[column.name]
            places = dimension.codes(column.domain, column.missing)
            true = places[column.codes].astype(np.int32)
            found = settings.chances[column.name].draw(true, source, token)
            true.fill(0)
            domain, codes = _sorted(dimension.categories, found)
            found.fill(0)
            drawn[column.name] = NewValues(domain, codes)
            keys.append(codes.astype(np.int64))
        order = np.lexsort(keys[::-1]) if keys else np.empty(0, np.int64)
        moved = {name: NewValues(each.domain, each.codes[order]) for name, each in drawn.items()}
    finally:
        for each in drawn.values():
            each.codes.fill(0)
    return RewrittenRows(order, moved, given.with_role(Role.IDENTIFIER), mapping)


def readable(domain: tuple[str, ...]) -> dict[str, str]:
    """What values of a column that is not drawn become: one that cannot be read is missing."""
    return {text: "" if text == UNREADABLE else text for text in domain}


def _sorted(
    texts: tuple[str, ...] | list[str], codes: NDArray[np.int32]
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Texts in order of code points, each once, and codes that index them."""
    domain = tuple(sorted(set(texts)))
    place = {text: at for at, text in enumerate(domain)}
    return domain, np.array([place[text] for text in texts], np.int32)[codes]


class ResponseExploration:
    """Settings tried without a look at what columns hold: errors follow from chances and rows."""

    def __init__(self, given: MethodInput) -> None:
        self._given = given

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """See :meth:`~dpdesk.engine.method.Exploration.view`."""
        given = replace(self._given, parameters=parameters)
        made = decide(given, CancelToken())
        sentence = msg(
            "{rows:,} rows, in which the values of {columns} are drawn one by one.",
            rows=given.source.rows,
            columns=", ".join(quoted(name) for name in sorted(made.drawn)),
        )
        charts: tuple[Chart, ...] = tuple(made.charts)
        return ExplorationView(
            True, sentence, charts, made.figures, made.guarantee, notes=made.notes
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """See :meth:`~dpdesk.engine.method.Exploration.pick`: there are no points."""
        raise InputError("exploration.no-point", "There is no point with this number.")


def compare(given: MethodInput, token: CancelToken) -> tuple[Comparison, ...]:
    """Expected errors of the counts of all categories, by ε: drawn rows, noisy counts, no estimate.

    Root mean squares over the categories, from the true counts; nothing is drawn.
    """
    settings = Settings.read(given.parameters, given.where)
    found: list[Comparison] = []
    for each in settings.columns:
        token.check()
        table = given.source.frequency_table((each.name,), token)
        places = each.codes(table.domains[0], table.missing_of(0))
        counts = _true_counts(table, places, len(each.categories))
        ours, own = settings.shares[each.name], settings.chances[each.name]
        steps = [ours] if own.matrix is not None else sorted({*_STEPS, ours})
        drawn = [
            _errors(own if step == ours else Chances.k_ary(len(each.categories), step), counts)
            for step in steps
        ]
        lines = {
            "Estimated from drawn rows": [unbiased for unbiased, _ in drawn],
            "Drawn rows, counted as they are": [plain for _, plain in drawn],
            "Counts with noise (discrete Laplace)": [_laplace(step) for step in steps],
        }
        found.append(_comparison(each.name, len(each.categories), given.source.rows, steps, lines))
    return tuple(found)


def _true_counts(table: FrequencyTable, places: NDArray[np.int32], size: int) -> Floats:
    return np.bincount(places[table.codes[:, 0]], table.counts, size).astype(np.float64)


def _errors(chances: Chances, counts: Floats) -> tuple[float, float]:
    """Root mean squared error of unbiased counts, and of the drawn ones as they stand."""
    size = len(counts)
    table = np.array([chances.parts(value) for value in range(size)], np.float64) / chances.whole
    squared = 0.0
    for value in range(size):
        wanted = np.arange(size) == value
        _, moments = weights(chances, wanted)
        squared += float(counts @ (moments - wanted))
    spread = float((counts @ (table * (1 - table))).sum())
    bias = float(((counts @ table - counts) ** 2).sum())
    return sqrt(squared / size), sqrt((spread + bias) / size)


def _laplace(epsilon: Fraction) -> float:
    """Standard deviation of a count with noise where one value becomes another: sensitivity 2."""
    step = float(epsilon) / 2
    return sqrt(2 * exp(-step)) / (1 - exp(-step))


def _comparison(
    column: str, size: int, rows: int, steps: list[Fraction], lines: Mapping[str, list[float]]
) -> Comparison:
    places = np.array([float(step) for step in steps])
    shares = {name: np.array(errors) / max(rows, 1) for name, errors in lines.items()}
    chart = ScatterChart(
        id=f"{column}: errors",
        question="How accurate are the counts of all categories, by ε?",
        answer="Noise in counts costs least, but serves no other question; rows serve them all.",
        x_axis=Axis("ε of the column", log=True),
        y_axis=Axis("Root mean squared error, of all rows", percent=True, log=True),
        series=tuple(
            PointSeries(name, places, errors, look=_LOOKS[place], joined=True)
            for place, (name, errors) in enumerate(shares.items())
        ),
        table=table_from(
            ("ε", *lines),
            [
                (float(step), *(round(float(errors[at]), 6) for errors in shares.values()))
                for at, step in enumerate(steps)
            ],
        ),
        short="Errors by ε",
    )
    sentence = msg(
        "{column}: expected errors of the counts of {n:,} categories among {rows:,} rows.",
        column=column,
        n=size,
        rows=rows,
    )
    return Comparison(column, size, rows, size, sentence, (chart,), measure="categories")
