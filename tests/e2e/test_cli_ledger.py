"""``dpdesk ledger``: show, limit, check, export, begin; exit codes and last lines."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpdesk.cli.main import main
from dpdesk.project.audit import AuditLog
from dpdesk.project.ledger import Outcome, Witness
from tests.helpers.cubes import people, write_plan, write_register
from tests.helpers.debits import SOURCE, ask, open_here


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of ``dpdesk ledger …``."""
    code = main(["ledger", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON object that ``--json`` gives."""
    code, out, _ = said(capsys, *arguments, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def spend(path: Path) -> None:
    with open_here(path, witness=Witness.here()) as ledger:
        ledger.debit(ask("0.75"))
        failed = ledger.debit(ask("0.5"))
        ledger.settle(failed, Outcome.FAILED, reason="the disk was full")
        ledger.debit(ask("0.25", population=""))


def test_before_anything_is_spent_there_is_nothing_to_show(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = said(capsys, "show")
    assert code == 0
    assert out.startswith("Nothing has been spent")
    assert not (private_home / "ledger.sqlite").exists()


def test_what_was_spent_is_shown_with_what_is_left(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spend(private_home / "ledger.sqlite")
    code, out, _ = said(
        capsys, "limit", "--population", "residents", "--epsilon", "2", "--reason", "the board"
    )
    assert code == 0
    assert "the limit is now ε = 2" in out
    code, out, _ = said(capsys, "show")
    assert code == 0
    assert "spent   ε = 1.5 (3 debits" in out
    assert "limit   ε = 2, left ε = 0.5" in out
    assert "spent, outcome unknown" in out
    assert "failed: the disk was full" in out
    assert f"The source {SOURCE[:12]} (no population named)" in out
    found = told(capsys, "show", "--population", "Residents", "--delta", "1e-9")
    (account,) = found["accounts"]
    assert account["spent"]["exact"]["epsilon"] == "3/2"
    assert account["left"] == {"kind": "pure", "epsilon": "1/2"}
    assert account["tight_epsilon"] <= account["advanced_epsilon"]
    assert account["advanced_epsilon"] <= account["simple_epsilon"] == 1.5
    assert [debit["outcome"] for debit in account["debits"]] == ["unknown", "failed", "unknown"]
    assert found["delta"] == 1e-9


def test_figures_are_told_rounded_up_so_that_they_stay_upper_bounds(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_here(private_home / "ledger.sqlite") as ledger:
        for _ in range(40):
            ledger.debit(ask("0.1"))
    _, out, _ = said(capsys, "show")
    shown = float(out.partition("tight ε = ")[2].split()[0])
    (account,) = told(capsys, "show")["accounts"]
    assert account["tight_epsilon"] <= shown <= account["tight_epsilon"] * 1.001
    assert "… and 10 before" in out


def test_a_limit_is_taken_away_and_set_in_every_kind(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for given, limit in (
        (["--rho", "0.5"], {"kind": "zcdp", "rho": "1/2"}),
        (
            ["--epsilon", "1", "--delta", "1e-6"],
            {"kind": "approximate", "epsilon": "1", "delta": "1/1000000"},
        ),
        (["--none"], None),
    ):
        given = ["--population", "p", *given, "--reason", "the board"]
        assert told(capsys, "limit", *given)["limit"] == limit
        (account,) = told(capsys, "show", "--population", "p")["accounts"]
        assert account["limit"] == limit


@pytest.mark.parametrize(
    ("arguments", "said_last"),
    [
        (["limit", "--population", "p", "--epsilon", "much"], "expected a number of 0 or more"),
        (["limit", "--population", "p", "--epsilon", "-1"], "expected a number of 0 or more"),
        (["limit", "--population", "p", "--rho", "1", "--delta", "0.1"], "`--delta` stands beside"),
        (["limit", "--population", "p", "--epsilon", "1", "--delta", "1"], "less than 1"),
        (["limit", "--population", "p"], "One of the arguments"),
        (["limit", "--source", "abc", "--none"], "content hash"),
        (["show", "--delta", "0"], "δ must lie between 0 and 1"),
        (["show", "--population", "nobody", "--ledger", "gone.sqlite"], "there is no such ledger"),
        (["check"], "there is no such ledger"),
        (["export", "--out", "x.txt"], "expected `.csv` or `.json`"),
        (["begin"], "--reason"),
        ([], "required"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line_with_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said_last: str
) -> None:
    code, out, error = said(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said_last in error.splitlines()[-1]


def test_a_limit_is_raised_with_a_reason_only(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["limit", "--population", "p", "--epsilon"]
    assert told(capsys, *given, "1")["limit"] == {"kind": "pure", "epsilon": "1"}
    with AuditLog.open_home(private_home) as log:
        before = len(log.entries())
        code, out, error = said(capsys, *given, "2")
        assert (code, out) == (2, "")
        assert "raising it, changing its kind or removing it needs a reason" in error
        assert len(log.entries()) == before
        assert told(capsys, *given, "2", "--reason", "decided in May")["left"] is not None
        assert log.entries()[-1].facts["reason"] == "decided in May"
    assert told(capsys, *given, "0.5")["limit"] == {"kind": "pure", "epsilon": "1/2"}


def test_check_finds_a_changed_entry_and_says_so_with_exit_code_1(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = private_home / "ledger.sqlite"
    spend(path)
    code, out, _ = said(capsys, "check")
    assert code == 0
    assert "5 entries; each has its own hash" in out
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER entries_no_change")
        connection.execute("UPDATE entries SET body = replace(body, '3/4', '1/4')")
        connection.commit()
    code, _, error = said(capsys, "check")
    assert code == 1
    assert error.splitlines()[-1] == (
        f"{path}: the ledger is broken at entry 2: what the entry says was changed."
    )
    code, out, error = said(capsys, "show")
    assert (code, out) == (2, "")
    assert "broken at entry 2" in error


def test_entries_are_exported_whole(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.sqlite"
    spend(path)
    for suffix in ("csv", "json"):
        out = tmp_path / f"out.{suffix}"
        found = told(capsys, "export", "--ledger", str(path), "--out", str(out))
        assert found == {"out": str(out), "entries": 5}
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    exported = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [row["hash"] for row in rows] == [entry["hash"] for entry in exported["entries"]]
    assert exported["head"] == rows[-1]["hash"]
    assert Fraction(exported["entries"][1]["body"]["cost"]["epsilon"]) == Fraction("0.75")
    code, _, error = said(capsys, "export", "--ledger", str(path), "--out", str(out))
    assert code == 2
    assert "already exists" in error


def spender(folder: Path, name: str, budget: str, rows: int = 60) -> Path:
    """A plan of a cube with ε = 1 over a register of its own in ``folder``."""
    return write_plan(write_register(folder, people(rows), f"{name}.csv"), f"{name}.toml", budget)


def test_the_limit_of_one_plan_binds_others_and_a_restored_home_spends_nothing(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(plan: Path, out: str) -> tuple[int, str]:
        code = main(["run", str(plan), "--out", str(tmp_path / out)])
        return code, capsys.readouterr().err

    limited = spender(tmp_path, "limited", "limit = 2.5")
    free = spender(tmp_path, "free", "", rows=61)
    greedy = spender(tmp_path, "greedy", "limit = 9.0", rows=62)
    assert run(limited, "one")[0] == 0
    backup = tmp_path / "backup"
    shutil.copytree(private_home, backup)
    assert run(free, "two")[0] == 0
    for plan in (free, greedy, limited):
        code, error = run(plan, "three")
        assert code == 1
        assert "limit ε = 2.5 (set by an earlier plan)" in error
    assert not (tmp_path / "three").exists()
    shutil.rmtree(private_home)
    shutil.copytree(backup, private_home)
    code, error = run(free, "three")
    assert code == 2
    assert "an old copy that was put back" in error.splitlines()[-1]
    assert not (tmp_path / "three").exists()
    assert said(capsys, "show")[0] == 2
    assert said(capsys, "check")[0] == 1
    found = told(capsys, "restore", "--reason", "a backup was put back")
    assert (found["debits"], found["entries"]) == (1, 2)
    (account,) = told(capsys, "show")["accounts"]
    assert account["spent"]["epsilon"] == 2
    assert account["limits"][0]["by_plan"] is True
    assert run(free, "three")[0] == 1
    evidence = json.loads((tmp_path / "two/internal/evidence.json").read_text("utf-8"))
    assert evidence["budget"]["head"]["ledger"] == found["id"]


def test_without_a_limit_one_file_under_two_names_is_warned_of(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write_plan(write_register(tmp_path, people(60)), "first.toml", "")
    other = first.with_name("other.toml")
    text = first.read_text("utf-8").replace('"register"', '"tax payers"')
    other.write_text(text, "utf-8")
    warning = "The same data were also debited to the population “register”: ε = 1"
    assert main(["run", str(first), "--out", str(tmp_path / "one")]) == 0
    assert warning not in capsys.readouterr().err
    assert main(["run", str(other), "--out", str(tmp_path / "two")]) == 0
    assert warning in capsys.readouterr().err
    evidence = json.loads((tmp_path / "two/internal/evidence.json").read_text("utf-8"))
    assert [one for one in evidence["recorded_notes"] if one.startswith(warning)]
    assert "tax payers" in (tmp_path / "two/internal/report.html").read_text("utf-8")
    assert main(["verify", str(tmp_path / "two")]) == 0
    capsys.readouterr()
    code, out, _ = said(capsys, "show")
    assert code == 0
    assert "The same data were also debited to the population “tax payers”" in " ".join(out.split())
    assert [one["spent"]["epsilon"] for one in told(capsys, "show")["accounts"]] == [1, 1]


def test_another_name_spends_no_more_than_the_limit_of_the_same_people_until_declared(
    tmp_path: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(plan: Path, out: str) -> tuple[int, str]:
        code = main(["run", str(plan), "--out", str(tmp_path / out)])
        return code, capsys.readouterr().err

    rows = people(60)
    first = write_plan(write_register(tmp_path, rows), "first.toml", "limit = 1.5")
    assert run(first, "one")[0] == 0
    # The same rows in another order and with other line ends: another file with the same data.
    copied = write_register(tmp_path, list(reversed(rows)), "sorted.csv")
    copied.write_bytes(copied.read_bytes().replace(b"\n", b"\r\n"))
    other = write_plan(copied, "other.toml")
    other.write_text(other.read_text("utf-8").replace('"register"', '"tax payers"'), "utf-8")
    for given in (first, other):
        plan = given.with_name("again.toml")
        text = given.read_text("utf-8").replace('population = "register"', 'population = "towns"')
        plan.write_text(text.replace("limit = 1.5", ""), "utf-8")
        code, error = run(plan, "two")
        assert code == 1
        assert "the same data were debited to the population “register”" in error.splitlines()[-1]
        assert "the limit ε = 1.5 (set by an earlier plan)" in error.splitlines()[-1]
    assert run(other, "two")[0] == 1
    assert not (tmp_path / "two").exists()
    people_are = ["people", "--population", "Register", "--other", "tax payers"]
    code, _, error = said(capsys, *people_are, "--same", "--reason", " ")
    assert code == 2
    assert "needs a reason" in error
    found = told(capsys, *people_are, "--same", "--reason", "one and the same register")
    assert found["same"] is True
    code, error = run(other, "two")
    assert code == 1
    assert "spent ε = 1, requested ε = 1, limit ε = 1.5 (set by an earlier plan)" in error
    with AuditLog.open_home(private_home) as log:
        (entry,) = log.entries_of("declared who people are")
        assert entry.facts["reason"] == "one and the same register"
    code, out, _ = said(capsys, "show")
    assert "“Register”: the same people as “tax payers”" in out
    told(capsys, *people_are, "--different", "--reason", "two towns, by chance alike")
    assert run(other, "two")[0] == 0
    spent = [account["spent"]["epsilon"] for account in told(capsys, "show")["accounts"]]
    assert spent == [1, 1]


@pytest.mark.parametrize("home_too", [False, True])
def test_a_copy_of_a_ledger_is_told_before_it_is_spent_from(
    tmp_path: Path,
    private_home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    home_too: bool,
) -> None:
    first = spender(tmp_path, "first", "")
    assert main(["run", str(first), "--out", str(tmp_path / "one")]) == 0
    assert "as well: one is a copy" not in capsys.readouterr().err
    original = private_home / "ledger.sqlite"
    shutil.copy(original, first.parent / "elsewhere.sqlite")
    if home_too:
        shutil.copytree(private_home, tmp_path / "copied home")
        monkeypatch.setenv("DPDESK_HOME", str(tmp_path / "copied home"))
    other = spender(tmp_path, "second", 'ledger = "elsewhere.sqlite"')

    assert main(["run", str(other), "--out", str(tmp_path / "two")]) == 0
    warned = " ".join(capsys.readouterr().err.split())
    assert "this ledger lies in" in warned
    assert str(original) in warned
    monkeypatch.setenv("DPDESK_HOME", str(private_home))
    assert main(["run", str(first), "--out", str(tmp_path / "three")]) == 2
    assert "an old copy that was put back" in capsys.readouterr().err
