"""Parts side by side, or one above the other where there is little room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget


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
            layout = watched.layout()
            if layout is not None and layout.hasHeightForWidth():
                needed = layout.totalMinimumHeightForWidth(watched.width())
                if needed != watched.minimumHeight():
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
    return part.minimumSizeHint().expandedTo(part.minimumSize())
