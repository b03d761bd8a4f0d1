"""Small tables held whole, such as the twin of a chart."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from dpdesk.core.charts import Cell
from dpdesk.core.messages import msg
from dpdesk.ui.models.formatting import alignment, format_cell, whole_text
from dpdesk.ui.models.guard import guarded
from dpdesk.ui.words.numbers import grouped

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class ListModel(QAbstractTableModel):
    """Headings and rows of plain values; numbers stand right-aligned with grouped digits."""

    def __init__(
        self,
        columns: Sequence[str] = (),
        rows: Sequence[Sequence[Cell]] = (),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._rows = tuple(tuple(row) for row in rows)

    def set_table(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Show another table; resets only when its shape or headings differ."""
        new_columns, new_rows = tuple(columns), tuple(tuple(row) for row in rows)
        if new_columns == self._columns and len(new_rows) == len(self._rows):
            if new_rows == self._rows:
                return
            self._rows = new_rows
            if new_rows and new_columns:
                last = self.index(len(new_rows) - 1, len(new_columns) - 1)
                self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._columns, self._rows = new_columns, new_rows
        self.endResetModel()

    def row(self, number: int) -> tuple[Cell, ...]:
        """The plain values of a row."""
        return self._rows[number]

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text and alignment of a cell."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        value = row[index.column()] if index.column() < len(row) else None
        if role == Qt.ItemDataRole.DisplayRole:
            return format_cell(value)
        if role == Qt.ItemDataRole.EditRole:
            return whole_text(value)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return alignment(value)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return msg(
                "{file}: {note}", file=self._columns[index.column()], note=format_cell(value)
            )
        return None

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings; rows are numbered from 1."""
        if orientation is Qt.Orientation.Vertical:
            return grouped(section + 1) if role == Qt.ItemDataRole.DisplayRole else None
        if not 0 <= section < len(self._columns):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self._columns[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            first = self._rows[0][section] if self._rows else ""
            return alignment(first)
        return None
