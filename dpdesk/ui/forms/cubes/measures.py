"""The field for what is measured in each cell: persons, clipped sums, averages, or several."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from dpdesk.core.cube_parameters import AVERAGE, COUNT, SUM, MeasureParameter
from dpdesk.core.parameters import exact_number, plain_number
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.forms.cubes.around import Around
from dpdesk.ui.forms.field import Field
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wheel import leave_wheel


class MeasureLine(QFrame):
    """One measure; ``edited()``, ``left()`` and ``removeAsked()``."""

    edited = Signal()
    left = Signal()
    removeAsked = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "sunken")
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE.s, SPACE.s, SPACE.s, SPACE.s)
        self.kind, self.column = NarrowCombo(), NarrowCombo(8)
        kinds = {
            COUNT: self.tr("Number of persons"),
            SUM: self.tr("Sum of a column"),
            AVERAGE: self.tr("Average of a column"),
        }
        for key, words in kinds.items():
            self.kind.addItem(words, key)
        self.kind.setAccessibleName(self.tr("What a cell holds"))
        self.kind.set_help(self.tr("Number of persons, or a sum or average of clipped values"))
        self.column.setAccessibleName(self.tr("Column that is summed"))
        self.column.set_help(self.tr("The column whose values are summed or averaged"))
        grid.addWidget(self.kind, 0, 0, 1, 3)
        grid.addWidget(self.column, 1, 0, 1, 3)
        self.bounds = self._build_bounds(grid)
        self.remove = QPushButton(self.tr("Remove this measure"))
        self.remove.setAccessibleName(self.remove.text())
        self.remove.setToolTip(self.tr("Measure the others only"))
        self.remove.clicked.connect(self.removeAsked)
        grid.addWidget(self.remove, 3, 0, 1, 3)
        for combo in (self.kind, self.column):
            leave_wheel(combo)
            combo.currentIndexChanged.connect(self._on_changed)
        self._show_parts()

    def _build_bounds(self, grid: QGridLayout) -> dict[str, QLineEdit]:
        words = {
            "lower": (self.tr("from"), self.tr("Least value; smaller ones count as this")),
            "upper": (self.tr("to"), self.tr("Largest value; larger ones count as this")),
            "step": (self.tr("step 1"), self.tr("Values are rounded to multiples of this")),
        }
        found: dict[str, QLineEdit] = {}
        for place, (key, (text, tip)) in enumerate(words.items()):
            line = QLineEdit()
            line.setPlaceholderText(text)
            line.setAccessibleName(tip.partition(";")[0])
            line.setToolTip(
                self.tr("{tip}. To be declared without looking at the data.").format(tip=tip)
            )
            line.textEdited.connect(self._on_changed)
            line.editingFinished.connect(self.left)
            grid.addWidget(line, 2, place)
            found[key] = line
        return found

    def plain(self) -> object:
        """The measure as a plan writes it; texts that are no numbers stay for their error."""
        kind = str(self.kind.currentData())
        if kind == COUNT:
            return COUNT
        made: dict[str, object] = {kind: self.column.currentText()}
        for key, line in self.bounds.items():
            text = line.text().strip()
            if text:
                number = exact_number(text)
                made[key] = text if number is None else plain_number(number)
        return made

    def set_plain(self, value: object) -> None:
        """Show a measure, silently."""
        given = value if isinstance(value, Mapping) else {}
        kind = next((key for key in (SUM, AVERAGE) if key in given), COUNT)
        with QSignalBlocker(self.kind), QSignalBlocker(self.column):
            self.kind.setCurrentIndex(self.kind.findData(kind))
            if kind != COUNT:
                self._choose_column(str(given[kind]))
        for key, line in self.bounds.items():
            text = str(given.get(key, ""))
            if exact_number(line.text()) != exact_number(text) or not text:
                line.setText(text)
        self._show_parts()

    def show_columns(self, columns: tuple[str, ...]) -> None:
        """Offer these columns."""
        chosen = self.column.currentText()
        with QSignalBlocker(self.column):
            self.column.clear()
            self.column.addItems(list(columns))
            if chosen:
                self._choose_column(chosen)

    def _choose_column(self, name: str) -> None:
        if self.column.findText(name) < 0:
            self.column.addItem(name)
        self.column.setCurrentIndex(self.column.findText(name))

    def _show_parts(self) -> None:
        summed = self.kind.currentData() != COUNT
        for widget in (self.column, *self.bounds.values()):
            widget.setVisible(summed)

    @Slot()
    def _on_changed(self) -> None:
        self._show_parts()
        self.edited.emit()


class MeasureField(Field):
    """One measure or several; each is bought with its own noise."""

    def __init__(self, parameter: MeasureParameter) -> None:
        super().__init__(parameter)
        self._columns: tuple[str, ...] = ()
        self._many = False
        layout = column(self, gap=SPACE.xs)
        self._place: QVBoxLayout = column(gap=SPACE.xs)
        layout.addLayout(self._place)
        self.lines: list[MeasureLine] = []
        self.more = QPushButton(self.tr("Measure something more"))
        self.more.setAccessibleName(self.more.text())
        self.more.setToolTip(self.tr("Another count, sum or average; the budget is shared"))
        self.more.clicked.connect(self._on_more)
        layout.addWidget(self.more)
        self.set_plain(None)

    @property
    def control(self) -> QWidget:
        """The kind of the first measure."""
        return self.lines[0].kind

    def plain(self) -> object:
        """See :meth:`Field.plain`: one measure, or a list of them."""
        found = [line.plain() for line in self.lines]
        return found if self._many or len(found) > 1 else found[0]

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        self._many = isinstance(value, list | tuple)
        items = list(value) if isinstance(value, list | tuple) else [value]
        while len(self.lines) > max(1, len(items)):
            self._drop(self.lines[-1])
        while len(self.lines) < max(1, len(items)):
            self._add()
        for line, item in zip(self.lines, items, strict=False):
            line.set_plain(item)

    def show_around(self, around: Around) -> None:
        """Offer the columns of the data."""
        if around.columns != self._columns:
            self._columns = around.columns
            for line in self.lines:
                line.show_columns(self._columns)

    def _add(self) -> None:
        line = MeasureLine()
        line.show_columns(self._columns)
        line.edited.connect(self.edited)
        line.left.connect(self.left)
        line.removeAsked.connect(self._on_remove)
        self.lines.append(line)
        self._place.addWidget(line)
        self._show_removing()

    def _drop(self, line: MeasureLine) -> None:
        self.lines.remove(line)
        self._place.removeWidget(line)
        line.hide()
        line.deleteLater()
        self._show_removing()

    def _show_removing(self) -> None:
        for line in self.lines:
            line.remove.setVisible(len(self.lines) > 1)

    @Slot()
    def _on_more(self) -> None:
        self._many = True
        self._add()
        kinds = [line.kind.currentData() for line in self.lines[:-1]]
        self.lines[-1].set_plain(None if COUNT not in kinds else {SUM: ""})
        self.lines[-1].kind.setFocus()
        self.edited.emit()

    @Slot()
    def _on_remove(self) -> None:
        line = self.sender()
        if isinstance(line, MeasureLine) and len(self.lines) > 1:
            self._drop(line)
            self.edited.emit()
