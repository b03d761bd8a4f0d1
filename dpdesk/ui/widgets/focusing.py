"""Keyboard and wheel: what takes the focus, letters after Alt, and a wheel that only scrolls."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget

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
