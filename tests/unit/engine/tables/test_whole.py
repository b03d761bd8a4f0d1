"""What whole numbers tell of counts: as integer programs over the cells themselves find it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.audit import Problem, sliding_of, targets_of
from dpdesk.engine.tables.model import Bounds, Dimension, Flags, Requirement, System, exact
from dpdesk.engine.tables.rules import Judgement
from dpdesk.engine.tables.suppression import suppress
from dpdesk.engine.tables.whole import Told, told_as_whole
from tests.helpers.searching import examples
from tests.helpers.tables import filled

TOKEN = CancelToken()
SHORT = [int(digit) for digit in "6010113311244111"]
"""In whose best pattern five counts of 1 reach 3.5 by linear programs, and 3 by whole numbers."""
SKIPPING = [int(digit) for digit in "363416030102112320121026"]
"""In whose best pattern a count moves by two, and not by one."""


def counts(
    shape: tuple[int, ...], leaves: list[int], n: int, share: Fraction, wide: Fraction | None = None
) -> tuple[System, Judgement]:
    """A table of counts in which those below ``n`` need a share of themselves, and at least 1.

    With ``wide`` what they can be must span that share of themselves.
    """
    axes = [Dimension.flat("abcd"[i], list("stuvw")[:size]) for i, size in enumerate(shape)]
    system = System.of([filled(axes, np.array(leaves))])
    values = system.cells.values.tolist()
    unsafe = np.array([0 < value < n for value in values])
    up = [max(value * share, Fraction(1)) if 0 < value < n else Fraction(0) for value in values]
    low = [min(need, Fraction(value)) for need, value in zip(up, values, strict=True)]
    nothing = np.zeros(len(values), dtype=bool)
    spans = None if wide is None else exact(np.where(unsafe, exact(values) * wide, 0))
    asked = Requirement(unsafe, exact(low), exact(up), spans)
    return system, Judgement(asked, (), nothing, nothing)


def told(system: System, judged: Judgement, pattern: Flags) -> Told:
    problem = Problem.of(system, Bounds.of(system.cells.values))
    ones = np.ones(len(system))
    targets = [*targets_of(judged.required), *sliding_of(judged.required)]
    return told_as_whole(problem, pattern, targets, ones, TOKEN)


def ends(system: System, pattern: Flags, cell: int) -> tuple[int, int]:
    """How far a suppressed count can be from its value, of all whole numbers that fit."""
    values = system.cells.values.astype(float)
    fixed = ~pattern | system.known
    box = Box(np.where(fixed, values, 0), np.where(fixed, values, 10**4))
    equations = LinearConstraint(system.matrix, 0, 0)
    found = []
    for way in (1, -1):
        cost = np.zeros(len(values))
        cost[cell] = way
        whole = np.ones(len(values))
        solved = milp(cost, integrality=whole, bounds=box, constraints=equations)
        found.append(round(solved.x[cell] - values[cell]))
    return -found[0], found[1]


def by_trying(system: System, judged: Judgement, pattern: Flags) -> Told:
    """Every unsafe count by two integer programs, with nothing left out."""
    exactly = closer = 0
    for cell in np.flatnonzero(judged.required.unsafe & pattern).tolist():
        reach = ends(system, pattern, cell)
        needs = judged.required.lower[cell], judged.required.upper[cell]
        if reach == (0, 0):
            exactly += 1
        elif reach[0] < needs[0] or reach[1] < needs[1] or sum(reach) < span(judged, cell):
            closer += 1
    return Told(exactly, closer)


def span(judged: Judgement, cell: int) -> Fraction:
    wide = judged.required.sliding
    return Fraction(0) if wide is None else Fraction(wide[cell])


def best(system: System, judged: Judgement, how: str = "optimal") -> Flags:
    values = system.cells.values
    found = suppress(system, judged, Bounds.of(values), values, TOKEN, how, False)  # type: ignore[arg-type]
    return found.suppressed


def test_counts_that_reach_far_enough_by_parts_of_a_person_alone_are_found() -> None:
    system, judged = counts((2, 2, 2, 2), SHORT, 3, Fraction(5, 2))
    pattern = best(system, judged)
    assert told(system, judged, pattern) == by_trying(system, judged, pattern) == Told(0, 5)


def test_a_count_that_moves_by_two_and_not_by_one_is_not_told() -> None:
    system, judged = counts((2, 2, 2, 3), SKIPPING, 5, Fraction(1, 4))
    pattern = best(system, judged)
    assert told(system, judged, pattern) == by_trying(system, judged, pattern) == Told()


def test_in_tables_of_two_dimensions_whole_numbers_tell_nothing_more() -> None:
    leaves = [1, 5, 9, 2, 0, 4, 7, 1, 3, 8, 2, 6]
    system, judged = counts((3, 4), leaves, 3, Fraction(1, 2))
    assert told(system, judged, best(system, judged)) == Told()


@given(
    st.sampled_from([(2, 2, 3), (2, 2, 2, 2), (3, 3, 2), (3, 3, 3)]),
    st.lists(st.integers(0, 6), min_size=27, max_size=27),
    st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(5, 2)]),
    st.integers(2, 4),
    st.sampled_from([None, Fraction(3), Fraction(9, 2), Fraction(6)]),
)
@example((2, 2, 2, 2), SHORT, Fraction(1, 4), 3, Fraction(9, 2))
@settings(max_examples=examples(40), deadline=None)
def test_any_table_of_counts_is_told_as_integer_programs_find_it(
    shape: tuple[int, ...], leaves: list[int], share: Fraction, n: int, wide: Fraction | None
) -> None:
    system, judged = counts(shape, leaves[: int(np.prod(shape))], n, share, wide)
    try:
        pattern = best(system, judged, "heuristic")
    except RefusedError:
        return
    assert told(system, judged, pattern) == by_trying(system, judged, pattern)
