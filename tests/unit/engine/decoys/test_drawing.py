"""Uniform numbers, permutations and samples: exact, and a function of their words."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.decoys.partition import PIECE, below, permutation, sample, uniform
from tests.helpers.known_bits import ListedBits, SeededBits, enumerate_streams

TOP = (1 << 64) - 1


def bounds(*values: int) -> np.ndarray:
    return np.array(values, np.uint64)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 10, 50, 1 << 63, (1 << 63) + 1, TOP])
def test_a_word_of_the_last_incomplete_run_is_drawn_again(bound: int) -> None:
    runs = (1 << 64) // bound
    last_good = runs * bound - 1
    assert below(bounds(bound), ListedBits([last_good])).tolist() == [bound - 1]
    if last_good < TOP:
        source = ListedBits([last_good + 1, TOP, 7])
        assert below(bounds(bound), source).tolist() == [7 % bound]
        assert source.taken == 3


def test_only_the_numbers_that_need_it_take_further_words() -> None:
    source = ListedBits([TOP, 4, TOP, 8, 5, TOP, 9])  # 2^64 = 1 modulo 3 and 5
    assert below(bounds(3, 3, 5, 3), source).tolist() == [5 % 3, 1, 9 % 5, 2]
    assert source.taken == 7


def test_each_bound_has_its_own_number() -> None:
    assert below(bounds(2, 3, 4), ListedBits([5, 5, 5])).tolist() == [1, 2, 1]


def test_nothing_lies_below_nought() -> None:
    with pytest.raises(ValueError, match="below 0"):
        below(bounds(3, 0), ListedBits([1, 1]))
    assert len(below(bounds(), ListedBits([]))) == 0


def test_all_permutations_are_equally_likely() -> None:
    found = Counter(
        tuple(permutation(4, ListedBits(words), CancelToken()).tolist())
        for words in product(range(4), range(3), range(2))
    )
    assert found == dict.fromkeys(permutations(range(4)), 1)


def test_a_long_permutation_misses_nothing_between_its_pieces() -> None:
    length = 2 * PIECE + 5
    order = permutation(length, SeededBits(1), CancelToken())
    assert (np.sort(order) == np.arange(length)).all()
    assert abs(np.corrcoef(order, np.arange(length))[0, 1]) < 0.01


@pytest.mark.parametrize("length", [0, 1])
def test_nothing_is_drawn_where_there_is_no_choice(length: int) -> None:
    assert permutation(length, ListedBits([]), CancelToken()).tolist() == list(range(length))


def test_a_permutation_hears_a_cancel() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        permutation(10, SeededBits(1), token)


def test_all_samples_are_equally_likely() -> None:
    shares, _ = enumerate_streams(lambda source: tuple(sample(4, 2, source).tolist()), 2, 5)
    assert len(shares) == 6
    assert len(set(shares.values())) == 1


def test_a_sample_has_as_many_as_asked() -> None:
    assert sample(5, 5, SeededBits(3)).tolist() == [0, 1, 2, 3, 4]
    assert sample(9, 0, ListedBits([])).tolist() == []
    with pytest.raises(ValueError, match="no 3 different"):
        sample(2, 3, SeededBits(1))


def test_uniform_numbers_share_one_bound() -> None:
    assert uniform(3, 4, ListedBits([0, 1, 2, 3])).tolist() == [0, 1, 2, 0]
