from __future__ import annotations

from pathlib import Path

import pytest

from dpdesk.app.auditing import enter, mention
from dpdesk.app.context import AppContext
from dpdesk.core.errors import StorageError
from dpdesk.core.jobs import Event, Note
from dpdesk.project.audit import FILE, AuditLog


def test_what_is_entered_is_in_the_log_of_the_home_folder(context: AppContext) -> None:
    enter(context, "exported", Path("/data/out"), {"format": "csv"})
    mention(context, "viewed", "plan.toml", lambda event: None)
    with AuditLog.open_home(context.home) as log:
        entries = log.entries()
    assert [(entry.action, entry.subject) for entry in entries] == [
        ("exported", "/data/out"),
        ("viewed", "plan.toml"),
    ]
    assert entries[0].facts == {"format": "csv"}


def test_a_broken_log_stops_deeds_and_not_looks(context: AppContext) -> None:
    (context.home / FILE).write_bytes(b"no log")
    with pytest.raises(StorageError) as error:
        enter(context, "exported", "out")
    assert error.value.code == "audit.unreadable"
    said: list[Event] = []
    mention(context, "viewed", "out", said.append)
    (note,) = said
    assert isinstance(note, Note)
    assert "audit log" in note.sentence
