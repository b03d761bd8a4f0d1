"""Hierarchies: what is refused and how, and what the coded form says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from tests.helpers.counting import counted_calls

AGES = [
    ["1", "0-4", "0-9", "*"],
    ["3", "0-4", "0-9", "*"],
    ["7", "5-9", "0-9", "*"],
    ["12", "10-14", "10-19", "*"],
]


def refused(rows: list[list[str]], where: str = "age.csv") -> InputError:
    with pytest.raises(InputError) as caught:
        Hierarchy.from_rows("age", rows, where)
    assert caught.value.sentence.startswith(where)
    return caught.value


def test_levels_are_coded_in_order_of_first_appearance() -> None:
    hierarchy = Hierarchy.from_rows("age", AGES)
    assert hierarchy.height == 3
    assert hierarchy.leaves == ("1", "3", "7", "12")
    assert hierarchy.labels[1] == ("0-4", "5-9", "10-14")
    assert hierarchy.labels[3] == ("*",)
    assert [parent.tolist() for parent in hierarchy.parents] == [[0, 0, 1, 2], [0, 0, 1], [0, 0]]
    assert all(parent.dtype == np.int32 for parent in hierarchy.parents)
    assert hierarchy.leaf_codes == {"1": 0, "3": 1, "7": 2, "12": 3}


def test_ancestors_and_covered_leaves_follow_the_rows() -> None:
    hierarchy = Hierarchy.from_rows("age", AGES)
    for level in range(4):
        labels = [hierarchy.labels[level][code] for code in hierarchy.ancestors(level)]
        assert labels == [row[level] for row in AGES]
    assert hierarchy.leaves_covered(0).tolist() == [1, 1, 1, 1]
    assert hierarchy.leaves_covered(1).tolist() == [2, 1, 1]
    assert hierarchy.leaves_covered(2).tolist() == [3, 1]
    assert hierarchy.leaves_covered(3).tolist() == [4]


def test_rows_are_the_inverse_of_from_rows() -> None:
    assert Hierarchy.from_rows("age", AGES).rows() == AGES


def test_a_single_value_is_a_hierarchy_of_height_zero() -> None:
    hierarchy = Hierarchy.from_rows("x", [["all"]])
    assert hierarchy.height == 0
    assert hierarchy.rows() == [["all"]]


@pytest.mark.parametrize("rows", [[], [[]]])
def test_an_empty_hierarchy_is_refused(rows: list[list[str]]) -> None:
    error = refused(rows)
    assert error.code == "hierarchy.empty"
    assert error.sentence == "age.csv: the hierarchy is empty, expected one row per value."


def test_without_a_place_the_sentence_names_the_attribute() -> None:
    with pytest.raises(InputError, match=r"^hierarchy of `age`: the hierarchy is empty"):
        Hierarchy.from_rows("age", [])


def test_a_ragged_row_is_named_with_its_value() -> None:
    error = refused([["1", "0-4", "*"], ["7", "*"]])
    assert error.code == "hierarchy.ragged"
    assert error.sentence == "age.csv, row 2 (`7`): found 2 levels, expected 3 as in row 1."
    assert refused([["1", "*"], ["7"]]).sentence.endswith("found 1 level, expected 2 as in row 1.")
    assert refused([["1", "*"], []]).code == "hierarchy.ragged"


def test_a_leaf_given_twice_is_named_with_both_rows() -> None:
    error = refused([["1", "*"], ["2", "*"], ["1", "*"]])
    assert error.code == "hierarchy.duplicate-leaf"
    assert error.sentence == (
        "age.csv, row 3: the value `1` was already given in row 1, expected each value once."
    )


def test_a_level_that_is_no_function_of_the_level_below_is_named_with_both_parents() -> None:
    error = refused([["1", "0-4", "0-9", "*"], ["7", "5-9", "0-9", "*"], ["8", "5-9", "5-14", "*"]])
    assert error.code == "hierarchy.not-nested"
    assert error.sentence == (
        "age.csv, row 2, level 2: `5-9` belongs to `0-9` here and to `5-14` in row 3, "
        "expected one parent."
    )
    assert error.details["row"] == 2


def test_more_than_one_top_value_is_refused() -> None:
    error = refused([[str(number), f"g{number}"] for number in range(5)])
    assert error.code == "hierarchy.no-root"
    assert (
        "the last level has 5 values (`g0`, `g1`, `g2`, …), expected one single" in error.sentence
    )
    assert "(`a`, `b`)" in refused([["1", "a"], ["2", "b"]]).sentence


def test_an_empty_label_above_a_value_is_refused() -> None:
    error = refused([["1", "0-4", "*"], ["7", "", "*"]])
    assert error.code == "hierarchy.empty-label"
    assert error.sentence == "age.csv, row 2, level 1: found nothing above `7`, expected a label."
    assert refused([["1", "*", ""], ["7", "*", ""]]).code == "hierarchy.empty-label"
    assert refused([["", ""]]).code == "hierarchy.empty-label"


def test_an_empty_value_may_stay_itself_below_the_top() -> None:
    rows = [["1", "0-4", "*"], ["", "", "*"]]
    assert Hierarchy.from_rows("age", rows).rows() == rows


def test_untouched_leaves_stay_themselves_below_the_top() -> None:
    grown = Hierarchy.from_rows("age", AGES).with_untouched_leaves(["?", "1", "", "?"])
    assert grown.rows() == [*AGES, ["?", "?", "?", "*"], ["", "", "", "*"]]
    again = Hierarchy.from_rows("age", grown.rows())
    assert again.labels == grown.labels
    assert [p.tolist() for p in again.parents] == [p.tolist() for p in grown.parents]
    assert all(parent.dtype == np.int32 for parent in grown.parents)


def test_nothing_changes_when_every_untouched_value_is_a_leaf() -> None:
    hierarchy = Hierarchy.from_rows("age", AGES)
    assert hierarchy.with_untouched_leaves(["1", "12"]) is hierarchy


def test_an_untouched_leaf_joins_a_group_of_its_own_name() -> None:
    rows = [["a", "?", "rest", "*"], ["b", "known", "known", "*"]]
    grown = Hierarchy.from_rows("x", rows).with_untouched_leaves(["?"])
    assert grown.rows() == [*rows, ["?", "?", "rest", "*"]]


def test_an_untouched_leaf_may_be_called_like_the_top() -> None:
    grown = Hierarchy.from_rows("age", AGES).with_untouched_leaves(["*"])
    assert grown.rows()[-1] == ["*", "*", "*", "*"]
    assert grown.labels[3] == ("*",)


def test_a_hierarchy_of_one_value_gains_a_top_for_untouched_leaves() -> None:
    grown = Hierarchy.from_rows("x", [["all"]]).with_untouched_leaves(["?"])
    assert grown.rows() == [["all", "*"], ["?", "*"]]


def test_a_leaf_of_many_costs_no_more_to_check_than_one_of_few() -> None:
    def calls(count: int) -> int:
        rows = [[str(n), str(n // 10), str(n // 100), str(n // 1000), "*"] for n in range(count)]
        return counted_calls(lambda: Hierarchy.from_rows("zip", rows))

    assert calls(10_000) < 11 * calls(1_000)


nested = st.integers(1, 40).flatmap(
    lambda count: st.lists(st.integers(1, 6), max_size=4).map(
        lambda widths: _nested_rows(count, widths)
    )
)


def _nested_rows(count: int, widths: list[int]) -> list[list[str]]:
    rows = []
    for number in range(count):
        row, group = [f"v{number}"], number
        for level, width in enumerate(widths):
            group //= width
            row.append(f"L{level}:{group}")
        rows.append([*row, "*"])
    return rows


@settings(deadline=None)
@given(rows=nested, extra=st.lists(st.sampled_from(["", "?", "v0", "*", "L0:0", "L1:1"])))
def test_any_nested_rows_survive_coding_and_growing(
    rows: list[list[str]], extra: list[str]
) -> None:
    hierarchy = Hierarchy.from_rows("x", rows)
    assert hierarchy.rows() == rows
    grown = hierarchy.with_untouched_leaves(extra)
    assert grown.rows()[: len(rows)] == rows
    assert Hierarchy.from_rows("x", grown.rows()).labels == grown.labels
    for level in range(grown.height + 1):
        assert grown.leaves_covered(level).sum() == len(grown.leaves)
        assert grown.leaves_covered(level).min() >= 1


def test_a_level_is_known_by_a_group_in_its_middle_and_none_that_stays_itself() -> None:
    rows = [["21", "20-29", "*"], ["35", "30-39", "*"], ["unknown", "unknown", "*"]]
    assert Hierarchy.from_rows("age", rows).level_names == ("", "30-39", "*")
