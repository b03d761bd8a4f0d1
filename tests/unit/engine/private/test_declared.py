"""Declared domains: where categories come from, and where a text belongs."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.engine.private.declared import DeclaredDimension, HierarchyGiven, declare

REGIONS = Hierarchy.from_rows(
    "region", [("a", "north", "*"), ("b", "north", "*"), ("c", "south", "*"), ("d", "other", "*")]
)
AGES = HierarchyBuilder("intervals", {"cuts": [[18, 30, 65], [18, 65]]})


def made(
    listed: list[str] | None = None,
    hierarchy: HierarchyGiven = None,
    level: int = 0,
    outside: str | None = None,
) -> DeclaredDimension:
    return declare("x", listed, hierarchy, level, outside, "plan.toml")


def test_a_list_is_the_domain_in_its_order_and_other_texts_are_dropped() -> None:
    found = made(["m", "f"])
    assert found.categories == ("m", "f")
    assert found.codes(["f", "m", "?", ""]).tolist() == [1, 0, -1, -1]


def test_blanks_around_a_text_do_not_matter_unless_a_category_has_them() -> None:
    assert made(["m", "f"]).codes([" f", "m "]).tolist() == [1, 0]
    assert made(["f", " f"]).codes([" f", "f", "f "]).tolist() == [1, 0, 0]


def test_a_category_other_takes_what_belongs_nowhere() -> None:
    found = made(["m", "Other", "f"])
    assert found.codes(["?", "f"]).tolist() == [1, 2]
    assert found.belongs(["?", "f"]).tolist() == [False, True]


def test_the_plan_can_name_the_category_for_the_rest() -> None:
    assert made(["m", "f"], outside="f").codes(["?"]).tolist() == [1]
    with pytest.raises(InputError, match="not one") as caught:
        made(["m", "f"], outside="x")
    assert caught.value.code == "cube.outside"


def test_a_hierarchy_gives_the_categories_of_its_level() -> None:
    found = made(hierarchy=REGIONS, level=1)
    assert found.categories == ("north", "south", "other")
    assert found.codes(["a", "b", "c", "z"]).tolist() == [0, 0, 1, 2]
    with pytest.raises(InputError, match="ends at level 2"):
        made(hierarchy=REGIONS, level=3)


def test_a_list_can_choose_and_order_the_categories_of_a_hierarchy() -> None:
    found = made(["south", "north"], REGIONS, level=1)
    assert found.codes(["a", "c", "d"]).tolist() == [1, 0, -1]
    with pytest.raises(InputError, match="no such value"):
        made(["south", "nord", "ost"], REGIONS, level=1)


def test_a_list_of_all_categories_of_a_hierarchy_settles_their_order() -> None:
    declared = made(hierarchy=REGIONS, level=1)
    turned = list(reversed(declared.categories))
    found = made(turned, REGIONS, level=1)
    assert list(found.categories) == turned != list(declared.categories)
    last = len(turned) - 1
    assert found.codes(["a", "d"]).tolist() == [last - i for i in declared.codes(["a", "d"])]


def test_a_list_may_add_one_category_for_the_rest() -> None:
    found = made(["north", "south", "abroad"], REGIONS, level=1, outside="abroad")
    assert found.codes(["a", "c", "d", "q"]).tolist() == [0, 1, 2, 2]


def test_cut_points_are_a_domain_whatever_the_data_hold() -> None:
    found = made(hierarchy=AGES, level=1)
    assert found.categories == ("<18", "18-29", "30-64", "≥65")
    texts = ["17", "18", "29.5", "64", "65", "1e3", "old", ""]
    assert found.codes(texts).tolist() == [0, 1, 1, 2, 3, 3, -1, -1]
    assert made(hierarchy=AGES, level=2).categories == ("<18", "18-64", "≥65")


def test_widths_between_coded_ends_are_a_domain() -> None:
    builder = HierarchyBuilder("intervals", {"widths": [10], "bottom": 20, "top": 45})
    found = made(hierarchy=builder, level=1)
    assert found.categories == ("<20", "20-29", "30-39", "40-44", "≥45")
    assert found.codes(["19", "20", "39", "44", "45"]).tolist() == [0, 1, 2, 3, 4]


def test_a_tree_by_hand_is_a_domain() -> None:
    builder = HierarchyBuilder("tree", {"tree": {"N": ["a", "b"], "S": ["c"]}})
    assert made(hierarchy=builder, level=1).categories == ("N", "S")


@pytest.mark.parametrize(
    "builder",
    [HierarchyBuilder("intervals", {"widths": [10]}), HierarchyBuilder("mask", {})],
)
def test_a_hierarchy_made_from_the_data_is_no_domain(builder: HierarchyBuilder) -> None:
    with pytest.raises(InputError, match="must not take them") as caught:
        made(hierarchy=builder, level=1)
    assert caught.value.code == "cube.no-domain"


def test_nothing_declared_is_an_error_that_shows_how() -> None:
    with pytest.raises(InputError, match="not declared") as caught:
        made()
    assert "domains = { x" in caught.value.hint


def test_a_level_without_a_hierarchy_is_an_error() -> None:
    with pytest.raises(InputError, match="has no hierarchy"):
        made(["a"], level=1)


@pytest.mark.parametrize("listed", [[], ["a", "a"], ["a", "b\0"], ["\U0010ffff"]])
def test_no_category_one_twice_and_one_that_no_text_can_be_are_errors(listed: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        made(listed)
    assert caught.value.code == "cube.domain"


APART = HierarchyBuilder("intervals", {"cuts": [[18, 65]], "apart": ["98", "99"]})


def test_what_a_builder_keeps_apart_is_in_no_interval() -> None:
    found = made(hierarchy=APART, level=1)
    assert found.categories == ("<18", "18-64", "≥65")
    assert found.codes(["70", "99", " 98", "97"]).tolist() == [2, -1, -1, 2]


def test_what_a_builder_keeps_apart_has_the_category_that_the_plan_lists_for_it() -> None:
    *intervals, old = made(hierarchy=APART, level=1).categories
    found = made([*intervals, old, "98", "99", "other"], APART, level=1)
    assert found.codes(["70", "99", "98", "?", "97"]).tolist() == [2, 4, 3, 5, 2]
    with pytest.raises(InputError, match="no such value"):
        made([*intervals, old, "97", "96"], APART, level=1)


def test_a_category_that_a_hierarchy_lacks_has_the_texts_that_are_called_so() -> None:
    found = made(["north", "south", "unknown"], REGIONS, level=1)
    assert found.codes(["a", "unknown", "z"]).tolist() == [0, 2, -1]
