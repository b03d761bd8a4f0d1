from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpdesk.cli.arguments import COMMANDS, parse
from dpdesk.core.errors import InputError


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rnu"], "did you mean `run`?"),
        (["run"], "required: PLAN, --out"),
        (["run", "plan.toml"], "required: --out"),
        (["run", "plan.toml", "--uot", "x"], "--out"),
        (["export", "d", "--format", "pdf", "--out", "x"], "pdf"),
        (["--frobnicate"], "--frobnicate"),
        (["verify"], "DIR"),
        (["run", "p", "--out", "o", "--seed", "1"], "--seed"),
        (["run", "p", "--ou", "o"], "--out"),
        (
            ["run", "p", "--out", "file:///tmp/x"],
            "file:///tmp/x: this is an address, expected",
        ),
        (["demo", "--out", "FILE:x"], "is an address"),
        (["buy", "p", "--table", "a", "--epsilon", "1", "--out", "smb://host/x"], "is an address"),
        (["export", "d", "--format", "csv", "--out", "https://host/x"], "is an address"),
        (["ledger", "export", "--out", "file:/tmp/l.csv"], "is an address"),
        (["review", "pack", "d", "--out", "file:///p.pdf"], "is an address"),
        (["verify", "file:///tmp/x"], "is an address"),
    ],
)
def test_bad_usage_is_one_sentence(arguments: list[str], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        parse(arguments)
    assert error.value.exit_code == 2
    assert sentence in error.value.line
    assert "\n" not in error.value.line


def test_a_file_in_place_of_a_command_is_told_how_to_open_it(tmp_path: Path) -> None:
    path = tmp_path / "zzzz.csv"
    path.write_text("")
    with pytest.raises(InputError, match="unknown command") as error:
        parse([str(path)])
    assert "dpdesk open" in error.value.line


def test_every_command_stands_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    shown = capsys.readouterr().out.splitlines()
    first = [line.split()[0] for line in shown if line.startswith("    ") and line[4:5].strip()]
    assert [name for name in COMMANDS if name in first] == list(COMMANDS)


def test_the_start_is_light_and_knows_no_toolkit() -> None:
    code = (
        "import sys; from dpdesk.cli import early; from dpdesk.__main__ import main;"
        "early.leave = lambda code: None; sys.argv = ['dpdesk', '--version']; main();"
        "print([name for name in sys.modules if name.split('.')[0] in"
        " ('PySide6', 'pyqtgraph', 'numpy', 'numba', 'duckdb', 'pyarrow', 'jinja2')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["dpdesk 0.1.0", "[]"]


def test_the_command_line_and_the_use_cases_load_no_toolkit() -> None:
    code = (
        "import sys, pkgutil, importlib, dpdesk.app, dpdesk.cli\n"
        "for package in (dpdesk.app, dpdesk.cli):\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(found.name)\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('PySide6', 'pyqtgraph')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "order", ["D a b --passphrase-file F", "D --passphrase-file F a b", "--passphrase-file F D a b"]
)
def test_copies_to_merge_may_stand_before_and_behind_options(order: str) -> None:
    found = parse(["review", "merge", *order.split()])
    assert found.release == Path("D")
    assert found.copies == [Path("a"), Path("b")]
    assert found.passphrase_file == Path("F")


def test_merging_without_a_folder_asks_for_it_alone() -> None:
    with pytest.raises(InputError, match=r"required: DIR\.$"):
        parse(["review", "merge"])
    assert parse(["review", "merge", "D"]).copies == []


@pytest.mark.parametrize("path", ["file", "./file:/x", "C:/x", "c:\\x", "a:b/c", "/x/file:///y"])
def test_a_path_that_only_looks_like_an_address_is_taken(path: str) -> None:
    assert parse(["run", "p", "--out", path]).out == Path(path)
