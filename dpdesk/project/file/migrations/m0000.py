"""From layout 0 to layout 1.

Layout 0 kept the line of redo as one table in ``meta``, the base folder of a state as its absolute
path alone, no time of a moment, no place relative to the project, no decisions and no audit log.
"""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

from dpdesk.core.shapes import read_json

_CHANGES = (
    "ALTER TABLE moments RENAME TO old_moments",
    "CREATE TABLE moments (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES moments (id), "
    "followed INTEGER, label TEXT NOT NULL, merge_key TEXT NOT NULL, made TEXT, "
    "state TEXT NOT NULL)",
    "INSERT INTO moments SELECT id, parent, NULL, label, merge_key, NULL, state FROM old_moments "
    "ORDER BY id",
    "DROP TABLE old_moments",
    "ALTER TABLE sources RENAME TO old_sources",
    "CREATE TABLE sources (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, path NOT NULL, relative, "
    "sha256 TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, seen TEXT NOT NULL, "
    "reading TEXT NOT NULL, UNIQUE (path, sha256))",
    "INSERT INTO sources SELECT id, 'data', path, NULL, sha256, size, 0, seen, "
    """'{"format":1,"reading":{}}' FROM old_sources ORDER BY id""",
    "DROP TABLE old_sources",
    "ALTER TABLE releases RENAME TO old_releases",
    "CREATE TABLE releases (id INTEGER PRIMARY KEY, path NOT NULL, relative, "
    "manifest_sha256 TEXT NOT NULL, made TEXT NOT NULL, method TEXT NOT NULL, title TEXT NOT NULL, "
    "moment INTEGER NOT NULL, UNIQUE (path, manifest_sha256))",
    "INSERT INTO releases SELECT id, path, NULL, manifest_sha256, made, '', '', 0 "
    "FROM old_releases ORDER BY id",
    "DROP TABLE old_releases",
    "CREATE TABLE decisions (id TEXT PRIMARY KEY, release TEXT NOT NULL, type TEXT NOT NULL, "
    "who TEXT NOT NULL, made TEXT NOT NULL, content TEXT NOT NULL)",
    "CREATE TABLE audit (n INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, "
    "who TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL, details TEXT NOT NULL, "
    "previous TEXT NOT NULL, hash TEXT NOT NULL UNIQUE)",
    "CREATE TRIGGER audit_no_change BEFORE UPDATE ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
    "CREATE TRIGGER audit_no_removal BEFORE DELETE ON audit "
    "BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END",
)


def migrate(connection: sqlite3.Connection) -> None:
    """Change the layout, inside the caller's transaction. Raises ValueError, sqlite3.Error."""
    for statement in _CHANGES:
        connection.execute(statement)
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    folder = meta.get("folder", "")
    for parent, child in read_json(meta.get("redo", "{}")).items():
        connection.execute("UPDATE moments SET followed = ? WHERE id = ?", (child, int(parent)))
    connection.execute("DELETE FROM meta WHERE key = 'redo'")
    for number, text in connection.execute("SELECT id, state FROM moments").fetchall():
        document = read_json(text)
        _change(document, folder)
        connection.execute(
            "UPDATE moments SET state = ? WHERE id = ?", (json.dumps(document), number)
        )
    for number, text in connection.execute("SELECT id, content FROM candidates").fetchall():
        document = read_json(text)
        document["format"] = 1
        _change(document["work"], folder)
        document["work"].pop("format")
        connection.execute(
            "UPDATE candidates SET content = ? WHERE id = ?", (json.dumps(document), number)
        )


def _change(state: dict[str, object], folder: str) -> None:
    base = str(state["base"])
    relative = None
    if folder and Path(base).is_absolute():
        try:
            relative = os.path.relpath(base, folder)
        except ValueError:  # another drive
            relative = None
    state["format"] = 1
    state["base"] = {"absolute": base, "relative": relative}
