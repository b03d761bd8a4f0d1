"""A form for any method, from its parameter specifications alone.

Use::

    form = ParameterForm(method.parameters, live=method.live, mnemonics=panel_mnemonics)
    form.valuesChanged.connect(self._on_values)     # dict of plain values, after every user edit
    form.set_values(plan.protection.parameters)     # silent; keys left out show their defaults
    form.values()        # plain values of the parameters that apply now, as a plan writes them
    form.errors()        # {key: sentence}; empty when everything can be read

Sliders appear for the keys in ``live``. ``applies`` conditions show and hide fields. An error is
shown under its field once the user has left the field, not before the first edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dpdesk.core.errors import InputError
from dpdesk.core.parameters import Parameter, TextListParameter
from dpdesk.core.schema import OF_COLUMNS, Role
from dpdesk.ui.forms.columns import DimensionsField, FormContext
from dpdesk.ui.forms.fields import Field, range_words
from dpdesk.ui.forms.records import form_field
from dpdesk.ui.telling import say_expanded
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets.focusing import Mnemonics
from dpdesk.ui.widgets.states import in_window
from dpdesk.ui.words.spoken import said_line, spoken_parameter


class ParameterForm(QWidget):
    """See the module: ``valuesChanged(dict)``, ``set_values``, ``values``, ``errors``.

    A form with ``first`` keys shows these in this order, and folds the others away: they open by
    a button, and by themselves where one of them has another value than its default.
    """

    valuesChanged = Signal(object)
    first: tuple[str, ...] = ()

    def __init__(
        self,
        specifications: Sequence[Parameter],
        live: Sequence[str] = (),
        parent: QWidget | None = None,
        mnemonics: Mnemonics | None = None,
    ) -> None:
        super().__init__(parent)
        letters = mnemonics or Mnemonics()
        self._rows: dict[str, _Row] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE.m)
        self._more, self._rest = self._build_more(layout)
        for parameter in specifications:
            field = self.made_field(spoken_parameter(parameter), live=parameter.key in live)
            row = _Row(field, letters)
            row.field.edited.connect(self._on_edited)
            row.field.left.connect(self._on_left)
            self._rows[parameter.key] = row
        main = [self._rows[key] for key in self.first if key in self._rows]
        for place, row in enumerate(main):
            layout.insertWidget(place, row)
        rest = layout if not main else self._rest.layout()
        for row in self._rows.values():
            if row not in main and rest is not None:
                rest.addWidget(row)
        self._more.setVisible(bool(main))
        layout.addStretch(1)
        self._show_what_applies()

    def _build_more(self, layout: QVBoxLayout) -> tuple[QPushButton, QWidget]:
        """The button that opens the settings that have usual values, and their place."""
        more, rest = QPushButton(self.tr("More settings")), QWidget()
        more.setCheckable(True)
        say_expanded(more, expanded=False)
        more.setAccessibleName(more.text())
        more.setToolTip(self.tr("Settings that most releases leave as they are"))
        more.toggled.connect(self._on_more)
        inner = QVBoxLayout(rest)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(SPACE.m)
        layout.addWidget(more)
        layout.addWidget(rest)
        rest.hide()
        return more, rest

    @Slot(bool)
    def _on_more(self, opened: bool) -> None:
        self._rest.setVisible(opened)
        say_expanded(self._more, opened)

    def _open_what_is_set(self, values: Mapping[str, object]) -> None:
        """Open the folded settings where one of them was set to something unusual."""
        for key, value in values.items():
            row = self._rows.get(key)
            if row is None or key in self.first or value in (None, {}, [], ()):
                continue
            usual = row.field.parameter.as_plain(row.field.parameter.default_value())
            if value != usual:
                self._more.setChecked(True)

    def put_among(self, place: int, widget: QWidget) -> None:
        """Put something else among the rows that stand first."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(place, widget)

    def made_field(self, parameter: Parameter, *, live: bool) -> Field:
        """The field of a parameter: columns are checked in a list; single methods have others."""
        if isinstance(parameter, TextListParameter) and parameter.key in OF_COLUMNS:
            return DimensionsField(parameter)
        return form_field(parameter, live=live)

    def show_columns(self, columns: tuple[str, ...], roles: Mapping[str, Role]) -> None:
        """Offer the columns of the data, as their roles allow."""
        around = FormContext(columns, dict(roles))
        for row in self._rows.values():
            row.field.show_around(around)

    def follow(self, field: Field) -> None:
        """Change other fields because of what the user did to this one."""

    def values(self) -> dict[str, object]:
        """Plain values of the parameters that apply and are given."""
        given = {key: row.field.plain() for key, row in self._rows.items() if self._applies(key)}
        return {key: value for key, value in given.items() if value is not None}

    def set_values(self, values: Mapping[str, object]) -> None:
        """Show these values; ``valuesChanged`` is not emitted. Unknown keys are ignored."""
        for key, row in self._rows.items():
            row.field.set_plain(values.get(key))
            row.show_error("")
        self._open_what_is_set(values)
        self._show_what_applies()

    def errors(self) -> dict[str, str]:
        """A sentence for each value that its specification refuses."""
        found: dict[str, str] = {}
        for key, value in self.values().items():
            sentence = self._error(key, value)
            if sentence:
                found[key] = sentence
        return found

    def show_error(self, key: str, sentence: str) -> bool:
        """Show a sentence under a field (from a check elsewhere); False for an unknown key."""
        row = self._rows.get(key)
        if row is None:
            return False
        row.show_error(sentence)
        if sentence and key not in self.first:
            self._more.setChecked(True)
        return True

    def field(self, key: str) -> Field:
        """The field of a parameter; KeyError when there is none."""
        return self._rows[key].field

    def field_or_none(self, key: str) -> Field | None:
        """The editor of a parameter, where the form has the parameter."""
        row = self._rows.get(key)
        return None if row is None else row.field

    def _error(self, key: str, value: object) -> str:
        field = self._rows[key].field
        problem = field.problem()
        if problem:
            return problem
        try:
            field.parameter.parse(value, field.parameter.label)
        except InputError as error:
            return said_line(error)
        return ""

    def _applies(self, key: str) -> bool:
        row = self._rows[key]
        condition = row.field.parameter.applies
        if condition is None or condition.key not in self._rows:
            return True
        value = self._rows[condition.key].field.plain()
        return self._applies(condition.key) and str(value) in condition.values

    def _show_what_applies(self) -> None:
        for key, row in self._rows.items():
            row.setVisible(self._applies(key) and not row.field.empty)

    @Slot()
    def _on_edited(self) -> None:
        row = self._row_of_sender()
        if row is not None and row.has_error:
            self._check(row)
        if row is not None:
            self.follow(row.field)
        self._show_what_applies()
        self.valuesChanged.emit(self.values())

    @Slot()
    def _on_left(self) -> None:
        row = self._row_of_sender()
        if row is not None:
            self._check(row)

    def _check(self, row: _Row) -> None:
        value = row.field.plain()
        row.show_error("" if value is None else self._error(row.field.parameter.key, value))

    def _row_of_sender(self) -> _Row | None:
        sender = self.sender()
        return next((row for row in self._rows.values() if row.field is sender), None)


class _Row(QWidget):
    """Label with unit, field, and the place of its error; help behind a question mark."""

    def __init__(self, field: Field, letters: Mnemonics) -> None:
        super().__init__()
        self.field = field
        parameter = field.parameter
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(SPACE.xs)
        label = QLabel(letters.mark(parameter.label))
        label.setBuddy(field.control)
        label.setToolTip(parameter.help)
        label.setWordWrap(True)
        set_look(label, "strong")
        grid.addWidget(label, 0, 0)
        grid.addWidget(self._build_question(parameter), 0, 1, Qt.AlignmentFlag.AlignRight)
        grid.setColumnStretch(0, 1)
        self._help = QLabel(f"{parameter.help} {_sentence(range_words(parameter))}")
        self._help.setWordWrap(True)
        self._help.hide()
        set_look(self._help, "note")
        self._error = QLabel()
        self._error.setWordWrap(True)
        self._error.hide()
        set_look(self._error, "fail")
        for number, widget in enumerate((self._help, field, self._error), start=1):
            grid.addWidget(widget, number, 0, 1, 2)

    def _build_question(self, parameter: Parameter) -> QToolButton:
        self._question = QToolButton()
        self._question.setText("?")
        self._question.setCheckable(True)
        say_expanded(self._question, expanded=False)
        self._question.setToolTip(self.tr("What is this?"))
        self._question.setAccessibleName(self.tr("Explain {label}").format(label=parameter.label))
        self._question.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_look(self._question, "quiet")
        self._question.toggled.connect(self._on_question)
        return self._question

    @property
    def has_error(self) -> bool:
        """Whether an error stands under the field."""
        return not self._error.isHidden()

    def show_error(self, sentence: str) -> None:
        """Show or (with an empty text) remove the error."""
        self._error.setText(f"✕ {in_window(sentence)}" if sentence else "")
        self._error.setVisible(bool(sentence))
        control = self.field.control
        if bool(control.property("invalid")) != bool(sentence):
            control.setProperty("invalid", bool(sentence))
            control.style().unpolish(control)
            control.style().polish(control)
        control.setAccessibleDescription(sentence or self.field.parameter.help)

    @Slot(bool)
    def _on_question(self, shown: bool) -> None:
        self._help.setVisible(shown)
        say_expanded(self._question, shown)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
