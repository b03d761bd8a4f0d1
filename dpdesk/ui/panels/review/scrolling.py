"""Areas that scroll upwards and downwards only, and parts that stand below each other in them."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSplitter, QWidget

from dpdesk.ui.theme import Theme, ThemeManager

NARROW_EMS = 92


def scrolled(widget: QWidget, name: str = "") -> QScrollArea:
    """``widget``, never squeezed: what does not fit scrolls.

    With a ``name`` the area itself takes the focus, so that keys can scroll text.
    """
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    if name:
        area.setAccessibleName(name)
        area.setToolTip(name)
    else:
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(widget)
    return area


class Page(QWidget):
    """What lies in a scrolling area: it takes the room there is, and scrolls only below its least.

    Left alone, an area gives a page with wrapped text the height it likes best, and what matters
    most, the buttons at its end, would lie below the edge.
    """

    def heightForWidth(self, width: int) -> int:
        """The least height at this width."""
        layout = self.layout()
        return -1 if layout is None else layout.minimumHeightForWidth(width)


class SideBySide(QSplitter):
    """Two parts beside each other; where that would be too narrow, one below the other.

    ``lines`` are the least heights of the two parts in lines of text, ``narrow`` the least width
    (in letters) at which they stand beside each other.
    """

    def __init__(
        self,
        theme: ThemeManager,
        name: str,
        parts: tuple[QWidget, QWidget],
        lines: tuple[int, int],
        narrow: int = NARROW_EMS,
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme, self._lines, self._ems = theme, lines, narrow
        self._least = [0, 0]
        self.setObjectName(name)
        self.setChildrenCollapsible(False)
        self.setHandleWidth(7)
        for number, part in enumerate(parts):
            self.addWidget(part)
            self.setStretchFactor(number, 3 - number)
        theme.changed.connect(self._on_theme)
        self._on_theme(theme.theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Turn when the width asks for it."""
        super().resizeEvent(event)
        self._turn()

    def set_least(self, place: int, height: int) -> None:
        """Never make a part lower than this either, whatever its lines."""
        if self._least[place] != height:
            self._least[place] = height
            self._hold(place)

    def _hold(self, place: int) -> None:
        part = self.widget(place)
        if part is not None:
            lines = self._lines[place] * self._theme.theme.target
            part.setMinimumHeight(max(lines, self._least[place]))

    def _turn(self) -> None:
        narrow = self.width() < self._theme.theme.ems(self._ems)
        wanted = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if self.orientation() != wanted:
            self.setOrientation(wanted)
            if not narrow:
                self.setSizes([3 * self.width() // 5, 2 * self.width() // 5])

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        for place in range(len(self._lines)):
            self._hold(place)
        if self.isVisible():  # else it turns when it gets its size
            self._turn()
