"""Pictures of the review panel on a plan: light, dark, and at twice the text size.

Run ``python -m tests.helpers.review_shots PLAN FOLDER [PREFIX]`` from the checkout; no display is
needed. Looking at the pictures is the test.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from dpdesk.app.context import AppContext
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.panels.review.release_page import EXPORTS, FILES, PICTURE
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.events import settle, wait_until

SIZES = ((1100, 700, "light", 100), (1280, 820, "dark", 125), (1920, 1080, "light", 200))


class NoAsker:
    """Nobody chooses a file while pictures are taken."""

    def open_file(self, title: str, folder: str, filters: str) -> Path | None:
        """See FileAsker."""
        return None

    def open_folder(self, title: str, folder: str) -> Path | None:
        """See FileAsker."""
        return None

    def save_file(
        self, title: str, suggestion: str, filters: str, endings: tuple[str, ...] = ()
    ) -> Path | None:
        """See FileAsker."""
        return None

    def new_file(self, title: str, suggestion: str, filters: str) -> Path | None:
        """See FileAsker."""
        return None


class Studio:
    """A workbench with the panel, as in the window."""

    def __init__(self, application: QApplication, context: AppContext, folder: Path) -> None:
        self.hub = JobHub()
        self.theme = ThemeManager(application, "light", 100)
        self.theme.apply()
        self.bench = Workbench(context, self.hub)
        self.panel = ReviewPanel(self.bench, self.theme, NoAsker())
        self._folder = folder

    def shoot(self, name: str) -> None:
        """A picture for each size and theme."""
        for width, height, mode, percent in SIZES:
            self.theme.set_mode(mode)
            self.theme.set_text_size(percent)
            self.panel.show()
            settle()  # the limits of the last size are still in force before
            # The window's own parts take about this much beside and above a panel.
            self.panel.resize(width - 200 * percent // 100, height - 110 * percent // 100)
            settle()
            self.panel.grab().save(str(self._folder / f"{name}-{mode}-{percent}.png"))

    def ready(self) -> None:
        """Wait until nothing is being done."""
        wait_until(lambda: not self.hub.busy)
        settle()


def shoot(plan: Path, folder: Path, prefix: str) -> None:
    """Write all pictures."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / "release"
    shutil.rmtree(out, ignore_errors=True)
    with AppContext.open(folder / "home") as context:
        studio = Studio(application, context, folder)
        studio.shoot(f"{prefix}-empty")
        studio.bench.open_path(plan)
        studio.panel.activated()
        studio.ready()
        studio.panel.activated()
        studio.ready()
        studio.shoot(f"{prefix}-prepare")
        studio.bench.write_release(out)
        studio.ready()
        studio.shoot(f"{prefix}-release")
        for page in (FILES, PICTURE, EXPORTS):
            studio.panel.release.strip.button(page).click()
            studio.shoot(f"{prefix}-{page}")
        studio.panel.prepare.titleEdited.emit("Another title")
        studio.shoot(f"{prefix}-stale")
        table = out / "public" / "microdata.csv"
        table.write_bytes(table.read_bytes() + b"x\n")
        studio.bench.verify_again()
        studio.ready()
        studio.shoot(f"{prefix}-failed")
        studio.panel.hide()
        studio.hub.close()
        wait_until(lambda: not studio.hub.busy)
        studio.bench.close()


if __name__ == "__main__":
    shoot(Path(sys.argv[1]), Path(sys.argv[2]), (sys.argv[3:] or ["plan"])[0])
