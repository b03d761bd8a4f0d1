"""A wide part and a small one at its right, which goes below it where there is little room."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayoutItem, QWidget

from dpdesk.ui.theme import SPACE
from dpdesk.ui.widgets.measured import MeasuredLayout, height_of


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
