"""Levels that labels say by themselves, and those that a manifest lists."""

from __future__ import annotations

import pytest

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Grouping, Query, read_condition, read_query
from dpdesk.engine.cubes.olap.cube import ReleasedCube, levels_of
from dpdesk.engine.cubes.olap.grids import allowed_categories, cube_grid
from tests.helpers.released_cubes import memory_release

TENS = (*(f"{n}-{n + 9}" for n in range(0, 80, 10)), "80+", "not stated")


def distinct(level: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(level))


def test_intervals_of_one_width_are_joined_and_the_rest_stays() -> None:
    levels = levels_of(TENS)
    assert distinct(levels[1]) == ["0-19", "20-39", "40-59", "60-79", "80+", "not stated"]
    assert distinct(levels[2]) == ["0-39", "40-79", "80+", "not stated"]
    assert len(levels) == 3


def test_wide_intervals_end_where_the_domain_ends() -> None:
    labels = tuple(f"{n}-{n + 4}" for n in range(15, 40, 5))
    assert distinct(levels_of(labels)[1]) == ["15-19", "20-29", "30-39"]
    years = tuple(str(n) for n in range(2000, 2020))
    assert distinct(levels_of(years)[1]) == ["2000-2004", "2005-2009", "2010-2014", "2015-2019"]
    halves = tuple(f"[{n / 2:g}, {n / 2 + 0.5:g}[" for n in range(8))
    assert distinct(levels_of(halves)[1])[0] == "[0, 1["


def test_codes_lose_their_last_signs() -> None:
    codes = ("1101", "1102", "1201", "2101", "other")
    assert levels_of(codes)[1:] == (
        ("110*", "110*", "120*", "210*", "other"),
        ("1***", "1***", "1***", "2***", "other"),
    )
    assert levels_of(("130**", "131**", "140**"))[1] == ("13***", "13***", "14***")


@pytest.mark.parametrize(
    "labels", [("f", "m"), ("north", "south", "other"), ("0-9", "10-29", "30-99"), ("<30", "≥30")]
)
def test_labels_that_say_nothing_have_one_level(labels: tuple[str, ...]) -> None:
    assert levels_of(labels) == (labels,)


def test_a_manifest_may_list_levels() -> None:
    given = [["x", "x", "y"], ["*", "*", "*"]]
    assert levels_of(("a", "b", "c"), given) == (("a", "b", "c"), ("x", "x", "y"), ("*", "*", "*"))
    for wrong in ([["x", "x"]], "x", [["x", "y", "y"], ["p", "p", "q"]]):
        with pytest.raises((ValueError, TypeError)):
            levels_of(("a", "b", "c"), wrong)


def test_a_roll_up_sums_its_categories_with_an_exact_error() -> None:
    released = memory_release({"age": TENS, "sex": ("f", "m")})
    cube = ReleasedCube.from_manifest(released.manifest)
    fine = cube_grid(cube, Query((Grouping("age"),)), released, CancelToken())
    coarse = cube_grid(cube, Query((Grouping("age", 1),)), released, CancelToken())
    assert coarse.values[0] == pytest.approx(fine.values[0] + fine.values[1])
    named = cube_grid(
        cube, read_query(["sex"], ["age=0-19,20-39"], margins=True), released, CancelToken()
    )
    assert named.values[-1] == pytest.approx(fine.values[:4].sum())
    assert (coarse.standard_errors[:4] > fine.standard_errors[0]).all()


def test_conditions_select_categories_or_are_refused() -> None:
    levels = levels_of(TENS)
    found = allowed_categories("age", levels, [read_condition("age>=60")])
    assert [label for label, yes in zip(TENS, found, strict=True) if yes] == [
        "60-69",
        "70-79",
        "80+",
    ]
    with pytest.raises(InputError, match="cuts through the category `60-69`") as error:
        allowed_categories("age", levels, [read_condition("age>=65")])
    assert error.value.code == "query.cut"
    with pytest.raises(InputError, match="No category of `age`"):
        allowed_categories("age", levels, [read_condition("age=0-9"), read_condition("age=10-19")])
