"""Small pieces of work in the main thread, one at a time, while the window has nothing else to do.

What takes a moment when it is first shown can be made before anybody asks for it; taken together
it would hold the window up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

import shiboken6
from PySide6.QtCore import QObject, QTimer, Slot

INTERVAL_MS = 20


class SpareTime(QObject):
    """Calls bound methods of objects of the toolkit, in order, with turns of the loop between."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pieces: deque[Callable[[], object]] = deque()
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self._on_turn)

    @property
    def busy(self) -> bool:
        """Whether pieces are waiting."""
        return bool(self._pieces)

    def add(self, pieces: Iterable[Callable[[], object]]) -> None:
        """Do these, too; those of objects that are gone by then are left out."""
        self._pieces.extend(pieces)
        if self._pieces:
            self._timer.start()

    def stop(self) -> None:
        """Forget what waits."""
        self._pieces.clear()
        self._timer.stop()

    @Slot()
    def _on_turn(self) -> None:
        if self._pieces:
            piece = self._pieces.popleft()
            owner = getattr(piece, "__self__", None)
            if not isinstance(owner, QObject) or shiboken6.isValid(owner):
                piece()
        if not self._pieces:
            self._timer.stop()
