"""Limits on the rows that leave of each value: searches agree with a look at every row and node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, GroupLimit
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from tests.helpers.lattice_tables import LatticeTable, aligned, lattice_tables
from tests.helpers.searching import examples
from tests.reference import k_anonymity

Limits = Sequence[tuple[Sequence[str], Fraction]]


def problem_of(table: LatticeTable, limits: Limits) -> LatticeProblem:
    """The values of one column in each row, and the share of each that may leave."""
    plain = aligned(table.rows, table.hierarchies)
    place = {
        tuple(h.leaves[c] for h, c in zip(plain.hierarchies, codes, strict=True)): at
        for at, codes in enumerate(plain.codes.tolist())
    }
    made = []
    for column, share in limits:
        names = sorted(set(column))
        entries = Counter(
            (place[row], names.index(value)) for row, value in zip(table.rows, column, strict=True)
        )
        codes = np.array(list(entries), np.int64).reshape(-1, 2)
        rows = np.array(list(entries.values()), np.int64)
        made.append(GroupLimit.of(plain.counts, codes[:, 0], codes[:, 1], rows, share))
    return LatticeProblem.from_aligned(plain, Constraints((), {}, limits=tuple(made)))


def release_of(limits: Limits) -> type[k_anonymity.Release]:
    class Limited(k_anonymity.Release):
        def feasible(self, max_suppressed: int) -> bool:
            for column, share in limits:
                whole, gone = Counter(column), Counter[str]()
                for value, keep in zip(column, self.keeps, strict=True):
                    gone[value] += not keep
                if any(gone[value] > share * rows for value, rows in whole.items()):
                    return False
            return super().feasible(max_suppressed)

    return Limited


@st.composite
def limited(draw: st.DrawFn) -> tuple[LatticeTable, Limits]:
    table = draw(lattice_tables())
    share = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)])
    size = len(table.rows)
    own = draw(st.lists(st.sampled_from("xyz"), min_size=size, max_size=size))
    column = draw(st.integers(0, len(table.hierarchies) - 1))
    limits = [([row[column] for row in table.rows], draw(share)), (own, draw(share))]
    return table, limits[: draw(st.integers(1, 2))]


ks, most = st.sampled_from((1, 2, 3)), st.integers(0, 25)


@settings(deadline=None, max_examples=examples(120))
@given(limited(), ks, most, st.sampled_from(OBJECTIVES))
def test_the_optimum_is_the_best_of_all_nodes(
    drawn: tuple[LatticeTable, Limits], k: int, limit: int, objective: str
) -> None:
    table, limits = drawn
    problem, of = problem_of(table, limits), release_of(limits)
    expected = k_anonymity.best(table.rows, table.paths, objective, k, limit, of)
    found = bounded_search(problem, objective, k, limit, CancelToken(), silent)
    assert found.node == expected
    assert found.proven_optimal == (expected is not None)


@settings(deadline=None, max_examples=60)
@given(limited(), ks, most, st.sampled_from(PREFERENCES))
def test_samarati_finds_the_preferred_node_of_least_height(
    drawn: tuple[LatticeTable, Limits], k: int, limit: int, prefer: str
) -> None:
    table, limits = drawn
    expected = k_anonymity.samarati(table.rows, table.paths, k, limit, prefer, release_of(limits))
    problem = problem_of(table, limits)
    assert samarati(problem, k, limit, prefer, CancelToken(), silent).node == expected
