"""Layouts with the distances of the house."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from dpdesk.ui.theme import SPACE, set_look


def column(parent: QWidget | None = None, *, margin: int = 0, gap: int = SPACE.s) -> QVBoxLayout:
    """A vertical layout; without a parent it can be added to another layout."""
    layout = QVBoxLayout(parent) if parent is not None else QVBoxLayout()
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(gap)
    return layout


def row(parent: QWidget | None = None, *, margin: int = 0, gap: int = SPACE.s) -> QHBoxLayout:
    """A horizontal layout; without a parent it can be added to another layout."""
    layout = QHBoxLayout(parent) if parent is not None else QHBoxLayout()
    layout.setContentsMargins(margin, margin, margin, margin)
    layout.setSpacing(gap)
    return layout


def card(*widgets: QWidget, look: str = "card") -> QFrame:
    """A framed surface around some widgets, from top to bottom."""
    frame = QFrame()
    set_look(frame, look)
    layout = column(frame, margin=SPACE.l)
    for widget in widgets:
        layout.addWidget(widget)
    return frame


def splitter(
    name: str,
    widgets: Sequence[QWidget],
    stretches: Sequence[int],
    orientation: Qt.Orientation = Qt.Orientation.Horizontal,
) -> QSplitter:
    """Widgets side by side with movable borders; none can be closed by accident."""
    made = QSplitter(orientation)
    made.setObjectName(name)
    made.setChildrenCollapsible(False)
    made.setHandleWidth(7)
    for number, (widget, stretch) in enumerate(zip(widgets, stretches, strict=True)):
        made.addWidget(widget)
        made.setStretchFactor(number, stretch)
    return made
