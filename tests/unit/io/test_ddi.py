"""The codebook of a release: as DDI Codebook 2.5 wants it, with counts of the published table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken
from dpdesk.core.labels import Codebook, Kind, UserMissing, Variable
from dpdesk.io import ddi as document
from dpdesk.io import published
from dpdesk.io.ddi import (
    CATEGORIES,
    FileContent,
    column_contents,
    cube_codebook,
    microdata_codebook,
)
from dpdesk.io.published import PublishedCsv
from dpdesk.io.sdmx import sdmx_cube
from tests.helpers.ddi_structure import NAMESPACE, faults
from tests.helpers.released_cubes import memory_release
from tests.helpers.stated import stated

MANIFEST: dict[str, Any] = {
    "title": "Town <survey> & \x01more", "created": "2026-01-02", "commitment": "ab" * 32,
    "dpdesk": "0.1", "parameters": {"k": 3, "sensitive": ["pay"], "proven": True},
    "result": {"node": {"age": 2, "sex": 0}, "rows_out": 6},
    "guarantee": {
        "claim": "At least 3 rows.", "assumes": ["one row each", "one release"],
        "does_not_cover": ["what a class shares"],
        "parameters": {"quasi_identifiers": ["age", "sex", "town"], "diverted": ["job"], "l": 4},
    },
}  # fmt: skip
TABLE = "age,sex,town,job,pay\n20-29,1,x,a,10\n20-29,2,x,b,-8.5\n*,9,,a,\n30-39,9,y,a,.b\n"
BOOK = Codebook(
    (
        Variable("sex", "Sex", Kind.NUMBER, measure="nominal",
                 value_labels={"1": "male", "2": "female", "3": "other"},
                 missing=UserMissing(("9",))),
        Variable("pay", "Pay", Kind.NUMBER, measure="scale",
                 missing=UserMissing((), -9.0, -1.0, True)),
    )
)  # fmt: skip


def codebook(folder: Path, text: str = TABLE, book: Codebook = BOOK) -> Xml.Element:
    path = folder / "microdata.csv"
    path.write_text(text, encoding="utf-8")
    token = CancelToken()
    table = PublishedCsv(path, token)
    file = FileContent("microdata.csv", table.rows, len(table.columns), "c0ffee")
    contents = column_contents(table, book, token)
    document = microdata_codebook(stated(MANIFEST), "k-anonymity", file, contents)
    assert faults(document) == []
    return Xml.fromstring(document)


def variable(root: Xml.Element, name: str) -> Xml.Element:
    return next(one for one in root.iter(f"{NAMESPACE}var") if one.get("name") == name)


def texts(parent: Xml.Element, tag: str) -> list[str]:
    return [one.text or "" for one in parent.iter(f"{NAMESPACE}{tag}")]


def counts(root: Xml.Element, name: str) -> dict[str, int]:
    found = variable(root, name).iter(f"{NAMESPACE}sumStat")
    return {one.attrib["type"]: int(one.text or "") for one in found}


def test_valid_and_invalid_cases_are_those_of_the_published_table(tmp_path: Path) -> None:
    root = codebook(tmp_path)
    assert counts(root, "sex") == {"vald": 2, "invd": 2}
    assert counts(root, "pay") == {"vald": 1, "invd": 3}
    assert counts(root, "town") == {"vald": 3, "invd": 1}
    assert counts(root, "age") == {"vald": 4, "invd": 0}
    said = "Of the invalid cases 2 have a code declared missing."
    assert said in texts(variable(root, "sex"), "txt")
    assert said in texts(variable(root, "pay"), "txt")
    assert texts(root, "caseQnty") == ["4"]


def test_labels_codes_and_missing_codes_are_described(tmp_path: Path) -> None:
    sex = variable(codebook(tmp_path), "sex")
    found = []
    for one in sex.iter(f"{NAMESPACE}catgry"):
        label = one.findtext(f"{NAMESPACE}labl", "")
        rows = one.findtext(f"{NAMESPACE}catStat", "")
        found.append((one.findtext(f"{NAMESPACE}catValu"), label, rows, one.get("missing", "N")))
    assert found == [
        ("1", "male", "1", "N"), ("2", "female", "1", "N"), ("3", "other", "0", "N"),
        ("9", "", "2", "Y"),
    ]  # fmt: skip
    assert sex.findtext(f"{NAMESPACE}labl") == "Sex"
    assert [one.get("VALUE") for one in sex.iter(f"{NAMESPACE}item")] == ["9"]


def test_scale_nature_and_ranges_are_told(tmp_path: Path) -> None:
    root = codebook(tmp_path)
    pay, sex, age = (variable(root, name) for name in ("pay", "sex", "age"))
    assert (pay.get("intrvl"), pay.get("nature")) == ("contin", "interval")
    assert (sex.get("intrvl"), sex.get("nature")) == ("discrete", "nominal")
    assert (age.get("intrvl"), age.get("nature")) == ("discrete", None)
    ends = next(pay.iter(f"{NAMESPACE}range"))
    assert (ends.get("min"), ends.get("max")) == ("-9", "-1")
    kinds = [one.get("type") for one in root.iter(f"{NAMESPACE}varFormat")]
    assert kinds == ["character", "numeric", "character", "character", "numeric"]


def test_what_was_done_stands_with_the_study_and_with_each_variable(tmp_path: Path) -> None:
    root = codebook(tmp_path)
    assert texts(root, "titl")[1] == "Town <survey> & ␁more"
    notes = [(one.get("type"), one.text) for one in root.iter(f"{NAMESPACE}notes")]
    assert notes[:4] == [
        ("guarantee", "At least 3 rows."), ("assumption", "one row each"),
        ("assumption", "one release"), ("limit", "what a class shares"),
    ]  # fmt: skip
    done = texts(root, "dataProcessing")
    assert done[0] == "The data were protected by k-anonymity."
    assert {"k: 3", "sensitive: pay", "proven: yes", "rows_out: 6"} <= set(done)
    words = {name: texts(variable(root, name), "txt") for name in ("age", "sex", "town", "job")}
    assert words["age"] == ["Values are generalised: each is that of level 2 of the hierarchy."]
    assert words["sex"][-1] == "Values are not generalised."
    assert words["town"] == ["Values are generalised or left out where the protection needed it."]
    assert words["job"] == [
        "Values were drawn at random. For someone who knows only how often each occurs, each is "
        "true with a chance of 1 in 4; other columns may tell more."
    ]


def test_a_column_of_many_values_lists_only_codes_with_a_meaning(tmp_path: Path) -> None:
    rows = "".join(f"n{number},1\n" for number in range(CATEGORIES + 1))
    book = Codebook((Variable("name", value_labels={"n7": "seven", "zz": "nobody"}),))
    root = codebook(tmp_path, f"name,sex\n{rows}", book)
    assert texts(variable(root, "name"), "catValu") == ["n7", "zz"]
    assert counts(root, "name") == {"vald": CATEGORIES + 1, "invd": 0}


def frequencies(root: Xml.Element, name: str) -> dict[str, int]:
    found = variable(root, name).iter(f"{NAMESPACE}catgry")
    return {
        one.findtext(f"{NAMESPACE}catValu", "none"): int(one.findtext(f"{NAMESPACE}catStat", "-1"))
        for one in found
    }


def test_every_code_with_a_label_has_its_frequency_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "_PIECES", 2)
    monkeypatch.setattr(published, "_BLOCK", 1_000)
    towns = {f"{n:05d}": f"Town {n}" for n in range(CATEGORIES + 100)}
    rows = [f"{n:05d},{n % 7}.5{n}" for n in range(CATEGORIES + 98) for _ in range(1 + n % 3)]
    rows += ["zzz,-1", ",-2", "00007,-2", "00000,x"]
    book = Codebook(
        (
            Variable("town", value_labels=towns, missing=UserMissing(("zzz", "yyy"))),
            Variable("pay", value_labels={"x": "unknown"}, missing=UserMissing((), -9.0, -1.0)),
        )
    )
    root = codebook(tmp_path, "town,pay\n" + "\n".join(rows) + "\n", book)
    found = frequencies(root, "town")
    wanted = {town: sum(row.startswith(town) for row in rows) for town in (*towns, "zzz", "yyy")}
    assert found == wanted
    assert (wanted["00299"], wanted["zzz"], wanted["yyy"]) == (0, 1, 0)
    assert sum(found.values()) == len(rows) - 1
    assert frequencies(root, "pay") == {"x": 1, "-1": 1, "-2": 2}


def test_values_that_differ_by_a_carriage_return_stay_different(tmp_path: Path) -> None:
    book = Codebook((Variable("job", "two\r\nlines", value_labels={"a\r\nb": "c\rd"}),))
    root = codebook(tmp_path, 'job\n"a\rb"\n"a\nb"\n"a\r\nb"\n"a\r\nb"\n', book)
    assert frequencies(root, "job") == {"a\rb": 1, "a\nb": 1, "a\r\nb": 2}
    job = variable(root, "job")
    assert texts(job, "labl") == ["two\r\nlines", "c\rd"]


def test_a_cancel_ends_the_counting(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    table, token = PublishedCsv(path, CancelToken()), CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        column_contents(table, BOOK, token)


@pytest.mark.parametrize("keys", [{}, {"exact": [["sex"]]}, {"publish": [["sex", "age"], []]}])
def test_every_table_of_a_cube_is_an_ncube_with_its_error(keys: dict[str, Any]) -> None:
    release = memory_release({"sex": ["f", "m"], "age": ["<30", "30+", ""]}, **keys)
    result: Any = release.manifest.result
    files = {
        item["file"]: {"sha256": f"hash of {item['file']}", "bytes": 1}
        for item in result["cuboids"]
    }
    manifest = replace(
        stated(MANIFEST | {"files": files}),
        parameters=release.manifest.parameters,
        result=release.manifest.result,
    )
    book = Codebook((Variable("sex", "Sex", value_labels={"f": "female"}),))
    document = cube_codebook(manifest, "a cube", sdmx_cube(manifest, book))
    assert faults(document) == []
    root = Xml.fromstring(document)
    cubes = list(root.iter(f"{NAMESPACE}nCube"))
    assert [int(one.attrib["cellQnty"]) for one in cubes] == [i["cells"] for i in result["cuboids"]]
    for one, item in zip(cubes, result["cuboids"], strict=True):
        said = one.findtext(f"{NAMESPACE}txt", "")
        if item.get("exact"):
            assert said.startswith("Published without noise")
        else:
            assert said.endswith(f" {item['variance'] ** 0.5:.6g}.")
    assert texts(variable(root, "age"), "catValu") == ["<30", "30+", ""]
    assert "female" in texts(variable(root, "sex"), "labl")
    assert not list(root.iter(f"{NAMESPACE}catStat"))


def test_the_check_of_the_structure_finds_faults(tmp_path: Path) -> None:
    root = codebook(tmp_path)
    sex = variable(root, "sex")
    sex.insert(0, sex[-1])
    sex.set("files", "F9")
    del sex.attrib["name"]
    next(root.iter(f"{NAMESPACE}catStat")).set("type", "count")
    found = "\n".join(faults(Xml.tostring(root)))
    for fault in ("out of order", "F9 leads nowhere", "name is missing", "type is count"):
        assert fault in found
