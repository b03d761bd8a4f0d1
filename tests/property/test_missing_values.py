"""What missing values count as: searches and verifiers agree with a look at every row and node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.counting import constrained_counter
from dpdesk.engine.methods.k_anonymity.grouping import CountedTable, generalise
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, evaluate_node
from dpdesk.engine.methods.k_anonymity.missing import MissingCells, counted_as, every_node
from dpdesk.engine.methods.k_anonymity.requirements import Constraints
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from dpdesk.verifiers.anonymity.requirements import matches, staying
from tests.helpers.lattice_tables import LatticeTable, aligned, lattice_tables
from tests.reference import k_anonymity
from tests.reference.missing_values import MISSING, MatchesAnything, MatchesNothing

KINDS: Mapping[str, type[k_anonymity.Release]] = {"any": MatchesAnything, "none": MatchesNothing}

kinds, ks = st.sampled_from(sorted(KINDS)), st.sampled_from((1, 2, 3, 5))
limits = st.one_of(st.just(0), st.integers(0, 20))


def problem_of(table: LatticeTable, how: str) -> LatticeProblem:
    plain = aligned(table.rows, table.hierarchies)
    codes = [
        frozenset(hierarchy.leaf_codes[text] for text in MISSING if text in hierarchy.leaf_codes)
        for hierarchy in table.hierarchies
    ]
    marked = replace(plain, missing=tuple(codes), added=tuple(codes))
    cells = MissingCells.of(marked, how, "the plan")
    return LatticeProblem.from_aligned(marked, Constraints((), {}, missing=cells))


@settings(deadline=None, max_examples=120)
@given(lattice_tables(), kinds, ks, limits, st.sampled_from(OBJECTIVES))
def test_the_optimum_is_the_best_of_all_nodes(
    table: LatticeTable, how: str, k: int, limit: int, objective: str
) -> None:
    expected = k_anonymity.best(table.rows, table.paths, objective, k, limit, KINDS[how])
    search = every_node if how == "any" else bounded_search
    found = search(problem_of(table, how), objective, k, limit, CancelToken(), silent)
    assert found.node == expected
    assert found.proven_optimal == (expected is not None)


@settings(deadline=None, max_examples=60)
@given(lattice_tables(), ks, limits, st.sampled_from(PREFERENCES))
def test_samarati_finds_the_preferred_node_of_least_height(
    table: LatticeTable, k: int, limit: int, prefer: str
) -> None:
    place = table.rows, table.paths, k, limit, prefer, MatchesNothing
    found = samarati(problem_of(table, "none"), k, limit, prefer, CancelToken(), silent)
    assert found.node == k_anonymity.samarati(*place)


@settings(deadline=None, max_examples=80)
@given(lattice_tables(), kinds, ks, st.data())
def test_a_node_is_counted_alike_by_search_measure_and_verifier(
    table: LatticeTable, how: str, k: int, data: st.DataObject
) -> None:
    node = data.draw(st.sampled_from(k_anonymity.nodes(table.paths)))
    problem, release = problem_of(table, how), KINDS[how](table.rows, table.paths, node, k)
    expected = (release.suppressed, release.classes, release.sum_of_squares)
    measured, counter = evaluate_node(problem, node, k), constrained_counter(problem, k)
    assert counter is not None
    assert (measured.suppressed, measured.classes, measured.sum_of_squares) == expected
    assert tuple(counter.count(np.array([node]), CancelToken())[0][:3]) == expected
    texts = sorted({text for row in release.new for text in row})
    codes = np.array([[texts.index(text) for text in row] for row in release.new])
    lost = np.array(
        [[release.lost(at, c) for c in range(len(table.paths))] for at in range(len(codes))]  # type: ignore[attr-defined]
    )
    ones = np.ones(len(codes), np.int64)
    assert staying(how, codes, lost, ones, k).tolist() == release.keeps
    if how == "any" and any(release.keeps):
        kept = np.array(release.keeps)
        constraints = problem.constraints
        assert constraints is not None
        assert constraints.missing is not None
        counted = CountedTable(constraints.missing.table, constraints)
        fewest, said = counted_as(generalise(counted, node), k)
        assert fewest == matches(codes[kept], lost[kept], ones[kept]).min() >= k
        shown = {text for row, keep in zip(release.new, release.keeps, strict=True) if keep
                 for text in row if text in MISSING}  # fmt: skip
        labels = said["missing"]
        assert isinstance(labels, dict)
        assert {text for listed in labels.values() for text in listed} == shown


@settings(deadline=None, max_examples=60)
@given(lattice_tables(most_attributes=2), kinds, ks)
def test_no_row_is_lost_further_up(table: LatticeTable, how: str, k: int) -> None:
    kept = {
        node: KINDS[how](table.rows, table.paths, node, k).keeps
        for node in k_anonymity.nodes(table.paths)
    }
    for low, of_low in kept.items():
        for high, of_high in kept.items():
            if all(a <= b for a, b in zip(low, high, strict=True)):
                assert all(not a or b for a, b in zip(of_low, of_high, strict=True))


def test_rows_leave_together_until_all_that_stay_have_k_matches() -> None:
    """x? matches xa and xb, which do not match each other: at k = 2 all stay, at k = 3 none."""
    trees = tuple(
        Hierarchy.from_rows(name, [(leaf, "*") for leaf in leaves])
        for name, leaves in (("a", ("x", "y")), ("b", ("a", "b", "?")))
    )
    table = LatticeTable((("x", "a"), ("x", "b"), ("x", "?"), ("y", "a")), trees)
    place = "loss", 2, 1, CancelToken(), silent
    assert every_node(problem_of(table, "any"), *place).least_suppressed == ((1, 0), 0)
    at_bottom = evaluate_node(problem_of(table, "any"), (0, 0), 2)
    assert (at_bottom.suppressed, at_bottom.classes) == (1, 3)
    assert evaluate_node(problem_of(table, "any"), (0, 0), 3).classes == 0
    assert evaluate_node(problem_of(table, "none"), (0, 0), 2).classes == 0


def test_a_group_of_missing_and_other_values_is_refused() -> None:
    tree = Hierarchy.from_rows("a", [("x", "rest", "*"), ("?", "rest", "*"), ("y", "y", "*")])
    table = LatticeTable((("x",), ("?",), ("y",)), (tree,))
    with pytest.raises(InputError, match=r"`a` puts missing values and others together as"):
        problem_of(table, "any")
