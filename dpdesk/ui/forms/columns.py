"""The columns of the data, as forms offer them, and a field that checks some of them in a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QLabel, QListWidget, QListWidgetItem, QPushButton, QWidget

from dpdesk.core.messages import listed
from dpdesk.core.parameters import Parameter, TextListParameter
from dpdesk.core.schema import Role
from dpdesk.ui.forms.fields import Field
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.choices import MANY_LINES, ListFinder
from dpdesk.ui.words.numbers import shortened
from dpdesk.ui.words.spoken import said

NOT_DIMENSIONS = frozenset({Role.IDENTIFIER, Role.WEIGHT, Role.CLUSTER})


@dataclass(frozen=True)
class FormContext:
    """Columns of the data, in order, their roles, and those that have a hierarchy.

    ``declared`` are those whose hierarchy declares the categories without a look at the data.
    """

    columns: tuple[str, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    hierarchies: frozenset[str] = frozenset()
    declared: frozenset[str] = frozenset()

    @property
    def possible(self) -> tuple[str, ...]:
        """The columns that can be dimensions."""
        return tuple(
            name
            for name in self.columns
            if self.roles.get(name, Role.INSENSITIVE) not in NOT_DIMENSIONS
        )

    @property
    def drawable(self) -> FormContext:
        """The columns whose values can be drawn; no hierarchy declares their categories."""
        drawn = (Role.SENSITIVE, Role.INSENSITIVE)
        names = (one for one in self.columns if self.roles.get(one, Role.INSENSITIVE) in drawn)
        return replace(self, columns=tuple(names), hierarchies=frozenset(), declared=frozenset())


MOST_SHOWN = 9


class CheckList(QListWidget):
    """Names with check boxes; ``left()`` when the focus goes. Space checks the current one."""

    left = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Say that the user has finished."""
        super().focusOutEvent(event)
        self.left.emit()


class DimensionsField(Field):
    """Check boxes for the columns; what is checked later comes later."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._chosen: tuple[str, ...] = ()
        self._around = FormContext()
        self._list = CheckList()
        self._name(self._list)
        self._list.setToolTip(f"{parameter.help} {self.tr('Space checks a column.')}")
        layout = column(self, gap=SPACE.xs)
        self._finder = ListFinder(self._list, self.tr("Find a column"))
        self._all = QPushButton(self.tr("Check the visible ones"))
        self._all.setToolTip(self.tr("Check all visible columns; press again to check none"))
        self._all.clicked.connect(self._on_all)
        for widget in (self._finder, self._list):
            layout.addWidget(widget)
        layout.addWidget(self._all, 0, Qt.AlignmentFlag.AlignLeft)
        self._absent = QLabel()
        self._absent.setWordWrap(True)
        set_look(self._absent, "note")
        layout.addWidget(self._absent)
        self._list.itemChanged.connect(self._on_item)
        self._list.left.connect(self.left)

    @property
    def control(self) -> QWidget:
        """The list."""
        return self._list

    @property
    def chosen(self) -> tuple[str, ...]:
        """The checked columns, in the order of the plan."""
        return self._chosen

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return list(self._chosen) or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        self._chosen = tuple(map(str, value)) if isinstance(value, list | tuple) else ()
        self._show()

    def show_around(self, around: FormContext) -> None:
        """Offer these columns."""
        if around != self._around:
            self._around = around
            self._show()

    def _show(self) -> None:
        possible = self._around.possible
        names = [*possible, *(name for name in self._chosen if name not in possible)]
        with QSignalBlocker(self._list):
            known = [self._list.item(place).text() for place in range(self._list.count())]
            if names != known:
                self._list.clear()
                self._list.addItems(names)
            for place, name in enumerate(names):
                item = self._list.item(place)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                on = name in self._chosen
                item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
        line = max(self._list.sizeHintForRow(0), self.fontMetrics().height() + SPACE.s)
        shown = min(max(len(names), 2), MOST_SHOWN)
        self._list.setFixedHeight(line * shown + 2 * SPACE.s)
        self._all.setVisible(len(names) > MANY_LINES)
        self._show_absent()

    def _show_absent(self) -> None:
        """Name the columns that an empty list stands for."""
        role = self.parameter.role if isinstance(self.parameter, TextListParameter) else None
        meant = [name for name, one in self._around.roles.items() if one is role]
        self._absent.setText(
            self.tr("None is checked: {columns}, by their role.").format(
                columns=said(listed([shortened(name) for name in meant]))
            )
        )
        self._absent.setVisible(bool(meant) and not self._chosen)

    @Slot()
    def _on_all(self) -> None:
        """Check all in sight as one edit; where all of them are checked, uncheck them."""
        shown = [item.text() for item in self._finder.found]
        rest = tuple(one for one in self._chosen if one not in shown)
        whole = all(name in self._chosen for name in shown)
        fresh = (name for name in shown if name not in self._chosen)
        self._chosen = rest if whole else (*self._chosen, *fresh)
        self._show()
        self.edited.emit()
        self.left.emit()

    @Slot(QListWidgetItem)
    def _on_item(self, item: QListWidgetItem) -> None:
        name = item.text()
        rest = tuple(one for one in self._chosen if one != name)
        self._chosen = (*rest, name) if item.checkState() is Qt.CheckState.Checked else rest
        self._show_absent()
        self.edited.emit()
        self.left.emit()
