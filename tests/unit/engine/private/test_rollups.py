"""Levels above the categories of a cube, from declared hierarchies alone."""

from __future__ import annotations

import pytest

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.engine.private.declared import DeclaredDomain, declare
from dpdesk.verifiers.cubes.stated import nested_fault

ROWS = [
    ["Old Quarter", "Capital", "Coast", "*"],
    ["Harbour", "North", "Coast", "*"],
    ["Mill", "Plain", "Inland", "*"],
    ["Mine", "Plain", "Inland", "*"],
]
PLACES = Hierarchy.from_rows("place", ROWS, "places.csv")


def above(listed: list[str] | None, level: int) -> tuple[tuple[str, ...], ...]:
    return declare("place", listed, PLACES, level, None, "the plan").above


def test_the_levels_above_are_labels_of_each_category_without_the_root() -> None:
    assert above(None, 1) == (("Coast", "Coast", "Inland"),)
    assert above(None, 0) == (
        ("Capital", "North", "Plain", "Plain"),
        ("Coast", "Coast", "Inland", "Inland"),
    )
    assert above(None, 2) == ()


def test_a_list_keeps_the_levels_in_its_own_order_and_a_new_category_stays_itself() -> None:
    assert above(["Plain", "other", "Capital", "North"], 1) == (
        ("Inland", "other", "Coast", "Coast"),
    )


def test_cut_points_and_lists_alone() -> None:
    cuts = HierarchyBuilder("intervals", {"cuts": [[18, 30, 65], [30]]})
    age = declare("age", None, cuts, 1, None, "the plan")
    assert age.above == (("<30", "<30", "≥30", "≥30"),)
    sex = declare("sex", ["f", "m"], None, 0, None, "the plan")
    assert DeclaredDomain((age, sex)).rollups() == {"age": [["<30", "<30", "≥30", "≥30"]]}


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ([], "not a table"),
        ({"sex": [["x", "x", "y"]]}, "no levels of a dimension"),
        ({"age": []}, "no levels of a dimension"),
        ({"age": [["x", "y"]]}, "does not have one label"),
        ({"age": [["x", "y", 3]]}, "not text"),
        ({"age": [["x", "y", "z"]]}, "joins nothing"),
        ({"age": [["x", "x", "x"]]}, "or everything"),
    ],
)
def test_levels_that_cannot_be_are_told(stated: object, words: str) -> None:
    assert words in nested_fault(stated, {"age": ("a", "b", "c")})


def test_levels_that_fit_are_not_faulted_and_torn_ones_are() -> None:
    domains = {"age": ("a", "b", "c", "d")}
    assert nested_fault({"age": [["x", "x", "y", "z"], ["p", "p", "p", "q"]]}, domains) == ""
    torn = {"age": [["x", "x", "y", "z"], ["p", "q", "q", "q"]]}
    assert "separates" in nested_fault(torn, domains)
