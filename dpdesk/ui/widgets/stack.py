"""Pages of which one is in front, no larger than that one must be."""

from __future__ import annotations

from PySide6.QtCore import QSize, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget


class PageStack(QStackedWidget):
    """The usual stack asks for the room of its largest page, whichever is in front."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.currentChanged.connect(self._on_turned)

    def minimumSizeHint(self) -> QSize:
        """The least size of the page in front."""
        page = self.currentWidget()
        if page is None:
            return QSize(0, 0)
        return page.minimumSizeHint().expandedTo(page.minimumSize())

    def sizeHint(self) -> QSize:
        """The size that the page in front likes."""
        page = self.currentWidget()
        return QSize(0, 0) if page is None else page.sizeHint()

    @Slot()
    def _on_turned(self) -> None:
        self.updateGeometry()
