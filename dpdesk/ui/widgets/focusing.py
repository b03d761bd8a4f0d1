"""Keyboard and wheel: what takes the focus, letters after Alt, and a wheel that only scrolls."""

from __future__ import annotations

from collections.abc import Iterator
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
    inner: list[QWidget | None] = [] if layout is None else list(_items(layout))
    if isinstance(widget, QScrollArea):
        inner = [widget.widget()]
    elif isinstance(widget, QSplitter):
        inner = [widget.widget(place) for place in range(widget.count())]
    known = [one for one in inner if one is not None]
    rest = [one for one in widget.children() if isinstance(one, QWidget) and one not in known]
    rest = [one for one in rest if not one.isWindow() and not one.objectName().startswith("qt_")]
    for one in (*known, *sorted(rest, key=lambda one: (one.y(), one.x()))):
        yield from _laid_out(one)


def _items(layout: QLayout) -> Iterator[QWidget]:
    order = list(range(layout.count()))
    if isinstance(layout, QGridLayout):
        order.sort(key=lambda place: tuple(map(int, layout.getItemPosition(place)))[:2])  # type: ignore[call-overload]
    for item in map(layout.itemAt, order):
        if item is None:
            continue
        inside, widget = item.layout(), item.widget()
        if inside is not None:
            yield from _items(inside)
        elif widget is not None:
            yield widget


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
                return before.replace("&", "&&") + "&" + after.replace("&", "&&")
        return text.replace("&", "&&")
