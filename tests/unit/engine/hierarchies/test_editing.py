"""Editing by hand: each edit gives a checked hierarchy and leaves the old one as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.engine.hierarchies import editing

FLAT = Hierarchy.from_rows("x", [[value, "*"] for value in "abcd"])
TWO = Hierarchy.from_rows(
    "x",
    [
        ["a", "A", "top1", "*"],
        ["b", "A", "top1", "*"],
        ["c", "C", "top1", "*"],
        ["d", "D", "top2", "*"],
    ],
)


def test_inserting_a_level_repeats_the_values_below() -> None:
    assert editing.insert_level(FLAT, 0).rows()[0] == ["a", "a", "*"]
    assert editing.insert_level(TWO, 1).rows()[1] == ["b", "A", "A", "top1", "*"]
    assert TWO.height == 3


def test_removing_a_level_joins_its_neighbours() -> None:
    assert editing.remove_level(TWO, 1).rows()[3] == ["d", "top2", "*"]
    assert editing.remove_level(TWO, 2).rows()[0] == ["a", "A", "*"]
    assert editing.remove_level(editing.insert_level(TWO, 1), 2).rows() == TWO.rows()


def test_grouping_below_the_top_inserts_a_level() -> None:
    assert editing.group(FLAT, 0, ["a", "c"], "AC").rows() == [
        ["a", "AC", "*"],
        ["b", "b", "*"],
        ["c", "AC", "*"],
        ["d", "d", "*"],
    ]


def test_grouping_gives_values_of_one_grandparent_a_new_parent() -> None:
    grouped = editing.group(TWO, 0, ["b", "c"], "BC")
    assert [row[1] for row in grouped.rows()] == ["A", "BC", "BC", "D"]
    assert [row[2] for row in grouped.rows()] == ["top1", "top1", "top1", "top2"]


def test_a_group_may_take_the_name_of_a_group_that_it_swallows() -> None:
    once = editing.group(FLAT, 0, ["a"], "a")
    assert [row[1] for row in editing.group(once, 0, ["a", "b"], "a").rows()][:2] == ["a", "a"]


def test_merging_joins_values_of_one_level() -> None:
    merged = editing.merge(TWO, 1, ["A", "C"], "AC")
    assert [row[1] for row in merged.rows()] == ["AC", "AC", "AC", "D"]
    assert [row[1] for row in editing.merge(TWO, 1, ["A", "C"], "A").rows()] == ["A", "A", "A", "D"]


def test_renaming_changes_one_label() -> None:
    assert [row[1] for row in editing.rename(TWO, 1, "A", "first").rows()][:2] == ["first"] * 2
    assert editing.rename(TWO, 3, "*", "all").labels[3] == ("all",)
    assert editing.rename(TWO, 1, "A", "A").rows() == TWO.rows()


def test_moving_takes_the_whole_branch_along() -> None:
    assert editing.move(TWO, 0, ["d"], "A").rows()[3] == ["d", "A", "top1", "*"]
    moved = editing.move(TWO, 1, ["A"], "top2").rows()
    assert moved[:2] == [["a", "A", "top2", "*"], ["b", "A", "top2", "*"]]


def test_values_are_added_below_a_group_or_untouched() -> None:
    assert editing.add_values(TWO, ["e", "a"], "D").rows()[4:] == [["e", "D", "top2", "*"]]
    assert editing.add_values(TWO, ["e"]).rows()[4:] == [["e", "e", "e", "*"]]


def test_removed_values_take_empty_groups_with_them() -> None:
    assert editing.remove_values(TWO, ["d"]).labels[2] == ("top1",)


def test_sorting_keeps_groups_together_in_natural_order() -> None:
    mixed = Hierarchy.from_rows(
        "x", [["10", "g2", "*"], ["3", "g10", "*"], ["9", "g2", "*"], ["1", "g10", "*"]]
    )
    assert [row[0] for row in editing.sort_values(mixed).rows()] == ["9", "10", "1", "3"]


@pytest.mark.parametrize(
    ("edit", "code", "words"),
    [
        (lambda: editing.insert_level(TWO, 3), "hierarchy.level", "level 3 cannot take a level"),
        (lambda: editing.insert_level(TWO, -1), "hierarchy.level", "expected a level from 0 to 2"),
        (lambda: editing.remove_level(TWO, 0), "hierarchy.level", "level 0 cannot be removed"),
        (lambda: editing.remove_level(TWO, 3), "hierarchy.level", "expected a level from 1 to 2"),
        (lambda: editing.remove_level(FLAT, 1), "hierarchy.level", "there is none yet that can"),
        (lambda: editing.group(TWO, 3, ["*"], "x"), "hierarchy.level", "cannot be grouped"),
        (lambda: editing.group(TWO, 0, [], "x"), "hierarchy.unknown-value", "no value is chosen"),
        (lambda: editing.group(TWO, 0, ["z"], "x"), "hierarchy.unknown-value", "no value `z`"),
        (lambda: editing.group(TWO, 0, ["a"], " "), "hierarchy.empty-label", "the label is empty"),
        (lambda: editing.group(TWO, 0, ["a"], "C"), "hierarchy.taken-label", "has a value `C`"),
        (
            lambda: editing.group(TWO, 0, ["a", "d"], "x"),
            "hierarchy.not-nested",
            "`x` would belong to `top1`, `top2`",
        ),
        (lambda: editing.merge(TWO, 1, ["A", "D"], "x"), "hierarchy.not-nested", "would belong"),
        (lambda: editing.merge(TWO, 1, ["A"], "D"), "hierarchy.taken-label", "has a value `D`"),
        (lambda: editing.merge(TWO, 0, ["a"], "x"), "hierarchy.level", "level 0 cannot be merged"),
        (lambda: editing.rename(TWO, 0, "a", "x"), "hierarchy.level", "level 0 cannot be renamed"),
        (lambda: editing.rename(TWO, 1, "A", "D"), "hierarchy.taken-label", "has a value `D`"),
        (lambda: editing.move(TWO, 0, ["a"], "AA"), "hierarchy.unknown-value", "no value `AA`"),
        (lambda: editing.add_values(TWO, ["e"], "E"), "hierarchy.unknown-value", "no value `E`"),
        (lambda: editing.remove_values(FLAT, list("abcd")), "hierarchy.empty", "is empty"),
    ],
)
def test_an_edit_that_cannot_be_done_says_why(
    edit: Callable[[], Hierarchy], code: str, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        edit()
    assert caught.value.code == code
    assert words in caught.value.sentence
    assert caught.value.sentence.startswith("hierarchy of `x`: ")
