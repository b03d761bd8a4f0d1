"""The left side: shelves, measure, and the share of the value above which a ± is marked."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from dpdesk.core.browsing import BrowseState
from dpdesk.core.query import Askable
from dpdesk.ui.browsing.keeping import KeepList
from dpdesk.ui.browsing.shelves import COLUMNS, FILTERS, ROWS, UNUSED, Chip, ChipFacts, Shelf
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.forms.spin import NarrowDoubleSpin
from dpdesk.ui.people.parts import button, labelled
from dpdesk.ui.theme import SPACE, ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wheel import leave_wheel

USUAL_SHARE = 30.0
_LEAST_EMS = 34


class BrowseSide(QWidget):
    """Wishes as signals: ``putAsked(str, str, int)`` a dimension, a shelf, a number there;
    ``levelAsked(str, int)``, ``keptAsked(str, object)``, ``measureAsked(str)``, ``turnAsked()``,
    ``shareChanged(float)`` with a share from 0 to 1.
    """

    putAsked = Signal(str, str, int)
    levelAsked = Signal(str, int)
    keptAsked = Signal(str, object)
    measureAsked = Signal(str)
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
        self.share = NarrowDoubleSpin()
        self.share.setRange(0.1, 1000)
        self.share.setDecimals(1)
        self.share.setSuffix(" %")
        self.share.setValue(USUAL_SHARE)
        self.share.setKeyboardTracking(False)
        tip = self.tr("Cells whose ± is above this share of their value are marked △")
        labelled(layout, self.tr("Mark △ where the ± is a&bove"), self.share, tip)
        self.share.valueChanged.connect(self._on_share)
        leave_wheel(self.measure, self.share)

    @property
    def marked_share(self) -> float:
        """The share of the value above which a ± is marked."""
        return self.share.value() / 100

    def show_cube(self, asked: Askable) -> None:
        """Offer the dimensions and measures of a cube."""
        self._asked = asked
        self.keep.hide()
        self.measure.clear()
        self.measure.addItems(list(asked.measures))
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
        self.measure.setCurrentText(state.measure or self._asked.measures[0])
        self.turn.setEnabled(bool(shown))
        if self.keep.dimension:
            self.keep.refresh(state.kept_of(self.keep.dimension))
        if held:
            self.focus_chip(held)

    def tab_stops(self) -> list[QWidget]:
        """What takes the focus here, from top to bottom."""
        chips = [chip for shelf in self.shelves.values() for chip in shelf.chips]
        keep = self.keep
        buttons = [keep.all, keep.none, keep.close_button]
        return [*chips, keep.list, *buttons, self.turn, self.measure, self.share]

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
        self.measureAsked.emit(self.measure.currentText())

    @Slot(float)
    def _on_share(self, percent: float) -> None:
        self.shareChanged.emit(percent / 100)


class SideScroll(QScrollArea):
    """The side in an area that scrolls up and down, and is never narrower than it."""

    def __init__(self, side: BrowseSide) -> None:
        super().__init__()
        self._side, self._stacked = side, False
        self.setWidgetResizable(True)
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
