"""The accessibility sweep that every panel test runs over its window.

``findings(window)`` lists what a person without mouse or sight would stumble over: focusable
widgets without a name or tooltip, or out of Tab's reach; what screen readers are told nothing of;
pictures and buttons without words; letters given twice. Texts that Qt would take for rich text are
found too: names and values of data come from anyone.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QLabel,
    QMenuBar,
    QTabBar,
    QWidget,
)


def focusable(root: QWidget) -> list[QWidget]:
    """Visible, enabled widgets below ``root`` that take the keyboard focus."""
    accepts = Qt.FocusPolicy.TabFocus.value
    return [
        widget
        for widget in root.findChildren(QWidget)
        if widget.isVisibleTo(root)
        and widget.isEnabled()
        and widget.focusPolicy().value & accepts
        and not _internal(widget)
    ]


def findings(root: QWidget) -> list[str]:
    """Sentences about widgets that break the rules; empty when all is well."""
    found: list[str] = []
    reachable = _tab_order(root)
    for widget in focusable(root):
        if not _name(widget):
            found.append(f"{_place(widget)} has no accessible name")
        if not widget.toolTip() and not isinstance(widget, QTabBar):
            found.append(f"{_place(widget)} has no tooltip")
        if widget not in reachable:
            found.append(f"{_place(widget)} cannot be reached by Tab")
        found.extend(_untold(widget))
    found.extend(_wordless(root))
    found.extend(_double_letters(root))
    found.extend(_rich(root))
    return found


def _rich(root: QWidget) -> list[str]:
    """Labels that show markup as such, for instance pictures from the disk."""
    found = []
    for label in root.findChildren(QLabel):
        label.ensurePolished()
        if label.textFormat() is not Qt.TextFormat.PlainText:
            found.append(f"{_place(label)} takes its text for rich text")
    return found


def _untold(widget: QWidget) -> list[str]:
    """What the bridge to screen readers lacks: a name, and a description (or the tooltip)."""
    told = QAccessible.queryAccessibleInterface(widget)
    if told is None:
        return [f"{_place(widget)} is unknown to screen readers"]
    lacking = []
    if not told.text(QAccessible.Text.Name) and widget.accessibleName():
        lacking.append("name")
    if not told.text(QAccessible.Text.Description) and widget.toolTip():
        lacking.append("description")
    return [f"{_place(widget)} tells screen readers no {what}" for what in lacking]


def _wordless(root: QWidget) -> list[str]:
    """Buttons that show only a picture, and are called nothing."""
    return [
        f"{_place(button)} shows no words and has no name"
        for button in root.findChildren(QAbstractButton)
        if button.isVisibleTo(root)
        and not button.text()
        and not button.accessibleName()
        and not _internal(button)
        and not isinstance(button.parent(), QAbstractScrollArea)
    ]


def _tab_order(root: QWidget) -> set[QWidget]:
    seen: set[QWidget] = set()
    widget: QWidget | None = root
    while widget is not None and widget not in seen:
        seen.add(widget)
        widget = widget.nextInFocusChain()
    return seen


def _name(widget: QWidget) -> str:
    if widget.accessibleName():
        return widget.accessibleName()
    if isinstance(widget, QAbstractButton):
        return widget.text()
    labels = widget.window().findChildren(QLabel)
    return next((label.text() for label in labels if label.buddy() is widget), "")


def _internal(widget: QWidget) -> bool:
    """Parts of compound widgets, which Qt names through their owner."""
    if widget.objectName().startswith("qt_"):
        return True
    parent: QObject | None = widget.parent()
    while isinstance(parent, QWidget):
        inside_view = isinstance(parent, QAbstractScrollArea) and widget is parent.viewport()
        if inside_view or parent.focusProxy() is widget or widget.focusProxy() is parent:
            return True
        parent = parent.parent() if parent.objectName().startswith("qt_") else None
    return isinstance(widget, QMenuBar)


def _double_letters(root: QWidget) -> list[str]:
    owners: dict[str, list[str]] = {}
    texts = [
        (label.text(), label)
        for label in root.findChildren(QLabel)
        if label.buddy() is not None and label.isVisibleTo(root)
    ]
    texts += [
        (button.text(), button)
        for button in root.findChildren(QAbstractButton)
        if button.isVisibleTo(root) and button.focusPolicy() != Qt.FocusPolicy.NoFocus
    ]
    for bar in root.findChildren(QMenuBar):
        texts += [(action.text(), bar) for action in bar.actions()]
    for text, widget in texts:
        letter = _letter(text)
        if letter:
            owners.setdefault(letter, []).append(f"{text!r} of {_place(widget)}")
    return [
        f"the letter {letter} is given to {' and '.join(who)}"
        for letter, who in owners.items()
        if len(who) > 1
    ]


def _letter(text: str) -> str:
    plain = text.replace("&&", "")
    at = plain.find("&")
    return plain[at + 1].upper() if 0 <= at < len(plain) - 1 else ""


def _place(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton | QLabel) else ""
    return f"{type(widget).__name__} {widget.objectName() or text!r}"
