"""Waiting for the window outside a test: the event loop runs until a condition holds."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication


def wait_until(condition: Callable[[], bool], seconds: int = 120) -> None:
    """Run the event loop until a condition holds; RuntimeError when it takes too long."""
    loop, timer, limit = QEventLoop(), QTimer(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if condition() else None)
    timer.start(5)
    limit.setSingleShot(True)
    limit.timeout.connect(loop.quit)
    limit.start(seconds * 1_000)
    loop.exec()
    timer.stop()
    if not condition():
        raise RuntimeError("the window did not get there")


def settle() -> None:
    """Let layouts and paints that are due happen."""
    for _ in range(6):
        QApplication.processEvents()
