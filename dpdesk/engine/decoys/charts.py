"""Which values of a column are too frequent for groups of different values, as a picture."""

from __future__ import annotations

from dpdesk.core.charts import Axis, BarChart, BarSeries, SeriesStyle, table_from
from dpdesk.core.messages import msg
from dpdesk.core.plain import EMPTY, quoted
from dpdesk.engine.decoys.eligibility import Eligibility

_MOST_BARS = 12


def frequency_chart(found: Eligibility) -> BarChart:
    """The most frequent values of a column beside the most rows that a value may have."""
    shown = found.counts[:_MOST_BARS]
    allowed = float(found.allowed)
    over = frozenset(place for place, item in enumerate(shown) if item.rows > found.allowed)
    return BarChart(
        id=f"frequency-{found.attribute}",
        question=msg("Is any value of {column} too frequent to be hidden?", column=found.attribute),
        answer=_answer(found),
        category_axis=Axis("Value", bare=True),
        value_axis=Axis("Rows", minimum=0, whole=True),
        categories=tuple(item.value or EMPTY for item in shown),
        series=(
            BarSeries("Rows", tuple(float(item.rows) for item in shown)),
            BarSeries(
                "Allowed", (allowed,) * len(shown), SeriesStyle.REFERENCE, outline=True, bound=True
            ),
        ),
        table=table_from(
            ("Value", "Rows", "Allowed (rows)"),
            [(item.value or EMPTY, item.rows, found.allowed) for item in found.counts[:500]],
        ),
        horizontal=True,
        hatched=over,
        short=msg("Frequencies of {column}", column=found.attribute),
    )


def _answer(found: Eligibility) -> str:
    most = found.counts[0] if found.counts else None
    if most is None:
        return "There are no rows."
    name = quoted(most.value)
    limit = msg(
        "at most {allowed:,} may have the same value in groups of {l:,}",
        allowed=found.allowed,
        l=found.l,
    )
    if most.rows > found.allowed:
        return msg(
            "Yes: {name} has {rows:,} rows, and {limit}.", name=name, rows=most.rows, limit=limit
        )
    return msg(
        "No: the most frequent, {name}, has {rows:,} rows, and {limit}.",
        name=name,
        rows=most.rows,
        limit=limit,
    )
