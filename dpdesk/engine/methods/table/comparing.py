"""All protections of the same tables side by side: what each loses, with noise next to them.

It uses the true cells and draws for nothing but the comparison: internal, nothing is kept. A
suppressed cell counts as the middle of what readers can tell of it. Of a dimension is lost what is
suppressed or changed in the cells that it tells apart, as a share of their values. The Hellinger
distance is that of the innermost cells as shares of their sum. Means are compared as sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from dpdesk.core.charts import Axis, BarChart, BarSeries, Cell, Chart, SeriesStyle, table_from
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, Report, StepStarted, silent
from dpdesk.core.messages import msg
from dpdesk.core.plain import number_text
from dpdesk.core.table_parameters import COUNT
from dpdesk.engine.cubes.lattice import equal_shares
from dpdesk.engine.cubes.mechanism import RowEffect, spread
from dpdesk.engine.method import CellsInput
from dpdesk.engine.methods.table.counting import Counted, count_tables
from dpdesk.engine.methods.table.deciding import Decision, Protected, near, protect, too_close
from dpdesk.engine.methods.table.drawing import below, rounded_up
from dpdesk.engine.methods.table.settings import (
    ADJUST,
    CONTROLLED,
    HEURISTIC,
    HITAS,
    NONE,
    OPTIMAL,
    SUPPRESS,
)
from dpdesk.engine.noise.laplace import DiscreteLaplace
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.querying import Comparison
from dpdesk.engine.tables.cellkeys import KEYS, PerturbationTable
from dpdesk.engine.tables.model import Exact, Flags, Floats, Table
from dpdesk.engine.tables.rules import Judgement

EPSILONS = (Fraction(1), Fraction(1, 10))
BASE, DEVIATION, VARIANCE = 5, 5, Fraction(2)
"""What rounding and cell keys are compared with where the plan does not say."""
_SEARCHES = {
    NONE: "Only unsafe cells suppressed",
    OPTIMAL: "Suppressed at the least cost",
    HITAS: "Suppressed by parts of the hierarchy",
    HEURISTIC: "Suppressed by the fast search",
}
_LOOKS = (
    *(SeriesStyle.FIRST, SeriesStyle.SECOND, SeriesStyle.THIRD, SeriesStyle.FOURTH),
    *(SeriesStyle.FAIL, SeriesStyle.REFERENCE),
)


@dataclass(frozen=True, eq=False)
class Shown:
    """What readers get of one table by one way: which cells are gone, and what they take them for.

    Amounts are in units of the table. ``exposed``: unsafe cells that are known too closely, None
    where that was not attacked.
    """

    hidden: Flags
    values: Floats
    exposed: int | None = None


@dataclass(frozen=True, eq=False)
class Way:
    """A protection with what it makes of each table; ``sums``: totals are those of their parts."""

    label: str
    sums: bool
    tables: tuple[Shown, ...]


def compared_tables(
    given: CellsInput, randomness: RandomSource, token: CancelToken, report: Report
) -> tuple[Comparison, ...]:
    """A comparison of all protections for each table of the plan; raises as counting, Cancelled."""
    counted = count_tables(given, token)
    judged = counted.judged()
    work = list(_works(counted, judged, randomness, token))
    ways: list[Way] = []
    impossible: list[str] = []
    for place, (label, make) in enumerate(work, 1):
        token.check()
        report(StepStarted(label, place, len(work)))
        try:
            ways.append(make())
        except RefusedError as error:
            impossible.append(error.sentence)
    return tuple(
        _comparison(counted, judged, given.source.rows, place, ways, impossible)
        for place in range(len(counted.settings.tables))
    )


_Work = tuple[str, Callable[[], Way]]


def _works(
    counted: Counted, judged: Judgement, randomness: RandomSource, token: CancelToken
) -> Iterator[_Work]:
    """The ways by their labels; those by changes are for values that add up."""
    settings = counted.settings
    own = settings.secondary if settings.secondary != NONE else OPTIMAL
    for secondary in dict.fromkeys((NONE, own, HEURISTIC)):
        label = _SEARCHES[secondary]
        asked = replace(settings, protect=SUPPRESS, secondary=secondary)
        yield label, partial(_searched, label, replace(counted, settings=asked), judged, token)
    if any(found is not None for found in counted.weights):
        return
    rounding = replace(counted, settings=replace(settings, base=settings.base or BASE, deviation=0))
    base = rounding.settings.base
    label = msg("Rounded to multiples of {base}, additively", base=base)
    additive = replace(rounding, settings=replace(rounding.settings, protect=CONTROLLED))
    yield label, partial(_searched, label, additive, judged, token)
    label = "Unsafe cells changed, additively"
    moving = replace(counted, settings=replace(settings, protect=ADJUST))
    yield label, partial(_searched, label, moving, judged, token)
    label = msg("Rounded to multiples of {base} at random", base=base)
    yield label, partial(_rounded, label, rounding, judged, randomness)
    if any(spec.measure.kind != COUNT for spec in settings.tables):
        return
    if settings.cells is None:
        most, variance = settings.deviation or DEVIATION, settings.variance or VARIANCE
        label = msg("Changed by cell keys, by {most} at most", most=most)
        table = PerturbationTable.of(most, variance)
        yield label, partial(_keyed, label, counted, judged, table, randomness)
    for epsilon in EPSILONS:
        label = msg("Noise with ε = {epsilon}", epsilon=number_text(epsilon))
        yield label, partial(_noisy, label, counted, epsilon, randomness, token)


def _searched(label: str, counted: Counted, judged: Judgement, token: CancelToken) -> Way:
    protected = protect(counted, judged, token, silent)
    return _way(label, counted, judged, protected, sums=True)


def _rounded(label: str, counted: Counted, judged: Judgement, randomness: RandomSource) -> Way:
    values, bases = counted.system.cells.values, counted.settings.base * counted.units
    rest = values % bases
    moving = np.flatnonzero((rest != 0).astype(bool))
    up = [below(bases[cell], randomness) < rest[cell] for cell in moving.tolist()]
    protected = near(counted, rounded_up(values - rest, bases, moving, up))
    return _way(label, counted, judged, protected, sums=False)


def _keyed(
    label: str,
    counted: Counted,
    judged: Judgement,
    table: PerturbationTable,
    randomness: RandomSource,
) -> Way:
    """Fresh keys: cells of the same rows are one variable, so it has one key."""
    values = counted.system.cells.values.copy()
    for cell, value in enumerate(values.tolist()):
        values[cell] = value + table.change(value, below(KEYS, randomness))
    asked = replace(counted, settings=replace(counted.settings, base=0, deviation=table.deviation))
    return _way(label, counted, judged, near(asked, values), sums=False)


def _way(
    label: str, counted: Counted, judged: Judgement, protected: Protected, *, sums: bool
) -> Way:
    """What readers take the cells of each table for."""
    system = counted.system
    low, high = protected.lower, protected.upper
    bounded = np.isfinite(low) & np.isfinite(high)
    ends = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    middle = ends.copy()
    middle[bounded] = (low[bounded] + high[bounded]) / 2
    taken = np.where(protected.hidden, middle, protected.released.astype(np.float64))
    close = too_close(Decision(counted, judged, protected), low, high)
    pairs = zip(system.variables, counted.scales, strict=True)
    attacked = counted.settings.protect != ADJUST  # of which nothing is known beforehand
    shown = (
        Shown(
            protected.hidden[own],
            taken[own] / 10.0**scale,
            int(close[own].sum()) if attacked else None,
        )
        for own, scale in pairs
    )
    return Way(label, sums, tuple(shown))


def _noisy(
    label: str, counted: Counted, epsilon: Fraction, randomness: RandomSource, token: CancelToken
) -> Way:
    """Each table with discrete Laplace noise in its innermost cells, as a cube measures them.

    One row changes one of these cells by 1. Totals are the sums of the noisy cells.
    """
    found = []
    for table in counted.system.tables:
        shape = tuple(len(dimension.leaves) for dimension in table.dimensions)
        (source,) = equal_shares([(1 << len(shape)) - 1])
        scale = spread(source, Noise.LAPLACE, epsilon, RowEffect(1, 1, 1, replace=False), shape)
        true = _innermost(table, table.cells.values)
        noise = DiscreteLaplace(scale).draw(true.size, randomness, token)
        cells = true.astype(np.float64) + noise.reshape(shape)
        for axis, dimension in enumerate(table.dimensions):
            covers = dimension.covers.astype(np.float64)
            cells = np.moveaxis(np.tensordot(covers, cells, (1, axis)), 0, axis)
        found.append(Shown(np.zeros(cells.size, dtype=bool), cells.ravel()))
    return Way(label, True, tuple(found))


def _innermost(table: Table, values: Exact | Floats) -> Exact | Floats:
    """The cells without parts, an axis for each dimension."""
    leaves = np.ix_(*(dimension.leaves for dimension in table.dimensions))
    found: Exact | Floats = values.reshape(table.shape)[leaves]
    return found


# ---- measures


def hellinger(true: Floats, shown: Floats) -> float:
    """The distance of two tables as shares of their sums, from 0 to 1; below 0 counts as 0."""
    one, other = np.maximum(true, 0.0), np.maximum(shown, 0.0)
    if not one.sum() or not other.sum():
        return 0.0 if one.sum() == other.sum() else 1.0
    roots = np.sqrt(one / one.sum()) - np.sqrt(other / other.sum())
    return float(np.sqrt(0.5 * (roots**2).sum()))


@dataclass(frozen=True)
class Loss:
    """What a way loses of one table; shares are of the sizes of true values."""

    suppressed: int
    value: float
    change: float
    relative: float
    distance: float
    dimensions: tuple[float, ...]

    @classmethod
    def of(cls, table: Table, true: Floats, shown: Shown) -> Loss:
        """Measure a table by its true values, in its units."""
        size, change = np.abs(true), np.abs(shown.values - true)
        lost = np.where(shown.hidden, size, change).reshape(table.shape)
        dimensions = []
        for axis, length in enumerate(table.shape):
            apart = np.arange(length - 1)  # the last node is the total
            whole = float(np.take(size.reshape(table.shape), apart, axis).sum())
            dimensions.append(float(np.take(lost, apart, axis).sum()) / whole if whole else 0.0)
        whole = float(size.sum()) or 1.0
        inner = [_innermost(table, each).astype(np.float64) for each in (true, shown.values)]
        return cls(
            int(shown.hidden.sum()),
            float(size[shown.hidden].sum()) / whole,
            float(change.mean()),
            float(change.sum()) / whole,
            hellinger(*inner),
            tuple(dimensions),
        )


# ---- what is shown


def _comparison(
    counted: Counted,
    judged: Judgement,
    rows: int,
    place: int,
    ways: Sequence[Way],
    impossible: Sequence[str],
) -> Comparison:
    """The comparison for one table."""
    system, scale = counted.system, counted.scales[place]
    table, own = system.tables[place], system.variables[place]
    true = system.cells.values[own].astype(np.float64) / 10.0**scale
    losses = [Loss.of(table, true, way.tables[place]) for way in ways]
    unsafe = int(judged.required.unsafe[own].sum())
    sentence = msg(
        "{unsafe} of {cells} cells are unsafe by the rules. Suppressed cells count as the middle "
        "of the interval that readers can determine. The protections promise different things: "
        "only the loss is compared.",
        unsafe=f"{unsafe:,}",
        cells=f"{len(own):,}",
    )
    for reason in impossible:
        sentence += msg(" One protection is not possible: {reason}", reason=reason)
    charts = _distances(ways, losses, place), _by_dimension(table, ways, losses)
    return Comparison(table.name, len(own), rows, 0, sentence, charts, measure="cells")


def _distances(ways: Sequence[Way], losses: Sequence[Loss], place: int) -> Chart:
    lines: list[list[Cell]] = [
        [
            way.label,
            loss.suppressed,
            round(loss.value, 4),
            round(loss.change, 4),
            round(loss.relative, 4),
            round(loss.distance, 4),
            "✓" if way.sums else "–",
            way.tables[place].exposed,
        ]
        for way, loss in zip(ways, losses, strict=True)
    ]
    heads = (
        *(
            ("Way of protection"),
            "Suppressed cells",
            "Their value",
            "Mean absolute change",
            "Relative change",
        ),
        *("Hellinger distance", "Additive", "Unsafe cells known too closely"),
    )
    return BarChart(
        id="distances",
        question="How far is each protected table from the true one?",
        answer=_least(ways, [loss.distance for loss in losses]),
        category_axis=Axis("Way of protection"),
        value_axis=Axis("Hellinger distance", minimum=0),
        categories=tuple(way.label for way in ways),
        series=(BarSeries("Hellinger distance", tuple(loss.distance for loss in losses)),),
        table=table_from(heads, lines),
        horizontal=True,
        short="Distances",
    )


def _least(ways: Sequence[Way], distances: Sequence[float]) -> str:
    ends = sorted(zip(distances, (way.label for way in ways), strict=True))
    if not ends:
        return "No protection is possible."
    return msg(
        "The innermost cells are closest to the truth with “{first}” and farthest "
        "from it with “{last}”.",
        first=ends[0][1],
        last=ends[-1][1],
    )


def _by_dimension(table: Table, ways: Sequence[Way], losses: Sequence[Loss]) -> Chart:
    names = tuple(dimension.name for dimension in table.dimensions)
    lines: list[list[Cell]] = [
        [way.label, *(round(share, 4) for share in loss.dimensions)]
        for way, loss in zip(ways, losses, strict=True)
    ]
    return BarChart(
        id="dimensions",
        question="How much is lost in each dimension?",
        answer="What is suppressed or changed in the cells that a dimension distinguishes, as a "
        "share of their values.",
        category_axis=Axis("Way of protection"),
        value_axis=Axis("Share lost", percent=True, minimum=0),
        categories=tuple(way.label for way in ways),
        series=tuple(
            BarSeries(name, tuple(loss.dimensions[at] for loss in losses), _LOOKS[at % len(_LOOKS)])
            for at, name in enumerate(names)
        ),
        table=table_from(("Way of protection", *names), lines),
        horizontal=True,
        short="Dimensions",
    )
