"""Garbage collection in the main thread only.

A collection that starts in a worker may destroy Qt objects there, which crashes. So the automatic
collector is off in the window's process, and a timer of the main thread collects instead.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer, Slot

INTERVAL_MS = 1_000


class GcKeeper(QObject):
    """Switches automatic collection off and collects on a timer, by the usual thresholds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Take over collecting."""
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Give collecting back to Python."""
        self._timer.stop()
        gc.enable()

    @Slot()
    def collect(self) -> None:
        """Collect the generations whose thresholds are passed."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        for generation in (2, 1, 0):
            if thresholds[generation] and counts[generation] > thresholds[generation]:
                gc.collect(generation)
                return
