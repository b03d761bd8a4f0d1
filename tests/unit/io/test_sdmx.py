"""Cubes as SDMX: identifiers that come back, observations that a reader of the standard finds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import NO_BOOK, Codebook, Variable
from dpdesk.io.sdmx import (
    RESERVED,
    TOTAL,
    SdmxCube,
    category_of,
    code_id,
    dimension_id,
    dimension_of,
    sdmx_cube,
    structure_message,
    write_sdmx_csv,
)
from tests.helpers.released_cubes import MemoryRelease, memory_release
from tests.helpers.sdmx_reader import Observation, read_observations
from tests.helpers.stated import stated

DOMAINS = {
    "sex": ["f", "m", ""],
    "age group": ["[0, 30[", "30+", "_T"],
    "OBS_VALUE": ["a", "ä, \"b\""],
}  # fmt: skip
CODE = re.compile(r"[A-Za-z0-9_@$\-]+")
COMPONENT = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*")
_TEXTS = st.text(st.one_of(st.sampled_from("_xD0025Fa-T$ "), st.characters(codec="utf-8")))


@given(_TEXTS)
def test_every_category_has_an_allowed_code_that_gives_it_back(text: str) -> None:
    code = code_id(text)
    assert CODE.fullmatch(code)
    assert code != TOTAL
    assert category_of(code) == text


@given(_TEXTS)
def test_every_dimension_has_an_allowed_name_that_gives_it_back(text: str) -> None:
    identifier = dimension_id(text)
    assert COMPONENT.fullmatch(identifier)
    assert identifier not in RESERVED
    assert dimension_of(identifier) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("20-39", "20-39"),
        ("80+", "80_x002B_"),
        ("_T", "_x005F_T"),
        ("", "_U"),
        ("a b", "a_x0020_b"),
    ],
)
def test_codes_are_the_documented_ones(text: str, code: str) -> None:
    assert code_id(text) == code


def cube_of(release: MemoryRelease, book: Codebook = NO_BOOK) -> SdmxCube:
    words: dict[str, Any] = {
        "title": "Town & country", "created": "2026-01-02", "commitment": "ab" * 32,
        "guarantee": {"claim": "ε = 1"},
    }  # fmt: skip
    return sdmx_cube(stated(release.manifest.as_json() | words), book)


def observations(
    release: MemoryRelease, folder: Path, book: Codebook = NO_BOOK
) -> list[Observation]:
    cube, rows = cube_of(release, book), [0]
    write_sdmx_csv(cube, release.tables, folder / "a.csv", CancelToken(), rows.append)
    found = read_observations((folder / "a.csv").read_bytes(), structure_message(cube))
    assert rows == sorted(rows)
    assert rows[-1] == len(found)
    return found


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"measure": ["count", {"sum": "pay", "lower": -10, "upper": 500}]},
        {"exact": [["sex"]]},
        {"publish": [["sex", "OBS_VALUE"], []]},
    ],
)
def test_a_reader_finds_every_cell_of_every_table_with_its_error(
    keys: dict[str, Any], tmp_path: Path
) -> None:
    release = memory_release(DOMAINS, **keys)
    found = observations(release, tmp_path)
    assert len({(one.key, one.measure) for one in found}) == len(found)
    by_key = {(one.key, one.measure): one for one in found}
    result: Any = release.manifest.result
    assert len(found) == sum(item["cells"] for item in result["cuboids"])
    for item in result["cuboids"]:
        table = release.tables[item["file"]]
        error = 0 if item.get("exact") else item["variance"] ** 0.5
        for place, value in np.ndenumerate(table.values):
            texts = [c[i] or "empty" for c, i in zip(table.domain.categories, place, strict=True)]
            key = tuple(zip(item["dimensions"], texts, strict=True))
            one = by_key[key, item.get("measure", "")]
            assert one.value == float(value)
            assert one.error == pytest.approx(error, rel=1e-15)
            assert one.status == ("A" if item.get("exact") else "E")


def test_cells_without_noise_are_told_apart(tmp_path: Path) -> None:
    part = {"cuboid": ["sex", "OBS_VALUE"], "cells": [["f", "a"], ["", "ä, \"b\""]]}  # fmt: skip
    release = memory_release(DOMAINS, exact=[part])
    normal = [one for one in observations(release, tmp_path) if one.status == "A"]
    assert [one.key for one in normal] == [
        (("sex", "f"), ("OBS_VALUE", "a")), (("sex", "empty"), ("OBS_VALUE", "ä, \"b\"")),
    ]  # fmt: skip
    assert {one.error for one in normal} == {0.0}


def test_an_average_states_no_error_for_all_its_cells(tmp_path: Path) -> None:
    measure = {"average": "pay", "lower": 0, "upper": 500}
    found = observations(memory_release({"sex": ["f", "m"]}, measure=measure), tmp_path)
    averages = [one for one in found if one.measure.startswith("average")]
    assert averages
    assert all(one.error is None for one in averages)


@pytest.mark.parametrize(
    ("keys", "before"),
    [
        ({}, ""),
        ({"nonnegative": True}, ", before negative values were removed"),
        ({"integral": True}, ", before values were made whole numbers"),
        ({"consistency": "linf"}, ", as if tables had been made to agree by least squares"),
    ],
)
def test_an_error_says_of_which_numbers_it_is(keys: dict[str, Any], before: str) -> None:
    domains = {"sex": ["f", "m"], "region": ["n", "s"]}
    cube = cube_of(memory_release(domains, epsilon=1, planner="all", **keys))
    message = Xml.fromstring(structure_message(cube))
    names = [each.text for each in message.iter() if each.tag.endswith("}Name")]
    assert f"Standard error of the noise in the value{before}" in names


def test_labels_name_codes_and_concepts(tmp_path: Path) -> None:
    book = Codebook((Variable("sex", "Sex of the person", value_labels={"f": "female & co"}),))
    release = memory_release({"sex": ["f", "m"]})
    found = observations(release, tmp_path, book)
    assert {one.key for one in found} == {
        (), (("Sex of the person", "female & co"),), (("Sex of the person", "m"),)
    }  # fmt: skip


def test_the_structure_does_not_depend_on_values() -> None:
    first, second = (memory_release(DOMAINS, seed=seed) for seed in (1, 2))
    assert structure_message(cube_of(first)) == structure_message(cube_of(second))


def test_every_reference_of_the_structure_leads_to_a_part_of_it() -> None:
    root = Xml.fromstring(structure_message(cube_of(memory_release(DOMAINS))))
    known = {one.attrib["id"] for one in root.iter() if "id" in one.attrib}
    named = re.findall(r"=DPDESK:(\w+)\(1\.0\.0\)(?:\.(\w+))?", Xml.tostring(root, "unicode"))
    assert len(named) > 10
    assert {part for pair in named for part in pair if part} <= known


def test_a_cancel_ends_the_writing(tmp_path: Path) -> None:
    release, token = memory_release(DOMAINS), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        write_sdmx_csv(
            cube_of(release), release.tables, tmp_path / "a.csv", token, lambda rows: None
        )
