"""Sums that two tables have in common, against all equations that rows leave between them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.common import common_sums
from dpdesk.engine.tables.model import Dimension, System, Table
from tests.helpers.tables import filled, with_margins

LEAF = st.integers(0, 5)
PLACES = st.one_of(
    st.lists(st.tuples(*(LEAF,) * tables), min_size=1, max_size=6 * tables) for tables in (2, 3)
)


def counted(leaves: list[int], name: str) -> tuple[Table, np.ndarray, np.ndarray]:
    """A table of two dimensions, the innermost cell of each row, and prints of its cells."""
    dimensions = [Dimension.flat(f"{name} r", ["1", "2", "3"]), Dimension.flat(f"{name} q", "xy")]
    numbers = np.bincount(leaves, minlength=6)
    sums = np.bincount(leaves, 2.0 ** np.arange(len(leaves)), minlength=6).astype(np.int64)
    places = np.array([(leaf // 2) * 3 + leaf % 2 for leaf in leaves])
    return filled(dimensions, numbers, name), places, with_margins(dimensions, sums).astype(object)


@given(PLACES)
@settings(max_examples=80, deadline=None)
def test_the_equations_are_all_that_the_rows_of_several_tables_leave(rows: list) -> None:
    names = "abc"[: len(rows[0])]
    both = [counted([row[t] for row in rows], name) for t, name in enumerate(names)]
    tables, places, prints = (list(each) for each in zip(*both, strict=True))
    identity = [np.where(t.cells.frequency > 0, p, -1) for t, p in zip(tables, prints, strict=True)]
    tables = [
        Table(t.name, t.dimensions, t.cells, own.astype(np.int64))
        for t, own in zip(tables, identity, strict=True)
    ]
    sums, complete = common_sums(tables, places, prints, CancelToken())
    assert complete
    system = System.of(tables, sums=sums)
    matrix = np.concatenate([system.matrix.toarray(), system.between.toarray()])
    assert not (matrix @ system.cells.values).any()

    # Each variable as the set of rows in it: what sums to nothing there, sums to nothing always.
    sets = np.zeros((len(system), len(rows)))
    for own, table, place in zip(system.variables, tables, places, strict=True):
        for row, leaf in enumerate(place.tolist()):
            at = np.unravel_index(leaf, table.shape)
            for r in (at[0], 3):
                for q in (at[1], 2):
                    sets[own[np.ravel_multi_index((r, q), table.shape)], row] = 1
    held = ~system.known
    assert not (matrix[:, held] @ sets[held]).any()
    free = held.sum() - np.linalg.matrix_rank(sets[held])
    assert np.linalg.matrix_rank(matrix[:, held]) == free


def test_tables_of_another_measure_and_rows_in_one_table_alone_have_no_sum() -> None:
    table, places, prints = counted([0, 0, 1, 3], "a")
    other = Table("b", table.dimensions, table.cells, measure="turnover")

    assert not common_sums([table, other], [places, places], [prints, prints], CancelToken())[0]
    gone = np.full(len(places), -1)
    assert not common_sums([table, table], [places, gone], [prints, prints], CancelToken())[0]


def test_a_cell_that_holds_all_of_a_sum_stands_for_it() -> None:
    towns, there, prints = counted([0, 1, 2, 3, 4, 4], "a")
    districts, here, others = counted([0, 0, 2, 2, 4, 4], "b")
    found = common_sums([towns, districts], [there, here], [prints, others], CancelToken())

    assert found == ([], True)  # a whole town is a cell of its table already
