"""Fixtures of the window's tests: a hub that must end idle, a theme, settings in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.core.language import ENGLISH, read_catalogue
from dpdesk.core.language.catalogue import WINDOW
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.settings import WindowTranslator
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.words.spoken import set_language
from dpdesk.ui.workbench import Workbench
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.people_plan import close_bench, two_methods
from tests.helpers.sitting import light_theme


@pytest.fixture
def hub(qtbot: QtBot) -> Iterator[JobHub]:
    """A hub that is closed, and waited for, at the end."""
    hub = JobHub()
    yield hub
    with qtbot.waitSignal(hub.idle):
        hub.close()


@pytest.fixture
def settings() -> MemorySettings:
    """Settings that live as long as the test."""
    return MemorySettings()


@pytest.fixture
def theme(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[ThemeManager]:
    """The theme, applied in light; the application is as before afterwards.

    Modules marked ``plain`` have no style sheet, but for their tests marked ``styled``: those that
    ask how something looks, what room it takes, or what kind of text a label shows.
    """
    marked = request.node.get_closest_marker
    plain = marked("plain") is not None and marked("styled") is None
    yield from light_theme(qapp, plain=plain)


@pytest.fixture
def context(private_home: Path) -> Iterator[AppContext]:
    """The program's services, with a second method beside the real one."""
    with two_methods(private_home) as opened:
        yield opened


@pytest.fixture
def bench(context: AppContext, hub: JobHub, qtbot: QtBot) -> Iterator[Workbench]:
    """A workbench that is closed, and its jobs waited for, at the end."""
    made = Workbench(context, hub)
    yield made
    close_bench(made, hub, qtbot)


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    """The window in German."""
    translator = WindowTranslator(read_catalogue("de", (WINDOW,)))
    qapp.installTranslator(translator)
    set_language("de")
    yield
    set_language(ENGLISH)
    qapp.removeTranslator(translator)
