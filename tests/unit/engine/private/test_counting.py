"""Counting into a declared domain against a count row by row."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.lattice import members
from dpdesk.engine.private.counting import place_rows
from dpdesk.engine.private.declared import DeclaredDomain, declare
from dpdesk.engine.private.kinds import Measure, grid_steps
from dpdesk.verifiers.declared import without_number
from tests.helpers.memory_tables import MemorySource

SEX, REGION = ("f", "m"), ("a", "b", "other")
DOMAIN = DeclaredDomain(
    (declare("sex", SEX, None, 0, None, "p"), declare("region", REGION, None, 0, None, "p"))
)
COUNT = Measure("count")
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3"]),
        st.sampled_from(["f", "m", "x", ""]),
        st.sampled_from(["a", "b", "c", ""]),
        st.sampled_from(["5", "-3", "100", "n/a", "2.5", ""]),
    ),
    max_size=30,
)


def source(rows: list[tuple[str, str, str, str]]) -> MemorySource:
    return MemorySource.of(("person", "sex", "region", "pay"), rows)


def slowly(
    rows: list[tuple[str, str, str, str]], measure: Measure, cluster: bool, bound: int, mask: int
) -> np.ndarray:
    """Row by row: drop, cut each person's rows in order of their texts, add up."""
    total = np.zeros([(2, 3)[i] for i in members(mask)], dtype=np.int64)
    kept: Counter[str] = Counter()
    for person, sex, region, pay in sorted(rows, key=lambda row: (row[0], *row[1:])):
        if sex not in SEX:
            continue
        if cluster and kept[person] == bound:
            continue
        kept[person] += 1
        place = (SEX.index(sex), REGION.index(region) if region in REGION else 2)
        value = 1 if measure.kind == "count" else (grid_steps(pay, measure) or 0)
        total[tuple(place[i] for i in members(mask))] += value
    return total


@given(ROWS, st.booleans(), st.integers(1, 3), st.integers(0, 3))
def test_counts_equal_a_count_row_by_row(
    rows: list[tuple[str, str, str, str]], cluster: bool, bound: int, mask: int
) -> None:
    person = "person" if cluster else None
    placed = place_rows(source(rows), DOMAIN, COUNT, person, bound, CancelToken())
    expected = slowly(rows, COUNT, cluster, bound, mask)
    assert placed.totals(members(mask), CancelToken()).tolist() == expected.tolist()


@given(ROWS, st.booleans(), st.integers(1, 3), st.integers(0, 3))
def test_sums_equal_a_sum_row_by_row(
    rows: list[tuple[str, str, str, str]], cluster: bool, bound: int, mask: int
) -> None:
    measure = Measure("sum", "pay", Fraction(-1), Fraction(10), Fraction(1, 2))
    person = "person" if cluster else None
    placed = place_rows(source(rows), DOMAIN, measure, person, bound, CancelToken())
    expected = slowly(rows, measure, cluster, bound, mask)
    assert placed.totals(members(mask), CancelToken()).tolist() == expected.tolist()


@given(ROWS, st.integers(1, 2))
def test_a_person_changes_the_counts_by_no_more_than_the_bound_whoever_else_is_there(
    rows: list[tuple[str, str, str, str]], bound: int
) -> None:
    without = [row for row in rows if row[0] != "2"]
    tables = [
        place_rows(source(part), DOMAIN, COUNT, "person", bound, CancelToken()).totals(
            (0, 1), CancelToken()
        )
        for part in (rows, without)
    ]
    own = [row for row in rows if row[0] == "2"]
    alone = place_rows(source(own), DOMAIN, COUNT, "person", bound, CancelToken())
    difference = tables[0] - tables[1]
    assert np.abs(difference).sum() <= bound
    assert difference.tolist() == alone.totals((0, 1), CancelToken()).tolist()


AGES = ("1", "2")
BASE = DeclaredDomain((*DOMAIN.dimensions, declare("age", AGES, None, 0, None, "p")))
AGED = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "3", ""]),
        st.sampled_from(["f", "m", "x", ""]),
        st.sampled_from(["a", "b", "c", ""]),
        st.sampled_from(["5", "-3", "100", "n/a", ""]),
        st.sampled_from(["1", "2", "3", ""]),
    ),
    max_size=30,
)


@given(AGED, st.booleans(), st.integers(1, 3), st.booleans(), st.sets(st.integers(0, 2)))
def test_a_table_counted_by_all_columns_of_a_cube_is_the_sum_of_the_cubes_table(
    rows: list[tuple[str, ...]], cluster: bool, bound: int, sums: bool, own: set[int]
) -> None:
    columns, token = ("person", "sex", "region", "pay", "age"), CancelToken()
    data, person = MemorySource.of(columns, rows), "person" if cluster else None
    measure = Measure("sum", "pay", Fraction(-1), Fraction(10)) if sums else COUNT
    whole = place_rows(data, BASE, measure, person, bound, token).totals((0, 1, 2), token)
    part = DeclaredDomain(tuple(BASE.dimensions[i] for i in sorted(own)))
    placed = place_rows(data, part, measure, person, bound, token, BASE)
    counted = placed.totals(tuple(range(len(own))), token)
    assert counted.tolist() == whole.sum(axis=tuple({0, 1, 2} - own)).tolist()


def test_what_a_rule_of_more_columns_leaves_out_is_told_inside_only() -> None:
    columns = ("person", "sex", "region", "pay", "age")
    rows = [
        ("1", "f", "a", "1", "1"), ("1", "f", "zz", "1", "2"), ("2", "m", "a", "1", "9"),
        ("", "m", "a", "1", "1"),
    ]  # fmt: skip
    sex, data = DeclaredDomain(BASE.dimensions[:1]), MemorySource.of(columns, rows)
    placed = place_rows(data, sex, COUNT, "person", 1, CancelToken(), BASE)
    assert placed.facts == {
        "rows_with_values_outside_the_domain": {"region": 1, "age": 1},
        "rows_left_out": 1,
        "rows_without_a_person": 1,
        "rows_beyond_the_bound": 1,
    }


def test_what_was_moved_and_left_out_is_told_inside_only() -> None:
    rows = [("1", "f", "a", "1"), ("1", "x", "a", "2"), ("2", "m", "zz", "3"), ("2", "m", "b", "4")]
    placed = place_rows(source(rows), DOMAIN, COUNT, "person", 1, CancelToken())
    assert placed.facts == {
        "rows_with_values_outside_the_domain": {"sex": 1, "region": 1},
        "rows_left_out": 1,
        "rows_without_a_person": 0,
        "rows_beyond_the_bound": 1,
    }


def test_values_are_clipped_and_rounded_inwards() -> None:
    measure = Measure("sum", "pay", Fraction(1, 2), Fraction(19, 2), Fraction(2))
    assert [grid_steps(text, measure) for text in ("-7", "1", "2.9", "3", "9", "1e9", "x")] == [
        1, 1, 1, 2, 4, 4, None,
    ]  # fmt: skip


def test_a_number_that_means_a_missing_value_is_none() -> None:
    columns, token = ("person", "sex", "region", "pay"), CancelToken()
    rows = [("1", "f", "a", "5"), ("2", "f", "a", "99"), ("3", "f", "a", "n/a")]
    data = MemorySource.of(columns, rows, missing=("", "99"))
    measure = Measure("sum", "pay", Fraction(0), Fraction(100))
    placed = place_rows(data, DOMAIN, measure, None, 1, token)
    assert placed.totals((0,), token).tolist() == [5, 0]
    assert placed.facts["values_that_are_no_numbers"] == 2
    assert without_number(data, "pay", token) == 2


def test_no_row_at_all_gives_zeros() -> None:
    placed = place_rows(source([]), DOMAIN, COUNT, "person", 1, CancelToken())
    assert placed.totals((0, 1), CancelToken()).tolist() == [[0, 0, 0], [0, 0, 0]]
