"""Settings and result: side by side, or one at a time where both would be too narrow."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from dpdesk.ui.panels.protect.settings_pane import SettingsPane
from dpdesk.ui.theme import Theme, ThemeManager
from dpdesk.ui.widgets import column, splitter
from dpdesk.ui.widgets.choices import ChoiceStrip

SETTINGS, RESULT = "settings", "result"
NARROW_EMS = 92
LEFT_EMS, LEFT_SHARE, LEFT_AT_MOST = 44, 0.34, 0.45


class Sides(QWidget):
    """The settings take about a third of the width; ``strip`` chooses a side where it is narrow."""

    def __init__(self, theme: ThemeManager, settings: SettingsPane, result: QWidget) -> None:
        super().__init__()
        self._theme, self._settings, self._result = theme, settings, result
        self._narrow: bool | None = None
        self.strip = ChoiceStrip(self.tr("Settings or result"))
        self.strip.set_choices(
            ((SETTINGS, self.tr("Settings")), (RESULT, self.tr("Result"))),
        )
        self.strip.choose(RESULT)
        self.strip.chosen.connect(self._show)
        self._moved = False
        self._parts = splitter("protect", (settings, result), (0, 1))
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
        side = self.strip.current
        self._settings.setVisible(not self._narrow or side == SETTINGS)
        self._result.setVisible(not self._narrow or side == RESULT)

    @Slot()
    def _on_moved(self) -> None:
        self._moved = True

    @Slot(object)
    def _on_theme(self, theme: Theme) -> None:
        self._fit()

    def _fit(self) -> None:
        theme = self._theme.theme
        narrow = self.width() < theme.ems(NARROW_EMS)
        wanted = theme.ems(LEFT_EMS)
        needed = min(self._settings.needed_width, round(self.width() * LEFT_AT_MOST))
        least = max(needed, min(wanted, round(self.width() * LEFT_SHARE)))
        self._settings.setMinimumWidth(0 if narrow else least)
        self._settings.setMaximumWidth(self.maximumWidth() if narrow else round(wanted * 1.5))
        if not (narrow or self._moved):
            self._parts.setSizes([least, self.width() - least])
        if narrow != self._narrow:
            self._narrow = narrow
            self.strip.setVisible(narrow)
            self._show()
