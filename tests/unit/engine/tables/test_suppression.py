"""Patterns of least cost against the enumeration of all patterns; refusals; published cases."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables import audit as attacker
from dpdesk.engine.tables import suppression
from dpdesk.engine.tables.audit import Problem, Target, alone, audit, exposed, targets_of
from dpdesk.engine.tables.model import Bounds, Dimension, Flags, Requirement, System, exact
from dpdesk.engine.tables.rules import Judgement
from dpdesk.engine.tables.search import Attacker, Instance, needing
from dpdesk.engine.tables.suppression import How, Pattern, local_pattern, suppress
from tests.helpers.tables import drawn_system, filled, required

TOKEN = CancelToken()


def judged(needed: Requirement, published: Flags | None = None) -> Judgement:
    nothing = np.zeros(len(needed.unsafe), dtype=bool)
    return Judgement(needed, (), nothing, nothing if published is None else published)


def enumerated(
    system: System, needed: Requirement, published: Flags, cost: list[int], singletons: bool
) -> tuple[int, int] | None:
    """Least cost and fewest cells, by trying every pattern; None: nothing protects."""
    bounds = Bounds.of(system.cells.values)
    problem = Problem.of(system, bounds, alone(system) if singletons else None)
    choice = np.flatnonzero(~system.known & ~needed.unsafe & ~published)
    tried = sorted(
        (sum(c for c, b in zip([cost[i] for i in choice], bits, strict=True) if b), sum(bits), bits)
        for bits in product((0, 1), repeat=len(choice))
    )
    for paid, cells, bits in tried:
        pattern = needed.unsafe.copy()
        pattern[choice[np.array(bits, dtype=bool)]] = True
        if not exposed(problem, pattern, targets_of(needed), TOKEN, 1):
            return paid, cells
    return None


@given(
    st.integers(0, 10**6), st.booleans(), st.sampled_from([0, 1, 9]), st.sampled_from([0.25, 0.7])
)
@settings(max_examples=30, deadline=None)
def test_the_optimum_is_the_cheapest_of_all_patterns(
    seed: int, singletons: bool, largest: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng, 9)
    unsafe = ~system.known & (rng.random(len(system)) < share)
    published = ~unsafe & (rng.random(len(system)) < 0.1)
    # As many patterns as can be tried: what is more must be published.
    choice = rng.permutation(np.flatnonzero(~system.known & ~unsafe & ~published))
    published[choice[6:]] = True
    needed = required(system, unsafe, rng)
    cost = [int(c) for c in rng.integers(0, largest + 1, len(system))]
    expected = enumerated(system, needed, published, cost, singletons)

    def found(how: How) -> Pattern:
        bounds = Bounds.of(system.cells.values)
        told = judged(needed, published)
        return suppress(system, told, bounds, exact(cost), TOKEN, how, singletons)

    if expected is None:
        for how in ("optimal", "heuristic"):
            with pytest.raises(RefusedError, match="known too closely"):
                found(how)  # type: ignore[arg-type]
        return
    best = found("optimal")
    extra = best.suppressed & ~unsafe
    paid = sum(c for c, there in zip(cost, extra, strict=True) if there)
    assert (paid, int(extra.sum())) == expected
    assert best.proven
    assert best.bound == expected[0]
    problem = Problem.of(
        system, Bounds.of(system.cells.values), alone(system) if singletons else None
    )
    fast: How
    for fast in ("heuristic", "hitas"):
        quick = found(fast)
        assert not exposed(problem, quick.suppressed, targets_of(needed), TOKEN)
        assert quick.bound <= expected[0]


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=30, deadline=None)
def test_what_unsafe_cells_protect_by_themselves_is_protected_in_every_pattern(
    seed: int, singletons: bool
) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng)
    unsafe = ~system.known & (rng.random(len(system)) < 0.5)
    problem = Problem.of(
        system, Bounds.of(system.cells.values), alone(system) if singletons else None
    )
    targets = targets_of(required(system, unsafe, rng))
    may = ~system.known
    instance = Instance(problem, targets, np.ones(len(system)), unsafe, may)
    left = set(needing(instance, TOKEN).targets)
    for _ in range(6):
        pattern = unsafe | (may & (rng.random(len(system)) < rng.random()))
        found = exposed(problem, pattern, targets, TOKEN, 1)
        lost = {(each.variable, each.upper, each.sliding) for each in found}
        assert lost <= {(each.variable, each.upper, each.sliding) for each in left}


def case(
    rows: int, columns: int, values: list[int], unsafe: list[tuple[int, int]]
) -> tuple[System, Judgement]:
    """A table of counts with unsafe inner cells that need a tenth of their value, at least 1."""
    dimensions = [
        Dimension.flat("row", [str(i) for i in range(rows)]),
        Dimension.flat("column", [str(i) for i in range(columns)]),
    ]
    system = System.of([filled(dimensions, np.array(values))])
    chosen = np.zeros((rows + 1, columns + 1), dtype=bool)
    for place in unsafe:
        chosen[place] = True
    flags = chosen.ravel()
    wide = exact([max(Fraction(v) / 10, Fraction(1)) for v in system.cells.values.tolist()])
    wide[~flags] = 0
    return system, judged(Requirement(flags, wide, wide))


def suppressed_places(system: System, told: Judgement) -> tuple[set[tuple[int, int]], Pattern]:
    pattern = suppress(system, told, Bounds.of(system.cells.values), system.cells.values, TOKEN)
    shape = system.tables[0].shape
    extra = pattern.suppressed & ~told.required.unsafe
    places = np.argwhere(extra[system.variables[0]].reshape(shape))
    return {(int(a), int(b)) for a, b in places}, pattern


def test_one_unsafe_cell_takes_the_cheapest_rectangle() -> None:
    values = [18, 2, 14, 19, 12, 10, 11, 14]
    extra, pattern = suppressed_places(*case(4, 2, values, [(0, 1)]))

    assert extra == {(0, 0), (2, 0), (2, 1)}
    assert (pattern.bound, pattern.proven) == (40, True)


def test_two_unsafe_cells_across_share_their_rectangle() -> None:
    extra, pattern = suppressed_places(*case(3, 2, [100, 50, 30, 20, 60, 40], [(1, 0), (2, 1)]))

    assert extra == {(1, 1), (2, 0)}
    assert (pattern.bound, pattern.proven) == (80, True)


@pytest.mark.parametrize("size", [1, 10**8, 10**11, 10**13, 10**15])
@pytest.mark.parametrize("how", ["optimal", "heuristic", "hitas"])
def test_amounts_of_any_size_take_the_same_cells(size: int, how: How) -> None:
    """Where values are negative nothing bounds the cells, and no size is like another."""
    values = [-5, 30, 4, 6, -2, 70, 11, 25, 8]
    system, told = case(3, 3, [size * value for value in values], [(0, 1), (2, 2)])
    found = suppress(
        system, told, Bounds.of(system.cells.values), exact(range(len(system))), TOKEN, how
    )
    least, smallest = case(3, 3, values, [(0, 1), (2, 2)])
    expected = suppress(
        least, smallest, Bounds.of(least.cells.values), exact(range(len(least))), TOKEN, how
    )
    assert found.suppressed.tolist() == expected.suppressed.tolist()


def test_a_stop_keeps_the_best_pattern_and_a_cancel_raises() -> None:
    rng = np.random.default_rng(5)
    values = rng.integers(1, 60, 64).tolist()
    places = [(int(a), int(b)) for a, b in rng.integers(0, 8, (9, 2))]
    system, told = case(8, 8, values, places)
    bounds, stop, token = Bounds.of(system.cells.values), CancelToken(), CancelToken()
    heard: list[tuple[float, float]] = []
    stop.cancel()

    kept = suppress(
        system, told, bounds, system.cells.values, TOKEN, stop=stop,
        watch=lambda value, bound: heard.append((value, bound)),
    )  # fmt: skip

    assert not kept.proven
    assert heard
    assert not exposed(
        Problem.of(system, bounds, alone(system)), kept.suppressed, targets_of(told.required), TOKEN
    )
    token.cancel()
    with pytest.raises(Cancelled):
        suppress(system, told, bounds, system.cells.values, token)


@pytest.mark.parametrize("how", ["optimal", "heuristic", "hitas"])
def test_a_stop_is_heard_while_the_first_pattern_is_made(
    how: How, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells that are not needed stay suppressed then: to see which ones takes most of the time."""
    rng = np.random.default_rng(5)
    values = rng.integers(1, 60, 64).tolist()
    places = [(int(a), int(b)) for a, b in rng.integers(0, 8, (9, 2))]
    system, told = case(8, 8, values, places)
    bounds, token = Bounds.of(system.cells.values), CancelToken()
    paths, looked = Attacker.path, 0

    def counted(*given: Any, **named: Any) -> Any:
        nonlocal looked
        looked += 1
        assert token.keep() == (looked == 1)
        return paths(*given, **named)

    whole = suppress(system, told, bounds, system.cells.values, TOKEN, how)
    monkeypatch.setattr(Attacker, "path", counted)
    kept = suppress(system, told, bounds, system.cells.values, token, how)
    assert not kept.proven
    assert looked <= 2 * len(targets_of(told.required))
    assert kept.suppressed.sum() >= whole.suppressed.sum()
    assert not exposed(
        Problem.of(system, bounds, alone(system)), kept.suppressed, targets_of(told.required), TOKEN
    )


def test_the_bound_of_a_search_that_was_stopped_stays_below_the_optimum() -> None:
    rng = np.random.default_rng(11)
    values = rng.integers(1, 60, 36).tolist()
    system, told = case(6, 6, values, [(0, 0), (1, 2), (3, 3), (5, 1)])
    bounds = Bounds.of(system.cells.values)
    bounds_heard: list[float] = []

    best = suppress(
        system, told, bounds, system.cells.values, TOKEN,
        watch=lambda value, bound: bounds_heard.append(bound),
    )  # fmt: skip

    assert best.proven
    assert max(bounds_heard) <= best.bound
    extra = best.suppressed & ~told.required.unsafe
    assert sum(system.cells.values[extra].tolist()) == best.bound


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_moves_in_small_boxes_protect_every_target_that_they_do_not_hand_on(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng)
    unsafe = ~system.known & (rng.random(len(system)) < 0.2)
    needed = required(system, unsafe, rng)
    problem = Problem.of(system, Bounds.of(system.cells.values), alone(system))
    weight = system.cells.values.astype(np.float64) + 0.01
    instance = Instance(problem, targets_of(needed), weight, unsafe, ~system.known)

    pattern, left, moves = local_pattern(system, instance, TOKEN)

    found = exposed(problem, pattern, instance.targets, TOKEN, 1)
    assert {(e.variable, e.upper) for e in found} <= {(t.variable, t.upper) for t in left}
    for cells, amounts in moves:
        moved = np.zeros(len(system))
        moved[cells] = amounts
        assert pattern[cells].all()
        assert np.abs(problem.matrix @ moved).max(initial=0.0) < 1e-6


def test_a_cheaper_move_of_a_larger_box_is_taken() -> None:
    """The cheapest neighbours may stand around an expensive corner."""
    dimensions = [Dimension.flat(name, ["0", "1", "2"]) for name in "ab"]
    values = np.array([[10, 1, 2], [1, 1000, 1000], [2, 1000, 3]])
    system = System.of([filled(dimensions, values.ravel())])
    (own,) = system.variables
    corner = own.reshape(4, 4)[0, 0]
    unsafe = np.zeros(len(system), dtype=bool)
    unsafe[corner] = True
    problem = Problem.of(system, Bounds.of(system.cells.values))
    targets = [Target(int(corner), upper, 1.0) for upper in (True, False)]
    weight = system.cells.values.astype(np.float64)
    instance = Instance(problem, targets, weight, unsafe, ~system.known)
    pattern, left, _ = local_pattern(system, instance, TOKEN)
    assert not left
    assert instance.cost(pattern) == 2 + 2 + 3


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=30, deadline=None)
def test_parts_that_are_too_wide_for_programs_are_protected_by_boxes(
    seed: int, singletons: bool
) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng)
    unsafe = ~system.known & (rng.random(len(system)) < 0.2)
    needed = required(system, unsafe, rng)
    bounds = Bounds.of(system.cells.values)
    found: list[Pattern] = []
    with pytest.MonkeyPatch.context() as patch:
        for widest in (suppression._LARGEST_PART, 4):
            patch.setattr(suppression, "_LARGEST_PART", widest)
            try:
                asked = system, judged(needed), bounds, system.cells.values, TOKEN, "hitas"
                found.append(suppress(*asked, singletons))
            except RefusedError:
                return  # nothing protects it
    problem = Problem.of(system, bounds, alone(system) if singletons else None)
    for each in found:
        assert not exposed(problem, each.suppressed, targets_of(needed), TOKEN, 1)
        extra = each.suppressed & ~unsafe
        assert max(one.bound for one in found) <= sum(system.cells.values[extra].tolist())


def test_large_tables_are_protected_by_local_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    shape = (5, 4, 6)
    dimensions = [Dimension.flat("abc"[i], [str(j) for j in range(n)]) for i, n in enumerate(shape)]
    system = System.of([filled(dimensions, rng.integers(1, 30, int(np.prod(shape))))])
    unsafe = system.cells.frequency < 3
    wide = exact(np.where(unsafe, 1, 0))
    monkeypatch.setattr(suppression, "LARGE", 10)
    monkeypatch.setattr(suppression, "LARGEST_PROVEN", 10)
    bounds = Bounds.of(system.cells.values)

    found = suppress(
        system, judged(Requirement(unsafe, wide, wide)), bounds, system.cells.values, TOKEN
    )

    problem = Problem.of(system, bounds, alone(system))
    assert unsafe.any()
    assert not exposed(
        problem, found.suppressed, targets_of(Requirement(unsafe, wide, wide)), TOKEN
    )
    extra = found.suppressed & ~unsafe
    assert 0 < found.bound <= sum(system.cells.values[extra].tolist())
    assert not found.proven
    monkeypatch.setattr(attacker, "LARGEST_PART", 1)
    assert found.witnesses is not None
    reach = found.witnesses.reach(problem.low, problem.high)
    known = audit(system, found.suppressed, bounds, TOKEN, reach=reach)
    values = system.cells.values.astype(np.float64)
    assert not known.proven.all()
    assert (known.lower <= values - unsafe).all()
    assert (known.upper >= values + unsafe).all()
