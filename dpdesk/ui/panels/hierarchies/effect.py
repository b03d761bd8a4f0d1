"""Which attribute and level are looked at, and what the level does to each value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QSpinBox,
    QWidget,
)

from dpdesk.core.messages import msg
from dpdesk.ui.charts import ChartView
from dpdesk.ui.charts.view import LONG_NAME
from dpdesk.ui.forms.spin import UnitSlider
from dpdesk.ui.models import DataGrid, format_cell
from dpdesk.ui.models.table import CellModel
from dpdesk.ui.panels.hierarchies.presenter import Entry, State, effect_sentence, level_name
from dpdesk.ui.panels.hierarchies.tasks import (
    FEWEST_BARS,
    MOST_BARS,
    HierarchyAnswer,
    barred_codes,
    level_chart,
    level_sentence,
    shown,
)
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column, leave_wheel, row

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


class EffectModel(CellModel):
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
            self.announce()
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, 3)
            return
        self.beginResetModel()
        self._look, self._level = look, level
        self._used = np.empty(0, np.int64)
        if look is not None:
            self._used = np.flatnonzero(look.examined.preview.rows[0])
            self._above = look.examined.preview.hierarchy.ancestors(level)
        self.endResetModel()

    def size(self) -> tuple[int, int]:
        """Values that occur; before and after, each with its rows."""
        return int(self._used.size), 4

    def heading(self, section: int, role: int) -> object:
        """What stands in the columns."""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section % 2 else _LEFT
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        after = self.tr("Level {level}").format(level=self._level)
        return (self.tr("Now"), self.tr("Rows"), after, self.tr("Rows"))[section]

    def cell(self, index: Index, role: int) -> object:
        """Texts and numbers."""
        look = self._look
        if look is None:
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

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._theme = theme
        self._look: HierarchyAnswer | None = None
        self._level = 0
        self._bars = 0
        self.chart = ChartView(theme)
        self.chart.set_placeholder(self.tr("Counting the values…"))
        self.chart.pointPicked.connect(self._on_bar)
        column(self).addWidget(self.chart)
        theme.changed.connect(self._draw)

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
        if self._look is not None:
            labels = self._look.examined.preview.hierarchy.labels[self._level]
            if any(len(label) > LONG_NAME for label in labels):
                line = 2 * line + SPACE.s
        free = self.height() - HEAD_LINES * theme.target
        return min(max(free // line, FEWEST_BARS), MOST_BARS)

    @Slot(int)
    def _on_bar(self, index: int) -> None:
        if self._look is None:
            return
        codes = barred_codes(self._look.examined.preview, self._level, self._bars)
        if 0 <= index < len(codes):
            self.valuePicked.emit(int(codes[index]))


class BeforeAfterPane(QWidget):
    """Each value of the data and what a level makes of it."""

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
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
        self.grid.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # long values differ at their ends
        header = self.grid.horizontalHeader()
        for section in (0, 2):  # numbers want little room
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)
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


class LevelBar(QWidget):
    """``levelChanged(int)`` when another level is looked at; the work is not changed by it."""

    levelChanged = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._look: HierarchyAnswer | None = None
        layout = column(self, gap=SPACE.xs)
        line = row(gap=SPACE.m)
        label = QLabel(self.tr("&Level"))
        self.box = QSpinBox()
        self.box.setAccessibleName(self.tr("Level shown"))
        self.box.lineEdit().setTextMargins(SPACE.s - 2, 0, 0, 0)
        label.setBuddy(self.box)
        self.slider = UnitSlider(self.box)
        self.slider.setAccessibleName(self.tr("Level shown, slider"))
        tip = self.tr(
            "Level 0 is the data, the highest level puts everything together. This is only "
            "a preview: the level of the release is set in Protect"
        )
        leave_wheel(self.box, self.slider)
        for control in (self.box, self.slider):
            control.setToolTip(tip)
            control.setAccessibleDescription(tip)
        self.slider.setMinimumWidth(120)
        self.slider.setMaximumWidth(420)
        self.slider.setPageStep(1)
        for widget, stretch in ((label, 0), (self.box, 0), (self.slider, 1)):
            line.addWidget(widget, stretch)
        line.addStretch(1)
        layout.addLayout(line)
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        set_look(self._sentence, "answer")
        layout.addWidget(self._sentence)
        self.box.valueChanged.connect(self._on_value)
        self.slider.valueChanged.connect(self._on_value)
        self.show_look(None, 0)

    @property
    def level(self) -> int:
        """The level that is looked at."""
        return self.box.value()

    @property
    def sentence(self) -> str:
        """What the level holds."""
        return self._sentence.text()

    def show_look(self, look: HierarchyAnswer | None, level: int) -> None:
        """Offer the levels of a hierarchy, silently at this one."""
        self._look = look
        height = 0 if look is None else look.height
        for control in (self.box, self.slider):
            with QSignalBlocker(control):
                control.setRange(0, height)
                control.setValue(min(level, height))
            control.setEnabled(look is not None)
        self.box.setSuffix(self.tr(" of {height}").format(height=height))
        self._say()

    @Slot(int)
    def _on_value(self, level: int) -> None:
        for control in (self.box, self.slider):
            with QSignalBlocker(control):
                control.setValue(level)
        self._say()
        self.levelChanged.emit(level)

    def _say(self) -> None:
        if self._look is None:
            self._sentence.setText("")
            return
        levels = self._look.examined.preview.levels
        name = level_name(self._look, self.level)
        self._sentence.setText(f"{name}. {level_sentence(levels[self.level])}")


_NAME = Qt.ItemDataRole.UserRole


class AttributeList(QListWidget):
    """Quasi-identifiers first, then sensitive attributes; ``picked(str)`` names the chosen one."""

    picked = Signal(str)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._theme = theme
        self._entries: tuple[Entry, ...] = ()
        self._headings = (self.tr("Quasi-identifiers"), self.tr("Sensitive (optional)"))
        self.setAccessibleName(self.tr("Attributes"))
        self.setToolTip(self.tr("Choose an attribute to see and edit its hierarchy"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # long names differ at their ends
        self.currentItemChanged.connect(self._on_current)
        theme.changed.connect(self._on_theme)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is listed."""
        return self._entries

    @property
    def attribute(self) -> str:
        """The chosen attribute; empty when there is none."""
        item = self.currentItem()
        return "" if item is None else str(item.data(_NAME) or "")

    def set_entries(self, entries: Sequence[Entry], *, tables: bool = False) -> None:
        """Show these; the chosen attribute stays chosen when it is still there.

        ``tables``: they are made coarser as dimensions of tables too, whatever their role.
        """
        first = self.tr("Dimensions of tables") if tables else self.tr("Quasi-identifiers")
        if first != self._headings[0]:
            self._headings, self._entries = (first, self._headings[1]), ()
        names = [entry.attribute for entry in entries]
        same = names == [entry.attribute for entry in self._entries]
        same = same and [e.optional for e in entries] == [e.optional for e in self._entries]
        chosen, known = self.attribute, self._entries if same else ()
        self._entries = tuple(entries)
        if not same:
            self._rebuild(chosen)
        for entry in self._entries:
            if entry not in known:
                self._fill(entry)

    def choose(self, attribute: str) -> None:
        """Choose an attribute by name."""
        item = self._item(attribute)
        if item is not None:
            self.setCurrentItem(item)

    def _rebuild(self, chosen: str) -> None:
        self.blockSignals(True)
        self.clear()
        optional: bool | None = None
        for entry in self._entries:
            if entry.optional is not optional:
                optional = entry.optional
                self.addItem(self._heading(optional))
            item = QListWidgetItem()
            item.setData(_NAME, entry.attribute)
            self.addItem(item)
        names = [entry.attribute for entry in self._entries]
        if chosen in names:
            self.choose(chosen)  # silently: nothing else has been picked
        self.blockSignals(False)
        if names and chosen not in names:
            self.choose(names[0])

    def _heading(self, optional: bool) -> QListWidgetItem:
        item = QListWidgetItem(self._headings[1 if optional else 0])
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        item.setFont(self._theme.theme.font("note", bold=True))
        item.setSizeHint(QSize(10, self._theme.theme.row))
        return item

    def _fill(self, entry: Entry) -> None:
        item = self._item(entry.attribute)
        if item is None:
            return
        item.setText(entry.text)
        item.setToolTip(msg("{file}: {note}", file=entry.attribute, note=entry.note))
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{entry.attribute}, {entry.note}")
        theme = self._theme.theme
        bad = {State.LACKING: theme.tokens.caution, State.FAILED: theme.tokens.fail}
        item.setForeground(QColor(bad.get(entry.state, theme.tokens.text)))
        item.setSizeHint(QSize(10, QFontMetrics(theme.font()).lineSpacing() * 2 + SPACE.m))

    def _item(self, attribute: str) -> QListWidgetItem | None:
        items = (self.item(row) for row in range(self.count()))
        return next((item for item in items if item.data(_NAME) == attribute), None)

    @Slot()
    def _on_current(self) -> None:
        if self.attribute:
            self.picked.emit(self.attribute)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        bold = QFontMetrics(theme.font("note", bold=True))
        widest = max(bold.horizontalAdvance(words) for words in self._headings)
        self.setMinimumWidth(widest + self.verticalScrollBar().sizeHint().width() + SPACE.xl)
        self._rebuild(self.attribute)
        for entry in self._entries:
            self._fill(entry)
