"""Two sides of a panel: beside each other, or one at a time where both would be too narrow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from dpdesk.ui.theme import Theme, ThemeManager
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.layouts import column, splitter

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
        theme.changed.connect(self._on_theme)
        self._fit()

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

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._fit()

    def _fit(self) -> None:
        theme, left = self._theme.theme, self._left.widget
        narrow = self.width() < theme.ems(NARROW_EMS)
        wanted = theme.ems(LEFT_EMS)
        needed = min(self._needed(), round(self.width() * LEFT_AT_MOST))
        least = max(needed, min(wanted, round(self.width() * self._share)))
        left.setMinimumWidth(0 if narrow else least)
        left.setMaximumWidth(self.maximumWidth() if narrow else round(wanted * 1.5))
        if not (narrow or self._moved):
            self._parts.setSizes([least, self.width() - least])
        if narrow != self._narrow:
            self._narrow = narrow
            self.strip.setVisible(narrow)
            self._show()
