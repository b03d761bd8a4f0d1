"""What a plan says of single cuboids, and how it changes when somebody picks them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.cube_parameters import CuboidChoice, CuboidStatus, heavier, lighter
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.cubes.settings import CubeSettings

NAMES = ["sex", "age", "region"]


def choice(**keys: object) -> CuboidChoice:
    return CuboidChoice.from_plain({"dimensions": NAMES, **keys})


def settings_of(made: CuboidChoice) -> CubeSettings:
    keys = {key: value for key, value in made.plain().items() if value is not None}
    given = {"dimensions": NAMES, "epsilon": 1, **keys}
    return CubeSettings.from_parameters(parse_parameters(PARAMETERS, given, "plan"), "plan")


def published(made: CuboidChoice) -> set[int]:
    return {mask for mask in range(8) if made.standing(mask) is CuboidStatus.PUBLISHED}


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"publish": "all", "forbid": [["sex", "age", "region"], ["age"]]},
        {"publish": {"max_dimensions": 2}},
        {"publish": {"max_dimensions": 1}, "forbid": [[]]},
        {"publish": [["age", "sex"], []], "weights": [{"dimensions": [], "weight": 2.5}]},
        {"publish": [["sex"]], "targets": [{"dimensions": ["sex"], "variance": 9}]},
        {"publish": [["sex"]], "exact": [["age"], []]},
        {"publish": {"max_dimensions": 1}, "exact": [["age", "sex"], ["age"]]},
    ],
)
def test_it_reads_a_plan_as_the_method_does_and_writes_it_back(keys: dict[str, object]) -> None:
    made = choice(**keys)
    read = settings_of(made)
    assert published(made) == set(read.published)
    assert made.count == len(read.published)
    assert set(made.forbidden) == read.forbidden
    assert (made.weights, made.targets) == (read.weights, read.targets)
    assert made.changes(choice(**keys)) == {}


acts = st.lists(
    st.tuples(st.sampled_from(["toggled", "avoided", "weighed"]), st.integers(0, 7)), max_size=12
)
starts = st.sampled_from([{}, {"publish": {"max_dimensions": 1}}, {"publish": [["age"], ["sex"]]}])


@given(acts, starts)
def test_whatever_is_clicked_the_plan_stays_one_that_the_method_takes(
    done: list[tuple[str, int]], start: Mapping[str, object]
) -> None:
    made = choice(**start)
    wanted, forbidden = published(made), set(made.forbidden)
    for act, mask in done:
        try:
            if act == "weighed":
                made = made.weighed(mask, heavier(made.weight(mask)))
                continue
            made = made.toggled(mask) if act == "toggled" else made.avoided(mask)
        except InputError:
            continue
        if act == "toggled":
            forbidden.discard(mask)
            wanted ^= {mask}
        elif mask in forbidden:
            forbidden.discard(mask)
            if made.most is not None and mask.bit_count() <= made.most:
                wanted.add(mask)
        else:
            forbidden.add(mask)
            wanted.discard(mask)
    read = settings_of(made)
    assert set(read.published) == wanted == published(made)
    assert read.forbidden == forbidden
    assert set(read.weights) <= wanted


def test_taking_one_table_out_of_all_lists_the_others_and_back_says_all_again() -> None:
    fewer = choice().toggled(0b111)
    assert fewer.changes(choice()) == {"publish": {"max_dimensions": 2}}
    fewest = choice().toggled(0b010)
    assert ["age"] not in fewest.plain()["publish"]  # type: ignore[operator]
    assert fewest.toggled(0b010).plain() == choice().plain()


def test_forbidding_a_table_takes_it_and_its_weight_out() -> None:
    made = choice(
        publish=[["sex"], ["age"]], weights=[{"dimensions": ["sex"], "weight": 2}]
    ).avoided(0b001)
    assert made.plain() == {
        "publish": [["age"]],
        "forbid": [["sex"]],
        "weights": None,
        "targets": None,
        "exact": None,
    }
    assert made.avoided(0b001).plain()["forbid"] is None


def test_the_last_table_stays_and_what_is_not_published_has_no_weight() -> None:
    made = choice(publish=[["sex"]])
    for act in (made.toggled, made.avoided):
        with pytest.raises(InputError, match="last table"):
            act(0b001)
    with pytest.raises(InputError, match="age"):
        made.weighed(0b010, Fraction(2))


def test_an_exact_table_stays_published_and_the_others_come_and_go_beside_it() -> None:
    made = choice(publish=[["sex"]], exact=[["age"]])
    for act in (made.toggled, made.avoided):
        with pytest.raises(InputError, match="released exactly"):
            act(0b010)
    alone = made.toggled(0b001)
    assert published(alone) == {0b010} == set(settings_of(alone).published)


def test_a_plan_never_names_thousands_of_tables_one_by_one() -> None:
    wide = CuboidChoice.from_plain({"dimensions": [f"q{i}" for i in range(20)]})
    with pytest.raises(InputError, match="1,048,575 tables"):
        wide.toggled(3)
    assert wide.avoided(3).count == (1 << 20) - 1


def test_weights_go_up_and_down_in_round_steps() -> None:
    assert [heavier(Fraction(one)) for one in (1, 2, 3, 1000)] == [2, 5, 5, 1000]
    assert [lighter(Fraction(one)) for one in (2, 1, Fraction(3, 10))] == [
        1,
        Fraction(1, 2),
        Fraction(1, 5),
    ]
    assert choice().weighed(1, Fraction(2)).weighed(1, Fraction(1)).weights == {}


@pytest.mark.parametrize("publish", ["few", [["shoe"]], [["sex", 3]]])
def test_what_cannot_be_read_is_said(publish: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        choice(publish=publish)


CELLS = {"cuboid": ["region", "sex"], "cells": [["north", "f"], ["south", "m"]]}
KEPT = {"cuboid": ["sex", "region"], "cells": [["f", "north"], ["m", "south"]]}


def test_exactness_comes_and_goes_as_one_key_of_the_plan_and_single_cells_stay() -> None:
    before = choice(publish=[["sex"]], exact=[CELLS])
    made = before.exactly(0b011)
    assert made.changes(before) == {"exact": [["sex", "age"], KEPT]}
    assert published(made) == {0b001, 0b011, 0b101}
    assert settings_of(made).exact_cells == {0b101: (("f", "north"), ("m", "south"))}
    assert made.exactly(0b011).changes(before) == {}
    assert choice().exactly(0).exactly(0).plain()["exact"] is None


def test_a_whole_exact_table_takes_the_place_of_its_single_cells() -> None:
    made = choice(exact=[CELLS]).exactly(0b101)
    assert made.plain()["exact"] == [["sex", "region"]]


def test_what_follows_from_an_exact_table_is_exact_and_cannot_be_kept_back_or_weighed() -> None:
    made = choice().exactly(0b011)
    assert [made.exact_above(mask) for mask in (0, 0b001, 0b011, 0b111)] == [0b011] * 3 + [None]
    for change in (made.exactly, made.avoided):
        with pytest.raises(InputError, match="sex follows from sex × age, which is released exact"):
            change(0b001)
    with pytest.raises(InputError, match="sex × age is released exactly"):
        made.avoided(0b011)
    for mask in (0b001, 0b011):
        with pytest.raises(InputError, match="is exact"):
            made.weighed(mask, Fraction(2))


def test_no_forbidden_table_becomes_exact() -> None:
    made = choice(forbid=[["sex"]])
    with pytest.raises(InputError, match="cannot be exact: sex is forbidden"):
        made.exactly(0b001)
    with pytest.raises(InputError, match="sex would follow from it and is forbidden"):
        made.exactly(0b011)
    assert made.exactly(0b010).exact == (0b010,)


def test_a_table_that_was_published_as_exact_alone_loses_its_weight_with_its_exactness() -> None:
    weights = [{"dimensions": ["age"], "weight": 2}]
    made = choice(publish=[["sex"]], exact=[["age"]], weights=weights).exactly(0b010)
    assert made.standing(0b010) is CuboidStatus.FREE
    assert made.weights == {}


@pytest.mark.parametrize("cells", [["f"], [["f"]], [["f", "north", "x"]]])
def test_cells_that_do_not_fit_their_table_are_no_choice(cells: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        choice(exact=[{"cuboid": ["sex", "region"], "cells": cells}])


@pytest.mark.parametrize("number", [1e308, 1e31, 1e-31, 5e-324, 0, -1])
def test_weights_that_no_sum_could_hold_are_refused(number: float) -> None:
    weights = [{"dimensions": [name], "weight": number} for name in ("age", "sex")]
    given = {"dimensions": ["age", "sex"], "publish": [["sex"]], "weights": weights, "epsilon": 1}
    with pytest.raises(InputError, match="weights"):
        parse_parameters(PARAMETERS, given, "plan")
