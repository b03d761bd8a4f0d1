"""What the level that is looked at does: its distribution, and each value before and after."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QLabel, QWidget

from dpdesk.ui.charts import ChartView
from dpdesk.ui.models import DataGrid, format_cell
from dpdesk.ui.models.guard import guarded
from dpdesk.ui.panels.hierarchies.edits import shown
from dpdesk.ui.panels.hierarchies.pictures import (
    FEWEST_BARS,
    MOST_BARS,
    barred_codes,
    level_chart,
)
from dpdesk.ui.panels.hierarchies.presenter import effect_sentence
from dpdesk.ui.panels.hierarchies.tasks import HierarchyAnswer
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.words.numbers import grouped

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
HEAD_LINES = 8
_TEXT_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.AccessibleTextRole,
    Qt.ItemDataRole.ToolTipRole,
)
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class EffectModel(QAbstractTableModel):
    """One row per value of the data: value, rows, what it becomes, rows of that group."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look: HierarchyAnswer | None = None
        self._level = 0
        self._used = np.empty(0, np.int64)
        self._above = np.empty(0, np.int32)

    def show_look(self, look: HierarchyAnswer | None, level: int) -> None:
        """Show what a level does; resets only when the hierarchy is another one."""
        if look is self._look and look is not None:
            self._level, self._above = level, look.examined.preview.hierarchy.ancestors(level)
            if self._used.size:
                self.dataChanged.emit(self.index(0, 0), self.index(self._used.size - 1, 3))
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, 3)
            return
        self.beginResetModel()
        self._look, self._level = look, level
        self._used = np.empty(0, np.int64)
        if look is not None:
            self._used = np.flatnonzero(look.examined.preview.rows[0])
            self._above = look.examined.preview.hierarchy.ancestors(level)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Values that occur."""
        return 0 if parent.isValid() else int(self._used.size)

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Before and after, each with its rows."""
        return 0 if parent.isValid() else 4

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings; rows are numbered from 1."""
        if orientation is Qt.Orientation.Vertical:
            return grouped(section + 1) if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section % 2 else _LEFT
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        after = self.tr("Level {level}").format(level=self._level)
        return (self.tr("Now"), self.tr("Rows"), after, self.tr("Rows"))[section]

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Texts and numbers."""
        look = self._look
        if look is None or not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() % 2 else _LEFT
        if role not in _TEXT_ROLES:
            return None
        preview = look.examined.preview
        leaf = int(self._used[index.row()])
        level = 0 if index.column() < 2 else self._level
        code = leaf if level == 0 else int(self._above[leaf])
        if index.column() % 2:
            return format_cell(int(preview.rows[level][code]))
        return shown(preview.hierarchy.labels[level][code])


class PicturePane(QWidget):
    """The distribution at a level; ``valuePicked(int)`` is the code of a bar that was chosen."""

    valuePicked = Signal(int)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._look: HierarchyAnswer | None = None
        self._level = 0
        self._bars = 0
        self.chart = ChartView(theme)
        self.chart.set_placeholder(self.tr("Counting the values…"))
        self.chart.pointPicked.connect(self._on_bar)
        column(self).addWidget(self.chart)
        theme.changed.connect(self._on_theme)

    def show_look(self, look: HierarchyAnswer | None, level: int) -> None:
        """Show a level of a hierarchy; the same again is not drawn again."""
        if look is not self._look or level != self._level:
            self._look, self._level = look, level
            self._draw()

    def set_stale(self, stale: bool) -> None:
        """Dim the picture while another one is on its way, or none can be made."""
        self.chart.set_stale(stale)
        self.chart.set_placeholder(self.tr("Counting the values…"))

    def set_nothing(self) -> None:
        """There is no picture, because there is no usable hierarchy."""
        self.chart.set_stale(False)
        self.chart.set_placeholder(
            self.tr("No picture: import another hierarchy, or choose how it is made.")
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many bars as there is room for their names."""
        super().resizeEvent(event)
        if self._room() != self._bars:
            self._draw()

    def _draw(self) -> None:
        self._bars = self._room()
        look = self._look
        if look is None:
            self.chart.set_chart(None)
            return
        table = look.tables[self._level]
        preview = look.examined.preview
        self.chart.set_chart(level_chart(preview, self._level, table, self._bars))

    def _room(self) -> int:
        theme = self._theme.theme
        line = QFontMetrics(theme.font("note")).lineSpacing()
        free = self.height() - HEAD_LINES * theme.target
        return min(max(free // line, FEWEST_BARS), MOST_BARS)

    @Slot(int)
    def _on_bar(self, index: int) -> None:
        if self._look is None:
            return
        codes = barred_codes(self._look.examined.preview, self._level, self._bars)
        if 0 <= index < len(codes):
            self.valuePicked.emit(int(codes[index]))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._draw()


class BeforeAfterPane(QWidget):
    """Each value of the data and what a level makes of it."""

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = column(self, margin=SPACE.m)
        heading = QLabel(self.tr("What would happen to each value?"))
        heading.setWordWrap(True)
        set_look(heading, "section")
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self.model = EffectModel(self)
        self.grid = DataGrid(theme, self.tr("Values before and after"))
        self.grid.setModel(self.model)
        self.grid.verticalHeader().hide()
        self.grid.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for widget in (heading, self._sentence):
            layout.addWidget(widget)
        layout.addWidget(self.grid, 1)

    @property
    def sentence(self) -> str:
        """What the level does, in words."""
        return self._sentence.text()

    def show_look(self, look: HierarchyAnswer | None, level: int) -> None:
        """Show a level of a hierarchy."""
        self.model.show_look(look, level)
        self._sentence.setText("" if look is None else effect_sentence(look, level))
