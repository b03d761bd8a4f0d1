"""Widths that intervals must have wherever they lie, against all patterns and linear programs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables import suppression
from dpdesk.engine.tables.audit import Problem, alone, exposed, sliding_of, targets_of
from dpdesk.engine.tables.model import Bounds, Dimension, Requirement, System, exact
from dpdesk.engine.tables.rules import Judgement, Rule, judge
from dpdesk.engine.tables.suppression import How, suppress
from dpdesk.engine.tables.witnesses import told_as_present
from tests.helpers.searching import examples
from tests.helpers.tables import drawn_system, filled, required
from tests.reference import tables as reference

TOKEN = CancelToken()


def judged(needed: Requirement, published: np.ndarray | None = None) -> Judgement:
    nothing = np.zeros(len(needed.unsafe), dtype=bool)
    return Judgement(needed, (), nothing, nothing if published is None else published)


def with_widths(needed: Requirement, system: System, rng: np.random.Generator) -> Requirement:
    wide = np.where(needed.unsafe, rng.integers(0, 3 + 2 * system.cells.values.astype(int)), 0)
    return replace(needed, sliding=exact(wide))


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([None, 1.5, 3.0]))
@example(1323, True, 1.5)  # both ends together are just as wide as asked
@settings(max_examples=examples(20), deadline=None)
def test_the_optimum_is_the_cheapest_of_all_patterns(
    seed: int, singletons: bool, upper: float | None
) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng, 9)
    unsafe = ~system.known & (rng.random(len(system)) < 0.25)
    published = ~unsafe & (rng.random(len(system)) < 0.1)
    choice = rng.permutation(np.flatnonzero(~system.known & ~unsafe & ~published))
    published[choice[5:]] = True
    needed = with_widths(required(system, unsafe, rng), system, rng)
    cost = [int(c) for c in rng.integers(0, 9, len(system))]
    bounds = Bounds.of(system.cells.values, 0.0, upper)
    who = alone(system)
    # One contributor in several cells is another matter: the reference knows one cell of each.
    owned = [int(np.flatnonzero(who == each)[0]) for each in np.unique(who[who >= 0])]
    twice = any((who == each).sum() > 1 for each in np.unique(who[who >= 0]))
    singletons &= not twice
    values = system.cells.values.astype(float)
    expected = reference.least_cost(
        system.matrix.toarray(),
        values,
        [int(v) for v in choice[:5]],
        {int(v): (float(needed.lower[v]), float(needed.upper[v])) for v in np.flatnonzero(unsafe)},
        [Fraction(c) for c in cost],
        {int(v): float(needed.sliding[v]) for v in np.flatnonzero(unsafe)},
        (
            np.where(system.known, values, bounds.lower),
            np.where(system.known, values, bounds.upper),
        ),
        owned if singletons else (),
    )
    problem = Problem.of(system, bounds, who if singletons else None)
    targets = [*targets_of(needed), *sliding_of(needed)]
    for how in ("optimal", "heuristic", "hitas"):
        try:
            found = suppress(
                system, judged(needed, published), bounds, exact(cost), TOKEN, how, singletons
            )
        except RefusedError:
            assert expected is None
            continue
        assert expected is not None
        assert not exposed(problem, found.suppressed, targets, TOKEN)
        paid = sum(c for c, gone in zip(cost, found.suppressed & ~unsafe, strict=True) if gone)
        assert found.bound <= expected[0] <= paid
        if how == "optimal":
            assert (paid, int((found.suppressed & ~unsafe).sum())) == expected
            assert found.proven


def test_a_width_may_lie_on_either_side() -> None:
    """Both sides alone are too short; only together they are wide enough."""
    dimensions = [Dimension.flat("row", list("ab")), Dimension.flat("column", list("xy"))]
    system = System.of([filled(dimensions, np.array([5, 3, 4, 100]))])
    unsafe = np.zeros(9, dtype=bool)
    unsafe[0] = True
    wide = exact(np.where(unsafe, 8, 0))
    nothing = exact([0] * 9)
    for sliding, hidden in ((wide, 4), (wide + 1, None)):
        asked = Requirement(unsafe, nothing, nothing, exact(np.where(unsafe, sliding, 0)))
        problem = Problem.of(system, Bounds.of(system.cells.values))
        pattern = np.zeros(9, dtype=bool)
        pattern[[0, 1, 3, 4]] = True
        assert bool(exposed(problem, pattern, sliding_of(asked), TOKEN)) is (hidden is None)


@pytest.mark.parametrize("how", ["optimal", "heuristic"])
def test_large_systems_get_single_ends_from_which_the_width_follows(
    monkeypatch: pytest.MonkeyPatch, how: How
) -> None:
    monkeypatch.setattr(suppression, "LARGE", 10)
    monkeypatch.setattr(suppression, "LARGEST_PROVEN", 10)
    rng = np.random.default_rng(4)
    dimensions = [Dimension.flat("row", list("abcdef")), Dimension.flat("column", list("uvwxyz"))]
    system = System.of([filled(dimensions, rng.integers(1, 30, 36))])
    unsafe = rng.random(len(system)) < 0.15
    needed = with_widths(required(system, unsafe, rng), system, rng)
    bounds = Bounds.of(system.cells.values)
    found = suppress(system, judged(needed), bounds, system.cells.values, TOKEN, how, False)
    problem = Problem.of(system, bounds)
    assert not exposed(problem, found.suppressed, sliding_of(needed), TOKEN)
    assert found.witnesses is not None
    down, up = found.witnesses.reach(problem.low, problem.high)
    assert ((down + up)[unsafe] >= needed.sliding[unsafe].astype(float) - 1e-6).all()


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("how", ["optimal", "heuristic"])
def test_totals_are_as_wide_as_asked_for_those_who_know_an_end_of_them(
    monkeypatch: pytest.MonkeyPatch, how: How, large: bool
) -> None:
    """None of the three cells of row c is empty, so that their total cannot move downwards."""
    if large:
        monkeypatch.setattr(suppression, "LARGE", 10)
        monkeypatch.setattr(suppression, "LARGEST_PROVEN", 10)
    dimensions = [Dimension.flat("row", list("abc")), Dimension.flat("column", list("xyz"))]
    system = System.of([filled(dimensions, np.array([2, 0, 2, 3, 2, 3, 1, 1, 1]))])
    told = judge(system, [Rule("threshold", 4)], Fraction(1, 2), sliding=Fraction(7, 10))
    bounds, held = Bounds.of(system.cells.values), (~system.known).astype(np.float64)
    cost = exact(system.cells.frequency)
    found = suppress(system, told, bounds, cost, TOKEN, how, True, filled=held).suppressed
    values = system.cells.values.astype(float)
    total = int(system.variables[0][-5])
    assert values[total] == 3
    assert found[total]
    box = [(1, None) if gone else (v, v) for v, gone in zip(values, found, strict=True)]
    ends = [
        linprog(way * np.eye(len(values))[total], A_eq=system.matrix.toarray(),
                b_eq=np.zeros(system.matrix.shape[0]), bounds=box)
        for way in (1.0, -1.0)
    ]  # fmt: skip
    assert ends[1].status == 3 or -ends[1].fun - ends[0].fun >= 2.1 - 1e-6


def test_the_share_and_widths_by_hand() -> None:
    dimensions = [Dimension.flat("row", list("abcd"))]
    table = filled(dimensions, np.array([2, 10, 1, 40]))
    levels = np.full((5, 3), -1, dtype=object)
    levels[2, 2] = 7
    status = np.array(["", "", "U", "", ""])
    cells = replace(table.cells, levels=levels, status=status)
    system = System.of([replace(table, cells=cells)])
    told = judge(system, [Rule("threshold", 5)], sliding=Fraction(3, 4)).required
    assert told.sliding is not None
    assert told.sliding.tolist() == [Fraction(3, 2), 0, 7, 0, 0]
    assert judge(System.of([table]), [Rule("threshold", 5)]).required.sliding is None


@given(st.integers(0, 10**6))
@example(7)
@settings(max_examples=examples(40), deadline=None)
def test_widths_that_published_empty_cells_narrow_are_counted(seed: int) -> None:
    """A pattern that protects from everyone else, against programs over the cells themselves."""
    rng = np.random.default_rng(seed)
    system = drawn_system(rng, 9)
    values = system.cells.values.astype(float)
    unsafe = ~system.known & (values > 0) & (rng.random(len(system)) < 0.3)
    needed = with_widths(required(system, unsafe, rng), system, rng)
    bounds, held = Bounds.of(system.cells.values), (values > 0).astype(np.float64)
    try:
        found = suppress(
            *(system, judged(needed), bounds, system.cells.values, TOKEN, "heuristic", False)
        )
    except RefusedError:
        return
    problem = Problem.of(system, bounds, filled=held)
    told = told_as_present(problem, found.suppressed, needed, TOKEN)
    assert told == told_by_programs(system, found.suppressed, needed)


def told_by_programs(system: System, hidden: np.ndarray, needed: Requirement) -> tuple[int, int]:
    """Unsafe cells that are certain, and those that are too close, where no cell is below 1."""
    values = system.cells.values.astype(float)
    exactly = closer = 0

    def ends(cell: int, pattern: np.ndarray) -> tuple[float, float]:
        fixed = ~pattern | system.known
        least = np.where(values > 0, 1.0, 0.0)
        box = [(v, v) if f else (b, None) for v, f, b in zip(values, fixed, least, strict=True)]
        far = []
        for way in (1.0, -1.0):
            cost = np.zeros(len(values))
            cost[cell] = way
            solved = linprog(
                cost,
                A_eq=system.matrix.toarray(),
                b_eq=np.zeros(system.matrix.shape[0]),
                bounds=box,
            )
            far.append(np.inf if solved.status == 3 else abs(solved.x[cell] - values[cell]))
        return far[0], far[1]

    assert needed.sliding is not None
    for cell in np.flatnonzero(needed.unsafe).tolist():
        (down, up), most = ends(cell, hidden), ends(cell, np.ones(len(values), dtype=bool))
        low = min(float(needed.lower[cell]), most[0])
        both = float(needed.lower[cell] + needed.upper[cell])
        high = min(float(needed.upper[cell]) if both else 1.0, most[1])  # never certain
        wide = float(needed.sliding[cell])
        wide = min(wide, most[0] + most[1]) if wide > both else 0.0
        if down < low - 1e-6 or up < high - 1e-6 or down + up < wide - 1e-6:
            if max(down, up) < 1 - 1e-6:
                exactly += 1
            else:
                closer += 1
    return exactly, closer
