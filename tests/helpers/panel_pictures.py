"""Pictures of the first two panels over real files: light, dark, and at twice the text size.

Run ``python -m tests.helpers.panel_pictures FOLDER`` from the checkout; it needs no display.
Looking at the pictures is the test. Real data are used where DPDESK_TEST_DATA names them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication, QWidget

from dpdesk.app.context import AppContext
from dpdesk.core.schema import Role
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.attributes import AttributesPanel
from dpdesk.ui.panels.data import DataPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench

SAMPLE = Path(__file__).parents[2] / "resources" / "sample"
LIMIT_S = 60.0


class Studio:
    """A workbench, its panels, and a way to wait for jobs."""

    def __init__(self, context: AppContext, mode: str, percent: int) -> None:
        application = QApplication.instance() or QApplication([])
        assert isinstance(application, QApplication)
        self.application = application
        self.theme = ThemeManager(application, mode, percent)
        self.theme.apply()
        self.hub = JobHub()
        self.bench = Workbench(context, self.hub)
        self.size = (1040, 700) if percent == 100 else (1500, 1050)

    def until(self, condition: Callable[[], bool]) -> None:
        """Run the event loop until ``condition`` holds."""
        end = time.monotonic() + LIMIT_S
        while not condition():
            self.application.processEvents()
            if time.monotonic() > end:
                raise TimeoutError
        for _ in range(5):
            self.application.processEvents()

    def settle(self) -> None:
        """Run the event loop until all jobs have ended."""
        end = time.monotonic() + 0.4
        self.until(lambda: not self.hub.busy and time.monotonic() > end)

    def open(self, path: Path) -> None:
        """Open a file and wait for everything."""
        self.bench.open_path(path)
        self.settle()

    def shoot(self, widget: QWidget, path: Path) -> None:
        """Write a picture."""
        widget.resize(*self.size)
        widget.show()
        self.settle()
        widget.grab().save(str(path))

    def close(self) -> None:
        """Stop."""
        self.hub.close()
        self.until(lambda: not self.hub.busy)
        self.bench.close()
        self.theme.detach()


def shoot_data(context: AppContext, studio: Studio, folder: Path, mark: str, odd: Path) -> None:
    """The data panel: start, table, form, a file that cannot be read."""
    panel = DataPanel(studio.bench, studio.theme)
    panel.set_recent(("/data/census24.csv", "/data/plans/health study.toml"))
    studio.shoot(panel, folder / f"start-{mark}.png")
    studio.open(odd)
    studio.shoot(panel, folder / f"ragged-{mark}.png")
    studio.bench.dismiss_open_problem()
    studio.open(SAMPLE / "population.csv")
    panel.table.grid.setCurrentIndex(panel.table.model.index(3, 3))
    studio.shoot(panel, folder / f"table-{mark}.png")
    panel.table.reading_button.click()
    studio.shoot(panel, folder / f"reading-{mark}.png")
    panel.reading.back_button.click()
    real = os.environ.get("DPDESK_TEST_DATA")
    if real:
        studio.open(Path(real) / "nist" / "national2019.csv")
        studio.shoot(panel, folder / f"real-{mark}.png")
    panel.hide()


def shoot_attributes(studio: Studio, folder: Path, mark: str) -> None:
    """The attributes panel: suggestions, all accepted, doubtful roles, several chosen."""
    panel = AttributesPanel(studio.bench, studio.theme)
    studio.shoot(panel, folder / f"attributes-empty-{mark}.png")
    studio.open(SAMPLE / "population.csv")
    studio.shoot(panel, folder / f"attributes-new-{mark}.png")
    panel.accept_button.click()
    studio.shoot(panel, folder / f"attributes-accepted-{mark}.png")
    panel.grid.choose_rows(0)
    panel.buttons.buttons[Role.INSENSITIVE].click()
    panel.grid.choose_rows(4)
    panel.buttons.buttons[Role.WEIGHT].click()
    studio.shoot(panel, folder / f"attributes-doubtful-{mark}.png")
    panel.hide()


def main(folder: Path) -> None:
    """Write all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        odd = Path(home) / "people.csv"
        lines = [f"{n},{20 + n % 60},{'MF'[n % 2]},{n * 13 % 997}" for n in range(400)]
        lines[258] = "258,41,M"
        odd.write_text("id,age,sex,zip\n" + "\n".join(lines) + "\n")
        with AppContext.open(Path(home)) as context:
            for mode, percent in (("light", 100), ("dark", 100), ("light", 200)):
                studio = Studio(context, mode, percent)
                mark = f"{mode}-{percent}"
                shoot_data(context, studio, folder, mark, odd)
                studio.close()
                studio = Studio(context, mode, percent)
                shoot_attributes(studio, folder, mark)
                studio.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
