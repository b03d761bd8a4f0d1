"""Distinct tuples of coded columns with their counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencyTable, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.io.coded_rows import CodedRows
from dpdesk.io.coding import DATA, Column
from dpdesk.io.database import query
from dpdesk.io.missing import condition, missing_codes
from dpdesk.io.text_codes import LaterTexts, coded_texts, count_codes, digits

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

Codes = tuple[Sequence[str], NDArray[Any]]
"""The values of a column by code point, and the code of every row in source order."""
_KEY_BITS, _SHORT_BITS = 63, 32
_MOST_TEXTS, _MOST_CELLS = 1 << 20, 1 << 26
"""Rows, or cells, that are counted in memory where texts are among the columns."""
_TUPLES_AT_ONCE = 1 << 20
_MOST_CODES, _FEW_COLUMNS = 1 << 23, 5
"""Rows and columns that are counted in memory where there are none."""
ROWS_EACH = 4
"""Tuples are few where there are so many rows for each of them."""


@dataclass(frozen=True)
class Origin:
    """Where rows are counted: a table in SQL, and the Arrow tables that it names."""

    sql: str = DATA
    tables: Mapping[str, pyarrow.Table] = field(default_factory=dict, repr=False)

    def named(self, cursor: DuckDBPyConnection) -> str:
        """The table for a statement of this cursor."""
        for name, table in self.tables.items():
            cursor.register(name, table)
        return self.sql


EVERYTHING = Origin()


def count_tuples(
    con: DuckDBPyConnection,
    columns: tuple[Column, ...],
    rows: int,
    missing: tuple[str, ...],
    place: Path,
    token: CancelToken,
    origin: Origin = EVERYTHING,
) -> FrequencyTable:
    """The frequency table of ``columns``, tuples in ascending order of their codes.

    ``rows`` is how many rows there are in ``origin``, which has the columns under their names.
    """
    if not columns:
        codes, counts = np.empty((1, 0), np.int32), np.array([rows], np.int64)
        domains: list[Sequence[str]] = []
    elif packs(columns):
        codes, counts = _by_key(con, columns, place, token, origin)
        domains = [column.domain or () for column in columns]
    else:
        codes, counts, domains = _by_columns(con, columns, place, token, origin)
    return counted_table(columns, domains, codes, counts, missing)


def count_held(
    held: CodedRows, columns: tuple[Column, ...], missing: tuple[str, ...], token: CancelToken
) -> FrequencyTable:
    """As :func:`count_tuples`, of rows in memory."""
    domains = [column.domain or () for column in columns]
    places = [held.place(column.sql) for column in columns]
    if columns and not packs(columns):
        sizes = [len(held.domains[place]) for place in places]
        codes, counts = count_codes(
            [held.codes[place] for place in places], sizes, held.rows, token
        )
    elif columns:
        keys, counts = held.count(places, token)
        codes = digits(keys, _sizes(columns))
    else:
        codes, counts = np.empty((1, 0), np.int32), np.array([held.rows], np.int64)
    return counted_table(columns, domains, codes, counts, missing)


def quickly_counted(columns: Sequence[Column], rows: int) -> bool:
    """Whether rows are best counted by their codes in memory, once these are at hand.

    The database compares texts again for each set of columns, and it is slow where nearly each row
    is a tuple of its own; few tuples it counts with all processors.
    """
    if not packs(columns):
        return rows * len(columns) <= max(_MOST_CELLS, _MOST_TEXTS * len(columns))
    few = prod(len(column.domain or ()) for column in columns) * ROWS_EACH <= rows
    return len(columns) <= _FEW_COLUMNS and rows <= _MOST_CODES and not few


def count_in_memory(
    columns: Sequence[Column],
    coded: Sequence[Codes],
    rows: int,
    missing: tuple[str, ...],
    token: CancelToken,
) -> FrequencyTable:
    """As :func:`count_tuples`, of columns whose codes are at hand, row by row, with their values.

    Texts are compared once, when a column is coded, and not again for each set of columns.
    """
    domains = [each.copy() if isinstance(each, LaterTexts) else each for each, _ in coded]
    if packs(columns):
        held = CodedRows(tuple(map(tuple, domains)), tuple(each for _, each in coded), rows)
        keys, counts = held.count(range(len(columns)), token)
        codes = digits(keys, _sizes(columns))
    else:
        sizes = [len(domain) for domain in domains]
        codes, counts = count_codes([each for _, each in coded], sizes, rows, token)
    return counted_table(columns, domains, codes, counts, missing)


def counted_table(
    columns: Sequence[Column],
    domains: Sequence[Sequence[str]],
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    missing: tuple[str, ...],
) -> FrequencyTable:
    """The frequency table of some columns, of the values of each and the codes of each tuple."""
    return FrequencyTable(
        attributes=tuple(column.name for column in columns),
        domains=tuple(domains),
        codes=codes,
        counts=counts,
        missing=tuple(
            _missing(domain, missing, column)
            for domain, column in zip(domains, columns, strict=True)
        ),
    )


def _missing(domain: Sequence[str], missing: tuple[str, ...], column: Column) -> frozenset[int]:
    if isinstance(domain, LaterTexts) and not column.user_missing:
        return domain.places(missing)
    return missing_codes(domain, missing, column.user_missing)


def few_tuples(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    rows: int,
    place: Path,
    token: CancelToken,
    known: FrequencyTable | None,
) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """The distinct tuples of some columns and their counts, where they are coded and few.

    They are few by an estimate (see ``ROWS_EACH``), or because a table of them is ``known``.
    """
    names = [column.name for column in columns]
    if known is not None and {*names} <= {*known.attributes} and names:
        table = projected(known, names)
        if table is not None:
            return table.codes, table.counts
    if not columns or not packs(columns):
        return None
    with query(con, token, place) as cursor:
        asked = f"SELECT approx_count_distinct({key_of(columns)}) FROM {DATA}"
        estimate = cursor.execute(asked).fetchone()
    if estimate is None or estimate[0] * ROWS_EACH > rows:
        return None
    return _by_key(con, columns, place, token, EVERYTHING)


def projected(table: FrequencyTable, attributes: Sequence[str]) -> FrequencyTable | None:
    """The frequency table of some of a table's attributes; None where their codes fit no key."""
    if tuple(attributes) == table.attributes:
        return table
    places = [table.attributes.index(name) for name in attributes]
    domains = tuple(table.domains[place] for place in places)
    if prod(map(len, domains)) >= 1 << _KEY_BITS:
        return None
    key = np.zeros(len(table.counts), np.int64)
    for place, domain in zip(places, domains, strict=True):
        key = key * len(domain) + table.codes[:, place]
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    return FrequencyTable(
        attributes=tuple(attributes),
        domains=domains,
        codes=np.ascontiguousarray(table.codes[order[starts]][:, places]),
        counts=np.add.reduceat(table.counts[order], starts),
        missing=tuple(table.missing[place] for place in places),
    )


def packs(columns: Sequence[Column]) -> bool:
    """Whether all columns are coded and their codes fit one key."""
    size = 1
    for column in columns:
        if column.domain is None:
            return False
        size *= len(column.domain)
    return size < 1 << _KEY_BITS


def _sizes(columns: Sequence[Column]) -> list[int]:
    """How many values each column has."""
    return [len(column.domain or ()) for column in columns]


def key_of(columns: Sequence[Column]) -> str:
    """One whole number for the codes of some columns, in SQL, in the order of their tuples."""
    sizes = _sizes(columns)
    kind = "UINTEGER" if prod(sizes) < 1 << _SHORT_BITS else "UBIGINT"
    factors = [prod(sizes[j + 1 :]) for j in range(len(sizes))]
    return " + ".join(
        f"enum_code({column.sql})::{kind} * {factor}::{kind}"
        for column, factor in zip(columns, factors, strict=True)
    )


def _by_key(
    con: DuckDBPyConnection,
    columns: Sequence[Column],
    place: Path,
    token: CancelToken,
    origin: Origin,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    key = key_of(columns)
    keys, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    with query(con, token, place) as cursor:
        # In pieces: the database turns a whole result into arrays without letting others run.
        found = cursor.sql(
            f"SELECT {key} AS k, count(*) AS n FROM {origin.named(cursor)} GROUP BY k ORDER BY k"
        ).to_arrow_reader(_TUPLES_AT_ONCE)
        for piece in found:
            token.check()
            keys.append(piece.column(0).to_numpy().astype(np.int64))
            counts.append(piece.column(1).to_numpy())
    return digits(np.concatenate(keys), _sizes(columns)), np.concatenate(counts)


def _by_columns(
    con: DuckDBPyConnection,
    columns: tuple[Column, ...],
    place: Path,
    token: CancelToken,
    origin: Origin,
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[Sequence[str]]]:
    listed = ", ".join(
        f"{column.sql} AS k{j}" if column.domain is None else f"enum_code({column.sql}) AS k{j}"
        for j, column in enumerate(columns)
    )
    keys = ", ".join(f"k{j}" for j in range(len(columns)))
    with query(con, token, place) as cursor:
        table = cursor.sql(
            f"SELECT {listed}, count(*) AS n FROM {origin.named(cursor)} "
            f"GROUP BY {keys} ORDER BY {keys}"
        ).to_arrow_table()
    codes = np.empty((table.num_rows, len(columns)), dtype=np.int32)
    domains: list[Sequence[str]] = []
    for j, column in enumerate(columns):
        if column.domain is None:
            codes[:, j], domain = coded_texts(table.column(j))
            domains.append(domain)
        else:
            codes[:, j] = table.column(j).to_numpy()
            domains.append(column.domain)
    return codes, table.column(len(columns)).to_numpy().astype(np.int64), domains


# Some rows of a data store, chosen in the database: see :class:`dpdesk.core.frequency.RowRule`.


_ROWS_AT_ONCE = 10_000


class RestrictedRows:
    """A FrequencySource of the rows that count by a rule; ``columns`` are those that the store
    has read.
    """

    def __init__(
        self,
        con: DuckDBPyConnection,
        columns: Mapping[str, Column],
        missing: tuple[str, ...],
        path: Path,
        rule: RowRule,
        token: CancelToken,
    ) -> None:
        self._con, self._columns, self._missing, self._path = con, columns, missing, path
        self._rule = rule
        self._lost = {f"lost{i}": _texts(each) for i, each in enumerate(rule.lost.values())}
        self.name = path.name
        self.columns: tuple[str, ...] = tuple(columns)
        self.rows = self._count(token)

    def frequency_table(self, attributes: Sequence[str], token: CancelToken) -> FrequencyTable:
        """See :meth:`dpdesk.io.store.DataStore.frequency_table`."""
        columns = tuple(self._columns[name] for name in attributes)
        origin = self._origin(columns)
        return count_tuples(self._con, columns, self.rows, self._missing, self._path, token, origin)

    def restricted(self, rule: RowRule, token: CancelToken) -> RestrictedRows:
        """Rules are not laid upon each other: ask the store. Raises ValueError."""
        raise ValueError("a rule for rows that have one already")

    def _count(self, token: CancelToken) -> int:
        origin = self._origin(())
        with query(self._con, token, self._path) as cursor:
            found = cursor.execute(f"SELECT count(*) FROM {origin.named(cursor)}").fetchone()
        return int(found[0]) if found else 0

    def _origin(self, columns: Sequence[Column]) -> Origin:
        """The rows that count, with these columns of theirs."""
        rule, joins, wanted = self._rule, [], []
        for table, name in zip(self._lost, rule.lost, strict=True):
            joins.append(f"ANTI JOIN {table} ON {self._columns[name].sql}::VARCHAR = {table}.v")
        person = self._columns[rule.person] if rule.person else None
        if person is not None:
            gone = condition(person.user_missing, self._missing, f"{person.sql}::VARCHAR")
            wanted += [f"WHERE NOT ({gone})"] if gone else []
        if person is not None and rule.most is not None:
            keys = ", ".join(_code(self._columns[name]) for name in rule.order) or "1"
            place = f"row_number() OVER (PARTITION BY {person.sql} ORDER BY {keys})"
            wanted.append(f"QUALIFY {place} <= {int(rule.most)}")
        shown = ", ".join(dict.fromkeys(column.sql for column in columns)) or "1 AS one"
        source = DATA
        if rule.every > 1:
            source = f"(SELECT * FROM {DATA} WHERE rowid % {int(rule.every)} = 0) AS {DATA}"
        sql = " ".join([f"SELECT {shown} FROM {source}", *joins, *wanted])
        return Origin(f"({sql}) AS counted", self._lost)


def _code(column: Column) -> str:
    """What sorts a column as the codes of a frequency table do."""
    return column.sql if column.domain is None else f"enum_code({column.sql})"


def _texts(texts: Sequence[str]) -> pyarrow.Table:
    """One column ``v``, made in pieces, so that other threads get their turn."""
    import pyarrow as pa

    starts = range(0, len(texts), _ROWS_AT_ONCE)
    pieces = [pa.array(texts[start : start + _ROWS_AT_ONCE], pa.string()) for start in starts]
    return pa.table({"v": pa.chunked_array(pieces, pa.string())})
