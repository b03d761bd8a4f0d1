"""The editor of declared categories: one dimension at a time, never silently from the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QFrame, QLabel, QPushButton, QWidget

from dpdesk.core.parameters import Parameter
from dpdesk.ui.forms.combo import NarrowCombo
from dpdesk.ui.forms.cubes.context import FormContext
from dpdesk.ui.forms.field import Field
from dpdesk.ui.forms.lists import TextArea
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.flow import FlowBox
from dpdesk.ui.widgets.wheel import leave_wheel
from dpdesk.ui.words.counts import quoted
from dpdesk.ui.words.numbers import grouped

FILE, DATA, TYPED = "file", "data", "typed"


class DomainsField(Field):
    """Categories by dimension.

    ``wanted(str, str)`` asks for categories of a dimension (second) from its hierarchy file or
    from the data (first: :data:`FILE`, :data:`DATA`); :meth:`offer` brings them. Those of the data
    wait until somebody has confirmed that they were known beforehand. ``took(str, str)`` says,
    before :attr:`edited` does, that the categories of a dimension (first) come from somewhere
    (second: :data:`FILE`, :data:`DATA` or :data:`TYPED`); empty: that there are none any more.
    """

    wanted = Signal(str, str)
    took = Signal(str, str)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._values: dict[str, tuple[str, ...]] = {}
        self._around = FormContext()
        self._dimensions: tuple[str, ...] = ()
        self._offered: tuple[str, tuple[str, ...]] | None = None
        layout = column(self, gap=SPACE.xs)
        self._state = QLabel()
        self._state.setWordWrap(True)
        set_look(self._state, "note")
        self.choice = NarrowCombo()
        self.choice.setAccessibleName(self.tr("Dimension whose categories are shown"))
        self.choice.set_help(self.tr("The dimension whose categories are shown below"))
        leave_wheel(self.choice)
        self.choice.currentIndexChanged.connect(self._on_choice)
        self.area = TextArea()
        self._name(self.area)
        self.area.setPlaceholderText(self.tr("one category in each line, in the order of release"))
        self.area.textChanged.connect(self._on_text)
        self.area.left.connect(self.left)
        for widget in (self._state, self.choice, self.area, self._build_buttons()):
            layout.addWidget(widget)
        layout.addWidget(self._build_confirm())
        self._show()

    # -- values

    @property
    def control(self) -> QWidget:
        """The list of dimensions."""
        return self.choice

    def plain(self) -> object:
        """See :meth:`Field.plain`."""
        return {name: list(texts) for name, texts in self._values.items()} or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        given = value if isinstance(value, Mapping) else {}
        self._values = {
            str(name): tuple(map(str, texts))
            for name, texts in given.items()
            if isinstance(texts, list | tuple)
        }
        self._show()

    def show_around(self, around: FormContext, dimensions: Sequence[str]) -> None:
        """Edit the categories of these dimensions."""
        wanted = (*dimensions, *(name for name in self._values if name not in dimensions))
        if (around, wanted) == (self._around, self._dimensions):
            return
        self._around, self._dimensions = around, wanted
        self._show()

    def choose(self, name: str) -> None:
        """Show the categories of a dimension."""
        self.choice.setCurrentIndex(self.choice.findData(name))

    def offer(self, kind: str, name: str, categories: Sequence[str]) -> None:
        """Categories that were asked for; those of the data wait for a confirmation."""
        if kind == FILE:
            self._take(name, categories, FILE)
            return
        self._offered = (name, tuple(categories))
        self._confirm_text.setText(self._offer_words(name, categories))
        self.known.setChecked(False)
        self.use.setEnabled(False)
        self._confirm.show()
        self.known.setFocus()

    # -- building

    def _build_buttons(self) -> FlowBox:
        line = FlowBox(gap=SPACE.s)
        self.from_file = QPushButton(self.tr("Take these from the hierarchy file"))
        self.from_file.setToolTip(
            self.tr("Copy the categories that the hierarchy declares at the chosen level")
        )
        self.from_file.clicked.connect(self._on_file)
        self.from_data = QPushButton(self.tr("Suggest from the data…"))
        self.from_data.setToolTip(
            self.tr("Look at the values; you must confirm that they were known beforehand")
        )
        self.from_data.clicked.connect(self._on_data)
        for button in (self.from_file, self.from_data):
            button.setAccessibleName(button.text())
            line.add(button)
        return line

    def _build_confirm(self) -> QFrame:
        self._confirm = QFrame()
        set_look(self._confirm, "band-caution")
        lines = column(self._confirm, margin=SPACE.s, gap=SPACE.xs)
        self._confirm_text = QLabel()
        self._confirm_text.setWordWrap(True)
        self.known = QCheckBox(self.tr("Known before looking at the data"))
        self.known.setAccessibleName(self.tr("These categories were known beforehand"))
        self.known.setToolTip(self.tr("A category that only the data show would reveal a person"))
        self.known.toggled.connect(self._on_known)
        self.use = QPushButton(self.tr("Use them"))
        self.use.setAccessibleName(self.tr("Use the suggested categories"))
        self.use.setToolTip(self.tr("Declare these categories; possible once confirmed"))
        self.use.clicked.connect(self._on_use)
        self.refuse = QPushButton(self.tr("Do not use them"))
        self.refuse.setAccessibleName(self.tr("Do not use the suggested categories"))
        self.refuse.setToolTip(self.tr("Leave the categories as they are"))
        self.refuse.clicked.connect(self._on_refuse)
        answers = FlowBox(gap=SPACE.s)
        answers.add(self.use)
        answers.add(self.refuse)
        for widget in (self._confirm_text, self.known, answers):
            lines.addWidget(widget)
        self._confirm.hide()
        return self._confirm

    # -- showing

    @property
    def _current(self) -> str:
        return str(self.choice.currentData() or "")

    def _show(self) -> None:
        names, current = list(self._dimensions), self._current
        with QSignalBlocker(self.choice):
            if [self.choice.itemData(i) for i in range(self.choice.count())] != names:
                self.choice.clear()
                for name in names:
                    self.choice.addItem(name, name)
                self.choice.setCurrentIndex(max(0, self.choice.findData(current)))
        self._show_current()

    def _show_current(self) -> None:
        name = self._current
        text = "\n".join(self._values.get(name, ()))
        if text != self.area.toPlainText().rstrip("\n") or not text:
            with QSignalBlocker(self.area):
                self.area.setPlainText(text)
        self.area._fit()
        for widget in (self.area, self.from_data):
            widget.setEnabled(bool(name))
        self.from_file.setEnabled(name in self._around.hierarchies)
        self._state.setText(self._state_words())
        if self._offered is not None and self._offered[0] != name:
            self._on_refuse()

    def _state_words(self) -> str:
        missing = [
            name
            for name in self._dimensions
            if name not in self._values and name not in self._around.hierarchies
        ]
        if not self._dimensions:
            return self.tr("Choose dimensions first.")
        if missing:
            return self.tr("△ Not declared yet: {names}").format(names=", ".join(missing))
        name = self._current
        count = len(self._values.get(name, ()))
        if count:
            return self.tr("{name}: {n} categories, declared here").format(name=name, n=count)
        return self.tr("{name}: the categories of its hierarchy").format(name=name)

    def _offer_words(self, name: str, categories: Sequence[str]) -> str:
        shown = ", ".join(quoted(one) for one in categories[:6])
        more = "" if len(categories) <= 6 else ", …"
        return self.tr(
            "The data hold {n} values of {name}: {values}. A value that only one person has would "
            "show that this person is there. Use them only if you knew them beforehand."
        ).format(n=grouped(len(categories)), name=name, values=shown + more)

    def _take(self, name: str, categories: Sequence[str], origin: str) -> None:
        self._values[name] = tuple(categories)
        self.took.emit(name, origin)
        self._show()
        self.choose(name)
        self.edited.emit()
        self.left.emit()

    # -- reactions

    @Slot()
    def _on_choice(self) -> None:
        self._show_current()

    @Slot()
    def _on_text(self) -> None:
        name = self._current
        lines = [line.strip() for line in self.area.toPlainText().splitlines()]
        texts = tuple(line for line in lines if line)
        if not name or texts == self._values.get(name, ()):
            return
        if texts:
            self._values[name] = texts
        else:
            self._values.pop(name, None)
        self._state.setText(self._state_words())
        self.took.emit(name, TYPED if texts else "")
        self.edited.emit()

    @Slot()
    def _on_file(self) -> None:
        self.wanted.emit(FILE, self._current)

    @Slot()
    def _on_data(self) -> None:
        self.wanted.emit(DATA, self._current)

    @Slot(bool)
    def _on_known(self, known: bool) -> None:
        self.use.setEnabled(known)

    @Slot()
    def _on_use(self) -> None:
        offered, self._offered = self._offered, None
        self._confirm.hide()
        if offered is not None and self.known.isChecked():
            self._take(*offered, DATA)

    @Slot()
    def _on_refuse(self) -> None:
        self._offered = None
        self._confirm.hide()
