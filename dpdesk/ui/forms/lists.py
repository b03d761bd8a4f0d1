"""Fields whose text stands for an exact value: numbers, lists, lines, outlines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Signal, Slot
from PySide6.QtGui import QFocusEvent, QFontMetrics
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.errors import InputError
from dpdesk.core.jsontext import read_json
from dpdesk.core.list_parameters import DecimalParameter, NestedParameter
from dpdesk.core.parameters import Parameter
from dpdesk.ui.forms.field import Field, TextField
from dpdesk.ui.theme import SPACE
from dpdesk.ui.words.numbers import typed_number

translate = QCoreApplication.translate

STEP = "  "
PART = "---"
_Line = tuple[int, str]


def to_outline(value: object) -> str:
    """The outline of nested tables (mappings), lists and texts; empty for None."""
    return "" if value is None else "\n".join(_lines(value, ""))


def from_outline(text: str) -> object:
    """The nested value of an outline: mappings, lists and texts; None when it is empty.

    Raises ValueError with a sentence that names the line.
    """
    lines: list[_Line] = []
    for number, line in enumerate(text.split("\n"), start=1):
        plain = line.expandtabs(len(STEP)).rstrip()
        if plain:
            if not plain.lstrip().rstrip(":"):
                raise ValueError(
                    translate("Outline", "Line {number}: the group has no name.").format(
                        number=number
                    )
                )
            lines.append((len(plain) - len(plain.lstrip()), plain.lstrip()))
    if not lines:
        return None
    value, rest = _block(lines, 0)
    if rest < len(lines):
        text = translate("Outline", "`{line}` is indented less than the first line.")
        raise ValueError(text.format(line=lines[rest][1]))
    return value


def _lines(value: object, indent: str) -> list[str]:
    if isinstance(value, Mapping):
        found: list[str] = []
        for label, inner in value.items():
            found.append(f"{indent}{_quoted(str(label))}:")
            found.extend(_lines(inner, indent + STEP))
        return found
    if isinstance(value, list | tuple):
        return _list_lines(value, indent)
    return [indent + _quoted(str(value))]


def _list_lines(items: Sequence[object], indent: str) -> list[str]:
    found: list[str] = []
    tables = len(items) > 1 and all(isinstance(item, Mapping) for item in items)
    for number, item in enumerate(items):
        if tables and number:
            found.append(indent + PART)
        found.extend(_lines(item, indent))
    return found


def _quoted(text: str) -> str:
    plain = text == text.strip() and text != PART and not text.endswith(":")
    if plain and text and not text.startswith('"') and "\n" not in text and "\t" not in text:
        return text
    return json.dumps(text, ensure_ascii=False)


def _unquoted(text: str) -> str:
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        try:
            return str(read_json(text))
        except ValueError:
            return text
    return text


def _block(lines: Sequence[_Line], start: int) -> tuple[object, int]:
    """The lines from ``start`` on that are not indented less than the first of them."""
    depth = lines[start][0]
    parts: list[list[object]] = [[]]
    place = start
    while place < len(lines) and lines[place][0] >= depth:
        text = lines[place][1]
        place += 1
        if text == PART:
            parts.append([])
        elif text.endswith(":") and not (text.startswith('"') and text.endswith('"')):
            inner: object = []
            if place < len(lines) and lines[place][0] > lines[place - 1][0]:
                inner, place = _block(lines, place)
            parts[-1].append({_unquoted(text[:-1].rstrip()): inner})
        else:
            parts[-1].append(_unquoted(text))
    if len(parts) == 1:
        return _joined(parts[0]), place
    return [_joined(part) for part in parts], place


def _joined(items: list[object]) -> object:
    """Groups alone are one table; anything else is a list."""
    table: dict[str, object] = {}
    for item in items:
        if not isinstance(item, dict) or table.keys() & item.keys():
            return items
        table |= item
    return table if items else []


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
