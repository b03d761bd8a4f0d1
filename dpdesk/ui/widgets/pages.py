"""Pages of which one is seen; only that one says how much room is needed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from dpdesk.ui.widgets.focusing import first_focusable


class PageStack(QWidget):
    """Like QStackedWidget, which keeps room for the largest of all its pages, seen or not."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
