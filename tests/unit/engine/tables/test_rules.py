"""Sensitivity: every rule against its definition, statuses by hand, groups."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.engine.tables.model import Cells, Dimension, System, Table, exact
from dpdesk.engine.tables.rules import Rule, judge
from tests.helpers.tables import filled
from tests.reference import tables as reference

CONTRIBUTIONS = st.lists(st.lists(st.integers(-5, 40), max_size=5), min_size=2, max_size=5)


def magnitudes(held: list[list[int]], **known: np.ndarray) -> System:
    """One flat table: a cell per list of contributions, and their total."""
    held = [*held, [x for cell in held for x in cell]]
    top = [(sorted((abs(x) for x in cell), reverse=True) + [0] * 3)[:3] for cell in held]
    cells = Cells(
        exact([sum(cell) for cell in held]),
        np.array([len(cell) for cell in held], dtype=np.int64),
        top=np.array(top, dtype=object),
        magnitude=exact([sum(abs(x) for x in cell) for cell in held]),
        **known,  # type: ignore[arg-type]
    )
    labels = [str(i) for i in range(len(held) - 1)]
    return System.of([Table("t", (Dimension.flat("d", labels),), cells)])


@given(CONTRIBUTIONS, st.integers(1, 3), st.fractions(1, 120, max_denominator=8))
def test_rules_agree_with_their_definitions(held: list[list[int]], n: int, share: Fraction) -> None:
    system = magnitudes(held)
    rules = [
        Rule("threshold", n, range=Fraction(1, 4)),
        Rule("dominance", n, share),
        Rule("p-percent", share=share),
    ]
    judged = judge(system, rules, least=exact([1] * len(system)))

    for i, cell in enumerate([*held, [x for each in held for x in each]]):
        expected = [
            reference.threshold(cell, n, Fraction(1, 4), 1),
            reference.dominance(cell, n, share),
            reference.p_percent(cell, share),
        ]
        assert [bool(found[i]) for found in judged.by_rule] == [e is not None for e in expected]
        wide = max((e for e in expected if e is not None), default=Fraction(0))
        assert judged.required.upper[i] == wide
        value = sum(cell)
        assert judged.required.lower[i] == (min(wide, value) if value >= 0 else wide)


def test_pq_is_p_percent_with_the_ratio() -> None:
    system = magnitudes([[100, 9, 4], [100, 9, 6]])
    found = judge(system, [Rule("pq", share=Fraction(10) / 2)]).by_rule[0]

    assert found.tolist() == [True, False, False]


def test_a_status_by_hand_goes_before_the_rules_and_a_request_is_unsafe() -> None:
    status = np.array(["S", "U", "P", "", ""])
    system = magnitudes(
        [[50], [5, 5], [3], [2, 2, 2]], status=status, asking=exact([50, 5, 3, 2, 7])
    )
    asked = Rule("request", share=Fraction(30))
    judged = judge(system, [Rule("threshold", 2), asked], Fraction(1, 5))

    assert judged.required.unsafe.tolist() == [False, True, False, True, False]
    assert judged.published.tolist() == [False, False, True, False, False]
    assert judged.required.upper.tolist() == [0, 2, 0, Fraction(6, 5), 0]


def test_who_waives_protection_is_exempt_from_concentration_not_from_the_threshold() -> None:
    system = magnitudes([[90, 5, 4], [8]], holding=exact([4, -1, 4]))
    judged = judge(system, [Rule("p-percent", share=Fraction(20)), Rule("threshold", 2)])

    assert [found.tolist() for found in judged.by_rule] == [
        [False, False, False],
        [False, True, False],
    ]


def test_too_few_contributions_are_refused_with_the_cell() -> None:
    cells = Cells(exact([5, 5]), np.array([3, 3]), top=np.array([[3], [3]], dtype=object))
    system = System.of([Table("t", (Dimension.flat("d", ["a"]),), cells)])

    with pytest.raises(InputError, match="the 2 largest contributions, found 1"):
        judge(system, [Rule("p-percent", share=Fraction(5))])


def test_whole_groups_and_the_empty_cells_next_to_them_are_found_where_zeros_are_not_known() -> (
    None
):
    dimensions = [Dimension.flat("town", ["a", "b"]), Dimension.flat("ill", ["no", "yes"])]
    table = filled(dimensions, np.array([0, 4, 3, 2]))
    judged = judge(System.of([table], zeros_known=False), [Rule("full", range=Fraction(1, 2))])

    found = judged.by_rule[0].reshape(3, 3).tolist()
    # All of a are ill; all who are not ill are in b.
    assert found == [[True, True, False], [True, False, False], [False] * 3]
    lower, upper = (
        ends.reshape(3, 3).tolist() for ends in (judged.required.lower, judged.required.upper)
    )
    assert lower == [[0, 2, 0], [Fraction(3, 2), 0, 0], [0, 0, 0]]
    assert upper == [[2, 0, 0], [0, 0, 0], [0, 0, 0]]
