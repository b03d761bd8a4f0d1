"""Tables with margins as one system of cells and equations.

Amounts are exact: Python integers on a grid of ``10**-scale`` units, in object arrays. The cells of
several linked tables that hold the same contributors are one variable of the system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import listed, msg
from dpdesk.core.plain import quoted
from dpdesk.core.tabulation import cell_words

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Exact = NDArray[np.object_]
"""Python integers (or fractions) in an array: exact at any size."""


def exact(values: Sequence[object] | NDArray[np.generic]) -> Exact:
    """The values as an object array of their Python objects (integers stay exact)."""
    array: Exact = np.empty(len(values), dtype=object)
    array[:] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return array


@dataclass(frozen=True, eq=False)
class Dimension:
    """The nodes of one attribute: its values, subtotals and total, children before their total.

    ``parents[i]`` is the node above node ``i``, -1 at the top (the last node).
    """

    name: str
    labels: tuple[str, ...]
    parents: Ints = field(repr=False)
    merged: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """The values of the source that a leaf stands for, where it is not one itself."""

    @classmethod
    def of(cls, name: str, hierarchy: Hierarchy, total: str = "Total") -> Dimension:
        """The nodes of a hierarchy, in its order.

        A top ``*`` is the total; a top of another label has the total above it. A group of one
        value that has the value's own label is that node.

        Raises
        ------
        InputError
            ``table.double-label``: two different nodes have the same label.
        """
        tops = hierarchy.labels[-1]
        levels = [list(level) for level in hierarchy.labels]
        parents = [steps.tolist() for steps in hierarchy.parents]
        if tops[0] == "*" and hierarchy.height:
            levels[-1] = [total]
        elif tops[0] != total or not hierarchy.height:
            levels.append([total])
            parents.append([0])
        children: list[list[list[int]]] = [[[] for _ in level] for level in levels]
        for level, steps in enumerate(parents):
            for code, parent in enumerate(steps):
                children[level + 1][parent].append(code)
        labels: list[str] = []
        above: list[int] = []

        def walk(level: int, code: int) -> int:
            """Number of the node, after its children: the tree is as deep as the levels."""
            below = [walk(level - 1, child) for child in children[level][code]]
            label = levels[level][code]
            if len(below) == 1 and labels[below[0]] == label:
                return below[0]
            for node in below:
                above[node] = len(labels)
            labels.append(label)
            above.append(-1)
            return len(labels) - 1

        walk(len(levels) - 1, 0)
        _refuse_double_labels(name, labels)
        return cls(name, tuple(labels), np.array(above, dtype=np.int64))

    @classmethod
    def flat(cls, name: str, values: Sequence[str], total: str = "Total") -> Dimension:
        """Values below one total."""
        rows = [[value, "*"] for value in values]
        return cls.of(name, Hierarchy.from_rows(name, rows), total)

    @cached_property
    def leaves(self) -> Ints:
        """The nodes without children, in domain order."""
        inner = np.zeros(len(self.labels), dtype=bool)
        inner[self.parents[self.parents >= 0]] = True
        return np.flatnonzero(~inner)

    def values(self, leaves: Ints) -> list[str]:
        """The values of the source that these leaves stand for."""
        named = (self.labels[leaf] for leaf in leaves.tolist())
        return [value for label in named for value in self.merged.get(label, (label,))]

    @cached_property
    def covers(self) -> Flags:
        """Whether node ``i`` covers leaf number ``j``, shape (nodes, leaves)."""
        covered = np.zeros((len(self.labels), len(self.leaves)), dtype=bool)
        covered[self.leaves, np.arange(len(self.leaves))] = True
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                covered[parent] |= covered[node]
        return covered


def _refuse_double_labels(name: str, labels: Sequence[str]) -> None:
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            raise InputError(
                "table.double-label",
                msg(
                    "The hierarchy of `{name}` has two groups with the label {label}, expected a "
                    "label of its own for each row of the table.",
                    name=name,
                    label=quoted(label),
                ),
                hint="Rename one of the two in the hierarchy, or choose another `total`.",
                details={"attribute": name, "label": label},
            )
        seen.add(label)


@dataclass(frozen=True, eq=False)
class Cells:
    """What is known of each cell, one entry per cell.

    All amounts (``values``, ``top``, ``magnitude``) are exact integers of the grid.
    """

    values: Exact
    frequency: Ints
    """Contributors (holdings where these are told apart)."""
    top: Exact | None = None
    """The largest contributions by size, shape (cells, n), 0 where there are fewer."""
    who: Ints | None = None
    """The contributors of ``top``, -1 where unknown."""
    magnitude: Exact | None = None
    """Sum of the contributions' sizes, where some are negative; else the values."""
    status: NDArray[np.str_] | None = None
    """Set by hand: ``S`` safe, ``U`` unsafe, ``P`` must be published, empty: by the rules."""
    cost: Floats | None = None
    """Set by hand; nan: as the plan's cost says."""
    levels: Exact | None = None
    """How far an unsafe cell must be able to go down and up, and how wide it must be, set by hand,
    shape (cells, 3); -1: by the plan."""
    asking: Exact | None = None
    """The largest size of a contribution of who asked for protection, 0 where nobody did."""
    holding: Exact | None = None
    """The largest of who does not do without protection, -1 where everybody does."""

    def __len__(self) -> int:
        return len(self.values)

    def picked(self, chosen: Ints) -> Cells:
        """The cells with these indices, in this order."""

        def pick(array: NDArray[np.generic] | None) -> NDArray[np.generic] | None:
            return None if array is None else array[chosen]

        fields = {name: pick(getattr(self, name)) for name in self.__dataclass_fields__}
        return replace(self, **fields)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Table:
    """One table: a cell per combination of nodes, the last dimension fastest."""

    name: str
    dimensions: tuple[Dimension, ...]
    cells: Cells
    identity: Ints | None = None
    """Equal numbers: the same contributors (found by the caller), over all linked tables; -1:
    unknown. Cells that cover the same values of every attribute are found without it."""
    measure: str = ""
    """What the values are: only tables of one measure share cells."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of nodes of each dimension."""
        return tuple(len(each.labels) for each in self.dimensions)

    def relations(self) -> csr_array:
        """Additivity: a row per total and dimension, 1 at the total, -1 at its children."""
        size = prod(self.shape)
        index = np.arange(size, dtype=np.int64).reshape(self.shape)
        rows: list[Ints] = []
        columns: list[Ints] = []
        signs: list[NDArray[np.int8]] = []
        for axis, dimension in enumerate(self.dimensions):
            children = np.flatnonzero(dimension.parents >= 0)
            totals = np.unique(dimension.parents[children])
            total = np.take(index, totals, axis).ravel()
            rows += [axis * size + total]
            rows += [axis * size + np.take(index, dimension.parents[children], axis).ravel()]
            columns += [total, np.take(index, children, axis).ravel()]
            signs += [np.ones(len(total), np.int8), -np.ones(len(columns[-1]), np.int8)]
        _, row = np.unique(np.concatenate(rows), return_inverse=True)
        entries = (np.concatenate(signs), (row, np.concatenate(columns)))
        return csr_array(coo_array(entries, shape=(int(row.max(initial=-1)) + 1, size)))

    def place(self, cell: int) -> tuple[str, ...]:
        """The labels of a cell, one per dimension."""
        where = np.unravel_index(cell, self.shape)
        return tuple(d.labels[int(i)] for d, i in zip(self.dimensions, where, strict=True))


@dataclass(frozen=True, eq=False)
class CommonSum:
    """Cells of several tables, by table and cell, whose values times ``factors`` sum to 0.

    Whatever the contributors give: cells of two tables, say, that hold the same ones together (1 in
    one table, -1 in the other). None of the cells is empty.
    """

    tables: Ints
    cells: Ints
    factors: Ints


@dataclass(frozen=True, eq=False)
class System:
    """Linked tables as variables and equations ``matrix @ values == 0``.

    ``variables[t]`` holds the variable of each cell of table ``t``; ``cells`` describes variables.
    """

    tables: tuple[Table, ...]
    variables: tuple[Ints, ...]
    cells: Cells
    matrix: csr_array
    """Entries 1 (total) and -1 (child); variables that are known to be 0 are left out."""
    known: Flags
    """Variables without contributors: published, and everyone knows that they are 0."""
    between: csr_array
    """Equations between tables, such as those of cells that hold the same contributors together.
    They are as true as those of ``matrix``, but no table shows them."""

    @classmethod
    def of(
        cls,
        tables: Sequence[Table],
        zeros_known: bool = True,
        sums: Sequence[CommonSum] = (),
    ) -> System:
        """Link tables: equal cells become one variable, their equations stand together.

        Without ``zeros_known``, cells without contributors may be suppressed like others. ``sums``
        say which cells of two tables hold the same contributors together.

        Raises
        ------
        InputError
            ``table.unequal-cells``: cells that hold the same contributors differ in value;
            ``table.not-additive``: a total is not the sum of its parts.
        """
        variable = _variables(tables)
        ends = np.cumsum([0, *(len(table.cells) for table in tables)])
        variables = tuple(variable[start:end] for start, end in pairwise(ends))
        _, first = np.unique(variable, return_index=True)
        # Numbered by first appearance, so those of the first table come first.
        parts = np.split(first, np.searchsorted(first, ends[1:-1]))
        cells = _joined(
            [
                t.cells.picked(part - start)
                for t, part, start in zip(tables, parts, ends[:-1], strict=True)
            ]
        )
        cells = _set_by_hand(cells, tables, variables)
        for table, own in zip(tables, variables, strict=True):
            wrong = np.flatnonzero(table.cells.values != cells.values[own])
            if wrong.size:
                raise InputError(
                    "table.unequal-cells",
                    msg(
                        "Table `{table}`, cell {cell}: another cell of the same contributors has "
                        "another value, expected the same value.",
                        table=table.name,
                        cell=cell_words(table.place(int(wrong[0]))),
                    ),
                )
        matrix = _matrix(tables, variables, len(cells))
        known = np.equal(cells.frequency, 0) & zeros_known
        between = _between(sums, variables, len(cells))
        system = cls(tuple(tables), variables, cells, matrix, known, between)
        system._refuse_sums()
        return replace(system, matrix=_without_known(matrix, known))

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def components(self) -> Ints:
        """Number of the connected part of each variable."""
        rows, count = self.matrix.shape
        places = self.matrix.tocoo().coords
        ones = np.ones(len(places[0]), np.int8)
        links = coo_array((ones, (places[1], count + places[0])), shape=(count + rows,) * 2)
        _, part = connected_components(links, directed=False)
        return np.unique(part[:count], return_inverse=True)[1].astype(np.int64)

    def sums(self) -> Flags:
        """Which variables are sums of others: who knows a part knows that they are no less."""
        found = np.zeros(len(self), dtype=bool)
        found[self.matrix.indices[self.matrix.data > 0]] = True
        found[self.between.indices] = True
        return found

    def cell_of(self, variable: int) -> tuple[Table, tuple[str, ...]]:
        """One table and the labels where a variable stands."""
        for table, own in zip(self.tables, self.variables, strict=True):
            found = np.flatnonzero(own == variable)
            if found.size:
                return table, table.place(int(found[0]))
        raise IndexError(variable)

    def _refuse_sums(self) -> None:
        if not self.matrix.shape[0]:
            return
        parts = self.cells.values[self.matrix.indices] * exact(self.matrix.data)
        sums = np.add.reduceat(parts, self.matrix.indptr[:-1])
        wrong = np.flatnonzero(sums != 0)
        if wrong.size:
            entries = slice(self.matrix.indptr[wrong[0]], self.matrix.indptr[wrong[0] + 1])
            total = self.matrix.indices[entries][np.argmax(self.matrix.data[entries])]
            table, place = self.cell_of(int(total))
            raise InputError(
                "table.not-additive",
                msg(
                    "Table `{table}`, cell {cell}: the total is not the sum of its parts, "
                    "expected an additive table.",
                    table=table.name,
                    cell=cell_words(place),
                ),
            )


def _variables(tables: Sequence[Table]) -> Ints:
    """The variable of each cell of all tables, numbered in the order of first appearance."""
    names = sorted({d.name for table in tables for d in table.dimensions})
    sets: dict[tuple[str, frozenset[str]], int] = {}
    measures = {table.measure: i for i, table in enumerate(reversed(tables))}
    blocks = []
    for table in tables:
        columns = np.zeros((prod(table.shape), len(names) + 1), dtype=np.int64)
        columns[:, -1] = measures[table.measure]
        for axis, dimension in enumerate(table.dimensions):
            nodes = np.array([_covered(dimension, i, sets) for i in range(len(dimension.labels))])
            shape = [1] * len(table.shape)
            shape[axis] = -1
            spread = np.broadcast_to(nodes.reshape(shape), table.shape)
            columns[:, names.index(dimension.name)] = spread.ravel()
        blocks.append(columns)
    _, covered = np.unique(np.concatenate(blocks), axis=0, return_inverse=True)
    covered = covered.reshape(-1)
    if any(table.identity is not None for table in tables):
        covered = _merged(tables, covered)
    _, first, inverse = np.unique(covered, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse.reshape(-1)], dtype=np.int64)


def _covered(dimension: Dimension, node: int, sets: dict[tuple[str, frozenset[str]], int]) -> int:
    """A number of the values that a node covers; 0: all of them."""
    covered = dimension.covers[node]
    if covered.all():
        return 0
    leaves = frozenset(dimension.values(dimension.leaves[covered]))
    return sets.setdefault((dimension.name, leaves), len(sets) + 1)


def _merged(tables: Sequence[Table], covered: Ints) -> Ints:
    """Cells that cover the same values, or hold the same contributors, get one number."""
    identity = np.concatenate(
        [
            np.full(len(table.cells), -1) if table.identity is None else table.identity
            for table in tables
        ]
    )
    held = np.concatenate([table.cells.frequency > 0 for table in tables]) & (identity >= 0)
    measures = {table.measure: i for i, table in enumerate(tables)}
    measure = np.concatenate([np.full(len(t.cells), measures[t.measure]) for t in tables])
    pairs = np.stack([identity[held], measure[held]], axis=1)
    _, same = np.unique(pairs, axis=0, return_inverse=True)
    cells, groups = int(covered.max()) + 1, int(same.max(initial=-1)) + 1
    links = coo_array(
        (np.ones(len(same), np.int8), (covered[held], cells + same.reshape(-1))),
        shape=(cells + groups, cells + groups),
    )
    return np.asarray(connected_components(links, directed=False)[1][covered], dtype=np.int64)


def _joined(parts: Sequence[Cells]) -> Cells:
    """Cells of several tables after each other; what one part does not know has no entry."""
    fields: dict[str, NDArray[np.generic] | None] = {}
    for name in Cells.__dataclass_fields__:
        arrays = [getattr(part, name) for part in parts]
        if all(array is None for array in arrays):
            fields[name] = None
            continue
        width = max((a.shape[1] for a in arrays if a is not None and a.ndim == 2), default=0)
        filled = [
            _filled(name, array, part, width) for array, part in zip(arrays, parts, strict=True)
        ]
        fields[name] = np.concatenate(filled)
    return Cells(**fields)  # type: ignore[arg-type]


_BY_HAND = ("", "S", "P", "U")
"""What a status can be: of cells that are one, a later one counts."""


def _set_by_hand(cells: Cells, tables: Sequence[Table], variables: Sequence[Ints]) -> Cells:
    """The variables with what is set by hand of any of their cells: a variable is all of them.

    Of costs and protection levels the largest counts. Raises InputError ``table.marks`` where one
    cell is set to be unsafe, and another cell of the same variable not to be.
    """
    ranks = np.zeros(len(cells), np.int64)
    least = np.full(len(cells), len(_BY_HAND))
    cost = np.full(len(cells), -np.inf)
    levels = np.full((len(cells), 3), -1, dtype=object)
    for table, own in zip(tables, variables, strict=True):
        if table.cells.status is not None:
            set_to = table.cells.status
            rank = np.zeros(len(set_to), np.int64)
            for number, letter in enumerate(_BY_HAND):
                rank[set_to == letter] = number
            np.maximum.at(ranks, own, rank)
            np.minimum.at(least, own[rank > 0], rank[rank > 0])
        if table.cells.cost is not None:
            given = ~np.isnan(table.cells.cost)
            np.maximum.at(cost, own[given], table.cells.cost[given])
        if table.cells.levels is not None:
            np.maximum.at(levels, own, table.cells.levels)
    both = np.flatnonzero((ranks == len(_BY_HAND) - 1) & (least < ranks))
    if both.size:
        raise _set_otherwise(tables, variables, int(both[0]))
    return replace(
        cells,
        status=None if cells.status is None else np.array(_BY_HAND)[ranks],
        cost=None if cells.cost is None else np.where(np.isfinite(cost), cost, np.nan),
        levels=None if cells.levels is None else levels,
    )


def _set_otherwise(tables: Sequence[Table], variables: Sequence[Ints], wrong: int) -> InputError:
    places = [
        cell_words(table.place(int(cell)))
        for table, own in zip(tables, variables, strict=True)
        for cell in np.flatnonzero(own == wrong)
        if table.cells.status is not None and table.cells.status[cell]
    ]
    return InputError(
        "table.marks",
        msg(
            "The cells {cells} hold the same contributors, and are set both to be unsafe and not "
            "to be, expected one of the two.",
            cells=listed(places),
        ),
        details={"key": "marks"},
    )


_EMPTY: dict[str, Any] = {
    "top": 0,
    "who": -1,
    "status": "",
    "cost": float("nan"),
    "levels": -1,
    "asking": 0,
    "holding": -1,
}


def _filled(
    name: str, array: NDArray[np.generic] | None, part: Cells, width: int
) -> NDArray[np.generic]:
    if array is None and name == "magnitude":
        return part.values
    if array is not None and width == 0:
        return array
    empty = _EMPTY[name]
    exactly: dict[str, Any] = dict.fromkeys(("top", "asking", "holding"), object)
    kind: Any = {**exactly, "status": "U1"}.get(name, type(empty))
    whole: NDArray[Any] = np.full((len(part), max(width, 1)), empty, dtype=kind)
    if array is not None:
        whole[:, : array.shape[1]] = array
    return whole if width else whole[:, 0]


def _matrix(tables: Sequence[Table], variables: Sequence[Ints], count: int) -> csr_array:
    """All equations over the variables; equal ones of linked tables once."""
    rows, columns, signs, seen = [], [], [], 0
    for table, own in zip(tables, variables, strict=True):
        part = table.relations().tocoo()
        rows.append(part.coords[0].astype(np.int64) + seen)
        columns.append(own[part.coords[1]])
        signs.append(part.data.astype(np.int64))
        seen += part.shape[0]
    entries = (np.concatenate(signs), (np.concatenate(rows), np.concatenate(columns)))
    matrix = csr_array(coo_array(entries, shape=(seen, count)))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return _distinct(matrix)


def _between(sums: Sequence[CommonSum], variables: Sequence[Ints], count: int) -> csr_array:
    """The equations of sums between tables; cells that are one on both sides are left out."""
    columns = [
        [int(variables[t][c]) for t, c in zip(each.tables, each.cells, strict=True)]
        for each in sums
    ]
    rows = np.repeat(np.arange(len(sums)), [len(each) for each in columns])
    factors = np.concatenate([np.zeros(0, np.int64), *(each.factors for each in sums)])
    places = (rows, np.array([c for each in columns for c in each], np.int64))
    matrix = csr_array(coo_array((factors, places), shape=(len(sums), count)))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return _distinct(matrix)


def _distinct(matrix: csr_array) -> csr_array:
    """The rows that say something, each once."""
    matrix.sort_indices()
    lengths = np.diff(matrix.indptr)
    seen: dict[bytes, int] = {}
    for row in np.flatnonzero(lengths):
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        key = matrix.indices[entries].tobytes() + matrix.data[entries].tobytes()
        seen.setdefault(key, int(row))
    return csr_array(matrix[list(seen.values())])


def _without_known(matrix: csr_array, known: Flags) -> csr_array:
    """The equations without the cells that everyone knows to be 0."""
    kept = matrix.tocoo()
    inside = ~known[kept.coords[1]]
    places = (kept.coords[0][inside], kept.coords[1][inside])
    return _distinct(csr_array(coo_array((kept.data[inside], places), shape=matrix.shape)))


@dataclass(frozen=True, eq=False)
class Requirement:
    """How far every unsafe variable must stay uncertain, in units of the grid (fractions)."""

    unsafe: Flags
    lower: Exact
    """The attacker's interval must reach ``value - lower``; 0 for safe variables."""
    upper: Exact
    """… and ``value + upper``."""
    sliding: Exact | None = None
    """How wide it must be at least, wherever it lies (sliding protection level); None: nothing is
    asked."""

    def fixed(self, room: Floats, narrowed: Flags) -> Requirement:
        """Requirements of ends alone that the widths follow from: upwards as far as there is
        ``room``, and downwards for the rest. Those of ``narrowed`` variables may reach nothing
        downwards.
        """
        if self.sliding is None:
            return self
        missing = np.maximum(self.sliding - self.upper - np.where(narrowed, 0, self.lower), 0)
        most = exact([Fraction(end) if np.isfinite(end) else None for end in room.tolist()])
        lower, upper = self.lower.copy(), self.upper.copy()
        for v in np.flatnonzero(missing):
            more = missing[v] if most[v] is None else max(0, min(missing[v], most[v] - upper[v]))
            upper[v] += more
            lower[v] = max(lower[v], self.sliding[v] - upper[v])
        return replace(self, lower=lower, upper=upper, sliding=None)


@dataclass(frozen=True, eq=False)
class Bounds:
    """What everyone knows of each variable before the table appears (inf: no bound)."""

    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, values: Exact, lower: float | None = 0.0, upper: float | None = None) -> Bounds:
        """Shares of the value, ``[lower·value, upper·value]``; None: no bound.

        Where some value is negative nobody knows the sign: no bound at all.
        """
        amounts = values.astype(np.float64)
        none = np.full(len(values), np.inf)
        if (amounts < 0).any():
            return cls(-none, none)
        low = -none if lower is None else lower * amounts
        return cls(low, none if upper is None else upper * amounts)
