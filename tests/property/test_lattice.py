"""The lattice searches agree with the definitions on every node of small random lattices."""

from __future__ import annotations

import math
from fractions import Fraction
from operator import le
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity import packing
from dpdesk.engine.methods.k_anonymity.anytime import anytime_search
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.bounds import Bounds, highest
from dpdesk.engine.methods.k_anonymity.counting import counted_at
from dpdesk.engine.methods.k_anonymity.genetic import genetic_search
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, evaluate_node
from dpdesk.engine.methods.k_anonymity.packing import PackedLattice
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from dpdesk.engine.methods.k_anonymity.search import most_held, optimal_search, walk_lattice
from dpdesk.engine.methods.k_anonymity.statistics import LatticeStatistics
from tests.helpers.lattice_tables import LatticeTable, lattice_tables
from tests.reference import k_anonymity as reference

KS = (1, 2, 3, 5, 8)
shares = st.integers(0, 40)


def walked(problem: LatticeProblem, threads: int = 1) -> LatticeStatistics:
    return walk_lattice(problem, KS, CancelToken(), silent, threads=threads)


def close(found: float, exact: Fraction | float) -> bool:
    return found == float(exact) or math.isclose(found, exact, rel_tol=1e-9, abs_tol=1e-7)


@settings(deadline=None, max_examples=60)
@given(lattice_tables(), st.sampled_from(KS))
def test_the_walk_counts_and_measures_every_node_as_defined(table: LatticeTable, k: int) -> None:
    statistics = walked(table.problem)
    nodes = reference.nodes(table.paths)
    assert [tuple(levels) for levels in statistics.levels.tolist()] == nodes
    measured = {name: statistics.objective(name, k) for name in OBJECTIVES}
    for index, node in enumerate(nodes):
        release = reference.Release(table.rows, table.paths, node, k)
        assert statistics.suppressed(k)[index] == release.suppressed
        assert statistics.classes(k)[index] == release.classes
        assert statistics.sum_of_squares(k)[index] == release.sum_of_squares
        for name in OBJECTIVES:
            exact = release.entropy if name == "entropy" else release.objective(name)
            assert close(measured[name][index], exact), name


@settings(deadline=None, max_examples=60)
@given(lattice_tables(), st.integers(1, 4))
def test_a_table_that_is_sorted_in_pieces_is_the_same(table: LatticeTable, piece: int) -> None:
    whole = PackedLattice.of(table.problem, CancelToken())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_PIECE", piece)
        cut = PackedLattice.of(table.problem, CancelToken())
    assert cut.base.rests.tolist() == whole.base.rests.tolist()
    assert cut.base.entries.tolist() == whole.base.entries.tolist()
    assert int((whole.base.entries & 0xFFFFFFFF).sum()) == table.problem.rows


@settings(deadline=None, max_examples=60)
@given(lattice_tables(), st.sampled_from(KS), st.data())
def test_a_single_node_is_measured_exactly(
    table: LatticeTable, k: int, data: st.DataObject
) -> None:
    node = data.draw(st.sampled_from(reference.nodes(table.paths)))
    release = reference.Release(table.rows, table.paths, node, k)
    found = evaluate_node(table.problem, node, k)
    assert (found.levels, found.k, found.rows) == (node, k, len(table.rows))
    assert found.suppressed == release.suppressed
    assert found.kept == len(table.rows) - release.suppressed
    assert found.classes == release.classes
    assert found.smallest == min(release.kept_sizes, default=0)
    assert found.sum_of_squares == release.sum_of_squares
    assert found.discernibility == release.discernibility
    assert found.average_class_size == release.average_class_size
    assert found.loss == release.loss
    assert found.precision == release.precision
    assert math.isclose(found.entropy, release.entropy, rel_tol=1e-9, abs_tol=1e-9)


@settings(deadline=None, max_examples=100)
@given(lattice_tables(), st.sampled_from(KS), shares, st.sampled_from(OBJECTIVES))
def test_the_optimum_is_the_best_of_all_feasible_nodes_with_ties_decided_exactly(
    table: LatticeTable, k: int, limit: int, objective: str
) -> None:
    expected = reference.best(table.rows, table.paths, objective, k, limit)
    found = optimal_search(table.problem, objective, k, limit, CancelToken(), silent)
    assert found.node == expected
    assert found.proven_optimal == (expected is not None)
    assert found.nodes_checked == len(reference.nodes(table.paths))


@settings(deadline=None, max_examples=100)
@given(lattice_tables(), st.sampled_from(KS), shares, st.sampled_from(OBJECTIVES))
def test_the_optimum_is_the_same_where_sums_are_fixed_point(
    table: LatticeTable, k: int, limit: int, objective: str
) -> None:
    problem = table.problem
    # What large domains do: the common denominator does not fit, so losses are rounded, coarsely.
    problem.__dict__["loss_is_exact"] = False
    problem.__dict__["loss_unit"] = 1009
    problem.__dict__["log_unit"] = 64
    expected = reference.best(table.rows, table.paths, objective, k, limit)
    found = optimal_search(problem, objective, k, limit, CancelToken(), silent)
    assert found.node == expected


@settings(deadline=None, max_examples=60)
@given(lattice_tables(), st.sampled_from(KS), shares)
def test_the_minimal_nodes_are_those_with_nothing_feasible_below(
    table: LatticeTable, k: int, limit: int
) -> None:
    expected = reference.minimal(table.rows, table.paths, k, limit)
    statistics = walked(table.problem)
    found = np.flatnonzero(statistics.minimal(k, limit)).tolist()
    assert [statistics.problem.levels(index) for index in found] == expected


@settings(deadline=None, max_examples=60)
@given(lattice_tables(), st.sampled_from(KS), shares, st.sampled_from(PREFERENCES))
def test_samarati_finds_the_preferred_minimal_node_of_least_height(
    table: LatticeTable, k: int, limit: int, prefer: str
) -> None:
    expected = reference.samarati(table.rows, table.paths, k, limit, prefer)
    found = samarati(table.problem, k, limit, prefer, CancelToken(), silent)
    assert found.node == expected
    if found.node is not None:
        assert found.statistics == evaluate_node(table.problem, found.node, k)


@settings(deadline=None, max_examples=60)
@given(lattice_tables(), st.sampled_from(KS), shares, st.sampled_from(OBJECTIVES))
def test_an_anytime_search_with_room_for_all_nodes_finds_the_optimum(
    table: LatticeTable, k: int, limit: int, objective: str
) -> None:
    nodes = len(reference.nodes(table.paths))
    found = anytime_search(
        table.problem, objective, k, limit, CancelToken(), silent, max_nodes=nodes + 1
    )
    expected = reference.best(table.rows, table.paths, objective, k, limit)
    assert found.node == expected
    assert found.proven_optimal == (expected is not None)


@settings(deadline=None, max_examples=40)
@given(lattice_tables(), st.sampled_from(KS), shares, st.integers(2, 6))
def test_an_anytime_search_finds_a_feasible_node_whenever_there_is_one(
    table: LatticeTable, k: int, limit: int, budget: int
) -> None:
    found = anytime_search(table.problem, "loss", k, limit, CancelToken(), silent, budget)
    assert (found.node is None) == (k > len(table.rows))
    assert found.nodes_checked <= budget
    if found.node is not None:
        assert reference.Release(table.rows, table.paths, found.node, k).feasible(limit)


@settings(deadline=None, max_examples=60)
@given(
    lattice_tables(), st.sampled_from(KS), shares, st.sampled_from((anytime_search, genetic_search))
)
def test_a_search_that_is_to_end_gives_the_best_so_far_and_proves_nothing_false(
    table: LatticeTable, k: int, limit: int, search: Any
) -> None:
    token = CancelToken()

    def keep(event: object) -> None:
        token.keep()

    with token.searches(None) as ends:
        found = search(table.problem, "loss", k, limit, token, keep)
    with token.searches(ends):
        again = search(table.problem, "loss", k, limit, token, keep)
    assert again == found
    expected = reference.best(table.rows, table.paths, "loss", k, limit)
    assert (found.node is None) is (expected is None)
    if found.node is not None:
        assert reference.Release(table.rows, table.paths, found.node, k).feasible(limit)
        assert found.node == expected or not found.proven_optimal


@settings(deadline=None, max_examples=40)
@given(lattice_tables(most_attributes=4), st.integers(2, 4))
def test_results_do_not_depend_on_the_number_of_threads(table: LatticeTable, threads: int) -> None:
    problem = table.problem
    alone, shared = walked(problem), walked(problem, threads)
    for k in KS:
        for name in OBJECTIVES:
            assert (alone.objective(name, k) == shared.objective(name, k)).all()


@settings(deadline=None, max_examples=40)
@given(lattice_tables(most_attributes=4))
def test_a_thread_never_holds_more_groups_than_it_is_given_memory_for(table: LatticeTable) -> None:
    problem = table.problem
    order = PackedLattice.of(problem, CancelToken()).order
    groups = walked(problem).classes(1)

    def heaviest(node: tuple[int, ...], position: int) -> int:
        """Groups of the tables along the heaviest path that raises this position or later ones."""
        onwards = [0]
        for place in range(position, len(order)):
            attribute = order[place]
            if node[attribute] < problem.heights[attribute]:
                raised = (*node[:attribute], node[attribute] + 1, *node[attribute + 1 :])
                onwards.append(heaviest(raised, place))
        return int(groups[problem.index(node)]) + max(onwards)

    assert heaviest((0,) * len(order), 0) <= most_held(problem, order)


@settings(deadline=None, max_examples=40)
@given(lattice_tables(), st.sampled_from(KS))
def test_when_nothing_is_feasible_the_least_suppression_is_told(
    table: LatticeTable, k: int
) -> None:
    releases = [
        reference.Release(table.rows, table.paths, n, k) for n in reference.nodes(table.paths)
    ]
    least = min(release.suppressed for release in releases)
    searches = (
        optimal_search(table.problem, "loss", k, 0, CancelToken(), silent),
        samarati(table.problem, k, 0, PREFERENCES[0], CancelToken(), silent),
        anytime_search(table.problem, "loss", k, 0, CancelToken(), silent),
    )
    for found in searches:
        node, rows = found.least_suppressed
        assert rows == least
        assert reference.Release(table.rows, table.paths, node, k).suppressed == least


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_attribute_that_cannot_lose_anything_counts_as_lost_when_its_row_is_suppressed(
    name: str,
) -> None:
    from dpdesk.core.hierarchy import Hierarchy

    only = Hierarchy.from_rows("only", [["x"]])
    other = Hierarchy.from_rows("other", [["a", "*"], ["b", "*"]])
    table = LatticeTable((("x", "a"), ("x", "a"), ("x", "b")), (only, other))
    found = evaluate_node(table.problem, (0, 0), 2)
    assert found.attribute_loss == (Fraction(1, 3), Fraction(1, 3))
    assert found.attribute_generalisation == (Fraction(1, 3), Fraction(1, 3))
    assert close(walked(table.problem).objective(name, 2)[0], found.objective(name))


@settings(deadline=None, max_examples=200)
@given(lattice_tables(), st.sampled_from(KS), shares, st.sampled_from(OBJECTIVES))
def test_branch_and_bound_proves_the_same_optimum_as_looking_at_every_node(
    table: LatticeTable, k: int, limit: int, objective: str
) -> None:
    expected = reference.best(table.rows, table.paths, objective, k, limit)
    found = bounded_search(table.problem, objective, k, limit, CancelToken(), silent)
    assert found.node == expected
    assert found.proven_optimal == (expected is not None)
    assert found.nodes_checked <= len(reference.nodes(table.paths))
    if expected is not None:
        assert found.statistics == evaluate_node(table.problem, expected, k)


@settings(deadline=None, max_examples=100)
@given(lattice_tables(), st.sampled_from(KS), shares, st.sampled_from(OBJECTIVES))
def test_branch_and_bound_is_right_where_sums_are_fixed_point(
    table: LatticeTable, k: int, limit: int, objective: str
) -> None:
    problem = table.problem
    problem.__dict__["loss_is_exact"] = False
    problem.__dict__["loss_unit"] = 1009
    problem.__dict__["log_unit"] = 64
    expected = reference.best(table.rows, table.paths, objective, k, limit)
    assert bounded_search(problem, objective, k, limit, CancelToken(), silent).node == expected


@settings(deadline=None, max_examples=100)
@given(lattice_tables(), st.sampled_from(KS), shares, st.sampled_from(OBJECTIVES), st.data())
def test_no_bound_exceeds_what_a_node_is_by_definition(
    table: LatticeTable, k: int, limit: int, objective: str, data: st.DataObject
) -> None:
    nodes = reference.nodes(table.paths)
    learnt = data.draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=5, unique=True))
    problem = table.problem
    bounds = Bounds(problem, objective, k, limit)
    bounds.learn(counted_at(problem, learnt, np.unique([1, k]), CancelToken()))
    found = bounds.of(np.arange(len(nodes)))
    for bound, node in zip(found.tolist(), nodes, strict=True):
        release = reference.Release(table.rows, table.paths, node, k)
        if node not in learnt and release.feasible(limit):
            value = release.entropy if objective == "entropy" else release.objective(objective)
            assert bound <= float(value) * (1 + 1e-9) + 1e-7


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_the_highest_of_marked_nodes_have_none_above_them(
    shape: list[int], data: st.DataObject
) -> None:
    flags = st.lists(st.booleans(), min_size=math.prod(shape), max_size=math.prod(shape))
    marked = np.array(data.draw(flags)).reshape(shape)
    nodes = [tuple(node) for node in np.argwhere(marked).tolist()]
    expected = [
        low for low in nodes if not any(low != high and all(map(le, low, high)) for high in nodes)
    ]
    assert [tuple(node) for node in np.argwhere(highest(marked)).tolist()] == expected


@settings(deadline=None, max_examples=40)
@given(lattice_tables(), st.sampled_from(KS), shares, st.integers(1, 6))
def test_branch_and_bound_cut_short_finds_a_feasible_node_and_proves_nothing_false(
    table: LatticeTable, k: int, limit: int, budget: int
) -> None:
    found = bounded_search(table.problem, "loss", k, limit, CancelToken(), silent, max_nodes=budget)
    assert found.nodes_checked <= budget
    assert (found.node is None) == (k > len(table.rows))
    if found.node is not None:
        assert reference.Release(table.rows, table.paths, found.node, k).feasible(limit)
        if found.proven_optimal:
            assert found.node == reference.best(table.rows, table.paths, "loss", k, limit)


@settings(deadline=None, max_examples=60)
@given(lattice_tables(), st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_nodes_counted_together_are_counted_as_the_walk_does(
    table: LatticeTable, picks: list[int]
) -> None:
    problem = table.problem
    statistics = walked(problem)
    places = list(dict.fromkeys(pick % problem.node_count for pick in picks))
    nodes = [problem.levels(place) for place in places]
    found = counted_at(problem, nodes, np.array([1, 3], np.int64), CancelToken())
    assert [tuple(levels) for levels in found.levels.tolist()] == nodes
    for k in (1, 3):
        assert (found.suppressed(k) == statistics.suppressed(k)[places]).all()
        assert (found.sum_of_squares(k) == statistics.sum_of_squares(k)[places]).all()
        for name in ("loss", "entropy"):
            assert (found.objective(name, k) == statistics.objective(name, k)[places]).all()
