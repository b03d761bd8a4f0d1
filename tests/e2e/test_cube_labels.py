"""Labels of a source in the release of a cube: when asked for, and of what is declared alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyreadstat
import pytest

from dpdesk.app.browsing import open_cube
from dpdesk.app.context import AppContext
from dpdesk.app.exporting import export_release
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.export_formats import HOLDS
from dpdesk.core.jobs import CancelToken, Event, Note, silent
from dpdesk.core.pivot import BrowseState, pivot_chart
from dpdesk.core.query import Grouping
from dpdesk.io.canonical import canonical_json
from tests.helpers.forging import manifest_of, seal_again
from tests.helpers.pinned import pin
from tests.helpers.sdmx_reader import read_observations
from tests.helpers.stat_files import head

PLAN = """version = 1
title = "Labels"
[source]
path = "{source}"
[attributes.region]
role = "quasi-identifier"
hierarchy = "region.csv"
[protection]
method = "dp-cube"
dimensions = ["sex", "region"]
levels = {{ region = 1 }}
domains = {{ sex = ["2", "1", "9", "4"] }}
epsilon = 1
{labels}
[budget]
ledger = "ledger.sqlite"
population = "persons"
"""
SEX = {1.0: "male", 2.0: "female", 3.0: "undeclared", 9.0: "refused"}
ASSUMED = (
    "The code lists of the source, whose labels are published, are taken to have been fixed before "
    "the data."
)


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


def made(context: AppContext, folder: Path, name: str, rows: int, labels: str) -> Path:
    """A release of ``rows`` persons, all with one code of each list."""
    people = pd.DataFrame({"sex": [1.0] * rows, "region": [2.0] * rows})
    pyreadstat.write_sav(
        people, folder / f"{name}.sav",
        column_labels={"sex": "Sex of the person", "region": "Where"},
        variable_value_labels={"sex": SEX, "region": {1.0: "north", 2.0: "south"}},
        missing_ranges={"sex": [9.0]},
    )  # fmt: skip
    (folder / "region.csv").write_text("1;1;*\n2;2;*\n", encoding="utf-8")
    plan = folder / f"{name}.toml"
    plan.write_text(PLAN.format(source=f"{name}.sav", labels=labels), encoding="utf-8")
    pin(plan)
    return run_plan(context, plan, folder / name, CancelToken(), silent).out


@pytest.fixture(scope="module")
def labelled(context: AppContext, folder: Path) -> Path:
    return made(context, folder, "labelled", 40, 'labels = "source"')


def said(release: Path) -> Any:
    return json.loads((release / "public/variables.json").read_text("utf-8"))


def test_labels_are_those_of_declared_categories_whoever_is_in_the_data(
    context: AppContext, folder: Path, labelled: Path
) -> None:
    sex, region = said(labelled)["variables"]
    assert sex["value_labels"] == {"1": "male", "2": "female", "9": "refused"}
    assert (sex["label"], sex["missing"]) == ("Sex of the person", {"values": ["9"]})
    assert region["label"] == "Where"
    assert "value_labels" not in region  # its categories are groups, not codes of the file
    other = made(context, folder, "other", 7, 'labels = "source"')
    assert (other / "public/variables.json").read_bytes() == (
        labelled / "public/variables.json"
    ).read_bytes()
    for release in (labelled, labelled / "public"):
        assert verify_release(release, context.registry, CancelToken(), silent).ok


def test_publishing_them_is_an_assumption_of_the_guarantee(
    context: AppContext, folder: Path, labelled: Path
) -> None:
    assert ASSUMED in manifest_of(labelled)["guarantee"]["assumes"]  # type: ignore[index]
    without = made(context, folder, "without", 40, "")
    assert ASSUMED not in manifest_of(without)["guarantee"]["assumes"]  # type: ignore[index]
    assert not (without / "public/variables.json").exists()
    assert b"female" not in b"".join(
        path.read_bytes() for path in (without / "public").rglob("*") if path.is_file()
    )


def test_the_page_for_users_shows_codes_with_their_labels(labelled: Path) -> None:
    page = (labelled / "public/about.html").read_text("utf-8")
    shown = re.findall(r'<span class="value">([^<]+)</span>', page)
    assert [text for text in shown if text[:1] in "1294" and "·" in text] == [
        "2 · female", "1 · male", "9 · refused",
    ]  # fmt: skip
    assert "sex · Sex of the person" in page


def test_every_export_has_them(context: AppContext, labelled: Path, tmp_path: Path) -> None:
    told: dict[str, list[str]] = {}
    for form in ("sdmx-csv", "sdmx-structure", "ddi", "xlsx", "sav"):
        out, events = tmp_path / f"a.{form}", list[Event]()
        export_release(labelled, form, out, context.workspace, CancelToken(), events.append)
        told[form] = [event.sentence for event in events if isinstance(event, Note)]
    assert told["sdmx-csv"] == [HOLDS["sdmx-csv"].bare]
    assert told["sdmx-structure"] == told["ddi"] == told["xlsx"] == []
    found = read_observations(
        (tmp_path / "a.sdmx-csv").read_bytes(), (tmp_path / "a.sdmx-structure").read_bytes()
    )
    assert {text for one in found for name, text in one.key if name == "Sex of the person"} == {
        "male", "female", "refused", "4",
    }  # fmt: skip
    assert b"<labl>refused</labl>" in (tmp_path / "a.ddi").read_bytes()
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    labels = {row[0]: row[1] for row in book["Variables"].values}
    assert labels["sex"] == "Sex of the person"
    assert ("sex", "1", "male", "") in set(book["Codes"].values)
    sex = next(one for one in head(tmp_path / "a.sav").variables if one.name == "sex")
    assert sex.value_labels["1"] == "male"


def test_who_browses_the_tables_reads_codes_with_their_labels(
    context: AppContext, labelled: Path
) -> None:
    for folder in (labelled, labelled / "public"):
        cube = open_cube(context, folder, CancelToken(), silent)
        state = BrowseState(rows=(Grouping("sex"),), columns=(Grouping("region"),))
        pivot = cube.look(state, CancelToken(), silent)
        assert [labels[0] for labels in pivot.row_labels][:4] == ["2", "1", "9", "4"]
        words = [pivot.row_words(row)[0] for row in range(4)]
        assert words == ["2 · female", "1 · male", "9 · refused", "4"]
        assert pivot.column_words(0) == pivot.column_labels[0]
        chart = pivot_chart(pivot, "", "", "persons")
        assert chart.categories[0] == "2 · female"


@pytest.mark.parametrize("forged", ["undeclared", "not asked for", "a dimension"])
def test_other_labels_fail_the_check(
    context: AppContext, folder: Path, labelled: Path, forged: str
) -> None:
    release = made(context, folder, forged.replace(" ", "-"), 40,
                   "" if forged == "not asked for" else 'labels = "source"')  # fmt: skip
    raw = said(labelled)
    if forged == "undeclared":
        raw["variables"][0]["value_labels"]["3"] = "undeclared"
    elif forged == "a dimension":
        raw["variables"][1]["name"] = "pay"
    (release / "public/variables.json").write_bytes(canonical_json(raw))
    seal_again(release, manifest_of(release))
    found = verify_release(release, context.registry, CancelToken(), silent)
    assert "public/variables.json" in {failure.path for failure in found.failures}
