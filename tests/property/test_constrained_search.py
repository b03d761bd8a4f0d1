"""Searches where classes must pass more than k agree with a look at every node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.counting import constrained_counter
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, evaluate_node
from dpdesk.engine.methods.k_anonymity.required import RequireParameter, requirements_of
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, SensitiveCounts, Values
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS
from tests.helpers.lattice_tables import LatticeTable, lattice_tables
from tests.reference import class_requirements, k_anonymity

Require = Mapping[str, object]

_VALUES = ("a", "b", "c", "d")
_TREE = Hierarchy.from_rows(
    "s", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")]
)
_PATHS = {row[0]: row for row in _TREE.rows()}
_T = [Fraction(n) for n in ("0", "0.1110001", "0.2330001", "0.3570001", "0.5090001")]

required = st.one_of(
    st.builds(lambda n: {"model": "l-diversity", "l": n}, st.integers(1, 3)).map(
        lambda keys: keys | {"variant": "distinct"}
    ),
    st.builds(
        lambda n: {"model": "l-diversity", "variant": "entropy", "l": n},
        st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(3)]),
    ),
    st.builds(
        lambda n, c: {"model": "l-diversity", "variant": "recursive", "l": n, "c": c},
        st.integers(1, 3),
        st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)]),
    ),
    st.builds(
        lambda variant, t: {"model": "t-closeness", "variant": variant, "t": t},
        st.sampled_from(["equal", "ordered", "hierarchical"]),
        st.sampled_from(_T),
    ),
    st.builds(
        lambda n: {"model": "alpha-k", "alpha": n},
        st.sampled_from([Fraction(2, 5), Fraction(1, 2), Fraction(3, 4)]),
    ),
    st.builds(
        lambda variant, n: {"model": "beta-likeness", "variant": variant, "beta": n},
        st.sampled_from(["basic", "enhanced"]),
        st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)]),
    ),
)


@dataclass(frozen=True)
class Sensitive:
    """A table, a value of two sensitive columns in each row, and what is required of each."""

    table: LatticeTable
    values: Sequence[tuple[str, str]]
    asked: tuple[Require, Require]

    @property
    def problem(self) -> LatticeProblem:
        plain = self.table.problem
        places = {
            tuple(h.leaves[c] for h, c in zip(plain.hierarchies, row, strict=True)): at
            for at, row in enumerate(plain.codes.tolist())
        }
        tuples = np.array([places[row] for row in self.table.rows])
        ones, of = np.ones(len(tuples), np.int64), Values.of(_VALUES, _TREE)
        counts = {
            name: SensitiveCounts(
                of, tuples, np.array([_VALUES.index(row[at]) for row in self.values]), ones
            )
            for at, name in enumerate("st")
        }
        reader = RequireParameter(key="require", label="", help="")
        listed = [{"attribute": name, **each} for name, each in zip("st", self.asked, strict=True)]
        read = requirements_of(reader.parse(listed, "plan"))
        return replace(plain, constraints=Constraints(read, counts))

    @property
    def release(self) -> type[k_anonymity.Release]:
        rows, asked = self.values, [(at, each, _PATHS) for at, each in enumerate(self.asked)]

        class Requiring(k_anonymity.Release):
            def kept(self) -> list[bool]:
                found = class_requirements.kept(rows, self.new, asked, self.k)
                assume(found is not None)
                return found or []

        return Requiring


@st.composite
def tables(draw: st.DrawFn) -> Sensitive:
    table = draw(lattice_tables(most_attributes=2))
    size = len(table.rows)
    pairs = st.tuples(st.sampled_from(_VALUES), st.sampled_from(_VALUES[:2]))
    values = draw(st.lists(pairs, min_size=size, max_size=size))
    free = {"model": "l-diversity", "variant": "distinct", "l": 1}
    return Sensitive(table, values, (draw(required), draw(st.one_of(st.just(free), required))))


ks, shares = st.sampled_from((1, 2, 3, 5)), st.one_of(st.just(0), st.integers(0, 20))


@settings(deadline=None, max_examples=80)
@given(tables(), ks, shares, st.sampled_from(OBJECTIVES))
def test_the_optimum_is_the_best_of_all_nodes(
    table: Sensitive, k: int, limit: int, objective: str
) -> None:
    rows, paths = table.table.rows, table.table.paths
    expected = k_anonymity.best(rows, paths, objective, k, limit, table.release)
    found = bounded_search(table.problem, objective, k, limit, CancelToken(), silent)
    assert found.node == expected
    assert found.proven_optimal == (expected is not None)


@settings(deadline=None, max_examples=40)
@given(tables(), ks, shares, st.sampled_from(PREFERENCES))
def test_samarati_finds_the_preferred_node_of_least_height(
    table: Sensitive, k: int, limit: int, prefer: str
) -> None:
    rows, paths = table.table.rows, table.table.paths
    expected = k_anonymity.samarati(rows, paths, k, limit, prefer, table.release)
    assert samarati(table.problem, k, limit, prefer, CancelToken(), silent).node == expected


@settings(deadline=None, max_examples=40)
@given(tables(), ks, st.data())
def test_a_node_is_counted_alike_by_search_and_measure(
    table: Sensitive, k: int, data: st.DataObject
) -> None:
    node = data.draw(st.sampled_from(k_anonymity.nodes(table.table.paths)))
    release, problem = table.release(table.table.rows, table.table.paths, node, k), table.problem
    measured, counter = evaluate_node(problem, node, k), constrained_counter(problem, k)
    assert counter is not None
    counted = counter.count(np.array([node]), CancelToken())[0]
    expected = (release.suppressed, release.classes, release.sum_of_squares)
    assert (measured.suppressed, measured.classes, measured.sum_of_squares) == expected
    assert tuple(counted[:3]) == expected
    assert measured.loss == release.loss


@settings(deadline=None, max_examples=60)
@given(tables(), ks, shares)
def test_no_feasible_node_below_removes_fewer_rows_than_is_said(
    table: Sensitive, k: int, limit: int
) -> None:
    problem, nodes = table.problem, k_anonymity.nodes(table.table.paths)
    counter = constrained_counter(problem, k, limit)
    assert counter is not None
    least = counter.count(np.array(nodes), CancelToken(), below=True)[:, FIELDS]
    removed = {}
    for node in nodes:
        release = table.release(table.table.rows, table.table.paths, node, k)
        if release.feasible(limit):
            removed[node] = release.suppressed
    for place, node in enumerate(nodes):
        below = [n for n in removed if all(a <= b for a, b in zip(n, node, strict=True))]
        assert all(removed[n] >= least[place] for n in below)


def test_a_node_above_may_fail_where_one_below_passes() -> None:
    """Entropy 2: {1, 1} passes and {10} fails; merged, {11, 1} fails as a whole."""
    tree = Hierarchy.from_rows("a", [("x", "*"), ("y", "*")])
    rows = (("x",),) * 2 + (("y",),) * 10
    values = [("a", "a"), ("b", "a"), *[("a", "a")] * 10]
    free = {"model": "l-diversity", "l": 1}
    asked = {"model": "l-diversity", "variant": "entropy", "l": 2}
    table = Sensitive(LatticeTable(rows, (tree,)), values, (asked, free))
    found = bounded_search(table.problem, "loss", 1, 10, CancelToken(), silent)
    assert found.node == (0,)
    assert samarati(table.problem, 1, 10, PREFERENCES[0], CancelToken(), silent).node == (0,)
    assert bounded_search(table.problem, "loss", 1, 9, CancelToken(), silent).node is None


def test_a_large_class_that_leaves_makes_the_average_smaller() -> None:
    """At the bottom the class of three fails; the two rows left are one class of k rows."""
    trees = (
        Hierarchy.from_rows("a", [("a0", "g0", "*"), ("a1", "g1", "*")]),
        Hierarchy.from_rows("b", [("b0", "g0", "*"), ("b1", "g0", "*"), ("b2", "g1", "*")]),
    )
    rows = (("a1", "b0"), ("a0", "b2"), ("a1", "b1"), ("a1", "b0"), ("a0", "b2"), ("a0", "b2"))
    values = [(value, "a") for value in "abab"] + [("b", "a"), ("b", "a")]
    free = {"model": "l-diversity", "variant": "distinct", "l": 1}
    table = Sensitive(LatticeTable(rows, trees), values, ({**free, "l": 2}, free))
    place = "average-class-size", 2, 5
    assert bounded_search(table.problem, *place, CancelToken(), silent).node == (0, 0)
