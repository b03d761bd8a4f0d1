"""Where declared categories come from: noted as they are declared, and told by the guarantee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QLabel, QWidget

from dpdesk.core.parameters import Parameter
from dpdesk.ui.forms.cubes.domains import DATA, TYPED
from dpdesk.ui.forms.field import Field
from dpdesk.ui.theme import set_look
from dpdesk.ui.widgets import column


class OriginsField(Field):
    """What the editor of categories noted, by dimension; nobody types it.

    Categories that were suggested from the data stay so when they are edited afterwards: they were
    seen.
    """

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._values: dict[str, str] = {}
        self._dimensions: tuple[str, ...] = ()
        self._text = QLabel()
        self._text.setWordWrap(True)
        set_look(self._text, "note")
        self._name(self._text)
        column(self).addWidget(self._text)
        self._show()

    @property
    def control(self) -> QWidget:
        """The text."""
        return self._text

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return self._shown() or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        given = value if isinstance(value, Mapping) else {}
        self._values = {str(name): str(origin) for name, origin in given.items()}
        self._show()

    def show_dimensions(self, names: Sequence[str]) -> None:
        """Tell of these dimensions alone."""
        self._dimensions = tuple(names)
        self._show()

    def _shown(self) -> dict[str, str]:
        return {name: one for name, one in self._values.items() if name in self._dimensions}

    @Slot(str, str)
    def note(self, name: str, origin: str) -> None:
        """Categories of a dimension were declared; without an origin, there are none any more."""
        if not origin:
            self._values.pop(name, None)
        elif origin != TYPED or self._values.get(name) != DATA:
            self._values[name] = origin
        self._show()

    def _show(self) -> None:
        words = {
            TYPED: self.tr("{name}: written by hand"),
            "file": self.tr("{name}: from a hierarchy"),
            "code-list": self.tr("{name}: from the code list of the source"),
            DATA: self.tr("△ {name}: suggested from the data"),
        }
        lines = [
            words[origin].format(name=name)
            for name, origin in self._shown().items()
            if origin in words
        ]
        self._text.setText("\n".join(lines) or self.tr("Not recorded"))
