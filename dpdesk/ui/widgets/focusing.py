"""Keyboard and wheel: what takes the focus, letters after Alt, and a wheel that only scrolls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
)
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QGridLayout,
    QLayout,
    QScrollArea,
    QSplitter,
    QWidget,
)

from dpdesk.ui.words.numbers import verbatim

ASIDE = "aside"
_MOST_WIDGETS = 10_000


def announce(widget: QWidget, text: str, *, urgent: bool = False) -> None:
    """Have a screen reader say something that has just come up; ``urgent`` interrupts others.

    Only announcements arrive everywhere: alerts are dropped on their way on Linux.
    """
    if text and widget.isVisible():
        event = QAccessibleAnnouncementEvent(widget, text)
        ways = QAccessible.AnnouncementPoliteness
        event.setPoliteness(ways.Assertive if urgent else ways.Polite)
        QAccessible.updateAccessibility(event)


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


def tab_as_laid_out(root: QWidget) -> None:
    """Let Tab go through what is in a widget in the order in which it is laid out."""
    stops = [one for one in _laid_out(root) if one.focusPolicy() is not Qt.FocusPolicy.NoFocus]
    for one, other in pairwise(stops):
        QWidget.setTabOrder(one, other)


def _laid_out(widget: QWidget) -> Iterator[QWidget]:
    """A widget and all in it: by layouts, or by their place where nothing lays them out."""
    yield widget
    if isinstance(widget, QAbstractScrollArea) and not isinstance(widget, QScrollArea):
        return
    layout = widget.layout()
    children = [one for one in widget.children() if isinstance(one, QWidget)]
    inner: list[QWidget | None] = [] if layout is None else list(_items(layout, children))
    if isinstance(widget, QScrollArea):
        inner = [widget.widget()]
    elif isinstance(widget, QSplitter):
        inner = [widget.widget(place) for place in range(widget.count())]
    known = [one for one in inner if one is not None]
    rest = [one for one in children if one not in known]
    rest = [one for one in rest if not one.isWindow() and not one.objectName().startswith("qt_")]
    for one in (*known, *sorted(rest, key=lambda one: (one.y(), one.x()))):
        yield from _laid_out(one)


def _items(layout: QLayout, widgets: Sequence[QWidget]) -> Iterator[QWidget]:
    """Those of the widgets that a layout places, in its order.

    No item of the layout is asked for: what Python knows of a spacer outlives it, and would stand
    for whatever lies at its address next.
    """
    found = [(layout.indexOf(one), one) for one in widgets]
    inner = [one for one in layout.children() if isinstance(one, QLayout)]
    placed: list[tuple[int, QWidget | QLayout]] = [one for one in found if one[0] >= 0]
    placed += [(layout.indexOf(one), one) for one in inner]
    if isinstance(layout, QGridLayout):
        placed.sort(key=lambda one: tuple(map(int, layout.getItemPosition(one[0])))[:2])  # type: ignore[call-overload]
    else:
        placed.sort(key=lambda one: one[0])
    for _, one in placed:
        if isinstance(one, QLayout):
            yield from _items(one, widgets)
        else:
            yield one


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


def menu_letters() -> str:
    """The letters of the menu bar, in the language of the window."""
    return QCoreApplication.translate("Mnemonics", "FEVRH")


class Mnemonics:
    """Hands out letters; those of the menu bar are taken from the start."""

    def __init__(self, reserved: str | None = None) -> None:
        letters = menu_letters() if reserved is None else reserved
        self._taken = {letter.upper() for letter in letters}

    def mark(self, text: str) -> str:
        """``text`` with ``&`` before the first free letter, unmarked when none is free.

        The beginnings of words come first. An ampersand of the text itself is doubled.
        """
        starts = [n for n, letter in enumerate(text) if n == 0 or text[n - 1] in " -"]
        rest = [n for n in range(len(text)) if n not in starts]
        for place in (*starts, *rest):
            letter = text[place].upper()
            if letter.isascii() and letter.isalpha() and letter not in self._taken:
                self._taken.add(letter)
                before, after = text[:place], text[place:]
                return verbatim(before) + "&" + verbatim(after)
        return verbatim(text)
