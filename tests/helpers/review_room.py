"""The review panel at somebody's computer, and how a person uses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from dpdesk.app.review.values import Decision, Status
from dpdesk.app.types import AppContext
from dpdesk.ui.jobs import JobHub
from dpdesk.ui.panels.review import ReviewPanel
from dpdesk.ui.panels.review.panel import SIGN
from dpdesk.ui.panels.review.review_status import Action
from dpdesk.ui.panels.review.sign_dialog import SignDialog
from dpdesk.ui.panels.review.sign_page import DECIDE
from dpdesk.ui.theme import ThemeManager
from dpdesk.ui.workbench import Workbench
from tests.helpers.asking import ScriptedAsker
from tests.helpers.signers import Person


class Room:
    """The panel at somebody's computer, on that person's copy of the release."""

    def __init__(
        self,
        qtbot: QtBot,
        context: AppContext,
        hub: JobHub,
        theme: ThemeManager,
        person: Person,
        folder: Path | None = None,
    ) -> None:
        self.qtbot, self.hub, self.person = qtbot, hub, person
        self.bench = Workbench(context, hub)
        self.asker = ScriptedAsker()
        with theme.building():
            self.panel = ReviewPanel(self.bench, theme, self.asker)
        self.page = self.panel.sign
        self.panel.resize(1100, 700)
        self.panel.show()
        self.bench.open_path(folder or person.folder)
        self.quiet(lambda: self.panel.looker.picture is not None)
        self.panel.strip.button(SIGN).click()

    def quiet(self, condition: Callable[[], bool] = lambda: True) -> None:
        self.qtbot.waitUntil(lambda: condition() and not self.hub.busy)

    @property
    def status(self) -> Status:
        picture = self.panel.looker.picture
        assert picture is not None
        return picture.state.status

    def button(self, name: str) -> QPushButton:
        """The button with this accessible name."""
        found = [b for b in self.panel.findChildren(QPushButton) if b.accessibleName() == name]
        assert len(found) == 1, f"{len(found)} buttons are called {name}"
        return found[0]

    @property
    def primary(self) -> list[str]:
        return [
            one.accessibleName()
            for one in self.panel.findChildren(QPushButton)
            if one.property("look") == "primary" and one.isVisible()
        ]

    def dialog(self, action: Action) -> SignDialog:
        self.page.buttons[action].click()
        assert self.page.dialog is not None
        return self.page.dialog

    def sign(self, dialog: SignDialog) -> None:
        self.qtbot.keyClicks(dialog.passphrase, self.passphrase)
        dialog.sign.click()
        assert dialog.passphrase.text() == ""
        self.quiet(lambda: self.page.dialog is None)

    @property
    def passphrase(self) -> str:
        return f"a passphrase of {self.person.name}"

    def decide_all(self, comment: str = "Seen.") -> None:
        self.page.strip.button(DECIDE).click()
        draft = self.page.draft
        assert draft is not None
        for point in draft.points:
            self.page.decide.choose(point.key)
            self.page.decide.buttons[Decision.ACCEPT].click()
            self.page.decide.comment.setPlainText(comment)


class Rooms:
    """One computer at a time."""

    def __init__(self, qtbot: QtBot, hub: JobHub, theme: ThemeManager) -> None:
        self._means = qtbot, hub, theme
        self._rooms: list[tuple[AppContext, Room]] = []

    def enter(self, person: Person, folder: Path | None = None) -> Room:
        """Leave the last computer and sit down at this one."""
        self.leave()
        qtbot, hub, theme = self._means
        context = AppContext.open(person.home)
        room = Room(qtbot, context, hub, theme, person, folder)
        self._rooms.append((context, room))
        return room

    def leave(self) -> None:
        """Close the program."""
        while self._rooms:
            context, room = self._rooms.pop()
            room.quiet()
            room.bench.close()
            room.panel.hide()
            room.panel.deleteLater()
            context.close()
