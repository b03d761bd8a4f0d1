"""Fields for which tables are published, and for the noise that follows the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Slot
from PySide6.QtWidgets import QWidget

from dpdesk.core.cube_parameters import (
    ALL,
    MAX_DIMENSIONS,
    CuboidNumbersParameter,
    CuboidsParameter,
    PublishParameter,
)
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Choice, ChoiceParameter, exact_number, plain_number
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.forms.field import Field
from dpdesk.ui.forms.fields import ChoiceField
from dpdesk.ui.forms.lists import LinesField, TextArea
from dpdesk.ui.forms.spin import NarrowSpin
from dpdesk.ui.theme import SPACE
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.wheel import leave_wheel

UP_TO, LIST = "up-to", "list"
TIMES, TOTAL = "×", "grand total"


class PublishField(Field):
    """All tables, those with few dimensions, or a list with one table in each line."""

    def __init__(self, parameter: PublishParameter) -> None:
        super().__init__(parameter)
        layout = column(self, gap=SPACE.xs)
        self.choice = NarrowCombo()
        self._name(self.choice)
        self.choice.set_help(parameter.help)
        leave_wheel(self.choice)
        self.choice.addItem(self.tr("All tables over these dimensions"), ALL)
        self.choice.addItem(self.tr("Tables with few dimensions"), UP_TO)
        self.choice.addItem(self.tr("These tables only"), LIST)
        self.most = NarrowSpin()
        self.most.setRange(0, 20)
        self.most.setPrefix(self.tr("up to "))
        self.most.setSuffix(self.tr(" dimensions"))
        self.most.setValue(2)
        self.most.setAccessibleName(self.tr("Most dimensions of a table"))
        self.most.setToolTip(self.tr("Tables with at most this number of dimensions are published"))
        leave_wheel(self.most)
        self.area = TextArea()
        self.area.setAccessibleName(self.tr("Tables to publish, one in each line"))
        self.area.setToolTip(self.tr("Dimensions with × between them; “grand total” for none"))
        self.area.setPlaceholderText(f"age {TIMES} sex\n{TOTAL}")
        for widget in (self.choice, self.most, self.area):
            layout.addWidget(widget)
        self.choice.currentIndexChanged.connect(self._on_choice)
        self.most.valueChanged.connect(self._on_changed)
        self.area.textChanged.connect(self._on_changed)
        self.area.left.connect(self.left)
        self._show_parts()

    @property
    def control(self) -> QWidget:
        """The list of ways."""
        return self.choice

    def plain(self) -> object:
        """See :meth:`Field.plain`; an empty list of tables stays text for its error."""
        kind = self.choice.currentData()
        if kind == UP_TO:
            return {MAX_DIMENSIONS: self.most.value()}
        if kind == LIST:
            return read_tables(self.area.toPlainText()) or ""
        return ALL

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        kind = ALL
        with QSignalBlocker(self.most), QSignalBlocker(self.area), QSignalBlocker(self.choice):
            if isinstance(value, Mapping):
                kind = UP_TO
                self.most.setValue(int(str(value.get(MAX_DIMENSIONS, 2))))
            elif isinstance(value, list | tuple):
                kind = LIST
                if read_tables(self.area.toPlainText()) != [list(one) for one in value]:
                    self.area.setPlainText(tables_text(value))
            elif value == "":
                kind = LIST
            self.choice.setCurrentIndex(self.choice.findData(kind))
        self._show_parts()

    def _show_parts(self) -> None:
        self.most.setVisible(self.choice.currentData() == UP_TO)
        self.area.setVisible(self.choice.currentData() == LIST)
        self.area._fit()

    @Slot()
    def _on_choice(self) -> None:
        self._show_parts()
        self.edited.emit()

    @Slot()
    def _on_changed(self) -> None:
        self.edited.emit()


def read_tables(text: str) -> list[list[str]]:
    """Tables from lines: names with ``×`` between them, ``grand total`` for no dimension."""
    found: list[list[str]] = []
    for line in text.splitlines():
        words = [part.strip() for part in line.split(TIMES)]
        if words == [TOTAL]:
            found.append([])
        elif any(words):
            found.append([word for word in words if word])
    return found


def tables_text(tables: Sequence[Sequence[str]]) -> str:
    """Lines that :func:`read_tables` reads."""
    return "\n".join(f" {TIMES} ".join(names) if names else TOTAL for names in tables)


class TablesField(LinesField):
    """Some tables, one in each line: names with ``×`` between them."""

    def __init__(self, parameter: CuboidsParameter) -> None:
        super().__init__(parameter)
        self._area.setPlaceholderText(f"age {TIMES} sex {TIMES} region")

    def plain(self) -> object:
        """See :meth:`Field.plain`; None for no line."""
        return read_tables(self._area.toPlainText()) or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        tables = [list(one) for one in value] if isinstance(value, list | tuple) else []
        if (self.plain() or []) != tables:
            self._show(tables_text(tables))


class CuboidNumbersField(LinesField):
    """A number for some tables: lines such as ``age × sex: 2``."""

    def __init__(self, parameter: CuboidNumbersParameter) -> None:
        super().__init__(parameter)
        self._number = parameter.number
        self._area.setPlaceholderText(f"age {TIMES} sex: 2\n{TOTAL}: 1")

    def plain(self) -> object:
        """See :meth:`Field.plain`; None for no line, the text where a line cannot be read."""
        text = self._area.toPlainText()
        found: list[dict[str, object]] = []
        for line in text.splitlines():
            if line.strip():
                names, colon, number = line.rpartition(":")
                exact = exact_number(number)
                tables = read_tables(names)
                if not colon or exact is None or len(tables) != 1:
                    return text
                found.append({"dimensions": tables[0], self._number: plain_number(exact)})
        return found or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        items = value if isinstance(value, list | tuple) else ()
        lines = [
            msg("{file}: {note}", file=tables_text([item["dimensions"]]), note=item[self._number])
            for item in items
            if isinstance(item, Mapping)
        ]
        if self.plain() != (list(items) or None):
            self._show("\n".join(lines))


class OptionalChoiceField(ChoiceField):
    """A list of named values of which none need be chosen."""

    def __init__(self, parameter: ChoiceParameter, none: str, explanation: str) -> None:
        choices = (Choice("", none, explanation), *parameter.choices)
        super().__init__(replace(parameter, choices=choices))
        self.parameter = parameter

    def plain(self) -> object:
        """See :meth:`Field.plain`; None for no choice."""
        return super().plain() or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        super().set_plain("" if value is None else value)
