"""The partition into decoy groups: what it promises, and agreement with a slow reference."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.decoys import LARGEST_FIRST, MIXED, RULES
from dpdesk.engine.decoys.partition import batch_size, permutation, row_groups, value_groups
from tests.helpers.known_bits import ListedBits, SeededBits
from tests.reference import diverted as reference

TOKEN = CancelToken()


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """The first call of a kernel may compile it."""
    for rule in RULES:
        groups = groups_of([1, 1], 2, rule)
        row_groups(
            np.arange(2, dtype=np.int32), permutation(2, SeededBits(1), TOKEN), groups, TOKEN
        )


@st.composite
def eligible(draw: st.DrawFn) -> tuple[list[int], int]:
    """Counts that can be divided into groups, and the size of a group."""
    size = draw(st.integers(1, 5))
    groups = draw(st.integers(1, 12))
    values = draw(st.integers(size, size + 6))
    counts = [0] * values
    for _ in range(groups * size):
        room = [v for v in range(values) if counts[v] < groups]
        counts[draw(st.sampled_from(room))] += 1
    return counts, size


def groups_of(counts: list[int], size: int, rule: str, seed: int = 5) -> NDArray[np.int32]:
    source = SeededBits(seed)
    return value_groups(np.array(counts, np.int64), size, rule, source, TOKEN)


@pytest.mark.parametrize("rule", RULES)
@given(case=eligible(), seed=st.integers(0, 99))
def test_groups_hold_different_values_and_use_up_every_row(
    rule: str, case: tuple[list[int], int], seed: int
) -> None:
    counts, size = case
    found = groups_of(counts, size, rule, seed)
    assert found.shape == (sum(counts) // size, size)
    assert all(len(set(group)) == size for group in found.tolist())
    assert np.bincount(found.ravel(), minlength=len(counts)).tolist() == counts


@given(case=eligible(), seed=st.integers(0, 99), most=st.integers(1, 30))
def test_groups_that_share_an_order_hold_different_values_too(
    case: tuple[list[int], int], seed: int, most: int
) -> None:
    from dpdesk.engine.decoys.kernels import mixed_groups

    counts, size = case
    groups = sum(counts) // size
    present = np.array([count for count in counts if count], np.int64)
    left, found = present.copy(), np.full((groups, size), -1, np.int32)
    remaining, generator = groups, np.random.default_rng(seed)
    while remaining:
        draws = [[*(generator.integers(n) for n in range(len(left), 1, -1))]]
        draws[0].append(generator.integers(remaining))
        done = groups - remaining
        line = np.array(draws, np.uint64)
        remaining = mixed_groups(left, size, remaining, most, line, found, done)
        assert left.max() <= remaining
    assert all(len(set(group)) == size for group in found.tolist())
    assert np.bincount(found.ravel(), minlength=len(present)).tolist() == present.tolist()


@given(case=eligible(), seed=st.integers(0, 99))
def test_the_mixed_rule_is_the_reference_on_the_same_words(
    case: tuple[list[int], int], seed: int
) -> None:
    counts, size = case
    source = SeededBits(seed)
    source.remember = True
    found = value_groups(np.array(counts, np.int64), size, MIXED, source, TOKEN)
    assert found.tolist() == reference.mixed(counts, size, iter(source.given))


@given(case=eligible())
def test_largest_first_is_the_reference_and_draws_nothing(case: tuple[list[int], int]) -> None:
    counts, size = case
    found = value_groups(np.array(counts, np.int64), size, LARGEST_FIRST, ListedBits([]), TOKEN)
    expected = reference.largest_first(counts, size)
    assert [sorted(group) for group in found.tolist()] == [sorted(group) for group in expected]


@pytest.mark.parametrize("rule", RULES)
@given(case=eligible(), seed=st.integers(0, 99))
def test_rows_take_their_places_in_the_order_of_their_ids(
    rule: str, case: tuple[list[int], int], seed: int
) -> None:
    counts, size = case
    generator = np.random.default_rng(seed)
    values = generator.permutation(np.repeat(np.arange(len(counts)), counts)).astype(np.int32)
    ids = permutation(len(values), SeededBits(seed), TOKEN)  # ids[i] is the row with id i
    groups = groups_of(counts, size, rule, seed)
    found = row_groups(values, ids, groups, TOKEN)
    of_row = {int(row): number for number, row in enumerate(ids)}
    expected = reference.members(
        values.tolist(), [of_row[row] for row in range(len(values))], groups.tolist()
    )
    assert found.tolist() == expected


def test_one_group_takes_values_in_proportion_to_their_rows() -> None:
    counts, size = [3, 2, 2, 1], 2
    first: Counter[int] = Counter()
    for draws in product(range(4), range(3), range(2), range(4)):  # order of the values, then u
        source = ListedBits([*draws, *([0] * 20)])
        found = value_groups(np.array(counts, np.int64), size, MIXED, source, TOKEN)
        first.update(found[0].tolist())
    total = sum(first.values())
    assert [first[v] * 8 for v in range(4)] == [size * count * total // size for count in counts]


def test_a_value_in_every_group_is_found_in_every_group() -> None:
    found = groups_of([4, 1, 1, 1, 1], 2, MIXED)
    assert all(0 in group for group in found.tolist())


def test_values_that_do_not_occur_are_in_no_group() -> None:
    for rule in RULES:
        found = groups_of([0, 2, 0, 2, 2, 0], 3, rule)
        assert {v for group in found.tolist() for v in group} == {1, 3, 4}


@pytest.mark.parametrize(
    ("counts", "size", "said"),
    [
        ([3, 1], 2, "a value has 3 rows, but there are 2 groups"),
        ([2, 1], 2, "3 rows do not make groups of 2"),
        ([-1, 3], 2, "do not make groups"),
    ],
)
def test_counts_that_cannot_be_divided_are_refused(counts: list[int], size: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        groups_of(counts, size, MIXED)


def test_an_empty_table_has_no_groups_and_an_unknown_rule_is_refused() -> None:
    assert groups_of([0, 0], 2, MIXED).shape == (0, 2)
    with pytest.raises(ValueError, match="no rule"):
        groups_of([1, 1], 2, "smallest-first")


def test_one_order_serves_one_group_unless_there_are_very_many_values() -> None:
    assert batch_size(50, 1_000_000, 10) == 1
    assert batch_size(8, 10_000_000, 2) == 1
    assert batch_size(100_000, 500_000, 2) == 373


@pytest.mark.parametrize("rule", RULES)
def test_a_cancel_is_heard(rule: str) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        value_groups(np.array([2, 2], np.int64), 2, rule, SeededBits(1), token)


def test_with_very_many_values_every_pair_still_meets_as_often() -> None:
    values, size, most = 40, 2, 1
    assert batch_size(values, values // size, size, most) == 3
    counts, source = np.ones(values, np.int64), SeededBits(12)
    met = np.zeros((values, values), np.int64)
    times = 1500
    for _ in range(times):
        found = value_groups(counts, size, MIXED, source, TOKEN, most)
        assert sorted(found.ravel().tolist()) == list(range(values))
        met[found[:, 0], found[:, 1]] += 1
    pairs = (met + met.T)[np.triu_indices(values, 1)]
    share = 1 / (values - 1)
    assert abs(pairs - times * share).max() < 6.5 * (times * share * (1 - share)) ** 0.5
