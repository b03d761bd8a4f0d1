"""How late the event loop of the real window is while it works, from its start to an export.

A timer is due every 10 ms; what it comes later is what a person feels. The last column is the most
processor time that the main thread itself took between two ticks: what a lateness would be without
other work on the machine. Run
``DPDESK_TEST_DATA=… python -m tests.benchmarks.window_lateness`` from the checkout; it needs no
display, ends with 1 when a limit is broken (99 of 100 ticks less than 50 ms late, all less than
100 ms; the start is shown but not judged), and uses the nine quasi-identifiers of ``arx-adult``
(12,960 combinations of levels). Then it plans a cube of eight of them (93 tables) with the optimal
planner, changes ε, releases, verifies and browses it (``--cube``: that alone), and goes through all
steps of each plan of the sample, one of each method (``--plans``: that alone).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QObject, Qt, QTimer

from dpdesk.app.context import AppContext
from dpdesk.app.demo import sample_folder
from dpdesk.app.querying import reads_rows
from dpdesk.app.types import SetHierarchies, SetParameters, SetRoles
from dpdesk.core.plan import HierarchyFile
from dpdesk.core.schema import Role
from dpdesk.ui.application import Application
from dpdesk.ui.desk import Desk
from tests.helpers.asking import ScriptedAsker
from tests.helpers.events import wait_until
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.pinned import pin

TICK_MS, LIMIT_MS, MOST_MS = 10, 50.0, 100.0
LIMITED = ("opening", "tagging", "exploring", "comparing", "releasing", "exporting")
LIMITED_CUBE = tuple(
    f"cube: {phase}" for phase in ("opening", "planning", "releasing", "verifying", "browsing")
)
LIMITED_PLANS = tuple(
    f"plans: {phase}"
    for phase in ("opening", "steps", "protecting", "releasing", "exporting", "browsing")
)
DIMENSIONS = ("age", "education", "marital-status", "occupation", "race", "workclass", "sex")
CUBE = """version = 1
[source]
path = "adult.csv"
[attributes]
{attributes}
[protection]
method = "dp-cube"
dimensions = [{dimensions}]
levels = {{ age = 2 }}
publish = {{ max_dimensions = 3 }}
planner = "{planner}"
epsilon = 1
[budget]
population = "adults"
"""
NAMES = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)


class Lateness(QObject):
    """Notes how late each tick comes, in ms."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self.own = 0.0
        self._due = self._worked = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._on_tick)

    def measure(self, act: Callable[[], object], done: Callable[[], bool]) -> list[float]:
        """Ticks from ``act`` until ``done``; ``own`` is then the most work between two ticks."""
        self.late, self._due = [], time.perf_counter() + TICK_MS / 1_000
        self.own, self._worked = 0.0, time.thread_time()
        self._timer.start()
        act()
        wait_until(done, 300)
        self._timer.stop()
        return self.late

    def _on_tick(self) -> None:
        now = time.perf_counter()
        self.late.append(max(0.0, (now - self._due) * 1_000))
        self._due = now + TICK_MS / 1_000
        worked = time.thread_time()
        self.own, self._worked = max(self.own, (worked - self._worked) * 1_000), worked


def at(late: list[float], share: float) -> float:
    """A quantile; 0 when the work was done before a tick was due."""
    ordered = sorted(late) or [0.0]
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report(what: str, late: list[float], seconds: float, own: float) -> bool:
    """Print a line; whether the limits hold."""
    p99 = at(late, 0.99)
    print(
        f"{what:<34} {seconds:7.2f} s   p50 {at(late, 0.5):6.1f} ms   p99 {p99:6.1f} ms   "
        f"max {at(late, 1):6.1f} ms   {len(late):5d} ticks   own {own:5.1f} ms"
    )
    return p99 < LIMIT_MS and at(late, 1) < MOST_MS


def always() -> bool:
    """Nothing to wait for but the work itself."""
    return True


def cube_plan(folder: Path, planner: str) -> Path:
    """A plan of a cube over the table; its categories come from the hierarchy files."""
    names = (*DIMENSIONS, "salary-class")
    attributes = "\n".join(
        f'{name} = {{ role = "quasi-identifier", hierarchy = "adult_hierarchy_{name}.csv" }}'
        for name in names
    )
    dimensions = ", ".join(f'"{name}"' for name in names)
    path = folder / f"{planner}.toml"
    path.write_text(
        CUBE.format(attributes=attributes, dimensions=dimensions, planner=planner), "utf-8"
    )
    return path


def cube_steps(desk: Desk, folder: Path, step: Callable[..., None]) -> None:
    """Plan, change, release and verify a cube."""
    bench, show = desk.workbench, desk.window.show_panel
    for planner in ("bmax", "optimal"):
        path = cube_plan(folder, planner)
        step(
            "cube: opening", f"open the plan, {planner}",
            lambda path=path: bench.open_path(path),
            lambda path=path: bench.plan_path == path and bool(bench.profile),
        )  # fmt: skip
        step(
            "cube: planning", f"plan 93 tables, {planner}", lambda: show("protect"),
            lambda: bench.explored is not None and not bench.stale,
        )  # fmt: skip
    for percent in range(50, 60):
        edit = SetParameters({"epsilon": Fraction(percent, 100)})
        step(
            "cube: planning", f"ε = {percent} %",
            lambda edit=edit: bench.apply(edit, merge=True), lambda: not bench.stale,
        )  # fmt: skip
    out = folder / "tables"
    step("cube: releasing", "look at it before", lambda: show("review"))
    step(
        "cube: releasing", "draw and write", lambda: bench.write_release(out),
        lambda: bench.release is not None and bench.release_path == out,
    )  # fmt: skip
    step("cube: verifying", "verify", bench.verify_again)
    step(
        "cube: verifying",
        "verify with the source",
        lambda: bench.verify_again(folder / "adult.csv"),
    )
    step("cube: browsing", "open the browser", lambda: desk.beside.show_browser(out))
    desk.beside.browser.close()


def plan_steps(desk: Desk, plan: Path, out: Path, step: Callable[..., None]) -> None:
    """All steps of a plan, its release, exports, and a look at what was released."""
    bench, show, name = desk.workbench, desk.window.show_panel, plan.stem
    pin(plan)

    def do(
        phase: str, what: str, act: Callable[[], object], done: Callable[[], bool] = always
    ) -> None:
        step(f"plans: {phase}", f"{name}: {what}", act, done)

    do("opening", "open", lambda: bench.open_path(plan), lambda: bench.plan_path == plan)
    do("steps", "attributes", lambda: show("attributes"))
    do("steps", "hierarchies", lambda: show("hierarchies"))
    do("protecting", "protect", lambda: show("protect"), lambda: not bench.stale)
    do("steps", "keep", bench.keep_candidate)
    do("steps", "compare", lambda: show("compare"))
    do("releasing", "preview", lambda: show("review"))
    do("releasing", "write", lambda: bench.write_release(out), lambda: bench.release_path == out)
    for form in ("csv", "xlsx"):
        do("exporting", form, partial(bench.export, form, out.with_suffix(f".{form}")))
    do("browsing", "look at it", lambda: desk.beside.show_browser(out))
    beside = desk.beside
    (beside.asker if reads_rows(out) else beside.browser).close()
    do("steps", "data", lambda: show("data"))


def all_plans(desk: Desk, folder: Path, step: Callable[..., None]) -> None:
    """Go through each plan of the sample."""
    sample = folder.parent / "sample"
    with sample_folder() as given:
        shutil.copytree(given, sample)
    for plan in sorted((sample / "plans").glob("*.toml")):
        plan_steps(desk, plan, folder.parent / f"of-{plan.stem}", step)


def measured(application: Application, desk: Desk, folder: Path) -> bool:
    """All measurements; whether all keep the limits."""
    bench, window, hub = desk.workbench, desk.window, desk.workbench.hub
    meter = Lateness()
    phases: dict[str, list[float]] = {}
    own: dict[str, float] = {}

    def step(
        phase: str, what: str, act: Callable[[], object], done: Callable[[], bool] = always
    ) -> None:
        began = time.perf_counter()
        late = meter.measure(act, lambda: done() and not hub.busy and not desk.protect.busy)
        report(f"  {what}", late, time.perf_counter() - began, meter.own)
        phases.setdefault(phase, []).extend(late)
        own[phase] = max(own.get(phase, 0.0), meter.own)

    show, data = window.show_panel, str(folder / "adult.csv")
    step("starting", "show and get ready", lambda: application.show(window), application.is_ready)
    if {"--cube", "--plans"} & {*sys.argv}:
        if "--cube" in sys.argv:
            cube_steps(desk, folder, step)
        if "--plans" in sys.argv:
            all_plans(desk, folder, step)
        return summary(phases, own)
    step("opening", "open and count", lambda: desk.open_text(data), lambda: bool(bench.profile))
    files = {name: HierarchyFile(f"adult_hierarchy_{name}.csv") for name in NAMES}
    step("tagging", "attributes", lambda: show("attributes"))
    roles = SetRoles(dict.fromkeys(NAMES, Role.QUASI_IDENTIFIER))
    step("tagging", "roles", lambda: bench.apply(roles))
    step("tagging", "hierarchies", lambda: show("hierarchies"))
    step("tagging", "hierarchy files", lambda: bench.apply(SetHierarchies(files)))
    step("exploring", "search", lambda: show("protect"), lambda: bench.explored is not None)
    for k in range(6, 60):
        edit = SetParameters({"k": k})
        step("exploring", f"k = {k}", partial(bench.apply, edit, merge=True))
    step("comparing", "keep", bench.keep_candidate, lambda: len(bench.candidates) == 1)
    step("comparing", "compare", lambda: show("compare"))
    step("releasing", "preview", lambda: show("review"))
    out = folder / "release"
    step("releasing", "write", lambda: bench.write_release(out), lambda: bool(bench.release))
    for form in ("csv", "parquet", "xlsx"):
        target = folder / f"given.{form}"
        act = partial(bench.export, form, target)
        step("exporting", form, act, target.exists)
    cube_steps(desk, folder, step)
    all_plans(desk, folder, step)
    return summary(phases, own)


def summary(phases: dict[str, list[float]], own: dict[str, float]) -> bool:
    """A line for each phase; whether those that are judged keep the limits."""
    print()
    good = {
        phase: report(phase, late, len(late) / 100, own[phase]) for phase, late in phases.items()
    }
    return all(good[phase] for phase in (*LIMITED, *LIMITED_CUBE, *LIMITED_PLANS) if phase in good)


def judged(application: Application, home: Path, folder: Path) -> bool:
    """Open the window, measure, close it; whether all keeps the limits."""
    hub, theme = application.hub, application.theme
    with AppContext.open(home) as context:
        desk = Desk(context, hub, theme, MemorySettings(), ScriptedAsker(), application)
        good = measured(application, desk, folder)
        desk.window.set_unsaved(False)
        desk.window.close()
        wait_until(lambda: not hub.busy and not desk.window.isVisible())
        desk.end()
    return good


def main() -> int:
    """Measure in a window of its own home."""
    source = Path(os.environ["DPDESK_TEST_DATA"]) / "arx-adult"
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name) / "adult", Path(name) / "home"
        shutil.copytree(source, folder)
        application = Application.start(home, MemorySettings())
        good = judged(application, home, folder)
        application.stop()
    limits = f"{LIMIT_MS:g} ms for 99 of 100 ticks, {MOST_MS:g} ms for all"
    print("the limits hold" if good else f"a phase broke a limit: {limits}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
