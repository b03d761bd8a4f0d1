"""Finding a project's files again: where they were, beside a moved project, or by their content.

A file counts as unchanged when its size and its time are those that were noted, or else when its
SHA-256 is. A file that is looked for is known by its size first and then by its SHA-256, so that a
folder full of large files is not read for nothing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.plan import HierarchyFile
from dpdesk.io.safewrite import hash_file
from dpdesk.project.candidates import Candidate, CandidateShelf, ShelfSnapshot
from dpdesk.project.file import rows
from dpdesk.project.file.codec import CodecError
from dpdesk.project.file.locking import inside
from dpdesk.project.file.parts import (
    DecisionRecord,
    PartError,
    PartSource,
    ProjectContents,
    ReleaseRecord,
    SourceRecord,
)
from dpdesk.project.file.rows import Row
from dpdesk.project.history import History, HistorySnapshot, Moment
from dpdesk.project.work import WorkState

_STEP = "Look for the files"
_MOST_LOOKED_AT, _DEEPEST = 2_000, 3


class SourceStatus(Enum):
    """What has become of a file since the project noted it."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    CHANGED = "changed"
    MISSING = "missing"


@dataclass(frozen=True)
class FoundSource:
    """A file that the project read. ``path`` is where it is now; None when it was not found."""

    record: SourceRecord
    fate: SourceStatus
    path: Path | None

    @property
    def sentence(self) -> str:
        """What to know about it; empty when there is nothing."""
        name = self.record.path.name
        seen = f"{self.record.seen.astimezone():%Y-%m-%d %H:%M}"
        if self.fate is SourceStatus.MOVED:
            return msg(
                "{name} was found in {path}.", name=name, path=self.path.parent if self.path else ""
            )
        if self.fate is SourceStatus.CHANGED:
            return msg("{name} has changed since it was read on {seen}.", name=name, seen=seen)
        if self.fate is SourceStatus.MISSING:
            return msg("{path} no longer exists.", path=self.record.path)
        return ""


def newest(records: Iterable[SourceRecord]) -> dict[Path, SourceRecord]:
    """The last record of each file: a file may have been as it was before once more."""
    found: dict[Path, SourceRecord] = {}
    for record in records:
        known = found.get(record.path)
        if known is None or record.seen >= known.seen:
            found[record.path] = record
    return found


def find_sources(
    loaded: Loaded, folder: Path, token: CancelToken, report: Report
) -> tuple[FoundSource, ...]:
    """Where the files of a project that now lies in ``folder`` are, and whether they changed.

    Raises Cancelled.
    """
    records = newest(loaded.contents.sources)
    found: list[FoundSource] = []
    beside = _Beside(folder, token)
    for number, record in enumerate(records.values()):
        report(StepProgress(_STEP, number, len(records), "files"))
        near = inside(folder, loaded.bases.get(str(record.path)))
        found.append(_find(record, near, beside, token))
    return tuple(found)


def _find(
    record: SourceRecord, near: Path | None, beside: _Beside, token: CancelToken
) -> FoundSource:
    places = [record.path] if near is None else list(dict.fromkeys((near, record.path)))
    for place in places:
        if _is_same(record, place, token):
            fate = SourceStatus.UNCHANGED if place == record.path else SourceStatus.MOVED
            return FoundSource(record, fate, place)
    other = beside.find(record)
    if other is not None:
        return FoundSource(record, SourceStatus.MOVED, other)
    there = next((place for place in places if place.is_file()), None)
    if there is None:
        return FoundSource(record, SourceStatus.MISSING, None)
    return FoundSource(record, SourceStatus.CHANGED, there)


def _is_same(record: SourceRecord, path: Path, token: CancelToken) -> bool:
    try:
        facts = path.stat()
        if facts.st_size != record.size or not path.is_file():
            return False
        if facts.st_mtime_ns == record.modified:
            return True
        return hash_file(path.resolve(), token)[0] == record.sha256
    except OSError:
        return False


class _Beside:
    """The files in and below the project's folder, by size; listed once, when first asked."""

    def __init__(self, folder: Path, token: CancelToken) -> None:
        self._folder, self._token = folder, token
        self._sizes: dict[int, list[Path]] | None = None

    def find(self, record: SourceRecord) -> Path | None:
        """The file with the noted content; one of the same name rather than another."""
        if self._sizes is None:
            self._sizes = self._listed()
        alike = self._sizes.get(record.size, [])
        for path in sorted(alike, key=lambda path: (path.name != record.path.name, str(path))):
            if _is_same(record, path, self._token):
                return path
        return None

    def _listed(self) -> dict[int, list[Path]]:
        sizes: dict[int, list[Path]] = {}
        looked = 0
        for place, folders, names in os.walk(self._folder):
            self._token.check()
            depth = len(Path(place).relative_to(self._folder).parts)
            folders[:] = [] if depth >= _DEEPEST else sorted(folders)
            for name in sorted(names):
                looked += 1
                if looked > _MOST_LOOKED_AT:
                    return sizes
                path = Path(place, name)
                try:
                    sizes.setdefault(path.stat().st_size, []).append(path)
                except OSError:
                    continue
        return sizes


def relocated(loaded: Loaded, folder: Path, found: Iterable[FoundSource]) -> ProjectContents:
    """The contents with paths to where the files are now; states that need none stay the same.

    ``folder`` is the project's folder now.
    """
    moved = {
        str(one.record.path): one.path
        for one in found
        if one.path is not None and one.path != one.record.path
    }
    contents = loaded.contents
    if not moved and folder == loaded.folder:
        return contents
    place = _Relocation(moved, folder, loaded.bases)
    history = contents.history
    moments = tuple(place.moment(moment) for moment in history.moments)
    candidates = tuple(place.candidate(one) for one in contents.shelf.candidates)
    return replace(
        contents,
        history=replace(history, moments=moments),
        shelf=replace(contents.shelf, candidates=candidates),
        sources=tuple(
            replace(one, path=moved.get(str(one.path)) or one.path) for one in contents.sources
        ),
        releases=tuple(replace(one, path=place.release(one.path)) for one in contents.releases),
    )


class _Relocation:
    def __init__(
        self, moved: Mapping[str, Path], folder: Path, bases: Mapping[str, str | None]
    ) -> None:
        self._moved, self._folder, self._bases = moved, folder, bases

    def moment(self, moment: Moment) -> Moment:
        """The same moment object when nothing of it has moved."""
        state = self.state(moment.state)
        return moment if state is moment.state else replace(moment, state=state)

    def candidate(self, candidate: Candidate) -> Candidate:
        """The same candidate object when nothing of it has moved."""
        work = self.state(candidate.work)
        return candidate if work is candidate.work else replace(candidate, work=work)

    def release(self, path: Path) -> Path:
        """A release folder that came along with the project, else where it was."""
        near = inside(self._folder, self._bases.get(str(path)))
        return near if near is not None and near.is_dir() and not path.is_dir() else path

    def state(self, state: WorkState) -> WorkState:
        """The state with its paths as they are now."""
        near = inside(self._folder, self._bases.get(str(state.base)))
        files = _files(state)
        if not files:
            gone = near is not None and near.is_dir() and not state.base.is_dir()
            return replace(state, base=near) if gone and near is not None else state
        where = {path: self._now(state.base, path, near) for path in files}
        if all(where[path] == _joined(state.base, path) for path in files):
            return state
        if near is not None and all(where[path] == _joined(near, path) for path in files):
            return replace(state, base=near)
        base = near if near is not None and near.is_dir() else state.base
        return _with_paths(state, base, lambda path: _shortest(where[path], base))

    def _now(self, base: Path, path: str, near: Path | None) -> Path:
        old = _joined(base, path)
        known = self._moved.get(str(old))
        if known is not None:
            return known
        # A file that was never read has no record: it came along, or is where it was.
        if near is not None and not old.exists() and _joined(near, path).exists():
            return _joined(near, path)
        return old


def _joined(base: Path, path: str) -> Path:
    return Path(os.path.normpath(base / path))


def _shortest(path: Path, base: Path) -> str:
    try:
        return Path(os.path.relpath(path, base)).as_posix()
    except ValueError:  # another drive
        return str(path)


def _files(state: WorkState) -> tuple[str, ...]:
    """The paths that a state names, as it writes them."""
    source = state.source
    named = [] if source is None or source.is_url else [source.path]
    named += [] if source is None else [one for one in (source.metadata, source.catalog) if one]
    named += [one.path for one in state.hierarchies.values() if isinstance(one, HierarchyFile)]
    return tuple(dict.fromkeys(named))


def files_of(state: WorkState) -> dict[Path, str]:
    """The files that a state reads, whole paths, with their kind."""
    hierarchies = {one.path for one in state.hierarchies.values() if isinstance(one, HierarchyFile)}
    return {
        _joined(state.base, path): "hierarchy" if path in hierarchies else "data"
        for path in _files(state)
    }


def _with_paths(state: WorkState, base: Path, path: Callable[[str], str]) -> WorkState:
    return replace(
        state,
        base=base,
        source=state.source and state.source.with_paths(path),
        hierarchies=MappingProxyType(
            {
                name: HierarchyFile(path(one.path)) if isinstance(one, HierarchyFile) else one
                for name, one in state.hierarchies.items()
            }
        ),
    )


# Reading a whole project: strictly, or as much of a damaged one as can be read.


_T = TypeVar("_T")
_MOST_GAPS = 1_000
WRONG = (sqlite3.Error, CodecError, PartError, ValueError, TypeError, OverflowError)


@dataclass(frozen=True)
class Loaded:
    """What was read. ``folder`` is the project's folder when it was written last.

    ``bases`` gives, for the base folders of states and for the paths of sources and releases, where
    they lay relative to that folder. ``parts`` are the hashes in the file, ``used`` those that
    something names.
    """

    contents: ProjectContents
    folder: Path
    bases: dict[str, str | None] = field(repr=False)
    source: PartSource = field(repr=False)
    parts: frozenset[str] = field(repr=False)


@dataclass(frozen=True)
class Lost:
    """How much of a damaged project can be read: moments of the history, and candidates.

    ``moments_of`` is how many moments it had at least.
    """

    moments: int
    moments_of: int
    candidates: int


def load(connection: sqlite3.Connection) -> Loaded:
    """Read everything, inside the caller's transaction.

    Raises sqlite3.Error, CodecError, PartError, ValueError for whatever is not as it should be.
    """
    reader = _Reader(connection)
    meta = reader.meta()
    moments, followed = [], {}
    for row in connection.execute(f"SELECT {rows.MOMENTS} FROM moments ORDER BY id"):
        moment, follower = reader.moment(row)
        moments.append(moment)
        if follower is not None:
            followed[moment.id] = follower
    history = HistorySnapshot(
        tuple(moments),
        int(meta["current"]),
        int(meta["saved"]) if meta["saved"] else None,
        MappingProxyType(followed),
    )
    History.restored(history)
    found = connection.execute(f"SELECT {rows.CANDIDATES} FROM candidates ORDER BY id")
    candidates = tuple(reader.candidate(row) for row in found)
    shelf = ShelfSnapshot(candidates, int(meta["next_candidate"]))
    CandidateShelf.restored(shelf)
    contents = ProjectContents(meta["identity"], meta["written_by"], history, shelf)
    contents = reader.records(contents)
    names = frozenset(str(row[0]) for row in connection.execute("SELECT hash FROM parts"))
    return Loaded(contents, Path(meta["folder"]), reader.bases, reader.parts, names)


class _Reader:
    """Turns rows into values and remembers where things lay."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.parts = PartSource(self._part)
        self.bases: dict[str, str | None] = {}

    def _part(self, name: str) -> bytes | None:
        found = self._connection.execute("SELECT data FROM parts WHERE hash = ?", (name,))
        row = found.fetchone()
        if row is None or not isinstance(row[0], bytes):
            return None
        return row[0]

    def meta(self) -> dict[str, str]:
        """The table ``meta``; every key that is needed is there."""
        meta = {str(k): str(v) for k, v in self._connection.execute("SELECT key, value FROM meta")}
        for key in ("identity", "written_by", "current", "saved", "next_candidate", "folder"):
            if key not in meta:
                raise CodecError(msg("the key {key} is missing", key=key))
        return meta

    def moment(self, row: Row) -> tuple[Moment, int | None]:
        moment, follower, where = rows.moment_from(row, self.parts)
        self.bases[where.absolute] = where.relative
        return moment, follower

    def candidate(self, row: Row) -> Candidate:
        candidate, where = rows.candidate_of(row, self.parts)
        self.bases[where.absolute] = where.relative
        return candidate

    def records(self, contents: ProjectContents, *, lenient: bool = False) -> ProjectContents:
        """The contents with sources, releases, decisions and audit entries."""
        sources = self._all(
            f"SELECT {rows.SOURCES} FROM sources ORDER BY id", self._source, lenient
        )
        releases = self._all(
            f"SELECT {rows.RELEASES} FROM releases ORDER BY id", self._release, lenient
        )
        decisions = self._all(
            f"SELECT {rows.DECISIONS} FROM decisions ORDER BY rowid", self._decision, lenient
        )
        audit = self._all(f"SELECT {rows.AUDIT} FROM audit ORDER BY n", rows.audit_from, lenient)
        return replace(
            contents, sources=sources, releases=releases, decisions=decisions, audit=audit
        )

    def _all(self, query: str, make: Callable[[Row], _T], lenient: bool) -> tuple[_T, ...]:
        if not lenient:
            return tuple(make(row) for row in self._connection.execute(query))
        found: list[_T] = []
        with suppress(*WRONG):
            for row in self._connection.execute(query):
                with suppress(*WRONG):
                    found.append(make(row))
        return tuple(found)

    def _source(self, row: Row) -> SourceRecord:
        record, relative = rows.source_from(row, self.parts)
        self.bases[str(record.path)] = relative
        return record

    def _release(self, row: Row) -> ReleaseRecord:
        record, relative = rows.release_from(row, self.parts)
        self.bases[str(record.path)] = relative
        return record

    def _decision(self, row: Row) -> DecisionRecord:
        return rows.decision_from(row, self.parts)


def salvage(connection: sqlite3.Connection) -> tuple[Loaded | None, Lost]:
    """Whatever of a damaged project can still be read; None when no moment can.

    Each moment and candidate is looked up by its number, so that a damaged page costs only what
    lies on it. A moment whose predecessor is lost follows the nearest one before it.
    """
    reader = _Reader(connection)
    meta: dict[str, str] = {}
    with suppress(*WRONG):
        meta = reader.meta()
    found = _each(connection, "moments", rows.MOMENTS, reader.moment)
    kept = _each(connection, "candidates", rows.CANDIDATES, reader.candidate)
    named = [number for _, number in found.values() if number is not None]
    named += [int(meta[key]) for key in ("current", "saved") if meta.get(key, "").isdigit()]
    lost = Lost(len(found), max((*found, *named, -1)) + 1, len(kept))
    if not found:
        return None, lost
    history = _replanted([moment for moment, _ in found.values()], meta.get("current", ""))
    candidates = tuple(kept.values())
    shelf = ShelfSnapshot(candidates, max((one.id for one in candidates), default=0) + 1)
    contents = ProjectContents(meta.get("identity", ""), meta.get("written_by", ""), history, shelf)
    contents = reader.records(contents, lenient=True)
    folder = Path(meta.get("folder", ""))
    return Loaded(contents, folder, reader.bases, reader.parts, frozenset()), lost


def _each(
    connection: sqlite3.Connection, table: str, columns: str, make: Callable[[Row], _T]
) -> dict[int, _T]:
    """The readable rows of a table by their number, looked up one by one."""
    found: dict[int, _T] = {}
    query = f"SELECT {columns} FROM {table} WHERE id = ?"
    number, gaps = 0, 0
    while gaps < _MOST_GAPS:
        gaps += 1
        with suppress(*WRONG):
            row = connection.execute(query, (number,)).fetchone()
            if row is not None:
                gaps = 0
                found[number] = make(row)
        number += 1
    return found


def _replanted(moments: list[Moment], current: str) -> HistorySnapshot:
    """A tree of the moments that are left, numbered anew."""
    numbers = {moment.id: place for place, moment in enumerate(moments)}
    planted = []
    for place, moment in enumerate(moments):
        parent = numbers.get(-1 if moment.parent is None else moment.parent, place)
        nearest = parent if parent < place else place - 1
        planted.append(replace(moment, id=place, parent=nearest if place else None))
    here = numbers.get(int(current), -1) if current.isdigit() else -1
    return HistorySnapshot(tuple(planted), here if here >= 0 else len(planted) - 1)
