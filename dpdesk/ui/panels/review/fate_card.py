"""What becomes of the columns, in three lines."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from dpdesk.ui.panels.review.presenter import Fates
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column

_MOST_LINES = 4  # left out, generalised, as they are, as pseudonyms


class FateCard(QFrame):
    """Columns that are left out, generalised, released as they are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        layout = column(self, margin=SPACE.l, gap=SPACE.xs)
        head = QLabel(self.tr("What becomes of the columns"))
        head.setWordWrap(True)
        set_look(head, "section")
        layout.addWidget(head)
        self._lines: list[tuple[QLabel, QLabel]] = []
        for _ in range(_MOST_LINES):
            name, text = QLabel(), QLabel()
            set_look(name, "note")
            text.setWordWrap(True)
            text.setMinimumWidth(1)  # lists of names break wherever they must
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            layout.addWidget(name)
            layout.addWidget(text)
            self._lines.append((name, text))
        layout.addStretch(1)

    def set_fates(self, fates: Fates) -> None:
        """Show them."""
        lines = fates.lines()
        for place, (name, text) in enumerate(self._lines):
            head, words = lines[place] if place < len(lines) else ("", "")
            name.setText(head)
            text.setText(words)
            name.setVisible(bool(head))
            text.setVisible(bool(head))
        self.setAccessibleName(". ".join(f"{head}: {words}" for head, words in fates.lines()))
