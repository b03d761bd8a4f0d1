"""The window about people and keys, on real key files and lists."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLineEdit
from pytestqt.qtbot import QtBot

from dpdesk.app import signing
from dpdesk.app.types import AppContext
from dpdesk.core.errors import InputError
from dpdesk.project.audit import AuditLog
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.windows.people import TRUST, PeopleWindow
from tests.helpers.a11y import findings
from tests.helpers.asking import ScriptedAsker
from tests.helpers.reviewing import BEN, CLARA

GOOD = "four words without sense"


class Room:
    """The window, and somebody at it."""

    def __init__(self, qtbot: QtBot, context: AppContext, hub: JobHub, theme: ThemeManager) -> None:
        self.qtbot, self.hub, self.context = qtbot, hub, context
        self.asker = ScriptedAsker()
        self.window = PeopleWindow(context, hub, theme, self.asker)
        qtbot.addWidget(self.window)
        self.window.present()
        self.quiet()

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        self.qtbot.waitUntil(lambda: condition() and not self.hub.busy)

    def click(self, name: str, answer: Path | None = None) -> None:
        self.asker.answer = answer
        self.qtbot.waitUntil(lambda: len(self.buttons(name)) == 1)
        (found,) = self.buttons(name)
        assert found.isEnabled()
        found.click()
        self.quiet()

    def buttons(self, name: str) -> list[QAbstractButton]:
        every = self.window.findChildren(QAbstractButton)
        return [one for one in every if one.accessibleName() == name and one.isVisible()]

    def type(self, field: QLineEdit, text: str) -> None:
        field.setFocus()
        self.qtbot.keyClicks(field, text)


@pytest.fixture
def room(qtbot: QtBot, tmp_path: Path, hub: JobHub, theme: ThemeManager) -> Iterator[Room]:
    with AppContext.open(tmp_path / "home") as context:
        made = Room(qtbot, context, hub, theme)
        yield made
        made.quiet()


def card_of(tmp_path: Path, name: str = "ben") -> Path:
    path = tmp_path / f"{name}.json"
    path.write_bytes((BEN if name == "ben" else CLARA).card.to_bytes())
    return path


def trusting(room: Room, tmp_path: Path) -> None:
    room.window.turn(TRUST)
    room.click("Add a card…", card_of(tmp_path))
    room.click("Trust this key")


def test_a_key_is_made_by_keyboard_and_its_card_written(room: Room, tmp_path: Path) -> None:
    page = room.window.keys
    told: list[bool] = []
    room.window.changed.connect(lambda: told.append(True))
    assert findings(room.window) == []
    room.type(page.person, "Anna Weber")
    room.type(page.first, GOOD)
    room.type(page.again, GOOD)
    room.qtbot.keyClick(page.again, Qt.Key.Key_Return)
    assert page.first.text() == page.again.text() == ""
    room.quiet(lambda: page.grid.lines.rowCount() == 1)
    assert told == [True]
    assert room.window.band.kind == "ok"
    room.click("Write the card…", tmp_path / "anna.json")
    assert signing.look_at_card(tmp_path / "anna.json").person == "Anna Weber"
    assert signing.unlock(room.context, None, GOOD).person == "Anna Weber"


def test_what_a_new_key_lacks_is_said_in_the_form_and_nothing_is_made(room: Room) -> None:
    page = room.window.keys
    room.type(page.person, "Anna Weber")
    room.type(page.first, GOOD)
    room.click("Make the key")
    assert "differ" in page.problem.text()
    page.forget()
    for field in (page.first, page.again):
        room.type(field, "aaaaaaaaaaaaaaaa")
    room.click("Make the key")
    room.quiet(lambda: "guesses" in page.problem.text())
    assert signing.own_keys(room.context) == ()


def test_a_card_is_trusted_when_the_digits_read_out_are_those_of_the_card(
    room: Room, tmp_path: Path
) -> None:
    page = room.window.trust
    room.window.turn(TRUST)
    room.click("Add a card…", card_of(tmp_path))
    assert page.card_form.isVisible()
    assert findings(room.window) == []
    room.type(page.digits, CLARA.fingerprint[:20])
    room.click("Trust this key")
    assert "not the one given" in page.card_problem.text()
    assert signing.trust_list(room.context).entries == ()
    page.digits.clear()
    room.type(page.digits, BEN.fingerprint[:20].upper())
    room.click("Trust this key")
    room.quiet(lambda: page.grid.lines.rowCount() == 1)
    assert not page.card_form.isVisible()
    assert signing.trust_list(room.context).persons() == ("Ben",)


def test_a_file_that_is_no_card_is_refused_in_one_sentence(room: Room, tmp_path: Path) -> None:
    path = tmp_path / "no-card.json"
    path.write_text("{}", "utf-8")
    room.window.turn(TRUST)
    room.click("Add a card…", path)
    assert room.window.trust.problem.text().startswith("✕ ")
    assert not room.window.trust.card_form.isVisible()


def test_revoking_takes_a_kind_and_a_reason(room: Room, tmp_path: Path) -> None:
    trusting(room, tmp_path)
    page = room.window.trust
    room.quiet(lambda: page.grid.lines.rowCount() == 1)
    room.click("Revoke…")
    assert not page.retired.isChecked()
    assert not page.stolen.isChecked()
    assert findings(room.window) == []
    room.click("Revoke this key")
    assert "retired or compromised" in page.revoke_problem.text()
    page.stolen.click()
    room.click("Revoke this key")
    assert "reason" in page.revoke_problem.text()
    room.type(page.reason, "The notebook was stolen.")
    room.click("Revoke this key")
    entry = signing.trust_list(room.context).entries[0]
    assert entry.revoked is not None
    assert (entry.revoked.kind.value, entry.revoked.reason) == (
        "compromised",
        "The notebook was stolen.",
    )
    room.quiet(lambda: "compromised" in str(page.grid.lines.row(0)[-1]))


def test_the_list_is_exported_and_joined_again(room: Room, tmp_path: Path) -> None:
    trusting(room, tmp_path)
    room.quiet(lambda: room.window.trust.grid.lines.rowCount() == 1)
    out = tmp_path / "list.json"
    room.click("Export the list…", out)
    assert json.loads(out.read_text("utf-8"))
    (room.context.home / "trust.json").unlink()
    room.click("Import a list…", out)
    assert signing.trust_list(room.context).persons() == ("Ben",)
    room.click("Import a list…", card_of(tmp_path, "clara"))
    assert room.window.trust.problem.isVisible()


def test_escape_closes_the_window(room: Room) -> None:
    room.qtbot.keyClick(room.window, Qt.Key.Key_Escape)
    assert not room.window.isVisible()


NEW = "another four words indeed"


def with_key(room: Room, person: str = "Anna Weber") -> None:
    signing.make_key(room.context, person, GOOD)
    room.window.refresh()
    room.quiet(lambda: room.window.keys.grid.lines.rowCount() > 0)


def change(room: Room, old: str, new: str, again: str) -> None:
    form = room.window.keys.change_form
    for field, text in ((form.old, old), (form.first, new), (form.again, again)):
        field.clear()
        room.type(field, text)
    room.qtbot.keyClick(form.again, Qt.Key.Key_Return)
    room.quiet()


def test_a_passphrase_is_changed_by_keyboard_and_the_old_one_opens_no_more(room: Room) -> None:
    with_key(room)
    form = room.window.keys.change_form
    room.click("Change the passphrase…")
    assert form.isVisible()
    assert findings(room.window) == []
    change(room, GOOD, NEW, GOOD)
    assert "differ" in form.problem.text()
    change(room, "", NEW, NEW)
    assert "current passphrase" in form.problem.text()
    change(room, "not the right one", NEW, NEW)
    room.quiet(lambda: "passphrase" in form.problem.text())
    assert form.old.text() == ""
    assert form.first.text() == NEW
    assert signing.unlock(room.context, None, GOOD).person == "Anna Weber"
    room.type(form.old, GOOD)
    room.click("Change the passphrase")
    room.quiet(lambda: room.window.band.kind == "ok")
    assert not form.isVisible()
    assert form.first.text() == ""
    assert signing.unlock(room.context, None, NEW).person == "Anna Weber"
    with pytest.raises(InputError, match="passphrase"):
        signing.unlock(room.context, None, GOOD)


def test_leaving_forgets_what_was_written(room: Room) -> None:
    with_key(room)
    room.click("Change the passphrase…")
    form = room.window.keys.change_form
    room.type(form.old, GOOD)
    room.click("Leave it")
    assert form.old.text() == ""
    assert not form.isVisible()
    assert room.window.keys.make.isVisible()


def test_a_damaged_key_is_listed_with_what_is_wrong_and_can_do_nothing(room: Room) -> None:
    with_key(room)
    (key,) = signing.own_keys(room.context)
    key.path.write_bytes(b"{}")
    room.window.refresh()
    room.quiet(lambda: room.window.keys.grid.lines.row(0)[0] == "✕ damaged")
    page = room.window.keys
    assert not page.card.isEnabled()
    assert not page.open_change.isEnabled()
    assert key.path.name[:20] in page._whole.text()


def test_a_key_that_has_gone_meanwhile_is_named_and_listed_no_more(
    room: Room, tmp_path: Path
) -> None:
    with_key(room)
    (key,) = signing.own_keys(room.context)
    key.path.unlink()
    room.click("Write the card…", tmp_path / "card.json")
    assert "no key" in room.window.band.text
    room.quiet(lambda: room.window.keys.grid.lines.rowCount() == 0)
    assert not (tmp_path / "card.json").exists()


def test_a_file_is_replaced_only_when_that_was_asked_for(room: Room, tmp_path: Path) -> None:
    with_key(room)
    out = tmp_path / "card.json"
    out.write_text("mine", "utf-8")
    room.click("Write the card…", out)
    assert room.window.band.text == f"card.json already exists in {tmp_path}: replace it?"
    assert findings(room.window) == []
    room.click("Dismiss this message")
    assert out.read_text("utf-8") == "mine"
    room.click("Write the card…", out)
    room.click("Replace card.json")
    assert signing.look_at_card(out).person == "Anna Weber"
    trusting(room, tmp_path)
    listed = tmp_path / "list.json"
    listed.write_text("mine", "utf-8")
    room.click("Export the list…", listed)
    assert listed.read_text("utf-8") == "mine"
    room.click("Replace list.json")
    assert "Ben" in listed.read_text("utf-8")


def test_one_person_with_two_keys_is_told_before_the_second_is_trusted(
    room: Room, tmp_path: Path
) -> None:
    trusting(room, tmp_path)
    signing.make_key(room.context, "  BEN ", GOOD)
    card = tmp_path / "second.json"
    signing.write_card(room.context, "BEN", card)
    room.quiet(lambda: room.window.trust.grid.lines.rowCount() == 1)
    room.click("Add a card…", card)
    assert "has a key in this list already" in room.window.trust.other_keys.text()
    room.click("Trust this key")
    room.quiet(lambda: room.window.trust.grid.lines.rowCount() == 2)
    room.click("Add a card…", card)
    room.click("Trust this key")
    assert room.window.trust.card_problem.isVisible()


def test_a_damaged_list_is_told_and_joined_anew_with_the_old_one_kept(
    room: Room, tmp_path: Path
) -> None:
    trusting(room, tmp_path)
    with_key(room)
    out = tmp_path / "agency.json"
    room.click("Export the list…", out)
    (room.context.home / "trust.json").write_text("{", "utf-8")
    room.window.refresh()
    page = room.window.trust
    room.quiet(lambda: "damaged" in page.problem.text())
    assert room.window.keys.grid.lines.rowCount() == 1
    assert "No signature counts" in page._whole.text()
    room.click("Import a list…", out)
    room.quiet(lambda: page.grid.lines.rowCount() == 1)
    assert page.problem.text() == ""
    kept = room.context.home / "trust.damaged-1.json"
    assert kept.read_text("utf-8") == "{"
    assert str(kept) in room.window.band.text


def test_changes_of_keys_and_trust_are_entered_in_the_audit_log(room: Room, tmp_path: Path) -> None:
    trusting(room, tmp_path)
    room.quiet(lambda: room.window.trust.grid.lines.rowCount() == 1)
    room.click("Revoke…")
    room.window.trust.stolen.click()
    room.type(room.window.trust.reason, "stolen")
    room.click("Revoke this key")
    with_key(room)
    with AuditLog.open_home(room.context.home) as log:
        entries = [(one.action, one.subject, one.facts["what"]) for one in log.entries()]
    assert entries == [
        ("changed", "Ben", "a key is trusted"),
        ("changed", "Ben", "a key was revoked as compromised"),
        ("changed", "Anna Weber", "a key was made"),
    ]
