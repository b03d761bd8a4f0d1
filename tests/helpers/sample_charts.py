"""Charts with plausible shapes, for looking at them and for measuring them."""

from __future__ import annotations

import numpy as np

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    ChartTable,
    PointSeries,
    ScatterChart,
    SeriesStyle,
)

SIZES = ("1", "2", "3–4", "5–9", "10–19", "20+")


def size_chart(after: tuple[int, ...] = (0, 0, 0, 2_310, 5_140, 37_421)) -> BarChart:
    before = (12_405, 5_602, 4_870, 6_021, 5_230, 11_094)
    return BarChart(
        id="class-sizes",
        question="How many people share their combination with few others?",
        answer="After the protection no released combination covers fewer than 5 rows.",
        category_axis=Axis("rows that share the combination"),
        value_axis=Axis("rows"),
        categories=SIZES,
        series=(
            BarSeries("before", tuple(map(float, before)), SeriesStyle.REFERENCE, outline=True),
            BarSeries("after", tuple(map(float, after)), SeriesStyle.FIRST),
        ),
        table=ChartTable(
            ("class size", "rows before", "rows after"),
            tuple(zip(SIZES, before, after, strict=True)),
        ),
        hatched=frozenset({0, 1, 2}),
        threshold_before=3,
        threshold_label="k = 5",
    )


def risk_chart() -> BarChart:
    return BarChart(
        id="sizes-now",
        question="How risky is the unprotected table?",
        answer="22,877 of 45,222 rows share their combination with fewer than 4 others.",
        category_axis=Axis("rows that share the combination"),
        value_axis=Axis("rows"),
        categories=SIZES,
        series=(BarSeries("now", (12_405.0, 5_602.0, 4_870.0, 6_021.0, 5_230.0, 11_094.0)),),
        table=ChartTable(("class size", "rows"), (("1", 12_405), ("2", 5_602))),
        hatched=frozenset({0, 1, 2}),
        threshold_before=3,
        threshold_label="k = 5",
    )


def loss_chart() -> BarChart:
    names = (
        "age",
        "sex",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary-class",
    )
    values = (0.0, 0.0, 1.0, 0.31, 0.475, 1.0, 1.0, 0.1208, 0.00004)
    return BarChart(
        id="loss",
        question="What did each attribute lose?",
        answer="race, native-country and workclass are generalised to one single value.",
        category_axis=Axis("attribute"),
        value_axis=Axis("loss", percent=True, minimum=0, maximum=1),
        categories=names,
        series=(BarSeries("loss", values, SeriesStyle.SECOND),),
        table=ChartTable(("attribute", "loss"), tuple(zip(names, values, strict=True))),
        horizontal=True,
    )


def lattice_chart(count: int = 12_960, seed: int = 1) -> ScatterChart:
    """As many points as a large lattice has nodes."""
    random = np.random.default_rng(seed)
    loss = np.round(random.beta(5, 2, count), 3)
    suppressed = np.clip((1 - loss) ** 2 * random.uniform(0.2, 1.4, count), 0, 1)
    order = np.argsort(loss, kind="stable")
    best = np.minimum.accumulate(suppressed[order])
    front = order[np.flatnonzero(np.diff(best, prepend=2.0) < 0)]
    feasible = suppressed <= 0.02
    chosen = front[suppressed[front] <= 0.02][:1]
    ids = np.arange(count, dtype=np.int64)
    none = np.empty(0, np.int64)
    return ScatterChart(
        id="lattice",
        question="Which generalisation costs least?",
        answer="The marked node loses least among those that suppress at most 2 % of the rows.",
        x_axis=Axis("information loss", percent=True, minimum=0, maximum=1),
        y_axis=Axis("rows suppressed", percent=True),
        series=(
            PointSeries(
                "not allowed",
                loss[~feasible],
                suppressed[~feasible],
                ids[~feasible],
                SeriesStyle.REFERENCE,
            ),
            PointSeries(
                "allowed", loss[feasible], suppressed[feasible], ids[feasible], SeriesStyle.FIRST
            ),
            PointSeries(
                "best trade-offs",
                loss[front],
                suppressed[front],
                none,
                SeriesStyle.THIRD,
                stepped=True,
            ),
            PointSeries(
                "chosen",
                loss[chosen],
                suppressed[chosen],
                none,
                SeriesStyle.SECOND,
                emphasis=True,
                labels=("k = 5",),
            ),
        ),
        table=ChartTable(
            ("node", "loss", "suppressed"),
            tuple((int(n), float(loss[n]), float(suppressed[n])) for n in front),
        ),
        y_limit=0.02,
        y_limit_label="at most 2 %",
    )
