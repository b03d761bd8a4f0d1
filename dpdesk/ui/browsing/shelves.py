"""Dimensions as chips on shelves: rows, columns, filters; moved by mouse, menu or keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QMimeData, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QLabel, QMenu, QToolButton, QWidget

from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.words.counts import short_name

MIME = "application/x-dpdesk-dimension"
UNUSED, ROWS, COLUMNS, FILTERS = "unused", "rows", "columns", "filters"


@dataclass(frozen=True)
class ChipFacts:
    """What a chip says: the dimension, its level and how many, how many categories are kept."""

    column: str
    level: int
    levels: int
    kept: int
    categories: int

    @property
    def filtered(self) -> bool:
        """Whether some categories are left out."""
        return self.kept < self.categories


def mime_of(dimension: str) -> QMimeData:
    """What is carried when a chip is dragged."""
    data = QMimeData()
    data.setData(MIME, dimension.encode("utf-8"))
    return data


class Chip(QToolButton):
    """A dimension on a shelf.

    ``putAsked(str, str, int)``: dimension, shelf, number there (-1: last).
    ``levelAsked(str, int)``, ``chooseAsked(str)``, ``allAsked(str)``.
    """

    putAsked = Signal(str, str, int)
    levelAsked = Signal(str, int)
    chooseAsked = Signal(str)
    allAsked = Signal(str)

    def __init__(self, facts: ChipFacts, shelf: str, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.facts, self.shelf, self.place = facts, shelf, place
        self._pressed: QPoint | None = None
        set_look(self, "choice")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        name = words = short_name(facts.column)
        if facts.level and shelf in (ROWS, COLUMNS):
            words += self.tr(" (level {level})").format(level=facts.level)
        if facts.filtered:
            words += self.tr(" ▽ {kept} of {all}").format(kept=facts.kept, all=facts.categories)
        self.setText(words + "  ▾")
        self.setAccessibleName(self.tr("Dimension {name}").format(name=words))
        self.setToolTip(
            self.tr(
                "{name}: drag it to another shelf, or press Space for a menu; R rows, C columns, "
                "F filter, Del sum up, + and − drill down and roll up"
            ).format(name=name)
        )
        self.clicked.connect(self.open_menu)

    def make_menu(self) -> QMenu:
        """What can be done with the dimension."""
        menu = QMenu(self)
        facts, here = self.facts, self.shelf
        texts = {
            ROWS: self.tr("Put on &rows"),
            COLUMNS: self.tr("Put on &columns"),
            UNUSED: self.tr("&Sum up (take away)"),
        }
        for shelf, text in texts.items():
            if shelf != here and not (here == FILTERS and shelf == UNUSED):
                self._add(menu, text, ("put", shelf, -1))
        if here in (ROWS, COLUMNS):
            menu.addSeparator()
            if self.place > 0:
                self._add(menu, self.tr("Move &forward"), ("put", here, self.place - 1))
            self._add(menu, self.tr("Move &back"), ("put", here, self.place + 1))
            if facts.level + 1 < facts.levels:
                self._add(menu, self.tr("Roll &up"), ("level", "", facts.level + 1))
            if facts.level > 0:
                self._add(menu, self.tr("Drill &down"), ("level", "", facts.level - 1))
        menu.addSeparator()
        self._add(menu, self.tr("Choose ca&tegories…"), ("choose", "", 0))
        if facts.filtered:
            self._add(menu, self.tr("Keep &all categories"), ("all", "", 0))
        return menu

    def _add(self, menu: QMenu, text: str, wish: tuple[str, str, int]) -> None:
        action = QAction(text, menu)
        action.setData(wish)
        action.triggered.connect(self._on_action)
        menu.addAction(action)

    @Slot()
    def open_menu(self) -> None:
        """Open the menu below the chip."""
        menu = self.make_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

    @Slot()
    def _on_action(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.wish(*action.data())

    def wish(self, kind: str, shelf: str, number: int) -> None:
        """Emit one of the signals."""
        name = self.facts.column
        if kind == "put":
            self.putAsked.emit(name, shelf, number)
        elif kind == "level":
            self.levelAsked.emit(name, number)
        elif kind == "choose":
            self.chooseAsked.emit(name)
        else:
            self.allAsked.emit(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """R, C, F, Delete move the dimension, + and − change its level, Alt+arrows its place."""
        key, facts = event.key(), self.facts
        moves = {
            Qt.Key.Key_R: ROWS,
            Qt.Key.Key_C: COLUMNS,
            Qt.Key.Key_Delete: UNUSED,
            Qt.Key.Key_Backspace: UNUSED,
        }
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if alt and key in steps and self.shelf in (ROWS, COLUMNS):
            self.wish("put", self.shelf, max(0, self.place + steps[Qt.Key(key)]))
        elif key == Qt.Key.Key_Delete and self.shelf == FILTERS:
            self.wish("all", "", 0)
        elif key in moves and not event.modifiers():
            self.wish("put", moves[Qt.Key(key)], -1)
        elif key == Qt.Key.Key_F and not event.modifiers():
            self.wish("choose", "", 0)
        elif key == Qt.Key.Key_Minus and facts.level + 1 < facts.levels:
            self.wish("level", "", facts.level + 1)
        elif key == Qt.Key.Key_Plus and facts.level > 0:
            self.wish("level", "", facts.level - 1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember where, for a drag."""
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Carry the dimension away once the mouse has moved far enough."""
        far = QApplication.startDragDistance()
        here = event.position().toPoint()
        if self._pressed is None or (here - self._pressed).manhattanLength() < far:
            return
        self._pressed = None
        self.setDown(False)
        drag = QDrag(self)
        drag.setMimeData(mime_of(self.facts.column))
        drag.setPixmap(self.grab())
        drag.exec(Qt.DropAction.MoveAction)


class Shelf(QFrame):
    """A place for chips; ``dropped(str, str, int)``: dimension, this shelf, number there."""

    dropped = Signal(str, str, int)

    def __init__(self, key: str, title: str, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key, self._hint = key, hint
        self.chips: list[Chip] = []
        set_look(self, "card")
        self.setAcceptDrops(True)
        self.setAccessibleName(title)
        self.setToolTip(hint)
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        name = QLabel(title)
        set_look(name, "strong")
        layout.addWidget(name)
        self._box = FlowBox(gap=SPACE.xs)
        layout.addWidget(self._box)
        self._empty = QLabel(hint)
        self._empty.setWordWrap(True)
        set_look(self._empty, "note")
        layout.addWidget(self._empty)

    def show_chips(self, facts: Sequence[ChipFacts]) -> list[Chip]:
        """Put these dimensions on the shelf."""
        for chip in self.chips:
            self._box.remove(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = [Chip(each, self.key, place, self) for place, each in enumerate(facts)]
        for chip in self.chips:
            self._box.add(chip)
        self._box.setVisible(bool(facts))
        self._empty.setVisible(not facts)
        return self.chips

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take dimensions, and show that."""
        if event.mimeData().hasFormat(MIME):
            set_look(self, "drop")
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Look as before."""
        set_look(self, "card")

    def dropEvent(self, event: QDropEvent) -> None:
        """A dimension was dropped: before the chip that it was dropped on."""
        set_look(self, "card")
        name = bytes(event.mimeData().data(MIME).data()).decode("utf-8")
        event.acceptProposedAction()
        self.dropped.emit(name, self.key, self._number_at(event.position().toPoint(), name))

    def _number_at(self, place: QPoint, name: str) -> int:
        others = [chip for chip in self.chips if chip.facts.column != name]
        for number, chip in enumerate(others):
            at = chip.mapTo(self, chip.rect().center())
            if place.y() <= at.y() + chip.height() // 2 and place.x() < at.x():
                return number
        return -1
