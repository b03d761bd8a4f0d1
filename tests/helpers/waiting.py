"""Waiting in tests: for a state, never for a time.

A machine may be as busy as it likes: a state that comes is worth waiting for, and one that never
comes ends the test after :data:`PATIENCE` all the same. So no test names a time of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from time import thread_time
from typing import Any

from pytestqt.qtbot import QtBot

PATIENCE_SECONDS = 300
PATIENCE = 1_000 * PATIENCE_SECONDS
"""Milliseconds after which a state is given up that should have come."""
REST = 4
"""How many times as long as a look took nothing is looked at."""


class PatientBot(QtBot):
    """The toolkit's bot with one patience for everything that it waits for."""

    def waitUntil(self, callback: Callable[[], object], *, timeout: int = PATIENCE) -> None:
        """See QtBot; looks that cost much are made less often, or they would be half of the work.

        A sweep of what fits in a window takes as long as pytest-qt leaves between two looks.
        """

        def look() -> object:
            begin = thread_time()
            try:
                seen = callback()
            except AssertionError:
                rest(begin)
                raise
            if seen is False:
                rest(begin)
            return seen

        def rest(begin: float) -> None:
            pause = int(1_000 * REST * (thread_time() - begin))
            if pause > 0:
                self.wait(pause)

        super().waitUntil(look, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE, **more: Any) -> Any:
        """See QtBot."""
        return super().waitSignal(signal, timeout=timeout, **more)

    def waitSignals(self, signals: Any, *, timeout: int = PATIENCE, **more: Any) -> Any:
        """See QtBot."""
        return super().waitSignals(signals, timeout=timeout, **more)

    def waitExposed(self, widget: Any, *, timeout: int = PATIENCE) -> Any:
        """See QtBot."""
        return super().waitExposed(widget, timeout=timeout)

    def waitActive(self, widget: Any, *, timeout: int = PATIENCE) -> Any:
        """See QtBot."""
        return super().waitActive(widget, timeout=timeout)
