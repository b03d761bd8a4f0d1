"""Layouts with the distances of the house, and what takes the focus, letters and the wheel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, QSize, Qt, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QApplication,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.words.numbers import verbatim

ASIDE = "aside"
_MOST_WIDGETS = 10_000


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Have a screen reader say something that has just come up; ``urgent`` interrupts others.

    Only announcements arrive everywhere: alerts are dropped on their way on Linux.
    """
    if text and widget.isVisible():
        event = QAccessibleAnnouncementEvent(widget, text)
        ways = QAccessible.AnnouncementPoliteness
        event.setPoliteness(ways.Assertive if urgent else ways.Polite)
        QAccessible.updateAccessibility(event)


def first_focusable(region: QWidget) -> QWidget | None:
    """The first visible widget of a region, as it is laid out, that takes the focus by Tab.

    One with the property ASIDE takes it only where there is no other.
    """
    tab_as_laid_out(region)
    accepts = Qt.FocusPolicy.TabFocus.value
    widget: QWidget | None = region
    aside: QWidget | None = None
    for _ in range(_MOST_WIDGETS):
        if widget is None:
            return aside
        # The chain holds all widgets of the window, most of which are on panels that nobody sees.
        takes = widget.isVisible() and widget.isEnabled() and widget.focusPolicy().value & accepts
        if takes and (widget is region or region.isAncestorOf(widget)):
            if not widget.property(ASIDE):
                return widget
            aside = aside or widget
        widget = widget.nextInFocusChain()
        if widget is region:
            return aside
    return aside


def tab_as_laid_out(root: QWidget) -> None:
    """Let Tab go through what is in a widget in the order in which it is laid out.

    What is hidden is left where it is: Tab passes it, and it has its turn when it comes up.
    """
    stops = [one for one in _laid_out(root) if one.focusPolicy() is not Qt.FocusPolicy.NoFocus]
    for one, other in pairwise(stops):
        QWidget.setTabOrder(one, other)


def _laid_out(widget: QWidget) -> Iterator[QWidget]:
    """A widget and all in it: by layouts, or by their place where nothing lays them out."""
    yield widget
    if isinstance(widget, QAbstractScrollArea) and not isinstance(widget, QScrollArea):
        return
    layout = widget.layout()
    children = [one for one in widget.children() if isinstance(one, QWidget)]
    inner: list[QWidget | None] = [] if layout is None else list(_items(layout, children))
    if isinstance(widget, QScrollArea):
        inner = [widget.widget()]
    elif isinstance(widget, QSplitter):
        inner = [widget.widget(place) for place in range(widget.count())]
    known = [one for one in inner if one is not None]
    rest = [one for one in children if one not in known]
    rest = [one for one in rest if not one.isWindow() and not one.objectName().startswith("qt_")]
    for one in (*known, *sorted(rest, key=lambda one: (one.y(), one.x()))):
        if not one.isHidden():
            yield from _laid_out(one)


def _items(layout: QLayout, widgets: Sequence[QWidget]) -> Iterator[QWidget]:
    """Those of the widgets that a layout places, in its order.

    No item of the layout is asked for: what Python knows of a spacer outlives it, and would stand
    for whatever lies at its address next.
    """
    found = [(layout.indexOf(one), one) for one in widgets]
    inner = [one for one in layout.children() if isinstance(one, QLayout)]
    placed: list[tuple[int, QWidget | QLayout]] = [one for one in found if one[0] >= 0]
    placed += [(layout.indexOf(one), one) for one in inner]
    if isinstance(layout, QGridLayout):
        placed.sort(key=lambda one: tuple(map(int, layout.getItemPosition(one[0])))[:2])  # type: ignore[call-overload]
    else:
        placed.sort(key=lambda one: one[0])
    for _, one in placed:
        if isinstance(one, QLayout):
            yield from _items(one, widgets)
        else:
            yield one


class _WheelPasses(QObject):
    """Hands the wheel on to whatever scrolls around the control."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the wheel from the control, and leave it to the parents."""
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return False


def leave_wheel(*controls: QWidget) -> None:
    """Make the wheel scroll the place of these controls rather than change their values."""
    for control in controls:
        control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        control.installEventFilter(_WheelPasses(control))


def menu_letters() -> str:
    """The letters of the menu bar, in the language of the window."""
    return QCoreApplication.translate("Mnemonics", "FEVRH")


class Mnemonics:
    """Hands out letters; those of the menu bar are taken from the start."""

    def __init__(self, reserved: str | None = None) -> None:
        letters = menu_letters() if reserved is None else reserved
        self._taken = {letter.upper() for letter in letters}

    def mark(self, text: str) -> str:
        """``text`` with ``&`` before the first free letter, unmarked when none is free.

        The beginnings of words come first. An ampersand of the text itself is doubled.
        """
        starts = [n for n, letter in enumerate(text) if n == 0 or text[n - 1] in " -"]
        rest = [n for n in range(len(text)) if n not in starts]
        for place in (*starts, *rest):
            letter = text[place].upper()
            if letter.isascii() and letter.isalpha() and letter not in self._taken:
                self._taken.add(letter)
                before, after = text[:place], text[place:]
                return verbatim(before) + "&" + verbatim(after)
        return verbatim(text)


def column(parent: QWidget | None = None, *, margin: int = 0, gap: int = SPACE.s) -> QVBoxLayout:
    """A vertical layout; without a parent it can be added to another layout."""
    layout = QVBoxLayout(parent) if parent is not None else QVBoxLayout()
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(gap)
    return layout


def row(parent: QWidget | None = None, *, margin: int = 0, gap: int = SPACE.s) -> QHBoxLayout:
    """A horizontal layout; without a parent it can be added to another layout."""
    layout = QHBoxLayout(parent) if parent is not None else QHBoxLayout()
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(gap)
    return layout


def card(*widgets: QWidget, look: str = "card") -> QFrame:
    """A framed surface around some widgets, from top to bottom."""
    frame = QFrame()
    set_look(frame, look)
    layout = column(frame, margin=SPACE.l)
    for widget in widgets:
        layout.addWidget(widget)
    return frame


def splitter(
    name: str,
    widgets: Sequence[QWidget],
    stretches: Sequence[int],
    orientation: Qt.Orientation = Qt.Orientation.Horizontal,
) -> QSplitter:
    """Widgets side by side with movable borders; none can be closed by accident."""
    made = QSplitter(orientation)
    made.setObjectName(name)
    made.setChildrenCollapsible(False)
    made.setHandleWidth(7)
    for number, (widget, stretch) in enumerate(zip(widgets, stretches, strict=True)):
        made.addWidget(widget)
        made.setStretchFactor(number, stretch)
    return made


def bring_in_sight(part: QWidget) -> None:
    """Scroll every area around a part that has its place, so that as much of it shows as fits."""
    area = part.parentWidget()
    while area is not None:
        if isinstance(area, QScrollArea):
            area.ensureWidgetVisible(part)
        area = area.parentWidget()


class SteadyArea(QScrollArea):
    """An area that fits what it holds to its width, and scrolls what is too high.

    What it holds may need less height beside the bar than without it, for instance since it then
    stands its parts otherwise: the bar would come and go for ever. So a bar that has come and gone
    more often than that keeps its place, until the area has another size.
    """

    _OFTEN = 6

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size, self._turns = QSize(), 0
        self.setWidgetResizable(True)
        self.verticalScrollBar().rangeChanged.connect(self._on_range)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The area has another size, or else its bar has come or gone."""
        super().resizeEvent(event)
        policies, policy = Qt.ScrollBarPolicy, self.verticalScrollBarPolicy()
        if policy is policies.ScrollBarAlwaysOff:
            return
        if self.size() != self._size:
            self._size, self._turns = self.size(), 0
            self.setVerticalScrollBarPolicy(policies.ScrollBarAsNeeded)
            return
        self._turns += 1
        if self._turns >= self._OFTEN:
            self.setVerticalScrollBarPolicy(policies.ScrollBarAlwaysOn)

    @Slot(int, int)
    def _on_range(self, least: int, most: int) -> None:
        """Where there is nothing to scroll, the place of the bar is empty."""
        self.verticalScrollBar().setEnabled(most > least)


_LAID_OUT = (QEvent.Type.LayoutRequest, QEvent.Type.Resize)


class HoldingArea(SteadyArea):
    """An area in which what has the focus stays under the mouse.

    Where a hint above it takes more lines, or fewer, the rest is scrolled by as much.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._held: tuple[QWidget, int] | None = None
        self._holding = False
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._note_place)
        self.verticalScrollBar().valueChanged.connect(self._note_place)
        self.verticalScrollBar().rangeChanged.connect(self._hold)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """All stands elsewhere in another size."""
        super().resizeEvent(event)
        self._note_place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What the area holds was laid out anew: what has the focus stays where it was."""
        known = super().eventFilter(watched, event)
        if event.type() in _LAID_OUT and watched is self.widget():
            self._hold()
        return known

    @Slot()
    def _hold(self) -> None:
        seen = self._focused()
        if seen is None or self._held is None or seen[0] is not self._held[0]:
            return
        bar = self.verticalScrollBar()
        self._holding = True
        bar.setValue(bar.value() + seen[1] - self._held[1])
        self._holding = False

    def _focused(self) -> tuple[QWidget, int] | None:
        """What has the focus in here, and how far below the top of the area."""
        inner, focus = self.widget(), QApplication.focusWidget()
        if inner is None or focus is None or not inner.isAncestorOf(focus):
            return None
        return focus, focus.mapTo(self.viewport(), QPoint(0, 0)).y()

    @Slot()
    def _note_place(self) -> None:
        """It was focused, scrolled or given another size: from now on it stays there."""
        if self._holding:
            return
        self._held = held = self._focused()
        if held is not None and not -held[0].height() < held[1] < self.viewport().height():
            self._held = None  # out of sight


class FrontStack(QStackedWidget):
    """The usual stack asks for the room of its largest page, whichever is in front."""

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(self.updateGeometry)

    def minimumSizeHint(self) -> QSize:
        """The least size of the page in front."""
        page = self.currentWidget()
        if page is None:
            return QSize(0, 0)
        return page.minimumSizeHint().expandedTo(page.minimumSize())

    def sizeHint(self) -> QSize:
        """The size that the page in front likes."""
        page = self.currentWidget()
        return QSize(0, 0) if page is None else page.sizeHint()


class MeasuredLayout(QLayout):
    """A layout without margins; its items, and their height by width until something changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent) if parent is not None else super().__init__()
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """See QLayout."""
        self._items.append(item)
        self.invalidate()

    def invalidate(self) -> None:
        """Something has changed: forget what was measured."""
        self._heights.clear()
        super().invalidate()

    def count(self) -> int:
        """See QLayout."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """See QLayout."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """See QLayout."""
        if not 0 <= index < len(self._items):
            return None
        self.invalidate()
        return self._items.pop(index)

    def hasHeightForWidth(self) -> bool:
        """A narrower place is higher."""
        return True


def height_of(item: QLayoutItem, width: int) -> int:
    """The height of an item at a width."""
    return item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()


class FlowLayout(MeasuredLayout):
    """Lines of widgets at their wanted widths.

    With ``stretch`` the widgets of a line share its whole width, so that tiles make even rows; with
    ``centred`` they stand in its middle. With ``lines`` 1 there is one line, whatever its width.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        gap: int = SPACE.s,
        stretch: bool = False,
        centred: bool = False,
        lines: int = 0,
    ) -> None:
        self._hint: QSize | None = None
        super().__init__(parent)
        self._centred = centred
        self._gap = gap
        self._single = lines == 1
        self._stretch = stretch

    def invalidate(self) -> None:
        """Something has changed: forget what was measured."""
        self._hint = None
        super().invalidate()

    def expandingDirections(self) -> Qt.Orientation:
        """It takes no more than it needs."""
        return Qt.Orientation(0)

    def heightForWidth(self, width: int) -> int:
        """Height of all lines at this width."""
        if width not in self._heights:
            self._heights[width] = self._place(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def sizeHint(self) -> QSize:
        """All in one line."""
        if self._hint is None:
            hints = [item.sizeHint() for item in self._shown()]
            wide = sum(hint.width() for hint in hints) + self._gap * max(0, len(hints) - 1)
            self._hint = QSize(wide, max((hint.height() for hint in hints), default=0))
        return self._hint

    def minimumSize(self) -> QSize:
        """The widest single widget."""
        least = [item.minimumSize() for item in self._shown()]
        return QSize(
            max((size.width() for size in least), default=0),
            max((size.height() for size in least), default=0),
        )

    def setGeometry(self, rect: QRect) -> None:
        """Place everything."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, rect: QRect, *, move: bool) -> int:
        top = rect.top()
        for line in self._lines(rect.width()):
            widths = self._widths(line, rect.width())
            high = max(map(height_of, line, widths))
            left = rect.left()
            if self._centred:
                wide = sum(widths) + self._gap * (len(widths) - 1)
                left += max(0, rect.width() - wide) // 2
            for item, width in zip(line, widths, strict=True):
                if move:
                    item.setGeometry(QRect(left, top, width, high))
                left += width + self._gap
            top += high + self._gap
        return max(0, top - self._gap - rect.top())

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        left = 0
        for item in self._shown():
            wanted = item.sizeHint().width()
            if lines and (self._single or left + self._gap + wanted <= width):
                lines[-1].append(item)
                left += self._gap + wanted
            else:
                lines.append([item])
                left = wanted
        return self._evened(lines) if self._stretch else lines

    @staticmethod
    def _evened(lines: list[list[QLayoutItem]]) -> list[list[QLayoutItem]]:
        """As many in each line as possible without a short last line."""
        items = [item for line in lines for item in line]
        if len(lines) < 2:
            return lines
        each = -(-len(items) // len(lines))
        return [items[start : start + each] for start in range(0, len(items), each)]

    def _widths(self, line: list[QLayoutItem], room: int) -> list[int]:
        widths = [min(item.sizeHint().width(), room) for item in line]
        if not self._stretch:
            return widths
        free = room - self._gap * (len(line) - 1)
        even = free // len(line)
        if all(width <= even for width in widths):
            return [even] * len(line)
        spare = max(0, free - sum(widths)) // len(line)
        return [width + spare for width in widths]


class FlowBox(QWidget):
    """A widget whose children flow; as high as its lines need."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        gap: int = SPACE.s,
        stretch: bool = False,
        centred: bool = False,
        lines: int = 0,
    ) -> None:
        super().__init__(parent)
        self._flow = FlowLayout(self, gap=gap, stretch=stretch, centred=centred, lines=lines)
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def add(self, widget: QWidget) -> None:
        """Put a widget at the end."""
        self._flow.addWidget(widget)

    def add_last(self, widget: QWidget) -> None:
        """Put a widget at the end; where it stands there already, nothing is laid out again."""
        last = self._flow.itemAt(self._flow.count() - 1)
        if last is None or last.widget() is not widget:
            self._flow.removeWidget(widget)
            self._flow.addWidget(widget)

    def remove(self, widget: QWidget) -> None:
        """Take a widget out again; it stays a child."""
        self._flow.removeWidget(widget)

    def hasHeightForWidth(self) -> bool:
        """See QWidget."""
        return True

    def heightForWidth(self, width: int) -> int:
        """See QWidget."""
        return self._flow.heightForWidth(width)


def least_height(part: QWidget, width: int) -> int:
    """The height that a part needs at a width for its lines that wrap; 0 where none does."""
    layout = part.layout()
    if layout is None or not layout.hasHeightForWidth():
        return 0
    return layout.totalMinimumHeightForWidth(width)


class PageStack(QWidget):
    """Like QStackedWidget, which keeps room for the largest of all its pages, seen or not."""

    def __init__(self) -> None:
        super().__init__()
        self._pages: list[QWidget] = []
        self._current: QWidget | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def addWidget(self, page: QWidget) -> None:
        """Put a page at the end; the first one is seen."""
        self._pages.append(page)
        page.hide()
        self._column.addWidget(page)
        if self._current is None:
            self.setCurrentWidget(page)

    def removeWidget(self, page: QWidget) -> None:
        """Take a page out, hidden and still a child; another one is seen if it was."""
        if page in self._pages:
            self._pages.remove(page)
            self._column.removeWidget(page)
            page.hide()
            if page is self._current:
                self._current = None
                if self._pages:
                    self.setCurrentWidget(self._pages[0])

    def count(self) -> int:
        """Number of pages."""
        return len(self._pages)

    def currentWidget(self) -> QWidget | None:
        """The page that is seen; None when there is none."""
        return self._current

    def currentIndex(self) -> int:
        """The place of the page that is seen; -1 when there is none."""
        return -1 if self._current is None else self._pages.index(self._current)

    def setCurrentIndex(self, index: int) -> None:
        """Show a page by its place; IndexError when there is none."""
        self.setCurrentWidget(self._pages[index])

    def setCurrentWidget(self, page: QWidget) -> None:
        """Show one of the pages; ValueError when it is none of them."""
        if page not in self._pages:
            raise ValueError(page)
        if page is self._current:
            return
        old, self._current = self._current, page
        page.show()
        if old is not None:
            self._take_focus(old, page)
            old.hide()

    @staticmethod
    def _take_focus(old: QWidget, page: QWidget) -> None:
        """Hand the focus over before its owner is hidden: Qt would give it to anything behind."""
        focus = QApplication.focusWidget()
        if focus is None or not (focus is old or old.isAncestorOf(focus)):
            return
        target = first_focusable(page)
        if target is not None:
            target.setFocus(Qt.FocusReason.OtherFocusReason)
