"""Fields with a place for each dimension: which columns, which level, where the rest goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QFrame,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from dpdesk.app.private.labelling import LevelChoice
from dpdesk.core.parameters import Parameter
from dpdesk.ui.forms.columns import FormContext, PerDimension
from dpdesk.ui.forms.fields import Field, TextArea
from dpdesk.ui.forms.spin import NarrowCombo, NarrowSpin
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import FlowBox, leave_wheel
from dpdesk.ui.words.numbers import grouped, quoted

MOST_LEVEL = 30


class LevelsByDimension(PerDimension):
    """The level of its hierarchy at which a dimension is published.

    Where the levels are known, they are chosen by what they hold; else by their number.
    """

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._choices: dict[str, tuple[LevelChoice, ...]] = {}

    def show_choices(self, choices: Mapping[str, tuple[LevelChoice, ...]]) -> None:
        """Offer these levels, by dimension."""
        if dict(choices) != self._choices:
            self._choices = dict(choices)
            self._build(tuple(self._lines))

    def _made(self, name: str) -> QWidget:
        choices = self._choices.get(name, ())
        return self._made_list(name, choices) if choices else self._made_spin(name)

    def _made_list(self, name: str, choices: tuple[LevelChoice, ...]) -> QWidget:
        combo = NarrowCombo()
        combo.setProperty("dimension", name)
        for choice in choices:
            combo.addItem(self._words(choice), choice.level)
        combo.set_help(self.parameter.help)
        leave_wheel(combo)
        combo.activated.connect(self._on_chosen)
        return combo

    def _words(self, choice: LevelChoice) -> str:
        """A level as people know it: how many categories it has, and the first of them."""
        if choice.categories is None:
            return self.tr("{n}: original values").format(n=choice.level)
        shown = ", ".join(choice.examples)
        more = ", …" if choice.categories > len(choice.examples) else ""
        if choice.categories == 1:
            return self.tr("{n}: 1 category ({shown})").format(n=choice.level, shown=shown)
        words = self.tr("{n}: {many} categories ({shown})")
        many = grouped(choice.categories)
        return words.format(n=choice.level, many=many, shown=shown + more)

    def _made_spin(self, name: str) -> QWidget:
        spin = NarrowSpin()
        spin.setRange(0, MOST_LEVEL)
        spin.setProperty("dimension", name)
        leave_wheel(spin)
        spin.valueChanged.connect(self._on_level)
        spin.editingFinished.connect(self.left)
        return spin

    def _fill(self, made: QWidget, value: object) -> None:
        level = value if isinstance(value, int) else 0
        with QSignalBlocker(made):
            if isinstance(made, NarrowSpin):
                made.setValue(level)
            elif isinstance(made, NarrowCombo):
                place = made.findData(level)
                if place < 0:
                    made.addItem(self.tr("{n}: no such level").format(n=level), level)
                    place = made.count() - 1
                made.setCurrentIndex(place)

    def level(self, name: str) -> int:
        """The level of a dimension."""
        found = self._values.get(name)
        return found if isinstance(found, int) else 0

    @Slot(int)
    def _on_level(self, value: int) -> None:
        sender = self.sender()
        if sender is not None:
            self._set(str(sender.property("dimension")), value or None)

    @Slot(int)
    def _on_chosen(self, place: int) -> None:
        sender = self.sender()
        if isinstance(sender, NarrowCombo):
            level = sender.itemData(place)
            self._set(str(sender.property("dimension")), level or None)
            self.left.emit()


class OutsideField(PerDimension):
    """The category for all texts that belong to none."""

    def _made(self, name: str) -> QWidget:
        line = QLineEdit()
        line.setProperty("dimension", name)
        line.setPlaceholderText(self.tr("one of the categories"))
        line.textEdited.connect(self._on_text)
        line.editingFinished.connect(self.left)
        return line

    def _fill(self, made: QWidget, value: object) -> None:
        if isinstance(made, QLineEdit):
            text = "" if value is None else str(value)
            if made.text() != text:
                made.setText(text)

    @Slot(str)
    def _on_text(self, text: str) -> None:
        sender = self.sender()
        if sender is not None:
            self._set(str(sender.property("dimension")), text or None)


FILE, CODES, DATA, TYPED = "file", "code-list", "data", "typed"
ALL = "all"
_SEPARATORS = (";", ",", "\t")


class DomainsField(Field):
    """Categories by dimension.

    ``wanted(str, str)`` asks for categories of a dimension (second) from its hierarchy file or
    from the data (first: :data:`FILE`, :data:`DATA`), or (:data:`ALL`) for those of all dimensions
    that have none; :meth:`offer` brings them. Those of the data wait until somebody has confirmed
    that they were known beforehand. ``took(str, str)`` says, before :attr:`edited` does, that the
    categories of a dimension (first) come from somewhere (second: :data:`FILE`, :data:`CODES`,
    :data:`DATA` or :data:`TYPED`); empty: that there are none any more.
    """

    wanted = Signal(str, str)
    took = Signal(str, str)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._values: dict[str, tuple[str, ...]] = {}
        self._around = FormContext()
        self._dimensions: tuple[str, ...] = ()
        self._offered: dict[str, tuple[str, ...]] = {}
        layout = column(self, gap=SPACE.xs)
        self._state = QLabel()
        self._state.setWordWrap(True)
        set_look(self._state, "note")
        self.choice = NarrowCombo()
        self.choice.setAccessibleName(self.tr("Dimension whose categories are shown"))
        self.choice.set_help(self.tr("The dimension whose categories are shown below"))
        leave_wheel(self.choice)
        self.choice.currentIndexChanged.connect(self._show_current)
        self.area = TextArea()
        self._name(self.area)
        self.area.setPlaceholderText(
            self.tr("one category in each line, in the order of publication")
        )
        self.area.textChanged.connect(self._on_text)
        self.area.left.connect(self.left)
        self.of_empty = QCheckBox(self.tr("A category for empty fields"))
        self.of_empty.setAccessibleName(self.of_empty.text())
        self.of_empty.setToolTip(
            self.tr("Rows in which the field is empty are published as a category of their own")
        )
        self.of_empty.toggled.connect(self._on_text)
        self.for_all = QPushButton(self.tr("Suggest for all that have none…"))
        self.for_all.setAccessibleName(self.for_all.text())
        self.for_all.setToolTip(
            self.tr(
                "Code lists in the file are used at once; values that only the data show must "
                "be confirmed as known beforehand"
            )
        )
        self.for_all.clicked.connect(self.ask_for_all)
        for widget in (self._state, self.for_all, self.choice, self.area, self.of_empty):
            layout.addWidget(widget)
        layout.addWidget(self._build_buttons())
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

    def show_dimensions(self, around: FormContext, dimensions: Sequence[str]) -> None:
        """Edit the categories of these dimensions."""
        wanted = (*dimensions, *(name for name in self._values if name not in dimensions))
        if (around, wanted) == (self._around, self._dimensions):
            return
        self._around, self._dimensions = around, wanted
        self._show()

    def choose(self, name: str) -> None:
        """Show the categories of a dimension."""
        self.choice.setCurrentIndex(self.choice.findData(name))

    @property
    def missing(self) -> tuple[str, ...]:
        """Dimensions that have no categories: none are listed, and no hierarchy declares them."""
        known = {*self._values, *self._around.declared}
        return tuple(name for name in self._dimensions if name not in known)

    def problem(self) -> str:
        """See :meth:`Field.problem`: a list that is one category is a line that was not split."""
        name = next((name for name, texts in self._values.items() if len(texts) == 1), "")
        if not name:
            return ""
        if self._splits(name):
            text = self.tr("{name} has 1 category: write one in each line, or split the line.")
        else:
            text = self.tr("{name} has 1 category: a table needs two or more, one in each line.")
        return text.format(name=name)

    def _splits(self, name: str) -> tuple[str, ...]:
        """The categories that stand in the one line of a dimension; empty when they do not."""
        texts = self._values.get(name, ())
        mark = next((one for one in _SEPARATORS if len(texts) == 1 and one in texts[0]), "")
        parts = [part.strip() for part in texts[0].split(mark)] if mark else []
        return tuple(dict.fromkeys(part for part in parts if part))

    @Slot()
    def ask_for_all(self) -> None:
        """Ask for categories of all dimensions that have none."""
        self.wanted.emit(ALL, "")

    def offer(self, kind: str, found: Mapping[str, Sequence[str]]) -> None:
        """Categories that were asked for, by dimension; those of the data wait to be confirmed."""
        if not found:
            return
        if kind != DATA:
            self._take(found, kind)
            return
        self._offered = {name: tuple(texts) for name, texts in found.items()}
        words = [self._offer_words(name, texts) for name, texts in self._offered.items()]
        warning = self.tr(
            "A value that only one person has would show that this person is in the data. "
            "Use them only if you knew them beforehand."
        )
        self._confirm_text.setText("\n".join([*words, warning]))
        if len(found) == 1:
            self.choose(next(iter(found)))
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
        self.split = QPushButton(self.tr("Split the line"))
        self.split.setToolTip(self.tr("Make a category of each part between commas or semicolons"))
        self.split.clicked.connect(self._on_split)
        for button in (self.split, self.from_file, self.from_data):
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
        values = self._values.get(name, ())
        text = "\n".join(one for one in values if one)
        with QSignalBlocker(self.of_empty):
            self.of_empty.setChecked("" in values)
        if text != self.area.toPlainText().rstrip("\n") or not text:
            with QSignalBlocker(self.area):
                self.area.setPlainText(text)
        self.area._fit()
        for widget in (self.area, self.of_empty, self.from_data):
            widget.setEnabled(bool(name))
        self.from_file.setEnabled(name in self._around.declared)
        self._show_state()
        if len(self._offered) == 1 and name not in self._offered:
            self._on_refuse()

    def _show_state(self) -> None:
        self._state.setText(self._state_words())
        if self.missing:
            self.for_all.show()
        else:
            self._put_away(self.for_all)
        self.split.setVisible(bool(self._splits(self._current)))

    def _state_words(self) -> str:
        missing = self.missing
        if not self._dimensions:
            return self.tr("Choose columns first.")
        if missing:
            return self.tr("△ Not declared yet: {names}").format(names=", ".join(missing))
        name = self._current
        count = len(self._values.get(name, ()))
        if count == 1:
            return self.tr("{name}: 1 category, declared here").format(name=name)
        if count:
            return self.tr("{name}: {n} categories, declared here").format(name=name, n=count)
        return self.tr("{name}: the categories of its hierarchy").format(name=name)

    def _offer_words(self, name: str, categories: Sequence[str]) -> str:
        empty = self.tr("empty field")
        shown = ", ".join(quoted(one) if one else empty for one in categories[:6])
        more = "" if len(categories) <= 6 else ", …"
        return (
            self.tr("The data contain {n} values of {name}: {values}.")
            .format(n=grouped(len(categories)), name=name, values=shown + more)
            .replace("….", "…")
        )

    def _take(self, found: Mapping[str, Sequence[str]], origin: str) -> None:
        for name, categories in found.items():
            self._values[name] = tuple(categories)
            self.took.emit(name, origin)
        self._show()
        self.choose(next(iter(found)))
        self.edited.emit()
        self.left.emit()

    # -- reactions

    @Slot()
    def _on_text(self) -> None:
        name = self._current
        lines = [line.strip() for line in self.area.toPlainText().splitlines()]
        texts = tuple(line for line in lines if line)
        known = self._values.get(name, ())
        unchanged = texts == tuple(one for one in known if one)
        if not name or (unchanged and self.of_empty.isChecked() == ("" in known)):
            return
        if self.of_empty.isChecked():
            texts = (*texts, "")
        if texts:
            self._values[name] = texts
        else:
            self._values.pop(name, None)
        self._show_state()
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
        offered, self._offered = self._offered, {}
        self._put_away(self._confirm)
        if offered and self.known.isChecked():
            self._take(offered, DATA)

    @Slot()
    def _on_split(self) -> None:
        name = self._current
        if self._splits(name):
            self._take({name: self._splits(name)}, TYPED)

    @Slot()
    def _on_refuse(self) -> None:
        self._offered = {}
        self._put_away(self._confirm)

    def _put_away(self, part: QWidget) -> None:
        """Hide what is done with; the focus goes to what is near, not to the next in the window."""
        focused = QApplication.focusWidget()
        if focused is not None and (focused is part or part.isAncestorOf(focused)):
            self.choice.setFocus(Qt.FocusReason.OtherFocusReason)
        part.hide()
