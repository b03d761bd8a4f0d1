"""Use-cases on behalf of Python code: the private folder, progress, and how a call is stopped."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from dpdesk.app.context import AppContext
from dpdesk.app.progress import ProgressLine, is_terminal
from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.home import default_home
from dpdesk.core.jobs import CancelToken, Event, Note, Report

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")
Progress: TypeAlias = "Callable[[Event], object] | bool | None"
"""A function that gets every event; True or False: a line of text, or none; None: a line where a
person reads it, on a terminal or in a notebook."""
UseCase: TypeAlias = Callable[[AppContext, CancelToken, Report], T]

_TICK = 0.1
_lock = threading.Lock()
_open: list[tuple[int, Path, AppContext]] = []


def context() -> AppContext:
    """What every use-case needs, opened once for this process and the present DPDESK_HOME.

    Its private folder goes when the process ends. Raises StorageError.
    """
    with _lock:
        home = default_home().absolute()
        if _open and _open[0][:2] == (os.getpid(), home):
            return _open[0][2]
        if _open and _open[0][0] == os.getpid():
            _open[0][2].close()
        _open.clear()
        _open.append((os.getpid(), home, AppContext.open()))
        return _open[0][2]


@dataclass
class _Call:
    """One running use-case: what it says is handed to the thread that asked for it."""

    said: queue.SimpleQueue[Event | None] = field(default_factory=queue.SimpleQueue)
    values: list[object] = field(default_factory=list)
    error: BaseException | None = None


def perform(
    work: UseCase[T], progress: Progress, cancel: CancelToken | None
) -> tuple[T, list[str]]:
    """Run a use-case on a thread of its own; its value, and the sentences that it noted.

    Events are handed to ``progress`` on the calling thread. Ctrl+C (in a notebook: interrupting
    the kernel), an exception of ``progress``, or ``cancel`` from another thread stop the work,
    which leaves everything as it was; then KeyboardInterrupt, that exception, or Cancelled is
    raised. Work that was finished all the same gives its value.
    """
    token, call = cancel or CancelToken(), _Call()
    token.check()
    given = context()

    def body() -> None:
        try:
            call.values.append(work(given, token, call.said.put))
        except BaseException as error:  # noqa: BLE001 - raised on the calling thread
            call.error = error
        call.said.put(None)

    thread = threading.Thread(target=body, name="dpdesk-python", daemon=True)
    line = _line(progress)
    tell: Callable[[Event], object] = progress if callable(progress) else line or (lambda _: None)
    stopped, notes = _follow(thread, call, tell, token)
    if line is not None:
        line.clear()
    if isinstance(call.error, DpdeskError):
        _explain(call.error)
    if call.error is None:
        return call.values[0], notes  # type: ignore[return-value]
    if stopped is not None:
        raise stopped from (None if isinstance(call.error, Cancelled) else call.error)
    raise call.error


def _explain(error: DpdeskError) -> None:
    """Let a traceback show the hint, and lines that a plan lacks."""
    lines = error.details.get("lines")
    for note in (*(lines if isinstance(lines, tuple) else ()), error.hint):
        if note and note not in getattr(error, "__notes__", ()):
            error.add_note(str(note))


def _follow(
    thread: threading.Thread, call: _Call, tell: Callable[[Event], object], token: CancelToken
) -> tuple[BaseException | None, list[str]]:
    """Start the work, and hand on what is said until it has ended; what stopped it from this side,
    and notes.
    """
    stopped: BaseException | None = None
    notes: list[str] = []
    while True:
        try:
            if thread.ident is None:  # here, so that no interrupt leaves the work going on
                thread.start()
            event = call.said.get(timeout=_TICK)
            if event is None:
                return stopped, notes
            if isinstance(event, Note):
                notes.append(event.sentence)
            if stopped is None:
                tell(event)
        except queue.Empty:
            continue
        except BaseException as error:  # noqa: BLE001 - raised when the work has ended
            stopped = stopped or error
            token.cancel()


def _line(progress: Progress) -> ProgressLine | None:
    """The line of text that shows progress, where one is wanted."""
    shown = progress if isinstance(progress, bool) else progress is None and _is_read()
    return ProgressLine(sys.stderr, terminal=True) if shown else None


def _is_read() -> bool:
    """Whether a person sees what is written: on a terminal, or below a cell of a notebook."""
    if sys.stderr is None:
        return False
    return is_terminal(sys.stderr) or type(sys.stderr).__module__.startswith("ipykernel")
