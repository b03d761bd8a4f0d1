"""Counts and order of a table of texts that is read piece by piece, once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_COLLAPSE_ROWS = 2_000_000


@dataclass(frozen=True)
class TopValues:
    """Number of distinct texts of a column, and the most frequent ones with their rows."""

    distinct: int
    top: tuple[tuple[str, int], ...]


class Tally:
    """Distinct tuples with their rows, from batches; parts are merged when they grow large."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._parts: list[Any] = []
        self._held = 0
        self._limit = _COLLAPSE_ROWS

    def add(self, batch: Any) -> None:
        """Count the rows of a batch, whose columns are those of the tally in order."""
        named = batch.rename_columns(self._names)
        counted = named.group_by(self._names).aggregate([([], "count_all")])
        self._parts.append(counted.rename_columns([*self._names, "rows"]))
        self._held += counted.num_rows
        if self._held > self._limit:
            self._parts = [merged(self._parts, self._names)]
            self._held = self._parts[0].num_rows
            self._limit = max(_COLLAPSE_ROWS, 2 * self._held)

    def table(self) -> Any:
        """The tuples and their ``rows``, in no order."""
        import pyarrow as pa

        if self._parts:
            return merged(self._parts, self._names)
        fields = [(name, pa.string()) for name in self._names] + [("rows", pa.int64())]
        return pa.schema(fields).empty_table()


def top_of(table: Any, count: int) -> TopValues:
    """The most frequent texts of a tally of one column (``c0``), ties in code-point order."""
    order = [("rows", "descending"), ("c0", "ascending")]
    head = table.sort_by(order).slice(0, count)
    values, rows = head.column("c0").to_pylist(), head.column("rows").to_pylist()
    return TopValues(table.num_rows, tuple(zip(values, rows, strict=True)))


def merged(parts: list[Any], names: list[str]) -> Any:
    """Tallies of the same columns as one."""
    import pyarrow as pa

    whole = pa.concat_tables(parts)
    if len(parts) == 1:
        return whole
    summed = whole.group_by(names).aggregate([("rows", "sum")])
    return summed.rename_columns([*names, "rows"])


class OrderCheck:
    """Looks for the first row that sorts before its predecessor, over batches in file order.

    Rows are compared by all columns, left to right, by code point.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._last: Any = None
        self.found: int | None = None

    def add(self, batch: Any) -> None:
        """Look at the next rows; ``found`` is the first bad data row (from 1), or None."""
        import pyarrow as pa

        if self.found is None:
            joined = batch if self._last is None else pa.concat_tables([self._last, batch])
            place = first_descent(joined)
            if place is not None:
                self.found = self._seen + place + (1 if self._last is None else 0)
        self._seen += batch.num_rows
        self._last = batch.slice(batch.num_rows - 1)


def first_descent(table: Any) -> int | None:
    """Index (from 0, among pairs) of the first row pair that is out of order."""
    import pyarrow.compute as pc

    count = table.num_rows - 1
    if count < 1:
        return None
    undecided = descent = None
    for name in table.column_names:
        column = table.column(name)
        before, after = column.slice(0, count), column.slice(1)
        smaller = pc.less(after, before)
        bad = smaller if undecided is None else pc.and_(undecided, smaller)
        descent = bad if descent is None else pc.or_(descent, bad)
        same = pc.equal(after, before)
        undecided = same if undecided is None else pc.and_(undecided, same)
    found = pc.index(descent, True).as_py()
    return None if found < 0 else int(found) + 1
