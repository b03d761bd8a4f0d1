"""The microdata of a release, read from its CSV alone.

This is the verifier's reader. It shares no code with the data store that wrote the file: a strict
RFC 4180 check over the raw bytes (a small compiled state machine), then Arrow's reader with every
column as text. Where two readers could differ about a lenient file, the strict check refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dpdesk.core.jobs import CancelToken
from dpdesk.core.published import GroupSizes
from dpdesk.io.csvgrammar import UnreadableTableError, check_grammar

_BLOCK = 8 << 20
_COLLAPSE_ROWS = 2_000_000


@dataclass(frozen=True)
class TopValues:
    """Number of distinct texts of a column, and the most frequent ones with their rows."""

    distinct: int
    top: tuple[tuple[str, int], ...]


class PublishedCsv:
    """A published CSV as text columns, streamed: a ``PublishedTable`` of the core.

    Raises
    ------
    UnreadableTableError
        The file is not UTF-8, not RFC 4180 with commas and LF, ragged, has no header, or names a
        column twice; the sentence gives the row where there is one.
    OSError
        The file cannot be read.
    """

    def __init__(self, path: Path, token: CancelToken) -> None:
        self._path = path
        self._fields, self._rows = check_grammar(path, token)
        self._columns = self._header()

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in file order."""
        return self._columns

    @property
    def rows(self) -> int:
        """Number of data rows."""
        return self._rows

    def group_sizes(self, columns: Sequence[str], token: CancelToken) -> GroupSizes:
        """Group the rows by the exact text of ``columns``; KeyError for an unknown column."""
        import pyarrow.compute as pc

        if not columns:
            rows = self.rows
            return GroupSizes(int(rows > 0), rows, rows, rows * rows)
        counts = self._counted(columns, token).column("rows")
        if len(counts) == 0:
            return GroupSizes(0, 0, 0, 0)
        sizes = counts.to_numpy()
        squares = sum(int(size) ** 2 * int(times) for size, times in _histogram(sizes))
        return GroupSizes(len(sizes), int(sizes.sum()), int(pc.min(counts).as_py()), squares)

    def value_counts(self, column: str, token: CancelToken) -> Mapping[str, int]:
        """Rows per distinct text of one column; KeyError for an unknown column."""
        table = self._counted([column], token)
        values, counts = table.column(0).to_pylist(), table.column("rows").to_pylist()
        return dict(zip(values, counts, strict=True))

    def top_values(self, count: int, token: CancelToken) -> dict[str, TopValues]:
        """The most frequent texts of every column, ties in code-point order, in one reading."""
        tallies = {name: _Tally(["c0"]) for name in self._columns}
        for batch in self.batches(self._columns, token):
            for name, tally in tallies.items():
                token.check()
                tally.add(batch.select([name]))
        return {name: _top(tally.table(), count) for name, tally in tallies.items()}

    def first_unsorted_row(self, token: CancelToken) -> int | None:
        """The first data row (from 1) that sorts before its predecessor, or None.

        Rows are compared by all columns, left to right, by code point.
        """
        import pyarrow as pa

        seen, last = 0, None
        for batch in self.batches(self._columns, token):
            joined = batch if last is None else pa.concat_tables([last, batch])
            found = _first_descent(joined)
            if found is not None:
                return seen + found + (1 if last is None else 0)
            seen += batch.num_rows
            last = batch.slice(batch.num_rows - 1)
        return None

    def batches(self, columns: Sequence[str], token: CancelToken) -> Iterator[Any]:
        """The rows as Arrow tables of text columns, in file order; checks the token each time."""
        import pyarrow as pa

        indexes = [self._index(name) for name in columns]
        header = True
        with self._open(indexes) as reader:
            for batch in _arrow_errors(reader):
                token.check()
                table = pa.Table.from_batches([batch]).rename_columns(list(columns))
                if header:
                    table, header = table.slice(1), False
                if table.num_rows:
                    yield table

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._columns)}

    def _index(self, column: str) -> int:
        if column not in self._positions:
            raise KeyError(column)
        return self._positions[column]

    def _header(self) -> tuple[str, ...]:
        with self._open(list(range(self._fields))) as reader:
            batch = next(_arrow_errors(reader), None)
        if batch is None or batch.num_rows == 0:
            raise UnreadableTableError("holds no header row")
        names = tuple(column[0].as_py() for column in batch.columns)
        for name in names:
            if names.count(name) > 1:
                raise UnreadableTableError(f"names the column `{name}` twice")
        return names

    def _open(self, indexes: Sequence[int]) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        names = [f"f{index}" for index in range(self._fields)]
        try:
            return csv.open_csv(
                self._path,
                read_options=csv.ReadOptions(column_names=names, block_size=_BLOCK),
                parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=[names[index] for index in indexes],
                    strings_can_be_null=False,
                    check_utf8=True,
                ),
            )
        except pa.ArrowInvalid as error:
            raise UnreadableTableError(_reason(error)) from error

    def _counted(self, columns: Sequence[str], token: CancelToken) -> Any:
        """One row per distinct tuple: the columns, called c0, c1, …, and ``rows``."""
        tally = _Tally([f"c{index}" for index in range(len(columns))])
        for batch in self.batches(columns, token):
            tally.add(batch)
        return tally.table()


class _Tally:
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
            self._parts = [_merged(self._parts, self._names)]
            self._held = self._parts[0].num_rows
            self._limit = max(_COLLAPSE_ROWS, 2 * self._held)

    def table(self) -> Any:
        """The tuples and their ``rows``."""
        import pyarrow as pa

        if self._parts:
            return _merged(self._parts, self._names)
        fields = [(name, pa.string()) for name in self._names] + [("rows", pa.int64())]
        return pa.schema(fields).empty_table()


def _top(table: Any, count: int) -> TopValues:
    order = [("rows", "descending"), ("c0", "ascending")]
    head = table.sort_by(order).slice(0, count)
    values, rows = head.column("c0").to_pylist(), head.column("rows").to_pylist()
    return TopValues(table.num_rows, tuple(zip(values, rows, strict=True)))


def _merged(parts: list[Any], names: list[str]) -> Any:
    import pyarrow as pa

    whole = pa.concat_tables(parts)
    if len(parts) == 1:
        return whole
    merged = whole.group_by(names).aggregate([("rows", "sum")])
    return merged.rename_columns([*names, "rows"])


def _histogram(sizes: Any) -> list[tuple[int, int]]:
    import numpy as np

    values, times = np.unique(sizes, return_counts=True)
    return list(zip(values.tolist(), times.tolist(), strict=True))


def _first_descent(table: Any) -> int | None:
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


def _arrow_errors(reader: Any) -> Iterator[Any]:
    import pyarrow as pa

    try:
        yield from reader
    except pa.ArrowInvalid as error:
        raise UnreadableTableError(_reason(error)) from error


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "UTF8" in text:
        return "holds bytes that are no UTF-8 text"
    return f"is no readable CSV ({text[:200]})"
