"""The lattice as a picture: all of a small one, else the chosen node and those a step away."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dpdesk.engine.methods.k_anonymity.charts as module
from dpdesk.core.charts import ScatterChart
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.charts import NodeChoice, steps_chart
from dpdesk.engine.methods.k_anonymity.known_nodes import cloud_of
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.search import walk_lattice
from tests.helpers.lattice_tables import aligned
from tests.unit.engine.methods.k_anonymity.test_lattice_search import COURSE_ROWS, RACE, ZIP


@pytest.fixture(scope="module")
def problem() -> LatticeProblem:
    return LatticeProblem.from_aligned(aligned(COURSE_ROWS, (RACE, ZIP)))


def drawn(problem: LatticeProblem, k: int, allowed: int, *, whole: bool = True) -> ScatterChart:
    statistics = walk_lattice(problem, [k], CancelToken(), silent)
    cloud = cloud_of(statistics, k, whole=whole, first_id=100)
    feasible = statistics.feasible(k, allowed)
    chosen = statistics.best("loss", k, allowed)
    choice = NodeChoice(feasible, allowed / problem.rows, chosen, True, "loss")
    chart = steps_chart(problem, cloud, choice)
    assert chart is not None
    return chart


def places(chart: ScatterChart) -> dict[int, float]:
    return {
        one: x
        for series in chart.series
        for one, x in zip(series.ids.tolist(), series.x.tolist(), strict=True)
    }


def test_a_small_lattice_is_drawn_whole_with_every_covering_pair(problem: LatticeProblem) -> None:
    chart = drawn(problem, 2, 2)
    nodes = list(itertools.product(*(range(height + 1) for height in problem.heights)))
    steps = {100 + problem.index(node): float(sum(node)) for node in nodes}
    assert places(chart) == steps
    covering = {
        (100 + problem.index(low), 100 + problem.index(high))
        for low in nodes
        for high in nodes
        if sum(high) - sum(low) == 1 and all(a <= b for a, b in zip(low, high, strict=True))
    }
    assert set(chart.links) == covering
    assert len(chart.table.rows) == problem.node_count


def test_minimal_nodes_are_counted_as_the_definition_says(problem: LatticeProblem) -> None:
    # The course text: with two rows suppressed, [1,0] and [0,1] are the 2-minimal nodes.
    assert "2 of them with no feasible node one step finer" in drawn(problem, 2, 2).answer


def test_of_a_large_lattice_only_the_chosen_node_and_its_neighbours_are_drawn(
    problem: LatticeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_NODES", 1)
    chart = drawn(problem, 2, 2)
    chosen = next(one for one in chart.series if one.name == "Chosen")
    number = int(chosen.ids[0])
    levels = problem.levels(number - 100)
    expected = {number} | {
        100 + problem.index((*levels[:at], levels[at] + change, *levels[at + 1 :]))
        for at in range(len(levels))
        for change in (-1, 1)
        if 0 <= levels[at] + change <= problem.heights[at]
    }
    assert set(places(chart)) == expected
    assert all(number in link for link in chart.links)
    labels = [label for series in chart.series for label in series.labels]
    assert all("→" in label for label in labels if label)
    assert labels.count("") == 1


def test_neighbours_that_nobody_looked_at_are_left_out_and_it_says_so(
    problem: LatticeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_NODES", 1)
    whole = drawn(problem, 2, 2)
    known = drawn(problem, 2, 2, whole=False)
    assert set(places(known)) == set(places(whole))
    assert "that were looked at" in known.answer
    assert "that were looked at" not in whole.answer


def test_without_a_chosen_node_a_large_lattice_has_no_picture(
    problem: LatticeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_NODES", 1)
    statistics = walk_lattice(problem, [2], CancelToken(), silent)
    cloud = cloud_of(statistics, 2, whole=True)
    nothing = NodeChoice(np.zeros(problem.node_count, np.bool_), 0.0)
    assert steps_chart(problem, cloud, nothing) is None
