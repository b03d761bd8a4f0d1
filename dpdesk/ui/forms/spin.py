"""Boxes for numbers as wide as usual numbers, sliders beside them, lists that cut their words.

They write numbers with the marks of the window's language, and read what people of other languages
type as long as it can mean one number only: see :func:`dpdesk.ui.words.numbers.typed_number`.
"""

from __future__ import annotations

from decimal import Decimal

from PySide6.QtCore import QEvent, QSize, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleValueInterface,
    QKeyEvent,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    Qt,
    QValidator,
)
from PySide6.QtWidgets import (
    QAccessibleWidget,
    QComboBox,
    QDoubleSpinBox,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)
from shiboken6 import VoidPtr, getCppPointer

from dpdesk.ui.theme import SPACE
from dpdesk.ui.words.numbers import marked, typed_number

_USUAL = "100,000"
_State = QValidator.State


def _usual(box: QSpinBox | QDoubleSpinBox, hint: QSize) -> QSize:
    metrics = box.fontMetrics()
    # Besides the text: arrows, frame and the air around it, which grow with the text.
    return QSize(
        metrics.horizontalAdvance(_USUAL + box.suffix()) + 3 * metrics.height(), hint.height()
    )


def _typed(box: QSpinBox | QDoubleSpinBox, text: str) -> Decimal | None:
    """The number in the text of a box, None when there is none or its marks are doubtful."""
    return typed_number(_bare(box, text), isinstance(box, QDoubleSpinBox))


def _bare(box: QSpinBox | QDoubleSpinBox, text: str) -> str:
    return text.removeprefix(box.prefix()).removesuffix(box.suffix()).strip()


def _state(box: QSpinBox | QDoubleSpinBox, text: str) -> _State:
    """Whether a text can stay: what cannot be read for certain is never taken."""
    if box.specialValueText() and text == box.specialValueText():
        return _State.Acceptable
    bare = _bare(box, text)
    if not all(letter.isdecimal() or letter.isspace() or letter in ".,-−+" for letter in bare):
        return _State.Invalid
    number = typed_number(bare, isinstance(box, QDoubleSpinBox))
    if number is None:
        return _State.Intermediate
    if isinstance(box, QDoubleSpinBox) and _decimals(number) > box.decimals():
        return _State.Intermediate
    inside = box.minimum() <= number <= box.maximum()
    return _State.Acceptable if inside else _State.Intermediate


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _written(box: QSpinBox | QDoubleSpinBox, value: float) -> str:
    """A number with this language's marks."""
    text = f"{value:,.{box.decimals()}f}" if isinstance(box, QDoubleSpinBox) else f"{value:,}"
    return marked(text if box.isGroupSeparatorShown() else text.replace(",", ""))


def _validated(box: QSpinBox | QDoubleSpinBox, text: str, place: int) -> tuple[_State, str, int]:
    """Whether the text is a number that can be meant in one way only."""
    return _state(box, text), text, place


def _narrow(box: QSpinBox | QDoubleSpinBox) -> None:
    box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    box.lineEdit().setTextMargins(SPACE.s - 2, 0, 0, 0)


class NarrowSpin(QSpinBox):
    """A whole number."""

    def __init__(self) -> None:
        super().__init__()
        _narrow(self)

    def valueFromText(self, text: str) -> int:
        """The number that was typed."""
        number = _typed(self, text)
        return self.minimum() if number is None else int(number)

    def sizeHint(self) -> QSize:
        """Room for a usual number with its unit."""
        return _usual(self, super().sizeHint())

    textFromValue, validate, minimumSizeHint = _written, _validated, sizeHint


class NarrowDoubleSpin(QDoubleSpinBox):
    """A decimal number."""

    def __init__(self) -> None:
        super().__init__()
        _narrow(self)

    def valueFromText(self, text: str) -> float:
        """The number that was typed."""
        number = _typed(self, text)
        return self.minimum() if number is None else float(number)

    def sizeHint(self) -> QSize:
        """Room for a usual number with its unit."""
        return _usual(self, super().sizeHint())

    textFromValue, validate, minimumSizeHint = _written, _validated, sizeHint


class NarrowCombo(QComboBox):
    """A combo box that does not ask for the width of its longest words.

    ``by_keys`` says, while it changes, whether keys go through its choices one by one.
    ``roomChanged()`` says that words may be cut now that were not, or the other way round.
    """

    roomChanged = Signal()

    def __init__(self, least_letters: int = 12, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._help, self.by_keys = "", False
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Note that what changes now changes by a key."""
        self.by_keys = True
        super().keyPressEvent(event)
        self.by_keys = False

    @property
    def cut(self) -> bool:
        """Whether the words that are chosen have not enough room."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return self.fontMetrics().horizontalAdvance(self.currentText()) > self._room(option)

    def _room(self, option: QStyleOptionComboBox) -> int:
        """The width that words have, in pixels."""
        style, part = self.style(), QStyle.SubControl.SC_ComboBoxEditField
        place = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)
        return place.width() - 2

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words may fit now."""
        super().resizeEvent(event)
        self.roomChanged.emit()

    def changeEvent(self, event: QEvent) -> None:
        """Words of another size may fit, or not."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.roomChanged.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The usual frame, with words that end in an ellipsis where they do not fit."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        mode = Qt.TextElideMode.ElideRight
        invites = self.currentIndex() < 0
        words = self.placeholderText() if invites else self.currentText()
        option.currentText = self.fontMetrics().elidedText(words, mode, self._room(option))
        if invites:
            muted = self.palette().placeholderText()
            option.palette.setBrush(QPalette.ColorRole.ButtonText, muted)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class UnitSlider(QSlider):
    """A slider that screen readers are told of in the numbers and the unit of the box beside it."""

    def __init__(self, box: QSpinBox | QDoubleSpinBox) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.box = box

    def told_as(self) -> QAccessibleWidget:
        """See :mod:`dpdesk.ui.telling`."""
        return _ToldSlider(self)


class _BoxValue(QAccessibleValueInterface):
    def __init__(self, box: QSpinBox | QDoubleSpinBox) -> None:
        super().__init__()
        self._box = box

    def currentValue(self) -> float:
        return self._box.value()

    def setCurrentValue(self, value: float) -> None:
        if isinstance(self._box, QSpinBox):
            self._box.setValue(round(value))
        else:
            self._box.setValue(value)

    def minimumValue(self) -> float:
        return self._box.minimum()

    def maximumValue(self) -> float:
        return self._box.maximum()

    def minimumStepSize(self) -> float:
        return self._box.singleStep()


class _ToldSlider(QAccessibleWidget):
    def __init__(self, slider: UnitSlider) -> None:
        super().__init__(slider, QAccessible.Role.Slider)
        self._box, self._value = slider.box, _BoxValue(slider.box)

    def interface_cast(self, kind: QAccessible.InterfaceType) -> int:
        if kind is QAccessible.InterfaceType.ValueInterface:
            return VoidPtr(getCppPointer(self._value)[0])  # type: ignore[return-value]
        found = super().interface_cast(kind)
        # None would end the program as soon as a screen reader asks: the binding takes none here.
        return VoidPtr(0) if found is None else found

    def text(self, which: QAccessible.Text) -> str:
        return self._box.text() if which is QAccessible.Text.Value else super().text(which)
