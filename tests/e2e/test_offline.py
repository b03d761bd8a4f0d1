"""No internet socket is opened: the kernel ends each process that asks for one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.no_network import can_forbid
from tests.helpers.releases import write_source
from tests.helpers.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
PLANS = ROOT / "resources" / "sample" / "plans"

pytestmark = pytest.mark.skipif(not can_forbid(), reason="needs Linux on x86_64 or aarch64")


def _without(home: Path, code: str) -> subprocess.CompletedProcess[str]:
    forbid = "from tests.helpers.no_network import forbid; forbid()"
    return subprocess.run(
        [sys.executable, "-c", f"{forbid}\n{code}"], cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "DPDESK_HOME": str(home)},
        capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
    )  # fmt: skip


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_the_filter_ends_what_asks_for_the_internet(tmp_path: Path, family: str) -> None:
    done = _without(tmp_path, f"import socket; socket.socket(socket.{family}); print('open')")
    assert (done.returncode, done.stdout) == (-signal.SIGSYS, "")


@pytest.mark.parametrize(
    ("plan", "form"), [("public-use-file", "csvw"), ("private-tables", "sdmx-csv")]
)
def test_commands_need_no_internet(
    tmp_path: Path, private_home: Path, plan: str, form: str
) -> None:
    out, source = tmp_path / "release", PLANS.parent / "population.csv"
    asked = [
        ["inspect", source],
        ["run", PLANS / f"{plan}.toml", "--out", out],
        ["verify", out, "--source", source],
        ["risk", out],
        ["query", out, "--by", "sex"],
        ["export", out, "--format", form, "--out", tmp_path / "copy"],
        ["ledger", "show"],
        ["review", "audit"],
    ]
    commands = [[str(word) for word in command] for command in asked]
    code = f"from dpdesk.cli.main import main\nfor c in {commands!r}: assert main(c) == 0, c"
    done = _without(private_home, code)
    assert done.returncode == 0, done.stderr


def test_the_window_needs_no_internet(tmp_path: Path, private_home: Path) -> None:
    plan, out = str(write_source(tmp_path / "work")), tmp_path / "release"
    code = f"from tests.helpers.window_script import main; main('quit', {plan!r}, {str(out)!r})"
    done = _without(private_home, code)
    assert (done.returncode, done.stdout.split()) == (0, ["released"]), done.stderr
    assert (out / "internal" / "report.pdf").is_file()
