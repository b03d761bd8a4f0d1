"""The cells of a plan's tables, from microdata or from ready cells, as one system of equations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import exact_number
from dpdesk.core.plain import quoted
from dpdesk.core.schema import Role
from dpdesk.core.table_parameters import COUNT, MEAN
from dpdesk.core.tabulation import CellSource, RowEdit, Tabulated, Tabulation, cell_words
from dpdesk.engine.hierarchies.preview import align, default_hierarchy
from dpdesk.engine.method import CellsInput, own_hierarchy
from dpdesk.engine.methods.table.editing import as_counted
from dpdesk.engine.methods.table.marking import marked
from dpdesk.engine.methods.table.ratios import refuse_undivided
from dpdesk.engine.methods.table.settings import Settings, TableSpec
from dpdesk.engine.tables.common import common_sums
from dpdesk.engine.tables.model import (
    Cells,
    CommonSum,
    Dimension,
    Exact,
    Floats,
    System,
    Table,
    exact,
)
from dpdesk.engine.tables.rules import Judgement, Rule, judge

ALONE, USED, PARTLY, EMPTY, READY = TOGETHER = "alone", "used", "partly", "empty", "ready"
"""What is known of sums that tables of a plan have in common: no two can have any; all are used;
those of three and more large tables are not; none, since empty cells may be suppressed; none, since
the rows of ready cells are not known."""
_STATUS = {"S": 0, "s": 0, "U": 1, "u": 1, "P": 2, "p": 2, "": 3}


@dataclass(frozen=True, eq=False)
class Counted:
    """The tables of a plan with their cells.

    ``scales`` are the decimals of the grid of each table; ``weights`` the sums of weights of a
    table of means, with the decimals of theirs. ``left_out`` rows had no value or weight.
    """

    settings: Settings
    system: System
    scales: tuple[int, ...]
    weights: tuple[tuple[Exact, int] | None, ...] = field(repr=False)
    left_out: int = 0
    prints: tuple[NDArray[np.object_], ...] = field(default=(), repr=False)
    """Equal where cells hold the same rows, in every table of the source."""
    together: str = ""
    """Whether sums that tables have in common are known; see :data:`TOGETHER`."""
    edit: RowEdit | None = field(default=None, repr=False)
    """Which rows were counted, and with whose places; None: all as they are."""
    unseen: tuple[tuple[str, str, str], ...] = ()
    """Values by which contributors ask or agree, and no row has: setting, column, value."""

    @cached_property
    def units(self) -> Exact:
        """What 1 is on the grid of each variable: tables of other measures have other grids."""
        return self._spread([10**scale for scale in self.scales])

    def judged(self) -> Judgement:
        """What the rules say of each variable; a range is at least 1 where things are counted."""
        settings = self.settings
        rules = rules_of(settings)
        return judge(self.system, rules, settings.range, self._ones(), settings.sliding)

    def filled(self, judged: Judgement) -> Floats:
        """The least value of each variable that is not empty, where readers see that it is not.

        Where no empty cell has to be suppressed all of them are published, so that everyone sees
        that a suppressed count is at least 1.
        """
        cells, ones = self.system.cells, self._ones()
        empty = (cells.frequency == 0) & ~self.system.known
        if (empty & judged.required.unsafe).any():
            return np.zeros(len(cells))
        there = (cells.frequency > 0) & (cells.values >= ones).astype(bool)
        return np.where(there, ones, 0).astype(np.float64)

    def steps(self) -> Floats:
        """1 where things are counted, on the grid of each variable, if all counts are whole."""
        ones = self._ones()
        there = (ones > 0).astype(bool)
        broken = (self.system.cells.values[there] % ones[there]).astype(bool).any()
        return np.zeros(len(ones)) if broken else ones.astype(np.float64)

    def _ones(self) -> Exact:
        """1 where things are counted, on the grid of each variable; else 0."""
        counts = [int(spec.measure.kind == COUNT) for spec in self.settings.tables]
        ones: Exact = self.units * self._spread(counts)
        return ones

    def _spread(self, of_tables: Sequence[int]) -> Exact:
        found = exact([0] * len(self.system))
        for own, each in zip(self.system.variables, of_tables, strict=True):
            found[own] = each
        return found


def rules_of(settings: Settings) -> tuple[Rule, ...]:
    """The rules of a plan, as the library takes them."""
    found = []
    for raw in settings.rules:
        numbers = {key: Fraction(str(raw[key])) for key in raw if key not in ("rule", "full")}
        kind = str(raw["rule"])
        if kind == "pq":
            share = numbers["p"] / numbers["q"] * 100
        else:
            share = numbers.get("k", numbers.get("p", Fraction(0)))
        wide = numbers.get("range")
        found.append(Rule(kind, int(numbers.get("n", 0)), share, wide))  # type: ignore[arg-type]
        if raw.get("full") is True:
            found.append(Rule("full", range=wide))
    if settings.request is not None:
        found.append(Rule("request", share=settings.request[1]))
    return tuple(found)


def count_tables(
    given: CellsInput, token: CancelToken, keys: NDArray[np.uint64] | None = None
) -> Counted:
    """Count all tables of a plan; with ``keys`` of rows, their sums are the prints of cells.

    Raises InputError ``table.*`` and what the source raises, Cancelled.
    """
    settings = Settings.from_parameters(given.parameters, given.where)
    unseen = tuple(_unseen(given, settings, token))
    given, edit = as_counted(given, settings, token)
    needed = max((rule.contributions for rule in rules_of(settings)), default=0)
    tables: list[Table] = []
    scales: list[int] = []
    weights: list[tuple[Exact, int] | None] = []
    prints: list[NDArray[np.object_]] = []
    left_out = 0
    for spec in settings.tables:
        token.check()
        dimensions = tuple(
            _dimension(given, spec, name, settings, token) for name in spec.dimensions
        )
        if settings.cells is not None:
            cells, scale = ready_cells(given, settings, spec, dimensions, needed, token)
            weights.append(None)
        else:
            # Who is alone in a cell is told apart by a number, so one is always asked for.
            found = _tabulated(given, spec, dimensions, max(needed, 1), keys, settings, token)
            cells, scale = _cells(found), found.scale
            mean = spec.measure.kind == MEAN
            weights.append((found.weights, found.weight_scale) if mean else None)
            prints.append(found.prints)
            left_out += found.left_out
        if lines := settings.marks.get(spec.name):
            cells = marked(cells, lines, dimensions, scale, given.where, spec.name)
        name = spec.name or " × ".join(spec.dimensions)
        tables.append(Table(name, dimensions, cells, measure=spec.measure.words))
        scales.append(scale)
        if spec.measure.kind == MEAN:
            _refuse_weightless(given, tables[-1], found.weights)
    # That a group is in one of its cells as a whole is no secret while empty cells are known, nor
    # while a cell is known to hold all of another.
    grouped = any(rule.kind == "full" for rule in rules_of(settings))
    sums: list[CommonSum] = []
    complete = True
    if prints and not grouped:
        tables = _identified(tables, prints)
        sums, complete = _common(given, tables, prints, token)
    system = System.of(tables, zeros_known=not grouped, sums=sums)
    refuse_undivided(settings.ratios, system, given.source.name, given.where)
    together = ""
    if len(tables) > 1:
        rest = READY if not prints else EMPTY if grouped else USED if complete else PARTLY
        together = rest if _bear_on_each_other(tables) else ALONE
    known = tuple(scales), tuple(weights), left_out, tuple(prints), together, edit, unseen
    return Counted(settings, system, *known)


def _unseen(
    given: CellsInput, settings: Settings, token: CancelToken
) -> Iterator[tuple[str, str, str]]:
    """Values of `request` and `waive` that no row of the data has: a slip would protect no one."""
    request = None if settings.request is None else settings.request[0]
    for setting, among in (("request", request), ("waive", settings.waive)):
        if among is None:
            continue
        name, values = among
        table = given.source.frequency_table([name], token)
        gone = {table.domains[0][code] for code in table.missing[0]}
        there = set(table.domains[0]) - gone
        yield from ((setting, name, value) for value in values if value not in there)


def _bear_on_each_other(tables: Sequence[Table]) -> bool:
    """Whether cells of two tables may be sums of each other that the values they cover do not show.

    Of two with the same innermost values in all columns of one, the cells of that one are sums of
    the other's, and these sums are known.
    """
    spans = [
        (table.measure, {(d.name, frozenset(d.values(d.leaves))) for d in table.dimensions})
        for table in tables
    ]
    return any(
        one == other and here - there and there - here
        for (one, here), (other, there) in combinations(spans, 2)
    )


def _common(
    given: CellsInput,
    tables: Sequence[Table],
    prints: Sequence[NDArray[np.object_]],
    token: CancelToken,
) -> tuple[list[CommonSum], bool]:
    """The sums that tables of one measure have in common, by which values rows have together."""
    if len({table.measure for table in tables}) == len(tables):
        return [], True
    names = dict.fromkeys(d.name for table in tables for d in table.dimensions)
    groups = given.source.frequency_table(list(names), token)
    places = []
    for table in tables:
        place = np.zeros(len(groups.counts), dtype=np.int64)
        for dimension, size in zip(table.dimensions, table.shape, strict=True):
            members = _members(dimension)
            column = groups.attributes.index(dimension.name)
            leaf = np.array([members.get(v, (-1,))[0] for v in groups.domains[column]], np.int64)
            own = leaf[groups.codes[:, column]]
            place = np.where((place < 0) | (own < 0), -1, place * size + own)
        places.append(place)
    return common_sums(tables, places, prints, token)


def _refuse_weightless(given: CellsInput, table: Table, weights: Exact) -> None:
    """A mean is by a sum of weights, so that must not be 0 where somebody contributes."""
    none = np.flatnonzero((weights == 0).astype(bool) & (table.cells.frequency > 0))
    if none.size:
        raise InputError(
            "table.weights",
            msg(
                "{source}: the weights of the cell {cell} add up to 0, so it has no mean.",
                source=given.source.name,
                cell=cell_words(table.place(int(none[0]))),
            ),
            hint="Leave rows without a weight out, or release sums.",
            details={"key": "measure"},
        )


def _dimension(
    given: CellsInput, spec: TableSpec, name: str, settings: Settings, token: CancelToken
) -> Dimension:
    """The nodes of a dimension: those of its hierarchy, or the values of the rows that count.

    Raises InputError ``table.total``, ``table.merge``, ``hierarchy.missing-leaf``.
    """
    table = given.source.frequency_table([name], token)
    values, gone = table.domains[0], {table.domains[0][code] for code in table.missing[0]}
    stored = given.hierarchies.get(own_hierarchy(name, spec.name)) or given.hierarchies.get(name)
    ready = settings.cells is not None
    if stored is None:
        leaves = in_order(values, gone, given.decimal)
        if ready:
            leaves = [v for v in leaves if not _is_margin(v, settings)]
        else:
            leaves = _counting(given, spec, name, leaves, token)
        stored = default_hierarchy(name, leaves) if leaves else None
    elif not ready:
        stored = align(table, {name: stored}, given.where).hierarchies[0]
    if stored is None or (not ready and settings.total in values):
        raise InputError(
            "table.total",
            msg(
                "{where}: the column `{column}` has no values but totals, or has the value "
                "{label}, which is what `total` calls every margin.",
                where=given.where,
                column=name,
                label=quoted(settings.total),
            ),
            hint="Choose another `total`.",
            details={"key": "total"},
        )
    groups = settings.merge.get(name, {})
    if groups:
        stored = _with_merged(given, stored, groups)
    made = replace(Dimension.of(name, stored, settings.total), merged=groups)
    if ready:
        _refuse_strange(given, name, values, made, settings)
    return made


def _with_merged(
    given: CellsInput, stored: Hierarchy, groups: Mapping[str, tuple[str, ...]]
) -> Hierarchy:
    """The hierarchy with one leaf for the values of each group, where the first of them stood."""
    label_of = {value: label for label, group in groups.items() for value in group}
    strange = next((one for one in label_of if one not in stored.leaf_codes), None)
    taken = next(
        (one for one in groups if one in stored.leaf_codes and label_of.get(one) != one), None
    )
    steps = stored.parents[0].tolist() if stored.height else [0] * len(stored.leaves)
    above: dict[str, int] = {}
    apart = ""
    for value, parent in zip(stored.leaves, steps, strict=True):
        label = label_of.get(value, value)
        if above.setdefault(label, parent) != parent:
            apart = apart or label
    said = {"where": given.where, "column": stored.attribute}
    fault = ""
    if strange is not None:
        fault = msg(
            "{where}: `merge` names {value} of `{column}`, which no row of the table has.",
            value=quoted(strange),
            **said,
        )
    elif taken is not None:
        fault = msg(
            "{where}: `merge` uses the label {label} of `{column}`, which is another value.",
            label=quoted(taken),
            **said,
        )
    elif apart:
        fault = msg(
            "{where}: `merge` puts values of `{column}` from different groups of its hierarchy "
            "under {label}, expected values of one group.",
            label=quoted(apart),
            **said,
        )
    if fault:
        raise InputError("table.merge", fault, details={"key": "merge"})
    parents = (np.array(list(above.values()), dtype=np.int32), *stored.parents[1:])
    labels = (tuple(above), *stored.labels[1:])
    return Hierarchy(stored.attribute, labels, parents if stored.height else ())


def _counting(
    given: CellsInput, spec: TableSpec, name: str, leaves: Sequence[str], token: CancelToken
) -> list[str]:
    """The values that some row has which contributes: a row of the table tells of no one else."""
    if spec.measure.column is None and spec.measure.weight is None:
        return list(leaves)
    members = {value: (at,) for at, value in enumerate(leaves)}
    asked = Tabulation(
        (name,), (members,), (len(leaves),), spec.measure.column, spec.measure.weight, None, 0
    )
    held = given.source.tabulate(asked, token).frequency
    return [value for value, n in zip(leaves, held.tolist(), strict=True) if n] or list(leaves)


def _is_margin(label: str, settings: Settings) -> bool:
    return label in ("", settings.total)


def _refuse_strange(
    given: CellsInput, name: str, values: Sequence[str], made: Dimension, settings: Settings
) -> None:
    """Ready cells have the labels of their dimension, and no others."""
    known = {*made.labels}
    strange = [one for one in values if one not in known and not _is_margin(one, settings)]
    if strange:
        raise InputError(
            "hierarchy.missing-leaf",
            msg(
                "{where}, attribute `{attribute}`: {value} is neither a value of its hierarchy nor "
                "one of its groups, expected one of them or {total}.",
                where=given.where,
                attribute=name,
                value=quoted(strange[0]),
                total=quoted(settings.total),
            ),
            details={"attribute": name, "values": tuple(strange[:100])},
        )


def in_order(values: Sequence[str], missing: Collection[str], decimal: str = ".") -> list[str]:
    """Values without a hierarchy: numbers by size, texts by code point, missing ones last."""
    present = [one for one in values if one not in missing]
    numbers = [exact_number(one, decimal) for one in present]
    if all(number is not None for number in numbers):
        order = sorted(range(len(present)), key=lambda i: (numbers[i] or Fraction(0), present[i]))
        present = [present[i] for i in order]
    else:
        present.sort()
    return [*present, *sorted(missing)]


def _members(dimension: Dimension) -> dict[str, tuple[int, ...]]:
    """The nodes that each value of a dimension counts in."""
    found: dict[str, tuple[int, ...]] = {}
    for leaf in dimension.leaves.tolist():
        nodes, node = [], leaf
        while node >= 0:
            nodes.append(node)
            node = int(dimension.parents[node])
        label = dimension.labels[leaf]
        found |= dict.fromkeys(dimension.merged.get(label, (label,)), tuple(nodes))
    return found


def _tabulated(
    given: CellsInput,
    spec: TableSpec,
    dimensions: tuple[Dimension, ...],
    top: int,
    keys: NDArray[np.uint64] | None,
    settings: Settings,
    token: CancelToken,
) -> Tabulated:
    held = given.with_role(Role.CLUSTER)
    asked = Tabulation(
        spec.dimensions,
        tuple(_members(dimension) for dimension in dimensions),
        tuple(len(dimension.labels) for dimension in dimensions),
        spec.measure.column,
        spec.measure.weight,
        held[0] if held else None,
        top,
        keys,
        None if settings.request is None else settings.request[0],
        settings.waive,
    )
    return given.source.tabulate(asked, token)


def _cells(found: Tabulated) -> Cells:
    signed = bool((found.totals != found.sizes).any())
    return Cells(
        found.totals,
        found.frequency,
        found.top,
        found.who,
        found.sizes if signed else None,
        asking=found.asking,
        holding=found.holding,
    )


def _identified(tables: list[Table], prints: list[NDArray[np.object_]]) -> list[Table]:
    """The tables with equal numbers where cells hold the same rows."""
    codes: dict[object, int] = {}
    found = []
    for table, own in zip(tables, prints, strict=True):
        numbers = [codes.setdefault(one, len(codes)) for one in own.tolist()]
        held = np.where(table.cells.frequency > 0, np.array(numbers, dtype=np.int64), -1)
        found.append(replace(table, identity=held))
    return found


def ready_cells(
    given: CellsInput,
    settings: Settings,
    spec: TableSpec,
    dimensions: tuple[Dimension, ...],
    needed: int,
    token: CancelToken,
) -> tuple[Cells, int]:
    """Cells that the source has ready, a row for each; absent margins are added up.

    Raises InputError ``table.double-cell``, ``table.cells``.
    """
    columns = settings.cells or {}
    reader = _ReadyCells(given, settings, spec, dimensions, token)
    reader.refuse_doubles()
    values, there, scale = reader.numbers(str(columns["value"]))
    counts = spec.measure.kind == COUNT
    held = columns.get("frequency")
    parts = reader.leaf & (reader.rows > 0) & ~there
    reader.refuse(parts, str(columns["value"]), "nothing")
    filled = reader.added_up(values, there)
    if held is not None:
        frequency, known, decimals = reader.numbers(str(held))
        if decimals:
            raise reader.wrong("`frequency` of `cells` holds a number that is not a whole number")
        reader.refuse(known & (frequency < 0), str(held), "a number below 0")
        reader.refuse(known & (frequency == 0) & (filled != 0), str(held), "0 next to a value")
        blank = reader.leaf & there & ~known & (filled != 0)
        reader.refuse(blank, str(held), "nothing next to a value")
        frequency = reader.added_up(frequency, known)
    elif counts and not scale:
        frequency = filled
        reader.refuse(filled < 0, str(columns["value"]), "a number below 0")
    else:
        # Not known: nothing but that who contributes nothing adds nothing.
        frequency = np.where(filled == 0, 0, -1)
        if any(rule.kind in ("threshold", "full") for rule in rules_of(settings)):
            raise reader.wrong("a threshold needs the column `frequency` of `cells`")
    names = columns.get("top", [])
    assert isinstance(names, list)
    if needed > len(names):
        raise reader.wrong(
            msg(
                "a rule looks at the {n} largest contributions, which `top` of `cells` must name",
                n=needed,
            )
        )
    top, scale, filled = reader.largest(list(map(str, names)), scale, filled)
    status = reader.statuses(columns.get("status"))
    if top is not None:
        reader.refuse_largest(top, filled, status, list(map(str, names[:needed])))
        # Who gave the whole value is alone with it, however many others gave nothing.
        frequency = np.where((frequency < 0) & (top[:, 0] == filled), 1, frequency)
    cost = None
    if "cost" in columns:
        amounts, priced, decimals = reader.numbers(str(columns["cost"]))
        reader.refuse(priced & (amounts < 0), str(columns["cost"]), "a number below 0")
        cost = np.where(priced, amounts.astype(np.float64) / 10.0**decimals, np.nan)
    whole = np.array(frequency.tolist(), dtype=np.int64)
    named = columns.get("levels", [])
    assert isinstance(named, list)
    levels = reader.levels(list(map(str, named)), status, scale) if named else None
    return Cells(filled, whole, top, None, None, status, cost, levels), scale


class _ReadyCells:
    """A source with a row per cell, read into the cells of one table."""

    def __init__(
        self,
        given: CellsInput,
        settings: Settings,
        spec: TableSpec,
        dimensions: tuple[Dimension, ...],
        token: CancelToken,
    ) -> None:
        self._given, self._settings, self._token = given, settings, token
        self._dimensions = dimensions
        self._source: CellSource = given.source
        others = [name for name in settings.dimensions if name not in spec.dimensions]
        # Rows of other tables: those where a column that is not a dimension here has no total.
        self._columns = (*spec.dimensions, *others)
        own = [
            {"": (len(d.labels) - 1,)} | {label: (node,) for node, label in enumerate(d.labels)}
            for d in dimensions
        ]
        self._members: tuple[Mapping[str, tuple[int, ...]], ...] = (
            *own,
            *({settings.total: (0,), "": (0,)} for _ in others),
        )
        self.shape = tuple(len(each.labels) for each in dimensions)
        self._shape = (*self.shape, *(1 for _ in others))
        leaf = np.ones(self.shape, dtype=bool)
        for axis, each in enumerate(dimensions):
            leaf &= _along(np.isin(np.arange(len(each.labels)), each.leaves), axis, self.shape)
        self.leaf = leaf.ravel()
        """Cells without parts."""

    def wrong(self, what: str) -> InputError:
        """The error that ready cells do not give what is needed."""
        sentence = msg("{where}: {what}.", where=self._given.where, what=what)
        return InputError("table.cells", sentence, details={"key": "cells"})

    def _asked(self, value: str | None) -> Tabulated:
        asked = Tabulation(self._columns, self._members, self._shape, value)
        return self._source.tabulate(asked, self._token)

    def refuse_doubles(self) -> None:
        """Raise InputError where two rows are the same cell."""
        self.rows = self._asked(None).frequency
        twice = np.flatnonzero(self.rows > 1)
        if twice.size:
            raise InputError(
                "table.double-cell",
                msg(
                    "{source}: two rows are for the cell {cell}, expected one row for each cell.",
                    source=self._source.name,
                    cell=self._cell(int(twice[0])),
                ),
                hint="Without `cells`, the rows are counted as microdata.",
            )

    def _cell(self, place: int) -> str:
        """The labels of a cell."""
        at = np.unravel_index(place, self.shape)
        return cell_words(d.labels[int(i)] for d, i in zip(self._dimensions, at, strict=True))

    def refuse(self, wrong: Exact | NDArray[np.bool_], column: str, found: str) -> None:
        """Raise InputError where what was ``found`` in a column does not fit a cell."""
        places = np.flatnonzero(wrong)
        if places.size:
            raise InputError(
                "table.cells",
                msg(
                    "{source}, column `{column}`, cell {cell}: found {found}, expected a number "
                    "that fits the cell.",
                    source=self._source.name,
                    column=column,
                    cell=self._cell(int(places[0])),
                    found=found,
                ),
                details={"key": "cells", "column": column},
            )

    def numbers(self, column: str) -> tuple[Exact, NDArray[np.bool_], int]:
        """Numbers of a column by cell, where there are any, and their decimals."""
        found = self._asked(column)
        return found.totals, found.frequency > 0, found.scale

    def added_up(self, values: Exact, there: NDArray[np.bool_]) -> Exact:
        """The numbers with absent margins added up, and 0 for absent cells without parts."""
        sums = self._filled(values[:, None], there, lambda parts: parts.sum(axis=1)[:, None])
        return np.asarray(sums[:, 0], dtype=object)

    def _filled(
        self, lines: Exact, there: NDArray[np.bool_], combine: Callable[[Exact], Exact]
    ) -> Exact:
        """Lines of cells, absent margins made from their parts once all of these are known.

        ``combine`` gets the lines of the parts one after the other, shape (cells, parts · width).
        """
        width = lines.shape[1]
        array, known = lines.reshape(*self.shape, width).copy(), there.reshape(self.shape).copy()
        inner = [np.isin(np.arange(len(d.labels)), d.parents) for d in self._dimensions]
        known |= self.leaf.reshape(self.shape)
        while not known.all():
            for axis, dimension in enumerate(self._dimensions):
                for total in np.flatnonzero(inner[axis]).tolist():
                    parts = np.flatnonzero(dimension.parents == total)
                    place: tuple[slice | int, ...] = (*(slice(None),) * axis, total)
                    fresh = np.take(known, parts, axis).all(axis=axis) & ~known[place]
                    below = np.moveaxis(np.take(array, parts, axis), axis, -2)[fresh]
                    if len(below):
                        flat = below.reshape(len(below), -1)
                        array[place][fresh] = combine(flat)[:, :width]
                    known[place] |= fresh
        return np.asarray(array.reshape(-1, width), dtype=object)

    def largest(
        self, names: list[str], scale: int, values: Exact
    ) -> tuple[Exact | None, int, Exact]:
        """The largest contributions on a grid with the values; those of absent margins from parts.

        Gives the decimals of that grid and the values on it too.
        """
        if not names:
            return None, scale, values
        found = [self.numbers(name) for name in names]
        finest = max(scale, *(each[2] for each in found))
        columns = [each[0] * 10 ** (finest - each[2]) for each in found]
        there = np.logical_or.reduce([each[1] for each in found])
        top = self._filled(_sorted(np.stack(columns, axis=1)), there, _sorted)
        return top, finest, values * 10 ** (finest - scale)

    def refuse_largest(
        self, top: Exact, values: Exact, status: NDArray[np.str_] | None, needed: Sequence[str]
    ) -> None:
        """Raise InputError where the largest contributions do not fit the values.

        Those that rules need must be there, as far as they can be, where no status goes before.
        """
        positive, sums = (values >= 0) & (top >= 0).all(axis=1), top.sum(axis=1)
        first = str((self._settings.cells or {})["value"])
        self.refuse(positive & (sums > values), first, "less than the largest contributions")
        judged = positive if status is None else positive & (status == "")
        if needed:
            rest = judged & (sums < values) & (top[:, len(needed) - 1] == 0)
            self.refuse(rest, needed[-1], "nothing, and less than the value in all")

    def levels(self, names: list[str], status: NDArray[np.str_] | None, scale: int) -> Exact:
        """How far cells that are set to be unsafe must be protected, on the grid of the values."""
        found = np.full((len(self.leaf), 3), -1, dtype=object)
        unsafe = np.zeros(len(self.leaf), bool) if status is None else status == "U"
        for place, name in enumerate(names):
            amounts, there, decimals = self.numbers(name)
            self.refuse(unsafe & there & (amounts < 0), name, "a number below 0")
            wide = amounts * Fraction(10**scale, 10**decimals)
            found[:, place] = np.where(unsafe & there, wide, found[:, place])
        return found

    def statuses(self, column: object) -> NDArray[np.str_] | None:
        """The statuses set by hand: S, U, P or none."""
        if column is None:
            return None
        name = str(column)
        table = self._source.frequency_table([name], self._token)
        domain = table.domains[0]
        unknown = [text for text in domain if text.strip() not in _STATUS]
        if unknown:
            raise InputError(
                "table.status",
                counted(
                    "{source}, column `{column}`: {found} is not a status, expected S (safe), "
                    "U (unsafe), P (must be published) or nothing.",
                    "{source}, column `{column}`: {found} and others ({n} in all) are not a "
                    "status, expected S (safe), U (unsafe), P (must be published) or nothing.",
                    n=len(unknown),
                    source=self._source.name,
                    column=name,
                    found=quoted(unknown[0]),
                ),
                details={"column": name},
            )
        members = {text: (_STATUS[text.strip()],) for text in domain}
        asked = Tabulation((*self._columns, name), (*self._members, members), (*self._shape, 4))
        found = self._source.tabulate(asked, self._token).frequency.reshape(-1, 4)
        letters = np.array(["S", "U", "P", ""])
        return np.where(found.any(axis=1), letters[found.argmax(axis=1)], "")


def _sorted(amounts: Exact) -> Exact:
    """Each row by size, largest first."""
    found = amounts.copy()
    for row in found:
        row[:] = sorted(row, key=abs, reverse=True)
    return found


def _along(flags: NDArray[np.bool_], axis: int, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    wide = [1] * len(shape)
    wide[axis] = -1
    return np.broadcast_to(flags.reshape(wide), shape)
