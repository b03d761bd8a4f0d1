"""Sentences below a heading, on a card; hidden when there are none."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from dpdesk.core.messages import msg
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wording import in_window


class LinesCard(QFrame):
    """A heading and lines that wrap and can be selected; ``mark`` stands before each."""

    def __init__(self, head: str, mark: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_look(self, "card")
        self._head, self._mark = head, mark
        layout = column(self, margin=SPACE.l, gap=SPACE.s)
        title = QLabel(head)
        title.setWordWrap(True)
        set_look(title, "section")
        layout.addWidget(title)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(self._text)

    @property
    def text(self) -> str:
        """All lines."""
        return self._text.text()

    def show_lines(self, lines: Sequence[str]) -> None:
        """Show these lines."""
        mark = f"{self._mark} " if self._mark else ""
        self._text.setText("\n".join(f"{mark}{in_window(line)}" for line in lines))
        self.setAccessibleName(msg("{file}: {note}", file=self._head, note=" ".join(lines)))
        self.setVisible(bool(lines))
