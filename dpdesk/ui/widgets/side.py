"""The column at the right of a panel: what is chosen, and a picture, scrolled where it is long."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from dpdesk.ui.theme import SPACE, Theme, ThemeManager
from dpdesk.ui.widgets import column

WIDE_EMS, NARROW, WIDEST = 49, 440, 660
CHART_ROWS = 16


class SideArea(QScrollArea):
    """Widgets from top to bottom, wide enough for a chart; ``tall`` ones keep a chart's height."""

    def __init__(
        self, theme: ThemeManager, name: str, tip: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._tall: list[QWidget] = []
        self._theme = theme
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setToolTip(tip)
        inner = QWidget()
        inner.setToolTip("")
        self.setWidget(inner)
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

    def sizeHint(self) -> QSize:
        """Wide enough for a chart, where there is room."""
        wide = min(self._theme.theme.ems(WIDE_EMS), WIDEST)
        return QSize(wide, super().sizeHint().height())

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self.setMinimumWidth(min(theme.ems(WIDE_EMS), NARROW))
        self.updateGeometry()
        for widget in self._tall:
            widget.setMinimumHeight(theme.row * CHART_ROWS)
