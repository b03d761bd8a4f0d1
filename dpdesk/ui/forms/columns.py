"""The columns of the data, as forms offer them: to check some in a list, to give them values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.hierarchy import level_words
from dpdesk.core.messages import listed, msg
from dpdesk.core.parameters import (
    NumberTableParameter,
    Parameter,
    TextListParameter,
    exact_number,
    plain_number,
)
from dpdesk.core.plain import number_text
from dpdesk.core.schema import Role
from dpdesk.ui.forms.fields import Field
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.telling import say_expanded
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import MANY_LINES, ListFinder
from dpdesk.ui.widgets.layouts import leave_wheel
from dpdesk.ui.words.numbers import marked, shortened, typed_number, verbatim
from dpdesk.ui.words.spoken import said

NOT_DIMENSIONS = frozenset({Role.IDENTIFIER, Role.WEIGHT, Role.CLUSTER})


@dataclass(frozen=True)
class FormContext:
    """Columns of the data, in order, their roles, and those that have a hierarchy.

    ``declared`` are those whose hierarchy declares the categories without a look at the data;
    ``levels`` the names of levels, where they are known.
    """

    columns: tuple[str, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    hierarchies: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def possible(self) -> tuple[str, ...]:
        """The columns that can be dimensions."""
        return tuple(
            name
            for name in self.columns
            if self.roles.get(name, Role.INSENSITIVE) not in NOT_DIMENSIONS
        )

    @property
    def drawable(self) -> FormContext:
        """The columns whose values can be drawn; no hierarchy declares their categories."""
        drawn = (Role.SENSITIVE, Role.INSENSITIVE)
        names = (one for one in self.columns if self.roles.get(one, Role.INSENSITIVE) in drawn)
        return replace(self, columns=tuple(names), hierarchies=frozenset(), declared=frozenset())


MOST_SHOWN = 9


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
        layout = column(self, gap=SPACE.xs)
        self._finder = ListFinder(self._list, self.tr("Find a column"))
        self._all = QPushButton(self.tr("Check the visible ones"))
        self._all.setToolTip(self.tr("Check all visible columns; press again to check none"))
        self._all.clicked.connect(self._on_all)
        for widget in (self._finder, self._list):
            layout.addWidget(widget)
        layout.addWidget(self._all, 0, Qt.AlignmentFlag.AlignLeft)
        self._absent = QLabel()
        self._absent.setWordWrap(True)
        set_look(self._absent, "note")
        layout.addWidget(self._absent)
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
        self._all.setVisible(len(names) > MANY_LINES)
        self._show_absent()

    def _show_absent(self) -> None:
        """Name the columns that an empty list stands for."""
        role = self.parameter.role if isinstance(self.parameter, TextListParameter) else None
        meant = [name for name, one in self._around.roles.items() if one is role]
        self._absent.setText(
            self.tr("None is checked: {columns}, by their role.").format(
                columns=said(listed([shortened(name) for name in meant]))
            )
        )
        self._absent.setVisible(bool(meant) and not self._chosen)

    @Slot()
    def _on_all(self) -> None:
        """Check all in sight as one edit; where all of them are checked, uncheck them."""
        shown = [item.text() for item in self._finder.found]
        rest = tuple(one for one in self._chosen if one not in shown)
        whole = all(name in self._chosen for name in shown)
        fresh = (name for name in shown if name not in self._chosen)
        self._chosen = rest if whole else (*self._chosen, *fresh)
        self._show()
        self.edited.emit()
        self.left.emit()

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        name = item.text()
        rest = tuple(one for one in self._chosen if one != name)
        self._chosen = (*rest, name) if item.checkState() is Qt.CheckState.Checked else rest
        self._show_absent()
        self.edited.emit()
        self.left.emit()


class PerDimension(Field):
    """One line for each of some dimensions: its name, and a control for a value or none."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._values: dict[str, object] = {}
        self._lines: dict[str, QWidget] = {}
        self._none = QLabel(self.tr("Choose columns first."))
        self._none.setWordWrap(True)
        self.body = QWidget()
        column(self, gap=SPACE.xs).addWidget(self.body)
        self._grid = QGridLayout(self.body)
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
            called = shortened(name)
            label, made = QLabel(verbatim(called)), self._made(name)
            label.setWordWrap(True)
            label.setBuddy(made)
            made.setAccessibleName(msg("{file}: {note}", file=called, note=self.parameter.label))
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


class NumbersByColumn(PerDimension):
    """A number for some of the columns; folded away where none has one.

    Levels are chosen by their names, where these are known.
    """

    def __init__(self, parameter: NumberTableParameter) -> None:
        super().__init__(parameter)
        self._of, self._around = parameter, FormContext()
        self.fold = QPushButton(self.tr("By column…"))
        self.fold.setCheckable(True)
        say_expanded(self.fold, expanded=False)
        self.fold.setAccessibleName(f"{self.parameter.label}: {self.fold.text()}")
        self.fold.setToolTip(parameter.help)
        self.fold.toggled.connect(self._on_fold)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(0, self.fold)
        self.body.hide()

    @property
    def control(self) -> QWidget:
        """The button that opens the lines."""
        return self.fold

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`; with numbers, the lines are open."""
        super().set_plain(value)
        if self._values:
            self.fold.setChecked(True)
            self.show_dimensions(self._names())

    def problem(self) -> str:
        """See :meth:`Field.problem`: that of the first number that cannot be read."""
        for name, value in self._values.items():
            number = None if isinstance(value, str) else exact_number(value)
            text = ""
            if self._of.share and (number is None or not 0 <= number <= 1):
                text = self.tr("“{name}”: expected a share from 0 to 100 %.")
            elif number is None or number < 0:
                text = self.tr("“{name}”: expected a number from 0 on.")
            elif self._of.whole and number.denominator != 1:
                text = self.tr("“{name}”: expected a whole number.")
            if text:
                return text.format(name=shortened(name))
        return ""

    def show_around(self, around: FormContext) -> None:
        """Offer these columns and levels."""
        levels, self._around = self._around.levels, around
        if self.fold.isChecked():
            self.show_dimensions(self._names())
            if self._of.whole and levels != around.levels:
                self._build(tuple(self._lines))

    @property
    def empty(self) -> bool:
        """No column that could have a number."""
        return not (self._lines or self._names())

    def _names(self) -> tuple[str, ...]:
        around, role = self._around, self._of.role
        if role is None:
            return around.possible
        return tuple(one for one in around.columns if around.roles.get(one) is role)

    def _made(self, name: str) -> QWidget:
        names = self._around.levels.get(name, ()) if self._of.whole else ()
        if names:
            combo = NarrowCombo()
            combo.setProperty("dimension", name)
            combo.addItem(said(self._of.usual), None)
            for level in range(len(names)):
                combo.addItem(level_words(names, level), level)
            combo.set_help(self.parameter.help)
            leave_wheel(combo)
            combo.activated.connect(self._on_level)
            return combo
        line = QLineEdit()
        line.setProperty("dimension", name)
        line.setPlaceholderText(said(self._of.usual))
        line.textEdited.connect(self._on_text)
        line.editingFinished.connect(self._on_typed)
        return line

    def _fill(self, made: QWidget, value: object) -> None:
        if isinstance(made, NarrowCombo):
            if value is not None and made.findData(value) < 0:
                made.addItem(str(value), value)
            with QSignalBlocker(made):
                made.setCurrentIndex(0 if value is None else made.findData(value))
        elif isinstance(made, QLineEdit) and self._read(made.text()) != value:
            made.setText("" if value is None else self._written(value))

    def _read(self, text: str) -> object:
        """The number of a text; the text itself where it is none, for its error."""
        plain, _, rest = text.strip().partition("%")
        number = typed_number(plain, fractions=True) if plain.strip() and not rest else None
        if number is None:
            return text.strip() or None
        return plain_number(Fraction(number) / (100 if "%" in text or self._of.share else 1))

    def _written(self, value: object) -> str:
        number = None if isinstance(value, str) else exact_number(value)
        if number is None:
            return str(value)
        return (
            f"{marked(number_text(number * 100))} %"
            if self._of.share
            else marked(number_text(number))
        )

    @Slot(str)
    def _on_text(self, text: str) -> None:
        self._set(str(self.sender().property("dimension")), self._read(text))

    @Slot()
    def _on_typed(self) -> None:
        """Write what was typed as it was understood: 3 of a share as 3 %."""
        line = self.sender()
        assert isinstance(line, QLineEdit)
        value = self._values.get(str(line.property("dimension")))
        line.setText("" if value is None else self._written(value))
        self.left.emit()

    @Slot(int)
    def _on_level(self, place: int) -> None:
        combo = self.sender()
        assert isinstance(combo, NarrowCombo)
        self._set(str(combo.property("dimension")), combo.itemData(place))
        self.left.emit()

    @Slot(bool)
    def _on_fold(self, opened: bool) -> None:
        """Lines are made when they are first seen: there may be hundreds of columns."""
        if opened:
            self.show_dimensions(self._names())
        self.body.setVisible(opened)
        say_expanded(self.fold, expanded=opened)
