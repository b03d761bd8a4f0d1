"""The private folder of a running process, and the sweeping of what dead processes left.

Raw data may lie at rest only here: spill of the database, transcoded text, half-written things.
Each process has its own folder with mode 0700 and a lock file that it holds as long as it lives;
a folder whose lock can be taken belonged to a process that died, and is removed at the next start
together with the half-written folders that it had journalled beside its outputs.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import shutil
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dpdesk.core.errors import Cancelled, StorageError
from dpdesk.core.home import default_home
from dpdesk.core.messages import msg
from dpdesk.core.shapes import read_json
from dpdesk.core.systems import NotAFileError, hold, open_lock, open_plain, try_hold
from dpdesk.io.failures import private_error, storage_error

_LOCK = "lock"
_JOURNAL = "partial.jsonl"
SMALL_PARTIAL = ".new"  # how the names end under which small files of the home folder are written
_GATE, _CLAIM = ".sweep", ".claim-"
_LONG_AGO = 3600.0
_PARTIAL_PREFIX = ".dpdesk-partial-"
_TOGETHER = "together"


@dataclass(frozen=True)
class Placed:
    """One of several files that belong together: its place, by which it is known there, and where
    the file that was there is kept meanwhile.
    """

    place: Path
    mark: tuple[int, int]
    kept: Path | None

    def came(self) -> bool:
        """Whether the new file is in its place, and not one that others put there since."""
        return mark_of(self.place) == self.mark

    def undo(self) -> None:
        """Put back what was there, which may be nothing. Raises OSError."""
        if self.kept is not None and os.path.lexists(self.kept):
            self.kept.replace(self.place)
        else:
            self.place.unlink()


def mark_of(path: Path) -> tuple[int, int] | None:
    """By which a file is known again under another name; None where there is none."""
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def settle(files: Sequence[Placed]) -> None:
    """Undo what came of files that belong together, unless all of them are there."""
    came = [each for each in files if each.came()]
    for each in came if len(came) < len(files) else ():
        with contextlib.suppress(OSError):
            each.undo()


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
        self._partials: dict[Path, list[Path]] = {}  # with the folders made above each
        self._sets: list[tuple[Placed, ...]] = []
        self._claims: dict[Path, IO[bytes]] = {}
        self._closed = False
        self._placed = False
        atexit.register(self.close)

    @classmethod
    def open(cls, home: Path | None = None) -> Workspace:
        """Sweep what dead processes left, then make this process's folder.

        Raises StorageError ``storage.*`` when the home folder cannot be made or written, or has a
        name that is no text: DuckDB could not keep anything in it.
        """
        home = (home if home is not None else default_home()).absolute()
        if not _is_text(home):
            raise StorageError(
                "storage.name",
                msg("{home}: the name of this folder is not text in UTF-8.", home=home),
                hint="Set DPDESK_HOME to a folder with another name.",
            )
        root = home / "work"
        folder = root / f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
        try:
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            root.mkdir(exist_ok=True, mode=0o700)
            root.chmod(0o700)
            with open_lock(root / _GATE) as gate:
                hold(gate.fileno())
                _sweep(root)
                _sweep_small(home)
                folder.mkdir(mode=0o700)
                lock = open_lock(folder / _LOCK)
                hold(lock.fileno())
        except OSError as problem:
            shutil.rmtree(folder, ignore_errors=True)
            raise private_error(problem, home, "prepare the work folder in") from problem
        return cls(home, folder, lock)

    def new_path(self, suffix: str = "") -> Path:
        """A path inside the private folder that nothing uses yet; the file is not made."""
        return self.folder / f"{uuid.uuid4().hex}{suffix}"

    def partial_beside(self, target: Path) -> Path:
        """Make a hidden 0700 folder beside ``target``, journalled for the next start.

        Missing folders above ``target`` are made too; those that are empty when the partial folder
        has gone are removed again. Raises StorageError when a folder cannot be made or the journal
        cannot be written; Cancelled when the workspace is closed.
        """
        target = target.absolute()
        partial = target.parent / f"{_PARTIAL_PREFIX}{uuid.uuid4().hex}"
        with self._guard:
            if self._closed:
                raise Cancelled
            made = [folder for folder in target.parents if not folder.exists()]
            self._partials[partial] = made
            try:
                self._write_journal()
                for folder in (*reversed(made), partial):
                    folder.mkdir(mode=0o700 if folder == partial else 0o777, exist_ok=True)
            except BaseException as problem:
                self._forget(partial)
                if isinstance(problem, OSError):
                    raise storage_error(problem, target, "write") from problem
                raise
        return partial

    def forget_partial(self, path: Path) -> None:
        """Strike a partial folder from the journal, after it was renamed or removed.

        Its name is never used again, so it does no harm if a full disk keeps it there.
        """
        with self._guard:
            self._forget(path.absolute())
            if not self._closed:
                with contextlib.suppress(StorageError):
                    self._write_journal()

    def _forget(self, partial: Path) -> None:
        _remove_empty(self._partials.pop(partial, []))

    @contextmanager
    def claiming(self, target: Path) -> Iterator[None]:
        """In the block no other run of this home folder writes to ``target``.

        So nothing is spent for a release that finds its place taken in the end. Raises StorageError
        ``out.busy``, and ``storage.*`` where the home folder cannot be written.
        """
        root = self.folder.parent
        place = os.fsencode(os.path.realpath(target))
        name = root / f"{_CLAIM}{hashlib.sha256(place).hexdigest()[:32]}"
        try:
            with open_lock(root / _GATE) as gate:
                hold(gate.fileno())  # one at a time makes, takes or removes the file
                claim = open_lock(name)
                free = try_hold(claim.fileno())
                if free:
                    self._claims[name] = claim
                else:
                    claim.close()
        except OSError as problem:
            raise private_error(problem, self.home, "write in") from problem
        if not free:
            raise StorageError(
                "out.busy",
                msg("{out}: another run is writing a release there.", out=target),
                hint="Wait for it, or choose another folder.",
            )
        try:
            yield
        finally:
            with contextlib.suppress(OSError), open_lock(root / _GATE) as gate:
                hold(gate.fileno())
                self._give_up(name)

    def close(self) -> None:
        """Remove everything of this process; harmless when called again."""
        with self._guard:
            self._remove_all()
        atexit.unregister(self.close)

    @contextmanager
    def placing(self, target: Path, *, counts: bool = True) -> Iterator[None]:
        """The block puts what is finished in its place ``target``, at once or not at all.

        Without ``counts`` it is no result, but something that the program notes on the way: the
        work may still be abandoned afterwards. Raises Cancelled after :meth:`abandon`.
        """
        with self._guard:
            if self._closed:
                raise Cancelled
            yield
            inside = any(target.absolute().is_relative_to(partial) for partial in self._partials)
            self._placed |= counts and not inside

    @contextmanager
    def belonging(self, files: Sequence[Placed]) -> Iterator[None]:
        """In the block files that belong together take their places, one after another.

        It is journalled, so that the next start puts back what was there before where the program
        was killed between two of them. Raises StorageError where the journal cannot be written.
        """
        given = tuple(files)
        with self._guard:
            self._sets.append(given)
            try:
                self._write_journal()
            except BaseException:
                self._sets.remove(given)
                raise
        try:
            yield
        finally:
            with self._guard:
                if not self._closed:
                    self._sets.remove(given)
                    with contextlib.suppress(StorageError):
                        self._write_journal()

    def abandon(self) -> bool:
        """Remove everything of this process though its threads may be at work; it ends now.

        False, and nothing is removed, when something finished has been put in its place.
        """
        with self._guard:
            if not self._placed:
                for folder in (*self._partials, self.folder):
                    with contextlib.suppress(OSError):  # so that no thread finds its way there
                        folder.rename(_gone(folder))
                self._remove_all()
            return not self._placed

    def _give_up(self, claim: Path) -> None:
        """Remove the file of a claim; to be called behind the gate."""
        stream = self._claims.pop(claim, None)
        if stream is not None:
            stream.close()  # first: Windows removes no open file
            claim.unlink(missing_ok=True)

    def _give_up_all(self) -> None:
        """What another program keeps from being removed now goes at a later start."""
        if not self._claims:
            return
        with contextlib.suppress(OSError), open_lock(self.folder.parent / _GATE) as gate:
            for claim in list(self._claims) if try_hold(gate.fileno()) else ():
                self._give_up(claim)

    def _remove_all(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._give_up_all()
        for files in self._sets:
            settle(files)
        for partial, made in self._partials.items():
            _remove_partial(partial, made)
        self._lock.close()  # first: Windows removes no open file
        for folder in (self.folder, _gone(self.folder)):
            shutil.rmtree(folder, ignore_errors=True)

    def _write_journal(self) -> None:
        journal = self.folder / _JOURNAL
        fresh = self.folder / f"{_JOURNAL}.new"
        try:
            with fresh.open("w", encoding="utf-8", errors="surrogateescape") as out:
                for partial, made in self._partials.items():
                    out.write(json.dumps([str(partial), *map(str, made)]) + "\n")
                for files in self._sets:
                    out.write(json.dumps({_TOGETHER: [_plain(each) for each in files]}) + "\n")
                out.flush()
                os.fsync(out.fileno())
            fresh.replace(journal)
        except OSError as problem:
            raise private_error(problem, self.home, "write in") from problem


def _is_text(path: Path) -> bool:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:  # bytes that stand for no letters
        return False
    return True


def _sweep(root: Path) -> None:
    """Remove the folders below ``root`` whose owner is dead, with their journalled partials."""
    for claim in root.glob(f"{_CLAIM}*"):
        _remove_claim(claim)
    for folder in root.iterdir():
        if folder.is_symlink() or not folder.is_dir():
            continue
        if not _is_alive(folder):
            _remove_remains(folder)


def _remove_claim(claim: Path) -> None:
    """Remove the file of a claim that nobody has any more; to be called behind the gate."""
    with contextlib.suppress(OSError):
        with open_plain(claim) as lock:
            free = try_hold(lock.fileno())
        if free:
            claim.unlink()


def _sweep_small(home: Path) -> None:
    """Remove small files of the home folder that nobody can still be writing."""
    for above in ("", "*/", "*/*/"):  # keys, receipts and their lists lie in folders below it
        for path in home.glob(f"{above}.*{SMALL_PARTIAL}"):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < time.time() - _LONG_AGO:
                    path.unlink()


def _is_alive(folder: Path) -> bool:
    """Whether a living process holds the folder; one that just ended may take it away meanwhile."""
    try:
        with open_plain(folder / _LOCK) as lock:
            return not try_hold(lock.fileno())
    except (FileNotFoundError, NotAFileError):
        return False


def _remove_remains(folder: Path) -> None:
    """Remove one dead process's folder and what its journal names."""
    lines = _journalled(folder / _JOURNAL)
    for files in _sets_in(lines):
        settle(files)
    for partial, *made in _partials_in(lines):
        _remove_partial(partial, made)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_partial(partial: Path, made: Sequence[Path]) -> None:
    """Remove a partial folder, if its name is of our pattern, and empty folders above it."""
    for folder in (partial, _gone(partial)):
        if partial.name.startswith(_PARTIAL_PREFIX) and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)
    _remove_empty(made)


def _gone(folder: Path) -> Path:
    """The name under which a folder is removed that threads may still be writing to."""
    return folder.with_name(f"{folder.name}-gone")


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, innermost first, as far as they are empty."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _journalled(journal: Path) -> list[object]:
    """What the lines of a journal hold; those that cannot be read are left out."""
    try:
        with open_plain(journal) as file:
            lines = file.read().decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    found: list[object] = []
    for line in lines:
        with contextlib.suppress(ValueError):
            found.append(read_json(line))
    return found


def _partials_in(lines: Sequence[object]) -> Iterator[list[Path]]:
    for value in lines:
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            yield [Path(item) for item in value]


def _sets_in(lines: Sequence[object]) -> Iterator[tuple[Placed, ...]]:
    for value in lines:
        if isinstance(value, dict) and isinstance(value.get(_TOGETHER), list):
            with contextlib.suppress(TypeError, ValueError):
                yield tuple(map(_placed, value[_TOGETHER]))


def _plain(file: Placed) -> list[object]:
    return [str(file.place), *file.mark, "" if file.kept is None else str(file.kept)]


def _placed(value: object) -> Placed:
    """A file as the journal holds it. Raises TypeError and ValueError."""
    if not isinstance(value, list):
        raise TypeError
    place, device, number, kept = value
    return Placed(Path(place), (int(device), int(number)), Path(kept) if kept else None)
