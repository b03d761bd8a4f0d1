"""The mechanism as a whole: what it draws, in which order, and what it leaves in memory."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.frequency import CodedColumn, RewrittenRows
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.l_diverted.mechanism import all_but_the_rest, divert, draw_rows
from dpdesk.engine.methods.l_diverted.settings import LARGEST_FIRST, MIXED
from dpdesk.engine.noise.randomness import RandomSource, SystemRandomness
from tests.helpers.known_bits import SeededBits
from tests.reference import diverted as reference

TOKEN = CancelToken()


def column(name: str, codes: list[int]) -> CodedColumn:
    domain = tuple("abcdefgh"[: max(codes) + 1])
    return CodedColumn(name, domain, np.array(codes, np.uint8))


def drawn(
    columns: list[CodedColumn], size: int, source: RandomSource, rule: str = MIXED
) -> RewrittenRows:
    rows = len(columns[0].codes)
    return draw_rows(columns, size, rule, all_but_the_rest(rows, size), ("id",), {}, source, TOKEN)


def chi_square(seen: Counter[tuple[int, ...]], law: dict[tuple[int, ...], Fraction]) -> float:
    total = sum(seen.values())
    return sum(
        (seen[outcome] - total * float(share)) ** 2 / (total * float(share))
        for outcome, share in law.items()
    )


@pytest.mark.parametrize("rule", [MIXED, LARGEST_FIRST])
def test_values_are_published_with_the_chances_of_the_enumeration(rule: str) -> None:
    values, source = [1, 0, 0, 2], SeededBits(11)

    def outcomes(counts: list[int]) -> list[reference.Groups]:
        if rule == LARGEST_FIRST:
            return [reference.largest_first(counts, 2)]
        return [reference.mixed(counts, 2, iter(draws)) for draws in reference.coins(counts, 2)]

    law = reference.law_over_ids(values, 2, outcomes)
    codes = np.array(values, np.int32)
    seen: Counter[tuple[int, ...]] = Counter(
        tuple(divert(codes, 3, 2, rule, source, TOKEN).tolist()) for _ in range(6000)
    )
    assert set(seen) <= set(law)
    freedom = len(law) - 1
    # Six standard deviations of a chi-square: a false alarm once in about ten million runs.
    assert chi_square(seen, law) < freedom + 6 * (2 * freedom) ** 0.5 + 10


def test_what_is_removed_and_the_order_do_not_depend_on_the_values() -> None:
    orders = [
        drawn([column("s", codes)], 2, SeededBits(3)).order.tolist()
        for codes in ([0, 0, 1, 1, 2], [2, 1, 0, 1, 0], [0, 1, 2, 2, 1])
    ]
    assert orders[0] == orders[1] == orders[2]
    assert len(orders[0]) == 4


def test_every_row_is_removed_as_often_as_any_other() -> None:
    source, gone = SeededBits(5), Counter[int]()
    for _ in range(3000):
        kept = all_but_the_rest(5, 3)(source).tolist()
        gone.update(set(range(5)) - set(kept))
    assert sum(gone.values()) == 6000
    assert max(abs(count - 1200) for count in gone.values()) < 6 * (3000 * 0.4 * 0.6) ** 0.5


def test_every_place_of_the_order_is_equally_likely() -> None:
    source, seen = SeededBits(8), Counter[tuple[int, int]]()
    for _ in range(3000):
        order = drawn([column("s", [0, 0, 1, 1])], 2, source).order.tolist()
        seen.update(enumerate(order))
    for cell in product(range(4), range(4)):
        assert abs(seen[cell] - 750) < 6 * (3000 * 0.25 * 0.75) ** 0.5


def test_several_columns_get_ids_and_groups_of_their_own() -> None:
    codes = list(range(8)) * 50
    rows = drawn([column("one", codes), column("two", codes)], 4, SeededBits(2))
    one, two = (rows.drawn[name].codes for name in ("one", "two"))
    same = float((one == two).mean())
    assert abs(same - (1 / 16 + 15 / 16 / 8)) < 0.1  # far from 1 where groups were shared
    assert rows.dropped_columns == ("id",)


def test_published_values_stand_beside_their_own_rows() -> None:
    codes = [row % 2 + 2 * (row // 200) for row in range(400)]  # 0 and 1 first, then 2 and 3
    rows = drawn([column("s", codes)], 2, SeededBits(4), LARGEST_FIRST)
    true = np.array(codes)[rows.order]
    kept = float((rows.drawn["s"].codes == true).mean())
    assert abs(kept - 0.5) < 6 * (0.25 / 400) ** 0.5


def test_wiping_leaves_nothing_of_order_and_values() -> None:
    rows = drawn([column("s", [0, 1, 2, 3] * 5)], 4, SeededBits(9))
    rows.wipe()
    assert not rows.order.any()
    assert not rows.drawn["s"].codes.any()


def test_two_releases_differ() -> None:
    codes = [0, 1, 2, 3] * 500
    first, second = (drawn([column("s", codes)], 4, SystemRandomness()) for _ in range(2))
    assert first.order.tolist() != second.order.tolist()


def test_a_column_that_is_not_eligible_is_refused() -> None:
    with pytest.raises(ValueError, match="a value has 3 rows"):
        drawn([column("s", [0, 0, 0, 1])], 2, SeededBits(1))


def test_a_cancel_is_heard() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        divert(np.array([0, 1], np.int32), 2, 2, MIXED, SeededBits(1), token)
