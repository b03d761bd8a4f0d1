"""The real window for the walkthroughs: everything as in the program but the file choosers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.ui.desk import Desk
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.asking import ScriptedAsker
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.office import Office
from tests.helpers.person import Person
from tests.helpers.sitting import light_theme

SHOTS = "DPDESK_SHOTS"


@pytest.fixture
def shots(request: pytest.FixtureRequest) -> Path | None:
    """Where pictures go: below the folder that DPDESK_SHOTS names; none are taken without it."""
    chosen = os.environ.get(SHOTS)
    if not chosen:
        return None
    name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
    folder = Path(chosen) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[ThemeManager]:
    """The theme, applied in light; the application is as before afterwards."""
    yield from light_theme(qapp)


@pytest.fixture
def person(
    request: pytest.FixtureRequest,
    qtbot: QtBot,
    private_home: Path,
    theme: ThemeManager,
    shots: Path | None,
) -> Iterator[Person]:
    """Somebody in front of the window, which has just been opened."""
    hub, asker = JobHub(), ScriptedAsker()
    with AppContext.open(private_home) as context:
        desk = Desk(context, hub, theme, MemorySettings(), asker)
        qtbot.addWidget(desk.window)
        desk.window.show()
        qtbot.waitExposed(desk.window)
        made = Person(qtbot, desk, theme, asker, shots)
        yield made
        print(f"{request.node.name}: {made.effort}")
        with qtbot.waitSignal(hub.idle):
            hub.close()
        desk.workbench.close()


@pytest.fixture
def office(
    qtbot: QtBot, theme: ThemeManager, shots: Path | None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Office]:
    """Computers of several people."""
    made = Office(qtbot, theme, shots, monkeypatch)
    yield made
    made.leave()
