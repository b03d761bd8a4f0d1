"""What a population file asks of classes: searches and verifiers agree with a look at every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import Population
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.hierarchies.preview import default_hierarchy
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.counting import constrained_counter
from dpdesk.engine.methods.k_anonymity.households import Households
from dpdesk.engine.methods.k_anonymity.incognito import incognito
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, evaluate_node
from dpdesk.engine.methods.k_anonymity.population import PopulationRows, absent_rows
from dpdesk.engine.methods.k_anonymity.requirements import Constraints
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from dpdesk.verifiers.anonymity.remaking import Asked, matching, staying_matched
from tests.helpers.lattice_tables import LatticeTable, aligned, lattice_tables
from tests.helpers.memory_tables import MemorySource
from tests.helpers.searching import examples
from tests.reference import households, k_anonymity, populations

Shares = tuple[Fraction, Fraction] | None
Row = tuple[str, ...]


@dataclass(frozen=True)
class Peopled:
    """A table, further rows of its population, and what is asked of the two."""

    table: LatticeTable
    others: tuple[Row, ...]
    k_map: int
    shares: Shares

    @property
    def people(self) -> tuple[Row, ...]:
        return self.table.rows + self.others

    @property
    def counted(self) -> Population:
        names = tuple(hierarchy.attribute for hierarchy in self.table.hierarchies)
        source = MemorySource.of(names, self.people, missing=())
        return Population("all.csv", "", source.frequency_table(names, CancelToken()))

    @property
    def rows(self) -> PopulationRows:
        table = aligned(self.table.rows, self.table.hierarchies)
        table = replace(table, missing=(frozenset(),) * len(table.attributes))
        trees = dict(zip(table.attributes, table.hierarchies, strict=True))
        return PopulationRows.of(table, self.counted, trees, {}, (self.k_map, self.shares))

    @property
    def problem(self) -> LatticeProblem:
        table = aligned(self.table.rows, self.table.hierarchies)
        return LatticeProblem.from_aligned(table, Constraints((), {}, population=self.rows))

    @property
    def of(self) -> type[k_anonymity.Release]:
        return populations.release_of(self.people, self.k_map, self.shares)


_SHARES = [Fraction(n) for n in ("1/3", "1/2", "3/5", "3/4", "1")]


@st.composite
def peopled(draw: st.DrawFn, most: int = 3, *, mapped: bool = False) -> Peopled:
    table = draw(lattice_tables(most_attributes=most))
    row = st.tuples(*(st.sampled_from(hierarchy.leaves) for hierarchy in table.hierarchies))
    again = st.sampled_from(table.rows)
    drawn = draw(st.lists(st.tuples(st.one_of(again, row), st.integers(1, 6)), max_size=8))
    others = tuple(each for each, times in drawn for _ in range(times))
    if mapped or draw(st.booleans()):
        return Peopled(table, others, draw(st.integers(1, 12)), None)
    low = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 5), Fraction(1, 3)]))
    high = draw(st.sampled_from([share for share in _SHARES if share >= low]))
    return Peopled(table, others, draw(st.sampled_from((0, 0, 4))), (low, high))


ks = st.sampled_from((1, 2, 3))
limits = st.one_of(st.just(0), st.integers(0, 25))


@settings(deadline=None, max_examples=examples(120))
@given(peopled(), ks, limits, st.sampled_from(OBJECTIVES))
def test_the_optimum_is_the_best_of_all_nodes(
    drawn: Peopled, k: int, limit: int, objective: str
) -> None:
    table = drawn.table
    expected = k_anonymity.best(table.rows, table.paths, objective, k, limit, drawn.of)
    found = bounded_search(drawn.problem, objective, k, limit, CancelToken(), silent)
    assert found.node == expected
    assert found.proven_optimal == (expected is not None)


@settings(deadline=None, max_examples=60)
@given(peopled(), ks, limits, st.sampled_from(PREFERENCES))
def test_samarati_and_incognito_find_the_preferred_node(
    drawn: Peopled, k: int, limit: int, prefer: str
) -> None:
    """Where feasibility is not monotone, Samarati tries every height, and Incognito every node."""
    rows, paths, place = drawn.table.rows, drawn.table.paths, (CancelToken(), silent)
    expected = k_anonymity.samarati(rows, paths, k, limit, prefer, drawn.of)
    assert samarati(drawn.problem, k, limit, prefer, *place).node == expected
    minimal = k_anonymity.minimal(rows, paths, k, limit, drawn.of)
    best = k_anonymity.preferred(rows, paths, minimal, k, prefer, drawn.of) if minimal else None
    assert incognito(drawn.problem, k, limit, prefer, *place).node == best


@settings(deadline=None, max_examples=80)
@given(peopled(), ks, st.data())
def test_a_node_is_counted_alike_by_search_measure_and_verifier(
    drawn: Peopled, k: int, data: st.DataObject
) -> None:
    table, problem = drawn.table, drawn.problem
    node = data.draw(st.sampled_from(k_anonymity.nodes(table.paths)))
    release = drawn.of(table.rows, table.paths, node, k)
    expected = (release.suppressed, release.classes, release.sum_of_squares)
    measured, counter = evaluate_node(problem, node, k), constrained_counter(problem, k)
    assert counter is not None
    assert (measured.suppressed, measured.classes, measured.sum_of_squares) == expected
    assert tuple(counter.count(np.array([node]), CancelToken())[0][:3]) == expected
    names = [hierarchy.attribute for hierarchy in table.hierarchies]
    trees = dict(zip(names, table.hierarchies, strict=True))
    matches = matching(drawn.counted, names, trees, node, {})
    assert matches == Counter(k_anonymity.generalise(drawn.people, table.paths, node))
    if drawn.shares is None or drawn.shares[0] == 0:
        sizes = Counter(release.new)
        asked = Asked(drawn.k_map, drawn.shares)
        left = staying_matched(asked, matches, release.new, [sizes[row] for row in release.new])
        keeps = [good and sizes[row] >= k for good, row in zip(left, release.new, strict=True)]
        assert keeps == release.keeps


@settings(deadline=None, max_examples=60)
@given(peopled(2, mapped=True), ks)
def test_no_row_is_lost_further_up_under_k_map(drawn: Peopled, k: int) -> None:
    rows, paths = drawn.table.rows, drawn.table.paths
    kept = {node: drawn.of(rows, paths, node, k).keeps for node in k_anonymity.nodes(paths)}
    for low, of_low in kept.items():
        for high, of_high in kept.items():
            if all(a <= b for a, b in zip(low, high, strict=True)):
                assert all(not a or b for a, b in zip(of_low, of_high, strict=True))


@settings(deadline=None, max_examples=60)
@given(peopled(2, mapped=True), ks, limits, st.data())
def test_households_leave_with_classes_that_match_too_few(
    drawn: Peopled, k: int, limit: int, data: st.DataObject
) -> None:
    rows, paths = drawn.table.rows, drawn.table.paths
    names = st.lists(st.sampled_from(["", "h", "i", "j"]), min_size=len(rows), max_size=len(rows))
    houses = data.draw(names)
    plain = aligned(rows, drawn.table.hierarchies)
    place = {
        tuple(h.leaves[c] for h, c in zip(plain.hierarchies, codes, strict=True)): at
        for at, codes in enumerate(plain.codes.tolist())
    }
    texts = sorted({*houses} - {""})
    entries = Counter(
        (texts.index(house) if house else -1, place[row])
        for row, house in zip(rows, houses, strict=True)
    )
    codes = np.array(list(entries), np.int64).reshape(-1, 2)
    counts = np.array(list(entries.values()), np.int64)
    held = Households.of(codes[:, 0], codes[:, 1], counts, texts, len(plain.counts))
    both = Constraints((), {}, households=held, population=drawn.rows)

    class Both(k_anonymity.Release):
        def kept(self) -> list[bool]:
            there = Counter(k_anonymity.generalise(drawn.people, self.paths, self.node))
            fails = {row for row in self.new if there[row] < drawn.k_map}
            return households.staying(self.new, houses, self.k, fails.__contains__)

    problem = LatticeProblem.from_aligned(plain, both)
    expected = k_anonymity.best(rows, paths, "loss", k, limit, Both)
    assert bounded_search(problem, "loss", k, limit, CancelToken(), silent).node == expected


def _peopled(rows: tuple[Row, ...], others: tuple[Row, ...], tree: Hierarchy) -> Peopled:
    return Peopled(LatticeTable(rows, (tree,)), others, 2, None)


def test_values_that_only_the_population_has() -> None:
    """Made levels take them in when they stay as they are; a file must have them."""
    tree = default_hierarchy("a", ["x", "y"])
    drawn = _peopled((("x",), ("y",)), (("z",), ("x",)), tree)
    table = replace(aligned(drawn.table.rows, (tree,)), missing=(frozenset(),))
    asked: tuple[int, Shares] = (2, None)

    def remake(values: object, missing: object) -> Hierarchy:
        return default_hierarchy("a", values)  # type: ignore[arg-type]

    made = PopulationRows.of(table, drawn.counted, {"a": tree}, {"a": remake}, asked)
    own = np.arange(2)
    assert made.in_classes(own, 2, (0,))[0].tolist() == [2, 1]
    assert made.in_classes(np.zeros(2, np.int64), 1, (1,))[0].tolist() == [4]
    assert made.in_classes(own, 2, (0,))[1] is False
    with pytest.raises(InputError, match=r"all.csv: the value `z` of `a` has no leaf"):
        PopulationRows.of(table, drawn.counted, {"a": tree}, {}, asked)

    def other(values: object, missing: object) -> Hierarchy:
        rows = [(value, "some", "*") for value in values]  # type: ignore[attr-defined]
        return Hierarchy.from_rows("a", rows)

    with pytest.raises(InputError, match="The levels of `a` are made from the data"):
        PopulationRows.of(table, drawn.counted, {"a": tree}, {"a": other}, asked)


def test_rows_that_the_population_lacks() -> None:
    tree = default_hierarchy("a", ["x", "y"])
    table = replace(aligned((("x",), ("x",), ("y",)), (tree,)), missing=(frozenset(),))
    source = MemorySource.of(("a",), (("x",), ("y",)))
    people = Population("all.csv", "", source.frequency_table(("a",), CancelToken()))
    trees: Mapping[str, Hierarchy] = {"a": tree}
    rows = PopulationRows.of(table, people, trees, {}, (2, None))
    (note,) = absent_rows(rows, "all.csv", "a.csv")
    assert note.sentence.startswith("1 row of a.csv is not in the population file all.csv")
    shares = (Fraction(0), Fraction(1, 2))
    with pytest.raises(InputError, match=r"1 row of a.csv is not in the population file"):
        absent_rows(PopulationRows.of(table, people, trees, {}, (0, shares)), "all.csv", "a.csv")
