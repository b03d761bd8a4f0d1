"""The tree of a hierarchy as a Qt model: any number of leaves, children made when asked for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractItemModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFont

from dpdesk.ui.models.table import guarded
from dpdesk.ui.panels.hierarchies.tasks import Edit, EditKind, HierarchyAnswer, shown
from dpdesk.ui.theme import Theme, ThemeManager
from dpdesk.ui.words.numbers import grouped

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
MIME = "application/x-dpdesk-hierarchy-values"
VALUE, ROWS, BELOW = range(3)
_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_TOP_LEAF = _PLAIN | Qt.ItemFlag.ItemNeverHasChildren
_LEAF = _TOP_LEAF | Qt.ItemFlag.ItemIsDragEnabled
_TOP = _PLAIN | Qt.ItemFlag.ItemIsDropEnabled
_TOP_NAME = _TOP | Qt.ItemFlag.ItemIsEditable
_GROUP = _TOP | Qt.ItemFlag.ItemIsDragEnabled
_GROUP_NAME = _GROUP | Qt.ItemFlag.ItemIsEditable
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class HierarchyModel(QAbstractItemModel):
    """Nodes are numbered as in :class:`TreeShape`; the number is the index's internal id.

    ``editAsked(Edit)`` carries what typing over a name or dropping values means.
    """

    editAsked = Signal(object)

    def __init__(self, theme: ThemeManager, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._look: HierarchyAnswer | None = None
        self._level = 0
        self._known: dict[int, list[int]] = {}
        self._leaves = self._nodes = 0
        self._dragged: tuple[int, tuple[str, ...]] | None = None
        self._headings = (self.tr("Value"), self.tr("Rows"), self.tr("Values"))
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    @property
    def look(self) -> HierarchyAnswer | None:
        """What is shown."""
        return self._look

    def set_look(self, look: HierarchyAnswer | None) -> None:
        """Show another hierarchy."""
        self.beginResetModel()
        self._look = look
        self._known = {}
        sizes = [] if look is None else [len(one) for one in look.shape.lacking]
        self._leaves, self._nodes = (sizes[0], sum(sizes)) if sizes else (0, 0)
        self.endResetModel()

    def set_level(self, level: int) -> None:
        """Emphasise the values of a level."""
        self._level = level

    # -- nodes

    def node(self, index: Index) -> tuple[int, int]:
        """Level and code of an index."""
        assert self._look is not None
        return self._look.shape.node(index.internalId())

    def index_of(self, level: int, code: int) -> QModelIndex:
        """The index of a node."""
        if self._look is None:
            return QModelIndex()
        shape = self._look.shape
        return self.createIndex(shape.row(level, code), 0, shape.number(level, code))

    def find(self, level: int, label: str) -> QModelIndex:
        """The index of a value, by its text."""
        if self._look is None or not 0 <= level <= self._look.height:
            return QModelIndex()
        labels = self._look.examined.preview.hierarchy.labels[level]
        return self.index_of(level, labels.index(label)) if label in labels else QModelIndex()

    def search(self, text: str) -> list[tuple[int, int]]:
        """Level and code of all nodes that hold these words, groups before their values."""
        words = text.casefold().split()
        if self._look is None or not words:
            return []
        levels = self._look.examined.preview.hierarchy.labels
        return [
            (level, code)
            for level in reversed(range(len(levels)))
            for code, label in enumerate(levels[level])
            if all(word in label.casefold() for word in words)
        ]

    def label(self, level: int, code: int) -> str:
        """The text of a node."""
        assert self._look is not None
        return self._look.examined.preview.hierarchy.labels[level][code]

    def children_between(self, parent: Index, first: int, last: int) -> tuple[int, list[int]]:
        """Level and codes of some children of a node."""
        assert self._look is not None
        shape = self._look.shape
        if not parent.isValid():
            return shape.height, [0]
        level, code = self.node(parent)
        return level - 1, shape.children(level, code, first, last).tolist()

    # -- the model's own duties

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        """The index of a child."""
        if self._look is None or not 0 <= column < len(self._headings) or row < 0:
            return QModelIndex()
        if not parent.isValid():
            shape = self._look.shape
            top = shape.number(shape.height, 0)
            return self.createIndex(0, column, top) if row == 0 else QModelIndex()
        children = self._children(parent.internalId())
        if parent.column() != 0 or row >= len(children):
            return QModelIndex()
        return self.createIndex(row, column, children[row])

    def _children(self, number: int) -> list[int]:
        """Numbers of the children of a node; kept, because a view asks for each row alone."""
        known = self._known.get(number)
        if known is None:
            assert self._look is not None
            shape = self._look.shape
            level, code = shape.node(number)
            known = []
            if level:
                count = shape.child_count(level, code)
                known = (
                    shape.children(level, code, 0, count - 1) + shape.offsets[level - 1]
                ).tolist()
            self._known[number] = known
        return known

    def parent(self, index: Index = _ROOT) -> QModelIndex:  # type: ignore[override]
        """The node above."""
        if self._look is None or not index.isValid():
            return QModelIndex()
        level, code = self.node(index)
        if level == self._look.height:
            return QModelIndex()
        above = int(self._look.examined.preview.hierarchy.parents[level][code])
        return self.index_of(level + 1, above)

    def rowCount(self, parent: Index = _ROOT) -> int:
        """Number of children."""
        if self._look is None or parent.column() > 0:
            return 0
        if not parent.isValid():
            return 1
        return len(self._children(parent.internalId()))

    def hasChildren(self, parent: Index = _ROOT) -> bool:
        """Whether a node can be unfolded; the values of the data cannot."""
        if self._look is None or parent.column() > 0:
            return False
        return not parent.isValid() or parent.internalId() >= self._leaves

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Value, rows, values below."""
        return len(self._headings)

    @guarded
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._headings):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section != VALUE:
            return _RIGHT
        return None

    @guarded
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Texts, and how they look."""
        if self._look is None or not index.isValid():
            return None
        level, code = self.node(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(level, code, index.column())
        if role == Qt.ItemDataRole.EditRole:
            return self.label(level, code)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if index.column() != VALUE else None
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(level, code)
        if role == Qt.ItemDataRole.FontRole:
            return self._bold if level == self._level else None
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(level, code)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Values can be dragged, groups take drops, names of groups can be typed over."""
        if self._look is None or not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        number = index.internalId()
        if number < self._leaves:
            return _TOP_LEAF if self._leaves == self._nodes else _LEAF
        if number == self._nodes - 1:
            return _TOP_NAME if index.column() == VALUE else _TOP
        return _GROUP_NAME if index.column() == VALUE else _GROUP

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for another name; the tree changes when the edit has been made."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        level, code = self.node(index)
        old = self.label(level, code)
        if str(value) != old:
            self.editAsked.emit(Edit(EditKind.RENAME, level, (old,), str(value)))
        return False

    # -- drag and drop

    def supportedDropActions(self) -> Qt.DropAction:
        """Values are moved."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Values of this tree only."""
        return [MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Remember what is dragged; the bytes only mark it as ours."""
        nodes = [self.node(index) for index in indexes if index.column() == VALUE]
        levels = {level for level, _ in nodes}
        self._dragged = None
        if len(levels) == 1:
            values = tuple(self.label(level, code) for level, code in nodes)
            self._dragged = (levels.pop(), values)
        data = QMimeData()
        data.setData(MIME, b"values")
        return data

    def canDropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Only groups of the level above take the values."""
        if not data.hasFormat(MIME) or self._dragged is None or not parent.isValid():
            return False
        return self.node(parent)[0] == self._dragged[0] + 1

    def dropMimeData(
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Ask for the move; the view must not remove rows by itself."""
        if not self.canDropMimeData(data, action, row, column, parent) or self._dragged is None:
            return False
        level, values = self._dragged
        self.editAsked.emit(Edit(EditKind.MOVE, level, values, self.label(*self.node(parent))))
        return False

    # -- texts

    def _rows(self, level: int, code: int) -> int:
        assert self._look is not None
        return int(self._look.examined.preview.rows[level][code])

    def _below(self, level: int, code: int) -> int:
        assert self._look is not None
        return self._look.shape.child_count(level, code)

    def _text(self, level: int, code: int, column: int) -> str:
        if column == ROWS:
            return grouped(self._rows(level, code))
        if column == BELOW:
            return grouped(self._below(level, code)) if level else ""
        label = self.label(level, code)
        name = shown(label)
        if self._is_missing(level, code):
            words = self.tr("{name} · missing") if label else self.tr("missing (empty)")
            return words.format(name=name)
        return f"! {name}" if self._lacks(level, code) else name

    def _is_missing(self, level: int, code: int) -> bool:
        assert self._look is not None
        return level < self._look.height and bool(self._look.shape.missing[level][code])

    def _lacks(self, level: int, code: int) -> bool:
        assert self._look is not None
        return bool(self._look.shape.lacking[level][code])

    def _colour(self, level: int, code: int) -> QColor | None:
        if self._lacks(level, code):
            return self._caution
        if self._rows(level, code) == 0:
            return self._pale
        return None

    def _words(self, level: int, code: int) -> str:
        name = shown(self.label(level, code))
        rows = self._rows(level, code)
        if self._lacks(level, code):
            template = self.tr("{name}: in the data ({rows} rows), but without a place in the tree")
        elif self._is_missing(level, code):
            template = self.tr("{name}: a missing value, {rows} rows")
        elif rows == 0:
            template = self.tr("{name}: does not occur in the data")
        elif level == 0:
            template = self.tr("{name}: {rows} rows")
        else:
            template = self.tr("{name}: {rows} rows, level {level}, {below} values below")
        return template.format(
            name=name, rows=grouped(rows), level=level, below=grouped(self._below(level, code))
        )

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        tokens = theme.tokens
        self._caution, self._pale = QColor(tokens.caution), QColor(tokens.muted)
        self._bold: QFont = theme.font(bold=True)
