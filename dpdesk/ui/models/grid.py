"""A table view for tables of any length.

Row heights are fixed, nothing is resized by content over all rows, and "select all" is refused:
each of these would ask the model for every row.
"""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelectionRange,
    QModelIndex,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import QGuiApplication, QHelpEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QToolTip, QWidget

from dpdesk.ui.models.table import PLACEHOLDER
from dpdesk.ui.theme import Theme, ThemeManager

MAX_COPIED = 50_000
SAMPLE_ROWS = 30
FITTED_COLUMNS = 60
MIN_EMS, MAX_EMS = 7, 32
LEAST_ROWS = 5
PADDING = 4


class RowHeader(QHeaderView):
    """Row numbers; as wide as the last one, instead of asking the model for hundreds of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.setSectionsClickable(True)

    def sizeHint(self) -> QSize:
        """Room for the number of the last row."""
        last = self.count() - 1
        if last < 0:
            return super().sizeHint()
        return QSize(self.sectionSizeFromContents(last).width(), self.length())


def _copied(index: QModelIndex) -> str:
    """The text of a cell, whole where it is shown cut."""
    return str(index.data(Qt.ItemDataRole.EditRole) or index.data() or "")


class DataGrid(QTableView):
    """A read-only table; Ctrl+C copies the chosen block as tab-separated text.

    It is at least ``least_ems`` letters wide.
    """

    least_ems = 24

    def __init__(self, theme: ThemeManager, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._fitted = False
        self.setVerticalHeader(RowHeader(self))
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setHighlightSections(False)
        self.verticalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.verticalHeader().setDefaultSectionSize(theme.row)
        self.verticalHeader().setMinimumWidth(theme.ems(5))
        self.setMinimumSize(theme.ems(self.least_ems), theme.row * LEAST_ROWS)
        self.fit_columns()

    def setModel(self, model: QAbstractItemModel | None) -> None:
        """Show a model and give its columns sensible widths."""
        super().setModel(model)
        if model is not None:
            model.modelReset.connect(self._on_reset)
            model.dataChanged.connect(self._on_data)
            self._on_reset()

    @Slot()
    def _on_reset(self) -> None:
        self._fitted = False
        self.fit_columns()

    @Slot(QModelIndex, QModelIndex)
    def _on_data(self, first: QModelIndex, last: QModelIndex) -> None:
        if first.row() == 0 and not self._fitted:
            self._fitted = True
            self.fit_columns()

    def fit_columns(self) -> None:
        """Widths by heading and the first rows; the columns far right keep a usual width."""
        model: QAbstractItemModel | None = self.model()
        if model is None:
            return
        theme, metrics = self._theme.theme, self.fontMetrics()
        least, most = theme.ems(MIN_EMS), theme.ems(MAX_EMS)
        rows = min(SAMPLE_ROWS, model.rowCount())
        if rows and model.index(0, 0).data() == PLACEHOLDER:  # the first rows are on their way
            rows = 0
        for column in range(min(FITTED_COLUMNS, model.columnCount())):
            texts = [model.headerData(column, Qt.Orientation.Horizontal)]
            texts += [model.index(row, column).data() for row in range(rows)]
            widest = max(metrics.horizontalAdvance(str(text or "")) for text in texts)
            # Headings are bold, cells have a padding on both sides.
            width = round(widest * 1.12) + 28
            self.setColumnWidth(column, min(max(width, least), most))

    def viewportEvent(self, event: QEvent) -> bool:
        """A cell that is shown cut tells its text where the pointer rests."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self.indexAt(event.pos())
            text = str(index.data() or "")
            room = self.visualRect(index).width() - 2 * PADDING
            cut = self.fontMetrics().horizontalAdvance(text) > room
            if cut and not index.data(Qt.ItemDataRole.ToolTipRole):
                QToolTip.showText(event.globalPos(), text, self)
                return True
        return super().viewportEvent(event)

    def selectAll(self) -> None:
        """Do nothing: it would touch every row of the table."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy on Ctrl+C; everything else as usual."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selection()
            return
        super().keyPressEvent(event)

    def copy_selection(self) -> None:
        """Put the chosen block on the clipboard, at most MAX_COPIED cells."""
        model, block = self.model(), self._chosen()
        if block is None:
            return
        columns = range(block.left(), block.right() + 1)
        rows = range(block.top(), block.bottom() + 1)[: MAX_COPIED // max(1, len(columns))]
        lines = ("\t".join(_copied(model.index(row, column)) for column in columns) for row in rows)
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _chosen(self) -> QItemSelectionRange | None:
        chosen = self.selectionModel()
        if not chosen or not chosen.hasSelection():
            return None
        return cast("list[QItemSelectionRange]", chosen.selection())[0]
