"""Moving the keyboard focus between the regions of the window."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from dpdesk.ui.shell.panel import Panel
from dpdesk.ui.widgets.focusing import first_focusable


class FocusKeeper(QObject):
    """Keeps the focus in the panel when the control that has it goes grey or away.

    Qt hands it to the next control, and behind the last one of a panel that is Undo: a second
    press of the space bar would take an edit back.
    """

    def __init__(self, panels: QStackedWidget, elsewhere: QWidget) -> None:
        super().__init__(panels)
        self._panels, self._elsewhere = panels, elsewhere
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is None or new is None or not self._elsewhere.isAncestorOf(new):
            return
        lost = not old.isEnabled() or not old.isVisibleTo(self._panels)
        panel = self._panels.currentWidget()
        if lost and panel is not None and self._panels.isAncestorOf(old):
            focus_region(panel)


def focus_region(region: QWidget) -> bool:
    """Move the focus into a region; False when nothing there takes it.

    A panel says itself where its work begins.
    """
    target = region.first_focus() if isinstance(region, Panel) else None
    if target is None or not (target.isVisible() and target.isEnabled()):
        target = first_focusable(region)
    if target is None:
        return False
    target.setFocus(Qt.FocusReason.ShortcutFocusReason)
    return True


def focus_next_region(regions: Sequence[QWidget]) -> None:
    """Move the focus from the region that has it to the next visible one that takes it."""
    shown = [region for region in regions if region.isVisible()]
    focus = QApplication.focusWidget()
    at = next(
        (
            number
            for number, region in enumerate(shown)
            if focus is not None and (focus is region or region.isAncestorOf(focus))
        ),
        -1,
    )
    for step in range(1, len(shown) + 1):
        if focus_region(shown[(at + step) % len(shown)]):
            return
