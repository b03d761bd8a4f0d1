"""Layouts whose height depends on their width: they keep their items and what they measured."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


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
