"""What a plan prefers (weights, levels, minimal nodes), against a look at every node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from operator import le

from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.anytime import anytime_search
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.genetic import genetic_search
from dpdesk.engine.methods.k_anonymity.incognito import incognito
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from dpdesk.engine.methods.k_anonymity.search import optimal_search
from tests.helpers.lattice_tables import LatticeTable, lattice_tables
from tests.property.test_constrained_search import Sensitive, tables
from tests.reference import k_anonymity as reference

WEIGHED = ("loss", "precision", "discernibility", "average-class-size")
ks, shares = st.sampled_from((1, 2, 3, 5)), st.one_of(st.just(0), st.integers(0, 20))


@dataclass(frozen=True)
class Preferred:
    """A table with weights and bounds of levels."""

    table: LatticeTable
    weights: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]

    @property
    def problem(self) -> LatticeProblem:
        found = replace(self.table.problem, bounds=(self.low, self.high))
        return replace(found, weights=self.weights if len(set(self.weights)) > 1 else ())

    @property
    def release(self) -> type[reference.Release]:
        low, high, weights = self.low, self.high, self.weights

        class Bounded(reference.Release):
            def feasible(self, max_suppressed: int) -> bool:
                inside = all(map(le, low, self.node)) and all(map(le, self.node, high))
                return inside and super().feasible(max_suppressed)

            def _mean(self, cell_value: object) -> Fraction:
                total = Fraction(0)
                for row, keep in zip(self.rows, self.keeps, strict=True):
                    for column, value in enumerate(row):
                        lost = cell_value(column, value) if keep else 1  # type: ignore[operator]
                        total += weights[column] * lost
                return total / (len(self.rows) * sum(weights))

        return Bounded


@st.composite
def preferred(draw: st.DrawFn) -> Preferred:
    table = draw(lattice_tables())
    pairs = [sorted(draw(st.tuples(*[st.integers(0, h)] * 2))) for h in table.problem.heights]
    weights = draw(st.tuples(*[st.integers(1, 5)] * len(pairs)))
    return Preferred(table, weights, tuple(a for a, _ in pairs), tuple(b for _, b in pairs))


@settings(deadline=None, max_examples=80)
@given(preferred(), ks, shares, st.sampled_from(WEIGHED))
def test_every_search_heeds_weights_and_levels(
    table: Preferred, k: int, limit: int, objective: str
) -> None:
    problem, nodes = table.problem, len(reference.nodes(table.table.paths))
    rows, paths = table.table.rows, table.table.paths
    expected = reference.best(rows, paths, objective, k, limit, table.release)
    place = problem, objective, k, limit, CancelToken(), silent
    assert bounded_search(*place).node == expected
    assert optimal_search(*place).node == expected
    assert anytime_search(*place, max_nodes=nodes + 1).node == expected
    bred = genetic_search(*place)
    assert (bred.node is None) is (expected is None)
    if bred.node is not None:
        assert table.release(rows, paths, bred.node, k).feasible(limit)


@settings(deadline=None, max_examples=40)
@given(preferred(), ks, shares, st.sampled_from(PREFERENCES))
def test_samarati_heeds_levels(table: Preferred, k: int, limit: int, prefer: str) -> None:
    rows, paths = table.table.rows, table.table.paths
    expected = reference.samarati(rows, paths, k, limit, prefer, table.release)
    assert samarati(table.problem, k, limit, prefer, CancelToken(), silent).node == expected


def _all_minimal(rows, paths, k, limit, prefer, of):  # type: ignore[no-untyped-def]
    minimal = reference.minimal(rows, paths, k, limit, of)
    return reference.preferred(rows, paths, minimal, k, prefer, of) if minimal else None


@settings(deadline=None, max_examples=60)
@given(preferred(), ks, shares, st.sampled_from(PREFERENCES))
def test_incognito_finds_the_preferred_of_all_minimal_nodes(
    table: Preferred, k: int, limit: int, prefer: str
) -> None:
    place = table.table.rows, table.table.paths, k, limit, prefer
    found = incognito(table.problem, k, limit, prefer, CancelToken(), silent)
    assert found.node == _all_minimal(*place, table.release)


@settings(deadline=None, max_examples=30)
@given(tables(), ks, shares, st.sampled_from(PREFERENCES))
def test_incognito_finds_it_where_classes_must_pass_more_than_k(
    table: Sensitive, k: int, limit: int, prefer: str
) -> None:
    place = table.table.rows, table.table.paths, k, limit, prefer
    found = incognito(table.problem, k, limit, prefer, CancelToken(), silent)
    assert found.node == _all_minimal(*place, table.release)


@settings(deadline=None, max_examples=40)
@given(preferred(), ks, shares, st.sampled_from(WEIGHED))
def test_nothing_is_better_than_the_bound_that_is_told(
    table: Preferred, k: int, limit: int, objective: str
) -> None:
    found = genetic_search(table.problem, objective, k, limit, CancelToken(), silent)
    rows, paths = table.table.rows, table.table.paths
    best = reference.best(rows, paths, objective, k, limit, table.release)
    assert (found.bound is None) is (best is None)
    if best is not None and found.bound is not None:
        assert float(table.release(rows, paths, best, k).objective(objective)) >= found.bound - 1e-9
