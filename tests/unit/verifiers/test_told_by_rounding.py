"""How closely rounded cells can be told, against all tables that could have been rounded so."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.tabulation import CellAxis, CellTable
from dpdesk.verifiers.tables.attacked import Attacked
from dpdesk.verifiers.tables.attacks import told_by_rounding
from dpdesk.verifiers.tables.published import numbered
from tests.helpers.searching import examples

AXES = (CellAxis("a", ("x", "y", "all"), (2, 2, -1)), CellAxis("b", ("u", "v", "all"), (2, 2, -1)))


def margins(inner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tables of 2 x 2 cells with their totals, the cells in the order of the axes."""
    rows = np.concatenate([inner, inner.sum(axis=-1, keepdims=True)], axis=-1)
    return np.concatenate([rows, rows.sum(axis=-2, keepdims=True)], axis=-2)


def possible(
    true: NDArray[np.int64], shown: NDArray[np.int64], base: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and largest value of each cell, over all tables that could have been rounded so."""
    top = int(shown.max()) + base
    inner = np.array(list(product(range(top), repeat=4)), np.int64).reshape(-1, 2, 2)
    tables = margins(inner).reshape(-1, 9)
    flat, rounded = true.ravel(), shown.ravel()
    fits = (abs(tables - rounded) < base).all(axis=1)
    fits &= (tables[:, flat == 0] == 0).all(axis=1)
    assert fits.any()
    return tables[fits].min(axis=0), tables[fits].max(axis=0)


@given(
    st.lists(st.integers(0, 7), min_size=4, max_size=4),
    st.integers(2, 4),
    st.lists(st.booleans(), min_size=9, max_size=9),
    st.lists(st.integers(1, 3), min_size=9, max_size=9),
)
@settings(max_examples=examples(60), deadline=None)
def test_cells_are_told_as_closely_as_all_possible_tables_tell_them(
    cells: list[int], base: int, up: list[bool], needs: list[int]
) -> None:
    true = margins(np.array(cells).reshape(2, 2))
    down = true - true % base
    shown = down + np.where(true % base != 0, np.array(up).reshape(3, 3) * base, 0)
    flat = true.ravel()
    unsafe = (flat > 0) & (flat < 5)
    lower = np.minimum(needs, flat)
    low, high = possible(true, shown, base)
    expected = unsafe & ((flat - low < lower) | (high - flat < needs))
    internal = {
        "value": flat, "frequency": flat, "status": np.where(unsafe, "C", "F"),
        "lower_required": lower, "upper_required": np.array(needs), "lower": flat, "upper": flat,
    }  # fmt: skip
    texts = {key: tuple(map(str, column.tolist())) for key, column in internal.items()}
    values = tuple(map(str, shown.ravel().tolist()))
    table = CellTable("", "table.csv", AXES, values, ("F",) * 9)
    kept = {"table.csv": CellTable("", "table.csv", AXES, texts["value"], ("F",) * 9, texts)}
    attacked = Attacked.of([table], [own.tolist() for own in numbered([(table, "count")])])

    found = told_by_rounding(
        *(attacked, kept, Fraction(base)), signed=[False], counts=[True], token=CancelToken()
    )

    assert found == (int(expected.sum()), int(unsafe.sum()))
    by_sums = told_by_rounding(
        *(attacked, kept, Fraction(base)),
        signed=[False],
        counts=[True],
        token=CancelToken(),
        programs=False,
    )
    assert by_sums[0] <= found[0]
    own = unsafe & (
        (flat - np.maximum(shown.ravel() - base + 1, 0) < lower)
        | (shown.ravel() + base - 1 - flat < needs)
    )
    assert by_sums == (max(by_sums[0], int(own.sum())), int(unsafe.sum()))
