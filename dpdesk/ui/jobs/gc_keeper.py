"""Garbage collection in the main thread only, a little at a time.

A collection that starts in a worker may destroy Qt objects there, which crashes. So the automatic
collector is off in the window's process, and a timer of the main thread collects instead. It comes
often, so that each time there is little to look through.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer, Slot

INTERVAL_MS = 100
FULL_EVERY_S = 30.0


class GcKeeper(QObject):
    """Switches automatic collection off and collects on a timer, by the usual thresholds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
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
