"""Moving the keyboard focus between the regions of the window."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

_MOST_WIDGETS = 10_000


def first_focusable(region: QWidget) -> QWidget | None:
    """The first visible widget of a region, in tab order, that takes the focus by Tab."""
    accepts = Qt.FocusPolicy.TabFocus.value
    widget: QWidget | None = region
    for _ in range(_MOST_WIDGETS):
        if widget is None:
            return None
        inside = widget is region or region.isAncestorOf(widget)
        takes = bool(widget.focusPolicy().value & accepts) and widget.isEnabled()
        if inside and takes and widget.isVisible():
            return widget
        widget = widget.nextInFocusChain()
        if widget is region:
            return None
    return None


def focus_region(region: QWidget) -> bool:
    """Move the focus into a region; False when nothing there takes it."""
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
