"""The attacker's linear programs: kept between solves, believed only where their points hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space
from scipy.optimize import linprog
from scipy.sparse import csr_array

from dpdesk.verifiers.tables.programs import InfeasibleError, Program, one_for_another


def drawn_rows(rng: np.random.Generator) -> np.ndarray:
    """A few sums over a few unknowns, many of them short."""
    rows, columns = int(rng.integers(0, 6)), int(rng.integers(1, 8))
    there = rng.random((rows, columns)) < rng.choice([0.2, 0.4])
    return np.where(there, rng.choice([-2.0, -1.0, 1.0], (rows, columns)), 0.0)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=200, deadline=None)
def test_programs_that_follow_each_other_end_where_new_ones_do(seed: int, moves: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = drawn_rows(rng)
    count = rows.shape[1]
    program = Program(csr_array(rows), moves=moves)
    for _ in range(6):
        low = np.where(rng.random(count) < 0.2, -np.inf, -rng.integers(0, 5, count))
        high = np.where(rng.random(count) < 0.2, np.inf, rng.integers(0, 5, count))
        box = np.stack([low, high], axis=1)
        sums = np.zeros(len(rows)) if moves else rng.integers(-6, 7, len(rows)).astype(float)
        cost = rng.integers(-1, 2, count).astype(float)
        given_rows = {"A_eq": rows, "b_eq": sums} if len(rows) else {}
        there = linprog(np.zeros(count), **given_rows, bounds=box)
        if there.status == 2:
            with pytest.raises(InfeasibleError):
                program.end(sums, box, cost)
            continue
        fresh, found = linprog(cost, **given_rows, bounds=box), program.end(sums, box, cost)
        if fresh.status != 0:
            assert found is None
            continue
        assert found is not None
        assert cost @ found == pytest.approx(fresh.fun, abs=1e-6)
        assert np.abs(rows @ found - sums).max(initial=0.0) < 1e-6
        assert ((found >= low) & (found <= high)).all()


@given(st.integers(0, 10**6))
@settings(max_examples=200, deadline=None)
def test_unknowns_that_stand_for_others_move_as_these_do(seed: int) -> None:
    rows = drawn_rows(np.random.default_rng(seed))
    of, sign = one_for_another(csr_array(rows))
    moves = null_space(rows) if len(rows) else np.eye(rows.shape[1])
    assert np.abs(moves - sign[:, None] * moves[of]).max(initial=0.0) < 1e-9
    # And no sum of one or two of them is left.
    joined = np.zeros((len(of), len(of)))
    joined[np.arange(len(of)), of] = sign
    left = rows @ joined
    for row in left:
        inside = row[row != 0]
        assert len(inside) > 2 or not len(inside) or len(set(np.abs(inside))) == 2


@pytest.mark.parametrize("point", [[3.0, 2.0, 1.0], [0.5, 0.5, 0.0], [9.0, 4.0, 5.0]])
def test_a_point_that_does_not_hold_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, point: list[float]
) -> None:
    program = Program(csr_array(np.array([[1.0, -1.0, -1.0]])), moves=True)
    box, cost = np.array([[-4.0, 4.0]] * 3), np.array([-1.0, 0.0, 0.0])
    best = program.end(np.zeros(1), box, cost)
    assert best is not None
    assert best[0] == pytest.approx(4.0)
    lie = np.array(point)
    if lie[0] == lie[1] + lie[2] and lie[0] <= 4:
        lie[1] += 0.5
    monkeypatch.setattr(Program, "_point", lambda self, count: lie)
    with pytest.raises(ArithmeticError):
        program.end(np.zeros(1), box, cost)
