"""Computers of several people, at which they sit down one after the other, each with own files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.context import AppContext
from dpdesk.ui.desk import Desk
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.theme import ThemeManager
from tests.helpers.asking import ScriptedAsker
from tests.helpers.keyboard import ALT, CTRL, Keyboard
from tests.helpers.memory_settings import MemorySettings
from tests.helpers.person import Person
from tests.helpers.signers import Person as Signer

SIZE = (1366, 768)
POLICY = """\
version = 1
title = "Rules for public use files"

[limits]
minimum_k = 5
maximum_suppression = 0.002
"""
QUASI = ("sex", "age", "marital-status")
LEFT_OUT = ("race", "education", "native-country", "workclass", "salary-class")
SENSITIVE = "occupation"
LETTERS = {"Accept": Qt.Key.Key_A, "Request change": Qt.Key.Key_G, "Reject": Qt.Key.Key_J}
POINTS = "What is to be decided"


class Office:
    """Opens the window at a person's computer, after the last one has left theirs."""

    def __init__(
        self,
        qtbot: QtBot,
        theme: ThemeManager,
        shots: Path | None,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        self._qtbot, self._theme, self._shots = qtbot, theme, shots
        self._monkeypatch = monkeypatch
        self._open: tuple[AppContext, JobHub, Desk] | None = None
        self._sittings = 0

    def sit(self, who: Signer) -> Person:
        """Somebody sits down: the window is opened with the files of their own computer."""
        self.leave()
        self._monkeypatch.setenv("DPDESK_HOME", str(who.home))
        context, hub, asker = AppContext.open(who.home), JobHub(), ScriptedAsker()
        desk = Desk(context, hub, self._theme, MemorySettings(), asker)
        self._open = (context, hub, desk)
        desk.window.resize(*SIZE)
        desk.window.show()
        desk.window.activateWindow()
        self._qtbot.waitUntil(lambda: QApplication.activeWindow() is desk.window)
        self._sittings += 1
        name = f"{self._sittings:02d}-{who.name.split()[0].lower()}"
        return Person(self._qtbot, desk, self._theme, asker, self._shots, name)

    def waits(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so."""
        self._qtbot.waitUntil(condition)

    def leave(self) -> None:
        """The window is closed, and what was running has ended."""
        if self._open is None:
            return
        (context, hub, desk), self._open = self._open, None
        try:
            with self._qtbot.waitSignal(hub.idle):
                hub.close()
            desk.end()
        finally:
            context.close()


def ask(keyboard: Keyboard, action: str) -> None:
    """Open the dialog of an action by keys."""
    keyboard.use(action)
    keyboard.person.reads(action, "Passphrase of the key")


def sign_by_keys(keyboard: Keyboard, passphrase: str) -> None:
    """Sign in the dialog that is in front."""
    keyboard.fill("Passphrase of the key", passphrase)
    keyboard.press(Qt.Key.Key_Return)


def sign(person: Person, action: str, passphrase: str) -> None:
    """Sign in the dialog of an action that is in front, by mouse."""
    person.reads(action)
    person.type("Passphrase of the key", passphrase)
    person.click("Sign")
    signed(person)


def signed(person: Person) -> None:
    """Wait until the dialog has gone, and what it changed is shown."""

    def gone() -> None:
        assert QApplication.activeModalWidget() is None, person.texts()

    person.qtbot.waitUntil(gone)
    person.settled()


def open_release(person: Person, folder: Path) -> None:
    """Open the folder of a release alone, by the button of an empty panel, and turn to its
    review."""
    person.go(6)
    person.asker.answer = folder
    person.click("Open a release folder…")
    person.settled(lambda: person.desk.workbench.release_path == folder)
    person.click("Review and sign-off")
    person.settled()


def open_release_by_keys(keyboard: Keyboard, folder: Path) -> None:
    """The same, without a mouse."""
    person = keyboard.person
    keyboard.press(Qt.Key.Key_6, CTRL)
    person.asker.answer = folder
    keyboard.use("Open a release folder…")
    person.settled(lambda: person.desk.workbench.release_path == folder)
    keyboard.turn("Review and sign-off")


def decide(person: Person, what: str, decision: str, comment: str = "") -> None:
    """Choose a check or a file by mouse, and decide it."""
    person.pick_line(POINTS, what)
    person.click(decision)
    if comment:
        person.write("Comment", comment)


def decide_by_keys(keyboard: Keyboard, what: str, decision: str, comment: str = "") -> None:
    """Choose a check or a file by arrow keys, and decide it by a letter.

    Accepting is done in the list, the rest by Alt and the letter, which works everywhere.
    """
    names = points(keyboard.person)
    view = keyboard.tab_to(POINTS, back=True)
    assert isinstance(view, QAbstractItemView)
    place = next(number for number, name in enumerate(names) if name.startswith(what))
    there = view.currentIndex().row()
    step = Qt.Key.Key_Down if place > there else Qt.Key.Key_Up
    for _ in range(abs(place - there)):
        keyboard.press(step)
    if decision == "Accept":
        keyboard.press(LETTERS[decision])
        assert keyboard.person.find(decision, QAbstractButton).isChecked()
    else:
        keyboard.take(LETTERS[decision], decision)
    if comment:
        keyboard.press(*((Qt.Key.Key_Return,) if decision == "Accept" else (Qt.Key.Key_M, ALT)))
        keyboard.type(comment)


def points(person: Person) -> list[str]:
    """What is to be decided: the questions of checks, and paths of files."""
    return [line.split(" | ")[-1] for line in person.lines(POINTS)]


def cannot(person: Person, *actions: str) -> None:
    """None of these actions is offered, or can be used."""
    for name in actions:
        found = person.window.findChildren(QPushButton)
        shown = [one for one in found if one.isVisible() and one.accessibleName() == name]
        assert not any(one.isEnabled() for one in shown), f"{name!r} can be used"


def passphrase_of(who: Signer) -> str:
    """The passphrase of a person's key."""
    return who.secret.read_text("utf-8").rstrip("\n")


def write_rules(who: Sequence[Signer]) -> None:
    """The agency's policy, at everybody's computer."""
    for one in who:
        (one.home / "policy.toml").write_text(POLICY, "utf-8")


def take_adult(who: Signer, real_data: Path) -> None:
    """Real data on somebody's desk: a table, hierarchies, and the plan of a release."""
    folder = real_data / "arx-adult"
    shutil.copy(folder / "adult.csv", who.desk)
    lines = ["version = 1", 'title = "Adults"', "", "[source]", 'path = "adult.csv"']
    for name in QUASI:
        file = f"adult_hierarchy_{name}.csv"
        shutil.copy(folder / file, who.desk)
        lines += ["", f"[attributes.{name}]", 'role = "quasi-identifier"', f'hierarchy = "{file}"']
    lines += [f'\n[attributes.{name}]\nrole = "identifier"' for name in LEFT_OUT]
    lines += ["", f"[attributes.{SENSITIVE}]", 'role = "sensitive"']
    lines += ["", "[protection]", 'method = "k-anonymity"', "k = 5", "max_suppression = 0.02"]
    (who.desk / "plan.toml").write_text("\n".join(lines) + "\n", "utf-8")
