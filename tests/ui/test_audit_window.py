"""The window of the audit log, on real logs: whole, changed, locked, damaged, very long."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app import signing
from dpdesk.app.review.values import EventType
from dpdesk.app.types import AppContext
from dpdesk.core.logged import Logged
from dpdesk.project.audit import FILE, AuditLog
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.audit import AuditWindow, action_word, event_word
from tests.helpers.a11y import findings
from tests.helpers.asking import ScriptedAsker
from tests.helpers.audit_logs import fill, fill_long, tamper


class Room:
    """The window, and somebody at it."""

    def __init__(self, qtbot: QtBot, context: AppContext, hub: JobHub, theme: ThemeManager) -> None:
        self.qtbot, self.hub, self.context = qtbot, hub, context
        self.asker = ScriptedAsker()
        self.window = AuditWindow(context, hub, theme, self.asker)
        self.page = self.window.page
        qtbot.addWidget(self.window)

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        def calm() -> bool:
            return condition() and not self.hub.busy and not self.window._patience.isActive()

        self.qtbot.waitUntil(calm)

    def present(self) -> None:
        self.window.present()
        self.quiet()

    def click(self, name: str, *answers: Path | None) -> None:
        self.asker.answer = answers[0] if answers else None
        self.qtbot.waitUntil(lambda: self.button(name) is not None)
        found = self.button(name)
        assert found is not None
        assert found.isEnabled()
        found.click()
        self.quiet()

    def button(self, name: str) -> QPushButton | None:
        found = [
            one
            for one in self.window.findChildren(QPushButton)
            if one.accessibleName() == name and one.isVisible()
        ]
        return found[0] if len(found) == 1 else None

    def subjects(self) -> list[str]:
        rows = self.window.rows
        return [str(rows.index(row, 4).data()) for row in range(rows.rowCount())]


@pytest.fixture
def room(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Room]:
    with AppContext.open(tmp_path / "home") as context:
        made = Room(qtbot, context, hub, theme)
        yield made
        made.quiet()


def test_entries_stand_newest_first_and_the_chosen_one_whole_below(room: Room) -> None:
    fill(room.context.home)
    room.present()
    assert room.subjects() == [f"/data/file {number}.csv" for number in (4, 3, 2, 1, 0)]
    assert room.page.answer.text() == (
        "5 entries, the last one at 2026-01-01 12:04:00 UTC: ann@pc opened /data/file 4.csv."
    )
    room.qtbot.keyClick(room.page.grid, Qt.Key.Key_Down)
    assert room.page.entry.text().startswith(
        "Entry 4, 2026-01-01 12:03:00 UTC: ben@pc exported /data/file 3.csv\nrows: 3\n"
    )
    assert room.page.state.text() == (
        "✓ Intact: all 5 entries are as they were written, each after the other."
    )
    assert findings(room.window) == []


def test_a_search_finds_words_anywhere_and_kinds_of_action(room: Room) -> None:
    fill(room.context.home)
    room.present()
    room.qtbot.keyClicks(room.page.search, "BEN 3.csv")
    room.quiet()
    assert room.subjects() == ["/data/file 3.csv"]
    assert room.page.found.text() == "1 of 5 entries found."
    room.page.search.clear()
    room.page.action.setCurrentText("opened")
    room.quiet()
    assert room.subjects() == [f"/data/file {number}.csv" for number in (4, 2, 0)]
    room.qtbot.keyClicks(room.page.search, "100%")
    room.quiet()
    assert room.subjects() == []
    assert room.page.found.text().startswith("No entry found")


def test_every_action_and_event_is_said_in_the_readers_language(german: None) -> None:
    written = [*Logged, *EventType]
    said = [*(action_word(one) for one in Logged), *(event_word(one) for one in EventType)]
    assert len(set(said)) == len(written)
    assert not {word for word, code in zip(said, written, strict=True) if word == code}


def test_an_empty_log_says_that_it_begins(room: Room) -> None:
    room.present()
    assert room.page.answer.text().startswith("No entries yet")
    assert room.page.state.text().startswith("✓ Intact")
    assert not room.page.export.isEnabled()


def test_a_changed_entry_is_named_with_what_it_means_and_shown(room: Room) -> None:
    path = fill(room.context.home, 40)
    tamper(path, "UPDATE audit SET who = 'eve@pc' WHERE n = 7")
    room.present()
    said = room.page.state.text()
    assert said.startswith("✕ Broken at entry 7: what the entry says was changed. Entries 1 to 6 ")
    assert "Export the log" in said
    assert str(path) in said
    room.page.action.setCurrentText("exported")
    room.quiet()
    room.click("Show that entry")
    room.quiet(lambda: room.page.entry.text().startswith("Entry 7, "))
    assert "eve@pc" in room.page.entry.text()
    assert room.window.rows.rowCount() == 40


def test_entries_that_were_cut_off_at_the_end_are_missed(room: Room) -> None:
    tamper(fill(room.context.home, 9), "DELETE FROM audit WHERE n > 6")
    room.present()
    assert "Broken at entry 7: 3 entries were removed from the end" in room.page.state.text()
    room.click("Show that entry")
    room.quiet(lambda: room.page.entry.text().startswith("Entry 6, "))


def test_a_clock_that_was_set_back_is_no_break(room: Room) -> None:
    fill(room.context.home)
    fill(room.context.home)
    room.present()
    said = room.page.state.text()
    assert said.startswith("✓ Intact: all 10 entries")
    assert "△ Entry 6 was made at" in said


def test_damaged_newer_and_locked_logs_are_named_in_one_sentence(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpdesk.project.audit.LOOK_SECONDS", 0.05)
    path = fill(room.context.home)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        room.present()
        assert "another program is holding it" in room.window.band.text
    room.click("Read again")
    assert room.window.band.text == ""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9")
    room.click("Read again")
    assert "made by a newer version of DPDesk (format 9" in room.window.band.text
    path.write_bytes(b"no log at all" * 100)
    room.click("Read again")
    assert "it is not an audit log of DPDesk. Keep the file as evidence" in room.window.band.text
    assert room.page.state.text() == ""
    assert room.window.rows.rowCount() == 0
    assert not room.page.export.isEnabled()


def test_a_log_that_cannot_be_written_is_read_and_says_what_that_stops(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(room.context.home)
    monkeypatch.setattr("dpdesk.project.audit.os.access", lambda *_: False)
    room.present()
    assert len(room.subjects()) == 5
    assert "nothing is released or exported until it can" in room.page.readonly.text()


def test_the_log_is_exported_as_its_name_ends_and_a_file_replaced_only_when_asked(
    room: Room, tmp_path: Path
) -> None:
    fill(room.context.home)
    room.present()
    out = tmp_path / "log.csv"
    room.click("Export…", tmp_path / "log")
    with out.open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.reader(stream))) == 6
    assert room.window.band.kind == "ok"
    out.write_text("mine", "utf-8")
    room.click("Export…", out)
    assert room.window.band.text == f"log.csv already exists in {tmp_path}: replace it?"
    assert out.read_text("utf-8") == "mine"
    room.click("Choose another name…", tmp_path / "log.json")
    assert len(json.loads((tmp_path / "log.json").read_text("utf-8"))["entries"]) >= 5
    room.click("Export…", out)
    room.click("Replace log.csv")
    assert out.read_text("utf-8").startswith("n,time,who")
    room.click("Export…", tmp_path / "log.doc")
    assert "expected “csv” or “json”" in room.window.band.text
    with AuditLog.open_home(room.context.home) as log:
        assert log.verify().ok


def test_keys_read_again_and_close(room: Room) -> None:
    fill(room.context.home)
    room.present()
    with AuditLog.open_home(room.context.home) as log:
        log.append("viewed", "out")
    room.qtbot.keyClick(room.window, Qt.Key.Key_F5)
    room.quiet(lambda: room.window.rows.rowCount() == 6)
    room.qtbot.keyClick(room.window, Qt.Key.Key_Escape)
    assert not room.window.isVisible()


class Beat:
    """Counts the ticks of the event loop, so that each letter finds the window at rest.

    How late the ticks come is what ``tests.benchmarks.audit_window`` measures.
    """

    def __init__(self) -> None:
        self.beats = 0
        self._timer = QTimer()
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._on_beat)
        self._timer.start()

    def _on_beat(self) -> None:
        self.beats += 1

    def has_beaten_since(self, beats: int) -> bool:
        return self.beats > beats


def test_a_log_of_100_000_entries_is_paged(room: Room) -> None:
    fill_long(room.context.home, 100_000)
    room.present()
    beat = Beat()
    room.window.refresh()
    room.quiet(lambda: "Intact" in room.page.state.text())
    assert room.page.state.text().startswith("✓ Intact: all 100,000 entries")
    room.page.grid.scrollToBottom()
    room.quiet(lambda: room.window.rows.row(99_999) is not None)
    for letter in "extract 99999.csv":
        room.qtbot.keyClicks(room.page.search, letter)
        told = beat.beats
        room.qtbot.waitUntil(partial(beat.has_beaten_since, told))
    room.quiet(lambda: room.window.rows.rowCount() == 1)
    assert room.window.rows.pages_held < 20


def test_a_key_of_this_computer_is_not_needed_to_look(room: Room) -> None:
    fill(room.context.home)
    assert signing.own_keys(room.context) == ()
    room.present()
    assert (room.context.home / FILE).exists()
    assert room.page.state.text().startswith("✓ Intact")
