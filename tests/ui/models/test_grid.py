"""A table view asks its model for little, however long the table is."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from dpdesk.ui.models import DataGrid
from dpdesk.ui.theme import ThemeManager

ROWS = 3_000_000


class Counting(QAbstractTableModel):
    """Three million rows of nothing, and how often row numbers were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else ROWS

    def columnCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else 2

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = 0) -> object:
        return "x" if role == Qt.ItemDataRole.DisplayRole else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        if orientation is Qt.Orientation.Vertical:
            self.asked += 1
            return f"{section + 1:,}" if role == Qt.ItemDataRole.DisplayRole else None
        return "column" if role == Qt.ItemDataRole.DisplayRole else None


def test_row_numbers_get_their_room_without_a_look_at_hundreds(
    qtbot: QtBot, theme: ThemeManager
) -> None:
    grid, model = DataGrid(theme, "Rows"), Counting()
    qtbot.addWidget(grid)
    grid.setModel(model)
    grid.resize(600, 300)
    with qtbot.waitExposed(grid):
        grid.show()
    header = grid.verticalHeader()
    needed = QFontMetrics(header.font()).horizontalAdvance(f"{ROWS:,}")
    assert needed < header.width() < needed + 40
    assert model.asked < 500  # the toolkit's own header: 1,670
    # Not selectRow: that heeds the modifier keys that an earlier test may have left held.
    flags = QItemSelectionModel.SelectionFlag
    grid.selectionModel().select(model.index(3, 0), flags.ClearAndSelect | flags.Rows)
    assert [index.row() for index in grid.selectionModel().selectedRows()] == [3]
