"""The left side: dimensions as chips on shelves, kept categories, measure, marked share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.pivot import BrowseState
from dpdesk.core.query import Askable
from dpdesk.ui.browsing.words import measure_words, percent_words
from dpdesk.ui.forms.spin import NarrowCombo, NarrowDoubleSpin
from dpdesk.ui.theme import SPACE, Theme, ThemeManager, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox, SteadyArea, leave_wheel
from dpdesk.ui.widgets.states import button, labelled
from dpdesk.ui.words.numbers import short_name, shortened

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
        self.setAccessibleName(self.tr("{name}, dimension").format(name=words))
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
            UNUSED: self.tr("&Sum up (remove)"),
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

    def __init__(self, key: str, title: str, hint: str) -> None:
        super().__init__()
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


PATIENCE_MS = 250


class KeepList(QFrame):
    """``kept(str, object)``: a dimension, and the categories to keep (None: all).

    Nothing is asked for while no category is ticked, and several ticks in a row are one wish.
    """

    kept = Signal(str, object)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._column = ""
        set_look(self, "card")
        layout = column(self, margin=SPACE.s, gap=SPACE.xs)
        self._title = QLabel()
        self._title.setWordWrap(True)
        set_look(self._title, "strong")
        self.list = QListWidget()
        self.list.itemChanged.connect(self._on_changed)
        self._empty = QLabel(self.tr("Check at least one category."))
        set_look(self._empty, "caution")
        line = FlowBox(gap=SPACE.xs)
        self.all = button(self.tr("&All"), self.tr("Keep all categories"))
        self.none = button(self.tr("&None"), self.tr("Uncheck all, to check a few"))
        self.close_button = button(self.tr("&Close"), self.tr("Close this list; it stays as it is"))
        self.all.clicked.connect(self._on_all)
        self.none.clicked.connect(self._on_none)
        self.close_button.clicked.connect(self.hide)
        for one in (self.all, self.none, self.close_button):
            line.add(one)
        for widget in (self._title, self.list, self._empty, line):
            layout.addWidget(widget)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(PATIENCE_MS)
        self._patience.timeout.connect(self._tell)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)
        self.hide()

    @property
    def dimension(self) -> str:
        """The dimension whose categories are listed; empty while none is."""
        return self._column if not self.isHidden() else ""

    def open(self, name: str, categories: Sequence[str], kept: Sequence[str] | None) -> None:
        """List the categories of a dimension, those that are kept ticked."""
        self._column = name
        name = short_name(name)
        self._title.setText(self.tr("Keep in {name}").format(name=name))
        self.list.setAccessibleName(self.tr("Categories of {name} to keep").format(name=name))
        self.list.setToolTip(self.tr("Space checks a category"))
        self._fill(categories, categories if kept is None else kept)
        self.show()

    def refresh(self, kept: Sequence[str] | None) -> None:
        """Tick what is kept now; asks for nothing."""
        texts = [self.list.item(i).data(Qt.ItemDataRole.UserRole) for i in range(self.list.count())]
        self._fill(texts, texts if kept is None else kept)

    def _fill(self, categories: Sequence[str], kept: Sequence[str]) -> None:
        present, known = self.list.currentRow(), frozenset(kept)
        self._patience.stop()
        self.list.blockSignals(True)
        self.list.clear()
        for text in categories:
            item = QListWidgetItem(shortened(text) or self.tr("(empty)"))
            item.setData(Qt.ItemDataRole.UserRole, text)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            state = Qt.CheckState.Checked if text in known else Qt.CheckState.Unchecked
            item.setCheckState(state)
            self.list.addItem(item)
        self.list.setCurrentRow(max(0, present))
        self.list.blockSignals(False)
        self._empty.setVisible(not known)

    def ticked(self) -> tuple[str, ...]:
        """The categories that are ticked."""
        items = (self.list.item(i) for i in range(self.list.count()))
        return tuple(
            str(item.data(Qt.ItemDataRole.UserRole))
            for item in items
            if item.checkState() is Qt.CheckState.Checked
        )

    @Slot()
    def _on_changed(self) -> None:
        self._empty.setVisible(not self.ticked())
        self._patience.start()

    @Slot()
    def _tell(self) -> None:
        ticked = self.ticked()
        if ticked:
            self.kept.emit(self._column, None if len(ticked) == self.list.count() else ticked)

    @Slot()
    def _on_all(self) -> None:
        self._tick(Qt.CheckState.Checked)

    @Slot()
    def _on_none(self) -> None:
        self._tick(Qt.CheckState.Unchecked)
        self.list.setFocus()

    def _tick(self, state: Qt.CheckState) -> None:
        self.list.blockSignals(True)
        for i in range(self.list.count()):
            self.list.item(i).setCheckState(state)
        self.list.blockSignals(False)
        self._on_changed()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.list.setMinimumHeight(theme.row * 6)


USUAL_SHARE = 30.0
_LEAST_EMS = 34


class BrowseSide(QWidget):
    """Wishes as signals: ``putAsked(str, str, int)`` a dimension, a shelf, a number there;
    ``levelAsked(str, int)``, ``keptAsked(str, object)``, ``measureAsked(str)``,
    ``percentAsked(str)``, ``turnAsked()``, ``shareChanged(float)`` with a share from 0 to 1.
    """

    putAsked = Signal(str, str, int)
    levelAsked = Signal(str, int)
    keptAsked = Signal(str, object)
    measureAsked = Signal(str)
    percentAsked = Signal(str)
    turnAsked = Signal()
    shareChanged = Signal(float)

    def __init__(self, theme: ThemeManager) -> None:
        super().__init__()
        self._asked = Askable(())
        self._state = BrowseState()
        layout = column(self, gap=SPACE.s)
        layout.setContentsMargins(0, 0, SPACE.s, 0)
        self.shelves = {
            key: Shelf(key, title, hint)
            for key, title, hint in (
                (UNUSED, self.tr("Dimensions"), self.tr("All are shown; drop here to sum up")),
                (ROWS, self.tr("Rows"), self.tr("Drop a dimension here, or press R on it")),
                (COLUMNS, self.tr("Columns"), self.tr("Drop a dimension here, or press C on it")),
                (FILTERS, self.tr("Filters"), self.tr("Drop here to choose, or press F")),
            )
        }
        for shelf in self.shelves.values():
            shelf.dropped.connect(self._on_put)
            layout.addWidget(shelf)
        self.keep = KeepList(theme)
        self.keep.kept.connect(self.keptAsked)
        layout.addWidget(self.keep)
        self._build_fields(layout)
        layout.addStretch(1)

    def _build_fields(self, layout: QVBoxLayout) -> None:
        self.turn = button(self.tr("E&xchange rows and columns"), self.tr("Turn the table (X)"))
        self.turn.clicked.connect(self.turnAsked)
        layout.addWidget(self.turn)
        self.measure = NarrowCombo(14)
        tip = self.tr("What is added up")
        labelled(layout, self.tr("&Measure"), self.measure, tip)
        self.measure.set_help(tip)
        self.measure.activated.connect(self._on_measure)
        self.percent = NarrowCombo(14)
        for key, words in percent_words().items():
            self.percent.addItem(words, key)
        tip = self.tr("Counts as they are, or as percentages of the sums shown")
        labelled(layout, self.tr("S&how"), self.percent, tip)
        self.percent.set_help(tip)
        self.percent.activated.connect(self._on_percent)
        self.share = NarrowDoubleSpin()
        self.share.setRange(0.1, 1000)
        self.share.setDecimals(1)
        self.share.setSuffix(" %")
        self.share.setValue(USUAL_SHARE)
        self.share.setKeyboardTracking(False)
        tip = self.tr("Cells whose ± is above this share of their value are marked △")
        labelled(layout, self.tr("Mark △ where the ± is a&bove"), self.share, tip)
        self.share.valueChanged.connect(self._on_share)
        leave_wheel(self.measure, self.percent, self.share)

    @property
    def marked_share(self) -> float:
        """The share of the value above which a ± is marked."""
        return self.share.value() / 100

    def show_cube(self, asked: Askable) -> None:
        """Offer the dimensions and measures of a cube."""
        self._asked = asked
        self.keep.hide()
        self.measure.clear()
        for measure in asked.measures:
            self.measure.addItem(measure_words(measure), measure)
        self.measure.setEnabled(len(asked.measures) > 1)

    def show_state(self, state: BrowseState) -> None:
        """Put the chips where they stand; the focus stays with the dimension that had it."""
        focused = self.focusWidget()
        held = focused.facts.column if isinstance(focused, Chip) and focused.hasFocus() else ""
        self._state = state
        shown = [each.column for each in (*state.rows, *state.columns)]
        named = {
            UNUSED: [c.name for c in self._asked.columns if c.name not in shown],
            ROWS: [each.column for each in state.rows],
            COLUMNS: [each.column for each in state.columns],
            FILTERS: [each.column for each in state.kept],
        }
        for key, names in named.items():
            for chip in self.shelves[key].show_chips([self._facts(name) for name in names]):
                chip.putAsked.connect(self._on_put)
                chip.levelAsked.connect(self.levelAsked)
                chip.chooseAsked.connect(self.choose)
                chip.allAsked.connect(self._on_all)
        self.measure.setCurrentIndex(
            max(0, self.measure.findData(state.measure or self._asked.measures[0]))
        )
        self.percent.setEnabled(self.measure.currentData() == COUNT)
        self.percent.setCurrentIndex(max(0, self.percent.findData(state.percent)))
        self.turn.setEnabled(bool(shown))
        if self.keep.dimension:
            self.keep.refresh(state.kept_of(self.keep.dimension))
        if held:
            self.focus_chip(held)

    def chip(self, name: str) -> Chip:
        """The chip of a dimension, on the shelf where it stands; KeyError when there is none."""
        for key in (ROWS, COLUMNS, UNUSED):
            for chip in self.shelves[key].chips:
                if chip.facts.column == name:
                    return chip
        raise KeyError(name)

    def focus_chip(self, name: str) -> None:
        """Give the focus to a dimension."""
        self.chip(name).setFocus()

    def _facts(self, name: str) -> ChipFacts:
        known = self._asked.column(name)
        kept = self._state.kept_of(name)
        count = len(known.categories)
        level = self._state.level_of(name)
        return ChipFacts(
            name, level, len(known.levels), count if kept is None else len(kept), count
        )

    @Slot(str)
    def choose(self, name: str) -> None:
        """Open the list of categories of a dimension."""
        self.keep.open(name, self._asked.column(name).categories, self._state.kept_of(name))
        self.keep.list.setFocus()

    @Slot(str, str, int)
    def _on_put(self, name: str, shelf: str, number: int) -> None:
        if shelf == FILTERS:
            self.choose(name)
        else:
            self.putAsked.emit(name, shelf, number)

    @Slot(str)
    def _on_all(self, name: str) -> None:
        self.keptAsked.emit(name, None)

    @Slot()
    def _on_measure(self) -> None:
        self.measureAsked.emit(self.measure.currentData())

    @Slot()
    def _on_percent(self) -> None:
        self.percentAsked.emit(self.percent.currentData())

    @Slot(float)
    def _on_share(self, percent: float) -> None:
        self.shareChanged.emit(percent / 100)


class SideScroll(SteadyArea):
    """The side in an area that scrolls up and down, and is never narrower than it."""

    def __init__(self, side: BrowseSide) -> None:
        self._side, self._stacked = side, False  # its events are asked about while it is made
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(side)
        side.installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Words may have become wider."""
        if watched is self._side and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    @Slot(bool)
    def set_stacked(self, stacked: bool) -> None:
        """Be as high as needed, because something around this scrolls."""
        self._stacked = stacked
        bars = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            bars.ScrollBarAlwaysOff if stacked else bars.ScrollBarAsNeeded
        )
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may need another height."""
        super().resizeEvent(event)
        if self._stacked:
            self._fit()

    def sizeHint(self) -> QSize:
        """As wide as needed."""
        return QSize(self.minimumWidth(), super().sizeHint().height())

    def _fit(self) -> None:
        bar = self.verticalScrollBar().sizeHint().width()
        least = self.fontMetrics().averageCharWidth() * _LEAST_EMS
        self.setMinimumWidth(max(self._side.minimumSizeHint().width(), least) + bar + SPACE.s)
        height = 0
        if self._stacked:
            wide = max(1, self.viewport().width())
            height = max(self._side.heightForWidth(wide), self._side.minimumSizeHint().height())
        self.setMinimumHeight(height)
