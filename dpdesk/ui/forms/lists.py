"""Fields whose text stands for an exact value: numbers, lists, lines, outlines."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtGui import QFocusEvent, QFontMetrics
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.errors import InputError
from dpdesk.core.list_parameters import DecimalParameter, NestedParameter
from dpdesk.core.parameters import Parameter
from dpdesk.ui.forms.field import Field, TextField
from dpdesk.ui.forms.outline import from_outline, to_outline
from dpdesk.ui.theme import SPACE
from dpdesk.ui.words.numbers import typed_number

FEWEST_LINES, MOST_LINES = 3, 9


class ValueField(TextField):
    """A line whose text the specification reads: ``5, 10, 20`` stands for ``[5, 10, 20]``."""

    def plain(self) -> object:
        """See :meth:`Field.plain`; a text that cannot be read stays as it was typed."""
        return _read(self.parameter, super().plain())

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        super().set_plain(_written(self.parameter, value))


class TextArea(QPlainTextEdit):
    """Several lines; Tab goes on to the next control. ``left()`` when the focus goes."""

    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.textChanged.connect(self._fit)
        self._fit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Say that the user has finished."""
        super().focusOutEvent(event)
        self.left.emit()

    @Slot()
    def _fit(self) -> None:
        """As high as its lines, within bounds."""
        lines = min(max(self.blockCount() + 1, FEWEST_LINES), MOST_LINES)
        self.setFixedHeight(QFontMetrics(self.font()).lineSpacing() * lines + 2 * SPACE.m)


class LinesField(Field):
    """A list of texts, one in each line."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._area = TextArea()
        self._name(self._area)
        self._area.setPlaceholderText(self.tr("one in each line"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._area)
        self._area.textChanged.connect(self.edited)
        self._area.left.connect(self.left)

    @property
    def control(self) -> QWidget:
        """The text area."""
        return self._area

    def plain(self) -> object:
        """See :meth:`Field.plain`: the lines; None when there is none."""
        lines = [line.strip() for line in self._area.toPlainText().splitlines()]
        return _read(self.parameter, [line for line in lines if line] or None)

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        self._show(str(_written(self.parameter, value) or ""))

    def _show(self, text: str) -> None:
        if text == self._area.toPlainText():
            return
        with QSignalBlocker(self._area):
            self._area.setPlainText(text)
        self._area._fit()


class OutlineField(LinesField):
    """Nested tables and lists, typed as an indented outline."""

    def __init__(self, parameter: NestedParameter) -> None:
        super().__init__(parameter)
        self._area.setPlaceholderText(
            self.tr("group:\n  value\n  value\nother group:\n  value").replace("\\n", "\n")
        )

    def plain(self) -> object:
        """See :meth:`Field.plain`; an outline that cannot be read stays text."""
        text = self._area.toPlainText()
        try:
            return from_outline(text)
        except ValueError:
            return text

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        self._show(to_outline(value))


def _read(parameter: Parameter, text: object) -> object:
    """The plan's value of what was typed; what cannot be read is given back for its error."""
    if text is None:
        return None
    if isinstance(parameter, DecimalParameter | PositiveParameter) and "," in str(text):
        number = typed_number(str(text), fractions=True)
        text = text if number is None else str(number)
    try:
        return parameter.as_plain(parameter.parse(text, parameter.label))
    except InputError:
        return text


def _written(parameter: Parameter, value: object) -> object:
    """A plan's value as the form's text."""
    if value is None or isinstance(value, str):
        return value
    try:
        return parameter.as_text(parameter.parse(value, parameter.label))
    except InputError:
        return str(value)
