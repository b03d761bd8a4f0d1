"""Fixtures of the window's tests: a hub that must end idle, a theme, settings in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from dpdesk.ui.jobs import JobHub
from dpdesk.ui.settings import MemorySettings
from dpdesk.ui.theme import ThemeManager


@pytest.fixture
def hub(qtbot: QtBot) -> Iterator[JobHub]:
    """A hub that is closed, and waited for, at the end."""
    hub = JobHub()
    yield hub
    with qtbot.waitSignal(hub.idle, timeout=10_000):
        hub.close()


@pytest.fixture
def settings() -> MemorySettings:
    """Settings that live as long as the test."""
    return MemorySettings()


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[ThemeManager]:
    """The theme, applied in light; the application is as before afterwards."""
    style, palette, font = qapp.styleSheet(), qapp.palette(), qapp.font()
    manager = ThemeManager(qapp, mode="light")
    manager.apply()
    yield manager
    manager.detach()
    qapp.setStyleSheet(style)
    qapp.setPalette(palette)
    qapp.setFont(font)
