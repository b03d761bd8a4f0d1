"""Rows compared as a whole, whatever their order: by keyed prints of 64 bits.

The key is drawn for each comparison, so nobody can make a row in advance whose print is that of
another; by chance a row that is not there finds its print among n others with a chance of n/2^64.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import query

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

    from dpdesk.core.frequency import FrequencyTable
    from dpdesk.core.published import Separated
    from dpdesk.io.published import PublishedCsv

Prints = NDArray[np.uint64]
_BATCH = 200_000
_MOST_JOINED = 1 << 26
"""Prints of rows, each with a value, that are sorted at once."""


def fresh_print_key() -> Prints:
    """A key for one comparison; the second number is odd."""
    return np.array([secrets.randbits(64), secrets.randbits(64) | 1], np.uint64)


@dataclass(frozen=True, eq=False)
class CountedPrints:
    """Prints, each with the number of rows that have it: one for each where ``rows`` is None.

    A print may stand in several places.
    """

    prints: Prints
    rows: NDArray[np.int64] | None = None

    def ordered(self) -> tuple[Prints, NDArray[np.int64]]:
        """Prints in order with their rows, of which the last stands for all that follow."""
        if self.rows is None:
            return np.sort(self.prints), np.ones(1, np.int64)
        order = np.argsort(self.prints)
        return self.prints[order], self.rows[order]


def apart(first: CountedPrints, second: CountedPrints) -> tuple[int, int]:
    """How many rows only the first has, and only the second, each as often as it occurs."""
    from dpdesk.io.print_kernels import count_apart

    found = np.zeros(2, np.int64)
    count_apart(*first.ordered(), *second.ordered(), found)
    return int(found[0]), int(found[1])


def published_counts(
    published: PublishedCsv, columns: Sequence[str], key: Prints, token: CancelToken
) -> CountedPrints:
    """The prints of the rows of a published table on these columns."""
    if not columns:
        return CountedPrints(np.zeros(1, np.uint64), np.array([published.rows]))
    parts, counts = [np.zeros(0, np.uint64)], []
    for batch, rows in published.lines(columns, token):
        parts.append(_of_rows(batch, key))
        if rows is not None:
            counts.append(rows)
    return CountedPrints(np.concatenate(parts), np.concatenate(counts) if counts else None)


def published_prints(
    published: PublishedCsv, columns: Sequence[str], key: Prints, token: CancelToken
) -> Prints:
    """The print of every row of a published table on these columns, in file order."""
    if not columns:
        return np.zeros(published.rows, np.uint64)
    parts = [np.zeros(0, np.uint64)]
    parts += [_of_rows(batch, key) for batch in published.batches(columns, token)]
    return np.concatenate(parts)


def _of_rows(batch: pyarrow.Table, key: Prints) -> Prints:
    rows = np.zeros(batch.num_rows, np.uint64)
    for column in batch.columns:
        _fold(rows, column, key)
    return rows


def unplaced(
    published: PublishedCsv,
    columns: Sequence[str],
    separated: Separated,
    there: tuple[Prints, Prints],
    key: Prints,
    token: CancelToken,
) -> int:
    """How many rows of a source no row of the table can be, by what stands apart.

    A row of the table can be each of so many as its key has values. ``there`` are the prints of the
    source's rows on ``columns``, and on these with the column that stands apart. Raises Cancelled,
    and what reading the tables raises.
    """
    table = published.beside(separated.file, token)
    joins, values = (_column(table, name, token) for name in (separated.key, separated.value))
    keys = _column(published, separated.key, token)
    names = {text: place for place, text in enumerate(joins.dictionary.to_pylist())}
    places = [names.get(text, len(names)) for text in keys.dictionary.to_pylist()]
    lines = joins.indices.to_numpy()
    sizes = np.bincount(lines, minlength=len(names) + 1)  # the last one: keys without values
    codes = values.indices.to_numpy()[np.argsort(lines, kind="stable")].astype(np.int64)
    held = _Held(
        np.cumsum(sizes) - sizes, sizes, codes, _of_texts(values.dictionary.to_pylist(), key)
    )
    group = np.array(places, np.int64)[keys.indices.to_numpy()]
    rows = published_prints(published, columns, key, token)
    parts = np.uint64(int(sizes[group].sum()) // _MOST_JOINED + 1)
    lost = 0
    for part in range(int(parts)):
        token.check()
        mine = np.flatnonzero(rows % parts == part)
        wanted = there[1][there[0] % parts == part]
        joined = held.joined(rows[mine], group[mine], key)
        lost += apart(CountedPrints(joined), CountedPrints(wanted))[1]
    return lost


@dataclass(frozen=True, eq=False)
class _Held:
    """The values of each key of a table: ``codes`` from ``begins`` on, so many as ``sizes``."""

    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]
    codes: NDArray[np.int64]
    prints: Prints

    def joined(self, rows: Prints, group: NDArray[np.int64], key: Prints) -> Prints:
        """The prints of rows with each value of their key."""
        from dpdesk.io.print_kernels import fold_prints

        times = self.sizes[group]
        found, first = np.repeat(rows, times), np.repeat(self.begins[group], times)
        steps = np.arange(len(found)) - np.repeat(np.cumsum(times) - times, times)
        fold_prints(found, self.codes[first + steps], self.prints, key)
        return found


def _column(published: PublishedCsv, name: str, token: CancelToken) -> Any:
    """A column of a published table as an Arrow array of codes."""
    import pyarrow as pa

    batches = list(published.batches([name], token))
    if not batches:
        return pa.array([], pa.string()).dictionary_encode()
    return pa.concat_tables(batches).column(0).combine_chunks().dictionary_encode()


def source_prints(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    rows: int,
    mapping: Mapping[str, Mapping[str, str]],
    key: Prints,
    place: Path,
    token: CancelToken,
) -> Prints:
    """The print of every row of a source on these columns, in source order.

    ``mapping`` gives the released text of every raw text for columns that are recoded; KeyError
    for a text that it lacks.
    """
    found = np.zeros(rows, np.uint64)
    for column in columns:
        recode = mapping.get(column.name)
        if column.domain is None:
            _fold_texts(found, con, column, recode, key, place, token)
        else:
            _fold_codes(found, con, column, column.domain, recode, key, place, token)
    return found


def source_counts(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    rows: int,
    mapping: Mapping[str, Mapping[str, str]],
    key: Prints,
    place: Path,
    token: CancelToken,
    known: FrequencyTable | None = None,
) -> CountedPrints:
    """The prints of a source's rows on these columns; raises as :func:`source_prints`.

    Where columns are coded and few different rows are there, each of these is looked at once;
    ``known`` is a small table of counts that may hold them.
    """
    from dpdesk.io.counting import few_tuples
    from dpdesk.io.print_kernels import fold_prints

    tuples = few_tuples(con, columns, rows, place, token, known)
    if tuples is None:
        return CountedPrints(source_prints(con, columns, rows, mapping, key, place, token))
    codes, counts = tuples
    found = np.zeros(len(counts), np.uint64)
    for position, column in enumerate(columns):
        texts, recode = column.domain or (), mapping.get(column.name)
        released = [recode[value] for value in texts] if recode is not None else texts
        fold_prints(found, np.ascontiguousarray(codes[:, position]), _of_texts(released, key), key)
    return CountedPrints(found, counts)


def _fold_codes(
    found: Prints,
    con: DuckDBPyConnection,
    column: Column,
    domain: Sequence[str],
    recode: Mapping[str, str] | None,
    key: Prints,
    place: Path,
    token: CancelToken,
) -> None:
    from dpdesk.io.print_kernels import fold_prints

    texts = [recode[value] for value in domain] if recode is not None else domain
    prints = _of_texts(texts, key)
    with query(con, token, place) as cursor:
        codes = cursor.sql(f"SELECT enum_code({column.sql}) AS v FROM {DATA}").to_arrow_table()
    fold_prints(found, codes.column(0).to_numpy(), prints, key)


def _fold_texts(
    found: Prints,
    con: DuckDBPyConnection,
    column: Column,
    recode: Mapping[str, str] | None,
    key: Prints,
    place: Path,
    token: CancelToken,
) -> None:
    import pyarrow

    done = 0
    with query(con, token, place) as cursor:
        for batch in cursor.sql(f"SELECT {column.sql} FROM {DATA}").to_arrow_reader(_BATCH):
            token.check()
            texts = batch.column(0)
            if recode is not None:
                texts = pyarrow.array([recode[text] for text in texts.to_pylist()])
            _fold(found[done : done + len(texts)], texts, key)
            done += len(texts)


def _of_texts(texts: Sequence[str], key: Prints) -> Prints:
    from dpdesk.io.print_kernels import print_texts

    raw = [text.encode() for text in texts]
    offsets = np.zeros(len(raw) + 1, np.int64)
    np.cumsum([len(text) for text in raw], out=offsets[1:])
    prints = np.empty(len(raw), np.uint64)
    print_texts(offsets, np.frombuffer(b"".join(raw) or b"\0", np.uint8), key, prints)
    return prints


def _fold(rows: Prints, texts: pyarrow.Array | pyarrow.ChunkedArray, key: Prints) -> None:
    """Fold a column of texts into the prints of as many rows."""
    import pyarrow

    from dpdesk.io.print_kernels import fold_prints, print_texts

    done = 0
    for chunk in texts.chunks if isinstance(texts, pyarrow.ChunkedArray) else (texts,):
        if not len(chunk):
            continue
        width = np.int64 if pyarrow.types.is_large_string(chunk.type) else np.int32
        _, raw, data = chunk.buffers()
        offsets = np.frombuffer(raw, width)[chunk.offset : chunk.offset + len(chunk) + 1]
        held = np.frombuffer(data, np.uint8) if data is not None else np.zeros(1, np.uint8)
        prints = np.empty(len(chunk), np.uint64)
        print_texts(offsets.astype(np.int64), held, key, prints)
        part = rows[done : done + len(chunk)]
        fold_prints(part, np.arange(len(chunk)), prints, key)
        done += len(chunk)
