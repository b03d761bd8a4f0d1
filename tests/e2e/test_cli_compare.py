"""``dpdesk compare``: ways to release sensitive columns, measured on the plan's own data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpdesk.cli.main import main
from tests.helpers import clinic
from tests.helpers.releases import write_source


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "home"))
    clinic.write_source(tmp_path)
    return tmp_path


def test_every_way_is_measured_on_the_same_queries(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = clinic.write_plan(folder, 'l = 3\nsensitive = ["illness"]')
    assert main(["compare", str(plan), "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])["comparisons"]
    assert [(each["column"], each["l"], each["rows"]) for each in found] == [("illness", 3, 403)]
    for each in found:
        assert each["badge"] == "internal: uses the truth"
        assert each["queries"] > 100
        ways = each["charts"][0]["columns"][1:]
        assert len(ways) == 8
        shown = [cell for row in each["charts"][0]["rows"] for cell in row[1:] if cell is not None]
        assert shown
        assert all(cell >= 0 for cell in shown)
    assert sorted(path.name for path in folder.iterdir()) == ["clinic.toml", "home", clinic.SOURCE]


def test_the_text_says_that_it_uses_the_truth(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = clinic.write_plan(folder, 'l = 2\nsensitive = ["job"]')
    assert main(["compare", str(plan)]) == 0
    said = capsys.readouterr().out
    assert "(internal: uses the truth)" in said
    assert "Anatomy" in said
    assert "Laplace noise on each query, ε = 1, m = 100" in said


def test_values_that_are_too_frequent_and_other_methods_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(clinic.write_plan(folder, 'l = 5\nsensitive = ["illness"]'))]) == 1
    assert "at most" in capsys.readouterr().err
    other = write_source(folder / "other")
    assert main(["compare", str(other)]) == 1
    assert "does not say that it can be compared" in capsys.readouterr().err
