"""How late the event loop is while the window of a long audit log reads, checks and exports it.

Run ``python -m tests.benchmarks.audit_window [ENTRIES]`` from the checkout (100,000 entries when
none are given); it needs no display. Prints for each step its seconds and, in milliseconds, how far
apart the ticks of a timer were: median, 99th percentile, longest. The last column is the most
processor time that the main thread took between two ticks: what would be left of it without other
work on the computer.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from dpdesk.app.context import AppContext
from dpdesk.ui.application import SWITCH_SECONDS
from dpdesk.ui.jobs import GcKeeper, JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.audit import AuditWindow
from tests.helpers.asking import ScriptedAsker
from tests.helpers.audit_logs import fill_long
from tests.helpers.events import wait_until

ENTRIES = 100_000
_LIMIT_SECONDS = 600


class Ticks:
    """Remembers how far apart the ticks of a timer were, by the clock and in processor time."""

    def __init__(self) -> None:
        self._timer = QTimer()
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._on_tick)
        self.begin()
        self._timer.start()

    def begin(self) -> None:
        """Forget what was measured."""
        self.gaps: list[float] = []
        self.most = 0.0
        self._last, self._used = time.perf_counter(), time.thread_time()

    def _on_tick(self) -> None:
        now, used = time.perf_counter(), time.thread_time()
        self.gaps.append(now - self._last)
        self.most = max(self.most, used - self._used)
        self._last, self._used = now, used

    def line(self) -> str:
        """Median, 99th percentile and longest gap, and the most processor time, in ms."""
        gaps = sorted(self.gaps)
        places = (len(gaps) // 2, len(gaps) * 99 // 100, len(gaps) - 1)
        return "  ".join(f"{1000 * each:7.1f}" for each in (*(gaps[n] for n in places), self.most))


def measure(name: str, begin: Callable[[], object], ended: Callable[[], bool], hub: JobHub) -> None:
    """Do one step, and print how it went."""
    ticks, start = Ticks(), time.perf_counter()
    begin()
    wait_until(lambda: ended() and not hub.busy, _LIMIT_SECONDS)
    print(f"{name:12}  {time.perf_counter() - start:6.2f} s  {ticks.line()}")


def main(entries: int) -> None:
    """Measure every step."""
    application = QApplication([])
    sys.setswitchinterval(SWITCH_SECONDS)
    keeper, hub = GcKeeper(), JobHub()
    keeper.start()
    theme = ThemeManager(application, "light", 100)
    theme.apply()
    asker = ScriptedAsker()
    with tempfile.TemporaryDirectory() as folder, AppContext.open(Path(folder) / "home") as context:
        fill_long(context.home, entries)
        window = AuditWindow(context, hub, theme, asker)
        window.resize(1100, 700)
        print("step          elapsed   median     99 %     most  thread")
        measure("open", window.present, lambda: window.checked is not None, hub)
        measure("check again", window.refresh, lambda: window.checked is not None, hub)
        for form in ("csv", "json"):
            asker.answer = Path(folder) / f"log.{form}"
            window.band.clear()
            measure(f"export {form}", window.page.export.click, lambda: bool(window.band.text), hub)
        window.close()
        hub.close()
        wait_until(lambda: not hub.busy)
    keeper.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ENTRIES)
