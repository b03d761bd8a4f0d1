"""The entry of the program: the one place that knows both the window and the command line."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from dpdesk.cli.main import main as command_line
from dpdesk.core.errors import StorageError


def main() -> int:
    """Run ``dpdesk`` with the arguments of the process; returns its exit code."""
    return command_line(open_window=open_window)


def open_window(path: Path | None) -> int:
    """Open the window on ``path`` (None: the start screen); returns when it is closed.

    Raises StorageError ``window.no-display`` without a display, ``window.libraries`` when a system
    library is missing: the toolkit itself would abort.
    """
    if not _has_display():
        raise StorageError(
            "window.no-display",
            "There is no display to open the window on.",
            hint="Use the commands without a window (see `dpdesk --help`), or set DISPLAY.",
        )
    try:
        from dpdesk.ui.desk import run_window
    except ImportError as error:
        raise StorageError(
            "window.libraries",
            f"The window cannot start because a library is missing: {error}.",
            hint="Run `./installer/bootstrap run`, which installs what is missing.",
        ) from error
    return run_window(path)


def _has_display() -> bool:
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
