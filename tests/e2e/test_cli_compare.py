"""``dpdesk compare``: ways to release sensitive columns, measured on the plan's own data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpdesk.cli.main import main
from dpdesk.project.audit import AuditLog
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


PINNED = """version = 1
[source]
path = "people.csv"
encoding = "utf-8"
delimiter = ","
decimal = "."
quote = '"'
header = true
missing = [""]
types = { a = "text", b = "text", c = "text", d = "text" }
[protection]
method = "priview"
dimensions = ["a", "b", "c", "d"]
views = [["a", "b"], ["c", "d"]]
marginals = [["a"]]
domains = { a = ["x", "y"], b = ["x", "y"], c = ["x", "y"], d = ["x", "y"] }
epsilon = 1
[budget]
population = "people"
"""


def _people(path: Path, rows: int) -> Path:
    lines = (",".join("xy"[n // step % 2] for step in (1, 2, 3, 5)) for n in range(rows))
    path.write_text("\n".join(["a,b,c,d", *lines]) + "\n", "utf-8")
    return path


def _audited(home: Path) -> list[tuple[str, str]]:
    with AuditLog.open_home(home) as log:
        return [(one.action, one.subject) for one in log.entries()]


def test_a_file_that_is_declared_public_is_entered_in_the_audit_log(
    tmp_path: Path, private_home: Path
) -> None:
    _people(tmp_path / "people.csv", 40)
    twin = _people(tmp_path / "older.csv", 60)
    plan = tmp_path / "plan.toml"
    plan.write_text(PINNED, "utf-8")
    assert main(["compare", str(plan), "--twin", str(twin)]) == 0
    assert ("compared on a file declared public", "older.csv") in _audited(private_home)


def test_data_of_the_plan_or_of_the_ledger_cannot_be_declared_public(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = _people(tmp_path / "people.csv", 40)
    plan = tmp_path / "plan.toml"
    plan.write_text(PINNED, "utf-8")
    link = tmp_path / "linked.csv"
    link.symlink_to(source)
    for same in (source, link):
        assert main(["compare", str(plan), "--twin", str(same)]) == 2
        assert "it is the source of the plan" in capsys.readouterr().err
    assert main(["run", str(plan), "--out", str(tmp_path / "release")]) == 0
    turned = tmp_path / "turned.csv"
    head, *rows = source.read_text("utf-8").splitlines()
    turned.write_text("\n".join([head, *reversed(rows)]) + "\n", "utf-8")
    assert main(["compare", str(plan), "--twin", str(turned)]) == 2
    assert "budget was spent on these data" in capsys.readouterr().err
    assert not [one for one in _audited(private_home) if one[0].startswith("compared")]
