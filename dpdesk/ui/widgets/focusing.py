"""Finding what takes the keyboard focus."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

ASIDE = "aside"
_MOST_WIDGETS = 10_000


def first_focusable(region: QWidget) -> QWidget | None:
    """The first visible widget of a region, in tab order, that takes the focus by Tab.

    One with the property ASIDE takes it only where there is no other.
    """
    accepts = Qt.FocusPolicy.TabFocus.value
    widget: QWidget | None = region
    aside: QWidget | None = None
    for _ in range(_MOST_WIDGETS):
        if widget is None:
            return aside
        # The chain holds all widgets of the window, most of which are on panels that nobody sees.
        takes = widget.isVisible() and widget.isEnabled() and widget.focusPolicy().value & accepts
        if takes and (widget is region or region.isAncestorOf(widget)):
            if not widget.property(ASIDE):
                return widget
            aside = aside or widget
        widget = widget.nextInFocusChain()
        if widget is region:
            return aside
    return aside
