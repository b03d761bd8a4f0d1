"""Charts of what a diverted release tells exactly and what it hides, on given value counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpdesk.core.charts import Axis, ChartTable, Look, PointSeries, ScatterChart, table_from
from dpdesk.core.plain import EMPTY
from dpdesk.core.schema import ValueCount
from dpdesk.engine.diverted.thresholds import (
    Floats,
    Ints,
    chebyshev,
    error_chances,
    paper_bound,
    privacy_threshold,
    utility_threshold,
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

    ``counts`` are values with their rows, at least 1 each. The bound of Chebyshev and the paper's
    own are drawn beside it, labelled as what they are.
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
        question=f"Which counts of {attribute} will be reliable, and which are protected?",
        answer=_answer(rows, limits, reliable_from, protected_to),
        x_axis=Axis("Rows with the value", log=True, whole=True, minimum=1),
        y_axis=Axis(
            f"Chance of an error of {_percent(limits.share)} or more",
            percent=True,
            minimum=0.0,
            maximum=1.0,
        ),
        series=_series(rows, chances, size, limits, last),
        table=_table(held, rows, chances, size, limits, (reliable_from, protected_to)),
        y_limit=float(limits.most),
        y_limit_label=f"reliable below {_percent(limits.most)}",
        short="Reliable counts",
    )


def _series(
    rows: Ints, chances: Floats, size: int, limits: Limits, last: int
) -> tuple[PointSeries, ...]:
    grid = np.unique(np.round(np.geomspace(1, last, _POINTS)).astype(np.int64))
    x = grid.astype(np.float64)
    curves = (
        ("Exact", error_chances(grid, size, limits.share), Look.FIRST),
        ("Chebyshev's bound", chebyshev(grid, size, limits.share), Look.REFERENCE),
        ("The paper's formula (wrong)", paper_bound(grid, size, limits.share), Look.FAIL),
    )
    lines = tuple(PointSeries(name, x, y, look=look, joined=True) for name, y, look in curves)
    values = PointSeries("Values of the column", rows.astype(np.float64), chances, look=Look.SECOND)
    return (*lines, values)


def _table(
    held: Sequence[ValueCount],
    rows: Ints,
    chances: Floats,
    size: int,
    limits: Limits,
    thresholds: tuple[int, int],
) -> ChartTable:
    bound, paper = chebyshev(rows, size, limits.share), paper_bound(rows, size, limits.share)
    beyond = error_chances(rows, size, limits.share, beyond=True)
    share = _percent(limits.share)
    listed = sorted(range(len(held)), key=lambda place: (-rows[place], held[place].value))
    return table_from(
        (
            "Value",
            "Rows",
            f"Chance of an error of {share} or more",
            f"Chance of more than {share}",
            "Reliable or protected",
            "Chebyshev's bound",
            "The paper's formula (wrong)",
        ),
        [
            (
                held[place].value or EMPTY,
                int(rows[place]),
                round(float(chances[place]), 6),
                round(float(beyond[place]), 6),
                _verdict(int(rows[place]), thresholds),
                round(float(bound[place]), 6),
                round(float(paper[place]), 6),
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
        f"protected: {protected:,} with {protected_to:,} rows or fewer (wrong by more than "
        f"{share} with a chance of {_percent(limits.least)} or more)"
        if protected_to
        else f"none is protected at a chance of {_percent(limits.least)}"
    )
    return (
        f"Of {len(rows):,} values, reliable: {reliable:,} with {reliable_from:,} rows or more "
        f"(wrong by {share} or more with a chance of {_percent(limits.most)} at most); {hidden}."
    )
