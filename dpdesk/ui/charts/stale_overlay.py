"""What dims a picture that is out of date."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from dpdesk.ui.theme import ThemeManager


class StaleOverlay(QWidget):
    """Dims what lies below it, and lets every click through."""

    def __init__(self, theme: ThemeManager, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Keep covering the whole parent."""
        parent = self.parentWidget()
        if event.type() == QEvent.Type.Resize and parent is not None:
            self.resize(parent.size())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """A half-transparent ground."""
        colour = QColor(self._theme.tokens.surface)
        colour.setAlpha(150)
        QPainter(self).fillRect(self.rect(), colour)
