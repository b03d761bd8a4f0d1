"""What the main thread does in between: small pieces of work, and collecting garbage.

What takes a moment when it is first shown can be made before anybody asks for it; taken together
it would hold the window up.
"""

from __future__ import annotations

import gc
import time
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


COLLECT_MS = 100
FULL_EVERY_S = 30.0


class GcKeeper(QObject):
    """Switches automatic collection off and collects on a timer, by the usual thresholds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(COLLECT_MS)
        self._timer.timeout.connect(self.collect)
        self._full = time.monotonic()

    def start(self) -> None:
        """Take over: nothing is collected before :meth:`settle`."""
        gc.disable()

    def stop(self) -> None:
        """Give collecting back to Python."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def settle(self) -> None:
        """Call after start-up: what is there now stays, so it is not looked through any more.

        Libraries leave hundreds of thousands of objects that would be looked through in vain.
        """
        gc.freeze()
        self._full = time.monotonic()
        self._timer.start()

    @Slot()
    def collect(self) -> None:
        """Collect the generations whose thresholds are passed; the oldest one seldom."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        due = time.monotonic() - self._full >= FULL_EVERY_S
        for generation in (2, 1, 0) if due else (1, 0):
            if thresholds[generation] and counts[generation] > thresholds[generation]:
                if generation == 2:
                    self._full = time.monotonic()
                gc.collect(generation)
                return
