"""``dpdesk inspect DATA --plan PLAN`` as people run it: exit codes, sentences, JSON."""

from __future__ import annotations

import io
import json
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from dpdesk.cli.main import main

PLAN = """\
version = 1
[source]
path = "old.csv"
[attributes]
town = { role = "quasi-identifier", hierarchy = "towns.csv" }
[protection]
method = "k-anonymity"
k = 2
"""


class Said(NamedTuple):
    """The exit code of a command, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN, "utf-8")
    (tmp_path / "towns.csv").write_text("Ashford;*\nBrook;*\n", "utf-8")
    for name, rows in {"old": ["Ashford"] * 9, "same": ["Brook"] * 9, "new": ["Newtown"]}.items():
        lines = "".join(f"{town},{number % 2}\n" for number, town in enumerate(rows))
        (tmp_path / f"{name}.csv").write_text(f"town,flag\n{lines}", "utf-8")
    return tmp_path


def dpdesk(folder: Path, *arguments: str) -> Said:
    """What the command line says in a folder, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    return Said(code, out.getvalue(), err.getvalue())


def test_a_file_that_fits_exits_with_0(folder: Path) -> None:
    done = dpdesk(folder, "inspect", "same.csv", "--plan", "plan.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("same.csv (9 rows) and the plan plan.toml:")
    assert done.stdout.endswith("It fits.\n")
    assert "levels: town 0" in done.stdout


def test_the_options_of_inspecting_count_with_a_plan_too(folder: Path) -> None:
    kept = "SELECT * FROM data WHERE town = 'Newtown'"
    (folder / "both.csv").write_text("town,flag\nBrook,0\nBrook,1\nNewtown,0\n", "utf-8")
    done = dpdesk(folder, "inspect", "both.csv", "--plan", "plan.toml", "--query", kept)
    assert done.stdout.startswith("both.csv (1 row) and the plan plan.toml:")
    done = dpdesk(folder, "inspect", "same.csv", "--plan", "plan.toml", "--table", "people")
    assert done.returncode == 2
    assert "the key `table` does not apply" in done.stderr


def test_a_file_that_does_not_fit_exits_with_1_and_one_sentence(folder: Path) -> None:
    done = dpdesk(folder, "inspect", "new.csv", "--plan", "plan.toml")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "new.csv does not fit plan.toml: `town`: 1 value has no leaf in the hierarchy towns.csv: "
        "`Newtown` (1 row); together 1 row of 1."
    )
    assert "✕ [does not fit]" in done.stdout
    assert "→ Add the values to the hierarchy" in done.stdout
    assert done.stdout.endswith("It does not fit.\n")


def test_json_is_the_profile_with_the_fit_beside_it(folder: Path) -> None:
    alone = json.loads(dpdesk(folder, "inspect", "new.csv", "--json").stdout.splitlines()[-1])
    done = dpdesk(folder, "inspect", "new.csv", "--plan", "plan.toml", "--json")
    both = json.loads(done.stdout.splitlines()[-1])
    found = both.pop("fit")
    assert both == alone
    assert (found["plan"], found["fits"], found["result"]) == ("plan.toml", False, None)
    item = found["items"][0]
    assert item["code"] == "hierarchy.missing-leaf"
    assert item["weight"] == "does not fit"
    assert item["values"] == [{"value": "Newtown", "rows": 1}]
    assert done.returncode == 1


@pytest.mark.parametrize("arguments", [("none.csv", "plan.toml"), ("same.csv", "none.toml"),
                                       ("same.csv", "towns.csv")])  # fmt: skip
def test_a_plan_or_file_that_cannot_be_read_exits_with_2(
    folder: Path, arguments: tuple[str, str]
) -> None:
    done = dpdesk(folder, "inspect", arguments[0], "--plan", arguments[1])
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()[-1]) > 20
    assert done.stdout == ""


def test_nothing_is_written(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*")}
    dpdesk(folder, "inspect", "same.csv", "--plan", "plan.toml")
    assert {path: path.read_bytes() for path in folder.rglob("*")} == before
