"""The first rows of a file as texts, of which some are numbers."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt

from dpdesk.ui.models import ListModel
from dpdesk.ui.models.guard import guarded
from dpdesk.ui.models.table import Index

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class PreviewModel(ListModel):
    """``numbers`` are the places of the columns that stand right; set them before the table."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self.numbers: frozenset[int] = frozenset()

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """As a list, but aligned by column."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() in self.numbers else _LEFT
        return super().data(index, role)

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings stand as their columns."""
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation is Qt.Orientation.Horizontal:
            return _RIGHT if section in self.numbers else _LEFT
        return super().headerData(section, orientation, role)
