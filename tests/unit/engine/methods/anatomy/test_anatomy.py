"""Groups that are drawn, against what is promised of them; estimates against all assignments."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Chosen, Grouping, Query
from dpdesk.core.release import CountedRows
from dpdesk.engine.methods.anatomy.grouping import _Question, row_numbers
from tests.helpers.known_bits import ListedBits, SeededBits
from tests.reference import diverted as reference

TOKEN = CancelToken()
A, B, C, D = range(4)


def streams(values: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """Every list of draws for up to one row too many, all those with the same row equally likely.

    The last draw chooses among one or two groups, which a word below two settles for both.
    """
    rows = len(values)
    for over in [(n,) for n in range(rows)] if rows % size else [()]:
        kept = [value for row, value in enumerate(values) if row not in over]
        counts = [kept.count(value) for value in range(max(values) + 1)]
        orders = product(*(range(bound) for bound in range(len(kept), 1, -1)))
        numbers = [(0,) * (rows // size - 1)]  # which number a group gets, nothing depends on
        last = product(range(2), repeat=rows % size)
        parts = [list(orders), list(reference.coins(counts, size)), numbers, list(last)]
        for each in product(*parts):
            yield (*over, *(number for part in each for number in part))


def law(values: Sequence[int], size: int) -> dict[tuple[int, ...], Fraction]:
    """The exact chance of each list of group numbers, row by row, by the program's own steps."""
    found: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    by_row: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for draws in streams(values, size):
        by_row[draws[0] if len(values) % size else -1].append(draws)
    codes = np.array(values, np.int32)
    for lists in by_row.values():
        for draws in lists:
            source = ListedBits(draws)
            numbers = row_numbers(codes, max(values) + 1, size, source, TOKEN)
            assert source.taken == len(draws)
            found[tuple(numbers.tolist())] += Fraction(1, len(lists) * len(by_row))
    assert sum(found.values()) == 1
    return found


@pytest.mark.parametrize(
    ("values", "size", "others"),
    [((A, B, A, C), 2, 3), ((A, A, B, B), 2, 3), ((B, A, A, C, C), 2, 1), ((A, B, C), 3, 2)],
)
def test_every_way_to_give_the_values_of_a_group_to_its_rows_is_equally_likely(
    values: tuple[int, ...], size: int, others: int
) -> None:
    before = law(values, size)
    assert len(before) > (1 if len(values) // size > 1 else 0)
    known = {values: before}
    for numbers, chance in before.items():
        for other in range(1, others + 1):  # rows differ in nothing but their values
            if numbers[0] == numbers[other]:
                swapped = list(values)
                swapped[0], swapped[other] = swapped[other], swapped[0]
                key = tuple(swapped)
                known.setdefault(key, law(key, size))
                assert known[key].get(numbers, 0) == chance


@st.composite
def eligible(draw: st.DrawFn) -> tuple[list[int], int]:
    size = draw(st.integers(2, 5))
    groups = draw(st.integers(1, 12))
    over = draw(st.integers(0, size - 1))
    counts: list[int] = []
    while sum(counts) < groups * size + over:
        left = groups * size + over - sum(counts)
        counts.append(draw(st.integers(1, min(groups, left))))
    codes = [code for code, count in enumerate(counts) for _ in range(count)]
    return draw(st.permutations(codes)), size


@settings(deadline=None, max_examples=150)
@given(eligible(), st.integers(0, 2**32))
def test_groups_hold_different_values_and_are_as_even_as_promised(
    table: tuple[list[int], int], seed: int
) -> None:
    codes, size = table
    count = len(codes) // size
    found = row_numbers(np.array(codes, np.int32), max(codes) + 1, size, SeededBits(seed), TOKEN)
    sizes = Counter(found.tolist())
    assert set(sizes) == set(range(count))
    assert min(sizes.values()) == len(codes) // count
    assert len(set(zip(found.tolist(), codes, strict=True))) == len(codes)


def test_a_value_that_is_too_frequent_is_no_group() -> None:
    for codes, size in (([A, A, A, B], 2), ([A, A, B], 2)):
        with pytest.raises(ValueError, match="a value has"):
            row_numbers(np.array(codes, np.int32), 2, size, SeededBits(1), TOKEN)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 3)), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    ),
    st.sets(st.integers(0, 3), min_size=1),
)
def test_estimates_are_the_mean_of_all_assignments_and_bounds_their_ends(
    groups: list[list[tuple[str, int]]], wanted: set[int]
) -> None:
    groups = [list({value: (kind, value) for kind, value in group}.values()) for group in groups]
    values = sorted({str(value) for group in groups for _, value in group})
    asked = tuple(str(value) for value in wanted if str(value) in values)
    assume(asked and any(kind == "x" for group in groups for kind, _ in group))
    numbers = [str(number + 1) for number in range(len(groups))]
    counted = _counted(
        ("kind", "group"),
        [(kind, numbers[n]) for n, group in enumerate(groups) for kind, _ in group],
    )
    table = _counted(
        ("group", "value"),
        [(numbers[n], str(value)) for n, group in enumerate(groups) for _, value in group],
    )
    query = Query(by=(), where=(Chosen("kind", ("x",)), Chosen("illness", asked)))
    (row,) = _Question(query, counted, table, "illness").rows(True, TOKEN)
    assert (row.value, row.low, row.high) == _by_assignments(groups, set(asked))
    each = Query(by=(Grouping("illness"),), where=(Chosen("kind", ("x",)),), margins=True)
    rows = list(_Question(each, counted, table, "illness").rows(True, TOKEN))
    assert [row.labels for row in rows] == [*((value,) for value in values), (None,)]
    for row in rows:
        chosen = set(values) if row.labels == (None,) else {str(row.labels[0])}
        assert (row.value, row.low, row.high) == _by_assignments(groups, chosen)


def _by_assignments(
    groups: list[list[tuple[str, int]]], asked: set[str]
) -> tuple[float, float, float]:
    """Mean, least and most rows of kind x with a value that is asked for."""
    mean, low, high = Fraction(0), 0, 0
    for group in groups:
        kinds, values = zip(*group, strict=True)
        found = [
            sum(k == "x" and str(v) in asked for k, v in zip(kinds, order, strict=True))
            for order in permutations(values)
        ]
        mean += Fraction(sum(found), len(found))
        low, high = low + min(found), high + max(found)
    return pytest.approx(float(mean)), float(low), float(high)  # type: ignore[return-value]


def _counted(names: tuple[str, ...], rows: list[tuple[str, ...]]) -> CountedRows:
    texts = tuple(tuple(sorted({row[place] for row in rows})) for place in range(len(names)))
    counts = Counter(rows)
    codes = [[texts[place].index(text) for place, text in enumerate(row)] for row in sorted(counts)]
    numbers = np.array([counts[row] for row in sorted(counts)], np.int64)
    return CountedRows(names, texts, np.array(codes, np.int32), numbers)
