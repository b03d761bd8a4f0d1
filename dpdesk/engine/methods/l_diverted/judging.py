"""What a diverted release will be like, from counts alone; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, inf, log
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpdesk.core.charts import (
    Axis,
    ChartTable,
    Figure,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    table_from,
)
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Event, Note, Report, StepProgress, StepStarted, silent
from dpdesk.core.messages import counted, joined, msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.plain import EMPTY
from dpdesk.core.recoding import Recoding
from dpdesk.core.schema import Role, ValueCount
from dpdesk.engine.decoys.eligibility import Eligibility, frequency_chart, largest_common_l, refuse
from dpdesk.engine.method import ExplorationView, MethodInput, Outcome
from dpdesk.engine.methods.l_diverted.combined import Generalised, generalise, kept_counts
from dpdesk.engine.methods.l_diverted.guarantee import diverted_guarantee, name_list
from dpdesk.engine.methods.l_diverted.mechanism import labels_of, raw_counts, released_counts
from dpdesk.engine.methods.l_diverted.settings import Settings
from dpdesk.engine.recoded import rows_alone
from dpdesk.engine.telling import TELL, Telling, alone_note, telling, telling_chart, telling_notes

# What the columns that are not drawn tell of the drawn ones, measured before anything is drawn.
#
# A drawn value is the true one with a chance of 1 in ℓ′ for someone to whom nothing else tells it.
# The other columns are released truly (or at a level, where k is given), so what they tell is not
# changed by the draw: for a row that an occupation follows from, the draw hides nothing.


@dataclass(frozen=True)
class ColumnsTell:
    """What other columns tell of each drawn one, and the rows that are alone with their values.

    ``columns`` is the number of columns that are not drawn; ``alone`` are the rows whose released
    values there no other row has, None where every column is drawn. Rows that are suppressed for k
    are not among them; k makes rows alike in the quasi-identifiers alone.
    """

    drawn: tuple[Telling, ...]
    columns: int
    alone: int | None

    def notes(self, size: int) -> tuple[Note, ...]:
        """Warnings where more is told than a chance of 1 in ``size``."""
        rows = self.drawn[0].rows if self.drawn else 0
        return (
            *telling_notes(self.drawn, size),
            *alone_note(self.columns, self.alone or 0, rows),
        )

    def as_json(self) -> dict[str, object]:
        """The form in which the risk of evidence has it."""
        told: dict[str, object] = {"telling": [each.as_json() for each in self.drawn]}
        return told if self.alone is None else told | {"rows_alone": self.alone}


def columns_tell(
    given: MethodInput,
    settings: Settings,
    recoding: Recoding | None,
    token: CancelToken,
    report: Report,
) -> ColumnsTell:
    """Measure it in all rows of the source; ``recoding`` is what was done to columns for k.

    Raises InputError ``diverted.levels``, Cancelled.
    """
    drawn = settings.diverted(given.roles)
    others = [
        name
        for name, role in given.roles.items()
        if role is not Role.IDENTIFIER and name not in drawn
    ]
    mapping = {} if recoding is None else recoding.mapping
    found = []
    for place, name in enumerate(drawn):
        labels = dict(mapping)
        if level := settings.levels.get(name, 0):
            table = given.source.frequency_table((name,), token)
            labels[name] = labels_of(table, given.hierarchies, level, given.where)
        found.append(telling(given.source, name, others, labels, token))
        report(StepProgress(TELL, place + 1, len(drawn), "columns"))
    alone = rows_alone(given.source, others, recoding, token) if others else None
    return ColumnsTell(tuple(found), len(others), alone)


# How often each sensitive value occurs, counted when it is first asked for.


COUNT = "Count the sensitive values"


class CountedValues:
    """The value counts of sensitive columns, each counted when it is first asked for.

    Where k is given, they are counted among the rows that are left after the quasi-identifiers were
    generalised, which is done once for each k.
    """

    def __init__(self, given: MethodInput) -> None:
        self._given = given
        self._known: dict[tuple[object, ...], tuple[ValueCount, ...]] = {}
        self._searched: dict[tuple[object, ...], Generalised] = {}
        self._told: dict[tuple[object, ...], ColumnsTell] = {}
        self._lock = Lock()

    def generalised(
        self, settings: Settings, token: CancelToken, report: Report
    ) -> Generalised | None:
        """What is done for k; None when no k is given. Raises RefusedError, Cancelled."""
        if settings.k is None:
            return None
        key = (settings.k, settings.max_suppression, settings.l)
        with self._lock:
            known = self._searched.get(key)
        if known is None:
            known = generalise(self._given, settings, token, report)
            with self._lock:
                self._searched[key] = known
        return known

    def eligibility(
        self, settings: Settings, first: Generalised | None, token: CancelToken, report: Report
    ) -> tuple[Eligibility, ...]:
        """Every column that is to be drawn, checked against ℓ′; raises InputError, Cancelled."""
        names, found = settings.diverted(self._given.roles), []
        for place, name in enumerate(names):
            token.check()
            counts = self._counts(name, settings, first, token)
            found.append(Eligibility(name, settings.l, counts, settings.levels.get(name, 0)))
            report(StepProgress(COUNT, place + 1, len(names), "columns"))
        return tuple(found)

    def _counts(
        self, name: str, settings: Settings, first: Generalised | None, token: CancelToken
    ) -> tuple[ValueCount, ...]:
        level, given = settings.levels.get(name, 0), self._given
        key = (name, level, *((settings.k, settings.max_suppression, settings.l) if first else ()))
        with self._lock:
            known = self._known.get(key)
        if known is None:
            table = given.source.frequency_table((name,), token)
            labels = labels_of(table, given.hierarchies, level, given.where)
            raw = kept_counts(given, first.recoding, name, token) if first else raw_counts(table)
            known = released_counts(raw, labels)
            with self._lock:
                self._known[key] = known
        return known

    def told(
        self, settings: Settings, first: Generalised | None, token: CancelToken, report: Report
    ) -> ColumnsTell:
        """What the columns that are not drawn tell of those that are. Raises Cancelled."""
        recoding = None if first is None else first.recoding
        key = (
            settings.diverted(self._given.roles),
            tuple(sorted(settings.levels.items())),
            () if first is None else (settings.k, settings.max_suppression, settings.l),
        )
        with self._lock:
            known = self._told.get(key)
        if known is None:
            known = columns_tell(self._given, settings, recoding, token, report)
            with self._lock:
                self._told[key] = known
        return known

    def notes(self, settings: Settings, token: CancelToken) -> tuple[Note, ...]:
        """What a newcomer should know of these columns."""
        given, diverted = self._given, settings.diverted(self._given.roles)
        notes = []
        if settings.k is None and settings.max_suppression:
            notes.append(
                Note("plan.without-effect", "`max_suppression` has no effect without `k`.")
            )
        others = [name for name in given.with_role(Role.SENSITIVE) if name not in diverted]
        if others:
            notes.append(
                Note(
                    "diverted.not-drawn",
                    msg(
                        "{columns}: sensitive by role, but not listed in `sensitive`; the true "
                        "values are released.",
                        columns=name_list(others),
                    ),
                )
            )
        for name in diverted:
            table = given.source.frequency_table((name,), token)
            if table.missing and len(table.missing[0]) > 1:
                notes.append(
                    Note(
                        "diverted.missing",
                        msg(
                            "`{column}` has {n} different codes of missing values; each counts "
                            "as a value of its own.",
                            column=name,
                            n=len(table.missing[0]),
                        ),
                    )
                )
        return tuple(notes)


def beliefs(found: Sequence[Eligibility]) -> dict[str, object]:
    """What somebody who knows only the value counts believes, by column; shares of 1."""
    return {each.attribute: _beliefs(each) for each in found}


def _beliefs(found: Eligibility) -> dict[str, object]:
    rarest, most = found.counts[-1].rows, found.counts[0].rows
    return {
        "values": len(found.counts),
        "rows": found.rows,
        "most_rows_of_a_value": most,
        "rows_allowed": found.allowed,
        "belief_before_rarest": rarest / found.rows,
        "belief_before_most_frequent": most / found.rows,
        "belief_after": 1 / found.l,
    }


def headline_figures(
    settings: Settings, found: Sequence[Eligibility], removed: int, lost: int
) -> tuple[Figure, ...]:
    """The chance that a value is true, the error of counts, and the rows that are lost."""
    figures = [_belief(settings), _deviation(settings), _lost("rows_removed", removed)]
    if settings.k is not None:
        figures.append(_lost("rows_suppressed", lost))
    largest = Figure(
        "largest_l",
        "Largest ℓ′ that these columns allow",
        largest_common_l(found),
        "count",
        help="The rows over those of the most frequent value.",
    )
    return (*figures, largest)


def _belief(settings: Settings) -> Figure:
    return Figure(
        "belief",
        "Chance that a published value is true",
        1 / settings.l,
        "share",
        better="lower",
        help="For someone who knows only how often each value occurs.",
        headline=True,
        about="risk",
    )


def _deviation(settings: Settings) -> Figure:
    return Figure(
        "deviation",
        "Standard deviation of a count of 1,000",
        float(Fraction(1000) * (1 - Fraction(1, settings.l))) ** 0.5,
        "number",
        unit="rows",
        better="lower",
        help="Of one value, over the whole table: √(f·(1 − 1/ℓ′)), whatever the data.",
        headline=True,
        about="loss",
    )


_LOST = {
    "rows_removed": (
        "Rows removed at random",
        "So that the number of rows is a multiple of ℓ′.",
    ),
    "rows_suppressed": (
        "Rows suppressed for k",
        "Rows with rare combinations of quasi-identifiers.",
    ),
}


def _lost(key: str, rows: int) -> Figure:
    label, why = _LOST[key]
    return Figure(key, label, rows, "count", better="lower", help=why, about="loss")


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_CHUNK = 50_000
_MOST = 2_000_000


def error_chances(counts: ArrayLike, size: int, share: Fraction, *, beyond: bool = False) -> Floats:
    """Pr(|f′ − f| ≥ share·f) for each count f, or Pr(|f′ − f| > share·f) with ``beyond``.

    ``counts`` are whole numbers of 1 or more, ``size`` is ℓ′, ``share`` ε > 0. The ends of the
    tails are found in whole numbers; the tails are regularised incomplete beta functions, exact to
    about 12 digits for any count.
    """
    from scipy.special import betainc

    f = np.asarray(counts, np.int64)
    trials, p = f * size, 1.0 / size
    low, high = _ends(f, share, beyond)
    # Pr(X ≥ k) = I_p(k, n − k + 1), Pr(X ≤ k) = I_{1−p}(n − k, k + 1).
    above = np.where(high > trials, 0.0, betainc(high, np.maximum(trials - high + 1, 1), p))
    below = np.where(low < 0, 0.0, betainc(trials - np.maximum(low, 0), low.clip(0) + 1, 1 - p))
    return np.asarray(above + below, np.float64)


def _ends(f: Ints, share: Fraction, beyond: bool) -> tuple[Ints, Ints]:
    """The largest x below and the smallest above that are wrong by the share (by more)."""
    top, bottom = share.numerator, share.denominator
    gap = f * top // bottom + 1 if beyond else -(-f * top // bottom)
    return f - gap, f + gap


def chebyshev(counts: ArrayLike, size: int, share: Fraction) -> Floats:
    """The valid bound (1−1/ℓ′)/(ε²f) of the chance of a relative error of ε or more; at most 1."""
    f = np.asarray(counts, np.float64)
    return np.asarray(np.minimum(1.0, (1 - 1 / size) / (float(share) ** 2 * f)))


@lru_cache(maxsize=64)
def utility_threshold(size: int, share: Fraction, most: Fraction) -> int:
    """T_f of the (ε, T_E, T_f) guarantee: Pr(|f′−f| ≥ εf) ≤ T_E for every f from it on.

    The least such number: one less does not have the property. Above Chernoff's bound nothing need
    be looked at. Raises InputError ``threshold.range`` for shares out of range or a search of more
    than 2 million counts.
    """
    _check(size, share, most)
    for first, last in _chunks_down(_surely_reliable(size, share, most)):
        counts = np.arange(first, last + 1)
        failing = np.flatnonzero(error_chances(counts, size, share) > float(most))
        if len(failing):
            return int(counts[failing[-1]]) + 1
    return 1


@lru_cache(maxsize=64)
def privacy_threshold(size: int, share: Fraction, least: Fraction) -> int:
    """The largest F with Pr(|f′−f| > εf) ≥ T_P for every f from 1 to F; 0 if there is none.

    These are the counts with the (ε, T_P) privacy guarantee. Raises InputError
    ``threshold.range``.
    """
    _check(size, share, least)
    last = _surely_reliable(size, share, least)
    for first in range(1, last + 1, _CHUNK):
        counts = np.arange(first, min(first + _CHUNK, last + 1))
        failing = np.flatnonzero(error_chances(counts, size, share, beyond=True) < float(least))
        if len(failing):
            return int(counts[failing[0]]) - 1
    return last


def _surely_reliable(size: int, share: Fraction, most: Fraction) -> int:
    """A count from which on Chernoff's bound keeps the chance of an error below ``most``."""
    rates = [size * _divergence(1 / size * (1 + side * float(share)), 1 / size) for side in (1, -1)]
    slow = min(rates)
    bound = inf if slow <= 0 else log(2 / float(most)) / slow
    if bound > _MOST:
        raise InputError(
            "threshold.range",
            msg(
                "With a relative error of {error:g} the threshold lies among more than {most:,} "
                "counts, expected a larger error or chance.",
                error=float(share),
                most=_MOST,
            ),
        )
    found = max(1, ceil(bound))
    while sum(exp(-rate * found) for rate in rates) > float(most):
        found += 1
    return found


def _divergence(q: float, p: float) -> float:
    """Kullback–Leibler divergence of coins; infinite where q is impossible."""
    if q > 1 or q < 0:
        return inf
    first = q * log(q / p) if q > 0 else 0.0
    return first + ((1 - q) * log((1 - q) / (1 - p)) if q < 1 else 0.0)


def _chunks_down(last: int) -> Iterator[tuple[int, int]]:
    while last >= 1:
        first = max(1, last - _CHUNK + 1)
        yield first, last
        last = first - 1


def _check(size: int, share: Fraction, chance: Fraction) -> None:
    if size < 2 or share <= 0 or not 0 < chance < 1:
        raise InputError(
            "threshold.range",
            msg(
                "A threshold was asked for ℓ′ = {size}, a relative error of {error:g} and a "
                "chance of {chance:g}, expected ℓ′ ≥ 2, an error above 0 and a chance between 0 "
                "and 1.",
                size=size,
                error=float(share),
                chance=float(chance),
            ),
        )


_POINTS = 120
_LISTED = 500


@dataclass(frozen=True)
class Limits:
    """What counts as reliable and as protected.

    An error is a relative one of ``share`` (ε) or more. A count is reliable when errors have a
    chance of at most ``most`` (T_E), protected when they have at least ``least`` (T_P).
    """

    share: Fraction = Fraction(1, 5)
    most: Fraction = Fraction(1, 50)
    least: Fraction = Fraction(2, 5)


def reliability_chart(
    attribute: str, counts: Sequence[ValueCount], size: int, limits: Limits | None = None
) -> ScatterChart:
    """The chance of a relative error of ε by count: exact, with the values of a column in it.

    ``counts`` are values with their rows, at least 1 each. The bound of Chebyshev is drawn beside
    it.
    """
    limits = limits or Limits()
    held = [item for item in counts if item.rows > 0]
    rows = np.array([item.rows for item in held], np.int64)
    chances = error_chances(rows, size, limits.share)
    reliable_from = utility_threshold(size, limits.share, limits.most)
    protected_to = privacy_threshold(size, limits.share, limits.least)
    last = max(reliable_from * 2, int(rows.max(initial=1)))
    return ScatterChart(
        id=f"reliability-{attribute}",
        question=msg(
            "Which counts of {column} will be reliable, and which are protected?", column=attribute
        ),
        answer=_answer(rows, limits, reliable_from, protected_to),
        x_axis=Axis("Rows with the value", log=True, whole=True, minimum=1),
        y_axis=Axis(
            msg("Chance of an error of {percent} or more", percent=_percent(limits.share)),
            percent=True,
            minimum=0.0,
            maximum=1.0,
        ),
        series=_series(rows, chances, size, limits, last),
        table=_table(held, rows, chances, size, limits, (reliable_from, protected_to)),
        y_limit=float(limits.most),
        y_limit_label=msg("reliable below {percent}", percent=_percent(limits.most)),
        short=msg("Reliable counts of {column}", column=attribute),
    )


def _series(
    rows: Ints, chances: Floats, size: int, limits: Limits, last: int
) -> tuple[PointSeries, ...]:
    grid = np.unique(np.round(np.geomspace(1, last, _POINTS)).astype(np.int64))
    x = grid.astype(np.float64)
    curves = (
        ("Exact", error_chances(grid, size, limits.share), SeriesStyle.FIRST),
        ("Chebyshev's bound", chebyshev(grid, size, limits.share), SeriesStyle.REFERENCE),
    )
    lines = tuple(PointSeries(name, x, y, look=look, joined=True) for name, y, look in curves)
    values = PointSeries(
        "Values of the column", rows.astype(np.float64), chances, look=SeriesStyle.SECOND
    )
    return (*lines, values)


def _table(
    held: Sequence[ValueCount],
    rows: Ints,
    chances: Floats,
    size: int,
    limits: Limits,
    thresholds: tuple[int, int],
) -> ChartTable:
    bound = chebyshev(rows, size, limits.share)
    beyond = error_chances(rows, size, limits.share, beyond=True)
    share = _percent(limits.share)
    listed = sorted(range(len(held)), key=lambda place: (-rows[place], held[place].value))
    return table_from(
        (
            "Value",
            "Rows",
            msg("Chance of an error of {share} or more", share=share),
            msg("Chance of more than {share}", share=share),
            "Reliable or protected",
            "Chebyshev's bound",
        ),
        [
            (
                held[place].value or EMPTY,
                int(rows[place]),
                round(float(chances[place]), 6),
                round(float(beyond[place]), 6),
                _verdict(int(rows[place]), thresholds),
                round(float(bound[place]), 6),
            )
            for place in listed[:_LISTED]
        ],
    )


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.0f} %"


def _verdict(rows: int, thresholds: tuple[int, int]) -> str:
    if rows >= thresholds[0]:
        return "reliable"
    return "protected" if rows <= thresholds[1] else "between"


def _answer(rows: Ints, limits: Limits, reliable_from: int, protected_to: int) -> str:
    reliable = int((rows >= reliable_from).sum())
    protected = int((rows <= protected_to).sum())
    share = _percent(limits.share)
    hidden = (
        msg(
            "protected: {protected:,} with {protected_to:,} rows or fewer (wrong by "
            "more than {share} with a chance of {percent} or more)",
            protected=protected,
            protected_to=protected_to,
            share=share,
            percent=_percent(limits.least),
        )
        if protected_to
        else msg("none is protected at a chance of {percent}", percent=_percent(limits.least))
    )
    return msg(
        "Of {rows:,} values, reliable: {reliable:,} with {reliable_from:,} rows "
        "or more (wrong by {share} or more with a chance of {percent} at most); "
        "{hidden}.",
        rows=len(rows),
        reliable=reliable,
        reliable_from=reliable_from,
        share=share,
        percent=_percent(limits.most),
        hidden=hidden,
    )


_SEARCH_STEPS = 3


def decide(given: MethodInput, token: CancelToken, report: Report) -> Outcome:
    """See :meth:`~dpdesk.engine.method.RowsMethod.decide`."""
    settings = Settings.from_parameters(given.parameters)
    counts = CountedValues(given)
    first = counts.generalised(settings, token, _two_steps_more(report))
    steps = 1 if first is None else _SEARCH_STEPS + 1
    report(StepStarted(COUNT, steps, steps + 1))
    found = counts.eligibility(settings, first, token, report)
    refuse(found, given.source.name)
    report(StepStarted(TELL, steps + 1, steps + 1))
    told = counts.told(settings, first, token, report)
    return described(given, settings, first, found, told, counts.notes(settings, token))


def _two_steps_more(report: Report) -> Report:
    """The steps of the search for k, with the two counts that follow."""

    def passed(event: Event) -> None:
        if isinstance(event, StepStarted):
            event = replace(event, count=event.count + 2)
        report(event)

    return passed


def described(
    given: MethodInput,
    settings: Settings,
    first: Generalised | None,
    found: Sequence[Eligibility],
    told: ColumnsTell,
    notes: tuple[Note, ...] = (),
) -> Outcome:
    """The release of columns that are all eligible."""
    rows = found[0].rows
    removed, lost = rows % settings.l, given.source.rows - rows
    diverted = settings.diverted(given.roles)
    result: dict[str, object] = {"rows_removed": removed, "rows_out": rows - removed}
    if first is not None:
        result |= {"node": first.outcome.result["node"], "rows_suppressed": lost}
    return Outcome(
        guarantee=diverted_guarantee(settings.l, diverted, given.roles, removed, settings.k, lost),
        result=result,
        drawn=frozenset(diverted),
        recoding=first.recoding if first is not None else None,
        internal=_internal(settings, first, found),
        risk={"beliefs": beliefs(found)} | told.as_json() | _levels_tell(first),
        utility=first.outcome.utility if first is not None else {},
        charts=(
            *(frequency_chart(each) for each in found),
            *(reliability_chart(each.attribute, each.counts, settings.l) for each in found),
            *telling_chart(told.drawn, settings.l),
        ),
        figures=headline_figures(settings, found, removed, lost),
        notes=(*(first.outcome.notes if first else ()), *told.notes(settings.l), *notes),
    )


def _levels_tell(first: Generalised | None) -> dict[str, object]:
    """Columns whose levels follow from values of suppressed rows as well."""
    return {} if first is None else {"levels_tell": first.outcome.risk["levels_tell"]}


def _internal(
    settings: Settings, first: Generalised | None, found: Sequence[Eligibility]
) -> dict[str, object]:
    """What stays in the agency: the counts of values, and how k was reached."""
    counts = {each.attribute: {item.value: item.rows for item in each.counts} for each in found}
    facts: dict[str, object] = {"rows_allowed": found[0].allowed, "value_counts": counts}
    return facts | (dict(first.outcome.internal) if first is not None else {})


# Settings tried on counts, for the window: nothing is drawn here.


_SHARE_STEPS = 10_000


@dataclass(frozen=True)
class DivertedExploration:
    """Settings tried on counts: whether the columns are eligible, and what would be claimed."""

    given: MethodInput
    counted: CountedValues

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """See :meth:`~dpdesk.engine.method.Exploration.view`."""
        return self.view_until(parameters, CancelToken(), silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`~dpdesk.engine.method.PatientExploration.view_until`."""
        settings = Settings.from_parameters(parameters)
        try:
            first = self.counted.generalised(settings, token, report)
        except RefusedError as error:
            return _k_refused(error, self.given.source.rows)
        found = self.counted.eligibility(settings, first, token, silent)
        short = next((each for each in found if not each.eligible), None)
        if short is not None:
            return _refused(short, found)
        told = self.counted.told(settings, first, token, silent)
        notes = self.counted.notes(settings, token)
        judged = described(self.given, settings, first, found, told, notes)
        sentence = msg(
            "Every published value of {diverted} is drawn from {l:,} values; {removed}.",
            diverted=name_list(settings.diverted(self.given.roles)),
            l=settings.l,
            removed=_removed(judged.result["rows_removed"]),
        )
        return ExplorationView(
            True,
            sentence,
            tuple(judged.charts),
            judged.figures,
            judged.guarantee,
            notes=judged.notes,
        )

    def pick(self, point: int) -> Mapping[str, object]:
        """See :meth:`~dpdesk.engine.method.Exploration.pick`: there are no points."""
        raise InputError("exploration.no-point", "There is no point with this number.")


def _removed(rows: object) -> str:
    if not isinstance(rows, int) or rows == 0:
        return msg("no row has to be removed for that")
    return counted(
        "{n:,} row is removed at random for that",
        "{n:,} rows are removed at random for that",
        n=rows,
    )


def _refused(short: Eligibility, found: Sequence[Eligibility]) -> ExplorationView:
    largest = largest_common_l(found)
    works = largest >= 2
    ordered = sorted(found, key=lambda each: each.eligible)  # what has to be changed comes first
    return ExplorationView(
        False,
        joined([short.sentence, short.hint]),
        tuple(frequency_chart(each) for each in ordered),
        (),
        None,
        {"l": largest} if works else None,
        msg("Set ℓ′ to {largest:,}", largest=largest) if works else "",
    )


def _k_refused(error: RefusedError, rows: int) -> ExplorationView:
    """The quasi-identifiers do not reach k: with more rows suppressed they may."""
    suppressed = error.details.get("suppressed")
    remedy, label = None, ""
    if isinstance(suppressed, int) and 0 < suppressed < rows:
        share = -(-suppressed * _SHARE_STEPS // rows) / _SHARE_STEPS
        remedy, label = (
            {"max_suppression": share},
            msg("Allow {share:.2%} suppressed rows", share=share),
        )
    return ExplorationView(False, error.full, (), (), None, remedy, label)
