"""Reading a whole project: strictly, or as much of a damaged one as can be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from dpdesk.core.messages import msg
from dpdesk.project.candidates import Candidate, CandidateShelf, ShelfSnapshot
from dpdesk.project.file import rows
from dpdesk.project.file.codec import CodecError
from dpdesk.project.file.parts import PartError, PartSource
from dpdesk.project.file.records import (
    DecisionRecord,
    ProjectContents,
    ReleaseRecord,
    SourceRecord,
)
from dpdesk.project.file.rows import Row
from dpdesk.project.history import History, HistorySnapshot, Moment

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
