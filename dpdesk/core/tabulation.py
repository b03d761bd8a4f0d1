"""Cells of tables as a source counts them: contributors, exact sums, the largest contributions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import RowSource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import joined, msg
from dpdesk.core.plain import EMPTY

Among: TypeAlias = tuple[str, tuple[str, ...]]
"""A column, and some of its values."""


@dataclass(frozen=True)
class Tabulation:
    """Which cells are counted, and what is added up in them.

    ``members[j]`` names for each value of column ``j`` the nodes (places along axis ``j``) that it
    counts in; rows with another value are left out. Without ``value`` rows are counted; with it
    the numbers of that column are added up, times ``weight`` where there is one, and rows where
    one of the two is missing are left out. Each row is a contributor of its own, unless
    ``contributor`` names the column that tells them apart. ``top`` is how many of the largest
    contributions of each cell are wanted. ``keys`` has a number for each row of the source, in its
    order, by whose sums rows are known again (``prints``). ``request`` and ``waive`` say by the
    values of a column who asks for protection (in any row) and who does without (in all rows).
    """

    columns: tuple[str, ...]
    members: tuple[Mapping[str, Sequence[int]], ...] = field(repr=False)
    shape: tuple[int, ...]
    value: str | None = None
    weight: str | None = None
    contributor: str | None = None
    top: int = 0
    keys: NDArray[np.uint64] | None = field(default=None, repr=False, compare=False)
    request: Among | None = None
    waive: Among | None = None

    @property
    def cells(self) -> int:
        """Number of cells."""
        return prod(self.shape)


@dataclass(frozen=True, eq=False)
class Tabulated:
    """Counted cells, flat in the order of the axes (the last one fastest).

    Amounts are Python integers in object arrays: ``totals``, ``sizes`` (sums of the sizes of
    contributions: other numbers only where some are negative) and ``top`` in units of
    10^-``scale``, ``weights`` (sums of weights; rows, without a weight) of 10^-``weight_scale``.
    ``frequency`` counts contributors. ``top`` has the shape (cells, n), largest sizes first, 0
    where there are fewer; ``who`` the contributors' numbers (-1: none). ``prints`` are equal where
    cells hold the same rows: sums of ``keys``, where there were any. ``left_out`` rows had no
    value.
    """

    frequency: NDArray[np.int64]
    totals: NDArray[np.object_]
    sizes: NDArray[np.object_]
    weights: NDArray[np.object_]
    top: NDArray[np.object_]
    who: NDArray[np.int64]
    prints: NDArray[np.object_]
    scale: int = 0
    weight_scale: int = 0
    left_out: int = 0
    asking: NDArray[np.object_] | None = None
    """The largest size of a contribution of who asks for protection; 0: nobody does."""
    holding: NDArray[np.object_] | None = None
    """The largest of who does not do without it; -1: everybody does."""


@dataclass(frozen=True, eq=False)
class RowEdit:
    """Rows as they are counted: those of a sample, and some columns as other rows have them.

    ``kept`` says of each row of the source whether it counts, ``taken`` from which row it has the
    values of ``columns`` (mostly itself).
    """

    kept: NDArray[np.bool_] = field(repr=False)
    taken: NDArray[np.int64] = field(repr=False)
    columns: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Plain values; :meth:`from_json` reads them back."""
        moved = np.flatnonzero(self.taken != np.arange(len(self.taken)))
        return {
            "rows": len(self.kept),
            "kept": np.packbits(self.kept).tobytes().hex() if not self.kept.all() else "",
            "moved": moved.tolist(),
            "taken": self.taken[moved].tolist(),
            "columns": list(self.columns),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> RowEdit:
        """The inverse of :meth:`as_json`; TypeError, KeyError or ValueError for anything else."""
        rows, kept, columns = raw["rows"], raw["kept"], raw["columns"]
        if not isinstance(rows, int) or isinstance(rows, bool) or not isinstance(kept, str):
            raise TypeError("an edit has a number of rows, and those that count")
        if not isinstance(columns, list | tuple) or not all(isinstance(c, str) for c in columns):
            raise TypeError("an edit names columns")
        moved, taken = (_places(raw[key], rows) for key in ("moved", "taken"))
        if len(moved) != len(taken):
            raise ValueError("each row that moves has another one's values")
        bits = np.frombuffer(bytes.fromhex(kept), np.uint8)
        if kept and len(bits) != -(-rows // 8):
            raise ValueError("an edit says of each row whether it counts")
        inside = np.unpackbits(bits)[:rows].astype(bool) if kept else np.ones(rows, dtype=bool)
        from_row = np.arange(rows)
        from_row[moved] = taken
        return cls(inside, from_row, tuple(columns))


def _places(raw: object, rows: int) -> NDArray[np.int64]:
    if not isinstance(raw, list | tuple):
        raise TypeError("rows are a list of numbers")
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in raw)
    if not whole or not all(0 <= one < rows for one in raw):
        raise ValueError("rows are numbers from 0 on")
    return np.array(raw, dtype=np.int64)


class CellSource(RowSource, Protocol):
    """A source that adds up cells."""

    def edited(self, edit: RowEdit, token: CancelToken) -> CellSource:
        """The rows as an edit has them. Raises InputError ``source.unknown-column``, Cancelled."""
        ...

    def tabulate(self, asked: Tabulation, token: CancelToken) -> Tabulated:
        """Count the cells.

        Raises InputError ``source.not-a-number`` for a value that cannot be read as a number,
        ``source.too-fine`` for numbers with more digits than can be added up exactly, Cancelled.
        """
        ...


@dataclass(frozen=True, eq=False)
class CellAxis:
    """A dimension of a table: its nodes, children before their total, and the node above each
    (-1: none).
    """

    name: str
    labels: tuple[str, ...]
    parents: tuple[int, ...] = field(repr=False)

    def as_json(self) -> dict[str, object]:
        """Plain values; :meth:`from_json` reads them back."""
        return {
            "dimension": self.name,
            "categories": list(self.labels),
            "parents": list(self.parents),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, object]) -> CellAxis:
        """The inverse of :meth:`as_json`; TypeError, KeyError or ValueError for anything else."""
        name, labels, parents = raw["dimension"], raw["categories"], raw["parents"]
        if not isinstance(name, str) or not isinstance(labels, list | tuple):
            raise TypeError("a dimension has a name and categories")
        if not isinstance(parents, list | tuple) or len(parents) != len(labels) or not labels:
            raise ValueError("every category has a place above it")
        if not all(isinstance(each, str) for each in labels) or len(set(labels)) < len(labels):
            raise ValueError("categories are different texts")
        for place, above in enumerate(parents):
            whole = isinstance(above, int) and not isinstance(above, bool)
            last = place == len(labels) - 1
            if not whole or not (above == -1 if last else place < above < len(labels)):
                raise ValueError("categories stand before their total")
        return cls(name, tuple(labels), tuple(parents))


@dataclass(frozen=True, eq=False)
class CellTable:
    """A table to write, or one that was read: texts of its cells in the order of the axes.

    ``values`` are empty where suppressed; ``status`` are SDMX confidentiality codes. ``internal``
    are further columns for the agency, ``value`` and ``status`` among them.
    """

    name: str
    file: str
    axes: tuple[CellAxis, ...]
    values: tuple[str, ...] = field(repr=False)
    status: tuple[str, ...] = field(repr=False)
    internal: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of nodes of each dimension."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def suppressed(self) -> int:
        """Number of cells without a value."""
        return sum(not value for value in self.values)


@dataclass(frozen=True, eq=False)
class Crosstab:
    """A table as people print it: some dimensions at its side, the others at its head.

    Every group stands before its parts. ``lines`` and ``heads`` hold the nodes of each line and
    column, one for each dimension of ``side`` and ``head``.
    """

    axes: tuple[CellAxis, ...]
    side: tuple[int, ...]
    head: tuple[int, ...]

    @classmethod
    def of(cls, axes: Sequence[CellAxis], head: Collection[str]) -> Crosstab:
        """With these dimensions at its head, and all others at its side."""
        above = tuple(i for i, axis in enumerate(axes) if axis.name in head)
        side = tuple(i for i in range(len(axes)) if i not in above)
        return cls(tuple(axes), side, above)

    @cached_property
    def depths(self) -> tuple[tuple[int, ...], ...]:
        """How deep below its total each node of each dimension is."""
        found = []
        for axis in self.axes:
            depths = [0] * len(axis.labels)
            for node in reversed(range(len(depths) - 1)):
                depths[node] = depths[axis.parents[node]] + 1
            found.append(tuple(depths))
        return tuple(found)

    @cached_property
    def lines(self) -> NDArray[np.int64]:
        """The nodes of each line, shape (lines, dimensions at the side)."""
        return self._nodes(self.side)

    @cached_property
    def heads(self) -> NDArray[np.int64]:
        """The nodes of each column, shape (columns, dimensions at the head)."""
        return self._nodes(self.head)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The cell of the table at each line and column."""
        side, head = self._offsets(self.side, self.lines), self._offsets(self.head, self.heads)
        return np.add.outer(side, head)

    def _nodes(self, chosen: tuple[int, ...]) -> NDArray[np.int64]:
        orders = [np.array(_printed(self.axes[axis])) for axis in chosen]
        spread = np.meshgrid(*orders, indexing="ij") if orders else []
        flat = [each.reshape(-1) for each in spread]
        return np.stack(flat, axis=1) if flat else np.zeros((1, 0), dtype=np.int64)

    def _offsets(self, chosen: tuple[int, ...], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        sizes = [len(axis.labels) for axis in self.axes]
        steps = [prod(sizes[axis + 1 :]) for axis in chosen]
        return nodes @ np.array(steps, dtype=np.int64)


def _printed(axis: CellAxis) -> list[int]:
    """The nodes of a dimension, every group before its parts, these in domain order."""
    parts: dict[int, list[int]] = {}
    for node, above in enumerate(axis.parents):
        parts.setdefault(above, []).append(node)
    order, waiting = [], [len(axis.labels) - 1]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(parts.get(node, ()))
    return order


def cell_words(labels: Iterable[str]) -> str:
    """Where a cell is, by its labels, as part of a sentence; one without a value is called so."""
    return joined([label or msg(EMPTY) for label in labels], " × ")


@dataclass(frozen=True)
class CellStory:
    """What the agency is told of one cell: where it is, and sentences on it."""

    place: str
    sentences: tuple[str, ...]


class TableLook(Protocol):
    """A table as the agency looks at it, its internal columns included."""

    @property
    def table(self) -> CellTable:
        """Its cells."""
        ...

    @property
    def layout(self) -> Crosstab:
        """How it is printed."""
        ...

    def story(self, cell: int, token: CancelToken) -> CellStory:
        """Why a cell is unsafe, who could learn what, what suppressing or publishing it would cost.

        May take seconds; callable from any thread. Raises Cancelled.
        """
        ...


INTERNAL_COLUMNS = (
    *("value", "status", "frequency"),
    *("lower_required", "upper_required", "lower", "upper"),
)
"""The columns of an internal table after its dimensions."""
WIDTH = "width_required"
"""A further column where intervals must be wide wherever they lie: how wide."""
INTERVAL, CAN_MOVE = "interval_is", "can_move"
"""Further columns where not all intervals are exact: whether that of a cell is, and the moves that
show how far it reaches, as texts such as "3:1 17:-1": how far the cell goes in moves 3 and 17."""
MOVED_COLUMNS = (INTERVAL, CAN_MOVE)
IS_EXACT, IS_LEAST = "exact", "at least"
PUBLISHED, SUPPRESSED, PRIMARY, SECONDARY = "F", "N", "C", "D"
"""SDMX codes of confidentiality: free, not for publication, by a rule, to protect others."""
