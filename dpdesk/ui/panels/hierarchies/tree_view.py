"""The tree view: keeps what is unfolded across edits, tells what is chosen in one value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from PySide6.QtCore import QItemSelection, QItemSelectionRange, QModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView, QWidget

from dpdesk.ui.panels.hierarchies.tasks import HierarchyAnswer
from dpdesk.ui.panels.hierarchies.tree_model import BELOW, ROWS, VALUE, HierarchyModel
from dpdesk.ui.theme import SPACE, Theme, ThemeManager


@dataclass(frozen=True)
class Chosen:
    """The chosen values; ``level`` is None when they are of several levels (or there is none)."""

    level: int | None = None
    codes: tuple[int, ...] = ()
    labels: Sequence[str] = field(default=(), repr=False)

    @property
    def count(self) -> int:
        """How many values are chosen."""
        return len(self.codes)

    @property
    def values(self) -> tuple[str, ...]:
        """Their texts."""
        return tuple(self.labels[code] for code in self.codes)


class HierarchyTree(QTreeView):
    """Shows a :class:`HierarchyModel`; ``chosenChanged()`` when other values are chosen."""

    chosenChanged = Signal()

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._attribute = ""
        self.tree = HierarchyModel(theme, self)
        self.setModel(self.tree)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDragDropOverwriteMode(False)
        self.setDropIndicatorShown(True)
        self.setExpandsOnDoubleClick(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setAccessibleName(self.tr("Tree of the hierarchy"))
        self.setToolTip(
            self.tr("Right and left arrows unfold and fold; drag values onto a group to move them")
        )
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(ROWS, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(BELOW, QHeaderView.ResizeMode.Interactive)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def show_look(self, look: HierarchyAnswer | None) -> None:
        """Show a hierarchy; of the same attribute, the unfolded places stay unfolded."""
        attribute = look.attribute if look is not None else ""
        same = attribute == self._attribute and self.tree.look is not None
        if look is self.tree.look:
            return
        unfolded = self._unfolded() if same else []
        current = self._key(self.currentIndex()) if same else None
        self.tree.set_look(look)
        self._attribute = attribute
        if look is None:
            return
        self._on_theme(self._theme.theme)
        self._unfold_first(look)
        self._unfold(unfolded, look)
        if current is not None and self.tree.find(*current).isValid():
            self.setCurrentIndex(self.tree.find(*current))
        self.chosenChanged.emit()

    def show_level(self, level: int) -> None:
        """Emphasise a level."""
        self.tree.set_level(level)
        self.viewport().update()

    def chosen(self) -> Chosen:
        """What is chosen, read from ranges and not from single cells."""
        levels: set[int] = set()
        codes: list[int] = []
        for part in cast("list[QItemSelectionRange]", self.selectionModel().selection()):
            if part.left() <= VALUE <= part.right():
                level, found = self.tree.children_between(part.parent(), part.top(), part.bottom())
                levels.add(level)
                codes.extend(found)
        look = self.tree.look
        if len(levels) != 1 or look is None:
            return Chosen()
        level = levels.pop()
        return Chosen(level, tuple(codes), look.examined.preview.hierarchy.labels[level])

    def jump_to(self, level: int, label: str) -> bool:
        """Unfold the way to a value and choose it."""
        index = self.tree.find(level, label)
        if not index.isValid():
            return False
        self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        self.setCurrentIndex(index)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def rename_current(self) -> None:
        """Type over the name of the current group."""
        index = self.currentIndex().siblingAtColumn(VALUE)
        if index.isValid() and self.tree.flags(index) & Qt.ItemFlag.ItemIsEditable:
            self.edit(index)

    def selectAll(self) -> None:
        """Choose the siblings of the current value: an edit needs values of one level."""
        current = self.currentIndex()
        if not current.isValid():
            return
        parent = current.parent()
        last = self.tree.rowCount(parent) - 1
        first = self.tree.index(0, VALUE, parent)
        block = QItemSelection(first, self.tree.index(last, BELOW, parent))
        self.selectionModel().select(block, self.selectionModel().SelectionFlag.ClearAndSelect)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Tell that other values are chosen."""
        super().selectionChanged(selected, deselected)
        self.chosenChanged.emit()

    def _unfold_first(self, look: HierarchyAnswer) -> None:
        """Unfold from the top as long as few values appear."""
        index = self.tree.index(0, 0)
        self.expand(index)
        shape = look.shape
        if shape.height and shape.child_count(shape.height, 0) == 1:
            self.expand(self.tree.index(0, 0, index))

    def _unfold(self, nodes: Sequence[tuple[int, str]], look: HierarchyAnswer) -> None:
        """Unfold these; the view is laid out once, afterwards."""
        hierarchy = look.examined.preview.hierarchy
        codes: dict[int, dict[str, int]] = {}
        self.scheduleDelayedItemsLayout()
        for level, label in nodes:
            if level > hierarchy.height:
                continue
            if level not in codes:
                codes[level] = {text: code for code, text in enumerate(hierarchy.labels[level])}
            code = codes[level].get(label)
            if code is not None:
                self.setExpanded(self.tree.index_of(level, code), True)

    def _unfolded(self) -> list[tuple[int, str]]:
        """Level and label of the unfolded nodes, from the top down."""
        found: list[tuple[int, str]] = []
        waiting = [self.tree.index(0, 0)]
        while waiting:
            index = waiting.pop()
            if not self.isExpanded(index):
                continue
            level, code = self.tree.node(index)
            found.append((level, self.tree.label(level, code)))
            if level > 1:
                count = self.tree.rowCount(index)
                waiting.extend(self.tree.index(row, 0, index) for row in range(count))
        return found

    def _key(self, index: QModelIndex) -> tuple[int, str] | None:
        if not index.isValid():
            return None
        level, code = self.tree.node(index)
        return level, self.tree.label(level, code)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setIndentation(theme.icon)
        metrics = QFontMetrics(theme.font(bold=True))
        top = self.tree.index(0, 0)
        for section in (ROWS, BELOW):
            heading = self.tree.headerData(section, Qt.Orientation.Horizontal)
            texts = (str(heading), str(top.siblingAtColumn(section).data() or ""))
            widest = max(map(metrics.horizontalAdvance, texts))
            self.header().resizeSection(section, widest + 2 * SPACE.l)
        self.viewport().update()
