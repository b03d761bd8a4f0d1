"""The tree with what lacks a place above it and the tools of editing by hand below it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QToolButton, QWidget

from dpdesk.ui.panels.hierarchies.edits import Edit, EditKind
from dpdesk.ui.panels.hierarchies.lacking_box import LackingBox
from dpdesk.ui.panels.hierarchies.prompt import Prompt
from dpdesk.ui.panels.hierarchies.tasks import HierarchyAnswer
from dpdesk.ui.panels.hierarchies.tree_view import Chosen, HierarchyTree
from dpdesk.ui.theme import SPACE, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wording import in_window
from dpdesk.ui.words.counts import short_name
from dpdesk.ui.words.numbers import grouped

OFFERS_AT_MOST = 2_000


class TreePane(QWidget):
    """``editAsked(Edit)`` when the user wants the tree to be changed."""

    editAsked = Signal(object)

    def __init__(self, theme: ThemeManager, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        layout.addWidget(self.lacking)
        layout.addWidget(self.tree, 1)
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
        if chosen.count == 1:
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
