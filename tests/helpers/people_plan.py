"""A small plan over sixty people, and a workbench that has opened it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.core.jobs import CancelToken, Report, StepStarted
from dpdesk.engine.method import Exploration, MethodInput
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.registry import Registry
from dpdesk.io.workspace import Workspace
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.workbench import Workbench
from tests.contract.toy import CommonValues
from tests.helpers.waiting import PATIENCE_SECONDS


class Patient(CommonValues):
    """A method whose search lasts until it is cancelled, or until it is let go."""

    id: ClassVar[str] = "patient"
    title: ClassVar[str] = "Patient"

    def __init__(self) -> None:
        self.entered, self.leave = threading.Event(), threading.Event()

    def explore(self, given: MethodInput, token: CancelToken, report: Report) -> Exploration:
        """Wait first."""
        report(StepStarted("Waiting", 1, 2))
        self.entered.set()
        with token.on_cancel(self.leave.set):
            assert self.leave.wait(PATIENCE_SECONDS)
        self.leave.clear()
        token.check()
        return super().explore(given, token, report)


JOBS = ("cook", "nurse", "tailor", "judge")
PLAN = """
version = 1
[source]
path = "people.csv"
[attributes]
name = { role = "identifier" }
age = { role = "quasi-identifier", hierarchy = { kind = "intervals", widths = [10, 30] } }
sex = { role = "quasi-identifier" }
job = { role = "quasi-identifier" }
[protection]
method = "k-anonymity"
k = 3
max_suppression = 0.1
"""


def write_people(folder: Path) -> Path:
    """Write data and plan into a folder; the path of the plan."""
    lines = ["name,age,sex,job,pay"]
    for n in range(60):
        job = JOBS[0] if n == 0 else JOBS[1 + n % 3]
        lines.append(f"p{n},{20 + n % 40},{'fm'[n % 2]},{job},{100 * n}")
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    plan = folder / "plan.toml"
    plan.write_text(PLAN)
    return plan


@contextmanager
def two_methods(home: Path) -> Iterator[AppContext]:
    """A context with k-anonymity, a second, simple method, and one that waits."""
    workspace = Workspace.open(home)
    registry = Registry((*default_registry(), CommonValues(), Patient()))
    with AppContext(workspace.home, workspace, registry) as context:
        yield context


def open_plan(bench: Workbench, plan: Path, qtbot: QtBot) -> None:
    """Open a plan and wait until its data are loaded and counted."""
    bench.open_path(plan)
    qtbot.waitUntil(lambda: bench.data is not None and not bench.hub.busy)


def bench_at(home: Path, hub: JobHub, qtbot: QtBot) -> Iterator[Workbench]:
    """A workbench of a program with this home, closed at the end."""
    with AppContext.open(home) as context:
        made = Workbench(context, hub)
        yield made
        close_bench(made, hub, qtbot)


def close_bench(bench: Workbench, hub: JobHub, qtbot: QtBot) -> None:
    """Stop everything and close the data."""
    hub.cancel_all()
    qtbot.waitUntil(lambda: not hub.busy)
    bench.close()
