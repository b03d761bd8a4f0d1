"""Codes for missing values are no numbers of the ranges of a recoding, in a release and a cube."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.hierarchies import examine
from dpdesk.app.planning import PlacedPlan, open_data, prepare_rows
from dpdesk.app.private.preparing import prepare_tables
from dpdesk.app.running import write_release
from dpdesk.app.verifying import verify_release
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.plan import HierarchyFile
from dpdesk.io.planfile import read_plan
from tests.helpers.pinned import pin

AGES = ["21", "22", "23", "61", "62", "63", "99", "99"]
PLAN = """version = 1
[source]
path = "people.asc"
[attributes.AGE]
role = "quasi-identifier"
hierarchy = "age.grc"
[protection]
method = "k-anonymity"
k = 2
levels = { AGE = 1 }
"""
CUBE = """version = 1
[source]
path = "people.asc"
[attributes.AGE]
role = "quasi-identifier"
hierarchy = "age.grc"
[protection]
method = "dp-cube"
dimensions = ["AGE"]
levels = { AGE = 1 }
epsilon = 1
[budget]
ledger = "people"
population = "people"
"""


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    with AppContext.open(tmp_path / "home") as opened:
        yield opened


def _written(folder: Path, groups: str, plan: str = PLAN) -> Path:
    (folder / "people.asc").write_text("".join(f"{age}\n" for age in AGES), encoding="utf-8")
    (folder / "people.rda").write_text("AGE 1 2 99\n <RECODABLE>\n", encoding="utf-8")
    (folder / "age.grc").write_text(groups, encoding="utf-8")
    path = folder / "plan.toml"
    path.write_text(plan, encoding="utf-8")
    return pin(path) if plan == CUBE else path


def _published(folder: Path) -> list[str]:
    with (folder / "public" / "microdata.csv").open(encoding="utf-8", newline="") as file:
        return [row[0] for row in csv.reader(file)][1:]


@pytest.mark.parametrize(
    ("groups", "unknown"),
    [("y: -60\no: 61-\n", "99"), ("y: -60\no: 61-98, 99\n", "o"), ("y: -60\no: 61-, 99\n", "o")],
)
def test_a_missing_code_joins_a_group_that_names_it_alone(
    tmp_path: Path, context: AppContext, groups: str, unknown: str
) -> None:
    path = _written(tmp_path, groups)
    with prepare_rows(
        context, PlacedPlan(read_plan(path), tmp_path, "plan"), CancelToken(), silent
    ) as run:
        made = write_release(context, run, tmp_path / "release", CancelToken(), silent).out
        told = [note for note in run.recorded_notes if "declared missing" in note]
    assert sorted(_published(made)) == sorted(["y"] * 3 + ["o"] * 3 + [unknown] * 2)
    assert told == (
        [
            "Column `AGE`: a range of its hierarchy covers `99`, declared missing; missing "
            "values are not part of any range."
        ]
        if unknown == "99"
        else []
    )
    report = verify_release(made, context.registry, CancelToken(), silent)
    assert report.ok


def test_a_missing_code_that_a_group_is_called_by_is_noted(
    tmp_path: Path, context: AppContext
) -> None:
    path = _written(tmp_path, "y: -60\n99: 61-98\n")
    with prepare_rows(
        context, PlacedPlan(read_plan(path), tmp_path, "plan"), CancelToken(), silent
    ) as run:
        assert "missing value, and also the name of a group of its hierarchy" in " ".join(run.notes)
    path = _written(tmp_path, "y: -60\no: 61-98\n")
    with prepare_rows(
        context, PlacedPlan(read_plan(path), tmp_path, "plan"), CancelToken(), silent
    ) as run:
        assert not [note for note in run.notes if "also the name of a group" in note]


def test_the_panel_of_hierarchies_shows_what_a_release_does(
    tmp_path: Path, context: AppContext
) -> None:
    path = _written(tmp_path, "y: -60\no: 61-\n")
    plan = read_plan(path)
    with closing(open_data(context, plan, tmp_path, CancelToken(), silent)) as data:
        found = examine(data, "AGE", HierarchyFile("age.grc"), tmp_path, CancelToken())
    rows = {row[0]: row for row in found.preview.hierarchy.rows()}
    assert rows["99"] == ["99", "99", "*"]


def test_a_cube_counts_nobody_of_unknown_age_among_the_old(
    tmp_path: Path, context: AppContext
) -> None:
    path = _written(tmp_path, "y: -60\no: 61-\n", CUBE)
    plan = read_plan(path)
    with prepare_tables(context, PlacedPlan(plan, tmp_path, "plan"), CancelToken(), silent) as run:
        hierarchy = run.given.hierarchies["AGE"]
        assert [note for note in run.recorded_notes if note.endswith("even into the total.")]
    assert "99" not in hierarchy.leaf_codes
