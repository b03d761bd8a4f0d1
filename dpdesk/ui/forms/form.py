"""A form for any method, from its parameter specifications alone; those of tables and graphs.

Use::

    form = ParameterForm(method.parameters, live=method.live, mnemonics=panel_mnemonics)
    form.valuesChanged.connect(self._on_values)     # dict of plain values, after every user edit
    form.set_values(plan.protection.parameters)     # silent; keys left out show their defaults
    form.values()        # plain values of the parameters that apply now, as a plan writes them
    form.errors()        # {key: sentence}; empty when everything can be read

Sliders appear for the keys in ``live``. ``applies`` and ``offered`` show and hide fields. An error
is shown under its field once the user has left the field, not before the first edit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QDropEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import Condition, Parameter, TextListParameter
from dpdesk.core.schema import OF_COLUMNS
from dpdesk.ui.forms.columns import DimensionsField, FormContext
from dpdesk.ui.forms.fields import Field, FileField, range_words
from dpdesk.ui.forms.records import form_field
from dpdesk.ui.telling import say_expanded
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import Mnemonics
from dpdesk.ui.words.spoken import in_window, said_line, spoken_parameter


class ParameterForm(QWidget):
    """See the module: ``valuesChanged(dict)``, ``set_values``, ``values``, ``errors``.

    ``fileAsked(FileField)`` asks for the file that a setting names.
    A form with ``first`` keys shows these in this order, and folds the others away: they open by
    a button, and by themselves where one of them has another value than its default, unless it is
    ``filled`` by the form itself.
    """

    valuesChanged = Signal(object)
    fileAsked = Signal(object)
    first: tuple[str, ...] = ()
    filled: frozenset[str] = frozenset()

    def __init__(
        self,
        specifications: Sequence[Parameter],
        live: Sequence[str] = (),
        parent: QWidget | None = None,
        mnemonics: Mnemonics | None = None,
    ) -> None:
        super().__init__(parent)
        letters = mnemonics or Mnemonics()
        self._rows: dict[str, _Row] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE.m)
        self._more, self._rest = self._build_more(layout)
        main = [key for key in self.first if any(one.key == key for one in specifications)]
        for parameter in specifications:
            field = self.made_field(spoken_parameter(parameter), live=parameter.key in live)
            aside = bool(main) and parameter.key not in main
            row = _Row(field, letters, self._rest if aside else self)
            row.field.edited.connect(self._on_edited)
            row.field.left.connect(self._on_left)
            if isinstance(field, FileField):
                field.fileAsked.connect(self.fileAsked)
            self._rows[parameter.key] = row
        for place, key in enumerate(main):
            layout.insertWidget(place, self._rows[key])
        rest = layout if not main else self._rest.layout()
        for key, row in self._rows.items():
            if key not in main and rest is not None:
                rest.addWidget(row)
        self._more.setVisible(bool(main))
        layout.addStretch(1)
        self._show_what_applies()

    def _build_more(self, layout: QVBoxLayout) -> tuple[QPushButton, QWidget]:
        """The button that opens the settings that have usual values, and their place."""
        more, rest = QPushButton(self.tr("More settings")), QWidget()
        more.setCheckable(True)
        say_expanded(more, expanded=False)
        more.setAccessibleName(more.text())
        more.setToolTip(self.tr("Settings that most releases leave as they are"))
        more.toggled.connect(self._on_more)
        inner = QVBoxLayout(rest)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(SPACE.m)
        layout.addWidget(more)
        layout.addWidget(rest)
        rest.hide()
        return more, rest

    @Slot(bool)
    def _on_more(self, opened: bool) -> None:
        self._rest.setVisible(opened)
        say_expanded(self._more, opened)

    def _open_what_is_set(self, values: Mapping[str, object]) -> None:
        """Open the folded settings where one of them was set to something unusual."""
        for key, value in values.items():
            row = self._rows.get(key)
            if (
                row is None
                or key in self.first
                or key in self.filled
                or value in (None, {}, [], ())
            ):
                continue
            parameter = row.field.parameter
            usual = (parameter.default_value(), getattr(parameter, "suggested", None))
            if value not in [parameter.as_plain(one) for one in usual if one is not None]:
                self._more.setChecked(True)

    def put_among(self, place: int, widget: QWidget) -> None:
        """Put something else among the rows that stand first."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(place, widget)

    def made_field(self, parameter: Parameter, *, live: bool) -> Field:
        """The field of a parameter: columns are checked in a list; single methods have others."""
        if isinstance(parameter, TextListParameter) and parameter.key in OF_COLUMNS:
            return DimensionsField(parameter)
        return form_field(parameter, live=live)

    def show_columns(self, around: FormContext) -> None:
        """Offer the columns of the data, as their roles allow."""
        for row in self._rows.values():
            row.field.show_around(around)
        self._show_what_applies()

    def follow(self, field: Field) -> None:
        """Change other fields because of what the user did to this one."""

    def values(self) -> dict[str, object]:
        """Plain values of the parameters that apply and are given."""
        seen = self._seen()
        given = {key: row.field.plain() for key, row in self._rows.items() if key in seen}
        return {key: value for key, value in given.items() if value is not None}

    def set_values(self, values: Mapping[str, object], kept: Collection[str] = ()) -> None:
        """Show these values; ``valuesChanged`` is not emitted. Unknown keys are ignored.

        Fields of the keys ``kept`` stay as they are. Numbers that have no effect beside these
        values are kept for the time when they have one again.
        """
        before = {key: row.field.plain() for key, row in self._rows.items() if key not in values}
        for key, row in self._rows.items():
            if key not in kept:
                row.field.set_plain(values.get(key))
                row.show_error("")
        for key in before.keys() - self._seen() - set(kept):
            if isinstance(before[key], int | float):
                self._rows[key].field.set_plain(before[key])
        self._open_what_is_set(values)
        self._show_what_applies()

    def errors(self) -> dict[str, str]:
        """A sentence for each value that its specification refuses."""
        found: dict[str, str] = {}
        for key, value in self.values().items():
            sentence = self._error(key, value)
            if sentence:
                found[key] = sentence
        return found

    def show_error(self, key: str, sentence: str) -> bool:
        """Show a sentence under a field (from a check elsewhere); False for an unknown key."""
        row = self._rows.get(key)
        if row is None:
            return False
        row.show_error(sentence)
        if sentence:
            self.unfold(key)
        return True

    def unfold(self, key: str) -> None:
        """Show the settings that are folded where this one is among them."""
        if key not in self.first:
            self._more.setChecked(True)

    def field(self, key: str) -> Field:
        """The field of a parameter; KeyError when there is none."""
        return self._rows[key].field

    def field_or_none(self, key: str) -> Field | None:
        """The editor of a parameter, where the form has the parameter."""
        row = self._rows.get(key)
        return None if row is None else row.field

    def _error(self, key: str, value: object) -> str:
        field = self._rows[key].field
        problem = field.problem()
        if problem:
            return problem
        try:
            field.parameter.parse(value, field.parameter.label)
        except InputError as error:
            return said_line(error)
        return ""

    def _seen(self) -> set[str]:
        """The keys that have an effect and may be given beside what the others say now."""
        withheld: set[str] = set()
        for key, row in self._rows.items():  # in order, so that two never withhold each other
            rules = row.field.parameter.offered
            if not all(self._meets(rule, withheld) for rule in rules):
                withheld.add(key)
        return {key for key in self._rows if key not in withheld and self._applies(key, withheld)}

    def _applies(self, key: str, withheld: set[str]) -> bool:
        rule = self._rows[key].field.parameter.applies
        if rule is None or rule.key not in self._rows:
            return True
        return self._applies(rule.key, withheld) and self._meets(rule, withheld)

    def _meets(self, rule: Condition, withheld: set[str]) -> bool:
        """Whether a condition holds; what is withheld has its usual value."""
        if rule.key not in self._rows:
            return True
        field = self._rows[rule.key].field
        value = None if rule.key in withheld else field.plain()
        if value is None:
            value = field.parameter.as_plain(field.parameter.default_value())
        return ("" if value is None else str(value)) in rule.values

    def _show_what_applies(self) -> None:
        seen = self._seen()
        for key, row in self._rows.items():
            row.setVisible(key in seen and not row.field.empty)

    @Slot()
    def _on_edited(self) -> None:
        row = self._row_of_sender()
        if row is not None and row.has_error:
            self._check(row)
        if row is not None:
            self.follow(row.field)
        self._show_what_applies()
        self.valuesChanged.emit(self.values())

    @Slot()
    def _on_left(self) -> None:
        row = self._row_of_sender()
        if row is not None:
            self._check(row)

    def _check(self, row: _Row) -> None:
        value = row.field.plain()
        row.show_error("" if value is None else self._error(row.field.parameter.key, value))

    def _row_of_sender(self) -> _Row | None:
        sender = self.sender()
        return next((row for row in self._rows.values() if row.field is sender), None)


class _Row(QWidget):
    """Label with unit, field, and the place of its error; help behind a question mark."""

    def __init__(self, field: Field, letters: Mnemonics, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = field
        parameter = field.parameter
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(SPACE.xs)
        label = QLabel(letters.mark(parameter.label))
        label.setBuddy(field.control)
        label.setToolTip(parameter.help)
        label.setWordWrap(True)
        set_look(label, "strong")
        grid.addWidget(label, 0, 0)
        grid.addWidget(self._build_question(parameter), 0, 1, Qt.AlignmentFlag.AlignRight)
        grid.setColumnStretch(0, 1)
        self._help = QLabel(f"{parameter.help} {_sentence(range_words(parameter))}")
        self._help.setWordWrap(True)
        self._help.hide()
        set_look(self._help, "note")
        self._error = QLabel()
        self._error.setWordWrap(True)
        self._error.hide()
        set_look(self._error, "fail")
        for number, widget in enumerate((self._help, field, self._error), start=1):
            grid.addWidget(widget, number, 0, 1, 2)

    def _build_question(self, parameter: Parameter) -> QToolButton:
        self._question = QToolButton()
        self._question.setText("?")
        self._question.setCheckable(True)
        say_expanded(self._question, expanded=False)
        self._question.setToolTip(self.tr("What is this?"))
        self._question.setAccessibleName(self.tr("Explain {label}").format(label=parameter.label))
        self._question.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_look(self._question, "quiet")
        self._question.toggled.connect(self._on_question)
        return self._question

    @property
    def has_error(self) -> bool:
        """Whether an error stands under the field."""
        return not self._error.isHidden()

    def show_error(self, sentence: str) -> None:
        """Show or (with an empty text) remove the error."""
        self._error.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self._error.setVisible(bool(sentence))
        control = self.field.control
        if bool(control.property("invalid")) != bool(sentence):
            control.setProperty("invalid", bool(sentence))
            control.style().unpolish(control)
            control.style().polish(control)
        control.setAccessibleDescription(sentence or self.field.parameter.help)

    @Slot(bool)
    def _on_question(self, shown: bool) -> None:
        self._help.setVisible(shown)
        say_expanded(self._question, shown)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


ROWS, COLUMNS, REST = "rows", "columns", ""
MOST_SHOWN = 6


class Shelf(QListWidget):
    """Names that are dragged from shelf to shelf.

    ``asked(list, str, int)``: these names are wanted on the shelf with this key, at this place (-1:
    the end). ``left()`` when the focus goes. R and C put the current name to the rows and columns,
    Delete takes it out, Alt with the arrow keys moves it.
    """

    asked = Signal(list, str, int)
    left = Signal()

    def __init__(self, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key = key
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.CopyAction)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    @property
    def names(self) -> list[str]:
        """What lies on it."""
        return [self.item(place).text() for place in range(self.count())]

    def show_names(self, names: Sequence[str]) -> None:
        """Put these names on it, silently."""
        current = self.currentItem().text() if self.currentItem() is not None else ""
        with QSignalBlocker(self):
            if self.names != list(names):
                self.clear()
                self.addItems(list(names))
            if current in names:
                self.setCurrentRow(list(names).index(current))
        line = max(self.sizeHintForRow(0), self.fontMetrics().height() + SPACE.s)
        self.setFixedHeight(line * min(max(len(names), 2), MOST_SHOWN) + 2 * SPACE.s)

    def dropEvent(self, event: QDropEvent) -> None:
        """Ask for the names that are dragged, at the place where they are dropped."""
        source = event.source()
        if not isinstance(source, Shelf):
            event.ignore()
            return
        found = self.indexAt(event.position().toPoint())
        names = [item.text() for item in source.selectedItems()]
        event.setDropAction(Qt.DropAction.CopyAction)  # the form says what lies where
        event.accept()
        self.asked.emit(names, self.key, found.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the class."""
        item = self.currentItem()
        key, steps = event.key(), {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        targets = {Qt.Key.Key_R: ROWS, Qt.Key.Key_C: COLUMNS, Qt.Key.Key_Delete: REST}
        alt = event.modifiers() == Qt.KeyboardModifier.AltModifier
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if item is not None and alt and key in steps and self.key != REST:
            place = max(0, self.currentRow() + steps[Qt.Key(key)])
            self.asked.emit([item.text()], self.key, place)
        elif item is not None and plain and key in targets:
            names = [one.text() for one in self.selectedItems()] or [item.text()]
            self.asked.emit(names, targets[Qt.Key(key)], -1)
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Say that the user has finished."""
        super().focusOutEvent(event)
        self.left.emit()


class ShelfField(Field):
    """The columns at one edge of the table, in order."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self.shelf = Shelf(parameter.key)
        self._name(self.shelf)
        help_ = self.tr("Drag columns here; R and C move them, Delete takes one out.")
        self.shelf.setToolTip(f"{parameter.help} {help_}")
        column(self).addWidget(self.shelf)
        self.shelf.left.connect(self.left)
        self.shelf.show_names(())

    @property
    def control(self) -> QWidget:
        """The list."""
        return self.shelf

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return self.shelf.names or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        self.shelf.show_names(list(map(str, value)) if isinstance(value, list | tuple) else ())


class TableForm(ParameterForm):
    """As any form, with shelves for rows and columns next to one with the columns of the data."""

    first = (ROWS, COLUMNS, "measure", "rule", "protect", "base", "deviation", "variance")

    def __init__(
        self,
        specifications: Sequence[Parameter],
        parent: QWidget | None = None,
        mnemonics: Mnemonics | None = None,
    ) -> None:
        super().__init__(specifications, (), parent, mnemonics)
        self._around = FormContext()
        self.rest = Shelf(REST)
        box = QWidget()
        layout = column(box, gap=SPACE.xs)
        head, note = QLabel(self.tr("Columns of the data")), QLabel()
        head.setBuddy(self.rest)
        note.setText(
            self.tr("Drag them to the rows or columns of the table, or press R or C on one.")
        )
        note.setWordWrap(True)
        set_look(note, "note")
        self.rest.setAccessibleName(head.text())
        self.rest.setAccessibleDescription(note.text())
        self.rest.setToolTip(note.text())
        for widget in (head, self.rest, note):
            layout.addWidget(widget)
        self.put_among(0, box)
        for shelf in (self.rest, *(field.shelf for field in self._shelves.values())):
            shelf.asked.connect(self._on_asked)

    @property
    def _shelves(self) -> dict[str, ShelfField]:
        found = {key: self.field_or_none(key) for key in (ROWS, COLUMNS)}
        return {key: field for key, field in found.items() if isinstance(field, ShelfField)}

    def made_field(self, parameter: Parameter, *, live: bool) -> Field:
        """Shelves for the dimensions, the usual fields for the rest."""
        if parameter.key in (ROWS, COLUMNS):
            return ShelfField(parameter)
        return super().made_field(parameter, live=live)

    def set_values(self, values: Mapping[str, object], kept: Collection[str] = ()) -> None:
        """See :meth:`ParameterForm.set_values`."""
        super().set_values(values, kept)
        self._show_rest()

    def show_columns(self, around: FormContext) -> None:
        """Offer the columns of the data, as their roles allow."""
        super().show_columns(around)
        self._around = around
        self._show_rest()

    def _show_rest(self) -> None:
        taken = {name for field in self._shelves.values() for name in field.shelf.names}
        self.rest.show_names([name for name in self._around.possible if name not in taken])

    @Slot(list, str, int)
    def _on_asked(self, names: list[str], key: str, place: int) -> None:
        """Put names on a shelf, and take them from the others: one edit."""
        shelves = self._shelves
        before = {each: field.shelf.names for each, field in shelves.items()}
        for each, field in shelves.items():
            rest = [name for name in before[each] if name not in names]
            if each == key:
                at = len(rest) if place < 0 else min(place, len(rest))
                rest[at:at] = names
            field.shelf.show_names(rest)
        self._show_rest()
        changed = [f for each, f in shelves.items() if f.shelf.names != before[each]]
        if changed:
            changed[-1].edited.emit()
            changed[-1].left.emit()
        target = shelves[key].shelf if key in shelves else self.rest
        if names[0] in target.names:
            target.setCurrentRow(target.names.index(names[0]))


_PAIR = {"epsilon": "rho", "rho": "epsilon"}
_UNKNOWN, _TYPED = "unknown", "typed"
"""Where nodes come from, as plans record it."""


class GraphForm(ParameterForm):
    """A budget is given in ε or in ρ: the one that is typed takes the other's place. Nodes that are
    typed are known to be.
    """

    first = ("epsilon", "graph", "ends", "nodes", "origins")

    def _applies(self, key: str, withheld: set[str]) -> bool:
        """In-degrees are asked for where edges have a direction."""
        if key == "exact_in_nodes" and self.field("graph").plain() != "directed":
            return False
        return super()._applies(key, withheld)

    def follow(self, field: Field) -> None:
        """See the class."""
        other = _PAIR.get(field.parameter.key)
        if other is not None and field.plain() is not None:
            self.field(other).set_plain(None)
        origins = self.field("origins")
        if field.parameter.key == "nodes" and origins.plain() == _UNKNOWN:
            origins.set_plain(_TYPED)
