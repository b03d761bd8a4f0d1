"""One writer per project: a lock file beside it, held by the operating system.

The lock ends with the process that holds it, so a crash leaves nothing in the way. What the lock
file says (who, where, since when) is for people; whether somebody writes, the system alone tells.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from dpdesk.core import systems
from dpdesk.core.messages import msg
from dpdesk.core.shapes import read_json
from dpdesk.project.settings import host_name, user_name


def inside(folder: Path, relative: str | None) -> Path | None:
    """The path that lies at ``relative`` from ``folder``; None without one."""
    return None if relative is None else Path(os.path.normpath(folder / relative))


_LONGEST_NAME = 240
_TRIES = 20
_LARGEST = 4096


@dataclass(frozen=True)
class LockHolder:
    """Who has a project open for writing; texts are empty where nothing is known."""

    who: str = ""
    host: str = ""
    since: str = ""

    @classmethod
    def now(cls) -> LockHolder:
        """The user of this process on this computer, from now on."""
        since = datetime.now(UTC).replace(microsecond=0).isoformat()
        return cls(user_name(), host_name(), since)

    @property
    def sentence(self) -> str:
        """The holder in words: who, where, and since when."""
        who = self.who or "someone"
        where = f" on {self.host}" if self.host else ""
        try:
            moment = datetime.fromisoformat(self.since).astimezone()
        except ValueError:
            return f"{who}{where}"
        return msg(
            "{who}{where} (since {moment:%Y-%m-%d %H:%M})", who=who, where=where, moment=moment
        )


class WriterLock:
    """The held lock of one project; :meth:`release` gives it up."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self._file: IO[bytes] | None = file

    def release(self) -> None:
        """Give the lock up and remove its file; harmless when called again."""
        file, self._file = self._file, None
        if file is None:
            return
        with contextlib.suppress(OSError):
            systems.remove_held(self.path, file)
        file.close()


def lock_path(project: Path) -> Path:
    """The lock file of a project, beside it and hidden."""
    name = f".{project.name}.lock"
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = f".{hashlib.sha256(os.fsencode(project.name)).hexdigest()}.lock"
    return project.with_name(name)


def take_lock(project: Path) -> WriterLock | LockHolder:
    """Take the lock of a project, or say who has it.

    Raises OSError where no lock file can be made (a folder without write permission, a full disk),
    and with the code ELOOP where something else lies in its place: whoever may write to the folder
    could lead a lock, which is emptied and written, to a file of another person.
    """
    path = lock_path(project)
    for _ in range(_TRIES):
        file = _opened(path)
        taken = False
        try:
            if not systems.try_hold(file.fileno()):
                return _holder(file)
            taken = _is_at(file, path)
        finally:
            if not taken:
                file.close()
        if taken:
            _sign(file)
            return WriterLock(path, file)
    return LockHolder()


def _opened(path: Path) -> IO[bytes]:
    """The lock file, made if needed, without a buffer that is written when it is closed."""
    flags = os.O_RDWR | os.O_CREAT | systems.BINARY | systems.NO_LINK | systems.NO_WAIT
    try:
        handle = os.open(path, flags, 0o666)
    except OSError as error:
        if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
        raise
    facts = os.fstat(handle)
    if not stat.S_ISREG(facts.st_mode) or facts.st_nlink > 1 or path.is_symlink():
        os.close(handle)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return os.fdopen(handle, "r+b", buffering=0)


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether the locked file is still the one of that name: a holder may have removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except FileNotFoundError:
        return False


def _sign(file: IO[bytes]) -> None:
    """Write who holds it; the first byte stays free, since Windows locks it."""
    with contextlib.suppress(OSError):  # a full disk does not make the lock less of a lock
        file.truncate(0)
        file.seek(0)
        file.write(b" " + json.dumps(asdict(LockHolder.now())).encode("utf-8"))


def _holder(file: IO[bytes]) -> LockHolder:
    try:
        file.seek(1)
        found = read_json(file.read(_LARGEST).decode("utf-8"))
        texts = {key: found[key] for key in ("who", "host", "since")}
    except (OSError, ValueError, TypeError, KeyError):
        return LockHolder()
    if not all(isinstance(text, str) for text in texts.values()):
        return LockHolder()
    return LockHolder(**texts)
