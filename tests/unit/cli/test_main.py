from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from dpdesk.cli.commands import RunningCommand
from dpdesk.cli.main import main
from dpdesk.cli.printing import Outcome
from dpdesk.core.errors import Cancelled, InputError, RefusedError
from dpdesk.core.jobs import CancelToken


def outcome_of(monkeypatch: pytest.MonkeyPatch, outcome: Outcome | BaseException) -> None:
    def run(command: RunningCommand, token: CancelToken) -> Outcome:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(RunningCommand, "__call__", run)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x", "plan.toml: `k` is 1.", hint="Use 2."), 2),
        (RefusedError("x", "No setting reaches k = 5."), 1),
        (Cancelled(), 130),
    ],
)
def test_an_error_is_one_last_line_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: InputError | RefusedError | Cancelled,
    code: int,
) -> None:
    outcome_of(monkeypatch, error)
    assert main(["verify", "x"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == error.line + "\n"


def test_a_fault_of_the_program_is_one_line_and_a_report_without_data(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    private_home: Path,
) -> None:
    outcome_of(monkeypatch, KeyError("Ada Lovelace, 1815"))
    assert main(["verify", "x"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "KeyError" in err
    (report,) = (private_home / "crashes").iterdir()
    assert str(report) in err
    text = report.read_text()
    assert "test_main.py" in text
    assert "Lovelace" not in text + err
    assert report.stat().st_mode & 0o077 == 0


def test_a_full_disk_is_told_as_such(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome_of(monkeypatch, OSError(28, "No space left on device", "/out/x"))
    assert main(["verify", "x"]) == 2
    assert capsys.readouterr().err == (
        "/out/x: A file could not be read or written (the disk is full).\n"
    )


def test_too_little_memory_is_told_as_such(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], private_home: Path
) -> None:
    outcome_of(monkeypatch, MemoryError())
    assert main(["verify", "x"]) == 2
    assert "memory" in capsys.readouterr().err
    assert not (private_home / "crashes").exists()


def test_json_is_the_last_line_of_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome_of(monkeypatch, Outcome("text\n", {"ok": False, "é": [1]}, 1, ("a: b", "Sentence.")))
    assert main(["verify", "x", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[-1]) == {"ok": False, "é": [1]}
    assert err.splitlines() == ["a: b", "Sentence."]


def test_without_json_people_get_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome_of(monkeypatch, Outcome("text\n", {"ok": True}))
    assert main(["verify", "x"]) == 0
    assert capsys.readouterr().out == "text\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_no_value_acts_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "a\tb\x1b[31m\u202ec\n"
    outcome_of(monkeypatch, Outcome(text, code=1, complaints=("é\x07\u2067 \x9b1m",)))
    assert main(["verify", "x"]) == 1
    out, err = capsys.readouterr()
    assert out == text  # a file or another program gets what there is
    assert err == "é\\x07\\u2067 \\x9b1m\n"
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    main(["verify", "x"])
    assert terminal.getvalue() == "a\tb\\x1b[31m\\u202ec\n"


class Full(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize(("kept", "code"), [(True, 0), (False, 2)])
def test_output_that_cannot_be_written_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kept: bool, code: int
) -> None:
    outcome_of(monkeypatch, Outcome("text\n", kept=kept))
    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["verify", "x"]) == code
    assert capsys.readouterr().err == (
        "The output could not be written: No space left on device.\n"
    )


def test_the_window_is_opened_by_whoever_started_the_command_line(tmp_path: Path) -> None:
    opened: list[Path | None] = []

    def open_window(path: Path | None) -> int:
        opened.append(path)
        return 0

    assert main([], open_window) == 0
    assert main(["open", str(tmp_path)], open_window) == 0
    assert opened == [None, tmp_path]


def test_opening_what_is_not_there_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["open", str(tmp_path / "gone.csv")], lambda path: 0) == 2
    assert "gone.csv: there is no such file" in capsys.readouterr().err
