"""Fields whose value is a list of small tables: measures, choices, rules; one card for each.

A subclass of :class:`PartLine` says which kinds of part there are, and reads and writes one;
:class:`PartsField` is the list of them, with a button for one more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
)

from dpdesk.core.cube_parameters import AVERAGE, COUNT, SUM
from dpdesk.core.parameters import Parameter, exact_number, plain_number
from dpdesk.core.plain import number_text
from dpdesk.core.table_parameters import DOMINANCE, P_PERCENT, PQ, RULES, THRESHOLD
from dpdesk.ui.forms.columns import FormContext
from dpdesk.ui.forms.fields import Field
from dpdesk.ui.forms.spin import NarrowCombo
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.focusing import leave_wheel
from dpdesk.ui.words.numbers import marked, typed_number


@dataclass(frozen=True)
class Number:
    """A number of a part: its key, the words above it and its explanation; ``usual`` if absent."""

    key: str
    words: str
    help: str
    usual: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of part, with what belongs to it."""

    id: str
    words: str
    numbers: tuple[Number, ...] = ()
    column: bool = True


class PartLine(QFrame):
    """One part; ``edited()``, ``left()`` and ``removeAsked()``.

    Built by :meth:`build` from its kinds; ``flag`` is a check box for kinds that have one.
    """

    edited = Signal()
    left = Signal()
    removeAsked = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_look(self, "sunken")
        self._kinds: dict[str, Kind] = {}
        self.kind, self.column = NarrowCombo(), NarrowCombo(8)
        self.numbers: dict[str, QLineEdit] = {}
        self._captions: dict[str, QLabel] = {}
        self.flag = QCheckBox()
        self.remove = QPushButton()
        for combo in (self.kind, self.column):
            leave_wheel(combo)
            combo.currentIndexChanged.connect(self._on_changed)
        self.flag.toggled.connect(self._on_changed)
        self.remove.clicked.connect(self.removeAsked)

    def build(self, kinds: Sequence[Kind], kind: str, column: str, remove: tuple[str, str]) -> None:
        """Put everything in its place; ``kind`` and ``column`` name the lists, ``remove`` is the
        button's text and explanation.
        """
        self._kinds = {one.id: one for one in kinds}
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE.s, SPACE.s, SPACE.s, SPACE.s)
        grid.setVerticalSpacing(SPACE.xs)
        with QSignalBlocker(self.kind):
            for one in kinds:
                self.kind.addItem(one.words, one.id)
        for combo, words in ((self.kind, kind), (self.column, column)):
            combo.setAccessibleName(words)
            combo.set_help(words)
        self.column.setPlaceholderText(self.tr("Which column?"))
        grid.addWidget(self.kind, 0, 0, 1, 4)
        grid.addWidget(self.column, 1, 0, 1, 4)
        longest = sorted(kinds, key=lambda one: -len(one.numbers))
        found = {number.key: number for one in longest for number in one.numbers}
        for place, number in enumerate(found.values()):
            caption, line = QLabel(), QLineEdit()
            set_look(caption, "note")
            caption.setBuddy(line)
            line.setPlaceholderText(number.usual)
            line.textEdited.connect(self._on_changed)
            line.editingFinished.connect(self.left)
            grid.addWidget(caption, 2, place)
            grid.addWidget(line, 3, place)
            self.numbers[number.key], self._captions[number.key] = line, caption
        self.remove.setText(remove[0])
        self.remove.setAccessibleName(remove[0])
        self.remove.setToolTip(remove[1])
        grid.addWidget(self.flag, 4, 0, 1, 4)
        grid.addWidget(self.remove, 5, 0, 1, 4)
        self._show_parts()

    @property
    def chosen(self) -> Kind:
        """The kind that is chosen."""
        return self._kinds[str(self.kind.currentData())]

    @property
    def blank(self) -> bool:
        """Whether nothing was given that a plan could hold."""
        return False

    def plain(self) -> object:
        """The part as a plan writes it; texts that are no numbers stay for their error."""
        raise NotImplementedError

    def set_plain(self, value: object) -> None:
        """Show a part, silently."""
        raise NotImplementedError

    def problem(self) -> str:
        """What is missing or cannot be read; empty: nothing."""
        if self.chosen.column and not self.column.currentText():
            return self.tr("Choose a column.")
        for number in self.chosen.numbers:
            text = self.numbers[number.key].text().strip()
            if not text and not number.usual:
                return self.tr("“{name}” is missing.").format(name=number.words)
            if text and typed_number(text, fractions=True) is None:
                return self.tr(
                    "“{text}” is not a number, or can be read in two ways: write it without marks "
                    "between groups of digits."
                ).format(text=text)
        return ""

    def show_columns(self, columns: Sequence[str]) -> None:
        """Offer these columns."""
        chosen = self.column.currentText()
        with QSignalBlocker(self.column):
            self.column.clear()
            self.column.addItems(list(columns))
            self._choose_column(chosen)

    def show_parts(self, kind: str, column: str, given: Mapping[str, object]) -> None:
        """Show what a part is made of, silently; numbers that say the same stay as typed."""
        with QSignalBlocker(self.kind), QSignalBlocker(self.column):
            self.kind.setCurrentIndex(self.kind.findData(kind))
            self._choose_column(column)
        for key, line in self.numbers.items():
            number = exact_number(given.get(key))
            text = "" if number is None else marked(number_text(number))
            if number is None or self._number(key) != plain_number(number):
                line.setText(text)
        self._show_parts()

    def numbers_given(self) -> dict[str, object]:
        """The numbers of the chosen kind that were typed."""
        found = {number.key: self._number(number.key) for number in self.chosen.numbers}
        return {key: value for key, value in found.items() if value is not None}

    def _number(self, key: str) -> object:
        text = self.numbers[key].text().strip()
        if not text:
            return None
        number = typed_number(text, fractions=True)
        return text if number is None else plain_number(Fraction(number))

    def _choose_column(self, name: str) -> None:
        if name and self.column.findText(name) < 0:
            self.column.addItem(name)
        self.column.setCurrentIndex(self.column.findText(name) if name else -1)

    def _show_parts(self) -> None:
        kind = self.chosen
        self.column.setVisible(kind.column)
        self.flag.setVisible(bool(self.flag.text()) and self.has_flag(kind))
        own = {number.key: number for number in kind.numbers}
        for key, line in self.numbers.items():
            number = own.get(key)
            for widget in (line, self._captions[key]):
                widget.setVisible(number is not None)
            if number is not None:
                self._captions[key].setText(number.words)
                line.setAccessibleName(number.words)
                line.setToolTip(number.help)

    def has_flag(self, kind: Kind) -> bool:
        """Whether the check box belongs to a kind."""
        return False

    @Slot()
    def _on_changed(self) -> None:
        self._show_parts()
        self.edited.emit()


class PartsField(Field):
    """A list of parts; a single one is written alone where a plan may (``alone``).

    ``line`` is what shows a part, ``least`` how many there are at least, and ``extra()`` the part
    that is proposed for one more.
    """

    line: type[PartLine]
    least = 1
    alone = True

    def __init__(self, parameter: Parameter) -> None:
        super().__init__(parameter)
        self._columns: tuple[str, ...] = ()
        self._many = not self.alone
        more, tip = self.words()
        layout = column(self, gap=SPACE.xs)
        self._place: QVBoxLayout = column(gap=SPACE.xs)
        layout.addLayout(self._place)
        self.lines: list[PartLine] = []
        self.more = QPushButton(more)
        self.more.setAccessibleName(more if self.least else f"{parameter.label}: {more}")
        self.more.setToolTip(tip)
        self.more.clicked.connect(self._on_more)
        layout.addWidget(self.more)
        self.set_plain(None)

    @property
    def control(self) -> QPushButton | NarrowCombo:
        """The kind of the first part, else the button for one."""
        return self.lines[0].kind if self.lines else self.more

    def plain(self) -> object:
        """See :meth:`Field.plain`: one part, or a list of them."""
        found = [line.plain() for line in self.lines]
        if all(line.blank for line in self.lines):
            return None
        return found if self._many or len(found) > 1 else found[0]

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        several = isinstance(value, list | tuple)
        self._many = several or not self.alone
        items = list(value) if isinstance(value, list | tuple) else [value]
        wanted = max(self.least, 0 if value is None and not self.least else len(items))
        while len(self.lines) > wanted:
            self._drop(self.lines[-1])
        while len(self.lines) < wanted:
            self._add()
        for line, item in zip(self.lines, items, strict=False):
            line.set_plain(item)

    def problem(self) -> str:
        """See :meth:`Field.problem`: that of the first part that has one."""
        return next(filter(None, (line.problem() for line in self.lines)), "")

    def show_around(self, around: FormContext) -> None:
        """Offer the columns of the data."""
        columns = self.offered(around)
        if columns != self._columns:
            self._columns = columns
            for line in self.lines:
                line.show_columns(columns)

    def words(self) -> tuple[str, str]:
        """Text and explanation of the button for one more."""
        raise NotImplementedError

    def offered(self, around: FormContext) -> tuple[str, ...]:
        """The columns that a part can have."""
        return around.possible

    def extra(self) -> object:
        """What one more part is at first."""
        return None

    def _add(self) -> None:
        line = self.line()
        line.show_columns(self._columns)
        line.edited.connect(self.edited)
        line.left.connect(self.left)
        line.removeAsked.connect(self._on_remove)
        self.lines.append(line)
        self._place.addWidget(line)
        self._show_removing()

    def _drop(self, line: PartLine) -> None:
        self.lines.remove(line)
        self._place.removeWidget(line)
        line.hide()
        line.deleteLater()
        self._show_removing()

    def _show_removing(self) -> None:
        for line in self.lines:
            line.remove.setVisible(len(self.lines) > self.least)

    @Slot()
    def _on_more(self) -> None:
        self._many = True
        extra = self.extra()
        self._add()
        self.lines[-1].set_plain(extra)
        self.lines[-1].kind.setFocus()
        self.edited.emit()

    @Slot()
    def _on_remove(self) -> None:
        line = self.sender()
        if isinstance(line, PartLine) and len(self.lines) > self.least:
            self._drop(line)
            self.edited.emit()
            self.left.emit()


class MeasureLine(PartLine):
    """The number of persons, or a sum or average of clipped values."""

    def __init__(self) -> None:
        super().__init__()
        declared = self.tr("{tip}. To be declared without looking at the data.")
        least = self.tr("Least value; smaller ones count as this")
        most = self.tr("Largest value; larger ones count as this")
        step = self.tr("Values are rounded to multiples of this")
        bounds = (
            Number("lower", self.tr("from"), declared.format(tip=least)),
            Number("upper", self.tr("to"), declared.format(tip=most)),
            Number("step", self.tr("in steps of"), declared.format(tip=step), "1"),
        )
        kinds = (
            Kind(COUNT, self.tr("Number of persons"), column=False),
            Kind(SUM, self.tr("Sum of a column"), bounds),
            Kind(AVERAGE, self.tr("Average of a column"), bounds),
        )
        remove = (self.tr("Remove this measure"), self.tr("Measure the others only"))
        self.build(kinds, self.tr("What a cell holds"), self.tr("Column that is summed"), remove)

    def plain(self) -> object:
        """See :meth:`PartLine.plain`."""
        kind = self.chosen.id
        if kind == COUNT:
            return COUNT
        return {kind: self.column.currentText(), **self.numbers_given()}

    def set_plain(self, value: object) -> None:
        """See :meth:`PartLine.set_plain`."""
        given = value if isinstance(value, Mapping) else {}
        kind = next((key for key in (SUM, AVERAGE) if key in given), COUNT)
        self.show_parts(kind, str(given.get(kind, "")), given)


class MeasureField(PartsField):
    """One measure or several; each is bought with its own noise."""

    line = MeasureLine

    def words(self) -> tuple[str, str]:
        """See :meth:`PartsField.words`."""
        tip = self.tr("Another count, sum or average; the budget is shared")
        return self.tr("Measure something more"), tip

    def offered(self, around: FormContext) -> tuple[str, ...]:
        """See :meth:`PartsField.offered`: identifiers, too."""
        return around.columns

    def extra(self) -> object:
        """See :meth:`PartsField.extra`: persons are counted once."""
        kinds = [line.chosen.id for line in self.lines]
        return None if COUNT not in kinds else {SUM: ""}


MODE, QUANTILE, MEDIAN, COLUMN = "mode", "quantile", "median", "of"
_HALF = Fraction(1, 2)


class ChoiceLine(PartLine):
    """A quantile of a column between bounds, or its most frequent value."""

    def __init__(self) -> None:
        super().__init__()
        bounds = (
            Number("lower", self.tr("from"), self.tr("Least value that can be chosen")),
            Number("upper", self.tr("to"), self.tr("Largest value that can be chosen")),
            Number("step", self.tr("in steps of"), self.tr("From one value to the next"), "1"),
        )
        share = self.tr("Part of the rows that lie below: 0.5 for the median, 0.9 for nine in ten")
        kinds = (
            Kind(MEDIAN, self.tr("Median of a column"), bounds),
            Kind(
                QUANTILE,
                self.tr("Another quantile of a column"),
                (Number(QUANTILE, self.tr("quantile"), share), *bounds),
            ),
            Kind(MODE, self.tr("Most frequent value of a column")),
        )
        remove = (self.tr("Do not choose this"), self.tr("Choose the others only"))
        self.build(
            kinds,
            self.tr("What is chosen for each group"),
            self.tr("Column from which it is chosen"),
            remove,
        )

    @property
    def blank(self) -> bool:
        """See :attr:`PartLine.blank`."""
        return not self.column.currentText() and not self.numbers_given()

    def plain(self) -> object:
        """See :meth:`PartLine.plain`."""
        kind, name = self.chosen.id, self.column.currentText()
        if kind == MODE:
            return {MODE: name}
        half = {QUANTILE: plain_number(_HALF)} if kind == MEDIAN else {}
        return {**half, COLUMN: name, **self.numbers_given()}

    def set_plain(self, value: object) -> None:
        """See :meth:`PartLine.set_plain`."""
        given = value if isinstance(value, Mapping) else {}
        share = exact_number(given.get(QUANTILE, _HALF))
        kind = MODE if MODE in given else MEDIAN if share == _HALF else QUANTILE
        self.show_parts(kind, str(given.get(MODE, given.get(COLUMN, ""))), given)

    def problem(self) -> str:
        """See :meth:`PartLine.problem`; bounds that leave nothing to choose from as well."""
        found = super().problem()
        given = {key: exact_number(one) for key, one in self.numbers_given().items()}
        if found or self.chosen.id == MODE:
            return found
        lower, upper = given.get("lower"), given.get("upper")
        if lower is not None and upper is not None and lower >= upper:
            return self.tr("“from” has to be less than “to”.")
        step, share = given.get("step"), given.get(QUANTILE, _HALF)
        if step is not None and step <= 0:
            return self.tr("A step has to be more than 0.")
        if share is not None and not 0 < share < 1:
            return self.tr("A quantile lies between 0 and 1, as 0.9 does.")
        return ""


class ChoicesField(PartsField):
    """What is chosen for each group."""

    line = ChoiceLine

    def words(self) -> tuple[str, str]:
        """See :meth:`PartsField.words`."""
        tip = self.tr("Another quantile or most frequent value; ε is shared equally")
        return self.tr("Choose something more"), tip


class RuleLine(PartLine):
    """A rule by which cells are unsafe, with its numbers."""

    def __init__(self) -> None:
        super().__init__()
        few = self.tr("A cell needs at least this number of contributors")
        width = self.tr("Part of its value by which an unsafe cell is protected on either side")
        large = self.tr("How many of the largest contributions are added up")
        share = self.tr("They may make up this part of the cell, in percent")
        close = self.tr("No one may estimate another's contribution more closely than this")
        prior = self.tr("What everyone knows of a contribution beforehand, in percent")
        kinds = (
            Kind(
                THRESHOLD,
                self.tr("Too few contributors"),
                (
                    Number("n", self.tr("at least"), few),
                    Number("range", self.tr("range"), width, marked("0.1")),
                ),
                column=False,
            ),
            Kind(
                DOMINANCE,
                self.tr("Dominance of the largest"),
                (
                    Number("n", self.tr("the largest"), large),
                    Number("k", self.tr("at most %"), share),
                ),
                column=False,
            ),
            Kind(
                P_PERCENT,
                self.tr("p-percent rule"),
                (Number("p", self.tr("closer than %"), close),),
                column=False,
            ),
            Kind(
                PQ,
                self.tr("pq rule"),
                (
                    Number("p", self.tr("closer than %"), close),
                    Number("q", self.tr("known to %"), prior),
                ),
                column=False,
            ),
        )
        self.flag.setText(self.tr("groups as well"))
        self.flag.setAccessibleName(self.flag.text())
        self.flag.setToolTip(
            self.tr("Cells that hold all contributors of their group are unsafe as well")
        )
        remove = (self.tr("Remove this rule"), self.tr("Judge cells by the other rules only"))
        self.build(kinds, self.tr("Kind of rule"), "", remove)

    def has_flag(self, kind: Kind) -> bool:
        """See :meth:`PartLine.has_flag`."""
        return "full" in RULES[kind.id][1]

    def plain(self) -> object:
        """See :meth:`PartLine.plain`."""
        full = {"full": True} if self.flag.isChecked() and self.has_flag(self.chosen) else {}
        return {"rule": self.chosen.id, **self.numbers_given(), **full}

    def set_plain(self, value: object) -> None:
        """See :meth:`PartLine.set_plain`."""
        given = value if isinstance(value, Mapping) else {}
        with QSignalBlocker(self.flag):
            self.flag.setChecked(given.get("full") is True)
        self.show_parts(str(given.get("rule", THRESHOLD)), "", given)


class RulesField(PartsField):
    """Rules by which cells are unsafe: any number of them."""

    line = RuleLine
    least = 0
    alone = False

    def words(self) -> tuple[str, str]:
        """See :meth:`PartsField.words`."""
        return self.tr("Add a rule"), self.tr("Cells that break any of the rules are unsafe")

    def extra(self) -> object:
        """The usual threshold at first; afterwards a rule that is filled in."""
        kinds = [line.chosen.id for line in self.lines]
        return {"rule": THRESHOLD, "n": 3} if THRESHOLD not in kinds else {"rule": P_PERCENT}
