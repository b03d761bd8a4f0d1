"""One field per kind of parameter; each speaks plain values (what a plan file would hold)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    DecimalParameter,
    FlagParameter,
    IntegerParameter,
    LevelsParameter,
    NestedParameter,
    Parameter,
    ParameterValue,
    ShareParameter,
    StructuredParameter,
    TextListParameter,
    TextParameter,
    plain_number,
)
from dpdesk.core.shapes import read_json
from dpdesk.core.table_parameters import TypedParameter
from dpdesk.ui.forms.spin import NarrowCombo, NarrowDoubleSpin, NarrowSpin, UnitSlider
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import leave_wheel
from dpdesk.ui.words.numbers import typed_number
from dpdesk.ui.words.spoken import inside, said, unit_words

if TYPE_CHECKING:
    from dpdesk.ui.forms.columns import FormContext


class Field(QWidget):
    """The control of one parameter.

    ``edited()`` is emitted after the user changed the value, never by :meth:`set_plain`.
    ``left()`` is emitted when the user has finished (for errors that must not come too early).
    """

    edited = Signal()
    left = Signal()

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self.parameter = parameter
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    @property
    def control(self) -> QWidget:
        """The widget that takes the focus and the label's letter."""
        raise NotImplementedError

    @property
    def empty(self) -> bool:
        """Whether the field has nothing to show now."""
        return False

    def plain(self) -> object:
        """The value as a plan would write it; None when not given."""
        raise NotImplementedError

    def set_plain(self, value: object) -> None:
        """Show a plain value, silently."""
        raise NotImplementedError

    def problem(self) -> str:
        """What is wrong with the value, in words of the field; empty: nothing that it knows of."""
        return ""

    def show_around(self, around: FormContext) -> None:
        """Offer the columns of the data, where the field names some."""

    def _name(self, widget: QWidget) -> None:
        widget.setAccessibleName(self.parameter.label)
        widget.setAccessibleDescription(self.parameter.help)
        accepted = range_words(self.parameter)
        widget.setToolTip(
            f"{self.parameter.help} ({accepted})" if accepted else self.parameter.help
        )


class TextField(Field):
    """Any other parameter: a line of text that the specification itself reads."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._line = QLineEdit()
        self._name(self._line)
        self._line.setPlaceholderText(range_words(parameter))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._line)
        self._line.textEdited.connect(self.edited)
        self._line.editingFinished.connect(self.left)
        self.set_plain(None)

    @property
    def control(self) -> QWidget:
        """The line."""
        return self._line

    def plain(self) -> object:
        """See :meth:`Field.plain`: the text, None when empty."""
        return self._line.text().strip() or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        given = value if value is not None else start_of(self.parameter)
        self._line.setText("" if given is None else str(given))


def range_words(parameter: Parameter) -> str:
    """What a parameter accepts, as it is typed into a field; empty where an editor shows it."""
    structured = isinstance(parameter, StructuredParameter) and parameter.records is not None
    outlined = isinstance(parameter, TypedParameter) and bool(parameter.outline)
    if structured or outlined or isinstance(parameter, NestedParameter):
        return ""
    return said(parameter.range_text())


def start_of(parameter: Parameter) -> object:
    """What a form shows before anything is given: the default, else the suggestion."""
    suggested: ParameterValue = getattr(parameter, "suggested", None)
    default = parameter.default_value()
    return parameter.as_plain(suggested if default is None else default)


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


class FileField(ValueField):
    """The name of a file; ``fileAsked(FileField)`` asks for one, which :meth:`choose` takes."""

    fileAsked = Signal(object)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        browse = QPushButton(self.tr("Browse…"))
        browse.setAccessibleName(self.tr("Browse… for {setting}").format(setting=parameter.label))
        browse.setToolTip(self.tr("Choose the file; next to the data, its name is enough"))
        browse.clicked.connect(self._on_browse)
        layout = self.layout()
        if layout is not None:
            layout.addWidget(browse)

    @Slot()
    def _on_browse(self) -> None:
        self.fileAsked.emit(self)

    def choose(self, name: str) -> None:
        """Take a file that was chosen, as if its name had been typed."""
        self._line.setText(name)
        self.edited.emit()
        self.left.emit()


class TextArea(QPlainTextEdit):
    """Several lines; Tab goes on to the next control. ``left()`` when the focus goes."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
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

    def __init__(self, parameter: Parameter, example: str = "") -> None:
        super().__init__(parameter)
        usual = self.tr("group:\n  value\n  value\nother group:\n  value").replace("\\n", "\n")
        self._area.setPlaceholderText(example or usual)

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


class FlagField(Field):
    """A check box; its help stands below."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._box = QCheckBox(self.tr("yes"))
        self._name(self._box)
        explained = QLabel(parameter.help)
        explained.setWordWrap(True)
        set_look(explained, "note")
        layout = column(self)
        layout.addWidget(self._box)
        layout.addWidget(explained)
        self._box.toggled.connect(self._on_toggled)
        self.set_plain(None)

    @property
    def control(self) -> QWidget:
        """The check box."""
        return self._box

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return self._box.isChecked()

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`; None shows the default."""
        given = self.parameter.default_value() if value is None else value
        with QSignalBlocker(self._box):
            self._box.setChecked(given is True)

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        self.edited.emit()
        self.left.emit()


LARGEST = 2_147_483_647
SLIDER_STEPS = 1_000
SLIDER_REACH = 100


class _UndoPasses(QObject):
    """Lets Ctrl+Z in a spin box reach the window: the edit to take back is one of the plan."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Refuse to override the window's keys for undo and redo."""
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        keys = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
        if any(event.matches(key) for key in keys):
            event.ignore()
            return True
        return False


class NumberField(Field):
    """A spin box, with a slider beside it when the value can be tried live."""

    def __init__(self, parameter: Parameter, box: QSpinBox | QDoubleSpinBox, *, live: bool) -> None:
        super().__init__(parameter)
        self._box = box
        self._name(box)
        leave_wheel(box)
        box.setGroupSeparatorShown(True)
        box.setAccelerated(True)
        box.setKeyboardTracking(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE.m)
        self._slider: QSlider | None = None
        if live:
            self._slider = UnitSlider(box)
            self._name(self._slider)
            leave_wheel(self._slider)
            self._slider.setAccessibleName(self.tr("{label}, slider").format(label=parameter.label))
            self._slider.setMinimumWidth(70)
            self._slider.valueChanged.connect(self._on_slider)
            row.addWidget(box)
            row.addWidget(self._slider, 1)
        else:
            row.addWidget(box)
            row.addStretch(1)
        box.editingFinished.connect(self.left)
        line = box.findChild(QLineEdit)
        if line is not None:
            line.setTextMargins(SPACE.s - 2, 0, 0, 0)
            line.installEventFilter(_UndoPasses(self))

    @property
    def control(self) -> QWidget:
        """The spin box."""
        return self._box

    @property
    def slider(self) -> QSlider | None:
        """The slider of a live parameter."""
        return self._slider

    def _on_slider(self, position: int) -> None:
        raise NotImplementedError

    def _place_slider(self, position: int) -> None:
        if self._slider is not None:
            with QSignalBlocker(self._slider):
                self._slider.setValue(position)


class IntegerField(NumberField):
    """A whole number; one step below the least is none, where nothing has to be given."""

    def __init__(self, parameter: IntegerParameter, *, live: bool) -> None:
        box = NarrowSpin()
        super().__init__(parameter, box, live=live)
        self._spin = box
        highest = parameter.maximum if parameter.maximum is not None else LARGEST
        least = max(parameter.minimum, -LARGEST)
        self._absent = least - 1 if not parameter.required and start_of(parameter) is None else None
        box.setRange(least if self._absent is None else self._absent, min(highest, LARGEST))
        if self._absent is not None:
            box.setSpecialValueText(self.tr("none"))
        if self._slider is not None:
            self._slider.setRange(box.minimum(), min(box.maximum(), SLIDER_REACH))
            self._slider.setPageStep(5)
        box.valueChanged.connect(self._on_box)
        box.editingFinished.connect(self._show_unit)
        self.set_plain(None)

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        value = self._spin.value()
        return None if value == self._absent else value

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`; None shows the default or the suggested value."""
        given = value if value is not None else start_of(self.parameter)
        number = given if isinstance(given, int) else self._spin.minimum()
        with QSignalBlocker(self._spin):
            self._spin.setValue(number)
        self._show_unit()
        self._place_slider(self._spin.value())

    @Slot()
    def _show_unit(self) -> None:
        """The unit of one, or of many: once a number is complete, not while someone types."""
        unit = unit_words(self.parameter.unit, self._spin.value())
        if unit:
            self._spin.setSuffix(f" {unit}")

    @Slot(int)
    def _on_box(self, value: int) -> None:
        if not self._spin.hasFocus():
            self._show_unit()
        self._place_slider(value)
        self.edited.emit()

    @Slot(int)
    def _on_slider(self, position: int) -> None:
        self._spin.setValue(position)


class ShareField(NumberField):
    """A share, shown in percent; what was given stays exact until the user changes it.

    Nothing is none where a share need not be given.

    The slider gives small shares more room: its position is the square root of the share.
    """

    def __init__(self, parameter: ShareParameter, *, live: bool) -> None:
        box = NarrowDoubleSpin()
        super().__init__(parameter, box, live=live)
        self._spin = box
        self._exact = Fraction(0)
        box.setRange(0, 100)
        box.setDecimals(2)
        box.setSingleStep(0.5)
        box.setSuffix(" %")
        if not parameter.required and start_of(parameter) is None:
            box.setSpecialValueText(self.tr("none"))
        if self._slider is not None:
            self._slider.setRange(0, SLIDER_STEPS)
            self._slider.setPageStep(SLIDER_STEPS // 20)
            self._slider.setSingleStep(SLIDER_STEPS // 100)
        box.valueChanged.connect(self._on_box)
        self.set_plain(None)

    def plain(self) -> object:
        """See :meth:`Field.plain`: a number from 0 to 1."""
        optional = not self.parameter.required and start_of(self.parameter) is None
        return None if optional and not self._exact else plain_number(self._exact)

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`; None shows the default or the suggested value."""
        given = value if value is not None else start_of(self.parameter)
        try:
            exact = self.parameter.parse(given if given is not None else 0, "")
        except InputError:
            exact = Fraction(0)
        self._exact = exact if isinstance(exact, Fraction) else Fraction(0)
        with QSignalBlocker(self._spin):
            self._spin.setDecimals(_decimals(self._exact * 100))
            self._spin.setValue(float(self._exact * 100))
        self._follow()

    @Slot(float)
    def _on_box(self, value: float) -> None:
        text = f"{value:.{self._spin.decimals()}f}"
        self._exact = Fraction(Decimal(text)) / 100
        self._follow()
        self.edited.emit()

    @Slot(int)
    def _on_slider(self, position: int) -> None:
        self._spin.setDecimals(2)
        self._spin.setValue(round((position / SLIDER_STEPS) ** 2 * 100, 2))

    def _follow(self) -> None:
        self._place_slider(round(float(self._exact) ** 0.5 * SLIDER_STEPS))


class ChoiceField(Field):
    """A list of named values; the help of the chosen one stands below.

    So do its words, where the box has no room for all of them.
    """

    def __init__(self, parameter: ChoiceParameter) -> None:
        super().__init__(parameter)
        self._choices = parameter.choices
        if parameter.default is None and not parameter.required:
            usual = Choice("", self.tr("As usual"), parameter.help)
            self._choices = (usual, *self._choices)
        self._combo = NarrowCombo()
        self._name(self._combo)
        self._combo.set_help(self._combo.toolTip())
        leave_wheel(self._combo)
        for number, choice in enumerate(self._choices):
            self._combo.addItem(choice.label, choice.value)
            self._combo.setItemData(number, choice.help, Qt.ItemDataRole.ToolTipRole)
        self._help = QLabel()
        self._help.setWordWrap(True)
        set_look(self._help, "note")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE.xs)
        column.addWidget(self._combo)
        column.addWidget(self._help)
        self._combo.currentIndexChanged.connect(self._on_index)
        self._combo.roomChanged.connect(self._explain)
        self.set_plain(None)

    @property
    def control(self) -> QWidget:
        """The combo box."""
        return self._combo

    @property
    def told(self) -> str:
        """What stands below the box."""
        return self._help.text()

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return self._combo.currentData() or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`; an unknown value shows as no choice."""
        given = value if value is not None else self.parameter.default_value()
        values = [choice.value for choice in self._choices]
        place = values.index(given) if given in values else -1 if value is not None else 0
        with QSignalBlocker(self._combo):
            self._combo.setCurrentIndex(place)
        self._explain()

    @Slot()
    def _on_index(self) -> None:
        self._explain()
        self.edited.emit()
        self.left.emit()

    @Slot()
    def _explain(self) -> None:
        place = self._combo.currentIndex()
        known = 0 <= place < len(self._choices)
        text = self._choices[place].help if known else ""
        if known and self._combo.cut:
            text = f"{self._choices[place].label}. {text}".rstrip()
        self._help.setText(text)
        self._help.setVisible(bool(text))


class LevelsField(Field):
    """Levels chosen elsewhere (in a picture): a summary and a way back; hidden when none."""

    def __init__(self, parameter: LevelsParameter) -> None:
        super().__init__(parameter)
        self._levels: dict[str, int] | None = None
        self._summary = QLabel()
        self._summary.setWordWrap(True)
        self._clear = QPushButton(self.tr("Clear"))
        self._clear.setAccessibleName(
            self.tr("Clear {label}").format(label=inside(parameter.label))
        )
        self._clear.setToolTip(self.tr("Let the program choose again"))
        self._clear.clicked.connect(self._on_clear)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._summary, 1)
        row.addWidget(self._clear)

    @property
    def control(self) -> QWidget:
        """The button that clears."""
        return self._clear

    @property
    def empty(self) -> bool:
        """No levels: nothing to show."""
        return self._levels is None

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return None if self._levels is None else dict(self._levels)

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        self._levels = None
        if isinstance(value, Mapping):
            self._levels = {str(name): int(level) for name, level in value.items()}
        elif isinstance(value, tuple):
            self._levels = {str(name): int(level) for name, level in value}
        levels = self._levels or {}
        self._summary.setText(", ".join(f"{name} {level}" for name, level in levels.items()))

    @Slot()
    def _on_clear(self) -> None:
        self.set_plain(None)
        self.edited.emit()


def field_for(parameter: Parameter, *, live: bool) -> Field:
    """The field of a parameter, by the kind of its specification."""
    if isinstance(parameter, IntegerParameter):
        return IntegerField(parameter, live=live)
    if isinstance(parameter, ShareParameter):
        return ShareField(parameter, live=live)
    if isinstance(parameter, ChoiceParameter):
        return ChoiceField(parameter)
    if isinstance(parameter, LevelsParameter):
        return LevelsField(parameter)
    if isinstance(parameter, FlagParameter):
        return FlagField(parameter)
    if isinstance(parameter, TextListParameter):
        return LinesField(parameter)
    if isinstance(parameter, NestedParameter):
        return OutlineField(parameter)
    if isinstance(parameter, TypedParameter) and parameter.outline:
        return OutlineField(parameter, said(parameter.outline))
    if isinstance(parameter, TextParameter | TypedParameter) and parameter.file:
        return FileField(parameter)
    return TextField(parameter) if isinstance(parameter, TextParameter) else ValueField(parameter)


def _decimals(percent: Fraction) -> int:
    """As many decimals as show this number of percent exactly, from 2 to 6."""
    for decimals in range(2, 6):
        if (percent * 10**decimals).denominator == 1:
            return decimals
    return 6
