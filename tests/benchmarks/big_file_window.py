"""Open a file of five million rows in the real window, and measure how late its event loop gets.

Run ``python -m tests.benchmarks.big_file_window [csv|sav|sas7bdat|parquet] [ROWS]`` from the
checkout; it needs no display. A timer of 10 ms says how late each of its ticks is, per phase:
reading, counting values, scrolling, giving roles. A Parquet file is opened by a plan for a cube of
eight dimensions, which is released at the end. The file lies in a temporary folder and is removed
afterwards. A SAS file is grown from a small one below ``DPDESK_TEST_DATA``. The exit code is 1 when
the 99th percentile of all ticks reaches 50 ms or the process 4 GB (8 GB from 50 million rows on).
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QElapsedTimer, QEventLoop, QObject, Qt, QTimer, Slot

from dpdesk.app.context import AppContext
from dpdesk.ui.application import Application
from dpdesk.ui.desk import Desk
from tests.benchmarks.very_many_rows import HEAD, PLANS
from tests.helpers.memory_settings import MemorySettings

ROWS = 5_000_000
PLAN = ".toml"
TICK_MS = 10
SCROLLS = 300
P99_MS, PEAK_GB = 50.0, 4.0
VERY_MANY, PEAK_OF_VERY_MANY_GB = 50_000_000, 8.0


class Lateness(QObject):
    """Ticks every 10 ms and remembers how late each tick was, in milliseconds, per phase."""

    def __init__(self) -> None:
        super().__init__()
        self.phases: dict[str, list[float]] = {}
        self._phase = ""
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def begin(self, phase: str) -> None:
        """What follows belongs to this phase."""
        self._phase = phase
        self.phases[phase] = []
        self._clock.restart()

    @Slot()
    def _tick(self) -> None:
        late = self._clock.nsecsElapsed() / 1e6 - TICK_MS
        self._clock.restart()
        if self._phase:
            self.phases[self._phase].append(max(0.0, late))


class NoAsker:
    """Asks nobody."""

    def open_file(self, title: str, folder: str, filters: str) -> Path | None:
        return None

    def open_folder(self, title: str, folder: str) -> Path | None:
        return None

    def save_file(
        self, title: str, suggestion: str, filters: str, endings: tuple[str, ...] = ()
    ) -> Path | None:
        return None

    def new_file(self, title: str, suggestion: str, filters: str) -> Path | None:
        return None


class Run(QObject):
    """Waits in the real event loop, never by ``processEvents``."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = QEventLoop(self)
        self._condition: Callable[[], bool] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(20)
        self._timer.timeout.connect(self._look)

    def until(self, condition: Callable[[], bool]) -> float:
        """Run the loop until ``condition`` holds; seconds that it took."""
        began = time.perf_counter()
        self._condition = condition
        self._timer.start()
        self._loop.exec()
        return time.perf_counter() - began

    @Slot()
    def _look(self) -> None:
        if self._condition is not None and self._condition():
            self._timer.stop()
            self._loop.quit()


class Scroller(QObject):
    """Jumps and glides through the rows, one move per 30 ms."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.left = SCROLLS
        self._grid = desk.data.table.grid
        self._timer = QTimer(self)
        self._timer.setInterval(30)
        self._timer.timeout.connect(self._move)
        self._timer.start()

    @Slot()
    def _move(self) -> None:
        bar = self._grid.verticalScrollBar()
        self.left -= 1
        if self.left % 3 == 0:
            bar.setValue((self.left * 7_919_317) % max(1, bar.maximum()))
        else:
            bar.setValue(min(bar.maximum(), bar.value() + 40))
        if self.left <= 0:
            self._timer.stop()


def percentile(values: list[float], share: float) -> float:
    """A percentile of some values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def peak_gb() -> float:
    """Peak resident memory of this process, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def measure(path: Path, home: Path) -> bool:
    """Open, count, scroll; print a line per phase; whether the limits hold."""
    application = Application.start(home, MemorySettings())
    try:
        return in_window(application, path, home)
    finally:
        application.stop()


def in_window(application: Application, path: Path, home: Path) -> bool:
    """As :func:`measure`, in a window of this application."""
    with AppContext.open(home) as context:
        desk = Desk(
            context, application.hub, application.theme, MemorySettings(), NoAsker(), application
        )
        rows = 0
        run, late = Run(), Lateness()
        bench, hub = desk.workbench, application.hub
        application.show(desk.window)
        run.until(application.is_ready)
        late.begin("reading the file")
        desk.open_text(str(path))
        times = {"reading the file": run.until(lambda: bench.data is not None)}
        late.begin("counting values")
        times["counting values"] = run.until(lambda: bench.profile is not None and not hub.busy)
        rows = 0 if bench.data is None else bench.data.rows
        late.begin("scrolling")
        scroller = Scroller(desk)
        times["scrolling"] = run.until(lambda: scroller.left <= 0)
        if path.suffix == PLAN:
            late.begin("releasing")
            bench.write_release(home / "release")
            times["releasing"] = run.until(lambda: bench.release is not None and not hub.busy)
        else:
            late.begin("tagging")
            desk.window.show_panel("attributes")
            desk.attributes.accept_button.click()
            times["tagging"] = run.until(lambda: not hub.busy)
        late.begin("")
        print_results(late, times)
        desk.window.set_unsaved(False)
        desk.window.close()
        run.until(lambda: not hub.busy and not desk.window.isVisible())
        desk.end()
    ticks = [value for name, values in late.phases.items() if name for value in values]
    most = PEAK_GB if rows < VERY_MANY else PEAK_OF_VERY_MANY_GB
    return percentile(ticks, 0.99) < P99_MS and peak_gb() < most


def print_results(late: Lateness, times: dict[str, float]) -> None:
    """One line per phase, and the peak."""
    for name, seconds in times.items():
        values = late.phases[name]
        shown = " / ".join(f"{percentile(values, share):.1f}" for share in (0.5, 0.99, 1.0))
        print(f"{name:<18} {seconds:7.2f} s   late p50/p99/max {shown} ms", flush=True)
    print(f"peak memory {peak_gb():.2f} GB", flush=True)


def make(kind: str, folder: Path, rows: int) -> Path:
    """Make the file in a process of its own; the file to open."""
    path = folder / f"people.{kind}"
    if kind != "parquet":
        subprocess.run(maker(kind, path, rows), check=True)
        return path
    code = "import sys, pathlib; from tests.benchmarks.very_many_rows import write_people as write"
    code += "; write(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
    subprocess.run([sys.executable, "-c", code, str(path), str(rows)], check=True)
    plan = path.with_suffix(PLAN)
    plan.write_text(HEAD + PLANS["cube"], "utf-8")
    return plan


def maker(kind: str, path: Path, rows: int) -> list[str]:
    """The command that makes the file."""
    script = Path(__file__).parent / "reading"
    if kind == "sas7bdat":
        data = Path(os.environ["DPDESK_TEST_DATA"]) / "statfiles"
        sample = next(data.rglob("sample.sas7bdat"))
        return [sys.executable, str(script / "make_sas.py"), str(sample), str(path), str(rows)]
    return [sys.executable, str(script / f"make_{kind}.py"), str(path), str(rows)]


def main(kind: str, rows: int) -> int:
    """Make the file, then measure."""
    with tempfile.TemporaryDirectory(prefix="dpdesk-bench-") as folder:
        path = make(kind, Path(folder), rows)
        size = path.with_suffix(f".{kind}").stat().st_size
        print(f"{rows:,} rows, {size / 1e6:,.0f} MB", flush=True)
        home = Path(folder) / "home"
        home.mkdir()
        return 0 if measure(path, home) else 1


if __name__ == "__main__":
    given = sys.argv[1:]
    chosen = given.pop(0) if given and not given[0].isdigit() else "csv"
    sys.exit(main(chosen, int(given[0]) if given else ROWS))
