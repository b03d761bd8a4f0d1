"""The pivot table: value and ± in each cell, on a ground that grows darker with the error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import QBrush, QColor, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from dpdesk.core.pivot import Pivot
from dpdesk.core.query import ALL
from dpdesk.ui.browsing.words import cell_words, half_text, value_text
from dpdesk.ui.models import DataGrid
from dpdesk.ui.models.guard import guarded
from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.theme.tokens import Tokens
from dpdesk.ui.words.numbers import shortened
from dpdesk.ui.words.spoken import said

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
WARNING = "△"
_SAMPLE = 200
_DARK_TEXT, _LIGHT_TEXT = "#1B1F24", "#FFFFFF"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class PivotModel(QAbstractTableModel):
    """A :class:`Pivot`; the first columns hold the labels of the rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pivot: Pivot | None = None
        self._shades: NDArray[np.int8] = np.empty((0, 0), np.int8)
        self._doubtful: NDArray[np.bool_] = np.empty((0, 0), np.bool_)

    def show(self, pivot: Pivot | None, share: float) -> None:
        """Show other numbers; cells whose ± is above the share of their value are marked."""
        self.beginResetModel()
        self._pivot = pivot
        if pivot is not None:
            self._shades, self._doubtful = pivot.shades(), pivot.doubtful(share)
        self.endResetModel()

    def mark(self, share: float) -> None:
        """Mark by another share."""
        if self._pivot is None:
            return
        self._doubtful = self._pivot.doubtful(share)
        last = self.index(self.rowCount() - 1, self.columnCount() - 1)
        self.dataChanged.emit(self.index(0, 0), last)

    @property
    def pivot(self) -> Pivot | None:
        """The numbers on show."""
        return self._pivot

    @property
    def sides(self) -> int:
        """Number of columns that hold labels; one even where no dimension stands on rows."""
        return max(1, len(self._pivot.row_axes)) if self._pivot is not None else 0

    def place(self, index: Index) -> tuple[int, int] | None:
        """Row and column among the values; None for labels."""
        column = index.column() - self.sides
        return (index.row(), column) if index.isValid() and column >= 0 else None

    def shade(self, index: Index) -> int:
        """The step of the error's ramp, -1 where there is none."""
        place = self.place(index)
        return -1 if place is None else int(self._shades[place])

    def doubtful(self, index: Index) -> bool:
        """Whether a cell is marked."""
        place = self.place(index)
        return place is not None and bool(self._doubtful[place])

    def is_margin(self, index: Index) -> bool:
        """Whether a cell holds a sum over all categories of some dimension."""
        place, pivot = self.place(index), self._pivot
        if place is None or pivot is None:
            return False
        return None in (*pivot.row_labels[place[0]], *pivot.column_labels[place[1]])

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of rows."""
        return 0 if parent.isValid() or self._pivot is None else len(self._pivot.row_labels)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Labels and values."""
        if parent.isValid() or self._pivot is None:
            return 0
        return self.sides + len(self._pivot.column_labels)

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Words of a cell; the ± stands in the line below the value."""
        pivot = self._pivot
        if pivot is None or not index.isValid():
            return None
        place = self.place(index)
        if place is None:
            return self._label_data(pivot, index, role)
        value, half = float(pivot.values[place]), float(pivot.half_widths[place])
        if role == Qt.ItemDataRole.DisplayRole:
            below = half_text(half)
            mark = f"{WARNING} " if self.doubtful(index) else ""
            return f"{value_text(value, half)}\n{mark}{below}" if below else value_text(value, half)
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            said = cell_words(pivot, *place)
            return f"{WARNING} {said}" if self.doubtful(index) else said
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT
        return None

    def _label(self, label: str | None) -> str:
        return said(ALL) if label is None else shortened(label) or self.tr("(empty)")

    def _label_data(self, pivot: Pivot, index: Index, role: int) -> object:
        labels = pivot.row_words(index.row())
        label = labels[index.column()] if labels else None
        text = self._label(label)
        if role in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.AccessibleTextRole,
            Qt.ItemDataRole.ToolTipRole,
        ):
            return text
        return _LEFT if role == Qt.ItemDataRole.TextAlignmentRole else None

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Names of the row dimensions, labels of the columns; one line for each dimension."""
        pivot = self._pivot
        if pivot is None or orientation is Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _LEFT if section < self.sides else _RIGHT
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        if section < self.sides:
            return pivot.row_axes[section] if pivot.row_axes else ""
        labels = pivot.column_words(section - self.sides)
        names = [self._label(label) for label in labels]
        return "\n".join(names) if names else pivot.grid.measure


class ErrorDelegate(QStyledItemDelegate):
    """Paints value and ± on the ramp of the error; hatched where nothing can be said."""

    def __init__(self, theme: ThemeManager, model: PivotModel, parent: QObject) -> None:
        super().__init__(parent)
        self._theme, self._shown = theme, model

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The ground, the two lines, a frame around the current cell."""
        if self._shown.place(index) is None:
            super().paint(painter, option, index)
            return
        tokens, shade = self._theme.tokens, self._shown.shade(index)
        place: QRect = option.rect
        ground = tokens.ramp[shade] if shade >= 0 else tokens.surface
        painter.save()
        painter.fillRect(place, QColor(ground))
        text = str(index.data() or "")
        if "\n" not in text:
            painter.fillRect(place, QBrush(QColor(tokens.hairline), Qt.BrushStyle.BDiagPattern))
        painter.setPen(QColor(text_on(ground, tokens)))
        self._write(painter, place, text, bold=self._shown.is_margin(index))
        painter.setPen(QPen(QColor(tokens.hairline), 1))
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        state = option.state
        if state & QStyle.StateFlag.State_Selected or state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.drawRect(place.adjusted(1, 1, -1, -1))
        painter.restore()

    def _write(self, painter: QPainter, place: QRect, text: str, *, bold: bool) -> None:
        theme = self._theme.theme
        value, _, below = text.partition("\n")
        room = place.adjusted(SPACE.s, 2, -SPACE.s, -2)
        painter.setFont(theme.font(bold=bold))
        upper = room.adjusted(0, 0, 0, -room.height() * 9 // 20) if below else room
        painter.drawText(upper, _RIGHT, value)
        if below:
            painter.setFont(theme.font("note"))
            painter.drawText(room.adjusted(0, room.height() * 11 // 20, 0, 0), _RIGHT, below)


def text_on(ground: str, tokens: Tokens) -> str:
    """The better of dark and light text on a ground."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: float, other: float) -> float:
        return (max(one, other) + 0.05) / (min(one, other) + 0.05)

    if ground == tokens.surface:
        return tokens.text
    below = luminance(ground)
    return max((_DARK_TEXT, _LIGHT_TEXT), key=lambda text: contrast(luminance(text), below))


class PivotGrid(DataGrid):
    """The table, with rows of two lines."""

    least_ems = 30

    def __init__(self, theme: ThemeManager, name: str, model: PivotModel) -> None:
        super().__init__(theme, name)
        self._shown = model
        self.verticalHeader().hide()
        self.setItemDelegate(ErrorDelegate(theme, model, self))
        self.setSelectionMode(self.SelectionMode.ContiguousSelection)
        self.setShowGrid(False)
        self.setModel(model)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        super()._on_theme(theme)
        self.verticalHeader().setDefaultSectionSize(round(theme.row * 1.7))
        self.setMinimumHeight(theme.row * 9)
        self.viewport().update()

    def fit_columns(self) -> None:
        """Wide enough for labels and values; all columns of values are as wide as the widest."""
        model: PivotModel | None = getattr(self, "_shown", None)
        if model is None or model.pivot is None:
            return
        theme, metrics = self._theme.theme, self.fontMetrics()

        def width(text: object) -> int:
            lines = str(text or "").split("\n")
            return round(max(metrics.horizontalAdvance(line) for line in lines) * 1.12) + 28

        rows = range(min(_SAMPLE, model.rowCount()))
        for side in range(model.sides):
            texts = [model.headerData(side, Qt.Orientation.Horizontal)]
            texts += [model.index(row, side).data() for row in rows]
            self.setColumnWidth(side, min(max(map(width, texts)), theme.ems(28)))
        sample = range(model.sides, min(model.columnCount(), model.sides + _SAMPLE // 10))
        texts = [model.headerData(each, Qt.Orientation.Horizontal) for each in sample]
        last = model.rowCount() - 1
        texts += [model.index(row, each).data() for each in sample for row in (0, last)]
        wide = min(max(map(width, texts), default=0), theme.ems(24))
        for column in range(model.sides, model.columnCount()):
            self.setColumnWidth(column, max(wide, theme.ems(11)))

    def sizeHint(self) -> QSize:
        """Room for some rows."""
        return QSize(self._theme.theme.ems(60), self._theme.theme.row * 14)
