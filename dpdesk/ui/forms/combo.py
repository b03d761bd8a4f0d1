"""A closed list that cuts its words with an ellipsis, and tells the whole in its tooltip."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QPaintEvent, QPalette, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)


class NarrowCombo(QComboBox):
    """A combo box that does not ask for the width of its longest words."""

    def __init__(self, least_letters: int = 12, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._help = ""
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.setSizeAdjustPolicy(policy)
        self.setMinimumContentsLength(least_letters)
        self.currentTextChanged.connect(self._tell)

    def set_help(self, text: str) -> None:
        """What the tooltip says besides the words that are chosen."""
        self._help = text
        self._tell()

    @Slot()
    def _tell(self) -> None:
        chosen = self.currentText()
        self.setToolTip(f"{chosen}\n{self._help}" if chosen and self._help else self._help)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The usual frame, with words that end in an ellipsis where they do not fit."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        style, part = self.style(), QStyle.SubControl.SC_ComboBoxEditField
        place = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)
        mode = Qt.TextElideMode.ElideRight
        invites = self.currentIndex() < 0
        words = self.placeholderText() if invites else self.currentText()
        option.currentText = self.fontMetrics().elidedText(words, mode, place.width() - 2)
        if invites:
            muted = self.palette().placeholderText()
            option.palette.setBrush(QPalette.ColorRole.ButtonText, muted)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()
