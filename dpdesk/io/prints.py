"""Rows compared as a whole, whatever their order: by keyed prints of 64 bits.

The key is drawn for each comparison, so nobody can make a row in advance whose print is that of
another; by chance a row that is not there finds its print among n others with a chance of n/2^64.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import DATA, Column, texts
from dpdesk.io.database import in_memory, query

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

    from dpdesk.core.release import Separated
    from dpdesk.io.published import PublishedCsv


# What data hold in their measured columns, whatever their format and the order of their rows.
#
# The ledger must know data again that were saved in another format or sorted. A print is a hash
# over the names of columns and how often each row of them occurs; nothing of a single row can be
# told from it without knowing all the others.


LEAST_DIFFERENT = 10
"""Different rows from which equal counts are not taken for chance: two surveys may well have as
many men each, but hardly ten groups of the same sizes."""
_SAME = "coalesce(try_cast(replace(trim(v), ',', '.') AS DOUBLE)::VARCHAR, trim(v), '')"
"""A number is the same one however a format writes it; blanks around a text do not count."""
_SUMS = (
    "sum((m >> 64)::HUGEINT * n)::VARCHAR, "
    "sum((m & 18446744073709551615::UHUGEINT)::HUGEINT * n)::VARCHAR"
)
"""Sums of both halves of the rows' hashes, which are computed once for both."""
_PIECE, _MOST_COMBINED, _FEW = 1 << 19, 1 << 12, 1 << 12
_BATCH_ROWS = 1 << 16
"""Rows that a thread of the database takes at once."""


def content_print(
    con: DuckDBPyConnection, columns: Sequence[Column], place: Path, token: CancelToken
) -> str:
    """SHA-256 over the names of columns, the number of rows and the sums of the rows' hashes.

    It is the same for every order of rows and of columns. Empty where there are fewer than
    :data:`LEAST_DIFFERENT` different rows. Raises StorageError, Cancelled.
    """
    found = sorted((" ".join(one.name.casefold().split()), one.sql) for one in columns)
    if not found:
        return ""
    groups = ", ".join(sql for _, sql in found)
    texts = (_SAME.replace("(v)", f"({sql}::VARCHAR)") for _, sql in found)
    parts = ", ".join(f"{text} AS w{i}" for i, text in enumerate(texts))
    # Each text stands behind its length, so that ("a", "bc") is not ("ab", "c").
    row = " || ".join(f"strlen(w{i}) || ':' || w{i}" for i in range(len(found)))
    with query(con, token, place) as cursor:
        different, rows, lower, upper = cursor.execute(
            f"SELECT count(DISTINCT r), sum(n), {_SUMS} FROM (SELECT r, md5_number(r) AS m, n FROM "
            f"(SELECT {row} AS r, n FROM "
            f"(SELECT {parts}, count(*) AS n FROM {DATA} GROUP BY {groups})))"
        ).fetchone() or (0, 0, None, None)
    return _digest([name for name, _ in found], different, int(rows or 0), lower, upper)


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Rows of columns of few values: codes by column, of the values in ``domains``.

    ``counts`` tells how often each row comes; once where it is None. Rows may be alike.
    """

    names: Sequence[str]
    domains: Sequence[Sequence[str]]
    codes: Sequence[NDArray[np.integer[Any]]]
    counts: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """How many rows there are here."""
        return len(self.codes[0])


def counted_print(table: FrequencyTable, place: Path, token: CancelToken) -> str:
    """As :func:`content_print`, of columns that are counted."""
    rows = CodedColumns(table.attributes, table.domains, tuple(table.codes.T), table.counts)
    return coded_print(rows, place, token)


def coded_print(rows: CodedColumns, place: Path, token: CancelToken) -> str:
    """As :func:`content_print`, of coded rows: each value is looked at once.

    A sum over all rows is one over different rows, each as often as it comes.
    """
    names = [" ".join(name.casefold().split()) for name in rows.names]
    order = sorted(range(len(names)), key=lambda j: names[j])
    if not order:
        return ""
    con = in_memory()
    try:
        known: dict[tuple[str, ...], Sequence[str]] = {}
        for each in map(tuple, rows.domains):
            if each not in known:
                known[each] = _same(con, each, place, token)
        same = [known[tuple(rows.domains[j])] for j in order]
        sums = _coded_sums(con, rows, order, same, place, token)
    finally:
        con.close()
    many = rows.size if rows.counts is None else int(rows.counts.sum())
    different = _different(rows, order, same)
    return _digest([names[j] for j in order], different, many, *map(str, sums))


def _coded_sums(
    con: DuckDBPyConnection,
    rows: CodedColumns,
    order: Sequence[int],
    same: Sequence[Sequence[str]],
    place: Path,
    token: CancelToken,
) -> list[int]:
    import pyarrow as pa

    written = [_behind_length(each) for each in same]
    sums = [0, 0]
    for piece in _pieces(rows.size):
        codes = (rows.codes[j][piece].astype(np.int32) for j in order)
        columns = {
            f"w{i}": pa.DictionaryArray.from_arrays(pa.array(own), pa.array(each, pa.string()))
            for i, (own, each) in enumerate(_joined(codes, written))
        }
        row = ", ".join(columns)
        counts = {} if rows.counts is None else {"n": rows.counts[piece]}
        many = "n" if counts else "1 AS n"
        with query(con, token, place) as cursor:
            batches = pa.table({**columns, **counts}).to_batches(max_chunksize=_BATCH_ROWS)
            cursor.register("counted", pa.Table.from_batches(batches))
            found = cursor.execute(
                f"SELECT {_SUMS} FROM (SELECT md5_number(concat({row})) AS m, {many} FROM counted)"
            ).fetchone() or (0, 0)
        sums = [total + int(each or 0) for total, each in zip(sums, found, strict=True)]
    return sums


def _pieces(size: int) -> Iterator[slice]:
    return (slice(start, start + _PIECE) for start in range(0, size, _PIECE))


def _same(
    con: DuckDBPyConnection, domain: Sequence[str], place: Path, token: CancelToken
) -> list[str]:
    """The texts of values by which these are compared."""
    import pyarrow as pa

    with query(con, token, place) as cursor:
        cursor.register("listed", pa.table({"v": pa.array(domain, pa.string())}))
        return list(
            texts(cursor.sql(f"SELECT {_SAME} AS w FROM listed").to_arrow_table().column(0))
        )


def _behind_length(same: Sequence[str]) -> list[str]:
    return [f"{len(text.encode())}:{text}" for text in same]


def _joined(
    codes: Iterable[NDArray[np.int32]], written: Sequence[Sequence[str]]
) -> Iterator[tuple[NDArray[np.int32], Sequence[str]]]:
    """Columns of few texts as one of all their combinations, so that there are fewer to put
    together.
    """
    held: NDArray[np.int32] | None = None
    listed: Sequence[str] = ()
    for own, each in zip(codes, written, strict=True):
        if held is not None and len(listed) * len(each) <= _MOST_COMBINED:
            held = held * np.int32(len(each)) + own
            listed = [first + second for first in listed for second in each]
            continue
        if held is not None:
            yield held, listed
        held, listed = own, each
    if held is not None:
        yield held, listed


def _different(rows: CodedColumns, order: Sequence[int], same: Sequence[Sequence[str]]) -> int:
    """How many rows are different, counted no further than need be."""
    places = [np.unique(np.array(each, object), return_inverse=True)[1] for each in same]
    seen: set[tuple[int, ...]] = set()
    for start in range(0, rows.size, _FEW):
        piece = slice(start, start + _FEW)
        columns = [
            own[rows.codes[j][piece].astype(np.int64)] for j, own in zip(order, places, strict=True)
        ]
        seen.update(map(tuple, np.unique(np.column_stack(columns), axis=0).tolist()))
        if len(seen) >= LEAST_DIFFERENT:
            break
    return len(seen)


def _digest(names: list[str], different: int, rows: int, lower: object, upper: object) -> str:
    if different < LEAST_DIFFERENT:
        return ""
    plain = json.dumps([names, rows, lower, upper])
    return hashlib.sha256(plain.encode("ascii")).hexdigest()


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
    joins, values = (drawn_column(table, name, token) for name in (separated.key, separated.value))
    keys = drawn_column(published, separated.key, token)
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


def linked_alike(
    first: PublishedCsv, second: PublishedCsv, renamed: Sequence[str], token: CancelToken
) -> bool:
    """Whether two tables are the same up to other texts in the columns ``renamed``.

    The texts of the one have to go one to one with those of the other, over all these columns
    together; an empty field stands for itself. A text is known by the multiset of its rows, and
    in each further round by what the texts next to it were known by (colour refinement), so what
    no number of rounds can tell apart passes for the same. Raises Cancelled, and what reading the
    tables raises.
    """
    if first.columns != second.columns or first.rows != second.rows:
        return False
    key = fresh_print_key()
    both = [_refined(table, renamed, key, token) for table in (first, second)]
    return all(apart(*map(CountedPrints, pair)) == (0, 0) for pair in zip(*both, strict=True))


def _refined(
    published: PublishedCsv, renamed: Sequence[str], key: Prints, token: CancelToken
) -> tuple[Prints, Prints]:
    """The prints of the rows and of the texts of renamed columns, by the company that they keep."""
    import pyarrow as pa

    kept = [name for name in published.columns if name not in renamed]
    rows = published_prints(published, kept, key, token)
    columns = [drawn_column(published, name, token) for name in renamed]
    texts = pa.concat_arrays([each.dictionary for each in columns]).dictionary_encode()
    starts = np.cumsum([0, *(len(each.dictionary) for each in columns)])
    ids = texts.indices.to_numpy()
    codes = [
        ids[start + each.indices.to_numpy()]
        for start, each in zip(starts[:-1], columns, strict=True)
    ]
    empty = texts.dictionary.index(pa.scalar("", pa.string())).as_py()
    known = np.zeros(len(texts.dictionary), np.uint64)
    for _ in range(len(renamed) + 1):
        token.check()
        seen = np.zeros(len(known), np.uint64)
        for place, code in enumerate(codes):
            np.add.at(seen, code, _mixed(rows + np.uint64(place), key))
        known = _mixed(seen, key)
        if empty >= 0:
            known[empty] = 0
        for place, code in enumerate(codes):
            rows = _mixed(rows ^ (known[code] + np.uint64(place)), key)
    return rows, np.delete(known, empty) if empty >= 0 else known


def _mixed(prints: Prints, key: Prints) -> Prints:
    """Numbers of 64 bits, one to one to others that look random without the key."""
    found = (prints ^ key[0]) * key[1]
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(found ^ (found >> np.uint64(31)))


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


def drawn_column(published: PublishedCsv, name: str, token: CancelToken) -> Any:
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

    tuples = few_tuples(con, columns, rows, place, token, known)
    if tuples is None:
        return CountedPrints(source_prints(con, columns, rows, mapping, key, place, token))
    codes, counts = tuples
    released = []
    for column in columns:
        texts, recode = column.domain or (), mapping.get(column.name)
        released.append([recode[value] for value in texts] if recode is not None else texts)
    return tuple_counts([([*codes.T], counts)], released, key)


def tuple_counts(
    batches: Iterable[tuple[Sequence[NDArray[Any]], NDArray[np.int64]]],
    released: Sequence[Sequence[str]],
    key: Prints,
) -> CountedPrints:
    """The prints of tuples of released texts; a batch holds the places of the texts of each column,
    and how many rows each tuple stands for.
    """
    from dpdesk.io.print_kernels import fold_prints

    prints = [_of_texts(each, key) for each in released]
    parts, counts = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for columns, rows in batches:
        found = np.zeros(len(rows), np.uint64)
        for codes, each in zip(columns, prints, strict=True):
            fold_prints(found, np.ascontiguousarray(codes), each, key)
        parts.append(found)
        counts.append(rows)
    return CountedPrints(np.concatenate(parts), np.concatenate(counts))


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
