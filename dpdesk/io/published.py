"""The microdata of a release, read from its CSV alone.

This is the verifier's reader. It shares no code with the data store that wrote the file: a strict
RFC 4180 check over the raw bytes (a small compiled state machine), then Arrow's reader with every
column as text. Where two readers could differ about a lenient file, the strict check refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from os import cpu_count
from pathlib import Path
from typing import Any, TypeVar

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.release import CountedRows, GroupSizes
from dpdesk.io.csvgrammar import UnreadableTableError, read_lines

_COLLAPSE_ROWS = 2_000_000
_Found = TypeVar("_Found")


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

    def add(self, batch: Any, rows: Any = None) -> None:
        """Count the rows of a batch, whose columns are those of the tally in order.

        ``rows`` has how many rows each stands for, where it is not one.
        """
        import pyarrow as pa

        named = batch.rename_columns(self._names)
        if rows is None and len(self._names) == 1:
            values, times = named.column(0).value_counts().flatten()
            counted = pa.table([values, times], [*self._names, "rows"])
        elif rows is None:
            counted = named.group_by(self._names).aggregate([([], "count_all")])
        else:
            listed = named.append_column("rows", pa.array(rows, pa.int64()))
            counted = listed.group_by(self._names).aggregate([("rows", "sum")])
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
    import pyarrow.compute as pc

    order = [("rows", "descending"), ("c0", "ascending")]
    head = table.take(pc.select_k_unstable(table, min(count, table.num_rows), order))
    values, rows = head.column("c0").to_pylist(), head.column("rows").to_pylist()
    return TopValues(table.num_rows, tuple(zip(values, rows, strict=True)))


class _Tops:
    """The most frequent texts of each of some columns, from batches, which are gathered first."""

    def __init__(self, names: Sequence[str]) -> None:
        self._tallies = {name: Tally(["c0"]) for name in names}
        self._batches: list[Any] = []
        self._rows: list[Any] = []

    def add(self, batch: Any, rows: Any, token: CancelToken) -> None:
        """As :meth:`Tally.add`, for each column."""
        if self._tallies:
            self._batches.append(batch.select(list(self._tallies)))
            self._rows.append(rows)
            if sum(each.nbytes for each in self._batches) > _GATHERED_BYTES:
                self._count(token)

    def of(self, count: int, token: CancelToken) -> dict[str, TopValues]:
        """The ``count`` most frequent texts of each column. Raises Cancelled."""
        self._count(token)
        return self._each(lambda name: top_of(self._tallies[name].table(), count), token)

    def _count(self, token: CancelToken) -> None:
        import numpy as np
        import pyarrow as pa

        if self._batches:
            whole = pa.concat_tables(self._batches)
            # One kind of batches in a table: either all have their rows or none.
            rows = None if self._rows[0] is None else np.concatenate(self._rows)
            self._batches, self._rows = [], []
            self._each(lambda name: self._tallies[name].add(whole.select([name]), rows), token)

    def _each(self, work: Callable[[str], _Found], token: CancelToken) -> dict[str, _Found]:
        def checked(name: str) -> _Found:
            token.check()
            return work(name)

        with ThreadPoolExecutor(cpu_count() or 1, thread_name_prefix="published") as pool:
            return dict(zip(self._tallies, pool.map(checked, self._tallies), strict=True))


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

    Rows are compared by all columns, left to right, by code point. Where all are in order, equal
    rows stand together, so their groups are known then, however many there are.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._last: Any = None
        self.found: int | None = None
        self._open = 0  # rows of the group that is not at its end
        self._groups = GroupSizes(0, 0, 0, 0)

    def add(self, batch: Any, rows: Any = None) -> None:
        """Look at the next rows; ``found`` is the first bad data row (from 1), or None.

        ``rows`` has how many equal rows each stands for, where it is not one.
        """
        import pyarrow as pa

        if self.found is None:
            joined = batch if self._last is None else pa.concat_tables([self._last, batch])
            place, same = first_descent(joined)
            if place is None:
                self._count(same, batch.num_rows, rows)
            else:
                before = place - (0 if self._last is None else 1)
                above = before if rows is None else int(rows[:before].sum())
                self.found = self._seen + above + 1
        self._seen += batch.num_rows if rows is None else int(rows.sum())
        self._last = batch.slice(batch.num_rows - 1)

    @property
    def groups(self) -> GroupSizes:
        """Groups of rows that are equal in all columns, of rows that are all in order."""
        return _with_groups(self._groups, [self._open] if self._open else [])

    def _count(self, same: Any, lines: int, rows: Any) -> None:
        """Add a batch of lines; ``same`` says whether a line equals the one before it.

        ``same`` has shape (lines,), or (lines - 1,) for the first batch. ``rows`` are the rows that
        each line stands for, of shape (lines,); None for one each.
        """
        import numpy as np

        times = np.ones(lines, np.int64) if rows is None else np.asarray(rows, np.int64)
        first = np.zeros(lines - len(same), np.bool_)  # of the very first line
        starts = np.flatnonzero(~np.concatenate([first, same]))
        if not len(starts):
            self._open += int(times.sum())
            return
        before = self._open + int(times[: starts[0]].sum())
        sizes = np.add.reduceat(times, starts)
        self._open = int(sizes[-1])
        self._groups = _with_groups(self._groups, [*([before] if before else []), *sizes[:-1]])


def _with_groups(known: GroupSizes, sizes: Any) -> GroupSizes:
    """The known groups together with further ones of these sizes, in rows."""
    import numpy as np

    more = np.asarray(sizes, np.int64)
    if not len(more):
        return known
    least = int(more.min())
    return GroupSizes(
        known.groups + len(more),
        known.rows + int(more.sum()),
        min(known.smallest, least) if known.groups else least,
        known.sum_of_squares + sum(size * size * times for size, times in _histogram(more)),
        known.alone + int((more == 1).sum()),
    )


def first_descent(table: Any) -> tuple[int | None, Any]:
    """The first row that sorts before its predecessor (from 1, None: none), and equal pairs.

    The second result has shape (rows - 1,): whether row i + 1 equals row i.
    """
    import numpy as np
    import pyarrow.compute as pc

    count = table.num_rows - 1
    if count < 1:
        return None, np.zeros(0, np.bool_)
    undecided: Any = None
    descent: Any = None
    for name in table.column_names:
        column = table.column(name)
        before, after = column.slice(0, count), column.slice(1)
        smaller = pc.less(after, before)
        bad = smaller if undecided is None else pc.and_(undecided, smaller)
        descent = bad if descent is None else pc.or_(descent, bad)
        same = pc.equal(after, before)
        undecided = same if undecided is None else pc.and_(undecided, same)
    found = pc.index(descent, True).as_py()
    return None if found < 0 else int(found) + 1, undecided.to_numpy()


_BLOCK = 8 << 20
_KEPT_BYTES = 256 << 20
_GATHERED_BYTES = 64 << 20
_KEPT_LINES = 64 << 20
"""Bytes of different lines that are kept, so that they need not be read again."""


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
        self._lines = read_lines(path, token, _KEPT_LINES)
        self._fields, self._rows = self._lines.fields, self._lines.rows
        self._columns = self._header()
        self._tallies: dict[tuple[str, ...], Any] = {}
        self._tops: tuple[int, dict[str, TopValues]] | None = None
        self._order: OrderCheck | None = None

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
            return GroupSizes(int(rows > 0), rows, rows, rows * rows, int(rows == 1))
        if {*columns} == {*self._columns}:
            order = self._checked_order(token)
            if order.found is None:
                return order.groups
        counts = self.counted(columns, token).column("rows")
        if len(counts) == 0:
            return GroupSizes(0, 0, 0, 0)
        sizes = counts.to_numpy()
        squares = sum(int(size) ** 2 * int(times) for size, times in _histogram(sizes))
        least, alone = int(pc.min(counts).as_py()), int((sizes == 1).sum())
        return GroupSizes(len(sizes), int(sizes.sum()), least, squares, alone)

    def value_counts(self, column: str, token: CancelToken) -> Mapping[str, int]:
        """Rows per distinct text of one column; KeyError for an unknown column."""
        table = self.counted([column], token)
        values, counts = table.column(0).to_pylist(), table.column("rows").to_pylist()
        return dict(zip(values, counts, strict=True))

    def beside(self, file: str, token: CancelToken) -> PublishedCsv:
        """The table in the same folder under another name; raises what opening it raises."""
        return PublishedCsv(self._path.with_name(file), token)

    def fewest_values(self, columns: Sequence[str], counted: str, token: CancelToken) -> int:
        """The fewest different texts of ``counted`` in a group of equal texts of ``columns``.

        0 for a table without rows; KeyError for an unknown column.
        """
        import pyarrow.compute as pc

        names = [f"c{index}" for index in range(len(columns))]
        tuples = self.counted([*columns, counted], token)
        if not len(tuples):
            return 0
        groups = tuples.group_by(names).aggregate([("rows", "count")])
        return int(pc.min(groups.column("rows_count")).as_py())

    def combinations(self, columns: Sequence[str], token: CancelToken) -> CountedRows:
        """The rows by the exact texts of ``columns``; KeyError for an unknown column."""
        import numpy as np

        table = self.counted(columns, token) if columns else None
        if table is None:
            codes, rows = np.zeros((1, 0), np.int32), np.array([self.rows], np.int64)
            return CountedRows((), (), codes, rows)
        texts, places = [], []
        for index in range(len(columns)):
            found, code = _coded(table.column(f"c{index}"))
            texts.append(found)
            places.append(code)
        rows = table.column("rows").to_numpy().astype(np.int64)
        return CountedRows(tuple(columns), tuple(texts), np.stack(places, axis=1), rows)

    def top_values(self, count: int, token: CancelToken) -> dict[str, TopValues]:
        """The most frequent texts of every column, ties in code-point order, in one reading."""
        if self._tops is None or self._tops[0] != count:
            tops = _Tops(self._columns)
            for batch, rows in self.lines(self._columns, token):
                tops.add(batch, rows, token)
            self._tops = count, tops.of(count, token)
        return dict(self._tops[1])

    def first_unsorted_row(self, token: CancelToken) -> int | None:
        """The first data row (from 1) that sorts before its predecessor, or None.

        Rows are compared by all columns, left to right, by code point.
        """
        return self._checked_order(token).found

    def _checked_order(self, token: CancelToken) -> OrderCheck:
        """All rows compared with their predecessors, once; up to the first one out of order."""
        if self._order is None:
            order = OrderCheck()
            for batch, rows in self.lines(self._columns, token):
                order.add(batch, rows)
                if order.found is not None:
                    break
            self._order = order
        return self._order

    def survey(
        self, columns: Sequence[str], top: int, token: CancelToken, report: Report, step: str
    ) -> None:
        """Read the table once for what will be asked: order, groups of ``columns``, top values.

        ``top`` is the number of top values that will be asked of every column, 0 for none. Reports
        rows done under ``step``. Nothing depends on it but time; KeyError for an unknown column.
        """
        names = tuple(dict.fromkeys(columns))
        groups = Tally([f"c{index}" for index in range(len(names))])
        tops = _Tops([name for name in self._columns if top and name not in names])
        order, done = OrderCheck(), 0
        for batch, rows in self.lines(self._columns, token):
            order.add(batch, rows)
            if names:
                groups.add(batch.select(list(names)), rows)
            tops.add(batch, rows, token)
            done += batch.num_rows if rows is None else int(rows.sum())
            report(StepProgress(step, done, self._rows, "rows"))
        self._order = order
        if names:
            self._keep(names, groups.table())
        if top:
            found = tops.of(top, token)
            found |= {name: top_of(self.counted([name], token), top) for name in names}
            self._tops = top, found

    def batches(self, columns: Sequence[str], token: CancelToken) -> Iterator[Any]:
        """The rows as Arrow tables of text columns, in file order; checks the token each time."""
        header = True
        for table in self._read(self._path, columns, token):
            rows, header = table.slice(1) if header else table, False
            if rows.num_rows:
                yield rows

    def lines(self, columns: Sequence[str], token: CancelToken) -> Iterator[tuple[Any, Any]]:
        """As :meth:`batches`, with how many equal rows in a row each of them stands for.

        None for one each: then the table has too many different lines to be kept.
        """
        import pyarrow as pa

        held, done = self._lines, 0
        if held.data is None:
            yield from ((batch, None) for batch in self.batches(columns, token))
        elif len(held.data):
            for table in self._read(pa.BufferReader(pa.py_buffer(held.data)), columns, token):
                if table.num_rows:
                    yield table, held.counts[done : done + table.num_rows]
                    done += table.num_rows

    def _read(self, place: Any, columns: Sequence[str], token: CancelToken) -> Iterator[Any]:
        """Tables of some columns of a text without a header."""
        import pyarrow as pa

        indexes = [self._index(name) for name in columns]
        with self._open(place, indexes) as reader:
            for batch in _arrow_errors(reader):
                token.check()
                yield pa.Table.from_batches([batch]).rename_columns(list(columns))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self._columns)}

    def _index(self, column: str) -> int:
        if column not in self._positions:
            raise KeyError(column)
        return self._positions[column]

    def _header(self) -> tuple[str, ...]:
        import pyarrow as pa

        text = pa.BufferReader(self._lines.header)
        with self._open(text, list(range(self._fields))) as reader:
            batch = next(_arrow_errors(reader), None)
        if batch is None or batch.num_rows == 0:
            raise UnreadableTableError("holds no header row")
        names = tuple(column[0].as_py() for column in batch.columns)
        for name in names:
            if names.count(name) > 1:
                raise UnreadableTableError(msg("names the column `{name}` twice", name=name))
        return names

    def _open(self, place: Any, indexes: Sequence[int]) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        names = [f"f{index}" for index in range(self._fields)]
        try:
            return csv.open_csv(
                place,
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

    def counted(self, columns: Sequence[str], token: CancelToken) -> Any:
        """The rows by the exact texts of ``columns``: an Arrow table with c0, c1, …, and ``rows``.

        KeyError for an unknown column.
        """
        wanted = tuple(columns)
        for known, table in self._tallies.items():
            if wanted == known:
                return table
            if set(wanted) <= set(known):
                return _projected(table, known, wanted)
        tally = Tally([f"c{index}" for index in range(len(wanted))])
        for batch, rows in self.lines(wanted, token):
            tally.add(batch, rows)
        table = tally.table()
        self._keep(wanted, table)
        return table

    def _keep(self, columns: tuple[str, ...], table: Any) -> None:
        """Remember the groups of these columns, unless they are as large as the file."""
        if table.nbytes <= _KEPT_BYTES:
            self._tallies = {columns: table}


def _projected(table: Any, known: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
    """The groups of some of the columns of a tally."""
    names = [f"c{index}" for index in range(len(wanted))]
    part = table.select([*(f"c{known.index(name)}" for name in wanted), "rows"])
    part = part.rename_columns([*names, "rows"])
    return merged([part.slice(0, 0), part], names)


def _coded(column: Any) -> tuple[tuple[str, ...], Any]:
    """The different texts of a column by code point, and the place of each row's among them."""
    import numpy as np

    coded = column.combine_chunks().dictionary_encode()
    if hasattr(coded, "combine_chunks"):
        coded = coded.combine_chunks()
    texts = coded.dictionary.to_pylist()
    order = sorted(range(len(texts)), key=texts.__getitem__)
    places = np.empty(len(texts), np.int32)
    places[order] = np.arange(len(texts), dtype=np.int32)
    codes = coded.indices.to_numpy(zero_copy_only=False)
    return tuple(texts[place] for place in order), places[codes]


def _histogram(sizes: Any) -> list[tuple[int, int]]:
    import numpy as np

    values, times = np.unique(sizes, return_counts=True)
    return list(zip(values.tolist(), times.tolist(), strict=True))


def _arrow_errors(reader: Any) -> Iterator[Any]:
    import pyarrow as pa

    try:
        yield from reader
    except pa.ArrowInvalid as error:
        raise UnreadableTableError(_reason(error)) from error


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "UTF8" in text:
        return "holds bytes that are not UTF-8 text"
    return msg("is not readable CSV ({text})", text=text[:200])
