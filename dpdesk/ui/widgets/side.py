"""The column at the right of a panel: what is chosen, and a picture, scrolled where it is long."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets.layouts import column

WIDE_EMS, WIDEST, LEAST_EMS = 48, 480, 40
CHART_ROWS = 10


class SideArea(QScrollArea):
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
        self.setWidgetResizable(True)
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
