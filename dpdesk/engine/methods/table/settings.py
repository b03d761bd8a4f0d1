"""The keys of a plan's ``[protection]`` for protected tables, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from dpdesk.core.cube_parameters import PositiveParameter
from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import (
    Choice,
    ChoiceParameter,
    Condition,
    FlagParameter,
    IntegerParameter,
    Nested,
    Parameter,
    ParameterValue,
    ShareParameter,
    TextListParameter,
    TextParameter,
    Texts,
    exact_number,
    nearest,
)
from dpdesk.core.plain import freeze, quoted, thaw
from dpdesk.core.schema import Role
from dpdesk.core.table_parameters import (
    COUNT,
    MEAN,
    SUM,
    MarksParameter,
    TypedParameter,
    is_attacker,
    is_cells,
    is_marks,
    is_measure,
    is_merge,
    is_request,
    is_rules,
    is_swap,
    is_tables,
    is_waiver,
)
from dpdesk.core.tabulation import INTERNAL_COLUMNS, MOVED_COLUMNS, WIDTH, Among
from dpdesk.engine.methods.table import records
from dpdesk.engine.methods.table.ratio_settings import RatioSpec, file_of, is_ratio, read_ratios

SUPPRESS, RANDOM, CONTROLLED, NONE = "suppress", "random-round", "controlled-round", "none"
CELL_KEY, ADJUST = "cell-key", "adjust"
MOST_CHANGED = 50
OPTIMAL, HITAS, HEURISTIC = "optimal", "hitas", "heuristic"
VALUE, CELLS, FREQUENCY = "value", "cells", "frequency"
ONLY = "table.csv"
_SUPPRESSING = Condition("protect", (SUPPRESS,))
_BY_KEYS = Condition("protect", (CELL_KEY,))

PARAMETERS: tuple[Parameter, ...] = (
    TextListParameter(
        "rows",
        "Rows",
        "Columns of the source whose values appear at the side of the table; a hierarchy gives "
        "subtotals.",
    ),
    TextListParameter(
        "columns",
        "Columns",
        "Columns of the source whose values appear at the head of the table.",
    ),
    TypedParameter(
        "measure",
        "In each cell",
        "What a cell holds: a count, or the sum or mean of a column, weighted or not.",
        fits=is_measure,
        records=records.MEASURE,
        shape='"count", { sum = "turnover" } or { mean = "turnover", weight = "w" }',
        default=COUNT,
    ),
    TextParameter(
        "total",
        "Label of totals",
        "What every margin of the table is called.",
        default="Total",
    ),
    TypedParameter(
        "tables",
        "Several tables",
        "Tables that are protected together, instead of one; cells that they share are one cell, "
        "and a table can hold the ratios of two others.",
        fits=is_tables,
        records=records.TABLES,
        shape='a list such as [{ name = "a", rows = ["region"], columns = ["sex"] }]',
        replaces=("rows", "columns"),
    ),
    TypedParameter(
        "merge",
        "Merged categories",
        "Values of a dimension that have one row or column of the table together, under a label.",
        fits=is_merge,
        outline="region:\n  north and south:\n    north\n    south",
        shape='a table such as { region = { "north and south" = ["north", "south"] } }',
    ),
    TypedParameter(
        "cells",
        "Cells as given",
        "The source has a row for each cell; which of its columns hold what.",
        fits=is_cells,
        records=records.READY,
        shape='a table such as { value = "val", frequency = "n", top = ["top1", "top2"] }',
        public=False,
    ),
    MarksParameter(
        "marks",
        "Statuses by hand",
        "Cells that are safe, unsafe or must be published whatever the rules say, their costs and "
        "protection levels: a file of statuses for τ-ARGUS, or its lines.",
        fits=is_marks,
        file=True,
        shape='a file such as "prior.hst", or lines such as [["north", "small", "U"]]; of several '
        'tables by their names, such as { a = "prior.hst" }',
        public=False,
    ),
    ShareParameter(
        "sample",
        "Count a sample",
        "Only a random sample counts, of this share of the rows (of households, where a column "
        "says which rows belong together); it is drawn once and kept.",
    ),
    TypedParameter(
        "swap",
        "Swap households",
        "Before counting, this share of all households changes places with a matched one: those "
        "columns that say the place are exchanged. Rare ones are swapped more often.",
        fits=is_swap,
        records=records.SWAP,
        shape='a table such as { columns = ["region"], match = ["size"], share = 0.05 }',
        public=False,
    ),
    TypedParameter(
        "rule",
        "Rules for unsafe cells",
        "When cells count as unsafe: threshold, dominance, p-percent or pq. The parameters stay "
        "in the agency.",
        fits=is_rules,
        records=records.RULES,
        shape='a list of tables such as { rule = "threshold", n = 3 }',
        default=(),
        public=False,
    ),
    TypedParameter(
        "request",
        "Protection on request",
        "By which values of a column contributors ask for protection; a cell is unsafe where one "
        "of them gave more than k percent of it.",
        fits=is_request,
        records=records.REQUEST,
        shape='a table such as { column = "asked", values = ["yes"], k = 70 }',
        public=False,
    ),
    TypedParameter(
        "waive",
        "Protection that is waived",
        "By which values of a column contributors agree to be seen: rules on the largest find no "
        "cell of which all that they look at agree.",
        fits=is_waiver,
        records=records.WAIVER,
        shape='a table such as { column = "agrees", values = ["yes"] }',
        public=False,
    ),
    ChoiceParameter(
        "protect",
        "Protection",
        "How unsafe cells are protected.",
        choices=(
            Choice(
                SUPPRESS,
                "Suppress cells",
                "Unsafe ones, and others so that no one can compute them back.",
            ),
            Choice(CONTROLLED, "Round, additively", "Totals stay the sums of their parts."),
            Choice(RANDOM, "Round at random", "Each cell by itself, right on average."),
            Choice(
                CELL_KEY,
                "Change counts by cell keys",
                "Each cell by itself, right on average; the same rows always change alike.",
            ),
            Choice(
                ADJUST,
                "Change unsafe cells, additively",
                "Unsafe cells move as far as required, others as little as totals allow.",
            ),
            Choice(NONE, "Leave the table as it is", "Nothing is protected."),
        ),
        default=SUPPRESS,
    ),
    IntegerParameter(
        "base",
        "Base of rounding",
        "Rounded values are multiples of it.",
        minimum=2,
        maximum=10**12,
        suggested=5,
        applies=Condition("protect", (RANDOM, CONTROLLED)),
    ),
    IntegerParameter(
        "deviation",
        "Largest change",
        "The most by which a count is changed.",
        minimum=1,
        maximum=MOST_CHANGED,
        default=5,
        applies=_BY_KEYS,
    ),
    PositiveParameter(
        "variance",
        "Variance of changes",
        "The mean of their squares, below the largest change; their mean is 0.",
        default=Fraction(2),
        applies=_BY_KEYS,
    ),
    ChoiceParameter(
        "secondary",
        "Search for secondary suppressions",
        "How the cells are found whose suppression protects the unsafe ones "
        "(secondary suppression).",
        choices=(
            Choice(OPTIMAL, "The least costly ones", "By integer programming."),
            Choice(HITAS, "By parts of the hierarchy", "Faster for large tables."),
            Choice(HEURISTIC, "Fast", "Protected, and more is lost."),
            Choice(NONE, "None", "Unsafe cells can then often be computed back."),
        ),
        default=OPTIMAL,
        applies=_SUPPRESSING,
        public=False,
    ),
    ChoiceParameter(
        "cost",
        "What suppression costs",
        "What the choice of secondary suppressions keeps small.",
        choices=(
            Choice(VALUE, "The value of the cell"),
            Choice(CELLS, "The same for each cell"),
            Choice(FREQUENCY, "Its number of contributors"),
        ),
        default=VALUE,
        applies=_SUPPRESSING,
        public=False,
    ),
    FlagParameter(
        "singletons",
        "Contributors who are alone in a cell as attackers",
        "They know their own cell, so cells must be protected against them as well.",
        default=True,
        applies=_SUPPRESSING,
    ),
    TypedParameter(
        "attacker",
        "What everyone knows of a cell",
        "Shares of its value between which it certainly is; without an upper one there is no "
        "upper bound. With present = true also that no suppressed cell is empty, which readers "
        "can tell from the empty cells that are published: otherwise three people in three cells "
        "of one row would be known.",
        fits=is_attacker,
        records=records.ATTACKER,
        shape="a table such as { lower = 0.5, upper = 1.5, present = true }",
        default={"lower": 0},
        suggested=Nested(freeze({"lower": 0, "present": True})),
        applies=_SUPPRESSING,
    ),
    ShareParameter(
        "range",
        "Protection of counts and of cells set by hand",
        "How far from its value an unsafe cell must seem possible, as a share of the value.",
        default=Fraction(1, 10),
        public=False,
    ),
    ShareParameter(
        "sliding",
        "Width of intervals",
        "How wide the interval in which readers can tell an unsafe cell to lie must be at least, "
        "wherever it lies, as a share of the value (sliding protection level).",
        default=Fraction(0),
        applies=_SUPPRESSING,
        public=False,
    ),
    FlagParameter(
        "tell_apart",
        "Distinguish primary from secondary suppressions",
        "In the published table: C and D instead of N. It helps attackers.",
        applies=_SUPPRESSING,
    ),
)


@dataclass(frozen=True)
class Measure:
    """What a cell holds."""

    kind: str = COUNT
    column: str | None = None
    weight: str | None = None

    @classmethod
    def of(cls, plain: object) -> Measure:
        """From a plan's value, which fits."""
        if not isinstance(plain, Mapping):
            return cls()
        kind = SUM if SUM in plain else MEAN
        return cls(kind, str(plain[kind]), plain.get("weight"))

    @property
    def columns(self) -> Iterator[str]:
        """The columns that it needs."""
        return (name for name in (self.column, self.weight) if name is not None)

    @property
    def words(self) -> str:
        """What it adds up, by which tables share cells."""
        return f"{self.column or COUNT} * {self.weight or 1}"


@dataclass(frozen=True)
class TableSpec:
    """One table of a plan; ``hierarchy`` names columns with one of its own, ``head`` those at the
    head.
    """

    name: str
    dimensions: tuple[str, ...]
    measure: Measure
    file: str
    hierarchy: Mapping[str, object] = field(default_factory=dict)
    head: tuple[str, ...] = ()


@dataclass(frozen=True)
class Swap:
    """Which columns are exchanged between households that match in others, and of how many."""

    columns: tuple[str, ...]
    match: tuple[str, ...]
    share: Fraction

    def changes(self, table: TableSpec) -> bool:
        """Whether cells of a table can have other rows: those by columns that matched households
        have alike keep their number.
        """
        others = {*table.dimensions, *table.measure.columns} - {*self.columns, *self.match}
        return bool(others) and not {*self.columns}.isdisjoint(table.dimensions)


Marks: TypeAlias = tuple[tuple[str, ...], ...]
"""Lines on cells that were set by hand."""


@dataclass(frozen=True)
class Settings:
    """The keys of a plan, read."""

    tables: tuple[TableSpec, ...]
    total: str
    cells: Mapping[str, object] | None
    rules: tuple[Mapping[str, object], ...]
    protect: str
    base: int
    deviation: int
    variance: Fraction
    marks: Mapping[str, Marks]
    merge: Mapping[str, Mapping[str, tuple[str, ...]]]
    secondary: str
    cost: str
    singletons: bool
    lower: Fraction
    upper: Fraction | None
    present: bool
    range: Fraction
    sliding: Fraction
    tell_apart: bool
    sample: Fraction | None = None
    swap: Swap | None = None
    request: tuple[Among, Fraction] | None = None
    waive: Among | None = None
    ratios: tuple[RatioSpec, ...] = ()
    """Tables that are made of two of ``tables``, which are counted."""

    @classmethod
    def from_parameters(cls, values: Mapping[str, ParameterValue], where: str) -> Settings:
        """Read what the parameters say together.

        Raises InputError ``table.no-dimensions``, ``table.base``, ``table.mean``,
        ``table.variance``, ``table.cell-key``, ``table.marks``, ``table.merge``, ``table.edit``,
        ``table.consent``, ``table.ratio`` or ``table.cells``, starting with ``where``.
        """
        protect, base = str(values["protect"]), values["base"]
        if protect in (RANDOM, CONTROLLED) and not isinstance(base, int):
            raise _wrong(
                "table.base",
                "base",
                msg(
                    "{where}: rounding needs `base`, the number of "
                    "which all rounded values are multiples.",
                    where=where,
                ),
            )
        tables = tuple(_tables(values, where))
        fitting = protect in (SUPPRESS, NONE) and values["cells"] is None
        ratios = tuple(read_ratios(_plain(values["tables"]), tables, where, fitting=fitting))
        if protect in (RANDOM, CONTROLLED, ADJUST) and any(t.measure.kind == MEAN for t in tables):
            raise _wrong(
                "table.mean",
                "protect",
                msg(
                    "{where}: means do not add up, so a table "
                    "of means cannot be rounded or changed; expected counts or sums.",
                    where=where,
                ),
            )
        if values["cells"] is not None and any(t.measure.kind == MEAN for t in tables):
            raise _wrong(
                "table.mean",
                "measure",
                msg("{where}: cells given as such hold counts or sums, found a mean.", where=where),
            )
        cells, attacker = _plain(values["cells"]), _plain(values["attacker"])
        assert cells is None or isinstance(cells, Mapping)
        assert isinstance(attacker, Mapping)
        upper = attacker.get("upper")
        rules = _plain(values["rule"])
        assert isinstance(rules, list)
        return cls(
            tables,
            str(values["total"]),
            cells,
            tuple(rules),
            protect,
            base if isinstance(base, int) else 0,
            *_by_keys(values, tables, where),
            _marks(values, tables, where),
            _merge(values, tables, where),
            str(values["secondary"]),
            str(values["cost"]),
            values["singletons"] is True,
            exact_number(attacker.get("lower", 0)) or Fraction(0),
            None if upper is None else exact_number(upper),
            attacker.get("present") is True,
            exact_number(values["range"]) or Fraction(0),
            exact_number(values["sliding"]) or Fraction(0),
            values["tell_apart"] is True,
            *_edits(values, tables, where),
            *_consent(values, where),
            ratios,
        )

    @property
    def edits(self) -> bool:
        """Whether other rows are counted than those of the source as they are."""
        return self.sample is not None or self.swap is not None

    @property
    def dimensions(self) -> tuple[str, ...]:
        """All dimensions, in the order in which the tables name them."""
        return tuple(dict.fromkeys(name for table in self.tables for name in table.dimensions))

    @property
    def changes(self) -> bool:
        """Whether values are rounded or changed."""
        return self.protect in (RANDOM, CONTROLLED, CELL_KEY, ADJUST)


def _marks(
    values: Mapping[str, ParameterValue], tables: Sequence[TableSpec], where: str
) -> Mapping[str, Marks]:
    """Lines on cells that were set by hand, by table; none of a file that was not read."""
    found, cells = _plain(values["marks"]), _plain(values["cells"])
    if found is None:
        return {}
    named, fault = isinstance(found, Mapping), ""
    own = found if isinstance(found, Mapping) else {tables[0].name: found}
    strange = next((name for name in own if name not in {each.name for each in tables}), None)
    if isinstance(cells, Mapping) and not {"status", "cost"}.isdisjoint(cells):
        fault = msg(
            "{where}: `marks` are for cells without `status` and `cost` of their own, found such "
            "columns in `cells`.",
            where=where,
        )
    elif named is not (values["tables"] is not None):
        fault = msg(
            "{where}: `marks` are a file or its lines where a plan has one table, and a table of "
            "such by the names of tables where it has several; found the other.",
            where=where,
        )
    elif strange is not None:
        fault = msg(
            "{where}: `marks` name {table}, expected tables of the plan that are counted.",
            where=where,
            table=quoted(str(strange)),
        )
    if fault:
        raise _wrong("table.marks", "marks", fault)
    return {
        str(name): tuple(tuple(map(str, line)) for line in lines)
        for name, lines in own.items()
        if isinstance(lines, list)
    }


def _merge(
    values: Mapping[str, ParameterValue], tables: Sequence[TableSpec], where: str
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The values that stand together under each label, by column."""
    found = _plain(values["merge"])
    if not isinstance(found, Mapping):
        return {}
    fault = ""
    if values["cells"] is not None or values["tables"] is not None:
        fault = msg(
            "{where}: `merge` is for a single table of rows, found several tables or "
            "cells as given.",
            where=where,
        )
    for column, groups in found.items():
        named = [str(value) for group in groups.values() for value in group]
        if column not in tables[0].dimensions:
            fault = fault or msg(
                "{where}: `merge` names `{column}`, which is not a dimension of the table.",
                where=where,
                column=column,
            )
        twice = next((one for i, one in enumerate(named) if one in named[:i]), None)
        if twice is not None:
            fault = fault or msg(
                "{where}: `merge` names {value} of `{column}` twice, expected once.",
                where=where,
                value=quoted(twice),
                column=column,
            )
        if values["total"] in groups:
            fault = fault or msg(
                "{where}: `merge` gives values of `{column}` the label of totals, expected "
                "another label.",
                where=where,
                column=column,
            )
    if fault:
        raise _wrong("table.merge", "merge", fault)
    return {
        str(column): {str(label): tuple(map(str, group)) for label, group in groups.items()}
        for column, groups in found.items()
    }


def _consent(
    values: Mapping[str, ParameterValue], where: str
) -> tuple[tuple[Among, Fraction] | None, Among | None]:
    """Who asks for protection, from which percentage on, and who does without; None without."""
    request, waive = _plain(values["request"]), _plain(values["waive"])
    if values["cells"] is not None and (request is not None or waive is not None):
        raise _wrong(
            "table.consent",
            "waive" if request is None else "request",
            msg(
                "{where}: `request` and `waive` are said of rows, and ready cells have none.",
                where=where,
            ),
            "Give such cells a status by hand.",
        )

    def among(raw: object) -> Among | None:
        if not isinstance(raw, Mapping):
            return None
        return str(raw["column"]), tuple(map(str, raw["values"]))

    asking, share = among(request), Fraction(0)
    if isinstance(request, Mapping):
        share = exact_number(request.get("k", 0)) or Fraction(0)
    return None if asking is None else (asking, share), among(waive)


def _edits(
    values: Mapping[str, ParameterValue], tables: Sequence[TableSpec], where: str
) -> tuple[Fraction | None, Swap | None]:
    """The share of a sample, and what is swapped; None without."""
    sample, raw = values["sample"], _plain(values["swap"])
    share = Fraction(sample) if isinstance(sample, int | Fraction) and sample != 1 else None
    swap, fault = None, ""
    if isinstance(raw, Mapping):
        amount = exact_number(raw["share"])
        assert amount is not None
        swap = Swap(_names(raw["columns"]), _names(raw.get("match", [])), amount)
    if (share is not None or swap is not None) and values["cells"] is not None:
        fault = msg(
            "{where}: `sample` and `swap` change rows before they are counted, and ready cells "
            "have none.",
            where=where,
        )
    elif share == 0:
        fault = msg("{where}: `sample` is 0, so nobody would count.", where=where)
    elif share is not None and values["protect"] == CELL_KEY:
        fault = msg(
            "{where}: cell keys belong to all rows of the source, so they go with no `sample`.",
            where=where,
        )
    elif swap is not None and {*swap.columns} & {*swap.match}:
        fault = msg("{where}: `swap` exchanges a column by which it matches.", where=where)
    elif swap is not None and not any(swap.changes(table) for table in tables):
        fault = msg(
            "{where}: `swap` would change no table: it keeps counts without the columns that it "
            "exchanges, and by them and those that match alone.",
            where=where,
        )
    if fault:
        raise _wrong("table.edit", "swap" if swap is not None else "sample", fault)
    return share, swap


def _by_keys(
    values: Mapping[str, ParameterValue], tables: Sequence[TableSpec], where: str
) -> tuple[int, Fraction]:
    """The largest change by cell keys and the variance of changes; 0 without them."""
    if values["protect"] != CELL_KEY:
        return 0, Fraction(0)
    deviation, variance = values["deviation"], values["variance"]
    assert isinstance(deviation, int)
    assert isinstance(variance, int | Fraction)
    if values["cells"] is not None or any(one.measure.kind != COUNT for one in tables):
        raise _wrong(
            "table.cell-key",
            "protect",
            msg(
                "{where}: cell keys are sums of keys of rows, so only tables that count the rows "
                "of microdata can be changed by them.",
                where=where,
            ),
            "Round sums and cells as given instead.",
        )
    return deviation, Fraction(variance)


def _plain(value: ParameterValue) -> object:
    return thaw(value.plain, exact=True) if isinstance(value, Nested) else None


def _names(value: object) -> tuple[str, ...]:
    items = value.items if isinstance(value, Texts) else value
    return tuple(map(str, items)) if isinstance(items, list | tuple) else ()


def _tables(values: Mapping[str, ParameterValue], where: str) -> Iterator[TableSpec]:
    """The tables of the plan, or its only one."""
    given, usual = _plain(values["tables"]), Measure.of(_plain(values["measure"]))
    if not isinstance(given, list):
        names = (*_names(values["rows"]), *_names(values["columns"]))
        if not names:
            raise _wrong(
                "table.no-dimensions",
                "rows",
                msg(
                    "{where}: neither `rows` nor `columns` "
                    "names a column, expected the dimensions of the table.",
                    where=where,
                ),
            )
        head = _names(values["columns"])
        yield TableSpec("", _once(names, where), usual, ONLY, head=head)
        return
    for each in given:
        if is_ratio(each):
            continue
        names = (*_names(each.get("rows")), *_names(each.get("columns")))
        measure = Measure.of(each["measure"]) if "measure" in each else usual
        name = str(each["name"])
        own, head = dict(each.get("hierarchy", {})), _names(each.get("columns"))
        yield TableSpec(name, _once(names, where), measure, file_of(name), own, head)


def _once(names: tuple[str, ...], where: str) -> tuple[str, ...]:
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise _wrong(
            "table.twice",
            "rows",
            msg(
                "{where}: `{column}` is a dimension of the same table twice, expected once.",
                where=where,
                column=twice,
            ),
        )
    return names


def _wrong(code: str, key: str, sentence: str, hint: str = "") -> InputError:
    return InputError(code, sentence, hint=hint, details={"key": key})


def effective_roles(
    roles: Mapping[str, Role], parameters: Mapping[str, ParameterValue]
) -> Mapping[str, Role]:
    """The columns that are dimensions are quasi-identifiers, whatever the plan says of them."""
    try:
        names = set(Settings.from_parameters(parameters, "").dimensions)
    except InputError:  # said where the settings are checked
        return roles
    return {
        name: Role.QUASI_IDENTIFIER if name in names and role is not Role.CLUSTER else role
        for name, role in roles.items()
    }


def check_settings(
    columns: Sequence[str],
    roles: Mapping[str, Role],
    parameters: Mapping[str, ParameterValue],
    where: str,
) -> None:
    """Check names of columns and what does not fit together.

    Raises InputError ``table.unknown-column``, ``table.reserved``, ``table.contributor`` and those
    of :meth:`Settings.from_parameters`.
    """
    settings = Settings.from_parameters(parameters, where)
    if settings.protect == CELL_KEY:
        from dpdesk.engine.tables.cellkeys import PerturbationTable

        PerturbationTable.of(settings.deviation, settings.variance)
    named = [*settings.dimensions, *(c for t in settings.tables for c in t.measure.columns)]
    cells = settings.cells or {}
    for given in cells.values():
        named += map(str, given if isinstance(given, list) else [given])
    if settings.swap is not None:
        named += [*settings.swap.columns, *settings.swap.match]
    asking = settings.request[0] if settings.request is not None else None
    named += [each[0] for each in (asking, settings.waive) if each is not None]
    for name in named:
        if name not in columns:
            near = nearest(name, columns)
            hint = msg("Did you mean `{near}`?", near=near) if near else ""
            raise _wrong(
                "table.unknown-column",
                name,
                msg("{where}: the source has no column `{column}`.", where=where, column=name),
                hint,
            )
    for name in settings.dimensions:
        if name in (*INTERNAL_COLUMNS, WIDTH, *MOVED_COLUMNS):
            raise _wrong(
                "table.reserved",
                name,
                msg(
                    "{where}: a dimension is called `{column}`, "
                    "which is a column of every released table; expected another name.",
                    where=where,
                    column=name,
                ),
                "Rename the column in the source.",
            )
    _check_together(settings, roles, where)


def _check_together(settings: Settings, roles: Mapping[str, Role], where: str) -> None:
    """What does not fit together."""
    held = [name for name, role in roles.items() if role is Role.CLUSTER]
    if len(held) > 1:
        raise _wrong(
            "table.contributor",
            held[1],
            msg(
                "{where}: `{first}` and `{second}` both have the role cluster, expected one "
                "column that distinguishes contributors.",
                where=where,
                first=held[0],
                second=held[1],
            ),
        )
    for table in settings.tables:
        strange = next((name for name in table.hierarchy if name not in table.dimensions), None)
        if strange is not None:
            raise _wrong(
                "table.hierarchy",
                strange,
                msg(
                    "{where}: table `{table}` has a hierarchy "
                    "for `{column}`, which is not one of its dimensions.",
                    where=where,
                    table=table.name,
                    column=strange,
                ),
            )
