"""Plans of protected tables against their definition: every suppression tried, by the letter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpdesk.app.comparing import redesign_plan
from dpdesk.app.context import AppContext
from dpdesk.app.planning import PlacedPlan, prepare_cells
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.table_parameters import typed_text
from dpdesk.engine.methods.table.method import ProtectedTables
from dpdesk.io.planfile import read_plan
from tests.helpers.searching import examples
from tests.reference import table_cells as reference
from tests.reference.tables import least_cost

TOKEN = CancelToken()
SLOW = settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
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
    with prepare_cells(
        context, PlacedPlan(read_plan(path), tmp_path, path.name), TOKEN, silent
    ) as ready:
        if best is None:
            with pytest.raises(RefusedError, match="known too closely"):
                ProtectedTables().decide(ready.given, TOKEN, silent)
            return
        found = ProtectedTables().decide(ready.given, TOKEN, silent)

    assert found.internal["cost"] == best[0]
    assert found.internal["proven_optimal"] is True


VALUES = st.tuples(*(st.sampled_from(each) for each in ("abcd", "xyz", "12")))


@SLOW
@given(
    st.lists(st.tuples(VALUES, st.integers(1, 6)), min_size=4, max_size=24),
    st.sampled_from(["", "ax", "abcd"]),
    st.booleans(),
    st.sampled_from([(("r",), ("q",)), (("r", "s"), ("q", "s")), (("r", "s"), ("q",))]),
)
def test_two_tables_are_audited_as_sums_of_the_rows_in_both(
    context: AppContext,
    tmp_path: Path,
    lines: list[tuple[tuple[str, str, str], int]],
    decided: str,
    sums: bool,
    asked: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    """Every equation between two tables is one of sums over groups of like rows, and the other way
    round. Some values of one column decide that of the other, as a town does its district.
    """
    rows = [
        {"r": r, "q": "x" if r in decided else q, "s": s, "v": str(n if sums else 1)}
        for (r, q, s), n in lines
    ]
    text = "".join(f"{','.join(row.values())}\n" for row in rows)
    (tmp_path / "in.csv").write_text(f"r,q,s,v\n{text}", "utf-8")
    tables = "".join(
        f'[[protection.tables]]\nname = "t{n}"\nrows = {list(names)}\n'
        for n, names in enumerate(asked)
    ).replace("'", '"')
    (tmp_path / "plan.toml").write_text(
        'version = 1\n[source]\npath = "in.csv"\n[protection]\nmethod = "table"\n'
        f'measure = {{ sum = "v" }}\nsingletons = false\ncost = "cells"\n'
        f'rule = [{{ rule = "threshold", n = 3, range = 0.4 }}]\n{tables}',
        "utf-8",
    )
    path = tmp_path / "plan.toml"
    with prepare_cells(
        context, PlacedPlan(read_plan(path), tmp_path, path.name), TOKEN, silent
    ) as ready:
        try:
            found = ProtectedTables().decide(ready.given, TOKEN, silent)
        except RefusedError:
            return
    groups = sorted({tuple(row[name] for name in "rqs") for row in rows})
    holds, low, high, stated = [], [], [], []
    for names, table in zip(asked, found.tables, strict=True):
        for cell, place in enumerate(product(*(axis.labels for axis in table.axes))):
            wanted = dict(zip(names, place, strict=True))
            inside = [
                all(text in (group["rqs".index(name)], "Total") for name, text in wanted.items())
                for group in groups
            ]
            holds.append(inside)
            value = table.values[cell]
            low.append(float(value or 0))
            high.append(float(value) if value else np.inf)
            stated.append([table.internal[end][cell] for end in ("lower", "upper")])
    for inside, ends in zip(holds, stated, strict=True):
        least, most = reach_of(np.array(holds, float), np.array(inside, float), low, high)
        assert float(ends[0]) == pytest.approx(least, abs=1e-6)
        assert (float(ends[1]) if ends[1] else np.inf) == pytest.approx(most, abs=1e-6)


def reach_of(
    holds: np.ndarray, wanted: np.ndarray, low: list[float], high: list[float]
) -> tuple[float, float]:
    """Least and largest sum of the wanted groups, where sums of groups are between two ends."""
    at_most = np.isfinite(high)
    limits = np.concatenate([np.array(high)[at_most], -np.array(low)])
    matrix = np.concatenate([holds[at_most], -holds])
    found = []
    for way in (1, -1):
        solved = linprog(way * wanted, A_ub=matrix, b_ub=limits, bounds=(None, None))
        found.append(way * solved.fun if solved.status == 0 else -way * np.inf)
    return found[0], found[1]


def bits(sizes: list[int]) -> float:
    """The entropy of shares, by its definition."""
    whole = sum(sizes)
    return -sum(n / whole * math.log2(n / whole) for n in sizes if n)


@SLOW
@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from("123"), st.integers(1, 6)),
        min_size=4,
        max_size=30,
    ),
    st.booleans(),
    st.booleans(),
)
def test_proposals_are_what_comes_of_the_plans_that_they_make(
    context: AppContext,
    tmp_path: Path,
    lines: list[tuple[str, str, int]],
    grouped: bool,
    sums: bool,
) -> None:
    """Each one is counted again as rows with other values, and protected as its plan would be."""
    text = "".join(f"{','.join(map(str, line))}\n" for line in lines)
    (tmp_path / "in.csv").write_text(f"r,q,v\n{text}", "utf-8")
    (tmp_path / "h.csv").write_text("a,x,*\nb,x,*\nc,y,*\nd,y,*\n", "utf-8")
    head = '[attributes.r]\nhierarchy = "h.csv"\n' if grouped else ""
    paths = {"r": {"a": ("x",), "b": ("x",), "c": ("y",), "d": ("y",)}} if grouped else {}
    measure = '{ sum = "v" }' if sums else '"count"'

    def path(keys: dict[str, object]) -> Path:
        said = "".join(f"{key} = {typed_text(value)}\n" for key, value in keys.items())
        file = tmp_path / "plan.toml"
        file.write_text(
            f'version = 1\n[source]\npath = "in.csv"\n{head}[protection]\nmethod = "table"\n{said}'
            f'measure = {measure}\nrule = [{{ rule = "threshold", n = 3 }}]\n',
            "utf-8",
        )
        return file

    asked: dict[str, object] = {"rows": ["r"], "columns": ["q"], "secondary": "heuristic"}
    made = redesign_plan(context, path(asked), TOKEN, silent)
    rows = [dict(zip("rqv", map(str, line), strict=True)) for line in lines]
    start, *table = made.comparison.charts[0].table.rows
    assert len(table) == len(made.proposals)
    whole = bits(inner_sizes(rows, ["r", "q"], sums))
    for proposal, (words, cells, unsafe, further, lost) in zip(made.proposals, table, strict=True):
        assert words == proposal.words
        keys = asked | dict(proposal.changes)
        merge = {
            (column, value): label
            for column, groups in dict(keys.get("merge") or {}).items()  # type: ignore[call-overload]
            for label, group in groups.items()
            for value in group
        }
        names = [*keys["rows"], *keys["columns"]]  # type: ignore[misc]
        told = [{k: merge.get((k, v), v) for k, v in row.items()} for row in rows]
        held = reference.cells(told, names, paths, value="v" if sums else "")
        assert unsafe == sum(len(cell) < 3 for cell in held.values())
        after = bits(inner_sizes(told, names, sums))
        assert lost == pytest.approx(max(0, 1 - after / whole) if whole else 0, abs=1e-4)
        plan = read_plan(path({key: value for key, value in keys.items() if value is not None}))
        with prepare_cells(context, PlacedPlan(plan, tmp_path, "plan"), TOKEN, silent) as ready:
            try:
                found = ready.decide(TOKEN, silent)
            except RefusedError:
                assert further is None
                continue
        assert found.result["cells"] == cells
        assert found.result["suppressed"] == unsafe + (further or 0)
    if not start[2]:
        assert not table


def inner_sizes(rows: list[dict[str, str]], names: list[str], sums: bool) -> list[int]:
    """What is in each innermost cell that is not empty."""
    found: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        found[tuple(row[name] for name in names)] += int(row["v"]) if sums else 1
    return list(found.values())
