"""The tree, below it what lacks a place and the tools of editing by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionRange,
    QModelIndex,
    QStringListModel,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QFontMetrics, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCompleter,
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPushButton,
    QToolButton,
    QTreeView,
    QWidget,
)

from dpdesk.ui.panels.hierarchies.presenter import (
    BELOW,
    ROWS,
    VALUE,
    HierarchyModel,
    lacking_sentence,
)
from dpdesk.ui.panels.hierarchies.tasks import Edit, EditKind, HierarchyAnswer, shown, takes_place
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column, row
from dpdesk.ui.widgets.choices import MANY_LINES
from dpdesk.ui.widgets.layouts import FlowBox
from dpdesk.ui.words.numbers import grouped, short_name
from dpdesk.ui.words.spoken import in_window

LISTED_AT_MOST = 200
LINES = 3


class LackingBox(QFrame):
    """``jumpAsked(str)`` names a value to go to; ``addAsked()`` wants a place for all of them."""

    jumpAsked = Signal(str)
    addAsked = Signal()

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._theme = theme
        self._count = 0
        set_look(self, "band-caution")
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self.listing = QListWidget()
        self.listing.setAccessibleName(self.tr("Values without a place"))
        self.listing.setToolTip(self.tr("Click or press Enter to go to the value in the tree"))
        self.add = QPushButton(self.tr("Keep ea&ch value separate"))
        self.add.setToolTip(
            self.tr("Give each a place of its own, directly below the top; it can be moved later")
        )
        self.add.setAccessibleName(self.tr("Keep each value separate"))
        layout.addWidget(self._sentence)
        layout.addWidget(self.listing)
        layout.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)
        self.listing.itemActivated.connect(self._on_item)
        self.listing.itemClicked.connect(self._on_item)
        self.add.clicked.connect(self.addAsked)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.hide()

    def show_look(self, look: HierarchyAnswer | None) -> None:
        """List what lacks; hidden when nothing does."""
        lacking = () if look is None else look.examined.lacking
        self.setVisible(bool(lacking))
        self._count = len(lacking)
        self.listing.clear()
        self._on_theme(self._theme.theme)
        if look is None or not lacking:
            return
        self._sentence.setText("△ " + lacking_sentence(look))
        for count in lacking[:LISTED_AT_MOST]:
            text = self.tr("{value} · {rows} rows").format(
                value=shown(count.value), rows=grouped(count.rows)
            )
            item = QListWidgetItem(text)
            item.setData(Qt.ItemDataRole.UserRole, count.value)
            self.listing.addItem(item)

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        self.jumpAsked.emit(str(item.data(Qt.ItemDataRole.UserRole)))

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        lines = min(max(self._count, 1), LINES)
        self.listing.setFixedHeight(theme.target * lines + SPACE.s)


class Prompt(QFrame):
    """``accepted(str)`` after Enter, ``rejected()`` after Escape; errors stand below the line."""

    accepted = Signal(str)
    rejected = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "sunken")
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        self._question = QLabel()
        self._question.setWordWrap(True)
        self.line = QLineEdit()
        self._question.setBuddy(self.line)
        self._completer = QCompleter(self)
        self._completer.setModel(QStringListModel(self._completer))
        self._completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.line.setCompleter(self._completer)
        self.ok = QPushButton(self.tr("OK"))
        self.ok.setToolTip(self.tr("Make the change (Enter)"))
        self.ok.setAccessibleName(self.tr("Make the change"))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setToolTip(self.tr("Leave everything as it is (Escape)"))
        self.cancel.setAccessibleName(self.tr("Leave everything as it is"))
        self._error = QLabel()
        self._error.setWordWrap(True)
        set_look(self._error, "fail")
        line = row()
        line.addWidget(self.line, 1)
        line.addWidget(self.ok)
        line.addWidget(self.cancel)
        layout.addWidget(self._question)
        layout.addLayout(line)
        layout.addWidget(self._error)
        self.line.returnPressed.connect(self._on_ok)
        self.ok.clicked.connect(self._on_ok)
        self.cancel.clicked.connect(self.close_prompt)
        self.hide()

    @property
    def question(self) -> str:
        """What is asked."""
        return self._question.text()

    @property
    def error(self) -> str:
        """The error on show."""
        return self._error.text()

    def ask(self, question: str, text: str = "", offers: Sequence[str] = ()) -> None:
        """Ask; ``offers`` complete what is typed."""
        self._question.setText(question)
        self.line.setAccessibleName(question)
        self.line.setToolTip(question)
        model = self._completer.model()
        if isinstance(model, QStringListModel):
            model.setStringList(list(offers))
        self.line.setText(text)
        self.line.selectAll()
        self.show_error("")
        self.show()
        self.line.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_error(self, sentence: str) -> None:
        """Say why the change could not be made."""
        self._error.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self._error.setVisible(bool(sentence))

    @Slot()
    def close_prompt(self) -> None:
        """Take the question away."""
        if not self.isHidden():
            self.hide()
            self.rejected.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_prompt()
            return
        super().keyPressEvent(event)

    @Slot()
    def _on_ok(self) -> None:
        self.accepted.emit(self.line.text().strip())


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


@dataclass(frozen=True)
class TreeState:
    """How a tree was left: nodes by level and label, and the place of its scroll bar."""

    height: int
    unfolded: tuple[tuple[int, str], ...]
    current: tuple[int, str] | None
    scrolled: int


class HierarchyTree(QTreeView):
    """Shows a :class:`HierarchyModel`; ``chosenChanged()`` when other values are chosen."""

    chosenChanged = Signal()

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._theme = theme
        self._attribute = ""
        self._left: dict[str, TreeState] = {}
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
        """Show a hierarchy; what was unfolded, chosen and in sight of an attribute stays so."""
        if look is self.tree.look:
            return
        if self.tree.look is not None:
            self._left[self._attribute] = self._state(self.tree.look)
        self.tree.set_look(look)
        self._attribute = look.attribute if look is not None else ""
        if look is None:
            return
        self._on_theme(self._theme.theme)
        left = self._left.get(self._attribute)
        if left is None:
            self._unfold_first(look)
        else:
            self._take_up(left, look)
        self.chosenChanged.emit()

    def _state(self, look: HierarchyAnswer) -> TreeState:
        height = look.examined.preview.hierarchy.height
        current, scrolled = self._key(self.currentIndex()), self.verticalScrollBar().value()
        return TreeState(height, tuple(self._unfolded()), current, scrolled)

    def _take_up(self, left: TreeState, look: HierarchyAnswer) -> None:
        """Go on as it was left; levels may have come or gone since."""
        shift = look.examined.preview.hierarchy.height - left.height
        moved = [(level + shift, label) for level, label in left.unfolded] if shift else []
        self._unfold([*left.unfolded, *moved], look)
        current = QModelIndex() if left.current is None else self.tree.find(*left.current)
        above = current.parent()
        if current.isValid() and (not above.isValid() or self.isExpanded(above)):
            self.setCurrentIndex(current)  # it would unfold what is folded above it
        self.doItemsLayout()
        self.verticalScrollBar().setValue(left.scrolled)

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
        self._go_to(index)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        return True

    def show_node(self, level: int, code: int) -> None:
        """Unfold the way to a node and choose it; the focus stays."""
        self._go_to(self.tree.index_of(level, code))

    def _go_to(self, index: QModelIndex) -> None:
        self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)
        self.setCurrentIndex(index)

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
            if not 0 <= level <= hierarchy.height:
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


OFFERS_AT_MOST = 2_000


class NodeFinder(QWidget):
    """Above a long tree: goes to nodes that hold what is typed, by Enter and Shift+Enter."""

    def __init__(self, tree: HierarchyTree) -> None:
        super().__init__()
        self._tree = tree
        self._found: list[tuple[int, int]] = []
        self._at = 0
        line = row(self, gap=SPACE.s)
        self.line = QLineEdit()
        self.line.setPlaceholderText(self.tr("find"))
        self.line.setClearButtonEnabled(True)
        self.line.setAccessibleName(self.tr("Find a value or group"))
        self.line.setToolTip(
            self.tr("Enter goes to the next match, Shift+Enter to the previous one")
        )
        self.count = QLabel()
        set_look(self.count, "note")
        line.addWidget(self.line, 1)
        line.addWidget(self.count)
        self.line.textChanged.connect(self._search)
        self.hide()

    def show_look(self, look: HierarchyAnswer | None) -> None:
        """Search another tree; a short one is seen at a glance."""
        leaves = () if look is None else look.examined.preview.hierarchy.leaves
        self.setVisible(len(leaves) > MANY_LINES)
        if self.isHidden():
            self.line.clear()
        self._search(go=False)

    @Slot(str)
    def _search(self, text: str = "", *, go: bool = True) -> None:
        self._found, self._at = self._tree.tree.search(self.line.text()), 0
        if go:
            self._go()
        else:
            self._count()

    def _go(self) -> None:
        if self._found:
            self._tree.show_node(*self._found[self._at])
        self._count()

    def _count(self) -> None:
        if not self.line.text().strip():
            words = ""
        elif not self._found:
            words = self.tr("not found")
        else:
            words = self.tr("{n} of {count}").format(
                n=grouped(self._at + 1), count=grouped(len(self._found))
            )
        self.count.setText(words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter goes on, Shift+Enter back, Down into the tree, Escape empties the field."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._found:
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._at = (self._at + (-1 if back else 1)) % len(self._found)
            self._go()
        elif event.key() == Qt.Key.Key_Down:
            self._tree.setFocus(Qt.FocusReason.OtherFocusReason)
        elif event.key() == Qt.Key.Key_Escape and self.line.text():
            self.line.clear()
        else:
            super().keyPressEvent(event)


class TreePane(QWidget):
    """``editAsked(Edit)`` when the user wants the tree to be changed."""

    editAsked = Signal(object)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._look: HierarchyAnswer | None = None
        self._pending: Edit | None = None
        self._waiting = False
        layout = column(self, gap=SPACE.s)
        self.lacking = LackingBox(theme)
        self.tree = HierarchyTree(theme)
        self.prompt = Prompt()
        self._error = QLabel()
        self._error.setWordWrap(True)
        set_look(self._error, "fail")
        self._error.hide()
        self.finder = NodeFinder(self.tree)
        layout.addWidget(self.finder)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.lacking)  # below: what is being clicked stays where it is
        layout.addWidget(self._error)
        layout.addWidget(self.prompt)
        layout.addWidget(self._build_tools())
        self._connect()
        self._refresh()

    # -- what is shown

    def show_look(self, look: HierarchyAnswer | None, level: int) -> None:
        """Show a hierarchy and emphasise a level."""
        if look is not self._look:
            self._waiting = False
            self._look = look
            self.show_error("")
            self.prompt.close_prompt()
            self.lacking.show_look(look)
            self.tree.show_look(look)
            self.finder.show_look(look)
        self.tree.show_level(level)
        self._refresh()

    def edit_failed(self, sentence: str) -> None:
        """Say why the last edit could not be made."""
        self._waiting = False
        if self.prompt.isVisible():
            self.prompt.show_error(sentence)
        else:
            self.show_error(sentence)
        self._refresh()

    def show_error(self, sentence: str) -> None:
        """A sentence below the tree."""
        self._error.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self._error.setVisible(bool(sentence))

    @property
    def error(self) -> str:
        """The sentence below the tree."""
        return self._error.text()

    @property
    def actions_(self) -> dict[str, QAction]:
        """The edits, by name."""
        return self._actions

    # -- building

    def _build_tools(self) -> FlowBox:
        self._actions = {
            "group": self._action(self.tr("Group…"), "Ctrl+G", self._on_group),
            "rename": self._action(self.tr("Rename"), "", self._on_rename),
            "move": self._action(self.tr("Move to…"), "Ctrl+M", self._on_move),
            "insert": self._action(self.tr("Add a level above"), "", self._on_insert),
            "drop": self._action(self.tr("Remove this level"), "", self._on_drop),
            "sort": self._action(self.tr("Sort"), "", self._on_sort),
            "remove": self._action(self.tr("Remove unused values"), "Del", self._on_remove),
        }
        tips = {
            "group": self.tr("Put the chosen values under a new label (Ctrl+G)"),
            "rename": self.tr("Type another name for the chosen group (F2)"),
            "move": self.tr("Move the chosen values below another group (Ctrl+M)"),
            "insert": self.tr("Add a level above that of the chosen value"),
            "drop": self.tr("Remove the level of the chosen value"),
            "sort": self.tr("Put groups and values in natural order"),
            "remove": self.tr("Remove chosen values that do not occur in the data (Del)"),
        }
        for name, tip in tips.items():
            self._actions[name].setToolTip(tip)
        line = FlowBox(gap=SPACE.xs)
        self.buttons: dict[str, QPushButton] = {}
        letters = {"group": self.tr("&Group…"), "rename": self.tr("Re&name")}
        letters["move"] = self.tr("&Move to…")
        for name, text in letters.items():
            button = QPushButton(text)
            button.setAccessibleName(text.replace("&", "").rstrip("…"))
            button.setToolTip(tips[name])
            button.clicked.connect(self._actions[name].trigger)
            self.buttons[name] = button
            line.add(button)
        line.add(self._build_more())
        return line

    def _build_more(self) -> QToolButton:
        self.more = QToolButton()
        self.more.setText(self.tr("M&ore"))
        self.more.setAccessibleName(self.tr("More edits of the tree"))
        self.more.setToolTip(self.tr("Add or remove levels, sort, remove unused values"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        menu = QMenu(self.more)
        menu.setToolTipsVisible(True)
        for name in ("insert", "drop", "sort", "remove"):
            menu.addAction(self._actions[name])
        self.more.setMenu(menu)
        return self.more

    def _action(self, text: str, keys: str, slot: object) -> QAction:
        action = QAction(text, self.tree)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.triggered.connect(slot)
        self.tree.addAction(action)
        return action

    def _connect(self) -> None:
        self.tree.chosenChanged.connect(self._refresh)
        self.tree.tree.editAsked.connect(self._ask)
        self.lacking.jumpAsked.connect(self._on_jump)
        self.lacking.addAsked.connect(self._on_add)
        self.prompt.accepted.connect(self._on_label)
        self.prompt.rejected.connect(self._on_rejected)

    # -- edits

    @Slot()
    def _refresh(self) -> None:
        """Which edits can be made with what is chosen."""
        chosen = self.tree.chosen() if self._look is not None else Chosen()
        level, look = chosen.level, self._look
        free = look is not None and not self._waiting
        below_top = free and look is not None and level is not None and level < look.height
        inner = below_top and level is not None and level > 0
        one_group = free and bool(level) and chosen.count == 1
        possible = {
            "group": below_top,
            "rename": one_group,
            "move": below_top and look is not None and level is not None,
            "insert": below_top,
            "drop": inner,
            "sort": free,
            "remove": free and level == 0,
        }
        for name, enabled in possible.items():
            self._actions[name].setEnabled(bool(enabled))
        for name, button in self.buttons.items():
            button.setEnabled(bool(possible[name]))

    @Slot()
    def _on_group(self) -> None:
        chosen = self.tree.chosen()
        if chosen.level is None:
            return
        self._pending = Edit(EditKind.GROUP, chosen.level, chosen.values)
        question = self.tr("Label of the new group of {n} values:")
        look = self._look
        if look is not None and takes_place(look.examined.preview.hierarchy, chosen.level):
            question = self.tr(
                "Label of the group that takes the place of these {n} (“Add a level above” first "
                "keeps them below it):"
            )
        elif chosen.count == 1:
            question = self.tr("Label of the new group of {value}:")
        n, value = grouped(chosen.count), short_name(chosen.values[0])
        self.prompt.ask(question.format(n=n, value=value), _common_start(chosen.values))

    @Slot()
    def _on_move(self) -> None:
        chosen, look = self.tree.chosen(), self._look
        if chosen.level is None or look is None:
            return
        self._pending = Edit(EditKind.MOVE, chosen.level, chosen.values)
        question = self.tr("Move {n} values to the group (of level {level}):")
        if chosen.count == 1:
            question = self.tr("Move {value} to the group (of level {level}):")
        labels = look.examined.preview.hierarchy.labels[chosen.level + 1]
        text = question.format(
            n=grouped(chosen.count), value=short_name(chosen.values[0]), level=chosen.level + 1
        )
        self.prompt.ask(text, "", labels[:OFFERS_AT_MOST])

    @Slot(str)
    def _on_label(self, label: str) -> None:
        pending = self._pending
        if pending is not None:
            self._ask(Edit(pending.kind, pending.level, pending.values, label))

    @Slot()
    def _on_rejected(self) -> None:
        self._pending = None
        self.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _on_rename(self) -> None:
        self.tree.rename_current()

    @Slot()
    def _on_insert(self) -> None:
        self._ask_of_level(EditKind.INSERT_LEVEL)

    @Slot()
    def _on_drop(self) -> None:
        self._ask_of_level(EditKind.REMOVE_LEVEL)

    def _ask_of_level(self, kind: EditKind) -> None:
        chosen = self.tree.chosen()
        if chosen.level is not None:
            self._ask(Edit(kind, chosen.level))

    @Slot()
    def _on_sort(self) -> None:
        self._ask(Edit(EditKind.SORT))

    @Slot()
    def _on_remove(self) -> None:
        chosen, look = self.tree.chosen(), self._look
        if look is None or chosen.level != 0:
            return
        preview = look.examined.preview
        codes = preview.hierarchy.leaf_codes
        unused = tuple(value for value in chosen.values if not preview.rows[0][codes[value]])
        if unused:
            self._ask(Edit(EditKind.REMOVE, 0, unused))
        else:
            self.show_error(
                self.tr("Only values that do not occur in the data can be removed; these do.")
            )

    @Slot(str)
    def _on_jump(self, value: str) -> None:
        self.tree.jump_to(0, value)

    @Slot()
    def _on_add(self) -> None:
        if self._look is not None:
            values = tuple(count.value for count in self._look.examined.lacking)
            self._ask(Edit(EditKind.ADD, 0, values))

    @Slot(object)
    def _ask(self, edit: Edit) -> None:
        self.show_error("")
        self._waiting = True
        self._refresh()
        self.editAsked.emit(edit)


def _common_start(values: tuple[str, ...]) -> str:
    """What the values begin with, as a first idea for a label."""
    first, last = min(values), max(values)
    length = next(
        (n for n, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]),
        min(len(first), len(last)),
    )
    start = first[:length].strip(" -_,.([")
    return start if len(start) > 2 and len(values) > 1 else ""
