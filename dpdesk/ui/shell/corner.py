"""What is open, and whether it is confidential: at the right of the menus, in every step."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QMenuBar, QWidget

from dpdesk.ui.theme import SPACE, ThemeManager
from dpdesk.ui.widgets.elided import ElidedLabel
from dpdesk.ui.widgets.layouts import row
from dpdesk.ui.widgets.states import Badge

NAME_EMS = 26


class DocumentCorner(QWidget):
    """Name of the document, and the mark of raw data, in the corner of a menu bar."""

    def __init__(self, theme: ThemeManager, bar: QMenuBar) -> None:
        super().__init__(bar)
        self._theme = theme
        bar.setNativeMenuBar(False)  # one elsewhere on the screen would have no corner
        layout = row(self)
        layout.setContentsMargins(0, 0, SPACE.m, 0)
        self._name = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.badge = Badge(
            self.tr("CONFIDENTIAL"),
            self.tr("Raw data about people is open; only what you export may leave this place."),
        )
        layout.addWidget(self._name)
        layout.addWidget(self.badge)
        theme.changed.connect(self._fit)
        self._fit()

    def set_document(self, name: str, *, confidential: bool) -> None:
        """Name what is open; raw data carries the mark."""
        self._name.setText(name or self.tr("nothing open"))
        self.badge.setVisible(confidential)
        self._fit()

    @property
    def name(self) -> str:
        """What is written, whole."""
        return self._name.text()

    @Slot()
    def _fit(self) -> None:
        """Give the name its width: a menu bar measures its corner only when it is set."""
        longest = self._theme.theme.ems(NAME_EMS)
        metrics = QFontMetrics(self._theme.theme.font())
        self._name.setFixedWidth(min(metrics.horizontalAdvance(self._name.text()) + 2, longest))
        self.setMinimumHeight(self._theme.theme.target)
        self.adjustSize()
        bar = self.parentWidget()
        if isinstance(bar, QMenuBar):
            bar.setCornerWidget(self)
