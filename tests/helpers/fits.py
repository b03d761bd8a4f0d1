"""Does everything that is written fit into its place? The sweep for small windows and large text.

``misfits(window)`` lists visible labels, buttons, lists that fold out and table headings whose text
is cut, what lies outside of its parent, what covers its neighbour, and areas (other than tables)
that scroll sideways.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QCheckBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QScrollArea,
    QSplitterHandle,
    QTabBar,
    QTableView,
    QToolButton,
    QWidget,
)

from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.widgets.states import ElidedLabel

SLACK = 1


def misfits(root: QWidget) -> list[str]:
    """Sentences about what is cut or covered; empty when all is well."""
    found: list[str] = []
    for widget in _visible(root):
        if isinstance(widget, QLabel):
            found.extend(_of_label(widget))
        elif isinstance(widget, QAbstractButton):
            found.extend(_of_button(widget))
        elif isinstance(widget, QComboBox):
            found.extend(_of_combo(widget))
        elif isinstance(widget, QHeaderView):
            found.extend(_of_heading(widget))
        elif isinstance(widget, QScrollArea) and widget.horizontalScrollBar().maximum() > 0:
            found.append(f"{place(widget)} scrolls sideways")
        found.extend(_of_children(widget))
    return found


def place(widget: QWidget) -> str:
    """How to find a widget: kind and words, and those of the nearest named one around it."""
    text = widget.text() if isinstance(widget, QAbstractButton | QLabel) else ""
    words = widget.accessibleName() or text or widget.objectName()
    around = widget.parentWidget()
    while around is not None and not (around.accessibleName() or around.objectName()):
        around = around.parentWidget()
    inside = (around.accessibleName() or around.objectName()) if around is not None else ""
    return f"{type(widget).__name__} {words!r} in {inside!r}"


def _visible(root: QWidget) -> Iterator[QWidget]:
    yield root
    for widget in root.findChildren(QWidget):
        if widget.isVisibleTo(root) and widget.width() > 0:
            yield widget


def _of_label(label: QLabel) -> Iterator[str]:
    if not label.text() or label.pixmap().width() > 0:
        return
    if isinstance(label, ElidedLabel):
        cut = label.fontMetrics().horizontalAdvance(label.text()) > label.contentsRect().width()
        if cut and not label.toolTip():
            yield f"{place(label)} is cut and has no tooltip"
        return
    hint = label.sizeHint()
    if label.wordWrap():
        needed = label.heightForWidth(label.width())
        if needed > label.height() + SLACK:
            yield f"{place(label)} needs {needed} px of height, has {label.height()}"
        if label.minimumSizeHint().width() > label.width() + SLACK:
            yield f"{place(label)} has a word wider than its {label.width()} px"
        return
    if hint.width() > label.width() + SLACK or hint.height() > label.height() + SLACK:
        yield f"{place(label)} needs {_size(hint)}, has {_size(label.size())}"


def _of_button(button: QAbstractButton) -> Iterator[str]:
    icon_only = (
        isinstance(button, QToolButton)
        and button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
        and not button.icon().isNull()
    )
    if not button.text() or icon_only or isinstance(button, QSplitterHandle):
        return
    metrics = button.fontMetrics()
    wanted = metrics.size(Qt.TextFlag.TextShowMnemonic, button.text())
    extra = button.iconSize().width() + 4 if not button.icon().isNull() else 0
    if isinstance(button, QCheckBox):
        extra += button.sizeHint().height() // 2
    if wanted.width() + extra + 4 > button.width() or wanted.height() > button.height():
        yield f"{place(button)} needs {wanted.width() + extra} px, has {_size(button.size())}"


def _of_combo(box: QComboBox) -> Iterator[str]:
    if isinstance(box, NarrowCombo) and not box.isEditable():
        return  # it cuts with an ellipsis and tells the whole
    wide = box.fontMetrics().horizontalAdvance(box.currentText())
    if wide + box.height() // 2 > box.width():
        yield f"{place(box)} cuts {box.currentText()!r}"


def _of_heading(header: QHeaderView) -> Iterator[str]:
    model = header.model()
    if model is None or header.orientation() is Qt.Orientation.Vertical:
        return
    for section in range(min(header.count(), 60)):
        if header.isSectionHidden(section) or header.sectionSize(section) == 0:
            continue
        text = str(model.headerData(section, header.orientation()) or "")
        tip = model.headerData(section, header.orientation(), Qt.ItemDataRole.ToolTipRole)
        if header.fontMetrics().horizontalAdvance(text) > header.sectionSize(section) and not tip:
            yield f"heading {text!r} of {place(header.parentWidget())} is cut without tooltip"


def _of_children(parent: QWidget) -> Iterator[str]:
    """Children outside of their parent, or on top of each other."""
    if isinstance(parent, QAbstractScrollArea | QAbstractItemView | QTabBar | QTableView):
        return
    around = parent.parentWidget()
    if isinstance(around, QScrollArea) and parent is around.viewport():
        return
    shown = [
        child
        for child in parent.children()
        if isinstance(child, QWidget) and not child.isHidden() and not child.isWindow()
    ]
    parts = [child for child in shown if child.width() > 0 and _counts(child)]
    whole = parent.rect().adjusted(-SLACK, -SLACK, SLACK, SLACK)
    for child in parts:
        if not whole.contains(child.geometry()) and not isinstance(child, QSplitterHandle):
            yield f"{place(child)} lies outside of its parent"
    for one, other in combinations(parts, 2):
        shared: QRect = one.geometry().intersected(other.geometry())
        if shared.width() > SLACK and shared.height() > SLACK:
            yield f"{place(one)} and {place(other)} cover each other"


def _counts(child: QWidget) -> bool:
    """Parts that Qt places by itself, and frames that float, are left out."""
    return not child.objectName().startswith("qt_") and not child.property("floats")


def _size(size: object) -> str:
    return f"{size.width()}×{size.height()}"  # type: ignore[attr-defined]
