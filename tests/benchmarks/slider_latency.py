"""How long a move of a slider takes until the chart that follows it has been painted.

Run ``python -m tests.benchmarks.slider_latency`` from the checkout with DPDESK_TEST_DATA set; it
needs no display. Opens the arx-adult table with all nine quasi-identifiers (12,960 nodes), shows
the protect panel, and moves the sliders for k and suppression through many positions, back and
forth. Prints, in milliseconds, the median, the 99th percentile and the longest

- from the move to the end of the paint that shows it,
- of making the view alone (``explored.view``),
- of the longest time that the event loop stood still.

The processor time of each move, all threads together, is printed too: it says what a computer with
nothing else to do would need at most.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QSlider

from dpdesk.app.context import AppContext
from dpdesk.ui.forms.fields import NumberField
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench

ATTRIBUTES = (
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
_LIMIT_SECONDS = 120.0


def plan_text(folder: Path) -> str:
    """A plan over arx-adult with all columns as quasi-identifiers."""
    lines = ["version = 1", "[source]", f'path = "{folder / "adult.csv"}"', "[attributes]"]
    for name in ATTRIBUTES:
        tree = folder / f"adult_hierarchy_{name}.csv"
        lines.append(f'{name} = {{ role = "quasi-identifier", hierarchy = "{tree}" }}')
    lines += ["[protection]", 'method = "k-anonymity"', "k = 5", "max_suppression = 0.02"]
    return "\n".join(lines) + "\n"


@dataclass
class Taken:
    """Seconds on the clock, and seconds of processor time, of each move."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


class Loop:
    """Runs the event loop until something holds, and remembers its longest stand-still."""

    def __init__(self) -> None:
        self.gap = 0.0
        self._last = time.perf_counter()
        self._beat = QTimer()
        self._beat.setInterval(1)
        self._beat.timeout.connect(self._on_beat)

    def _on_beat(self) -> None:
        now = time.perf_counter()
        self.gap = max(self.gap, now - self._last)
        self._last = now

    def until(self, condition: Callable[[], bool]) -> None:
        """Run; RuntimeError when it takes too long."""
        loop, began = QEventLoop(), time.perf_counter()
        self._last = began
        self._beat.start()
        while not condition():
            loop.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if time.perf_counter() - began > _LIMIT_SECONDS:
                raise RuntimeError("the window did not get there")
        self._beat.stop()


def slider_of(panel: ProtectPanel, key: str) -> QSlider:
    """The slider of a parameter."""
    form = panel.settings.form
    shown = None if form is None else form.field(key)
    if not isinstance(shown, NumberField) or shown.slider is None:
        raise RuntimeError(f"no slider for {key}")
    return shown.slider


def moves(slider: QSlider, positions: Sequence[int], panel: ProtectPanel, loop: Loop) -> Taken:
    """Times from each move to the paint that shows it; one move at a time."""
    found = Taken()
    for position in positions:
        began, worked = time.perf_counter(), time.process_time()
        slider.setValue(position)
        loop.until(lambda: not panel.busy)
        # Everything that the new view asks to be painted is painted here.
        QApplication.processEvents()
        found.clock.append(time.perf_counter() - began)
        found.processor.append(time.process_time() - worked)
    return found


def views(bench: Workbench, settings: Sequence[Mapping[str, object]]) -> list[float]:
    """Seconds of making each view, without the window."""
    explored = bench.explored
    if explored is None:
        raise RuntimeError("no search")
    found = []
    for each in settings:
        began = time.perf_counter()
        explored.view({**bench.work.parameters, **each})
        found.append(time.perf_counter() - began)
    return found


def line(name: str, seconds: Sequence[float]) -> str:
    """Median, 99th percentile and maximum in milliseconds."""
    ordered = sorted(seconds)
    late = ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]
    middle = statistics.median(ordered)
    values = f"median {middle * 1e3:6.1f}  p99 {late * 1e3:6.1f}  max {ordered[-1] * 1e3:6.1f}"
    return f"{name:<34} n={len(ordered):<4} {values} ms"


def measure(folder: Path) -> None:
    """Open, search, move, print."""
    application = QApplication.instance() or QApplication(sys.argv[:1])
    if not isinstance(application, QApplication):
        raise TypeError("a Qt application without widgets is running")
    theme, hub, loop = ThemeManager(application, "light", 100), JobHub(), Loop()
    theme.apply()
    with tempfile.TemporaryDirectory() as home, AppContext.open(Path(home)) as context:
        plan = Path(home) / "plan.toml"
        plan.write_text(plan_text(folder))
        bench = Workbench(context, hub)
        panel = ProtectPanel(bench, theme)
        panel.resize(1400, 850)
        bench.open_path(plan)
        loop.until(lambda: bench.data is not None and not hub.busy)
        began = time.perf_counter()
        panel.show()
        panel.activated()
        loop.until(lambda: not bench.stale and not panel.busy)
        print(f"first view after {time.perf_counter() - began:.2f} s")
        back_and_forth = [*range(3, 101), *range(99, 2, -1)]
        print(line("view, k", views(bench, [{"k": k} for k in back_and_forth])))
        shares = [share / 500 for share in range(1, 100)]
        print(line("view, suppression", views(bench, [{"max_suppression": s} for s in shares])))
        for page in ("risk", "nodes", "loss"):
            panel.result.deck.show_page(page)
            loop.gap = 0.0
            k = moves(slider_of(panel, "k"), back_and_forth, panel, loop)
            print(line(f"slider k to paint, {page}", k.clock))
            print(line("   processor time", k.processor))
            steps = list(range(20, 420, 4))
            most = moves(slider_of(panel, "max_suppression"), steps, panel, loop)
            print(line(f"slider suppression to paint, {page}", most.clock))
            print(line("   processor time", most.processor))
            print(f"{'longest stand-still of the loop':<34} {loop.gap * 1e3:.1f} ms")
        panel.hide()
        loop.until(lambda: not hub.busy)
        bench.close()
    hub.close()


if __name__ == "__main__":
    data = os.environ.get("DPDESK_TEST_DATA")
    if not data:
        raise SystemExit("DPDESK_TEST_DATA does not name the folder of real data")
    measure(Path(data) / "arx-adult")
