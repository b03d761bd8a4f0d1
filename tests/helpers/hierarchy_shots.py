"""Pictures of the panel Hierarchies for looking at: ``python tests/helpers/hierarchy_shots.py``.

Opens a plan (by default one of the bundled sample) and saves PNGs light, dark and at 200 %.
Arguments: folder, plan, width and height of the panel.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from dpdesk.app.types import AppContext
from dpdesk.ui.files import DialogAsker
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.hierarchies import HierarchiesPanel
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench

SAMPLE = Path(__file__).parents[2] / "resources/sample/plans/research-file.toml"


def until(condition: Callable[[], bool], limit_ms: int = 20_000) -> None:
    """Run the event loop until a condition holds."""
    loop, poll, end = QEventLoop(), QTimer(), QTimer()
    end.setSingleShot(True)
    end.timeout.connect(loop.quit)
    poll.timeout.connect(lambda: loop.quit() if condition() else None)
    poll.start(10)
    end.start(limit_ms)
    loop.exec()


def main(folder: Path, plan: Path, width: int, height: int) -> None:
    """Take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    theme = ThemeManager(application, "light")
    theme.apply()
    hub = JobHub()
    with AppContext.open(Path(tempfile.mkdtemp())) as context:
        workbench = Workbench(context, hub)
        panel = HierarchiesPanel(workbench, theme, DialogAsker())
        panel.setMinimumSize(0, 0)
        panel.resize(width, height)
        panel.show()
        save(panel, folder / "empty.png")
        workbench.open_path(plan)
        until(lambda: workbench.profile is not None and not hub.busy)
        take(panel, theme, hub, workbench, folder)
        hub.close()
        until(lambda: not hub.busy)
        workbench.close()


def take(
    panel: HierarchiesPanel, theme: ThemeManager, hub: JobHub, workbench: Workbench, folder: Path
) -> None:
    """One picture per state, theme and size."""
    names = [entry.attribute for entry in panel.attributes.entries]
    for mode, size in (("light", 100), ("dark", 100), ("light", 200), ("dark", 125)):
        theme.set_mode(mode)
        theme.set_text_size(size)
        mark = f"{mode}-{size}"
        for number in (0, len(names) // 2, -1):
            panel.attributes.choose(names[number])
            until(lambda: not hub.busy)
            panel.workplace.show_page("picture")
            panel.level.slider.setValue(1)
            save(panel, folder / f"{mark}-{number}-{names[number]}.png")
        panel.attributes.choose(names[0])
        until(lambda: not hub.busy)
        panel.workplace.show_page("making")
        panel.making.kind.setCurrentIndex(1)
        until(lambda: panel.making.use.isEnabled() or not hub.busy, 2_000)
        until(lambda: False, 400)
        save(panel, folder / f"{mark}-making.png")
        panel.making.discard.click()
    theme.set_mode("light")
    theme.set_text_size(100)


def save(panel: HierarchiesPanel, path: Path) -> None:
    """Write what the panel shows."""
    until(lambda: False, 150)
    QCoreApplication.sendPostedEvents()
    panel.grab().save(str(path))


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    main(
        Path(given.get(0, f"{tempfile.gettempdir()}/shots/hierarchies")),
        Path(given.get(1, str(SAMPLE))),
        int(given.get(2, "1060")),
        int(given.get(3, "640")),
    )
