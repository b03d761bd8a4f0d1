"""Moves as witnesses of an audit: against literal definitions, programs, and attackers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables import suppression
from dpdesk.engine.tables.audit import Problem, alone, audit, exposed, sliding_of, targets_of
from dpdesk.engine.tables.model import Bounds, Dimension, System
from dpdesk.engine.tables.rules import Judgement, Rule, judge
from dpdesk.engine.tables.suppression import How, suppress
from dpdesk.engine.tables.whole import told_as_whole
from dpdesk.engine.tables.witnesses import Witnesses, told_as_present
from dpdesk.verifiers.tables.moves import Shown
from tests.helpers.searching import examples
from tests.helpers.tables import drawn_system, filled
from tests.reference.tables import moved_so_far

TOKEN = CancelToken()
MANY = settings(max_examples=examples(60), deadline=None)
seeds = st.integers(0, 10**6)


def protected(
    seed: int,
    how: How,
    *,
    present: bool = False,
    sliding: Fraction | None = None,
    whole: bool = False,
) -> tuple[System, Judgement, Problem, np.ndarray, Witnesses]:
    """A small system protected as if it were large, with its witnesses."""
    system = drawn_system(np.random.default_rng(seed))
    told = judge(system, [Rule("threshold", 2, range=Fraction(1, 4))])
    if sliding is not None:
        wide = np.where(told.required.unsafe, system.cells.values * sliding, 0)
        told = replace(told, required=replace(told.required, sliding=wide))
    bounds = Bounds.of(system.cells.values)
    filled_in = (system.cells.values > 0).astype(np.float64) if present else None
    with pytest.MonkeyPatch.context() as patch:
        for limit in ("LARGE", "LARGEST_PROVEN", "MANY"):
            patch.setattr(suppression, limit, 0)
        steps = np.ones(len(system)) if whole else None
        try:
            found = suppress(
                *(system, told, bounds, system.cells.values, TOKEN, how),
                filled=filled_in,
                steps=steps,
            )
        except RefusedError:
            reject()
    problem = Problem.of(system, bounds, alone(system), filled_in)
    return system, told, problem, found.suppressed, found.witnesses or Witnesses.of([], problem)


@MANY
@given(seeds, st.sampled_from(["heuristic", "hitas"]), st.booleans())
def test_what_moves_cover_no_attacker_comes_close_to(seed: int, how: How, present: bool) -> None:
    _, told, problem, hidden, found = protected(seed, how, present=present)
    targets = targets_of(told.required, above=problem.high if present else None)
    covered = found.covered(problem, targets)
    shown = [target for target, there in zip(targets, covered, strict=True) if there]
    assert exposed(problem, hidden, shown, TOKEN, 1) == []


@MANY
@given(seeds, st.sampled_from(["heuristic", "hitas"]))
def test_moves_reach_as_far_as_by_the_letter_and_no_farther_than_programs(
    seed: int, how: How
) -> None:
    system, _, problem, hidden, found = protected(seed, how)
    down, up = found.reach(problem.low, problem.high)
    ends = audit(system, hidden, Bounds.of(system.cells.values), TOKEN, 1)
    values = system.cells.values.astype(np.float64)
    assert (values - down >= ends.lower - 1e-6).all()
    assert (values + up <= ends.upper + 1e-6).all()
    rows = problem.matrix.tolil()
    equations = [
        dict(zip(cells, map(int, factors), strict=True))
        for cells, factors in zip(rows.rows, rows.data, strict=True)
    ]
    low = [Fraction(x) for x in problem.low.tolist()]
    high = [None if np.isinf(x) else Fraction(x) for x in problem.high.tolist()]
    wanted: dict[int, list[list[Fraction | None]]] = {}
    for number in range(found.matrix.shape[0]):
        ends_of = slice(*found.matrix.indptr[number : number + 2])
        cells = found.matrix.indices[ends_of].tolist()
        move = dict(zip(cells, map(Fraction, found.matrix.data[ends_of].tolist()), strict=True))
        for cell, sides in moved_so_far(move, equations, low, high).items():
            wanted.setdefault(cell, [[], []])
            for side, far in zip(wanted[cell], sides, strict=True):
                side.append(far)
    for cell, sides in wanted.items():
        for reach, side in zip((down, up), sides, strict=True):
            most = np.inf if None in side else float(max(x for x in side if x is not None))
            assert reach[cell] == pytest.approx(most)


@MANY
@given(seeds)
def test_steps_of_moves_are_tables_that_others_could_have_too(seed: int) -> None:
    """All whole tables with the published cells, one by one."""
    rng = np.random.default_rng(seed)
    dimensions = [Dimension.flat("ab"[i], ["p", "q", "r"][: 2 + i]) for i in range(2)]
    system = System.of([filled(dimensions, rng.integers(0, 4, 6))])
    problem = Problem.of(system, Bounds.of(system.cells.values))
    ones = np.ones(len(system))
    square = [(np.array([0, 1, 4, 5]), np.array([1.0, -1.0, -1.0, 1.0]))]
    found = Witnesses.of(square, problem)
    down, up = found.whole(problem.low, problem.high, ones)
    inner = [i for i in range(len(system)) if i in (0, 1, 4, 5)]
    ends = [system.cells.values.tolist() for _ in range(2)]
    for changed in product(range(-4, 5), repeat=4):
        move = np.zeros(len(system))
        move[inner] = changed
        other = system.cells.values + move.astype(int)
        if not (problem.matrix @ move).any() and (other >= 0).all():
            ends[0] = np.minimum(ends[0], other).tolist()
            ends[1] = np.maximum(ends[1], other).tolist()
    assert (system.cells.values - down >= ends[0]).all()
    assert (system.cells.values + up <= ends[1]).all()
    if found.matrix.shape[0]:
        assert (system.cells.values - down == ends[0])[inner].all()


@MANY
@given(seeds, st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=3))
def test_whole_moves_of_unlike_parts_go_as_far_as_they_fit(
    seed: int, parts: list[tuple[int, int]]
) -> None:
    """Also 7 here, -3 and -4 there; engine and verifier alike, by trying how often each fits."""
    rng = np.random.default_rng(seed)
    dimensions = [Dimension.flat("ab"[i], ["p", "q", "r"][: 2 + i]) for i in range(2)]
    system = System.of([filled(dimensions, rng.integers(1, 12, 6))])
    problem = Problem.of(system, Bounds.of(system.cells.values))
    values = system.cells.values.tolist()
    moves, ends = [], np.zeros((2, len(system)))
    for one, other in parts:
        move = np.zeros(len(system))
        move[[0, 1, 2, 4, 5, 6]] = one, other, -one - other, -one, -other, one + other
        common = int(np.gcd.reduce(move.astype(int)))
        if common == 0:
            continue
        moves.append((np.flatnonzero(move), move[move != 0]))
        for times in range(-60, 61):
            far = times * move / common
            if (values + far >= 0).all():
                ends[0], ends[1] = np.maximum(ends[0], -far), np.maximum(ends[1], far)
    found = Witnesses.of(moves, problem).whole(problem.low, problem.high, np.ones(len(system)))
    shown = Shown(tuple(moves)).steps(problem.low, problem.high)
    assert np.array_equal(np.stack(found), ends)
    assert np.array_equal(shown, ends)


def test_what_is_no_move_is_left_out() -> None:
    system = System.of(
        [filled([Dimension.flat("a", ["p", "q"]), Dimension.flat("b", ["x", "y"])],
                np.array([3, 4, 5, 6]))]
    )  # fmt: skip
    problem = Problem.of(system, Bounds.of(system.cells.values))
    square = np.array([0, 1, 3, 4])
    right = (square, np.array([2.0, -2.0, -2.0, 2.0 + 1e-9]))
    wrong = (square, np.array([1.0, -1.0, -1.0, 1.1]))
    found = Witnesses.of([right, wrong, (square[:2], np.array([1.0, -1.0]))], problem)
    assert found.matrix.toarray().tolist() == [[1, -1, 0, -1, 1, 0, 0, 0, 0]]


@MANY
@given(seeds, st.booleans(), st.sampled_from([None, Fraction(1), Fraction(5, 2)]), st.booleans())
def test_what_is_told_is_the_same_with_moves_and_without(
    seed: int, present: bool, sliding: Fraction | None, whole: bool
) -> None:
    system, told, problem, hidden, found = protected(
        seed, "heuristic", present=present, sliding=sliding, whole=whole
    )
    problem = replace(problem, owners=None)
    ones, targets = np.ones(len(system)), [*targets_of(told.required), *sliding_of(told.required)]
    answers = [told_as_whole(problem, hidden, targets, ones, TOKEN, w) for w in (None, found)]
    assert answers[0] == answers[1]
    held = (system.cells.values > 0).astype(np.float64)
    informed = Problem.of(system, Bounds.of(system.cells.values), filled=held)
    both = [told_as_present(informed, hidden, told.required, TOKEN, w) for w in (None, found)]
    assert both[0] == both[1]
