"""Progress on stderr: a bar on a terminal, nothing but notes elsewhere."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from typing import TextIO

from dpdesk.core.jobs import Event, Note, StepProgress, StepStarted
from dpdesk.core.messages import msg
from dpdesk.core.plain import harmless

_EVERY = 0.1
_TIME_LEFT_AFTER = 1.0
_BAR = 24


class ProgressLine:
    """Shows events on a stream; callable from any thread.

    On a terminal the running step is one line, redrawn at most ten times a second. ``clock`` gives
    seconds; with ``terminal`` the stream counts as one, such as that of a notebook.
    """

    def __init__(
        self,
        stream: TextIO | None,
        clock: Callable[[], float] = time.monotonic,
        *,
        terminal: bool = False,
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._lock = threading.Lock()
        self._terminal = stream is not None and (terminal or is_terminal(stream))
        self._shown = False
        self._last_drawn = float("-inf")
        self._step = ""
        self._prefix = ""
        self._began = 0.0

    def __call__(self, event: Event) -> None:
        """Show an event."""
        with self._lock:
            if isinstance(event, Note):
                self._clear()
                self._write(f"Note: {harmless(event.sentence)}\n")
            elif self._terminal:
                self._progress(event)

    def clear(self) -> None:
        """Remove the line, so that what follows starts on a fresh one."""
        with self._lock:
            self._clear()

    def _progress(self, event: StepStarted | StepProgress) -> None:
        now = self._clock()
        if isinstance(event, StepStarted):
            self._step, self._began = event.step, now
            self._prefix = f"[{event.index}/{event.count}] " if event.count > 1 else ""
            self._draw(now, f"{self._prefix}{event.step} …")
            return
        if event.step != self._step:
            self._step, self._began, self._prefix = event.step, now, ""
        if now - self._last_drawn >= _EVERY:
            self._draw(now, self._prefix + progress_text(event, now - self._began))

    def _draw(self, now: float, text: str) -> None:
        width = max(20, shutil.get_terminal_size().columns - 1)
        self._write("\r\x1b[2K" + text[:width])
        self._shown, self._last_drawn = True, now

    def _clear(self) -> None:
        if self._shown:
            self._write("\r\x1b[2K")
            self._shown = False

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody listens any more; the work goes on
            self._stream, self._terminal = None, False


def progress_text(event: StepProgress, elapsed: float) -> str:
    """One line: step, bar, how far, and after a second the time left."""
    unit = f" {event.unit}" if event.unit else ""
    if not event.total:
        return f"{event.step}: {event.done:,}{unit}"
    share = min(1.0, event.done / event.total)
    filled = round(share * _BAR)
    bar = "#" * filled + "-" * (_BAR - filled)
    left = ""
    if elapsed >= _TIME_LEFT_AFTER and event.done > 0:
        left = msg(", {duration} left", duration=duration(elapsed / share - elapsed))
    return f"{event.step} [{bar}] {share:4.0%}  {event.done:,} of {event.total:,}{unit}{left}"


def duration(seconds: float) -> str:
    """Seconds as people say them: ``8 s``, ``2 min 5 s``, ``1 h 10 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def is_terminal(stream: TextIO) -> bool:
    """Whether people read what is written there."""
    try:
        return stream.isatty()
    except ValueError:
        return False
