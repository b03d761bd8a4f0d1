"""A search of tables that is asked to end: the best that it has is checked and released."""

from __future__ import annotations

import csv
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpdesk.app.context import AppContext
from dpdesk.app.running import run_plan
from dpdesk.app.verifying import verify_release
from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, Event, Note, StepProgress, silent
from dpdesk.io.canonical import read_canonical
from tests.helpers.waiting import PATIENCE_SECONDS

PLAN = """version = 1
[source]
path = "people.csv"
[protection]
method = "table"
rows = ["a"]
columns = ["b"]
rule = [{ rule = "threshold", n = 4 }]
"""


@pytest.fixture(scope="module")
def context(module_home: Path) -> Iterator[AppContext]:
    with AppContext.open(module_home) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw, made = random.Random(7), tmp_path_factory.mktemp("people")
    with (made / "people.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b"])
        writer.writerows([draw.randrange(14), draw.randrange(12)] for _ in range(1400))
    for protect in ("suppress", "adjust", "controlled-round"):
        more = "base = 5\n" if protect == "controlled-round" else ""
        text = f'{PLAN}protect = "{protect}"\n{more}'
        (made / f"{protect}.toml").write_text(text, "utf-8")
    return made


def verified(context: AppContext, made: Path, source: Path | None) -> bool:
    given = context.registry, CancelToken(), silent, source, context.workspace
    return verify_release(made, *given).ok


def test_it_releases_the_best_protection_so_far_and_says_what_is_proven(
    context: AppContext, folder: Path
) -> None:
    token = CancelToken()
    notes: list[str] = []
    costs: list[str] = []

    def report(event: Event) -> None:
        if isinstance(event, StepProgress) and event.step == "Protect the table":
            costs.append(event.unit)
            token.keep()
        if isinstance(event, Note):
            notes.append(event.code)

    made = run_plan(context, folder / "suppress.toml", folder / "kept", token, report).out
    best = run_plan(context, folder / "suppress.toml", folder / "best", CancelToken(), silent).out
    found, proven = (
        read_canonical(each / "internal" / "evidence.json")["result"] for each in (made, best)
    )

    assert {"table.ended", "table.not-proven"} <= set(notes)
    assert found["proven_optimal"] is False
    assert found["bound"] <= proven["cost"] <= found["cost"]
    assert any(
        f"costs {found['cost']:,} so far; no other costs less than" in each for each in costs
    )
    assert proven["proven_optimal"] is True
    for source in (None, folder / "people.csv"):
        assert verified(context, made, source)


ASKED = """
import os, signal, sys, threading
number = int(sys.argv.pop())
from dpdesk.engine.tables import search
found = search._Search.relax
def relax(self, stop, cuts):
    told = threading.Event()
    with stop.on_cancel(told.set):
        os.kill(os.getpid(), number)
        assert told.wait(60)
    return found(self, stop, cuts)
search._Search.relax = relax
from dpdesk.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 130)])
def test_the_command_line_keeps_the_best_at_an_interrupt_and_nothing_when_it_is_terminated(
    folder: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    out = tmp_path / "release"
    given = ["run", str(folder / "suppress.toml"), "--out", str(out), str(int(number))]
    found = subprocess.run(
        [sys.executable, "-c", ASKED, *given],
        env=os.environ | {"DPDESK_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert found.returncode == code, found.stderr
    assert out.exists() == (code == 0)
    if code:
        assert found.stderr.endswith("Cancelled; nothing was written.\n")
    else:
        assert "The search was asked to end" in found.stderr


def test_a_cancel_while_a_search_runs_leaves_nothing(context: AppContext, folder: Path) -> None:
    token = CancelToken()

    def report(event: Event) -> None:
        if isinstance(event, StepProgress) and event.step == "Protect the table":
            token.cancel()

    with pytest.raises(Cancelled):
        run_plan(context, folder / "suppress.toml", folder / "none", token, report)
    assert not (folder / "none").exists()


@pytest.mark.parametrize("protect", ["adjust", "controlled-round"])
def test_changes_and_roundings_say_what_is_proven_of_them(
    context: AppContext, folder: Path, protect: str
) -> None:
    made = run_plan(context, folder / f"{protect}.toml", folder / protect, CancelToken(), silent)
    found = read_canonical(made.out / "internal" / "evidence.json")["result"]
    cost = found["cost" if protect == "adjust" else "distance"]

    assert found["bound"] <= cost
    assert found["proven_optimal"] is (found["bound"] == cost)
    assert verified(context, made.out, folder / "people.csv")
