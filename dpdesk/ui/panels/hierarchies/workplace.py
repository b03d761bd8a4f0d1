"""Tree, picture, table and making: side by side, or one at a time where it is narrow."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import ChoiceStrip
from dpdesk.ui.widgets.pages import PageStack
from dpdesk.ui.widgets.turning import HeightKeeper

TREE, PICTURE, VALUES, MAKING = "tree", "picture", "values", "making"
WIDE_EMS = 96
LEAST_LINES = 9


class Workplace(QWidget):
    """Shows one page of several at the right of the tree; where it is narrow the tree is a page."""

    def __init__(
        self,
        theme: ThemeManager,
        tree: QWidget,
        pages: dict[str, QWidget],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._tree, self._pages = theme, tree, pages
        self._narrow: bool | None = None
        self._wished = PICTURE
        self.strip = ChoiceStrip(self.tr("What to show"))
        self.strip.chosen.connect(self.show_page)
        self._stack = PageStack()
        for page in pages.values():
            self._stack.addWidget(page)
        self._left = QWidget()
        self._left_layout: QVBoxLayout = column(self._left)
        right = QWidget()
        inner = column(right, gap=SPACE.s)
        inner.addWidget(self.strip)
        inner.addWidget(self._stack, 1)
        self._parts = QSplitter(Qt.Orientation.Horizontal)
        self._parts.setObjectName("hierarchies.parts")
        self._parts.setChildrenCollapsible(False)
        self._parts.addWidget(self._left)
        self._parts.addWidget(right)
        HeightKeeper(self, (self._left, right))
        self._parts.setSizes([530, 470])
        column(self).addWidget(self._parts)
        theme.changed.connect(self._on_theme)
        self._arrange(narrow=False)
        self._on_theme(theme.theme)

    @property
    def page(self) -> str:
        """The page in front."""
        return self.strip.current

    @property
    def narrow(self) -> bool:
        """Whether the tree is a page like the others."""
        return bool(self._narrow)

    @Slot(str)
    def show_page(self, identifier: str) -> None:
        """Bring a page to the front; the tree is always in sight where there is room."""
        self._wished = identifier
        if identifier == TREE and not self._narrow:
            return
        self.strip.choose(identifier)
        page = self._tree if identifier == TREE else self._pages[identifier]
        self._stack.setCurrentWidget(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One page at a time where two do not fit."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._arrange(narrow=self.width() < self._theme.theme.ems(WIDE_EMS))

    def _arrange(self, *, narrow: bool) -> None:
        if narrow is self._narrow:
            return
        self._narrow = narrow
        words = {
            TREE: self.tr("Tree"),
            PICTURE: self.tr("Picture"),
            VALUES: self.tr("Before and after"),
            MAKING: self.tr("How it is made"),
        }
        if narrow:
            self._stack.addWidget(self._tree)
        else:
            self._stack.removeWidget(self._tree)
            self._left_layout.addWidget(self._tree)
            self._tree.show()
        self._left.setVisible(not narrow)
        offered = words if narrow else {key: words[key] for key in self._pages}
        self.strip.set_choices(tuple(offered.items()))
        wished = self._wished if self._wished in offered else PICTURE
        self.show_page(TREE if narrow and self._wished == PICTURE else wished)

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._stack.setMinimumHeight(theme.target * LEAST_LINES)
        self._fit()
