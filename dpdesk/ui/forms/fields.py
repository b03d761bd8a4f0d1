"""One field per kind of parameter; each speaks plain values (what a plan file would hold)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.errors import InputError
from dpdesk.core.list_parameters import (
    FlagParameter,
    NestedParameter,
    TextListParameter,
    TextParameter,
)
from dpdesk.core.parameters import (
    ChoiceParameter,
    IntegerParameter,
    LevelsParameter,
    Parameter,
    ShareParameter,
    plain_number,
)
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.forms.field import Field, TextField, start_of
from dpdesk.ui.forms.lists import LinesField, OutlineField, ValueField
from dpdesk.ui.forms.spin import NarrowDoubleSpin, NarrowSpin
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wheel import leave_wheel
from dpdesk.ui.words.spoken import inside


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

    def __init__(self, parameter: Parameter, box: QAbstractSpinBox, *, live: bool) -> None:
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
            self._slider = QSlider(Qt.Orientation.Horizontal)
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
        if parameter.unit:
            box.setSuffix(f" {parameter.unit}")
        if self._slider is not None:
            self._slider.setRange(box.minimum(), min(box.maximum(), SLIDER_REACH))
            self._slider.setPageStep(5)
        box.valueChanged.connect(self._on_box)
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
        self._place_slider(self._spin.value())

    @Slot(int)
    def _on_box(self, value: int) -> None:
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
    """A list of named values; the help of the chosen one stands below."""

    def __init__(self, parameter: ChoiceParameter) -> None:
        super().__init__(parameter)
        self._choices = parameter.choices
        self._combo = NarrowCombo()
        self._name(self._combo)
        self._combo.set_help(self._combo.toolTip())
        leave_wheel(self._combo)
        for number, choice in enumerate(parameter.choices):
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
        self.set_plain(None)

    @property
    def control(self) -> QWidget:
        """The combo box."""
        return self._combo

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        value: object = self._combo.currentData()
        return value

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

    def _explain(self) -> None:
        place = self._combo.currentIndex()
        text = self._choices[place].help if 0 <= place < len(self._choices) else ""
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
    if isinstance(parameter, TextParameter):
        return TextField(parameter)
    return ValueField(parameter)


def _decimals(percent: Fraction) -> int:
    """As many decimals as show this number of percent exactly, from 2 to 6."""
    for decimals in range(2, 6):
        if (percent * 10**decimals).denominator == 1:
            return decimals
    return 6
