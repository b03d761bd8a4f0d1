"""Looking at rows: sorted, some of them, and the next one that holds a text. The data stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QLineEdit, QMenu, QPushButton, QWidget

from dpdesk.app.types import CellFilter, DataStore, RowLook
from dpdesk.core.jobs import CancelToken
from dpdesk.core.schema import ColumnType
from dpdesk.ui.forms.spin import NarrowSpin
from dpdesk.ui.jobs import JobFailed, JobHub
from dpdesk.ui.jobs.hub import token_only
from dpdesk.ui.models import TableModel
from dpdesk.ui.panels.data.presenter import translate
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox, announce
from dpdesk.ui.words.numbers import grouped, short_name, verbatim

_ROWS, _FIND = "data.rows", "data.find"
UP, DOWN, ONLY, WITHOUT, FIND, ALL = "up", "down", "only", "without", "find", "all"
_NATIVE = QKeySequence.SequenceFormat.NativeText
Numbers = NDArray[np.int64]


class StoreRows:
    """The rows of a data store, as the table model wants them."""

    def __init__(self, data: DataStore) -> None:
        self._data = data
        self.columns = data.columns
        self.count = data.shown

    def page(self, start: int, count: int) -> tuple[tuple[str, ...], ...]:
        """Rows from ``start`` on; called on a worker thread."""
        return self._data.page(start, count)


class ArrangedRows:
    """Rows of a store in another order, or some of them, as the model of the table wants them."""

    def __init__(self, data: DataStore, numbers: Numbers) -> None:
        self._data, self.numbers = data, numbers
        self.columns = data.columns
        self.count = len(numbers)

    def page(self, start: int, count: int) -> tuple[tuple[str, ...], ...]:
        """Rows from ``start`` on; called on a worker thread."""
        return self._data.rows_at(self.numbers[start : start + count].tolist())


@dataclass(frozen=True)
class Hit:
    """A cell that holds a text: its place among the rows on show, and which hit of how many."""

    row: int
    column: int
    number: int
    total: int


def look_words(look: RowLook, shown: int, rows: int) -> str:
    """What is on show, in sentences; empty where that is the file as it is."""
    said = []
    if look.column:
        words = translate("DataPanel", "Sorted by {column}, ascending.")
        if look.descending:
            words = translate("DataPanel", "Sorted by {column}, descending.")
        said.append(words.format(column=short_name(look.column)))
    if look.filters:
        both = translate("DataPanel", "{first} and {second}")
        told = _filter_words(look.filters[0])
        for one in look.filters[1:]:
            told = both.format(first=told, second=_filter_words(one))
        words = translate("DataPanel", "{n} of {m} rows: {conditions}.")
        said.append(words.format(n=grouped(shown), m=grouped(rows), conditions=told))
    if said:
        said.append(translate("DataPanel", "This changes only the view, not the data."))
    return " ".join(said)


def _filter_words(one: CellFilter) -> str:
    name = short_name(one.column)
    if one.text is None:
        words = translate("DataPanel", "{column} is missing")
        if one.without:
            words = translate("DataPanel", "{column} is not missing")
        return words.format(column=name)
    if not one.column:
        return translate("DataPanel", "any cell contains “{value}”").format(value=one.text)
    words = translate("DataPanel", "{column} is “{value}”")
    if one.without:
        words = translate("DataPanel", "{column} is not “{value}”")
    return words.format(column=name, value=short_name(one.text))


def find_next(
    data: DataStore, order: Numbers | None, text: str, start: int, step: int, token: CancelToken
) -> Hit | None:
    """The next row (the one before, with ``step`` -1) of ``order`` that holds a text."""
    asked = RowLook(filters=(CellFilter("", text, whole=False),))
    found = data.rows_of(asked, token)
    places = found if order is None else np.flatnonzero(np.isin(order, found))
    if not len(places):
        return None
    after = np.searchsorted(places, start, "right" if step > 0 else "left")
    at = int(after) - (0 if step > 0 else 1)
    at %= len(places)
    row = int(places[at])
    number = row if order is None else int(order[row])
    cells = data.rows_at([number])[0]
    hit = next((n for n, cell in enumerate(cells) if text.lower() in cell.lower()), 0)
    return Hit(row, hit, at + 1, len(places))


class LookBar(QWidget):
    """Below the table: what is looked for, and what is on show.

    ``looked(rows)`` with other rows to show (None: those of the file), ``hitFound(Hit)``,
    ``failed(JobFailed)``, ``left()`` when nothing is looked for any more.
    """

    looked = Signal(object)
    hitFound = Signal(object)
    failed = Signal(object)
    left = Signal()

    def __init__(self, hub: JobHub, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._data: DataStore | None = None
        self.look = RowLook()
        self._numbers: Numbers | None = None
        self._row = 0
        layout = column(self, gap=SPACE.xs)
        self._line = self._build_line()
        self._state = FlowBox(gap=SPACE.s)
        self._words = QLabel()
        self._words.setWordWrap(True)
        set_look(self._words, "caution")
        self.all_button = QPushButton(self.tr("All rows as in the file"))
        self.all_button.setToolTip(self.tr("Clear the sorting and the filters of this view"))
        self.all_button.clicked.connect(self.show_all)
        self._state.add(self.all_button)
        for widget in (self._line, self._words, self._state):
            layout.addWidget(widget)
            widget.hide()

    def _build_line(self) -> FlowBox:
        line = FlowBox(gap=SPACE.s)
        self.words = QLineEdit()
        self.words.setAccessibleName(self.tr("Text to find in the rows"))
        self.words.setToolTip(self.tr("Enter goes to the next row, Shift+Enter to the one before"))
        self.words.setPlaceholderText(self.tr("find in all cells"))
        self.words.setClearButtonEnabled(True)
        self.words.setMinimumWidth(180)
        self.next_button = QPushButton(self.tr("Next"))
        self.before_button = QPushButton(self.tr("Previous"))
        self.only_button = QPushButton(self.tr("Matching rows only"))
        self.close_button = QPushButton(self.tr("Close"))
        buttons = (
            (self.next_button, self.tr("Go to the next row that contains the text"), self._on_next),
            (
                self.before_button,
                self.tr("Go to the previous row that contains the text"),
                self._on_before,
            ),
            (self.only_button, self.tr("Show only rows that contain the text"), self._on_only),
            (self.close_button, self.tr("Close the search (Esc)"), self.close_line),
        )
        line.add(self.words)
        for button, tip, slot in buttons:
            button.setToolTip(tip)
            button.clicked.connect(slot)
            line.add(button)
        self._told = QLabel()
        set_look(self._told, "note")
        line.add(self._told)
        return line

    # ---- what others ask

    def show_data(self, data: DataStore | None) -> None:
        """The rows of another store, as they are."""
        self._data, self._numbers, self.look = data, None, RowLook()
        self._hub.latest(_ROWS).cancel()
        self._say()
        self.close_line()

    @Slot()
    def open_line(self) -> None:
        """Begin to look for a text."""
        self._line.show()
        self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.words.selectAll()

    @Slot()
    def close_line(self) -> None:
        """Look for nothing."""
        if not self._line.isHidden():
            self._line.hide()
            self.left.emit()
        self._told.setText("")

    def stand(self, row: int) -> None:
        """From which row on the next one is looked for."""
        self._row = row

    def look_at(self, look: RowLook) -> None:
        """Look at the rows in this way."""
        data = self._data
        if data is None or look == self.look:
            return
        self.look = look
        if look == RowLook():
            self._hub.latest(_ROWS).cancel()
            self._on_rows(None)
            return
        self._hub.latest(_ROWS).query(
            self.tr("Sorting and filtering rows"),
            token_only(lambda token: data.rows_of(look, token)),
            then=self._on_rows,
            failed=self._on_failed,
            quiet=True,
        )

    @Slot()
    def show_all(self) -> None:
        """All rows, in the order of the file."""
        self.look_at(RowLook())

    def sort(self, name: str, kind: ColumnType, date_order: str, descending: bool) -> None:
        """Order the rows by a column."""
        self.look_at(replace(self.look, column=name, descending=descending, kind=kind,
                          date_order=date_order))  # fmt: skip

    def keep(self, asked: CellFilter) -> None:
        """Show only rows that this lets through, too."""
        if asked not in self.look.filters:
            self.look_at(replace(self.look, filters=(*self.look.filters, asked)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter goes on, Shift+Enter back, Escape closes."""
        back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._seek(-1 if back else 1)
        elif event.key() == Qt.Key.Key_Escape and not self._line.isHidden():
            self.close_line()
        else:
            super().keyPressEvent(event)

    # ---- inside

    def _say(self) -> None:
        rows = 0 if self._data is None else self._data.shown
        shown = rows if self._numbers is None else len(self._numbers)
        words = look_words(self.look, shown, rows)
        self._words.setText(words)
        self._words.setVisible(bool(words))
        self._state.setVisible(bool(words))
        if words:
            announce(self, words)

    def _on_rows(self, numbers: Numbers | None) -> None:
        self._numbers, data = numbers, self._data
        self._say()
        if data is not None:
            self.looked.emit(None if numbers is None else ArrangedRows(data, numbers))

    @Slot()
    def _on_next(self) -> None:
        self._seek(1)

    @Slot()
    def _on_before(self) -> None:
        self._seek(-1)

    @Slot()
    def _on_only(self) -> None:
        if self.words.text():
            self.keep(CellFilter("", self.words.text(), whole=False))

    def _seek(self, step: int) -> None:
        data, text, order, row = self._data, self.words.text(), self._numbers, self._row
        if data is not None and text:
            self._hub.latest(_FIND).query(
                self.tr("Searching for the text"),
                token_only(lambda token: find_next(data, order, text, row, step, token)),
                then=self._on_hit,
                failed=self._on_failed,
                quiet=True,
            )

    def _on_failed(self, outcome: JobFailed) -> None:
        self.failed.emit(outcome)

    def _on_hit(self, hit: Hit | None) -> None:
        if hit is None:
            self._told.setText(self.tr("✕ No row contains it."))
        else:
            words = self.tr("{n} of {m} rows")
            self._told.setText(words.format(n=grouped(hit.number), m=grouped(hit.total)))
            self.hitFound.emit(hit)
        announce(self, self._told.text())


class PartBar(FlowBox):
    """Which part of very many rows is on show; ``rowAsked(int)``, from 0, to go to another row.

    It is there only where the model has more rows than one part.
    """

    rowAsked = Signal(int)

    def __init__(self, model: TableModel, parent: QWidget | None = None) -> None:
        super().__init__(parent, gap=SPACE.s)
        self._model = model
        self._words = QLabel()
        self.before_button = QPushButton(self.tr("Earlier rows"))
        self.before_button.setToolTip(self.tr("Show the part of the rows that comes before"))
        self.after_button = QPushButton(self.tr("Later rows"))
        self.after_button.setToolTip(self.tr("Show the part of the rows that comes next"))
        label = QLabel(self.tr("&Go to row"))
        self.row = NarrowSpin()
        self.row.setMinimumWidth(140)
        self.row.setKeyboardTracking(False)
        self.row.setGroupSeparatorShown(True)
        self.row.setAccessibleName(self.tr("Go to row"))
        self.row.setToolTip(self.tr("The number of a row in the table; Enter goes there"))
        label.setBuddy(self.row)
        for widget in (self._words, self.before_button, self.after_button, label, self.row):
            self.add(widget)
        self.before_button.clicked.connect(self._on_before)
        self.after_button.clicked.connect(self._on_after)
        self.row.valueChanged.connect(self._on_row)
        model.modelReset.connect(self._say)
        self._say()

    @Slot(int)
    def stand(self, number: int) -> None:
        """The row that is chosen now, from 0."""
        with QSignalBlocker(self.row):
            self.row.setValue(number + 1)

    @Slot()
    def _say(self) -> None:
        first, shown, count = self._model.first, self._model.rowCount(), self._model.count
        self.setVisible(shown < count)
        words = self.tr("Rows {first} to {last} of {count}")
        self._words.setText(
            words.format(
                first=grouped(first + 1), last=grouped(first + shown), count=grouped(count)
            )
        )
        self.before_button.setEnabled(first > 0)
        self.after_button.setEnabled(first + shown < count)
        with QSignalBlocker(self.row):
            self.row.setRange(1, max(1, count))

    @Slot()
    def _on_before(self) -> None:
        self.rowAsked.emit(self._model.first - 1)

    @Slot()
    def _on_after(self) -> None:
        self.rowAsked.emit(self._model.first + self._model.rowCount())

    @Slot(int)
    def _on_row(self, number: int) -> None:
        self.rowAsked.emit(number - 1)


@dataclass(frozen=True)
class CellAt:
    """What a menu is about: a column, and the text of a cell where it is about one."""

    name: str
    kind: ColumnType
    date_order: str
    text: str | None = None
    missing: bool = False


class LookMenu(QMenu):
    """What can be done with a column or a cell; see :class:`LookBar`."""

    def __init__(self, bar: LookBar, cell: CellAt, parent: QWidget) -> None:
        super().__init__(parent)
        self._bar, self._cell = bar, cell
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name = short_name(cell.name)
        offered: Sequence[tuple[str, str]] = (
            (UP, self.tr("Sort by {column}, ascending").format(column=name)),
            (DOWN, self.tr("Sort by {column}, descending").format(column=name)),
        )
        for act, words in offered:
            self._add(act, words)
        self.addSeparator()
        if cell.missing:
            self._add(ONLY, self.tr("Only rows where {column} is missing").format(column=name))
            text = self.tr("Without rows where {column} is missing")
            self._add(WITHOUT, text.format(column=name))
        elif cell.text is not None:
            value = short_name(cell.text)
            only = self.tr("Only rows where {column} is “{value}”")
            self._add(ONLY, only.format(column=name, value=value))
            without = self.tr("Without rows where {column} is “{value}”")
            self._add(WITHOUT, without.format(column=name, value=value))
        self.addSeparator()
        keys = QKeySequence(QKeySequence.StandardKey.Find).toString(_NATIVE)
        self._add(FIND, f"{self.tr('Find…')}\t{keys}")
        self._add(ALL, self.tr("All rows as in the file")).setEnabled(bar.look != RowLook())
        self.triggered.connect(self._on_chosen)

    def _add(self, act: str, words: str) -> QAction:
        action = QAction(verbatim(words), self)
        action.setData(act)
        self.addAction(action)
        return action

    @Slot(QAction)
    def _on_chosen(self, action: QAction) -> None:
        cell, bar, act = self._cell, self._bar, str(action.data())
        if act in (UP, DOWN):
            bar.sort(cell.name, cell.kind, cell.date_order, act == DOWN)
        elif act == FIND:
            bar.open_line()
        elif act == ALL:
            bar.show_all()
        else:
            text = None if cell.missing else cell.text
            bar.keep(CellFilter(cell.name, text, without=act == WITHOUT))


def find_shortcut(page: QWidget, bar: LookBar) -> QShortcut:
    """Ctrl+F, anywhere on the page."""
    keys = QKeySequence(QKeySequence.StandardKey.Find)
    made = QShortcut(keys, page)
    made.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    made.activated.connect(bar.open_line)
    return made
