"""What every field of a form is, and the plainest one: a line of text."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from dpdesk.core.list_parameters import NestedParameter
from dpdesk.core.parameters import Parameter, ParameterValue
from dpdesk.ui.words.plan_speech import in_form
from dpdesk.ui.words.spoken import said


class Field(QWidget):
    """The control of one parameter.

    ``edited()`` is emitted after the user changed the value, never by :meth:`set_plain`.
    ``left()`` is emitted when the user has finished (for errors that must not come too early).
    """

    edited = Signal()
    left = Signal()

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self.parameter = parameter
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    @property
    def control(self) -> QWidget:
        """The widget that takes the focus and the label's letter."""
        raise NotImplementedError

    @property
    def empty(self) -> bool:
        """Whether the field has nothing to show now."""
        return False

    def plain(self) -> object:
        """The value as a plan would write it; None when not given."""
        raise NotImplementedError

    def set_plain(self, value: object) -> None:
        """Show a plain value, silently."""
        raise NotImplementedError

    def _name(self, widget: QWidget) -> None:
        widget.setAccessibleName(self.parameter.label)
        widget.setAccessibleDescription(self.parameter.help)
        accepted = range_words(self.parameter)
        widget.setToolTip(
            f"{self.parameter.help} ({accepted})" if accepted else self.parameter.help
        )


class TextField(Field):
    """Any other parameter: a line of text that the specification itself reads."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._line = QLineEdit()
        self._name(self._line)
        self._line.setPlaceholderText(range_words(parameter))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._line)
        self._line.textEdited.connect(self._on_text)
        self._line.editingFinished.connect(self.left)
        self.set_plain(None)

    @property
    def control(self) -> QWidget:
        """The line."""
        return self._line

    def plain(self) -> object:
        """See :meth:`Field.plain`: the text, None when empty."""
        return self._line.text().strip() or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        given = value if value is not None else start_of(self.parameter)
        self._line.setText("" if given is None else str(given))

    @Slot(str)
    def _on_text(self, text: str) -> None:
        self.edited.emit()


def range_words(parameter: Parameter) -> str:
    """What a parameter accepts, as it is typed into a field; empty where an editor shows it."""
    if isinstance(parameter, NestedParameter):
        return ""
    return said(in_form(parameter.range_text()))


def start_of(parameter: Parameter) -> object:
    """What a form shows before anything is given: the default, else the suggestion."""
    suggested: ParameterValue = getattr(parameter, "suggested", None)
    default = parameter.default_value()
    return parameter.as_plain(suggested if default is None else default)
