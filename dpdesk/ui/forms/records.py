"""Fields whose value is made of records: measures, choices, rules, tables; one card for each.

What a record looks like is data of its parameter (:mod:`dpdesk.core.parameters`): no method has
controls of its own here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial

from PySide6.QtCore import QSignalBlocker, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.cube_parameters import PartParameter, PositiveParameter
from dpdesk.core.errors import InputError
from dpdesk.core.parameters import (
    Among,
    ColumnParameter,
    DecimalParameter,
    FlagParameter,
    IntegerParameter,
    NumberTableParameter,
    Parameter,
    Records,
    StructuredParameter,
    TextListParameter,
    Variant,
    exact_number,
    plain_number,
)
from dpdesk.core.plain import number_text
from dpdesk.core.schema import Role
from dpdesk.ui.forms.columns import DimensionsField, FormContext, NumbersByColumn
from dpdesk.ui.forms.fields import Field, field_for, range_words
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import bring_in_sight, leave_wheel
from dpdesk.ui.words.numbers import marked, typed_number
from dpdesk.ui.words.spoken import said, spoken_parameter

_NUMBERS = (DecimalParameter, IntegerParameter, PositiveParameter)
_ACROSS = 4


class ColumnField(Field):
    """One of the columns of the data."""

    def __init__(self, parameter: ColumnParameter) -> None:
        super().__init__(parameter)
        self._among = parameter.among
        self.combo = NarrowCombo(8)
        self._name(self.combo)
        self.combo.set_help(parameter.help)
        self.combo.setPlaceholderText(self.tr("Which column?"))
        leave_wheel(self.combo)
        self._show(())
        column(self).addWidget(self.combo)
        self.combo.currentIndexChanged.connect(self._on_index)

    @property
    def control(self) -> QWidget:
        """The list of columns."""
        return self.combo

    def plain(self) -> object:
        """See :meth:`Field.plain`: the name."""
        return self.combo.currentData() or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`; a name that is not offered is shown all the same."""
        name = value if isinstance(value, str) else ""
        with QSignalBlocker(self.combo):
            if name and self.combo.findData(name) < 0:
                self.combo.addItem(name, name)
            place = self.combo.findData(name)
            self.combo.setCurrentIndex(place)

    def show_around(self, around: FormContext) -> None:
        """See :meth:`Field.show_around`."""
        names = around.columns if self._among is Among.ALL else around.possible
        if self._among is Among.SENSITIVE:
            names = tuple(one for one in names if around.roles.get(one) is Role.SENSITIVE)
        self._show(names)

    def _show(self, names: tuple[str, ...]) -> None:
        chosen = self.plain()
        with QSignalBlocker(self.combo):
            self.combo.clear()
            if not self.parameter.required:
                sensitive = self._among is Among.SENSITIVE
                absent = self.tr("the one that is sensitive") if sensitive else self.tr("none")
                self.combo.addItem(absent, "")
            for name in names:
                self.combo.addItem(name, name)
        self.set_plain(chosen)

    @Slot()
    def _on_index(self) -> None:
        self.edited.emit()
        self.left.emit()


class NumberLine(Field):
    """A number that is typed; what says the same number stays as it was typed."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self.line = QLineEdit()
        self._name(self.line)
        self.line.setToolTip(parameter.help)
        usual = exact_number(parameter.as_plain(parameter.default_value()))
        self.line.setPlaceholderText("" if usual is None else self._written(usual))
        column(self).addWidget(self.line)
        self.line.textEdited.connect(self.edited)
        self.line.editingFinished.connect(self.left)

    @property
    def control(self) -> QWidget:
        """The line."""
        return self.line

    def plain(self) -> object:
        """See :meth:`Field.plain`; a text that is no number stays for its error."""
        text = self.line.text().strip()
        number = self._typed(text) if text else None
        return (text or None) if number is None else plain_number(number)

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        number = exact_number(value)
        if number is None or self.plain() != plain_number(number):
            given = "" if value is None else str(value)
            self.line.setText(given if number is None else self._written(number))

    def _written(self, number: Fraction) -> str:
        return marked(number_text(number))

    def _typed(self, text: str) -> Fraction | None:
        number = typed_number(text, fractions=True)
        return None if number is None else Fraction(number)

    def problem(self) -> str:
        """See :meth:`Field.problem`."""
        value = self.plain()
        if isinstance(value, str):
            return self.tr(
                "“{text}” is not a number, or can be read in two ways: write it without marks "
                "between groups of digits."
            ).format(text=value)
        try:
            self.parameter.parse(value, "")
        except InputError:
            return self.tr("“{name}”: expected {expected}.").format(
                name=self.parameter.label, expected=range_words(self.parameter)
            )
        return ""


class PartLine(NumberLine):
    """A part that is typed in percent, with its sign or without."""

    def __init__(self, parameter: PartParameter) -> None:
        self._part = parameter
        super().__init__(parameter)
        if not self.line.placeholderText():
            self.line.setPlaceholderText("%")
        self.line.editingFinished.connect(self._on_left)

    def _written(self, number: Fraction) -> str:
        return marked(self._part.percent(number))

    def _typed(self, text: str) -> Fraction | None:
        number = super()._typed(text.removesuffix("%").strip())
        return None if number is None else number * self._part.whole / 100

    @Slot()
    def _on_left(self) -> None:
        """Write the sign of a number that was typed without it."""
        text = self.line.text().strip()
        if text and not text.endswith("%") and self._typed(text) is not None:
            self.line.setText(f"{text} %")


class MarkField(Field):
    """A check box that says itself what it means; what is not checked is not written."""

    def __init__(self, parameter: FlagParameter) -> None:
        super().__init__(parameter)
        self.box = QCheckBox(parameter.label)
        self._name(self.box)
        self.box.setToolTip(parameter.help)
        column(self).addWidget(self.box)
        self.box.toggled.connect(self._on_toggled)

    @property
    def control(self) -> QWidget:
        """The check box."""
        return self.box

    def plain(self) -> object:
        """See :meth:`Field.plain`: True, or nothing."""
        return True if self.box.isChecked() else None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        with QSignalBlocker(self.box):
            self.box.setChecked(value is True)

    @Slot()
    def _on_toggled(self) -> None:
        self.edited.emit()
        self.left.emit()


def form_field(parameter: Parameter, *, live: bool = False) -> Field:
    """The field of a parameter: records where it is made of them."""
    if isinstance(parameter, StructuredParameter) and parameter.records is not None:
        return RecordsField(parameter, parameter.records)
    if isinstance(parameter, ColumnParameter):
        return ColumnField(parameter)
    if isinstance(parameter, NumberTableParameter):
        return NumbersByColumn(parameter)
    return field_for(parameter, live=live)


def _entry_field(parameter: Parameter) -> Field:
    """The field of one entry of a record, which takes less room than one of a form."""
    if isinstance(parameter, PartParameter):
        return PartLine(parameter)
    if isinstance(parameter, _NUMBERS):
        return NumberLine(parameter)
    if isinstance(parameter, FlagParameter):
        return MarkField(parameter)
    if isinstance(parameter, TextListParameter) and not parameter.values:
        return DimensionsField(parameter)
    return form_field(parameter)


class _Pane(QWidget):
    """The entries of a record of one variant, in their order; numbers stand side by side."""

    def __init__(self, variant: Variant) -> None:
        super().__init__()
        self.variant = variant
        self.fields = {one.key: _entry_field(spoken_parameter(one)) for one in variant.entries}
        self._captions: dict[str, QLabel] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(SPACE.xs)
        row, place = 0, 0
        for key, field in self.fields.items():
            small = isinstance(field, NumberLine)
            if place and not (small and place < _ACROSS):
                row, place = row + 2, 0
            across = 1 if small else _ACROSS
            if not isinstance(field, MarkField):
                caption = QLabel(field.parameter.label)
                caption.setBuddy(field.control)
                caption.setWordWrap(True)
                set_look(caption, "note")
                grid.addWidget(caption, row, place, 1, across)
                self._captions[key] = caption
            grid.addWidget(field, row + 1, place, 1, across)
            place += across
        self.show_what_applies()

    def applying(self) -> Iterator[Field]:
        """The fields of the entries that apply now."""
        return (one for one in self.fields.values() if self._applies(one.parameter))

    def given(self) -> dict[str, object]:
        """The entries that apply and are given."""
        found = {field.parameter.key: field.plain() for field in self.applying()}
        return {key: value for key, value in found.items() if value is not None}

    def _applies(self, parameter: Parameter) -> bool:
        rule = parameter.applies
        if rule is None or rule.key not in self.fields:
            return True
        return str(self.fields[rule.key].plain()) in rule.values

    def show_what_applies(self) -> None:
        """Hide the entries that do not matter now."""
        for key, field in self.fields.items():
            applies = self._applies(field.parameter)
            field.setVisible(applies)
            if key in self._captions:
                self._captions[key].setVisible(applies)


class RecordLine(QFrame):
    """One record; ``edited()``, ``left()`` and ``removeAsked()``.

    Keys that no control shows stay as they were given.
    """

    edited = Signal()
    left = Signal()
    removeAsked = Signal()

    def __init__(self, records: Records) -> None:
        super().__init__()
        set_look(self, "sunken")
        self._records, self._around = records, FormContext()
        self._kept: dict[str, object] = {}
        self._sought = False
        self._panes: dict[int, _Pane] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE.s, SPACE.s, SPACE.s, SPACE.s)
        layout.setSpacing(SPACE.xs)
        self.kind, self.remove = NarrowCombo(), QPushButton(said(records.remove[0]))
        self.kind.setAccessibleName(said(records.kind))
        self.kind.set_help(said(records.kind))
        leave_wheel(self.kind)
        for one in records.variants:
            self.kind.addItem(said(one.label))
        self._place: QVBoxLayout = column()
        self.remove.setAccessibleName(self.remove.text())
        self.remove.setToolTip(said(records.remove[1]))
        layout.addWidget(self.kind)
        # Before it had a place, it would be shown as a window of its own.
        self.kind.setVisible(len(records.variants) > 1)
        layout.addLayout(self._place)
        layout.addWidget(self.remove)
        self._show_pane()
        self.kind.currentIndexChanged.connect(self._on_kind)
        self.remove.clicked.connect(self.removeAsked)

    @property
    def variant(self) -> Variant:
        """The variant that is chosen."""
        return self._records.variants[self.kind.currentIndex()]

    @property
    def fields(self) -> Mapping[str, Field]:
        """The fields of the chosen variant, by key."""
        return self._pane.fields

    @property
    def control(self) -> QWidget:
        """What takes the focus."""
        if len(self._records.variants) > 1:
            return self.kind
        return next(iter(self.fields.values())).control

    @property
    def blank(self) -> bool:
        """Whether nothing was given: the first variant, with nothing in it."""
        first = self.kind.currentIndex() == 0 and not self.variant.bare
        return first and not self._pane.given() and not self._kept

    def plain(self) -> object:
        """The record as a plan writes it; texts that are no numbers stay for their error."""
        variant = self.variant
        if variant.bare:
            return variant.bare
        return {**variant.fixed, **self._pane.given(), **self._kept}

    def set_plain(self, value: object) -> None:
        """Show a record, silently."""
        variant = self._records.variant_of(value)
        given = value if isinstance(value, Mapping) else {}
        with QSignalBlocker(self.kind):
            self.kind.setCurrentIndex(self._records.variants.index(variant))
        self._show_pane()
        known = {*variant.fixed, *self.fields}
        self._kept = {str(key): one for key, one in given.items() if key not in known}
        for key, field in self.fields.items():
            field.set_plain(given.get(key))
        self._pane.show_what_applies()

    def problem(self) -> str:
        """What is missing, cannot be read or does not fit together; empty: nothing."""
        for field in self._pane.applying():
            if field.plain() is None and field.parameter.required:
                if isinstance(field, ColumnField):
                    return self.tr("Choose a column.")
                return self.tr("“{name}” is missing.").format(name=field.parameter.label)
            found = "" if field.plain() is None else field.problem()
            if found:
                return found
        record, check = self.plain(), self.variant.check
        return said(check(record)) if check is not None and isinstance(record, Mapping) else ""

    def show_around(self, around: FormContext) -> None:
        """Offer these columns."""
        self._around = around
        for pane in self._panes.values():
            for field in pane.fields.values():
                field.show_around(around)

    def show_itself(self) -> None:
        """Scroll to all of it, once it has its place, and while its parts find theirs."""
        self._sought = True
        QTimer.singleShot(0, self, partial(bring_in_sight, self))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See :meth:`show_itself`."""
        super().resizeEvent(event)
        focus = QApplication.focusWidget()
        if self._sought and focus is not None and self.isAncestorOf(focus):
            QTimer.singleShot(0, self, partial(bring_in_sight, self))

    @property
    def _pane(self) -> _Pane:
        place = self.kind.currentIndex()
        if place not in self._panes:
            pane = _Pane(self.variant)
            self._panes[place] = pane
            self._place.addWidget(pane)
            for field in pane.fields.values():
                field.show_around(self._around)
                field.edited.connect(self._on_edited)
                field.left.connect(self.left)
        return self._panes[place]

    def _show_pane(self) -> None:
        shown = self._pane
        for pane in self._panes.values():
            pane.setVisible(pane is shown and bool(pane.fields))

    @Slot(int)
    def _on_kind(self, place: int) -> None:
        """Another variant takes over what it has in common with the one before."""
        before = next((one for one in self._panes.values() if not one.isHidden()), None)
        self._show_pane()
        self._kept = {}
        if before is not None:
            self._take_over(before)
        self._on_edited()
        self.left.emit()
        self.show_itself()

    def _take_over(self, before: _Pane) -> None:
        names = [one.plain() for one in before.fields.values() if isinstance(one, ColumnField)]
        columns = [one for one in self.fields.values() if isinstance(one, ColumnField)]
        for combo, name in zip(columns, names, strict=False):
            combo.set_plain(name)
        for key, field in self.fields.items():
            old = before.fields.get(key)
            if old is not None and old is not field:
                field.set_plain(old.plain())

    @Slot()
    def _on_edited(self) -> None:
        self._sought = False
        self._pane.show_what_applies()
        self.edited.emit()


class RecordsField(Field):
    """A list of records, with a button for one more; see
    :class:`~dpdesk.core.parameters.Records`.
    """

    def __init__(self, parameter: Parameter, records: Records) -> None:
        super().__init__(parameter)
        self.records, self._around = records, FormContext()
        self._many = not records.alone
        layout = column(self, gap=SPACE.xs)
        self._place: QVBoxLayout = column(gap=SPACE.xs)
        layout.addLayout(self._place)
        self.lines: list[RecordLine] = []
        more, tip = map(said, records.more)
        self.more = QPushButton(more)
        self.more.setAccessibleName(more if records.least else f"{parameter.label}: {more}")
        self.more.setToolTip(tip)
        self.more.clicked.connect(self._on_more)
        layout.addWidget(self.more)
        self.set_plain(None)

    @property
    def control(self) -> QWidget:
        """That of the first record, else the button for one."""
        return self.lines[0].control if self.lines else self.more

    def plain(self) -> object:
        """See :meth:`Field.plain`: one record, or a list of them."""
        if not self.lines or (self.records.least and all(line.blank for line in self.lines)):
            return None
        found = [line.plain() for line in self.lines]
        return found if self._many or len(found) > 1 else found[0]

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`; None shows the default."""
        if value is None:
            value = self.parameter.as_plain(self.parameter.default_value())
        several = isinstance(value, list | tuple)
        self._many = several or not self.records.alone
        items = [] if value is None else list(value) if isinstance(value, list | tuple) else [value]
        wanted = max(self.records.least, len(items))
        while len(self.lines) > wanted:
            self._drop(self.lines[-1])
        while len(self.lines) < wanted:
            self._add()
        for place, line in enumerate(self.lines):
            line.set_plain(items[place] if place < len(items) else None)

    def problem(self) -> str:
        """See :meth:`Field.problem`: that of the first record that has one."""
        return next(filter(None, (line.problem() for line in self.lines)), "")

    def show_around(self, around: FormContext) -> None:
        """See :meth:`Field.show_around`."""
        if around != self._around:
            self._around = around
            for line in self.lines:
                line.show_around(around)

    def _add(self) -> None:
        line = RecordLine(self.records)
        line.show_around(self._around)
        line.edited.connect(self.edited)
        line.left.connect(self.left)
        line.removeAsked.connect(self._on_remove)
        self.lines.append(line)
        self._place.addWidget(line)
        self._show_buttons()

    def _drop(self, line: RecordLine) -> None:
        self.lines.remove(line)
        self._place.removeWidget(line)
        line.hide()
        line.deleteLater()
        self._show_buttons()

    def _show_buttons(self) -> None:
        most = self.records.most
        self.more.setVisible(most is None or len(self.lines) < most)
        for line in self.lines:
            line.remove.setVisible(len(self.lines) > self.records.least)

    def _proposal(self) -> object:
        """What one more record is at first."""
        used = [line.variant for line in self.lines]
        offered = self.records.proposed
        fresh = (one for one in offered if self.records.variant_of(one) not in used)
        return next(fresh, offered[-1] if offered else None)

    @Slot()
    def _on_more(self) -> None:
        proposal = self._proposal()
        self._many = self._many or bool(self.lines)
        self._add()
        self.lines[-1].set_plain(proposal)
        self.lines[-1].control.setFocus()
        self.lines[-1].show_itself()
        self.edited.emit()

    @Slot()
    def _on_remove(self) -> None:
        line = self.sender()
        if isinstance(line, RecordLine) and len(self.lines) > self.records.least:
            place = self.lines.index(line)
            self._drop(line)
            rest = self.lines[place : place + 1] or self.lines[-1:]
            (rest[0].control if rest else self.more).setFocus()
            self.edited.emit()
            self.left.emit()
