"""The line of role buttons, and the card that describes the chosen column."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget

from dpdesk.app.types import Role
from dpdesk.core.messages import msg
from dpdesk.ui.panels.attributes.presenter import LETTERS, Row, meaning
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.words.columns import role_words
from dpdesk.ui.words.counts import short_name
from dpdesk.ui.words.spoken import said


class RoleButtons(FlowBox):
    """One button per role with its key; ``asked(Role)``."""

    asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, gap=SPACE.xs)
        self.setAccessibleName(self.tr("Set the role of the chosen columns"))
        self.add(QLabel(self.tr("Role:")))
        self.buttons: dict[Role, QPushButton] = {}
        for letter, role in LETTERS.items():
            button = QPushButton(f"{role_words(role)} ({letter})")
            set_look(button, "tight")
            button.setProperty("role", role.value)
            button.setAccessibleName(self.tr("Make it: {role}").format(role=role_words(role)))
            button.setToolTip(
                self.tr("{meaning} Key {letter} in the table.").format(
                    meaning=meaning(role), letter=letter
                )
            )
            button.clicked.connect(self._on_clicked)
            self.buttons[role] = button
            self.add(button)

    @Slot()
    def _on_clicked(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.asked.emit(Role(str(sender.property("role"))))


class ColumnCard(QFrame):
    """Name, role, what it means, and why it was suggested."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.m, gap=SPACE.xs)
        self._name, self._role, self._reason = QLabel(), QLabel(), QLabel()
        self._warning = QLabel()
        set_look(self._name, "strong")
        set_look(self._reason, "note")
        set_look(self._warning, "caution")
        for label in (self._name, self._role, self._warning, self._reason):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label)
        self.show_rows(())

    def show_rows(self, rows: tuple[Row, ...]) -> None:
        """Describe the chosen columns."""
        self._warning.hide()
        self._reason.hide()
        if len(rows) != 1:
            none = self.tr("No column is chosen")
            many = self.tr("{count} columns are chosen").format(count=len(rows))
            self._name.setText(many if rows else none)
            hint = self.tr("A role button, a letter or a digit changes all of them at once.")
            choose = self.tr("Choose one or several columns to set their roles.")
            self._role.setText(hint if rows else choose)
            return
        row = rows[0]
        self._name.setText(self._title(row))
        shown = row.shown
        self._role.setText("" if shown is None else meaning(shown))
        if row.warning:
            self._warning.setText(f"△ {row.warning}")
            self._warning.show()
        if row.profile is not None and row.role is not row.suggested:
            why = self.tr("Why suggested: {reason}")
            if row.role is None:
                why = self.tr("Why suggested: {reason} Space confirms it.")
            self._reason.setText(why.format(reason=said(row.profile.suggestion.reason)))
            self._reason.show()

    def _title(self, row: Row) -> str:
        if row.role is not None:
            return msg("{file}: {note}", file=short_name(row.name), note=role_words(row.role))
        if row.suggested is None:
            return short_name(row.name)
        text = self.tr("{name}: {role}?")
        return text.format(name=short_name(row.name), role=role_words(row.suggested))
