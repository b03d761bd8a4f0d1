"""What a screen reader is given: the tree of a window, walked as the bridge to it does.

``faults(window)`` lists what would mislead someone who hears the window instead of seeing it. It
asks ``QAccessible.queryAccessibleInterface``, as AT-SPI does, not properties of widgets.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QComboBox,
    QLabel,
    QLineEdit,
    QScrollBar,
    QWidget,
)

from tests.helpers.a11y import findings, focusable

Role, Text = QAccessible.Role, QAccessible.Text
_INTERACTIVE = (
    *(Role.Button, Role.CheckBox, Role.RadioButton, Role.ComboBox, Role.EditableText),
    *(Role.SpinBox, Role.Slider, Role.Table, Role.Tree, Role.List, Role.PageTab, Role.ButtonMenu),
)
_SOME = 40


def tree(window: QWidget) -> Iterator[QAccessibleInterface]:
    """Each thing in a window that can be seen, from the outside to the inside."""
    found = QAccessible.queryAccessibleInterface(window)
    waiting = [] if found is None else [found]
    while waiting:
        one = waiting.pop()
        if one.state().invisible and one.object() is not window:
            continue
        yield one
        if isinstance(one.object(), QAbstractItemView):
            continue  # cells are those of its model
        waiting += [child for place in range(one.childCount()) if (child := one.child(place))]


def faults(window: QWidget) -> list[str]:
    """Sentences about what would mislead; empty when all is well."""
    found = findings(window)
    if QAccessible.queryAccessibleInterface(window).role() not in (Role.Window, Role.Dialog):
        found.append(f"{type(window).__name__} is not said to be a window")
    for one in tree(window):
        widget = one.object()
        if not isinstance(widget, QWidget) or widget.objectName().startswith("qt_"):
            continue
        if isinstance(widget, QScrollBar) or isinstance(widget.parent(), QScrollBar):
            continue
        found += [f"{_called(one)} {fault}" for fault in _of_one(one, widget)]
    return [*found, *_out_of_order(window)]


def texts(window: QWidget) -> Iterator[str]:
    """All that can be read in a window: labels, buttons, fields, tables, lists, hints."""
    for widget in window.findChildren(QWidget):
        if not widget.isVisibleTo(window):
            continue
        yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
        if isinstance(widget, QLabel | QAbstractButton):
            yield widget.text()
        if isinstance(widget, QLineEdit):
            yield from (widget.text(), widget.placeholderText())
        if isinstance(widget, QComboBox):
            yield from (widget.itemText(place) for place in range(widget.count()))
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from _cells(widget)


def _cells(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
    for column in range(min(columns, _SOME)):
        yield str(model.headerData(column, Qt.Orientation.Horizontal) or "")
        for row in range(min(model.rowCount(QModelIndex()), _SOME)):
            yield str(model.index(row, column).data() or "")


def _of_one(one: QAccessibleInterface, widget: QWidget) -> Iterator[str]:
    name, role = one.text(Text.Name), one.role()
    inside = isinstance(widget.parent(), QAbstractScrollArea | QComboBox)
    if role in _INTERACTIVE and not name and not inside:
        yield f"({type(widget).__name__}) has no name"
    if isinstance(widget, QAbstractButton):
        if _exclusive(widget) and role is not Role.RadioButton:
            yield f"is one of several choices, but said to be a {role.name}"
        if widget.text() == "?" and not one.state().expandable:
            yield "explains something, but is not said to be expandable"
        if not _labelled(one) and not _begins(name, widget.text()):
            yield f"is not called as it is labelled: {widget.text()!r}"
    heads = isinstance(widget, QLabel) and widget.property("look") in ("headline", "section")
    if heads and (role is not Role.Heading or not _begins(name, widget.text())):
        yield f"is a heading, but said to be a {role.name}"
    if isinstance(widget, QLabel) and widget.buddy() is not None and widget.text():
        yield from _of_label(widget, widget.buddy())
    if isinstance(widget, QAbstractSlider):
        number = one.text(Text.Value)
        value = one.valueInterface()
        if not number or (number == str(widget.value()) and widget.maximum() > 100):
            yield f"says {number!r} ({value is not None}), not what is shown"
    if isinstance(widget, QComboBox) and one.text(Text.Value) != widget.currentText():
        yield f"says {one.text(Text.Value)!r} and shows {widget.currentText()!r}"


def _labelled(one: QAccessibleInterface) -> bool:
    return bool(one.relations(QAccessible.RelationFlag.Label))


def _of_label(label: QLabel, buddy: QWidget) -> Iterator[str]:
    """A box to choose from is called by what is chosen on Linux; its label is told beside it."""
    told = QAccessible.queryAccessibleInterface(buddy)
    takes = buddy.focusPolicy() is not Qt.FocusPolicy.NoFocus
    if told is None or not takes or isinstance(buddy, QComboBox):
        return
    if not _begins(told.text(Text.Name), label.text()):
        yield f"labels what is called {told.text(Text.Name)!r}"


def _exclusive(button: QAbstractButton) -> bool:
    group = button.group()
    grouped = group is not None and group.exclusive() and len(group.buttons()) > 1
    return button.isCheckable() and (grouped or button.autoExclusive())


def _plain(text: str) -> str:
    words = text.replace("&&", "\0").replace("&", "").replace("\0", "&")
    return " ".join(words.strip(" ›▾…:*").replace("\n", " ").split()).casefold()


def _begins(name: str, label: str) -> bool:
    """Whether a spoken name begins with the visible label, which may be a sign alone."""
    shown = _plain(label)
    return not any(letter.isalpha() for letter in shown) or _plain(name).startswith(shown)


def _called(one: QAccessibleInterface) -> str:
    return f"{one.role().name} {one.text(Text.Name)!r}"


def _out_of_order(window: QWidget) -> list[str]:
    """Where Tab jumps back: to what stands above, or to the left, in the same place."""
    window.focusNextPrevChild(True)
    stops = focusable(window)
    chain, widget = [], window.nextInFocusChain()
    while widget is not None and widget is not window:
        if widget in stops:
            chain.append(widget)
        widget = widget.nextInFocusChain()
    return [
        f"Tab goes back from {one.accessibleName() or type(one).__name__!r} to "
        f"{other.accessibleName() or type(other).__name__!r}"
        for one, other in pairwise(chain)
        if _before(*_branches(one, other))
    ]


def _branches(one: QWidget, other: QWidget) -> tuple[QRect, QRect]:
    """The parts of the nearest common place that hold two widgets."""
    above = [one]
    while above[-1].parentWidget() is not None and not above[-1].isAncestorOf(other):
        above.append(above[-1].parentWidget())
    place = above[-1]
    inner = next((each for each in reversed(above[:-1])), one)
    branch = other
    while branch.parentWidget() is not None and branch.parentWidget() is not place:
        branch = branch.parentWidget()
    return _where(inner), _where(branch)


def _where(widget: QWidget) -> QRect:
    return QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())


def _before(first: QRect, second: QRect) -> bool:
    """Whether the second is read before the first."""
    if second.bottom() <= first.top() + 2:
        return True
    beside = second.top() < first.bottom() and first.top() < second.bottom()
    return beside and second.right() <= first.left() + 2
