"""The attacker's intervals against enumeration and plain linear programs; contributors alone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dpdesk.core.errors import Cancelled
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables import swings
from dpdesk.engine.tables.audit import Problem, alone, audit, exposed, targets_of
from dpdesk.engine.tables.model import Bounds, Cells, Dimension, Requirement, System, Table, exact
from tests.helpers.searching import examples
from tests.helpers.tables import drawn_system, filled, required
from tests.reference import tables as reference

DATA = os.environ.get("DPDESK_TEST_DATA", "")


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_intervals_are_those_of_all_tables_of_whole_numbers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimensions = [Dimension.flat("a", ["1", "2"]), Dimension.flat("b", ["1", "2", "3"])]
    system = System.of([filled(dimensions, rng.integers(0, 3, 6))], zeros_known=False)
    suppressed = np.zeros(len(system), dtype=bool)
    suppressed[rng.choice(len(system), 5, replace=False)] = True
    matrix, whole = system.matrix.toarray(), system.cells.values.astype(np.int64)
    top = max(6, int(whole[suppressed].max()))
    bounds = Bounds(np.zeros(len(system)), np.full(len(system), float(top)))
    lower, upper = reference.whole_numbered(matrix, whole, suppressed, top)

    found = audit(system, suppressed, bounds, CancelToken())

    assert found.lower == pytest.approx(lower)
    assert found.upper == pytest.approx(upper)


@given(st.integers(0, 10**6), st.sampled_from([None, 1.5]), st.sampled_from([None, 0.0, 0.5]))
@settings(max_examples=12, deadline=None)
def test_intervals_are_those_of_plain_linear_programs(
    seed: int, upper: float | None, lower: float | None
) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng)
    suppressed = rng.random(len(system)) < rng.uniform(0.3, 0.9)
    suppressed &= ~system.known
    bounds = Bounds.of(system.cells.values, lower, upper)

    found = audit(system, suppressed, bounds, CancelToken(), threads=1)

    values = system.cells.values.astype(float)
    for cell in np.flatnonzero(suppressed):
        expected = reference.interval(
            system.matrix.toarray(), values, bounds.lower, bounds.upper, suppressed, int(cell)
        )
        assert (found.lower[cell], found.upper[cell]) == pytest.approx(expected, abs=1e-6)
    assert (found.lower[~suppressed] == values[~suppressed]).all()


@given(st.integers(0, 10**6))
@settings(max_examples=examples(8), deadline=None)
def test_threads_that_share_one_part_find_the_same_intervals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimensions = [Dimension.flat("abc"[i], [str(n) for n in range(5)]) for i in range(3)]
    system = System.of([filled(dimensions, rng.integers(0, 40, 125))])
    suppressed = (rng.random(len(system)) < 0.7) & ~system.known
    bounds = Bounds.of(system.cells.values)

    one, two = (audit(system, suppressed, bounds, CancelToken(), threads=n) for n in (1, 2))

    assert two.lower == pytest.approx(one.lower)
    assert two.upper == pytest.approx(one.upper)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1, 50]))
@settings(max_examples=examples(12), deadline=None)
def test_exposed_are_the_cells_whose_interval_is_too_narrow_for_somebody(
    seed: int, zeros: bool, fewest: int
) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng)
    suppressed = (rng.random(len(system)) < 0.7) & ~system.known
    needed = required(system, suppressed & (rng.random(len(system)) < 0.5), rng)
    bounds = Bounds.of(system.cells.values)
    owners = alone(system)

    problem = Problem.of(system, bounds, owners)
    targets = targets_of(needed, above=problem.high if zeros else None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(swings, "FEWEST", fewest)  # with 1, points of all cells are looked at first
        found = exposed(problem, suppressed, targets, CancelToken(), 1)

    values, matrix = system.cells.values.astype(float), system.matrix.toarray()
    expected = set()
    for cell in np.flatnonzero(needed.unsafe):
        for who in [-1, *np.unique(owners[(owners >= 0) & suppressed])]:
            if who >= 0 and who == owners[cell]:
                continue
            hidden = suppressed & ((owners != who) | (who < 0))
            low, high = reference.interval(
                matrix, values, bounds.lower, bounds.upper, hidden, int(cell)
            )
            floor, ceiling = -np.inf, np.inf
            if who >= 0:
                # What the contributor knows before any table appears.
                nothing = ~system.known & (owners != who)
                floor, ceiling = reference.interval(
                    matrix, values, bounds.lower, bounds.upper, nothing, int(cell)
                )
            if low > max(values[cell] - float(needed.lower[cell]), floor) + 1e-5:
                expected.add((int(cell), False, int(who)))
            # A range of 0 asks for nothing, unless an unsafe value must not be certain either.
            more = float(needed.upper[cell] or (zeros and not needed.lower[cell]))
            if high < min(values[cell] + more, ceiling) - 1e-5:
                expected.add((int(cell), True, int(who)))
    everyone = {(v, up) for v, up, who in expected if who < 0}
    # Who is exposed to everyone is exposed to each contributor; it is said once.
    expected = {e for e in expected if e[2] < 0 or e[:2] not in everyone}
    assert {(e.variable, e.upper, e.attacker) for e in found} == expected


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_all_cells_move_within_their_ends_and_every_sum_stays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system = drawn_system(rng)
    hidden = ~system.known & (rng.random(len(system)) < 0.9)
    matrix = csr_array(system.matrix.toarray()[:, hidden])
    size = int(hidden.sum())
    low, high = -rng.integers(0, 9, size).astype(float), rng.integers(0, 9, size).astype(float)
    high[rng.random(size) < 0.2] = np.inf
    goals = -rng.integers(0, 4, size).astype(float), rng.integers(0, 4, size).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(swings, "FEWEST", 1)
        points = swings.swings(matrix, (low, high), goals, CancelToken())
    for point in points:
        assert np.abs(matrix @ point).max(initial=0.0) < 1e-7
        assert (point >= low - 1e-9).all()
        assert (point <= high + 1e-9).all()
    again = swings.swings(matrix, (low, high), goals, CancelToken())
    assert not again or int(sum((g != 0).sum() for g in goals)) >= swings.FEWEST


def test_looking_at_all_cells_at_once_can_be_cancelled() -> None:
    token, size = CancelToken(), 2 * swings.FEWEST
    token.cancel()
    ends = np.full(size, -1.0), np.full(size, 1.0)
    with pytest.raises(Cancelled):
        swings.swings(csr_array(np.ones((1, size))), ends, ends, token)


def test_that_cells_are_not_empty_tells_nothing_of_amounts_that_may_be_negative() -> None:
    system = System.of([filled([Dimension.flat("a", list("pqr"))], np.array([-2, 11, -3]))])
    bounds = Bounds.of(system.cells.values)

    problem = Problem.of(system, bounds, filled=np.zeros(len(system)))

    assert problem.least is None


def test_a_singleton_gives_its_neighbour_away_and_a_third_cell_protects_it() -> None:
    dimensions = [Dimension.flat("a", list("pqr"))]
    table = filled(dimensions, np.array([30, 20, 50]), frequency=np.array([1, 1, 6]))
    system = System.of([table])
    unsafe = np.array([True, True, False, False])
    needed = Requirement(unsafe, exact([3, 2, 0, 0]), exact([3, 2, 0, 0]))
    bounds, owners = Bounds.of(system.cells.values), alone(system)
    two, three = unsafe, np.array([True, True, True, False])

    def attacked(pattern: np.ndarray, who: np.ndarray | None) -> set[tuple[int, int]]:
        # Needs that were computed are numbers of NumPy.
        targets = [replace(each, need=np.float64(each.need)) for each in targets_of(needed)]
        found = exposed(Problem.of(system, bounds, who), pattern, targets, CancelToken())
        return {(e.variable, e.attacker) for e in found}

    assert attacked(two, None) == set()
    assert attacked(two, owners) == {(0, owners[1]), (1, owners[0])}
    assert attacked(three, owners) == set()


def test_the_contributor_of_a_total_is_the_one_of_its_only_filled_cell() -> None:
    dimensions = [Dimension.flat("a", ["p", "q"]), Dimension.flat("b", ["x", "y"])]
    leaves, frequency = np.array([7, 0, 3, 4]), np.array([1, 0, 1, 5])
    owners = alone(System.of([filled(dimensions, leaves, frequency=frequency)]))

    assert owners.reshape(3, 3).tolist() == [[0, -1, 0], [1, -1, -1], [-1, -1, -1]]


def test_a_contributor_known_by_name_is_one_attacker_in_several_cells() -> None:
    cells = Cells(exact([5, 6, 7, 18]), np.array([1, 1, 1, 3]), who=np.array([[4], [4], [9], [9]]))
    system = System.of([Table("t", (Dimension.flat("a", list("pqr")),), cells)])
    unsafe = np.array([False, False, True, False])
    needed = Requirement(unsafe, exact([0, 0, 1, 0]), exact([0, 0, 1, 0]))
    problem = Problem.of(system, Bounds.of(system.cells.values), alone(system))
    pattern = np.array([True, True, True, False])

    found = exposed(problem, pattern, targets_of(needed), CancelToken())

    assert {(e.variable, e.attacker) for e in found} == {(2, int(alone(system)[0]))}


def test_amounts_of_many_digits_keep_their_intervals() -> None:
    rng = np.random.default_rng(3)
    small = drawn_system(rng)
    factor = 10**16 + 1
    cells = Cells(small.cells.values * factor, small.cells.frequency)
    large = replace(small, cells=cells)
    suppressed = ~small.known & (rng.random(len(small)) < 0.7)
    few = audit(small, suppressed, Bounds.of(small.cells.values), CancelToken())
    many = audit(large, suppressed, Bounds.of(cells.values), CancelToken())

    assert many.lower / factor == pytest.approx(few.lower, abs=1e-6)
    assert many.upper / factor == pytest.approx(few.upper, abs=1e-6)


def test_a_cancelled_audit_stops() -> None:
    system = drawn_system(np.random.default_rng(0))
    token = CancelToken()
    token.cancel()

    with pytest.raises(Cancelled):
        audit(system, ~system.known, Bounds.of(system.cells.values), token)


@pytest.mark.data
@pytest.mark.skipif(not DATA, reason="needs the real data that DPDESK_TEST_DATA names")
def test_a_cell_with_two_suppressions_in_every_line_is_found_out() -> None:
    lines = (Path(DATA) / "tables/hidden_recalculable_cell_4x4.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines]
    inner = {(a, b): (int(n), p) for a, b, n, p in rows if a in "wxyz" and b in "abcd"}
    dimensions = [Dimension.flat("v1", list("wxyz")), Dimension.flat("v2", list("abcd"))]
    values = np.array([inner[a, b][0] for a in "wxyz" for b in "abcd"])
    system = System.of([filled(dimensions, values)])
    suppressed = np.zeros((5, 5), dtype=bool)
    suppressed[:4, :4] = [[inner[a, b][1] == "True" for b in "abcd"] for a in "wxyz"]

    found = audit(system, suppressed.ravel(), Bounds.of(system.cells.values), CancelToken())

    assert (found.lower[1], found.upper[1]) == (47, 47)
    assert found.lower[0] < 30 < found.upper[0]


def test_a_hierarchy_gives_children_away_through_a_published_subtotal() -> None:
    rows = [[x, "A" if x in "pq" else "B", "*"] for x in "pqrs"]
    region = Dimension.of("region", Hierarchy.from_rows("region", rows))
    system = System.of([filled([region], np.array([5, 6, 7, 8]))])
    suppressed = np.array([label in ("p", "q", "r", "B") for label in region.labels])

    found = audit(system, suppressed, Bounds.of(system.cells.values), CancelToken())

    assert dict(zip(region.labels, found.lower, strict=True)) == {
        "p": 0, "q": 0, "A": 11, "r": 7, "s": 8, "B": 15, "Total": 26,
    }  # fmt: skip


def test_a_contributor_in_a_total_knows_the_least_that_it_can_be_whatever_is_suppressed() -> None:
    dimensions = [Dimension.flat("a", ["p", "q"]), Dimension.flat("b", ["x", "y", "z"])]
    leaves, frequency = np.array([90, 4, 0, 30, 40, 50]), np.array([1, 1, 0, 5, 6, 7])
    system = System.of([filled(dimensions, leaves, frequency=frequency)])
    unsafe = np.zeros(12, dtype=bool)
    unsafe[3] = True  # p × Total: 94, of which one contributor has 90
    needed = Requirement(unsafe, exact(9 * unsafe.astype(int)), exact(9 * unsafe.astype(int)))
    problem = Problem.of(system, Bounds.of(system.cells.values), alone(system))

    found = exposed(problem, ~system.known, targets_of(needed), CancelToken())

    assert found == []
