"""The open file of a project: one connection, one thread, one transaction per update."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dpdesk import __version__
from dpdesk.core.errors import StorageError
from dpdesk.core.messages import msg
from dpdesk.project import audit
from dpdesk.project.audit import AuditCheck, AuditEntry, AuditLog
from dpdesk.project.candidates import Candidate, ShelfSnapshot
from dpdesk.project.file import rows
from dpdesk.project.file.parts import PartSink, ProjectContents, ProjectUpdate
from dpdesk.project.file.sources import Loaded
from dpdesk.project.history import HistorySnapshot, Moment
from dpdesk.project.sql import (
    ChangedObject,
    changed_object,
    connect,
    marks,
    storage_problem,
    writing,
)

# The tables of a project file, and how to tell what a file is.
#
# A project is an SQLite database with an application id of its own and the version of its layout.
# What belongs where: ``moments`` the whole history (a state as JSON each), ``parts`` the large
# pieces that states and candidates share, under their hashes.


APPLICATION = 0x4450444B  # "DPDK"
VERSION = 1

TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE parts (hash TEXT PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE moments (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES moments (id), "
    "followed INTEGER, label TEXT NOT NULL, merge_key TEXT NOT NULL, made TEXT, "
    "state TEXT NOT NULL)",
    "CREATE TABLE candidates (id INTEGER PRIMARY KEY, name TEXT NOT NULL, made TEXT NOT NULL, "
    "content TEXT NOT NULL)",
    "CREATE TABLE sources (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, path NOT NULL, relative, "
    "sha256 TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, seen TEXT NOT NULL, "
    "reading TEXT NOT NULL, UNIQUE (path, sha256))",
    "CREATE TABLE releases (id INTEGER PRIMARY KEY, path NOT NULL, relative, "
    "manifest_sha256 TEXT NOT NULL, made TEXT NOT NULL, method TEXT NOT NULL, title TEXT NOT NULL, "
    "moment INTEGER NOT NULL, UNIQUE (path, manifest_sha256))",
    "CREATE TABLE decisions (id TEXT PRIMARY KEY, release TEXT NOT NULL, type TEXT NOT NULL, "
    "who TEXT NOT NULL, made TEXT NOT NULL, content TEXT NOT NULL)",
)


def build(connection: sqlite3.Connection) -> None:
    """Make all tables in an empty database, inside the caller's transaction."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for statement in (*TABLES, *audit.SCHEMA):
        connection.execute(statement)


def changed(connection: sqlite3.Connection) -> ChangedObject | None:
    """What of the layout is not as DPDesk makes it; None when nothing.

    Of an older layout only what acts by itself (triggers, views) is looked for; its tables are
    compared once they have been brought up to date. Raises sqlite3.Error.
    """
    if marks(connection)[1] == VERSION:
        return changed_object(connection, (*TABLES, *audit.SCHEMA))
    row = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY 1, 2"
    ).fetchone()
    return None if row is None else ChangedObject(str(row[0]), str(row[1]), foreign=True)


@dataclass
class _Mirror:
    """What the file holds, so that only what differs is written."""

    moments: list[Moment] = field(default_factory=list)
    followed: dict[int, int] = field(default_factory=dict)
    marks: tuple[int, int | None] = (-1, -1)
    candidates: dict[int, Candidate] = field(default_factory=dict)
    next_candidate: int = 0
    parts: set[str] = field(default_factory=set)

    def copy(self) -> _Mirror:
        return _Mirror(
            list(self.moments),
            dict(self.followed),
            self.marks,
            dict(self.candidates),
            self.next_candidate,
            set(self.parts),
        )


class ProjectStore:
    """A project file that is open for writing. For the thread that made it alone.

    ``path`` is the real path of the file; whoever opens it holds the writer's lock.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.path = path
        self._connection = connection
        self._mirror = _Mirror()
        self._token = ""
        self._identity: os.stat_result | None = None
        self._sink = PartSink(self._mirror_has)

    @classmethod
    def build(cls, path: Path, contents: ProjectContents, folder: Path) -> None:
        """Write ``contents`` into the empty file ``path``, as a project that lies in ``folder``.

        Raises sqlite3.Error; then the file is worth nothing.
        """
        connection = connect(path)
        try:
            with writing(connection):
                build(connection)
                store = cls(connection, path)
                store._begin(contents, folder)
        finally:
            connection.close()

    def _begin(self, contents: ProjectContents, folder: Path) -> None:
        self._set("identity", contents.identity)
        self._set("written_by", __version__)
        self._set("folder", str(folder))
        update = ProjectUpdate(
            contents.history,
            contents.shelf,
            contents.sources,
            contents.releases,
            contents.decisions,
        )
        self._put(update, self._mirror.copy(), folder)
        for entry in contents.audit:
            rows.insert(self._connection, "audit", rows.AUDIT, rows.audit_row(entry))

    def adopt(self, loaded: Loaded, *, rewrite: bool = False) -> None:
        """Take over a file that was just read: mark it as ours, and throw away unused parts.

        With ``rewrite`` everything is written anew, because paths have changed. Raises
        sqlite3.Error, OSError when it cannot be written; then nothing is changed.
        """
        contents, mirror = loaded.contents, _Mirror(parts=set(loaded.parts))
        unused = loaded.parts - loaded.source.used
        token = secrets.token_hex(16)
        for name, hierarchy in loaded.source.hierarchies.items():
            self._sink.know(hierarchy, name)
        if not rewrite:
            history, shelf = contents.history, contents.shelf
            mirror.moments, mirror.followed = list(history.moments), dict(history.followed)
            mirror.marks = (history.current, history.saved)
            mirror.candidates = {one.id: one for one in shelf.candidates}
            mirror.next_candidate = shelf.next_id
        with writing(self._connection):
            self._set("writer", token)
            self._set("written_by", __version__)
            self._mirror = mirror
            if rewrite:
                self._put_anew(contents, mirror)
            for name in unused:
                self._connection.execute("DELETE FROM parts WHERE hash = ?", (name,))
        mirror.parts -= unused
        self._token, self._identity = token, self.path.stat()

    def _put_anew(self, contents: ProjectContents, mirror: _Mirror) -> None:
        folder = self.path.parent
        self._set("folder", str(folder))
        for table in ("sources", "releases"):
            self._connection.execute(f"DELETE FROM {table}")
        self._put(
            ProjectUpdate(contents.history, contents.shelf, contents.sources, contents.releases),
            mirror,
            folder,
        )

    def write(self, update: ProjectUpdate) -> None:
        """Bring the file up to date; when this returns, everything is on the disk.

        Raises StorageError ``project.*``; then the file is as it was, and the same update can be
        written again. ValueError when moments of the history were lost.
        """
        mirror = self._mirror.copy()
        try:
            self._check_place()
            with writing(self._connection):
                self._check_writer()
                self._put(update, mirror, self.path.parent)
        except BaseException as error:
            self._sink.forget()
            if isinstance(error, sqlite3.Error | OSError):
                raise storage_problem(error, self.path, "project") from error
            raise
        self._mirror = mirror

    def audit(self) -> tuple[AuditEntry, ...]:
        """The entries of the project's audit log. Raises StorageError ``audit.unreadable``."""
        return AuditLog(self._connection, self.path).entries()

    def check_audit(self) -> AuditCheck:
        """Check the chain of the project's audit log."""
        return AuditLog(self._connection, self.path).verify()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _check_place(self) -> None:
        """A file that was moved or replaced is not ours any more: nobody would find the changes."""
        try:
            same = self._identity is None or os.path.samestat(self._identity, self.path.stat())
        except FileNotFoundError:
            same = False
        if not same:
            raise StorageError(
                "project.moved",
                msg(
                    "{path}: the project was moved, renamed or replaced while it was open.",
                    path=self.path,
                ),
                hint="Save the project under a new name; the changes are still in this window.",
            )

    def _check_writer(self) -> None:
        row = self._connection.execute("SELECT value FROM meta WHERE key = 'writer'").fetchone()
        if row is None or row[0] != self._token:
            raise StorageError(
                "project.taken",
                msg(
                    "{path}: another program has opened the project for writing meanwhile.",
                    path=self.path,
                ),
                hint="Save the project under a new name; the changes are still in this window.",
            )

    def _mirror_has(self, name: str) -> bool:
        return name in self._mirror.parts

    def _set(self, key: str, value: str) -> None:
        rows.insert(self._connection, "meta", "key, value", (key, value))

    def _put(self, update: ProjectUpdate, mirror: _Mirror, folder: Path) -> None:
        if update.history is not None:
            self._put_history(update.history, mirror, folder)
        if update.shelf is not None:
            self._put_shelf(update.shelf, mirror, folder)
        self._put_records(update, folder)
        for name, data in self._sink.take().items():
            self._connection.execute("INSERT OR IGNORE INTO parts VALUES (?, ?)", (name, data))
            mirror.parts.add(name)
        if update.notes:
            log = AuditLog(self._connection, self.path)
            for note in update.notes:
                log.append(note.action, note.subject, note.details)

    def _put_history(self, history: HistorySnapshot, mirror: _Mirror, folder: Path) -> None:
        known, followed = mirror.moments, dict(history.followed)
        if len(history.moments) < len(known):
            raise ValueError("moments of the history were lost")
        for place, moment in enumerate(history.moments):
            if place < len(known) and known[place] is moment:
                if followed.get(place) != mirror.followed.get(place):
                    self._connection.execute(
                        "UPDATE moments SET followed = ? WHERE id = ?", (followed.get(place), place)
                    )
                continue
            row = rows.moment_row(moment, followed.get(place), folder, self._sink)
            rows.insert(self._connection, "moments", rows.MOMENTS, row)
        marks = (history.current, history.saved)
        for key, mark, known_mark in zip(("current", "saved"), marks, mirror.marks, strict=True):
            if mark != known_mark:
                self._set(key, "" if mark is None else str(mark))
        mirror.moments, mirror.followed, mirror.marks = list(history.moments), followed, marks

    def _put_shelf(self, shelf: ShelfSnapshot, mirror: _Mirror, folder: Path) -> None:
        kept: Mapping[int, Candidate] = {one.id: one for one in shelf.candidates}
        for number in mirror.candidates.keys() - kept.keys():
            self._connection.execute("DELETE FROM candidates WHERE id = ?", (number,))
        for number, candidate in kept.items():
            if mirror.candidates.get(number) is not candidate:
                row = rows.candidate_row(candidate, folder, self._sink)
                rows.insert(self._connection, "candidates", rows.CANDIDATES, row)
        if shelf.next_id != mirror.next_candidate:
            self._set("next_candidate", str(shelf.next_id))
        mirror.candidates, mirror.next_candidate = dict(kept), shelf.next_id

    def _put_records(self, update: ProjectUpdate, folder: Path) -> None:
        for source in update.sources:
            row = rows.source_row(source, folder, self._sink)
            rows.insert(self._connection, "sources", rows.SOURCES, row, "path, sha256")
        for release in update.releases:
            row = rows.release_row(release, folder)
            rows.insert(self._connection, "releases", rows.RELEASES, row, "path, manifest_sha256")
        for decision in update.decisions:
            row = rows.decision_row(decision, self._sink)
            rows.insert(self._connection, "decisions", rows.DECISIONS, row)
