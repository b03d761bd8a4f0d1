"""Eligibility and its remedies agree with trying every possibility."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.schema import ValueCount
from dpdesk.engine.decoys.eligibility import Eligibility, largest_common_l, refuse

counts_of = st.lists(st.integers(1, 7), min_size=1, max_size=4)


def held(counts: list[int], size: int) -> Eligibility:
    items = tuple(ValueCount("abcdefgh"[v], rows) for v, rows in enumerate(counts))
    return Eligibility("illness", size, items)


def can_be_divided(counts: list[int], size: int) -> bool:
    """Whether any removal of the rows left over leaves counts that can be divided into groups."""
    rest = sum(counts) % size
    groups = sum(counts) // size
    ways = [
        removed
        for removed in product(*(range(count + 1) for count in counts))
        if sum(removed) == rest
    ]
    return groups > 0 and all(
        max(count - lost for count, lost in zip(counts, removed, strict=True)) <= groups
        for removed in ways
    )


@given(counts=counts_of, size=st.integers(2, 5))
def test_eligible_is_what_can_be_divided_whatever_is_removed(counts: list[int], size: int) -> None:
    assert held(counts, size).eligible == can_be_divided(counts, size)


@given(counts=counts_of, size=st.integers(2, 5))
def test_the_largest_l_works_and_a_larger_one_does_not(counts: list[int], size: int) -> None:
    largest = held(counts, size).largest_l
    assert largest < 2 or held(counts, largest).eligible
    assert not held(counts, largest + 1).eligible


@given(counts=counts_of, size=st.integers(2, 4))
def test_the_fewest_rows_are_removed_that_make_it_eligible(counts: list[int], size: int) -> None:
    found = held(counts, size)
    ways = sorted(product(*(range(count + 1) for count in counts)), key=sum)
    works = [
        sum(lost)
        for lost in ways
        if held([count - gone for count, gone in zip(counts, lost, strict=True)], size).eligible
    ]
    if found.eligible or not works:
        assert found.rows_to_remove == {}
    else:
        removed = found.rows_to_remove
        assert sum(removed.values()) == works[0]
        left = [n - removed.get("abcdefgh"[v], 0) for v, n in enumerate(counts)]
        assert held(left, size).eligible


def test_the_words_name_the_value_the_limit_and_what_can_be_done() -> None:
    found = held([70, 20, 10], 2)
    assert found.sentence == (
        "`illness` cannot be divided into groups of 2 different values: `a` has 70 of 100 rows, "
        "and at most 50 may share a value."
    )
    assert found.hint.startswith("What helps: leave out 40 rows with `a` yourself")
    assert "merging values does not" in found.hint
    assert "set l to 2 or less or leave out 40 rows with `a`, `b`" in held([50, 30, 20], 3).hint
    assert "too few for any l" in held([5], 2).hint
    assert held([3, 2], 2).hint.startswith("What helps: leave out 1 row with `a` yourself")
    assert held([1], 2).sentence.startswith("`illness` has 1 row in all, fewer than the 2")
    coarse = replace(held([5], 2), level=2)
    assert coarse.hint.startswith("What helps: release it at a level below 2 of its hierarchy")


def test_a_refusal_carries_its_remedies_as_data() -> None:
    with pytest.raises(RefusedError) as caught:
        refuse((held([1, 1, 1], 3), held([50, 30, 20], 3)), "people.csv")
    assert caught.value.sentence.startswith("people.csv: `illness`")
    assert caught.value.details["largest_l"] == 2
    assert caught.value.details["values"] == {"a": 50}
    assert caught.value.details["rows_to_remove"] == {"a": 30, "b": 10}


def test_too_few_rows_for_one_group_are_said_so() -> None:
    assert "3 rows in all" in held([1, 1, 1], 4).sentence
    assert largest_common_l((held([5, 5], 2), held([6, 2, 2], 2))) == 1
    assert largest_common_l(()) == 0
