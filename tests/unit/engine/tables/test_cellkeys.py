"""Tables of chances by which cell keys change counts."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from dpdesk.core.errors import InputError
from dpdesk.engine.tables.cellkeys import KEYS, PerturbationTable
from tests.reference import cell_keys as reference

CASES = [(1, "0.5"), (2, "1"), (3, "0.02"), (5, "2.5"), (5, "4.9"), (8, "2.4"), (10, "3")]


@pytest.mark.parametrize(("deviation", "variance"), [*CASES, (50, "0.3"), (50, "45")])
def test_changes_are_unbiased_and_have_their_variance_exactly(
    deviation: int, variance: str
) -> None:
    table = PerturbationTable.of(deviation, Fraction(variance))
    assert table.shares[0] == (KEYS,)
    for count, shares in enumerate(table.shares[1:], 1):
        changes = range(-count, deviation + 1)
        assert len(shares) == len(changes)
        assert min(shares) >= 0
        assert sum(shares) == KEYS
        pairs = list(zip(changes, shares, strict=True))
        assert sum(change * share for change, share in pairs) == 0
        squares = Fraction(sum(change**2 * share for change, share in pairs), KEYS)
        assert abs(squares - Fraction(variance)) <= Fraction(1, KEYS)


@pytest.mark.parametrize(("deviation", "variance"), CASES)
def test_chances_are_those_of_the_largest_entropy(deviation: int, variance: str) -> None:
    table = PerturbationTable.of(deviation, Fraction(variance))
    for count in {1, (deviation + 1) // 2, deviation}:
        expected = reference.likeliest(count, deviation, float(variance))
        found = [share / KEYS for share in table.shares[count]]
        assert found == pytest.approx(list(expected.values()), abs=1e-9)


def test_each_change_has_its_share_of_the_keys() -> None:
    table = PerturbationTable.of(3, Fraction(1))
    for count in (0, 1, 2, 3, 4, 1000):
        lowest = min(count, 3)
        ends, end = [], 0
        for share in table.shares[lowest]:
            ends.append((end, end + share - 1))
            end += share
        for change, (first, last) in enumerate(ends, -lowest):
            assert table.change(count, first) == table.change(count, last) == change
            assert count + table.change(count, KEYS + first) >= 0
    assert Counter(table.change(0, key) for key in range(0, KEYS, KEYS // 50)) == {0: 51}


@pytest.mark.parametrize(("deviation", "variance"), [(1, "1"), (5, "5"), (5, "0"), (3, "7")])
def test_a_variance_that_a_count_of_one_cannot_have_is_refused(
    deviation: int, variance: str
) -> None:
    with pytest.raises(InputError) as caught:
        PerturbationTable.of(deviation, Fraction(variance))
    assert caught.value.code == "table.variance"
