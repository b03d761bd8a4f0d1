"""A line of text that gives way: what does not fit is cut with an ellipsis."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from dpdesk.ui.words.numbers import shortened


class ElidedLabel(QLabel):
    """``text()`` stays whole, for tooltips and screen readers; only the painting is cut.

    A plain label demands the width of its text, so that a long one would widen the window.
    """

    def __init__(
        self,
        text: str = "",
        parent: QWidget | None = None,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self._cut = ""
        super().setText(text)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters."""
        return QSize(self.fontMetrics().averageCharWidth() * 4, super().minimumSizeHint().height())

    def setText(self, text: str) -> None:
        """Say something else."""
        super().setText(text)
        self._tell()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or less of the text fits."""
        super().resizeEvent(event)
        self._tell()

    def changeEvent(self, event: QEvent) -> None:
        """Another font, another width."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._tell()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as much of the text as fits."""
        place, shown = self.contentsRect(), self._shown()
        painter = QPainter(self)
        self.style().drawItemText(
            painter,
            place,
            int((self.alignment() | Qt.AlignmentFlag.AlignVCenter).value),
            self.palette(),
            self.isEnabled(),
            shown,
            QPalette.ColorRole.WindowText,
        )
        painter.end()

    def _shown(self) -> str:
        width = self.contentsRect().width()
        return self.fontMetrics().elidedText(shortened(self.text()), self._mode, width)

    def _tell(self) -> None:
        """The text as tooltip while it is cut, unless the label has one of its own."""
        if self.toolTip() in ("", self._cut):
            self._cut = shortened(self.text()) if self._shown() != self.text() else ""
            self.setToolTip(self._cut)
