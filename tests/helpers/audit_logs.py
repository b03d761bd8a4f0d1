"""Audit logs for tests: filled, changed behind its back, long."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dpdesk.project.audit import FILE, SCHEMA, AuditLog, AuditNote, make_entry

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def fill(home: Path, count: int = 5) -> Path:
    """Entries by Ann and Ben, one a minute: a file opened, then exported, in turn."""
    with AuditLog.open_home(home) as log:
        for number in range(count):
            action, who = ("opened", "ann@pc") if number % 2 == 0 else ("exported", "ben@pc")
            when = NOON + timedelta(minutes=number)
            log.append(action, f"/data/file {number}.csv", {"rows": number}, who=who, when=when)
    return home / FILE


def fill_long(home: Path, count: int) -> Path:
    """Very many entries, by one statement."""
    with AuditLog.open_home(home) as log:
        path = log.where
    rows, previous = [], ""
    for number in range(1, count + 1):
        note = AuditNote("opened", f"/data/extract {number}.csv", {"sha256": "ab" * 32})
        when = NOON + timedelta(seconds=number)
        entry = make_entry(note, number, previous, "ann@pc", when)
        previous = entry.hash
        rows.append((number, entry.time, entry.who, entry.action, entry.subject, entry.details,
                     entry.previous, entry.hash))  # fmt: skip
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.commit()
    return path


def tamper(path: Path, *statements: str) -> None:
    """Change the file as somebody who knows SQLite would; the guards come back afterwards."""
    with closing(sqlite3.connect(path)) as connection:
        for name in ("audit_no_change", "audit_no_removal"):
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        for statement in SCHEMA[1:]:
            connection.execute(statement)
        connection.commit()
