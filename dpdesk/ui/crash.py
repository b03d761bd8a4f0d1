"""One reporter for every unexpected fault; it writes places in the program, never data values.

``install`` takes over ``sys.excepthook``, ``threading.excepthook`` and Qt's messages, and lets
``faulthandler`` write to a file in the program's folder. What that file holds at the next start is
:attr:`CrashReporter.last_crash`. Faults arrive as ``reported(Fault)`` in the main thread, whatever
thread they happened in; the window shows them in a band.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

import shiboken6
from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    Qt,
    QtMsgType,
    Signal,
    Slot,
    qInstallMessageHandler,
)

from dpdesk.core.errors import DpdeskError
from dpdesk.ui.jobs.hub import places
from dpdesk.ui.words.spoken import said_line

CRASH_FILE = "crash.log"
FAULT_FILE = "faults.log"
FAULT_FILE_MOST = 200_000
_QUIET = (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg, QtMsgType.QtWarningMsg)


@dataclass(frozen=True)
class Fault:
    """A fault in words for people; ``places`` names the program's own lines."""

    sentence: str
    places: str


class CrashReporter(QObject):
    """Keeps the logs and tells the window; one per program."""

    reported = Signal(object)
    _arrived = Signal(object)

    def __init__(self, home: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._home = home
        self._crash: IO[str] | None = None
        self._installed = False
        self._before = (sys.excepthook, threading.excepthook)
        self.last_crash = _read(home / CRASH_FILE)
        self._arrived.connect(self._on_arrived, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Take over all hooks."""
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self.on_exception
        threading.excepthook = self._on_thread_exception
        qInstallMessageHandler(self._on_qt_message)
        self._installed = True
        try:
            self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._crash = _open_private(self._home / CRASH_FILE)
        except OSError:
            return
        faulthandler.enable(self._crash, all_threads=True)

    def uninstall(self) -> None:
        """Give all hooks back; an orderly end leaves no crash file."""
        if not self._installed:
            return
        self._installed = False
        sys.excepthook, threading.excepthook = self._before
        qInstallMessageHandler(None)
        if self._crash is not None:
            faulthandler.disable()
            self._crash.close()
            self._crash = None
            (self._home / CRASH_FILE).unlink(missing_ok=True)

    def on_exception(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        """An exception that nobody caught, in any thread."""
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        if isinstance(error, DpdeskError):
            self._report(Fault(said_line(error), places(error)))
            return
        sentence = self.tr("A fault in DPDesk: {kind}. Your work is still here; save it.")
        self._report(Fault(sentence.format(kind=kind.__name__), places(error)))

    def _on_thread_exception(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self.on_exception(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)

    def _on_qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        # Qt's texts may quote what a widget shows, so only their category is kept.
        category = context.category or "default"
        if kind in _QUIET:
            if os.environ.get("DPDESK_QT_MESSAGES"):
                sys.stderr.write(f"{category}: {text}\n")
            return
        place = f"Qt {category}: {context.file or '?'}:{context.line}"
        self._report(Fault(self.tr("The window system reported a fault."), place))

    def _report(self, fault: Fault) -> None:
        self._write(fault)
        if shiboken6.isValid(self):
            self._arrived.emit(fault)

    def _write(self, fault: Fault) -> None:
        path = self._home / FAULT_FILE
        try:
            if path.exists() and path.stat().st_size > FAULT_FILE_MOST:
                path.unlink()
            with _open_private(path, append=True) as file:
                file.write(f"{fault.places}\n\n")
        except OSError:
            return

    @Slot(object)
    def _on_arrived(self, fault: Fault) -> None:
        self.reported.emit(fault)


def _open_private(path: Path, *, append: bool = False) -> IO[str]:
    flags = os.O_CREAT | os.O_WRONLY | (os.O_APPEND if append else os.O_TRUNC)
    return os.fdopen(os.open(path, flags, 0o600), "a" if append else "w", encoding="utf-8")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
