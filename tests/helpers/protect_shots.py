"""Pictures of the protect and compare panels on a plan: light, dark, and at twice the text size.

Run ``python -m tests.helpers.protect_shots PLAN FOLDER [PREFIX]`` from the checkout; no display is
needed. Looking at the pictures is the test.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from dpdesk.app.context import AppContext
from dpdesk.app.types import SetParameters
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.compare import ComparePanel
from dpdesk.ui.panels.protect import ProtectPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench

SIZES = ((1100, 700, "light", 100), (1600, 900, "dark", 100), (1920, 1080, "light", 200))


def wait_until(condition: Callable[[], bool], seconds: int = 120) -> None:
    """Run the event loop until a condition holds; RuntimeError when it takes too long."""
    loop, timer, limit = QEventLoop(), QTimer(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if condition() else None)
    timer.start(10)
    limit.setSingleShot(True)
    limit.timeout.connect(loop.quit)
    limit.start(seconds * 1_000)
    loop.exec()
    timer.stop()
    if not condition():
        raise RuntimeError("the window did not get there")


def settle(application: QApplication) -> None:
    """Let layouts and paints that are due happen."""
    for _ in range(6):
        application.processEvents()


class Studio:
    """A workbench with both panels, as in the window."""

    def __init__(self, application: QApplication, context: AppContext) -> None:
        self.application = application
        self.hub = JobHub()
        self.theme = ThemeManager(application, "light", 100)
        self.theme.apply()
        self.bench = Workbench(context, self.hub)
        self.protect = ProtectPanel(self.bench, self.theme)
        self.compare = ComparePanel(self.bench, self.theme)

    def open(self, path: Path) -> None:
        """Open a plan or data and wait for the first view."""
        self.bench.open_path(path)
        wait_until(lambda: self.bench.data is not None and not self.bench.loading)

    def shoot(self, panel: QWidget, folder: Path, name: str) -> None:
        """A picture for each size and theme."""
        for width, height, mode, percent in SIZES:
            self.theme.set_mode(mode)
            self.theme.set_text_size(percent)
            panel.show()
            settle(self.application)  # the limits of the last size are still in force before
            # The window's own parts take about this much beside and above a panel.
            panel.resize(width - 200 * percent // 100, height - 110 * percent // 100)
            settle(self.application)
            panel.grab().save(str(folder / f"{name}-{width}-{mode}-{percent}.png"))

    def set(self, **changes: object) -> None:
        """Change parameters and wait for the view."""
        self.bench.apply(SetParameters(changes))
        wait_until(lambda: not self.protect.busy)

    def keep(self) -> None:
        """Keep a candidate."""
        count = len(self.bench.candidates)
        self.protect.keep()
        wait_until(lambda: len(self.bench.candidates) > count and not self.hub.busy)


def shoot(plan: Path, folder: Path, prefix: str) -> None:
    """Write all pictures."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    (folder / "protect").mkdir(parents=True, exist_ok=True)
    (folder / "compare").mkdir(parents=True, exist_ok=True)
    with AppContext.open(folder / "home") as context:
        studio = Studio(application, context)
        studio.shoot(studio.protect, folder / "protect", f"{prefix}-empty")
        studio.shoot(studio.compare, folder / "compare", f"{prefix}-empty")
        studio.open(plan)
        studio.protect.resize(1400, 800)
        studio.protect.show()
        studio.protect.activated()
        wait_until(lambda: not studio.protect.busy and not studio.hub.busy)
        protect, deck = folder / "protect", studio.protect.result.deck
        studio.shoot(studio.protect, protect, f"{prefix}-risk")
        for page in [*(chart.id for chart in deck.charts), "guarantee", "figures"]:
            deck.show_page(page)
            studio.shoot(studio.protect, protect, f"{prefix}-{page}")
        deck.show_page("risk")
        for k in (3, 5, 10, 25):
            studio.set(k=k)
            if studio.protect.can_keep():
                studio.keep()
        studio.shoot(studio.protect, protect, f"{prefix}-kept")
        studio.set(k=500, max_suppression=0)
        studio.shoot(studio.protect, protect, f"{prefix}-infeasible")
        studio.compare.show()
        studio.compare.activated()
        studio.shoot(studio.compare, folder / "compare", prefix)
        for page in studio.compare.pages:
            studio.compare.show_page(page)
            studio.shoot(studio.compare, folder / "compare", f"{prefix}-{page}")
        studio.protect.hide()
        studio.compare.hide()
        studio.hub.close()
        wait_until(lambda: not studio.hub.busy)
        studio.bench.close()


if __name__ == "__main__":
    shoot(Path(sys.argv[1]), Path(sys.argv[2]), (sys.argv[3:] or ["plan"])[0])
