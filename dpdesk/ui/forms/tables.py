"""The form of protected tables: columns are dragged to the side or the head of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QDropEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListWidget, QWidget

from dpdesk.core.parameters import Parameter
from dpdesk.core.schema import Role
from dpdesk.ui.forms.columns import FormContext
from dpdesk.ui.forms.fields import Field
from dpdesk.ui.forms.form import ParameterForm
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.focusing import Mnemonics

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

    def set_values(self, values: Mapping[str, object]) -> None:
        """See :meth:`ParameterForm.set_values`."""
        super().set_values(values)
        self._show_rest()

    def show_columns(self, columns: tuple[str, ...], roles: Mapping[str, Role]) -> None:
        """Offer the columns of the data, as their roles allow."""
        super().show_columns(columns, roles)
        self._around = FormContext(columns, dict(roles))
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
