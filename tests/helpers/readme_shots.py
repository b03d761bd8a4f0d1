"""The pictures of the README, from the bundled sample.

Run ``python -m tests.helpers.readme_shots`` from the checkout; no display is needed.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from dpdesk.app.context import AppContext
from dpdesk.app.types import SetParameters
from dpdesk.ui.desk import Desk
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.asking import ScriptedAsker
from tests.helpers.events import settle, wait_until
from tests.helpers.memory_settings import MemorySettings

FOLDER = Path(__file__).parents[2] / "resources" / "screenshots"


def small(image: QImage) -> QImage:
    """The same picture in its 256 most frequent colours, without dots between them."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(plain.constBits(), np.uint32)
    colours, counts = np.unique(pixels, return_counts=True)
    table = [int(one) for one in colours[np.argsort(counts)[::-1][:256]]]
    flags = Qt.ImageConversionFlag.ThresholdDither | Qt.ImageConversionFlag.AvoidDither
    return plain.convertToFormat(QImage.Format.Format_Indexed8, table, flags)


def main() -> None:
    """Take all pictures."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    hub, theme = JobHub(), ThemeManager(application, "light", 100)
    theme.apply()
    with tempfile.TemporaryDirectory() as name, AppContext.open(Path(name)) as context:
        desk = Desk(context, hub, theme, MemorySettings(), ScriptedAsker())
        desk.window.resize(1366, 820)
        desk.window.show()
        _take(desk, theme)
        hub.close()
        wait_until(lambda: not hub.busy)
        desk.workbench.close()


def _take(desk: Desk, theme: ThemeManager) -> None:
    bench, window = desk.workbench, desk.window

    def calm() -> None:
        wait_until(lambda: not bench.hub.busy and not desk.protect.busy)
        window.grab()
        settle()

    def shoot(name: str) -> None:
        calm()
        small(window.grab().toImage()).save(str(FOLDER / f"{name}.png"), "PNG", 0)

    desk.open_sample()
    wait_until(lambda: bench.profile is not None)
    window.show_panel("attributes")
    shoot("attributes")
    window.show_panel("hierarchies")
    desk.hierarchies.attributes.choose("education")
    calm()
    desk.hierarchies.level.slider.setValue(1)
    shoot("hierarchies")
    window.show_panel("protect")
    calm()
    bench.keep_candidate()
    calm()
    bench.apply(SetParameters({"k": 12}))
    calm()
    desk.protect.result.deck.show_page(desk.protect.result.deck.map_id or "risk")
    shoot("protect")
    bench.keep_candidate()
    calm()
    theme.set_mode("dark")
    window.show_panel("compare")
    shoot("compare-dark")


if __name__ == "__main__":
    main()
