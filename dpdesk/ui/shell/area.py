"""The place of a panel in the window: it fills it, and scrolls when it needs more than there is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class PanelArea(QScrollArea):
    """Holds one panel.

    The panel gets all the room that there is, but never less than its least size: neither is the
    window pushed off the screen by large text, nor is a panel cut.
    """

    def __init__(self, panel: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(panel)
        panel.installEventFilter(self)

    def minimumSizeHint(self) -> QSize:
        """Little: what does not fit scrolls."""
        return QSize(480, 320)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the panel its size."""
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The panel may need more, or less, than before."""
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        panel = self.widget()
        if panel is None:
            return
        room = self.maximumViewportSize()
        width, height = room.width(), room.height()
        least = panel.minimumSizeHint().expandedTo(panel.minimumSize())
        if least.width() > width:
            width, height = least.width(), height - self.horizontalScrollBar().sizeHint().height()
        needed = self._needed(panel, width, least.height())
        if needed > height:
            bar = self.verticalScrollBar().sizeHint().width()
            width = max(least.width(), width - bar) if least.width() <= width else width
            needed = self._needed(panel, width, least.height())
        panel.resize(width, max(height, needed))

    @staticmethod
    def _needed(panel: QWidget, width: int, otherwise: int) -> int:
        layout = panel.layout()
        if layout is None or not layout.hasHeightForWidth():
            return otherwise
        return max(otherwise, layout.totalMinimumHeightForWidth(width))
