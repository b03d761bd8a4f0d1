"""What the command line enters in the audit log, and what it refuses when it cannot."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import pytest

from dpdesk.cli.main import main
from dpdesk.project.audit import FILE, AuditLog
from tests.helpers.releases import SOURCE, write_source


def entries(home: Path) -> list[tuple[str, str]]:
    with AuditLog.open_home(home) as log:
        assert log.verify().ok
        return [(entry.action, entry.subject) for entry in log.entries()]


def test_every_command_leaves_its_trace(private_home: Path, tmp_path: Path) -> None:
    plan, out = write_source(tmp_path / "work"), tmp_path / "out"
    data, table = plan.parent / SOURCE, tmp_path / "people.xlsx"
    assert main(["inspect", str(data)]) == 0
    assert main(["run", str(plan), "--out", str(out)]) == 0
    assert main(["risk", str(out)]) == 0
    assert main(["verify", str(out)]) == 0
    assert main(["export", str(out), "--format", "xlsx", "--out", str(table)]) == 0
    assert entries(private_home) == [
        ("opened", str(data)),
        ("ran", str(plan)),
        ("released", str(out)),
        ("viewed", str(out)),
        ("viewed", str(out)),
        ("exported", str(out)),
        ("exported", str(out)),
    ]
    with AuditLog.open_home(private_home) as log:
        _, ran, released, *_, exported, written = log.entries()
    manifest = (out / "public/manifest.json").read_bytes()
    assert released.facts == {"manifest_sha256": hashlib.sha256(manifest).hexdigest()}
    assert ran.facts == {"command": "run", "out": str(out)}
    assert exported.facts["out"] == str(table)
    found = hashlib.sha256(table.read_bytes()).hexdigest()
    assert written.facts == {"sha256": {"people.xlsx": found}}


def test_whether_a_file_is_the_one_exported_can_be_told(
    private_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same release gives the same bytes again, whose hash is said and entered."""
    out = tmp_path / "out"
    assert main(["run", str(write_source(tmp_path / "work")), "--out", str(out)]) == 0
    for form in ("csv", "parquet", "xlsx", "sav", "dta", "xpt", "csvw", "ddi"):
        said = []
        for name in ("one", "two"):
            place = tmp_path / f"{name}.{form}"
            capsys.readouterr()
            assert main(["export", str(out), "--format", form, "--out", str(place)]) == 0
            *_, last = capsys.readouterr().out.splitlines()
            assert last == f"SHA-256: {hashlib.sha256(place.read_bytes()).hexdigest()}"
            said.append(last)
        assert said[0] == said[1]
        (tmp_path / f"two.{form}").unlink()
    pack = tmp_path / "pack.html"
    assert main(["review", "pack", str(out), "--out", str(pack)]) == 0
    code = hashlib.sha256(pack.read_bytes()).hexdigest()
    assert f"SHA-256: {code}" in capsys.readouterr().out
    with AuditLog.open_home(private_home) as log:
        assert log.entries()[-1].facts == {"sha256": {"pack.html": code}}


def test_no_value_of_the_data_is_in_the_log(private_home: Path, tmp_path: Path) -> None:
    plan = write_source(tmp_path / "work")
    assert main(["inspect", str(plan.parent / SOURCE)]) == 0
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) == 0
    values = {
        value
        for line in (plan.parent / SOURCE).read_text("utf-8").splitlines()[1:]
        for value in line.split(",")
        if len(value) > 3
    }
    log = (private_home / FILE).read_bytes()
    assert values
    assert [value for value in values if value.encode() in log] == []


@pytest.mark.parametrize("broken", ["no log", "locked"])
def test_without_an_entry_nothing_is_released_or_exported_but_all_can_be_looked_at(
    private_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
) -> None:
    plan, out, again = write_source(tmp_path / "work"), tmp_path / "out", tmp_path / "again"
    assert main(["run", str(plan), "--out", str(out)]) == 0
    other = sqlite3.connect(private_home / FILE, isolation_level=None)
    if broken == "no log":
        other.close()
        (private_home / FILE).write_bytes(b"no log")
    else:
        monkeypatch.setattr("dpdesk.project.sql.BUSY_SECONDS", 0.05)
        other.execute("BEGIN EXCLUSIVE")
    capsys.readouterr()
    for arguments in (
        ["run", str(plan), "--out", str(again)],
        ["export", str(out), "--format", "csv", "--out", str(again)],
        ["demo", "--out", str(again)],
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert "audit log" in error
        assert not again.exists()
    for arguments in (["verify", str(out)], ["risk", str(out)]):
        assert main(arguments) == 0
        assert "Note: " in (error := capsys.readouterr().err)
        assert "audit log" in error
    other.close()
