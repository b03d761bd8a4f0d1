"""The mouse wheel scrolls; it never changes a setting.

A settings pane is scrolled with the pointer over its controls. A spin box, a list or a slider that
took the wheel would change *k*, the search or a level without anybody having asked for it.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QWidget


class _WheelPasses(QObject):
    """Hands the wheel on to whatever scrolls around the control."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the wheel from the control, and leave it to the parents."""
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return False


def leave_wheel(*controls: QWidget) -> None:
    """Make the wheel scroll the place of these controls rather than change their values."""
    for control in controls:
        control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        control.installEventFilter(_WheelPasses(control))
