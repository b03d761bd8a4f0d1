"""The table of candidates as a model, and the view that shows it."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QResizeEvent

from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.guard import guarded
from dpdesk.ui.panels.compare.table import APART, CompareTable
from dpdesk.ui.theme import ThemeManager

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
LABEL_EMS, LABEL_AT_MOST, CELL_EMS, PADDING = 12, 28, 9, 28
_MIDDLE = Qt.AlignmentFlag.AlignVCenter


class CompareModel(QAbstractTableModel):
    """Lines of a :class:`CompareTable`; the first column holds their names."""

    def __init__(self, theme: ThemeManager, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._table = CompareTable((), ())

    def set_table(self, table: CompareTable) -> None:
        """Show another table."""
        if table == self._table:
            return
        self.beginResetModel()
        self._table = table
        self.endResetModel()

    @property
    def table(self) -> CompareTable:
        """The table on show."""
        return self._table

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of lines."""
        return 0 if parent.isValid() else len(self._table.rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """One more than the columns of the table."""
        return 0 if parent.isValid() else len(self._table.columns) + 1

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words, alignment, weight, colour and explanation of a cell."""
        if not index.isValid():
            return None
        row = self._table.rows[index.row()]
        if index.column() == 0 or row.heading:
            return self._name_data(index, role)
        cell = row.cells[index.column() - 1]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            said = f"{row.label}, {self._table.columns[index.column() - 1]}: {cell.text}"
            return f"{said}. {cell.tip}" if cell.tip else said
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if cell.number else Qt.AlignmentFlag.AlignLeft
            return side | _MIDDLE
        if role == Qt.ItemDataRole.ForegroundRole and cell.grey:
            return QColor(self._theme.tokens.disabled)
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell.tip or None
        if role == Qt.ItemDataRole.FontRole and cell.mark:
            return self._bold()
        return None

    def _name_data(self, index: Index, role: int) -> object:
        row = self._table.rows[index.row()]
        first = index.column() == 0
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return row.label if first else ""
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{row.label}\n{row.help}".strip() or None
        if role == Qt.ItemDataRole.FontRole and row.heading:
            return self._bold()
        if role == Qt.ItemDataRole.BackgroundRole and row.heading:
            return QColor(self._theme.tokens.sunken)
        return None

    def _bold(self) -> QFont:
        return self._theme.theme.font(bold=True)

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Numbers, pins and names of the candidates."""
        if orientation is Qt.Orientation.Vertical or not 0 <= section <= len(self._table.columns):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return "" if section == 0 else self._table.columns[section - 1]
        return None


class CompareGrid(DataGrid):
    """A grid without row numbers, whose columns share the width that is there.

    What is cut in a cell stands whole in its tooltip.
    """

    def __init__(self, theme: ThemeManager, name: str, model: CompareModel) -> None:
        super().__init__(theme, name)
        self._compared = model
        self.verticalHeader().hide()
        self.setModel(model)

    def fit_columns(self) -> None:
        """As wide as figures need; texts take what is left, and sideways only what must."""
        table = self._compared.table if hasattr(self, "_compared") else None
        if table is None or not table.columns:
            return
        theme = self._theme.theme
        metrics = QFontMetrics(theme.font(bold=True))  # marked figures are bold

        def needed(texts: list[str], least: int) -> int:
            widest = max((metrics.horizontalAdvance(text) for text in texts), default=0)
            return max(theme.ems(least), widest + PADDING)

        labels = [row.label for row in table.rows if not row.heading]
        widths = [min(needed(labels, LABEL_EMS), theme.ems(LABEL_AT_MOST))]
        for number, heading in enumerate(table.columns):
            cells = [row.cells[number] for row in table.rows if row.cells]
            figures = [cell.words for cell in cells if cell.number]
            widths.append(needed([*figures, heading], CELL_EMS))
        room = self.viewport().width() - 1
        left = room - sum(widths[1 : APART + 2])  # A, B and A − B should be in sight
        if left >= theme.ems(LABEL_EMS):  # else it scrolls sideways anyway
            widths[0] = min(widths[0], left)
        spare = max(0, room - sum(widths)) // len(widths)
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width + spare)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width that is there now."""
        super().resizeEvent(event)
        self.fit_columns()
