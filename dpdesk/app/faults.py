"""Faults of the program itself: a report that holds no data, and one sentence.

The message of an unexpected exception and the values of variables can hold data about people, so a
report has neither: it lists where in the code the fault happened, and the versions.
"""

from __future__ import annotations

import errno
import os
import platform
import secrets
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from dpdesk import __version__
from dpdesk.core.errors import StorageError
from dpdesk.core.messages import msg
from dpdesk.core.shown import shortened

FOLDER = "crashes"


def fault_sentence(error: BaseException) -> str:
    """One sentence for the user about an error that nobody expected.

    A disk or memory that refuses is told as such; for everything else a report is written.
    """
    if isinstance(error, MemoryError):
        return "This computer does not have enough memory for this; nothing was written."
    if isinstance(error, OSError) and error.errno is not None:
        place = f"{shortened(str(error.filename))}: " if error.filename else ""
        full = error.errno == errno.ENOSPC
        reason = "the disk is full" if full else os.strerror(error.errno)
        return msg(
            "{place}A file could not be read or written ({reason}).", place=place, reason=reason
        )
    written = write_fault_report(error)
    kept = (
        msg("a report without data values is in {written}", written=written)
        if written
        else "no report was written"
    )
    return msg(
        "DPDesk stopped because of an internal error ({name}); {kept}.",
        name=type(error).__name__,
        kept=kept,
    )


def write_fault_report(error: BaseException) -> Path | None:
    """Write a report below DPDESK_HOME; its path, or None when that is not possible."""
    from dpdesk.core.home import default_home

    now = datetime.now(UTC)
    try:
        folder = default_home() / FOLDER
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / f"crash-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}.txt"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(fault_report(error, now))
    except (OSError, StorageError):
        return None
    return path


def fault_report(error: BaseException, now: datetime) -> str:
    """Where it happened and in which versions; no messages, no values."""
    lines = [
        f"DPDesk {__version__}, {now:%Y-%m-%d %H:%M:%S} UTC",
        f"Python {platform.python_version()} on {platform.system()} {platform.release()}",
        "",
    ]
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        lines.append(f"{type(current).__module__}.{type(current).__qualname__}")
        lines += [
            f"  {_short(frame.filename)}, line {frame.lineno}, in {frame.name}"
            for frame in traceback.extract_tb(current.__traceback__)
        ]
        current = current.__cause__ or current.__context__
    return "\n".join(lines) + "\n"


def _short(filename: str) -> str:
    """The file below the folder from which it was imported: no folder names of the user."""
    for root in sorted((path for path in sys.path if path), key=len, reverse=True):
        if filename.startswith(root + os.sep):
            return filename[len(root) + 1 :]
    return Path(filename).name
