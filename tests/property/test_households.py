"""Households that leave together: searches and verifiers agree with a look at every row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.counting import constrained_counter
from dpdesk.engine.methods.k_anonymity.grouping import CountedTable, generalise
from dpdesk.engine.methods.k_anonymity.households import COST_BY_CLASS, Households
from dpdesk.engine.methods.k_anonymity.incognito import incognito
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, evaluate_node
from dpdesk.engine.methods.k_anonymity.missing import every_node
from dpdesk.engine.methods.k_anonymity.requirements import Constraints
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from dpdesk.verifiers.anonymity.requirements import household_rows
from tests.helpers.lattice_tables import LatticeTable, aligned, lattice_tables
from tests.helpers.memory_tables import MemorySource
from tests.reference import households, k_anonymity

_NAMES = ("", "h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True)
class Housed:
    """A table, and the household of each row."""

    table: LatticeTable
    houses: tuple[str, ...]

    @property
    def problem(self) -> LatticeProblem:
        plain = aligned(self.table.rows, self.table.hierarchies)
        texts = [
            tuple(h.leaves[c] for h, c in zip(plain.hierarchies, row, strict=True))
            for row in plain.codes.tolist()
        ]
        place = {row: at for at, row in enumerate(texts)}
        named = sorted(set(self.houses) - {""})
        entries: dict[tuple[int, int], int] = {}
        for row, house in zip(self.table.rows, self.houses, strict=True):
            key = (named.index(house) if house else -1, place[row])
            entries[key] = entries.get(key, 0) + 1
        codes = np.array(list(entries), np.int64).reshape(-1, 2)
        rows = np.array(list(entries.values()), np.int64)
        found = Households.of(codes[:, 0], codes[:, 1], rows, named, len(plain.counts))
        return LatticeProblem.from_aligned(plain, Constraints((), {}, households=found))

    @property
    def of(self) -> type[k_anonymity.Release]:
        return households.release_of(self.houses)


@st.composite
def housed(draw: st.DrawFn, most: int = 3) -> Housed:
    table = draw(lattice_tables(most_attributes=most))
    size = len(table.rows)
    drawn = draw(st.lists(st.sampled_from(_NAMES), min_size=size, max_size=size))
    return Housed(table, tuple(drawn))


ks = st.sampled_from((1, 2, 3))
limits = st.one_of(st.just(0), st.integers(0, 20))


@settings(deadline=None, max_examples=120)
@given(housed(), ks, limits, st.sampled_from(OBJECTIVES))
def test_the_optimum_is_the_best_of_all_nodes(
    drawn: Housed, k: int, limit: int, objective: str
) -> None:
    table = drawn.table
    expected = k_anonymity.best(table.rows, table.paths, objective, k, limit, drawn.of)
    search = every_node if objective in COST_BY_CLASS else bounded_search
    found = search(drawn.problem, objective, k, limit, CancelToken(), silent)
    assert found.node == expected
    assert found.proven_optimal == (expected is not None)


@settings(deadline=None, max_examples=60)
@given(housed(), ks, limits, st.sampled_from(PREFERENCES))
def test_samarati_and_incognito_find_the_preferred_node(
    drawn: Housed, k: int, limit: int, prefer: str
) -> None:
    rows, paths, place = drawn.table.rows, drawn.table.paths, (CancelToken(), silent)
    expected = k_anonymity.samarati(rows, paths, k, limit, prefer, drawn.of)
    assert samarati(drawn.problem, k, limit, prefer, *place).node == expected
    minimal = k_anonymity.minimal(rows, paths, k, limit, drawn.of)
    best = k_anonymity.preferred(rows, paths, minimal, k, prefer, drawn.of) if minimal else None
    assert incognito(drawn.problem, k, limit, prefer, *place).node == best


@settings(deadline=None, max_examples=80)
@given(housed(), ks, st.data())
def test_a_node_is_counted_alike_by_search_measure_and_verifier(
    drawn: Housed, k: int, data: st.DataObject
) -> None:
    table, problem = drawn.table, drawn.problem
    node = data.draw(st.sampled_from(k_anonymity.nodes(table.paths)))
    release = drawn.of(table.rows, table.paths, node, k)
    expected = (release.suppressed, release.classes, release.sum_of_squares)
    measured, counter = evaluate_node(problem, node, k), constrained_counter(problem, k)
    assert counter is not None
    assert (measured.suppressed, measured.classes, measured.sum_of_squares) == expected
    assert tuple(counter.count(np.array([node]), CancelToken())[0][:3]) == expected
    counted = CountedTable(aligned(table.rows, table.hierarchies), problem.constraints)
    classes = generalise(counted, node)
    assert sorted(classes.kept_sizes(k)[classes.kept(k)]) == sorted(release.kept_sizes)
    new = k_anonymity.generalise(table.rows, table.paths, node)
    held = problem.constraints.households
    assert held is not None
    assert held.measured(classes, k) == households.measured(new, drawn.houses, k)
    names = tuple(h.attribute for h in table.hierarchies)
    whole = [(*row, house) for row, house in zip(table.rows, drawn.houses, strict=True)]
    source = MemorySource.of((*names, "house"), whole)
    asked = source.frequency_table(names, CancelToken())
    raw = [tuple(d[c] for d, c in zip(asked.domains, row, strict=True)) for row in asked.codes]
    new = k_anonymity.generalise(raw, table.paths, node)
    texts = sorted({text for row in new for text in row})
    labels = np.array([[texts.index(text) for text in row] for row in new])
    rows, gone = household_rows(asked, labels, k, "house", source, CancelToken())
    kept = sum(release.keeps)
    assert int(rows.sum()) == kept
    there = {h for h, keep in zip(drawn.houses, release.keeps, strict=True) if keep}
    assert set(gone) == set(drawn.houses) - there - {""}


@settings(deadline=None, max_examples=60)
@given(housed(2), ks)
def test_no_row_is_lost_further_up(drawn: Housed, k: int) -> None:
    rows, paths = drawn.table.rows, drawn.table.paths
    kept = {node: drawn.of(rows, paths, node, k).keeps for node in k_anonymity.nodes(paths)}
    for low, of_low in kept.items():
        for high, of_high in kept.items():
            if all(a <= b for a, b in zip(low, high, strict=True)):
                assert all(not a or b for a, b in zip(of_low, of_high, strict=True))
