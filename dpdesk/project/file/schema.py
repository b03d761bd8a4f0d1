"""The tables of a project file, and how to tell what a file is.

A project is an SQLite database with an application id of its own and the version of its layout.
What belongs where: ``moments`` the whole history (a state as JSON each), ``parts`` the large pieces
that states and candidates share, under their hashes.
"""

from __future__ import annotations

import sqlite3

from dpdesk.project import audit
from dpdesk.project.sql import ChangedObject, changed_object

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


def marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Application id and version of the layout."""
    application, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("application_id", "user_version")
    )
    return application, version
