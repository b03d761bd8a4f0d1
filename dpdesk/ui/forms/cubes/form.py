"""The form of differentially private tables: as any form, with fields that know each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import (
    QLabel,
    QWidget,
)

from dpdesk.app.private.labelling import LevelChoice
from dpdesk.core.cube_parameters import (
    ALL,
    CELLS,
    CUBOID,
    MAX_DIMENSIONS,
    SIZE,
    CuboidNumbersParameter,
    CuboidsParameter,
    ExactParameter,
    MarginalsParameter,
    PublishParameter,
)
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Choice, ChoiceParameter, Parameter, exact_number, plain_number
from dpdesk.ui.forms.columns import DimensionsField, FormContext, NumbersByColumn
from dpdesk.ui.forms.cubes.dimensions import (
    DATA,
    TYPED,
    DomainsField,
    LevelsByDimension,
    OutsideField,
)
from dpdesk.ui.forms.fields import ChoiceField, Field, LinesField, TextArea
from dpdesk.ui.forms.form import ParameterForm
from dpdesk.ui.forms.records import RecordsField, form_field
from dpdesk.ui.forms.spin import NarrowCombo, NarrowSpin
from dpdesk.ui.theme import SPACE, set_look
from dpdesk.ui.widgets import column
from dpdesk.ui.widgets.layouts import Mnemonics, leave_wheel

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
        self.most.setAccessibleName(self.tr("Maximum number of dimensions of a table"))
        self.most.setToolTip(self.tr("Tables with at most this number of dimensions are published"))
        leave_wheel(self.most)
        self.area = TextArea()
        self.area.setAccessibleName(self.tr("Tables to publish, one in each line"))
        self.area.setToolTip(self.tr("Dimensions with × between them; “grand total” for none"))
        self.area.setPlaceholderText(f"age {TIMES} sex\n{TOTAL}")
        for widget in (self.choice, self.most, self.area):
            layout.addWidget(widget)
        self.choice.currentIndexChanged.connect(self._on_choice)
        self.most.valueChanged.connect(self.edited)
        self.area.textChanged.connect(self.edited)
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


class MarginalsField(PublishField):
    """No tables, every table of so many dimensions, or a list with one table in each line."""

    def __init__(self, parameter: MarginalsParameter) -> None:
        super().__init__(parameter)
        self.choice.setItemText(0, self.tr("None: only the views"))
        self.choice.setItemText(1, self.tr("All with this many dimensions"))
        self.most.setMinimum(1)
        self.most.setPrefix("")
        self.most.setAccessibleName(self.tr("Dimensions of each table"))
        self.most.setToolTip(self.tr("Every table with this number of dimensions is published"))

    def plain(self) -> object:
        """See :meth:`Field.plain`; None for no table."""
        found = super().plain()
        if isinstance(found, Mapping):
            return {SIZE: found[MAX_DIMENSIONS]}
        return None if found == ALL else found

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        given = {MAX_DIMENSIONS: value.get(SIZE)} if isinstance(value, Mapping) else value
        super().set_plain(given)


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


_IS = ":"


class ExactField(LinesField):
    """Tables such as ``age × sex``, and single cells such as ``age × sex: 20-29 × f``."""

    def __init__(self, parameter: ExactParameter) -> None:
        super().__init__(parameter)
        self._area.setPlaceholderText(f"age {TIMES} sex\nregion{_IS} north")

    def plain(self) -> object:
        """See :meth:`Field.plain`; None for no line, the text where a line cannot be read."""
        text = self._area.toPlainText()
        found = read_exact_lines(text)
        return text if found is None else found or None

    def set_plain(self, value: object) -> None:
        """See :meth:`Field.set_plain`."""
        items = list(value) if isinstance(value, list | tuple) else []
        if (self.plain() or []) != items:
            self._show(exact_lines(items))


def read_exact_lines(text: str) -> list[object] | None:
    """The plan's value of such lines; None where one cannot be read."""
    found: list[object] = []
    cells: dict[tuple[str, ...], list[list[str]]] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        names, colon, texts = line.partition(f"{_IS} ")
        tables = read_tables(names)
        if not colon:
            found += tables
            continue
        cell = [part.strip() for part in texts.split(f" {TIMES} ")]
        if len(tables) != 1 or len(cell) != len(tables[0]):
            return None
        key = tuple(tables[0])
        if key not in cells:
            cells[key] = []
            found.append({CUBOID: list(key), CELLS: cells[key]})
        cells[key].append(cell)
    return found


def exact_lines(items: Sequence[object]) -> str:
    """Lines that :func:`read_exact_lines` reads."""
    lines: list[str] = []
    for item in items:
        if isinstance(item, Mapping):
            names = tables_text([item[CUBOID]])
            lines += [f"{names}{_IS} {f' {TIMES} '.join(cell)}" for cell in item[CELLS]]
        elif isinstance(item, list | tuple):
            lines.append(tables_text([item]))
    return "\n".join(lines)


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


GAUSSIAN = "discrete-gaussian"
SPANNING = ("dimensions", "groups", "drawn")
"""Keys of the columns whose categories are declared; a method has one of them."""


class CubeForm(ParameterForm):
    """``categoriesWanted(str, str)`` is :attr:`DomainsField.wanted`; keys that do not apply now
    keep the values that were given.
    """

    categoriesWanted = Signal(str, str)
    first = ("epsilon", *SPANNING, "choose", "domains")
    filled = frozenset({"origins"})

    def __init__(
        self,
        specifications: Sequence[Parameter],
        parent: QWidget | None = None,
        mnemonics: Mnemonics | None = None,
    ) -> None:
        self._around = FormContext()
        self._given: dict[str, object] = {}
        super().__init__(specifications, (), parent, mnemonics)
        self.domains.wanted.connect(self.categoriesWanted)
        origins = self.field_or_none("origins")
        if isinstance(origins, OriginsField):
            self.domains.took.connect(origins.note)

    @property
    def domains(self) -> DomainsField:
        """The editor of categories."""
        found = self.field("domains")
        if not isinstance(found, DomainsField):
            raise TypeError("not the form of a cube")
        return found

    def show_around(self, around: FormContext) -> None:
        """Offer the columns of the data, as their roles allow."""
        self._around = around
        self._follow()

    def level(self, dimension: str) -> int:
        """The level at which a dimension is published."""
        found = self.field_or_none("levels")
        return found.level(dimension) if isinstance(found, LevelsByDimension) else 0

    def show_levels(self, choices: Mapping[str, tuple[LevelChoice, ...]]) -> None:
        """Offer these levels of hierarchies, by dimension."""
        found = self.field_or_none("levels")
        if isinstance(found, LevelsByDimension):
            found.show_choices(choices)

    def set_values(self, values: Mapping[str, object], kept: Collection[str] = ()) -> None:
        """See :meth:`ParameterForm.set_values`."""
        self._given = dict(values)
        super().set_values(values, kept)
        self._follow()

    def values(self) -> dict[str, object]:
        """See :meth:`ParameterForm.values`; what does not apply stays as it was given."""
        kept = {key: one for key, one in self._given.items() if key not in self._seen()}
        return kept | super().values()

    def made_field(self, parameter: Parameter, *, live: bool) -> Field:
        """The field of a parameter, by its key where a cube has one of its own."""
        by_key: dict[str, type[Field]] = {
            **dict.fromkeys(SPANNING, DimensionsField),
            "levels": LevelsByDimension,
            "domains": DomainsField,
            "origins": OriginsField,
            "outside": OutsideField,
        }
        if parameter.key in by_key:
            return by_key[parameter.key](parameter)
        if isinstance(parameter, MarginalsParameter):
            return MarginalsField(parameter)
        if isinstance(parameter, PublishParameter):
            return PublishField(parameter)
        if isinstance(parameter, CuboidsParameter):
            return TablesField(parameter)
        if isinstance(parameter, ExactParameter):
            return ExactField(parameter)
        if isinstance(parameter, CuboidNumbersParameter):
            return CuboidNumbersField(parameter)
        if isinstance(parameter, ChoiceParameter) and parameter.default is None:
            follows = self.tr("According to the budget")
            return OptionalChoiceField(
                parameter, follows, self.tr("Laplace for ε, Gaussian for ρ.")
            )
        return form_field(parameter, live=live)

    def _applies(self, key: str, withheld: set[str]) -> bool:
        if key == "delta":
            given = self.field("rho").plain() is not None
            return given or self.field("noise").plain() == GAUSSIAN
        return super()._applies(key, withheld)

    def _follow(self) -> None:
        """Tell the fields what the others say."""
        dimensions = next(filter(None, map(self.field_or_none, SPANNING)), None)
        if not isinstance(dimensions, DimensionsField):
            return
        around = self._around
        if dimensions.parameter.key == "drawn":
            around = around.drawable
        dimensions.show_around(around)
        chosen = dimensions.chosen
        for key in ("levels", "outside"):
            found = self.field_or_none(key)
            if isinstance(found, LevelsByDimension):
                found.show_dimensions(tuple(n for n in chosen if n in around.hierarchies))
            elif isinstance(found, OutsideField):
                found.show_dimensions(chosen)
        shares = self.field_or_none("shares")
        if isinstance(shares, NumbersByColumn):
            shares.show_around(replace(around, columns=chosen))
        named = tuple(dict.fromkeys((*chosen, *self._modes())))
        origins = self.field_or_none("origins")
        if isinstance(origins, OriginsField):
            origins.show_dimensions((*named, *self._counted_by()))
        self.domains.show_dimensions(around, named)
        for key in ("measure", "choose"):
            parts = self.field_or_none(key)
            if isinstance(parts, RecordsField):
                parts.show_around(around)
        self._show_what_applies()

    def _modes(self) -> tuple[str, ...]:
        """The columns whose most frequent category is chosen."""
        found = self.field_or_none("choose")
        given = None if found is None else found.plain()
        listed = given if isinstance(given, list) else [given]
        names = (one.get("mode") for one in listed if isinstance(one, Mapping))
        return tuple(name for name in names if isinstance(name, str))

    def _counted_by(self) -> tuple[str, ...]:
        given = self._given.get("counted_by")
        return tuple(map(str, given)) if isinstance(given, list | tuple) else ()

    def follow(self, field: Field) -> None:
        """A budget is given in ε or in ρ: the one that is typed takes the other's place."""
        pair = {"epsilon": "rho", "rho": "epsilon"}
        other = pair.get(field.parameter.key)
        if other is not None and field.plain() is not None:
            for found in filter(None, map(self.field_or_none, (other, "noise"))):
                found.set_plain(None)
        self._follow()
