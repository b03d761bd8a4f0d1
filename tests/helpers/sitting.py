"""A desk on the screen, the person at it, and the theme that both see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.ui.desk import Desk
from dpdesk.ui.forms.cubes import CubeForm
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.asking import ScriptedAsker
from tests.helpers.fits import misfits
from tests.helpers.memory_settings import MemorySettings

Shown = TypeVar("Shown", bound=QWidget)


def light_theme(qapp: QApplication, *, plain: bool = False) -> Iterator[ThemeManager]:
    """The theme, applied in light; the application is as before afterwards.

    A ``plain`` one has colours and fonts, and no style sheet: fitting the widgets to it is half of
    what a window costs.
    """
    with pytest.MonkeyPatch.context() as patch:
        if plain:
            patch.setattr("dpdesk.ui.theme.manager.style_sheet", lambda theme: "")
        yield from _applied(qapp)


def _applied(qapp: QApplication) -> Iterator[ThemeManager]:
    style, palette, font = qapp.styleSheet(), qapp.palette(), qapp.font()
    manager = ThemeManager(qapp, mode="light")
    manager.apply()
    yield manager
    # Windows that were closed are gone at once: none of them need be fitted to another sheet.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    manager.detach()
    qapp.setStyleSheet(style)
    qapp.setPalette(palette)
    qapp.setFont(font)


def shown(widget: Shown, qtbot: QtBot) -> Shown:
    """A widget on the screen, as large as a panel of the window."""
    qtbot.addWidget(widget)
    widget.resize(1200, 760)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def take_from_data(form: CubeForm, name: str, qtbot: QtBot) -> None:
    """Have the categories of a column suggested from the data, confirm them, and take them."""
    form.domains.choose(name)
    form.domains.from_data.click()
    qtbot.waitUntil(lambda: form.domains.use.isVisibleTo(form.domains))
    form.domains.known.click()
    form.domains.use.click()


def rooms_of(
    qtbot: QtBot,
    desk: Desk,
    theme: ThemeManager,
    rooms: Sequence[tuple[int, int, int]],
    steps: Sequence[str],
) -> Iterator[str]:
    """Each step in each room (width, height, percent of the text), once nothing in it is cut."""
    hub = desk.workbench.hub
    for width, height, percent in rooms:
        theme.set_text_size(percent)
        desk.window.resize(width, height)
        for step in steps:
            desk.window.show_panel(step)
            qtbot.waitUntil(lambda: not hub.busy and not desk.protect.busy)

            def well(room: str = f"{step} at {width}×{height}, {percent} %") -> None:
                desk.window.grab()
                assert misfits(desk.window) == [], room

            qtbot.waitUntil(well)
            yield step


class Sitting:
    """A desk, and a person who answers its file choosers."""

    def __init__(
        self,
        qtbot: QtBot,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        settings: MemorySettings | None = None,
    ) -> None:
        self.qtbot, self.context, self.hub, self.theme = qtbot, context, hub, theme
        self.settings, self.asker = settings or MemorySettings(), ScriptedAsker()
        self.desk = Desk(context, hub, theme, self.settings, self.asker)
        self.window, self.bench = self.desk.window, self.desk.workbench
        qtbot.addWidget(self.window, before_close_func=lambda window: window.set_unsaved(False))
        self.window.resize(1280, 820)
        self.window.show()

    def calm(self) -> bool:
        """Whether nothing is being done."""
        return not self.hub.busy and not self.desk.protect.busy

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        """Wait until nothing is being done, and this is so."""
        self.qtbot.waitUntil(lambda: condition() and self.calm())

    def open(self, path: Path) -> None:
        """Open a file, and wait until its columns are known."""
        self.desk.open_text(str(path))
        self.quiet(lambda: self.bench.profile is not None)

    def end(self) -> None:
        """Stop what is being done, and let go of all files."""
        self.hub.cancel_all()
        self.quiet()
        self.desk.let_go()
