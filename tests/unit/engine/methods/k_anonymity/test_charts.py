"""Charts answer in a sentence and carry their numbers as a table."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.engine.methods.k_anonymity.charts import (
    MOST_POINTS,
    NodeChoice,
    NodeCloud,
    loss_chart,
    node_chart,
    risk_chart,
    suppression_chart,
)
from dpdesk.engine.methods.k_anonymity.metrics import (
    AttributeUtility,
    GroupSuppression,
    summarise_risk,
)


def cloud_of(points: list[tuple[float, float]]) -> NodeCloud:
    loss, suppressed = np.array([p[0] for p in points]), np.array([p[1] for p in points])
    return NodeCloud(
        k=5,
        attributes=("a",),
        levels=np.arange(len(points)).reshape(-1, 1),
        loss=loss,
        suppressed=suppressed,
    )


def test_the_risk_chart_draws_the_line_at_k_and_hatches_what_is_left_of_it() -> None:
    before = summarise_risk(np.array([1, 1, 3, 5]), 3)
    after = summarise_risk(np.array([3, 5]), 3)
    chart = risk_chart(before, after)
    assert chart.categories[chart.threshold_before or 0] == "3–4"
    assert chart.hatched == {0, 1}
    assert [series.outline for series in chart.series] == [True, False]
    assert chart.series[0].values[:3] == (0.2, 0.0, 0.3)
    assert chart.answer == (
        "2 of 10 rows (20 %) are in classes smaller than k = 3; in the release none. For "
        "someone who knows only the quasi-identifiers, a match is right with a chance of at most "
        "33.33 %."
    )
    assert chart.table.rows[0] == ("1", 2, 20.0, 0, 0.0)


def test_the_risk_chart_of_classes_below_k_points_to_the_guarantee() -> None:
    """Where missing values match any value, say, or ranges several."""
    before = summarise_risk(np.array([1, 1, 3, 5]), 3)
    assert risk_chart(before, summarise_risk(np.array([2, 8]), 3)).answer == (
        "2 of 10 rows (20 %) are in classes smaller than k = 3; in the release 2, if only equal "
        "rows are counted. How many rows a person matches is what the guarantee says."
    )


def test_the_risk_chart_of_an_original_stands_alone() -> None:
    chart = risk_chart(summarise_risk(np.array([1, 4]), 2))
    assert len(chart.series) == 1
    assert chart.table.columns == ("Class size", "Rows before", "Rows before (%)")


def test_the_loss_chart_names_the_attribute_that_lost_most() -> None:
    chart = loss_chart(
        [AttributeUtility("age", 2, 4, 0.25, 0.1), AttributeUtility("sex", 0, 1, 0.01, 0.0)],
        total=0.13,
        suppressed=0.01,
    )
    assert "most in age (25 %)" in chart.answer
    assert "1 of 2 quasi-identifiers keep their original values" in chart.answer
    assert chart.table.rows == (("age", 2, 4, 25.0, 10.0), ("sex", 0, 1, 1.0, 0.0))


def test_no_suppression_has_no_suppression_chart() -> None:
    assert suppression_chart((), 0.0) is None
    chart = suppression_chart((GroupSuppression("sex", "", 10, 5),), 0.1)
    assert chart is not None
    assert "sex = (empty)" in chart.answer


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
@settings(deadline=None)
def test_the_front_holds_just_the_nodes_that_none_beats(points: list[tuple[float, float]]) -> None:
    front = [points[place] for place in cloud_of(points).pareto]
    unbeaten = {
        mine
        for mine in points
        if not any(o[0] <= mine[0] and o[1] <= mine[1] and o != mine for o in points)
    }
    assert set(front) == unbeaten
    assert len(front) == len(unbeaten)
    assert front == sorted(front)


def test_the_node_chart_shows_every_node_and_lists_the_front_and_the_choice() -> None:
    cloud = cloud_of([(0.0, 0.9), (0.2, 0.4), (0.3, 0.45), (1.0, 0.0)])
    chart = node_chart(cloud, NodeChoice(cloud.suppressed <= 0.5, 0.5, chosen=2))
    assert [series.name for series in chart.series] == [
        "Too many rows suppressed",
        "Feasible",
        "Best trade-off",
        "Chosen",
    ]
    assert sorted(np.concatenate([s.ids for s in chart.series[:2]]).tolist()) == [0, 1, 2, 3]
    assert chart.series[3].ids.tolist() == [2]
    assert chart.table.rows == (
        ("a 0", "no", 0.0, 90.0, ""),
        ("a 1", "yes", 20.0, 40.0, ""),
        ("a 2", "yes", 30.0, 45.0, "chosen"),
        ("a 3", "yes", 100.0, 0.0, ""),
    )
    assert chart.answer.startswith("3 of 4 combinations of levels reach k = 5")


def test_a_crowded_node_chart_is_thinned_evenly_and_says_so() -> None:
    nodes = 200_000
    loss = (np.arange(nodes) % 1000) / 1000
    suppressed = 1 - loss * (np.arange(nodes) // 1000 + 1) / 200
    cloud = NodeCloud(
        5, ("a",), np.zeros((nodes, 1), np.int8), loss, suppressed
    )  # fmt: skip
    chart = node_chart(cloud, NodeChoice(suppressed < 0.5, 0.5, chosen=12_345))
    drawn = np.concatenate([series.ids for series in chart.series[:2]])
    assert len(drawn) == len(set(drawn.tolist()))
    assert 5_000 < len(drawn) < 3 * MOST_POINTS
    assert 12_345 in drawn
    assert set(cloud.pareto.tolist()) <= set(drawn.tolist())
    assert f"{len(drawn):,} of the 200,000 points are drawn" in chart.answer
    shares = np.histogram(loss[drawn], bins=10)[0] / len(drawn)
    assert shares.min() > 0.03
