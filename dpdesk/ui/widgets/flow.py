"""A layout that sets its widgets in lines, as text is set: what does not fit goes below."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayoutItem, QWidget

from dpdesk.ui.theme import SPACE
from dpdesk.ui.widgets.measured import MeasuredLayout, height_of


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

    def remove(self, widget: QWidget) -> None:
        """Take a widget out again; it stays a child."""
        self._flow.removeWidget(widget)

    def hasHeightForWidth(self) -> bool:
        """See QWidget."""
        return True

    def heightForWidth(self, width: int) -> int:
        """See QWidget."""
        return self._flow.heightForWidth(width)
