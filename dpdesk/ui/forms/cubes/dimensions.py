"""Fields with a place for each dimension: which columns, which level, where the rest goes."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QListWidget, QListWidgetItem, QWidget

from dpdesk.app.private.levels import LevelChoice
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Parameter
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.forms.cubes.context import FormContext
from dpdesk.ui.forms.field import Field
from dpdesk.ui.forms.spin import NarrowSpin
from dpdesk.ui.theme import SPACE
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wheel import leave_wheel
from dpdesk.ui.words.numbers import grouped

MOST_SHOWN = 9
MOST_LEVEL = 30


class CheckList(QListWidget):
    """Names with check boxes; ``left()`` when the focus goes. Space checks the current one."""

    left = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Say that the user has finished."""
        super().focusOutEvent(event)
        self.left.emit()


class DimensionsField(Field):
    """Check boxes for the columns; what is checked later comes later."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._chosen: tuple[str, ...] = ()
        self._around = FormContext()
        self._list = CheckList()
        self._name(self._list)
        self._list.setToolTip(f"{parameter.help} {self.tr('Space checks a column.')}")
        column(self).addWidget(self._list)
        self._list.itemChanged.connect(self._on_item)
        self._list.left.connect(self.left)

    @property
    def control(self) -> QWidget:
        """The list."""
        return self._list

    @property
    def chosen(self) -> tuple[str, ...]:
        """The checked columns, in the order of the plan."""
        return self._chosen

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return list(self._chosen) or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        self._chosen = tuple(map(str, value)) if isinstance(value, list | tuple) else ()
        self._show()

    def show_around(self, around: FormContext) -> None:
        """Offer these columns."""
        if around != self._around:
            self._around = around
            self._show()

    def _show(self) -> None:
        possible = self._around.possible
        names = [*possible, *(name for name in self._chosen if name not in possible)]
        with QSignalBlocker(self._list):
            known = [self._list.item(place).text() for place in range(self._list.count())]
            if names != known:
                self._list.clear()
                self._list.addItems(names)
            for place, name in enumerate(names):
                item = self._list.item(place)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                on = name in self._chosen
                item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        line = max(self._list.sizeHintForRow(0), self.fontMetrics().height() + SPACE.s)
        shown = min(max(len(names), 2), MOST_SHOWN)
        self._list.setFixedHeight(line * shown + 2 * SPACE.s)

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        name = item.text()
        rest = tuple(one for one in self._chosen if one != name)
        self._chosen = (*rest, name) if item.checkState() is Qt.CheckState.Checked else rest
        self.edited.emit()
        self.left.emit()


class PerDimension(Field):
    """One line for each of some dimensions: its name, and a control for a value or none."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._values: dict[str, object] = {}
        self._lines: dict[str, QWidget] = {}
        self._none = QLabel(self.tr("Choose dimensions first."))
        self._none.setWordWrap(True)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self._none, 0, 0, 1, 2)

    @property
    def control(self) -> QWidget:
        """The first control, else the sentence that says what to do."""
        return next(iter(self._lines.values()), self._none)

    @property
    def empty(self) -> bool:
        """No dimension that could have a value."""
        return not self._lines

    def line(self, name: str) -> QWidget:
        """The control of a dimension; KeyError when it has none."""
        return self._lines[name]

    def plain(self) -> object:
        """See :meth:`Field.plain`: values of dimensions that are there, None when there is none."""
        return dict(self._values) or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        pairs = value.items() if isinstance(value, Mapping) else value
        given = pairs if pairs is not None and not isinstance(pairs, str) else ()
        self._values = {str(name): one for name, one in given}  # type: ignore[attr-defined]
        for name, made in self._lines.items():
            self._fill(made, self._values.get(name))

    def show_dimensions(self, names: tuple[str, ...]) -> None:
        """Have a line for each of these, and for those that have a value already."""
        wanted = (*names, *(name for name in self._values if name not in names))
        if wanted != tuple(self._lines):
            self._build(wanted)

    def _build(self, wanted: tuple[str, ...]) -> None:
        """Make a line for each of these."""
        while self._grid.count():
            item = self._grid.takeAt(0)
            taken = None if item is None else item.widget()
            if taken is not None and taken is not self._none:
                taken.deleteLater()
        self._lines = {}
        self._none.setVisible(not wanted)
        for place, name in enumerate(wanted):
            label, made = QLabel(name.replace("&", "&&")), self._made(name)
            label.setWordWrap(True)
            label.setBuddy(made)
            made.setAccessibleName(msg("{file}: {note}", file=self.parameter.label, note=name))
            if not made.toolTip():
                made.setToolTip(self.parameter.help)
            self._fill(made, self._values.get(name))
            self._grid.addWidget(label, place, 0)
            self._grid.addWidget(made, place, 1)
            self._lines[name] = made

    def _set(self, name: str, value: object) -> None:
        """The user gave a dimension a value; None takes it away."""
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value
        self.edited.emit()

    def _made(self, name: str) -> QWidget:
        raise NotImplementedError

    def _fill(self, made: QWidget, value: object) -> None:
        raise NotImplementedError


class LevelsByDimension(PerDimension):
    """The level of its hierarchy at which a dimension is published.

    Where the levels are known, they are chosen by what they hold; else by their number.
    """

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._choices: dict[str, tuple[LevelChoice, ...]] = {}

    def show_choices(self, choices: Mapping[str, tuple[LevelChoice, ...]]) -> None:
        """Offer these levels, by dimension."""
        if dict(choices) != self._choices:
            self._choices = dict(choices)
            self._build(tuple(self._lines))

    def _made(self, name: str) -> QWidget:
        choices = self._choices.get(name, ())
        return self._made_list(name, choices) if choices else self._made_spin(name)

    def _made_list(self, name: str, choices: tuple[LevelChoice, ...]) -> QWidget:
        combo = NarrowCombo()
        combo.setProperty("dimension", name)
        for choice in choices:
            combo.addItem(self._words(choice), choice.level)
        combo.set_help(self.parameter.help)
        leave_wheel(combo)
        combo.activated.connect(self._on_chosen)
        return combo

    def _words(self, choice: LevelChoice) -> str:
        """A level as people know it: how many categories it has, and the first of them."""
        if choice.categories is None:
            return self.tr("{n}: values as they are").format(n=choice.level)
        shown = ", ".join(choice.examples)
        more = ", …" if choice.categories > len(choice.examples) else ""
        if choice.categories == 1:
            return self.tr("{n}: 1 category ({shown})").format(n=choice.level, shown=shown)
        words = self.tr("{n}: {many} categories ({shown})")
        many = grouped(choice.categories)
        return words.format(n=choice.level, many=many, shown=shown + more)

    def _made_spin(self, name: str) -> QWidget:
        spin = NarrowSpin()
        spin.setRange(0, MOST_LEVEL)
        spin.setProperty("dimension", name)
        leave_wheel(spin)
        spin.valueChanged.connect(self._on_level)
        spin.editingFinished.connect(self.left)
        return spin

    def _fill(self, made: QWidget, value: object) -> None:
        level = value if isinstance(value, int) else 0
        with QSignalBlocker(made):
            if isinstance(made, NarrowSpin):
                made.setValue(level)
            elif isinstance(made, NarrowCombo):
                place = made.findData(level)
                if place < 0:
                    made.addItem(self.tr("{n}: no such level").format(n=level), level)
                    place = made.count() - 1
                made.setCurrentIndex(place)

    def level(self, name: str) -> int:
        """The level of a dimension."""
        found = self._values.get(name)
        return found if isinstance(found, int) else 0

    @Slot(int)
    def _on_level(self, value: int) -> None:
        sender = self.sender()
        if sender is not None:
            self._set(str(sender.property("dimension")), value or None)

    @Slot(int)
    def _on_chosen(self, place: int) -> None:
        sender = self.sender()
        if isinstance(sender, NarrowCombo):
            level = sender.itemData(place)
            self._set(str(sender.property("dimension")), level or None)
            self.left.emit()


class OutsideField(PerDimension):
    """The category for all texts that belong to none."""

    def _made(self, name: str) -> QWidget:
        line = QLineEdit()
        line.setProperty("dimension", name)
        line.setPlaceholderText(self.tr("rows are left out, or “other”"))
        line.textEdited.connect(self._on_text)
        line.editingFinished.connect(self.left)
        return line

    def _fill(self, made: QWidget, value: object) -> None:
        if isinstance(made, QLineEdit):
            text = "" if value is None else str(value)
            if made.text() != text:
                made.setText(text)

    @Slot(str)
    def _on_text(self, text: str) -> None:
        sender = self.sender()
        if sender is not None:
            self._set(str(sender.property("dimension")), text or None)
