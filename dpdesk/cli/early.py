"""Signals that come while nothing listens yet, or no longer: between the start and the work, and
between the work and the end.

Imported first, so it imports next to nothing. Only the process of the command line calls
:func:`listen`; without it the other functions have no effect.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator

SIGNALS = tuple(
    number
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    if (number := getattr(signal, name, None)) is not None
)
CANCELLED = 130
_LINE = b"Cancelled; nothing was written.\n"


_owed: list[int] = []  # the code of work that is done, until a signal takes it


def listen() -> None:
    """From now on a signal to stop ends the process with one line and the code 130."""
    for number in SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _answer)


def listen_no_more() -> None:
    """Give the signals back to the system, as a window wants them."""
    for number in SIGNALS:
        if signal.getsignal(number) is _answer:
            default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, default)


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Signals are the system's in the block, which may have a terminal to put right again."""
    listening = [number for number in SIGNALS if signal.getsignal(number) is _answer]
    listen_no_more()
    try:
        yield
    finally:
        for number in listening:
            signal.signal(number, _answer)


def settle(code: int) -> None:
    """The work is done and ``code`` is its outcome: signals no longer change it.

    The first one is let pass, so that the outcome can be said; the next ends the process.
    """
    if not _owed:
        _owed.extend((code, code))


def leave(code: int) -> None:
    """End the process with what was said so far, unless nobody listens (a window had it)."""
    if not any(signal.getsignal(number) is _answer for number in SIGNALS):
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _answer(number: int, frame: object) -> None:
    if len(_owed) > 1:
        _owed.pop()
        return
    if not _owed:
        with contextlib.suppress(OSError):
            os.write(2, _LINE)
    os._exit(_owed[0] if _owed else CANCELLED)
