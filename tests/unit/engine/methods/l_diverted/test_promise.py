"""The theorem, checked by enumerating every outcome of the program's own steps on tiny tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.decoys.kernels import publish
from dpdesk.engine.decoys.partition import row_groups, value_groups
from dpdesk.engine.methods.l_diverted.settings import LARGEST_FIRST, MIXED
from tests.helpers.known_bits import ListedBits
from tests.reference import diverted as reference

TOKEN = CancelToken()
A, B, C, D = range(4)
Law = Counter[tuple[int, ...]]


def partition(
    values: Sequence[int], ids: Sequence[int], size: int, rule: str, draws: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Groups and their rows by the program; ``ids[row]`` is the id of a row."""
    codes = np.array(values, np.int32)
    counts = np.bincount(codes).astype(np.int64)
    groups = value_groups(counts, size, rule, ListedBits(draws), TOKEN)
    row_of = np.argsort(np.array(ids)).astype(np.uint32)
    return groups, row_groups(codes, row_of, groups, TOKEN)


def law(groups: np.ndarray, members: np.ndarray) -> Law:
    """How many of the equally likely picks publish each list of values, by the program."""
    given = tuple((each.dtype.str, each.shape, each.tobytes()) for each in (groups, members))
    if given not in _LAWS:  # the same few groups come of most ids
        _LAWS[given] = _law(groups, members)
    return _LAWS[given]


_LAWS: dict[object, Law] = {}


def _law(groups: np.ndarray, members: np.ndarray) -> Law:
    found: Law = Counter()
    released = np.empty(members.size, np.int32)
    for picks in product(range(groups.shape[1]), repeat=members.size):
        publish(members, groups, np.array(picks, np.uint64), released)
        found[tuple(released.tolist())] += 1
    return found


def coins(values: Sequence[int], size: int, rule: str) -> Iterator[tuple[int, ...]]:
    if rule == LARGEST_FIRST:
        return iter([()])
    return reference.coins(np.bincount(values).tolist(), size)


def law_over_ids(values: Sequence[int], size: int, rule: str) -> dict[tuple[int, ...], Fraction]:
    total: Law = Counter()
    for ids in permutations(range(len(values))):
        for draws in coins(values, size, rule):
            total.update(law(*partition(values, ids, size, rule, draws)))
    whole = sum(total.values())
    return {published: Fraction(count, whole) for published, count in total.items()}


def swapped(items: Sequence[int], one: int, other: int) -> list[int]:
    found = list(items)
    found[one], found[other] = found[other], found[one]
    return found


TINY = [
    ((B, A, A, C), 2),
    ((A, A, B, B), 2),
    ((A, B, C, D), 2),
    ((A, B, C), 3),
    ((A, B, C, D), 4),
]


@pytest.mark.parametrize("rule", [MIXED, LARGEST_FIRST])
@pytest.mark.parametrize(("values", "size"), TINY)
def test_for_each_outcome_of_ids_and_coins_every_person_has_equal_swaps(
    rule: str, values: tuple[int, ...], size: int
) -> None:
    for ids, draws in product(permutations(range(len(values))), coins(values, size, rule)):
        groups, members = partition(values, ids, size, rule, draws)
        before = law(groups, members)
        for held in members.tolist():
            for person, mate in combinations(held, 2):
                assert values[person] != values[mate]
                # The ids go with the sensitive values: to the hidden part nothing has changed.
                neighbour = swapped(values, person, mate), swapped(ids, person, mate)
                after = partition(*neighbour, size, rule, draws)
                assert np.array_equal(after[0], groups)
                assert law(*after) == before


@pytest.mark.parametrize("rule", [MIXED, LARGEST_FIRST])
def test_over_all_ids_no_fixed_neighbour_is_equal(rule: str) -> None:
    values = (B, A, A, C)
    mine = law_over_ids(values, 2, rule)
    others = [law_over_ids(swapped(values, 0, other), 2, rule) for other in (1, 2, 3)]
    assert all(law != mine for law in others)
    impossible = sum(share for published, share in mine.items() if published not in others[0])
    assert impossible == Fraction(5, 16)


@pytest.mark.parametrize("rule", [MIXED, LARGEST_FIRST])
def test_the_program_and_the_reference_publish_with_the_same_chances(rule: str) -> None:
    values = (B, A, A, C)

    def outcomes(counts: Sequence[int]) -> list[reference.Groups]:
        if rule == LARGEST_FIRST:
            return [reference.largest_first(counts, 2)]
        return [reference.mixed(counts, 2, iter(draws)) for draws in reference.coins(counts, 2)]

    assert law_over_ids(values, 2, rule) == reference.law_over_ids(values, 2, outcomes)


def test_any_other_chance_of_the_own_value_breaks_the_promise() -> None:
    values, ids = (B, A, A, C), (0, 1, 2, 3)
    groups = reference.largest_first([2, 1, 1], 2)
    rows = reference.members(values, ids, groups)
    for keep in (Fraction(1, 2), Fraction(3, 5), Fraction(2, 5)):
        mine = reference.law_given(values, groups, rows, keep)
        equal = []
        for person, mate in rows:
            other, moved = swapped(values, person, mate), swapped(ids, person, mate)
            there = reference.members(other, moved, groups)
            equal.append(reference.law_given(other, groups, there, keep) == mine)
        assert equal == [keep == Fraction(1, 2)] * len(rows)


@pytest.mark.parametrize("rule", [MIXED, LARGEST_FIRST])
def test_counts_are_binomial_and_a_published_value_is_true_with_chance_one_in_l(rule: str) -> None:
    values, size = (A, A, B, C), 2
    chances = law_over_ids(values, size, rule)
    for value, rows in ((A, 2), (B, 1)):
        for times in range(size * rows + 1):
            share = sum(p for published, p in chances.items() if published.count(value) == times)
            tries = size * rows
            expected = Fraction(comb(tries, times) * (size - 1) ** (tries - times), size**tries)
            assert share == expected
    for row, value in enumerate(values):
        own = sum(p for published, p in chances.items() if published[row] == value)
        assert own == Fraction(1, size)
