"""The dialog in which something is signed: what it means, what goes with it, the passphrase."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.app.review.values import Card, EventType, Outcome, Wish, fingerprint_text
from dpdesk.ui.files import FileAsker
from dpdesk.ui.panels.review.actions import action_words, meaning
from dpdesk.ui.panels.review.deciding import Draft
from dpdesk.ui.panels.review.path_field import PathField
from dpdesk.ui.panels.review.scrolling import scrolled
from dpdesk.ui.panels.review.sign_tasks import Ask
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wording import in_window

_TEXTS = (EventType.SUBMIT, EventType.BALLOT, EventType.RELEASE, EventType.WITHDRAW)


class SignDialog(QDialog):
    """``signAsked(Ask, passphrase)``; it stays open until it is told that signing went well."""

    signAsked = Signal(object, str)

    def __init__(
        self,
        action: EventType,
        card: Card,
        draft: Draft | None,
        theme: ThemeManager,
        asker: FileAsker,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.action, self._draft, self._asker = action, draft, asker
        self.outcomes: dict[Outcome, QRadioButton] = {}
        self.paths: dict[str, PathField] = {}
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
        self._add_paths(layout)
        layout.addStretch(1)
        outer.addWidget(scrolled(body), 1)
        self._add_end(outer)
        self._on_theme(theme.theme)

    def say(self, sentence: str) -> None:
        """Show what is wrong; empty: nothing."""
        self.problem.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self.problem.setAccessibleName(sentence)
        self.problem.setVisible(bool(sentence))

    def failed(self, sentence: str) -> None:
        """Signing did not work: say why, and let it be tried again."""
        self.say(sentence)
        self.sign.setEnabled(True)
        self.passphrase.setFocus()

    def reject(self) -> None:
        """Leave without signing."""
        self.passphrase.clear()
        super().reject()

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
        names = {
            EventType.SUBMIT: self.tr("Note for the reviewers"),
            EventType.BALLOT: self.tr("Comment on the whole"),
            EventType.RELEASE: self.tr("Note"),
            EventType.WITHDRAW: self.tr("Reason"),
        }
        self.text = QPlainTextEdit()
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(4 * self.text.fontMetrics().lineSpacing())
        self.text.setVisible(self.action in _TEXTS)
        if self.action in _TEXTS:
            label = QLabel(names[self.action])
            label.setBuddy(self.text)
            self.text.setAccessibleName(names[self.action])
            self.text.setToolTip(self.tr("It is signed, and everybody can read it"))
            layout.addWidget(label)
            layout.addWidget(self.text)

    def _add_paths(self, layout: QVBoxLayout) -> None:
        fields: dict[str, tuple[str, str, bool]] = {}
        if self.action is EventType.SUBMIT:
            fields = {
                "policy": (
                    self.tr("Policy file (empty: the one of this computer)"),
                    self.tr("The rules by which the checklist is made"),
                    False,
                ),
                "after": (
                    self.tr("Folder of the round before (empty: the first round)"),
                    self.tr("The release that this one follows, after changes were requested"),
                    True,
                ),
                "protocol": (
                    self.tr("Locked protocol (empty: this release develops one)"),
                    self.tr("The protocol that this release applies"),
                    False,
                ),
            }
        elif self.action is EventType.MERGE:
            tip = self.tr("The folder in which a reviewer signed")
            for number in (1, 2):
                name = self.tr("Copy {n} (a release folder; may stay empty)").format(n=number)
                fields[f"copy-{number}"] = (name, tip, True)
        for key, (words, tip, folder) in fields.items():
            self.paths[key] = PathField(words, tip, self._asker, folder=folder)
            layout.addWidget(self.paths[key])

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
        self.sign.setDefault(True)
        self.sign.clicked.connect(self._on_sign)
        leave = QPushButton(self.tr("&Cancel"))
        leave.setAccessibleName(self.tr("Cancel"))
        leave.setToolTip(self.tr("Sign nothing (Esc)"))
        leave.setAutoDefault(False)
        leave.clicked.connect(self.reject)
        bar.add(self.sign)
        bar.add(leave)
        for widget in (label, self.passphrase, self.problem, bar):
            layout.addWidget(widget)

    def _on_theme(self, theme: Theme) -> None:
        screen = self.screen().availableSize()
        plain = self.action in (EventType.START, EventType.REVEAL)
        wide, high = theme.ems(72), theme.row * (11 if plain else 19)
        self.resize(min(wide, screen.width() - 40), min(high, screen.height() - 80))

    # -- signing

    def _problem(self) -> str:
        if self.action is EventType.BALLOT and self._draft is not None:
            return self._draft.whole_problem(self._outcome(), self._said())
        if self.action is EventType.WITHDRAW and not self._said():
            return self.tr("Give a reason: everybody can read it.")
        return ""

    def _outcome(self) -> Outcome | None:
        return next((one for one, b in self.outcomes.items() if b.isChecked()), None)

    def _said(self) -> str:
        return self.text.toPlainText().strip()

    def _ask(self) -> Ask:
        paths = {key: field.path for key, field in self.paths.items()}
        if self.action is EventType.SUBMIT:
            wish = Wish(
                policy=paths["policy"],
                protocol=paths["protocol"],
                note=self._said(),
                after=paths["after"],
            )
            return Ask(self.action, wish=wish)
        outcome = self._outcome()
        if self._draft is not None and outcome is not None:
            return Ask(self.action, vote=self._draft.vote(outcome, self._said()))
        copies = tuple(path for path in paths.values() if path is not None)
        return Ask(self.action, self._said(), copies=copies)

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
