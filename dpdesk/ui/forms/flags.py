"""The field of a parameter that is either so or not."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Slot
from PySide6.QtWidgets import QCheckBox, QLabel, QWidget

from dpdesk.core.parameters import Parameter
from dpdesk.ui.forms.field import Field
from dpdesk.ui.theme import set_look
from dpdesk.ui.widgets import column


class FlagField(Field):
    """A check box; its help stands below."""

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._box = QCheckBox(self.tr("yes"))
        self._name(self._box)
        explained = QLabel(parameter.help)
        explained.setWordWrap(True)
        set_look(explained, "note")
        layout = column(self)
        layout.addWidget(self._box)
        layout.addWidget(explained)
        self._box.toggled.connect(self._on_toggled)
        self.set_plain(None)

    @property
    def control(self) -> QWidget:
        """The check box."""
        return self._box

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return self._box.isChecked()

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`; None shows the default."""
        given = self.parameter.default_value() if value is None else value
        with QSignalBlocker(self._box):
            self._box.setChecked(given is True)

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        self.edited.emit()
        self.left.emit()
