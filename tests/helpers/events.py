"""Waiting for the window outside a test: the event loop runs until a condition holds."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication

LOOK_EVERY_MS = 5


class _Waiting(QObject):
    """An event loop that ends when a condition holds, or after some seconds."""

    def __init__(self, condition: Callable[[], bool], seconds: int) -> None:
        super().__init__()
        self._condition, self._held = condition, False
        self._loop, self._look, self._limit = QEventLoop(self), QTimer(self), QTimer(self)
        self._look.timeout.connect(self._on_look)
        self._look.start(LOOK_EVERY_MS)
        self._limit.setSingleShot(True)
        self._limit.timeout.connect(self._loop.quit)
        self._limit.start(seconds * 1_000)

    def run(self) -> bool:
        """Wait; whether the condition held, if only for a moment."""
        self._loop.exec()
        self._look.stop()
        return self._held

    @Slot()
    def _on_look(self) -> None:
        if self._condition():
            self._held = True
            self._loop.quit()


def wait_until(condition: Callable[[], bool], seconds: int = 120) -> None:
    """Run the event loop until a condition holds; RuntimeError when it takes too long."""
    if not _Waiting(condition, seconds).run():
        raise RuntimeError("the window did not get there")


def settle() -> None:
    """Let layouts and paints that are due happen."""
    for _ in range(6):
        QApplication.processEvents()
