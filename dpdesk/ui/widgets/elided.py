"""A line of text that gives way: what does not fit is cut with an ellipsis."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget


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
        super().__init__(text, parent)
        self._mode = mode
        self._cut = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters."""
        return QSize(self.fontMetrics().averageCharWidth() * 4, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as much of the text as fits."""
        place = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), self._mode, place.width())
        self._tell(shown != self.text())
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

    def _tell(self, cut: bool) -> None:
        """The whole text as tooltip while it is cut, unless the label has one of its own."""
        if self.toolTip() in ("", self._cut):
            self._cut = self.text() if cut else ""
            self.setToolTip(self._cut)
