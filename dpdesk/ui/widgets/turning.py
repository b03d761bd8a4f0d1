"""Parts side by side, or one above the other where there is little room; columns and sides."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLayoutItem, QScrollArea, QSplitter, QVBoxLayout, QWidget

from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import (
    MeasuredLayout,
    SteadyArea,
    column,
    height_of,
    least_height,
    splitter,
)


class HeightKeeper(QObject):
    """Gives parts of a splitter, which knows nothing of lines that wrap, the height they need."""

    def __init__(self, parent: QObject, parts: Sequence[QWidget]) -> None:
        super().__init__(parent)
        for part in parts:
            part.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A part has another width, or other contents: it may need another height."""
        kinds = (QEvent.Type.Resize, QEvent.Type.LayoutRequest)
        if event.type() in kinds and isinstance(watched, QWidget):
            needed = least_height(watched, watched.width())
            if needed and needed != watched.minimumHeight():
                watched.setMinimumHeight(needed)
        return super().eventFilter(watched, event)


class TurningSplitter(QSplitter):
    """A splitter that stands its parts one above the other when they are too wide for it.

    It never asks for more width than its widest part. ``turned(bool)`` says whether the parts now
    stand one above the other: then each should ask for the height that it needs.
    """

    turned = Signal(bool)

    def __init__(self, name: str, parts: Sequence[QWidget], stretches: Sequence[int]) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._parts, self._stretches = tuple(parts), tuple(stretches)
        self._fitted_to = 0  # the height of text that the widths were made for
        HeightKeeper(self, parts)
        self.setObjectName(name)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(7)
        for number, (part, stretch) in enumerate(zip(parts, stretches, strict=True)):
            self.addWidget(part)
            self.setStretchFactor(number, stretch)

    @property
    def stacked(self) -> bool:
        """Whether the parts stand one above the other."""
        return self.orientation() is Qt.Orientation.Vertical

    def minimumSizeHint(self) -> QSize:
        """As wide as the widest part, as high as all of them where they are stacked."""
        least = [_least(part) for part in self._parts]
        wide = max((size.width() for size in least), default=0)
        heights = [size.height() for size in least]
        high = sum(heights) + self._gaps() if self.stacked else max(heights, default=0)
        return QSize(wide, high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn when the parts do not fit beside each other any more, or do so again."""
        self._turn()
        super().resizeEvent(event)

    def event(self, event: QEvent) -> bool:
        """Parts have told what they need: after a change of the text's size, give it to them."""
        done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest and self.isVisible():
            self._fit_text()
        return done

    def changeEvent(self, event: QEvent) -> None:
        """Another size of text: the parts tell first what they need."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            QCoreApplication.postEvent(self, QEvent(QEvent.Type.LayoutRequest))

    def showEvent(self, event: QShowEvent) -> None:
        """The text's size may have changed while this was hidden."""
        super().showEvent(event)
        self._fit_text()

    def _fit_text(self) -> None:
        """Widths for the text; those of the last size stay, for a hand may have moved them."""
        height = self.fontMetrics().height()
        if height != self._fitted_to:
            self._fitted_to = height
            self._turn()
            if not self.stacked:
                self.setSizes(self._widths())
            QTimer.singleShot(0, self, self._fit_late)

    def _fit_late(self) -> None:
        """Once more, for parts that tell later than others what the new text needs."""
        self._turn()
        if not self.stacked:
            self.setSizes(self._widths())

    def _widths(self) -> list[int]:
        """Side by side: as wide as they like, and those that stretch share the rest."""
        likes = [part.sizeHint().expandedTo(_least(part)).width() for part in self._parts]
        pairs = list(zip(likes, self._stretches, strict=True))
        free = self.width() - self._gaps() - sum(like for like, stretch in pairs if not stretch)
        shares = sum(self._stretches) or 1
        return [free * stretch // shares if stretch else like for like, stretch in pairs]

    def _gaps(self) -> int:
        """Room of the handles, with the margins that the style gives them."""
        hints = [self.handle(number).sizeHint() for number in range(1, self.count())]
        return sum(size.height() if self.stacked else size.width() for size in hints)

    def _turn(self) -> None:
        parts = self._parts
        widths = [_least(part).width() for part in parts]
        needed = sum(widths) + self._gaps()
        stacked = self.width() < needed
        if stacked is self.stacked:
            return
        ways = Qt.Orientation
        self.setOrientation(ways.Vertical if stacked else ways.Horizontal)
        self.setSizes([part.sizeHint().height() for part in parts] if stacked else self._widths())
        self.updateGeometry()
        self.turned.emit(stacked)


def _least(part: QWidget) -> QSize:
    """The least size of a part; a height that :class:`HeightKeeper` gave it is the true one."""
    least = part.minimumSizeHint().expandedTo(part.minimumSize())
    layout = part.layout()
    if layout is not None and layout.hasHeightForWidth() and part.minimumHeight():
        least.setHeight(part.minimumHeight())
    return least


class BesideLayout(MeasuredLayout):
    """Two items: the first takes the room that the second leaves.

    The second stands beside the first as long as the first keeps the width that it ``wants`` (a
    bound method; its size hint when absent). Only the height depends on where it stands, so that no
    place gets wider for want of room.
    """

    def __init__(
        self,
        parent: QWidget,
        *,
        gap: int = SPACE.m,
        wants: Callable[[], int] | None = None,
        low: bool = False,
    ) -> None:
        super().__init__(parent)
        self._gap, self._low = gap, low
        self._wants = None if wants is None else weakref.WeakMethod(wants)

    def expandingDirections(self) -> Qt.Orientation:
        """It takes the width that there is."""
        return Qt.Orientation.Horizontal

    def heightForWidth(self, width: int) -> int:
        """Height at this width."""
        if width not in self._heights:
            edges = self.contentsMargins()
            inner = width - edges.left() - edges.right()
            high = self._place(QRect(0, 0, inner, 0), move=False)
            self._heights[width] = high + edges.top() + edges.bottom()
        return self._heights[width]

    def sizeHint(self) -> QSize:
        """Both beside each other."""
        shown = [item.sizeHint() for item in self._shown()]
        return self._with_edges(
            sum(size.width() for size in shown) + self._gap * max(0, len(shown) - 1),
            max((size.height() for size in shown), default=0),
        )

    def minimumSize(self) -> QSize:
        """The wider of the two."""
        shown = [item.minimumSize() for item in self._shown()]
        return self._with_edges(
            max((size.width() for size in shown), default=0),
            max((size.height() for size in shown), default=0),
        )

    def setGeometry(self, rect: QRect) -> None:
        """Place both."""
        super().setGeometry(rect)
        self._place(rect.marginsRemoved(self.contentsMargins()), move=True)

    def stands_beside(self, width: int) -> bool:
        """Whether the second has room at the right of the first."""
        shown = self._shown()
        if len(shown) < 2:
            return True
        wants = self._wants() if self._wants is not None else None
        first = shown[0].sizeHint().width() if wants is None else wants()
        return bool(first + self._gap + shown[1].sizeHint().width() <= width)

    def _with_edges(self, width: int, height: int) -> QSize:
        edges = self.contentsMargins()
        return QSize(width + edges.left() + edges.right(), height + edges.top() + edges.bottom())

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items[:2] if not item.isEmpty()]

    def _place(self, rect: QRect, *, move: bool) -> int:
        """Height of both; puts them into ``rect`` when asked to."""
        shown, wide = self._shown(), rect.width()
        if not shown:
            return 0
        if len(shown) == 1:
            alone = shown[0] is self._items[0]
            width = wide if alone else min(shown[0].sizeHint().width(), wide)
            left = rect.left() + wide - width
            return self._put(shown[0], QRect(left, rect.top(), width, 0), rect.height(), move)
        first, second = shown
        side = min(second.sizeHint().width(), wide)
        if not self.stands_beside(wide):
            top = self._put(first, QRect(rect.left(), rect.top(), wide, 0), 0, move)
            place = QRect(rect.left(), rect.top() + top + SPACE.s, side, 0)
            return top + SPACE.s + self._put(second, place, 0, move)
        left = wide - side - self._gap
        high = max(height_of(first, left), height_of(second, side), rect.height())
        self._put(first, QRect(rect.left(), rect.top(), left, 0), high, move)
        self._put(second, QRect(rect.left() + wide - side, rect.top(), side, 0), high, move)
        return max(height_of(first, left), height_of(second, side))

    def _put(self, item: QLayoutItem, place: QRect, room: int, move: bool) -> int:
        """Place an item in the middle (or at the foot) of the room, and tell its height."""
        high = height_of(item, place.width())
        if move:
            spare = max(0, room - high)
            down = spare if self._low else spare // 2
            item.setGeometry(QRect(place.left(), place.top() + down, place.width(), high))
        return high


class BesideBox(QWidget):
    """A widget around two others; see :class:`BesideLayout`."""

    def __init__(
        self,
        first: QWidget,
        second: QWidget,
        parent: QWidget | None = None,
        *,
        gap: int = SPACE.m,
        wants: Callable[[], int] | None = None,
        low: bool = False,
    ) -> None:
        super().__init__(parent)
        layout = BesideLayout(self, gap=gap, wants=wants, low=low)
        layout.addWidget(first)
        layout.addWidget(second)
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)


WIDE_EMS, WIDEST, LEAST_EMS = 48, 480, 40
CHART_ROWS = 10


class SideArea(SteadyArea):
    """Widgets from top to bottom, wide enough for a chart; ``tall`` ones keep a chart's height.

    It scrolls upwards and downwards only: it is never narrower than its widest word. Stacked below
    something else it does not scroll at all but is as high as it needs to be.
    """

    def __init__(
        self, theme: ThemeManager, name: str, tip: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._tall: list[QWidget] = []
        self._theme = theme
        self._stacked = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setToolTip(tip)
        inner = QWidget()
        inner.setToolTip("")
        self.setWidget(inner)
        inner.installEventFilter(self)
        self.column: QVBoxLayout = column(inner, gap=SPACE.s)
        self.column.setContentsMargins(SPACE.s, 0, SPACE.s, 0)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def add(self, widget: QWidget, *, tall: bool = False) -> None:
        """Put a widget at the bottom."""
        self.column.addWidget(widget, 1 if tall else 0)
        if tall:
            self._tall.append(widget)
            self._on_theme(self._theme.theme)

    @Slot(bool)
    def set_stacked(self, stacked: bool) -> None:
        """Be as high as needed, because something around this scrolls."""
        self._stacked = stacked
        policies = Qt.ScrollBarPolicy
        bars = policies.ScrollBarAlwaysOff if stacked else policies.ScrollBarAsNeeded
        self.setVerticalScrollBarPolicy(bars)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if stacked else Qt.FocusPolicy.StrongFocus)
        self._fit()

    def sizeHint(self) -> QSize:
        """Wide enough for a chart, where there is room."""
        wide = min(self._theme.theme.ems(WIDE_EMS), WIDEST)
        return QSize(wide, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may need another height."""
        super().resizeEvent(event)
        if self._stacked:
            self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The contents may need more or less room."""
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        bar = self.verticalScrollBar().sizeHint().width()
        needed = self.column.minimumSize().width() + bar
        self.setMinimumWidth(max(needed, self._theme.theme.ems(LEAST_EMS)))
        height = 0
        if self._stacked:
            wide = max(self.viewport().width(), 1)
            height = max(self.column.totalHeightForWidth(wide), self.column.minimumSize().height())
        self.setMinimumHeight(height)
        self.updateGeometry()

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for widget in self._tall:
            widget.setMinimumHeight(theme.row * CHART_ROWS)
        self._fit()


NARROW_EMS = 92
LEFT_EMS, LEFT_SHARE, LEFT_AT_MOST = 44, 0.315, 0.45


@dataclass(frozen=True)
class Side:
    """One side: id, what the choice is called, and the widget."""

    id: str
    words: str
    widget: QWidget


def _nothing() -> int:
    return 0


class Sides(QWidget):
    """The left side takes a ``share`` of the width, the right one the rest.

    ``strip`` chooses a side where it is narrow, the right one at first; the panel has the place for
    it. ``needed`` tells the width below which something of the left side would be cut.
    """

    def __init__(
        self,
        theme: ThemeManager,
        name: str,
        left: Side,
        right: Side,
        needed: Callable[[], int] = _nothing,
        share: float = LEFT_SHARE,
    ) -> None:
        super().__init__()
        self._theme, self._left, self._right, self._needed = theme, left, right, needed
        self._share = share
        self._narrow: bool | None = None
        self._moved = False
        words = self.tr("{left} or {right}").format(left=left.words, right=right.words)
        self.strip = ChoiceStrip(words)
        self.strip.set_choices(((left.id, left.words), (right.id, right.words)))
        self.strip.choose(right.id)
        self.strip.chosen.connect(self._show)
        self._parts = splitter(name, (left.widget, right.widget), (0, 1))
        self._parts.splitterMoved.connect(self._on_moved)
        column(self).addWidget(self._parts)
        theme.changed.connect(self._fit)
        area = left.widget
        inner = area.widget() if isinstance(area, QScrollArea) else None
        if inner is not None:
            inner.installEventFilter(self)
        self._fitted_for = 0
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What has come up in the left side may be wider."""
        if event.type() == QEvent.Type.LayoutRequest and self._needed() != self._fitted_for:
            self._fit()
        return super().eventFilter(watched, event)

    @property
    def narrow(self) -> bool:
        """Whether only one side is in sight."""
        return bool(self._narrow)

    def show_side(self, identifier: str) -> None:
        """Bring one side to the front; both are in sight where there is room."""
        self.strip.choose(identifier)
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room that is there now."""
        super().resizeEvent(event)
        self._fit()

    @Slot()
    def _show(self) -> None:
        for side in (self._left, self._right):
            side.widget.setVisible(not self._narrow or self.strip.current == side.id)

    @Slot()
    def _on_moved(self) -> None:
        self._moved = True

    def _fit(self) -> None:
        theme, left = self._theme.theme, self._left.widget
        narrow = self.width() < theme.ems(NARROW_EMS)
        wanted = theme.ems(LEFT_EMS)
        self._fitted_for = self._needed()
        needed = min(self._fitted_for, round(self.width() * LEFT_AT_MOST))
        least = max(needed, min(wanted, round(self.width() * self._share)))
        left.setMinimumWidth(0 if narrow else least)
        left.setMaximumWidth(self.maximumWidth() if narrow else round(wanted * 1.5))
        if not (narrow or self._moved):
            self._parts.setSizes([least, self.width() - least])
        if narrow != self._narrow:
            self._narrow = narrow
            self.strip.setVisible(narrow)
            self._show()
