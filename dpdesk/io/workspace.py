"""The private folder of a running process, and the sweeping of what dead processes left.

Raw data may lie at rest only here: spill of the database, transcoded text, half-written things.
Each process has its own folder with mode 0700 and a lock file that it holds as long as it lives;
a folder whose lock can be taken belonged to a process that died, and is removed at the next start
together with the half-written folders that it had journalled beside its outputs.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import threading
import time
import uuid
from pathlib import Path
from typing import IO

from dpdesk.core.errors import StorageError
from dpdesk.io import locks
from dpdesk.io.failures import private_error, storage_error

_LOCK = "lock"
_JOURNAL = "partial.jsonl"
SMALL_PARTIAL = ".new"  # how the names end under which small files of the home folder are written
_LONG_AGO = 3600.0
_PARTIAL_PREFIX = ".dpdesk-partial-"


def default_home() -> Path:
    """``DPDESK_HOME``, or the platform's per-user data folder when that is unset."""
    named = os.environ.get("DPDESK_HOME")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("dpdesk", appauthor=False))


def home_of(private: Path) -> Path:
    """The home folder of a path from :meth:`Workspace.new_path`."""
    return private.parents[2]


class Workspace:
    """One process's private folder below the home folder; use :meth:`open`.

    ``home`` holds what lasts (settings, ledgers); ``folder`` is private to this process and is
    removed by :meth:`close`, at exit, or by the next start after a crash. Safe to use from any
    thread.
    """

    def __init__(self, home: Path, folder: Path, lock: IO[bytes]) -> None:
        self.home = home
        self.folder = folder
        self._lock = lock
        self._guard = threading.Lock()
        self._partials: set[Path] = set()
        self._closed = False
        atexit.register(self.close)

    @classmethod
    def open(cls, home: Path | None = None) -> Workspace:
        """Sweep what dead processes left, then make this process's folder.

        Raises StorageError ``storage.*`` when the home folder cannot be made or written.
        """
        home = (home if home is not None else default_home()).absolute()
        root = home / "work"
        folder = root / f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            root.mkdir(exist_ok=True, mode=0o700)
            root.chmod(0o700)
            with (root / ".sweep").open("ab") as gate:
                locks.hold(gate.fileno())
                _sweep(root)
                _sweep_small(home)
                folder.mkdir(mode=0o700)
                lock = (folder / _LOCK).open("ab")
                locks.hold(lock.fileno())
        except OSError as problem:
            shutil.rmtree(folder, ignore_errors=True)
            raise private_error(problem, home, "prepare the work folder in") from problem
        return cls(home, folder, lock)

    def new_path(self, suffix: str = "") -> Path:
        """A path inside the private folder that nothing uses yet; the file is not made."""
        return self.folder / f"{uuid.uuid4().hex}{suffix}"

    def partial_beside(self, target: Path) -> Path:
        """Make a hidden 0700 folder beside ``target``, journalled for the next start.

        Raises StorageError when the folder that holds ``target`` is missing or not writable, or
        the journal cannot be written.
        """
        partial = target.absolute().parent / f"{_PARTIAL_PREFIX}{uuid.uuid4().hex}"
        with self._guard:
            self._partials.add(partial)
            try:
                self._write_journal()
                partial.mkdir(mode=0o700)
            except OSError as problem:
                self._partials.discard(partial)
                raise storage_error(problem, target, "write") from problem
            except StorageError:
                self._partials.discard(partial)
                raise
        return partial

    def forget_partial(self, path: Path) -> None:
        """Strike a partial folder from the journal, after it was renamed or removed.

        Its name is never used again, so it does no harm if a full disk keeps it there.
        """
        with self._guard:
            self._partials.discard(path.absolute())
            if not self._closed:
                with contextlib.suppress(StorageError):
                    self._write_journal()

    def close(self) -> None:
        """Remove everything of this process; harmless when called again."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            for partial in self._partials:
                shutil.rmtree(partial, ignore_errors=True)
            self._lock.close()  # first: Windows removes no open file
            shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.close)

    def _write_journal(self) -> None:
        journal = self.folder / _JOURNAL
        fresh = self.folder / f"{_JOURNAL}.new"
        try:
            with fresh.open("w", encoding="utf-8", errors="surrogateescape") as out:
                for partial in sorted(self._partials):
                    out.write(json.dumps(str(partial)) + "\n")
                out.flush()
                os.fsync(out.fileno())
            fresh.replace(journal)
        except OSError as problem:
            raise private_error(problem, self.home, "write in") from problem


def _sweep(root: Path) -> None:
    """Remove the folders below ``root`` whose owner is dead, with their journalled partials."""
    for folder in root.iterdir():
        if folder.is_symlink() or not folder.is_dir():
            continue
        if not _is_alive(folder):
            _remove_remains(folder)


def _sweep_small(home: Path) -> None:
    """Remove small files of the home folder that nobody can still be writing."""
    for path in home.glob(f".*{SMALL_PARTIAL}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - _LONG_AGO:
                path.unlink()


def _is_alive(folder: Path) -> bool:
    """Whether a living process holds the folder; one that just ended may take it away meanwhile."""
    try:
        with (folder / _LOCK).open("rb") as lock:
            return not locks.try_hold(lock.fileno())
    except FileNotFoundError:
        return False


def _remove_remains(folder: Path) -> None:
    """Remove one dead process's folder; only journalled names of our own pattern are touched."""
    for partial in _journalled(folder / _JOURNAL):
        if partial.name.startswith(_PARTIAL_PREFIX) and not partial.is_symlink():
            shutil.rmtree(partial, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _journalled(journal: Path) -> list[Path]:
    try:
        lines = journal.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    paths: list[Path] = []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, str):
            paths.append(Path(value))
    return paths
