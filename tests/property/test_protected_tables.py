"""Plans of protected tables against their definition: every suppression tried, by the letter."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpdesk.app.context import AppContext
from dpdesk.app.planning import prepare_cells
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.table.method import ProtectedTables
from dpdesk.io.planfile import read_plan
from tests.reference.tables import least_cost

TOKEN = CancelToken()
SLOW = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


def equations(rows: int, columns: int) -> np.ndarray:
    """Row sums and column sums of a table with margins at the end of each dimension, flat."""
    at = np.arange((rows + 1) * (columns + 1)).reshape(rows + 1, columns + 1)
    lines = [*at, *at.T]
    found = np.zeros((len(lines), at.size), dtype=np.int64)
    for equation, line in zip(found, lines, strict=True):
        equation[line[:-1]], equation[line[-1]] = 1, -1
    return found


@SLOW
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(0, 6)),
        min_size=4,
        max_size=24,
    ),
    st.booleans(),
    st.integers(2, 4),
    st.sampled_from(["value", "cells"]),
)
def test_the_optimum_is_that_of_the_plan_by_the_letter(
    context: AppContext,
    tmp_path: Path,
    lines: list[tuple[str, str, int]],
    sums: bool,
    n: int,
    cost: str,
) -> None:
    """Counts and sums, zeros too: a cell is known not to be negative, and empty ones are known."""
    rows, columns = sorted({line[0] for line in lines}), sorted({line[1] for line in lines})
    text = "".join(f"{','.join(map(str, line))}\n" for line in lines)
    (tmp_path / "in.csv").write_text(f"r,q,v\n{text}", "utf-8")
    measure = '{ sum = "v" }' if sums else '"count"'
    (tmp_path / "plan.toml").write_text(
        'version = 1\n[source]\npath = "in.csv"\n[protection]\nmethod = "table"\n'
        f'rows = ["r"]\ncolumns = ["q"]\nmeasure = {measure}\ncost = "{cost}"\n'
        f'singletons = false\nrule = [{{ rule = "threshold", n = {n}, range = 0.4 }}]\n',
        "utf-8",
    )
    places = [
        tuple(i for i, (r, q, _) in enumerate(lines) if r in near and q in far)
        for near, far in product((*rows, rows), (*columns, columns))
    ]
    # Cells that hold the same rows are one cell; those without rows are published and known.
    cells = sorted({place for place in places if place})
    values = [sum(lines[i][2] for i in cell) if sums else len(cell) for cell in cells]
    required = {}
    for cell, people in enumerate(cells):
        if len(people) < n:
            wide = max(0.4 * values[cell], 0 if sums else 1)
            required[cell] = min(wide, values[cell]), wide
    choice = [cell for cell in range(len(cells)) if cell not in required]
    prices = [Fraction(value if cost == "value" else 1) for value in values]
    merge = np.array([[int(place == cell) for cell in cells] for place in places])
    matrix = equations(len(rows), len(columns)) @ merge
    best = least_cost(matrix, np.array(values, float), choice, required, prices)

    path = tmp_path / "plan.toml"
    with prepare_cells(context, read_plan(path), tmp_path, path.name, TOKEN, silent) as ready:
        if best is None:
            with pytest.raises(RefusedError, match="known too closely"):
                ProtectedTables().decide(ready.given, TOKEN, silent)
            return
        found = ProtectedTables().decide(ready.given, TOKEN, silent)

    assert found.internal["cost"] == best[0]
    assert found.internal["proven_optimal"] is True
