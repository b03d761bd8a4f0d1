"""The dialog in which something is signed: what it means, what goes with it, the passphrase."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app.review.values import Card, EventType, Outcome, fingerprint_text
from dpdesk.ui.panels.review.actions import Action, Beside, action_words, meaning
from dpdesk.ui.panels.review.deciding import Draft
from dpdesk.ui.panels.review.path_field import Kind, PathField
from dpdesk.ui.panels.review.scrolling import scrolled
from dpdesk.ui.panels.review.sign_fields import SigningContext, fields_for
from dpdesk.ui.panels.review.sign_tasks import Ask
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wording import in_window

_REASONED = (EventType.WITHDRAW, EventType.SUPERSEDE)
_TEXTS = (EventType.SUBMIT, EventType.BALLOT, EventType.RELEASE, *_REASONED)
_ROWS: dict[Action, int] = {
    EventType.SUBMIT: 24,
    EventType.START: 9,
    EventType.REVEAL: 9,
    Beside.LOCK: 13,
}
_ELSEWHERE = 7
READ_ONLY = "review.read-only"


class SignDialog(QDialog):
    """``signAsked(Ask, passphrase)``; it stays open until it is told that signing went well."""

    signAsked = Signal(object, str)

    def __init__(
        self,
        action: Action,
        card: Card,
        draft: Draft | None,
        theme: ThemeManager,
        desk: SigningContext,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.action, self._draft, self._desk = action, draft, desk
        self.outcomes: dict[Outcome, QRadioButton] = {}
        self.fields = fields_for(action, desk)
        words = action_words(action)
        self.setWindowTitle(words)
        self.setAccessibleName(words)
        set_look(self, "panel")
        outer = column(self, margin=SPACE.l, gap=SPACE.m)
        body = QWidget()
        layout = column(body, gap=SPACE.s)
        self._add_head(layout, card)
        if action is EventType.BALLOT:
            self._add_outcomes(layout)
        self._add_text(layout)
        layout.addWidget(self.fields)
        self._elsewhere = self._build_elsewhere()
        layout.addWidget(self._elsewhere)
        layout.addStretch(1)
        self._area = scrolled(body)
        outer.addWidget(self._area, 1)
        self._add_end(outer)
        self._theme = theme
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def say(self, sentence: str) -> None:
        """Show what is wrong; empty: nothing."""
        self.problem.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self.problem.setAccessibleName(sentence)
        self.problem.setVisible(bool(sentence))

    def failed(self, sentence: str, code: str = "") -> None:
        """Signing did not work: say why, and let it be tried again.

        Where the folder is read-only (``review.read-only``) another file is offered.
        """
        self.say(sentence)
        if code == READ_ONLY and self.action is not Beside.LOCK:
            self._elsewhere.show()
            self._on_theme(self._theme.theme)
        self.sign.setEnabled(True)
        first = self.passphrase if self._elsewhere.isHidden() else self.out.line
        first.setFocus()

    def reject(self) -> None:
        """Leave without signing."""
        self.passphrase.clear()
        super().reject()

    @property
    def paths(self) -> dict[str, PathField]:
        """The fields for files and folders, by name."""
        return self.fields.paths

    # -- building

    def _add_head(self, layout: QVBoxLayout, card: Card) -> None:
        title, means, key = QLabel(self.windowTitle()), QLabel(meaning(self.action)), QLabel()
        set_look(title, "section")
        set_look(means, "strong" if self.action is EventType.RELEASE else "")
        set_look(key, "note")
        text = self.tr("Signed as {person}, key {digits}")
        digits = fingerprint_text(card.fingerprint)
        key.setText(text.format(person=card.person, digits=digits))
        for label in (title, means, key):
            label.setWordWrap(True)
            layout.addWidget(label)

    def _add_outcomes(self, layout: QVBoxLayout) -> None:
        texts = {
            Outcome.APPROVE: self.tr("&Approve the release"),
            Outcome.CHANGES: self.tr("Request c&hanges"),
            Outcome.REJECT: self.tr("Re&ject the release"),
        }
        group = QButtonGroup(self)
        for outcome, text in texts.items():
            button = QRadioButton(text)
            button.setAccessibleName(text.replace("&", ""))
            button.setToolTip(text.replace("&", ""))
            group.addButton(button)
            layout.addWidget(button)
            self.outcomes[outcome] = button

    def _add_text(self, layout: QVBoxLayout) -> None:
        names: dict[Action, str] = {
            EventType.SUBMIT: self.tr("Note for the reviewers"),
            EventType.BALLOT: self.tr("Comment on the whole"),
            EventType.RELEASE: self.tr("Note"),
            EventType.WITHDRAW: self.tr("Reason"),
            EventType.SUPERSEDE: self.tr("Reason"),
        }
        self.text = QPlainTextEdit()
        self.text.setTabChangesFocus(True)
        self.text.setVisible(self.action in _TEXTS)
        if self.action in _TEXTS:
            label = QLabel(names[self.action])
            label.setBuddy(self.text)
            self.text.setAccessibleName(names[self.action])
            self.text.setToolTip(self.tr("It is signed, and everybody can read it"))
            layout.addWidget(label)
            layout.addWidget(self.text)

    def _build_elsewhere(self) -> QFrame:
        """Where to write the review when its folder is read-only; shown after that failed."""
        frame = QFrame()
        set_look(frame, "card")
        layout = column(frame, margin=SPACE.m, gap=SPACE.s)
        name = f"{self._desk.folder.name}-review.json"
        self.out = PathField(
            self.tr("Write the review into this file instead"),
            self.tr("A new file; the release folder stays as it is"),
            self._desk.asker,
            Kind.NEW_FILE,
            Path.home() / name,
        )
        self.out.line.setText(str(self._desk.beside or Path.home() / name))
        note = QLabel(
            self.tr(
                "Then give the file to somebody who may write to the release folder, by mail or on "
                "a drive: it holds what was signed, with the figures of the checklist, and no rows "
                "of the data. “Join copies” brings it into the folder."
            )
        )
        note.setWordWrap(True)
        layout.addWidget(self.out)
        layout.addWidget(note)
        if self._desk.beside is None or self.action is Beside.LOCK:
            frame.hide()
        return frame

    def _add_end(self, layout: QVBoxLayout) -> None:
        label = QLabel(self.tr("&Passphrase of the key"))
        self.passphrase = QLineEdit()
        self.passphrase.setEchoMode(QLineEdit.EchoMode.Password)
        self.passphrase.setAccessibleName(self.tr("Passphrase of the key"))
        self.passphrase.setToolTip(self.tr("It is used once and not kept"))
        label.setBuddy(self.passphrase)
        self.problem = QLabel()
        self.problem.setWordWrap(True)
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        set_look(self.problem, "fail")
        self.problem.hide()
        bar = FlowBox(gap=SPACE.s)
        self.sign = QPushButton(self.tr("&Sign"))
        self.sign.setAccessibleName(self.tr("Sign"))
        self.sign.setToolTip(meaning(self.action))
        set_look(self.sign, "primary")
        self.sign.clicked.connect(self._on_sign)
        leave = QPushButton(self.tr("&Cancel"))
        leave.setAccessibleName(self.tr("Cancel"))
        leave.setToolTip(self.tr("Sign nothing (Esc)"))
        leave.setAutoDefault(False)
        leave.clicked.connect(self.reject)
        bar.add(self.sign)
        bar.add(leave)
        line = row(gap=SPACE.s)
        line.addWidget(label)
        line.addWidget(self.passphrase, 1)
        layout.addLayout(line)
        layout.addWidget(self.problem)
        layout.addWidget(bar)
        # Only a button that lies in the dialog stays the one of Enter when the focus passes it.
        self.sign.setDefault(True)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        screen = self.screen().availableSize()
        rows = _ROWS.get(self.action, 19) + (0 if self._elsewhere.isHidden() else _ELSEWHERE)
        wide, high = theme.ems(72), theme.row * rows
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))
        self.text.setFixedHeight(2 * theme.row + SPACE.l)

    # -- signing

    def _problem(self) -> str:
        if self.action is EventType.BALLOT and self._draft is not None:
            return self._draft.whole_problem(self._outcome(), self._said())
        if self.action in _REASONED and not self._said():
            return self.tr("Give a reason: everybody can read it.")
        if not self._elsewhere.isHidden() and self.out.path is None:
            return self.tr("Name the file into which the review is written.")
        return self.fields.problem()

    def _outcome(self) -> Outcome | None:
        return next((one for one, b in self.outcomes.items() if b.isChecked()), None)

    def _said(self) -> str:
        return self.text.toPlainText().strip()

    def _ask(self) -> Ask:
        outcome = self._outcome()
        vote = None
        if self._draft is not None and outcome is not None:
            vote = self._draft.vote(outcome, self._said())
        out = None if self._elsewhere.isHidden() else self.out.path
        return self.fields.fill(Ask(self.action, self._said(), vote, out=out))

    @Slot()
    def _on_sign(self) -> None:
        wrong = self._problem()
        if not wrong and not self.passphrase.text():
            wrong = self.tr("Write the passphrase of the key.")
        self.say(wrong)
        if not wrong:
            passphrase = self.passphrase.text()
            self.passphrase.clear()
            self.sign.setEnabled(False)
            self.signAsked.emit(self._ask(), passphrase)
