"""Cells of tables with their sums and largest contributions, added up exactly in the database.

Numbers become whole ones on a grid as fine as the finest of the column. Each row counts in every
cell of the product of the nodes that its values belong to.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import CodedColumn, FrequencySource, FrequencyTable, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.tabulation import Among, RowEdit, Tabulated, Tabulation
from dpdesk.io.coding import DATA, Column
from dpdesk.io.counting import Origin, count_tuples
from dpdesk.io.database import literal, query
from dpdesk.io.missing import condition, number_pattern
from dpdesk.io.reading import Reading

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_MOST_DIGITS = 30
_EXPONENT = r"[eE]([+-]?\d+)"


@dataclass(frozen=True)
class _Number:
    """A column of numbers in SQL: ``sql`` is its integer in units of 10^-``scale``.

    ``join`` joins the integers to the rows; rows whose number is missing drop out. ``most`` is the
    largest absolute value, in these units.
    """

    sql: str
    scale: int = 0
    most: int = 1
    join: str = ""


_ONE = _Number("1::BIGINT")


def tabulate(
    con: DuckDBPyConnection,
    columns: Mapping[str, Column],
    asked: Tabulation,
    reading: Reading,
    place: Path,
    token: CancelToken,
    table: str = DATA,
) -> Tabulated:
    """See :meth:`dpdesk.core.tabulation.CellSource.tabulate`; ``table`` has the rows.

    Rows are first added up by the values of their columns, so that each falls into one cell; only
    these cells are added to the nodes above them. Among equal contributions the ones with the
    lowest contributor numbers (rows: the first ones) are named.
    """
    with query(con, token, place) as cursor:
        value = _number(cursor, columns, asked.value, "of_value", reading, place)
        weight = _number(cursor, columns, asked.weight, "of_weight", reading, place)
        for j, members in enumerate(asked.members):
            cursor.register(f"nodes{j}", _nodes(members))
        if asked.keys is not None:
            cursor.register("keyed", _keyed(asked.keys))
        cursor.execute(f"CREATE TEMP TABLE leaf AS {_leaves(columns, asked, value, weight, table)}")
        kept = cursor.execute("SELECT coalesce(sum(n), 0)::BIGINT FROM leaf").fetchall()[0][0]
        if asked.contributor is not None:
            who = columns[asked.contributor].sql
            cursor.execute(
                "CREATE TEMP TABLE named AS SELECT w, row_number() OVER (ORDER BY w) - 1 AS c "
                f"FROM (SELECT DISTINCT {who} AS w FROM {table})"
            )
        found = cursor.execute(_in_nodes(asked)).fetchall()
        total = cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0]
    return _filled(asked, found, value.scale + weight.scale, weight.scale, total - kept)


def _leaves(
    columns: Mapping[str, Column], asked: Tabulation, value: _Number, weight: _Number, table: str
) -> str:
    """SQL: sums of the rows by combination of values, and by contributor where a column names one.

    Without such a column each row is a contributor, so the sums of absolute values and the largest
    contributions are taken here.
    """
    source, key = table, f"hash({table}.rowid + 1)"
    if asked.keys is not None:
        source, key = f"{table} JOIN keyed ON {table}.rowid = keyed.place", "keyed.key"
    kind = "BIGINT" if value.most * weight.most < 2**62 else "HUGEINT"
    x = f"({value.sql}::{kind} * {weight.sql}::{kind})"
    groups = [f"{table}.{columns[name].sql} AS d{j}" for j, name in enumerate(asked.columns)]
    asks, waives = _among(columns, asked.request), _among(columns, asked.waive)
    sums = f"count(*) AS n, sum({key}) AS p, sum({x}) AS x, sum({weight.sql}) AS g"
    if asked.contributor is not None:
        groups.append(f"{table}.{columns[asked.contributor].sql} AS w")
        each = f"bool_or({asks}) AS r, bool_and({waives}) AS z"
    else:
        each = (
            f"sum(abs({x})) AS s, {_largest(asked, f'abs({x})', f'{table}.rowid')} AS t, "
            f"max(abs({x})) FILTER ({asks}) AS r, max(abs({x})) FILTER (NOT {waives}) AS z"
        )
    by = ", ".join(str(1 + j) for j in range(len(groups)))
    return (
        f"SELECT {', '.join(groups)}, {sums}, {each} FROM {source} {value.join} {weight.join} "
        f"GROUP BY {by}"
    )


def _in_nodes(asked: Tabulation) -> str:
    """SQL: the sums of :func:`_leaves` by node, with the columns that :func:`_filled` reads."""
    axes = range(len(asked.columns))
    joins = " ".join(f"JOIN nodes{j} ON d{j}::VARCHAR = nodes{j}.label" for j in axes)
    nodes = "".join(f"nodes{j}.node AS n{j}, " for j in axes)
    keys = "".join(f"n{j}, " for j in axes)
    group = ", ".join(f"n{j}" for j in axes)
    if asked.contributor is None:
        top = f"list_sort(flatten(list(t)), 'DESC')[:{asked.top}]" if asked.top else "[]"
        return (
            f"SELECT {keys}sum(n)::BIGINT, sum(x), sum(s), sum(g), sum(p), {top}, "
            f"coalesce(max(r), 0), coalesce(max(z), -1) "
            f"FROM (SELECT {nodes}leaf.* FROM leaf {joins}) GROUP BY {group}"
        )
    each = (
        f"SELECT {nodes}w, sum(p) AS p, sum(x) AS x, sum(g) AS g, bool_or(r) AS r, "
        f"bool_and(z) AS z FROM leaf {joins} GROUP BY {group}, w"
    )
    return (
        f"SELECT {keys}count(*), sum(x), sum(abs(x)), sum(g), sum(p), "
        f"{_largest(asked, 'abs(x)', 'c')}, coalesce(max(abs(x)) FILTER (r), 0), "
        f"coalesce(max(abs(x)) FILTER (NOT z), -1) FROM ({each}) JOIN named USING (w) "
        f"GROUP BY {group}"
    )


def _largest(asked: Tabulation, size: str, who: str) -> str:
    """SQL: the largest sizes, each with its contributor's number, negated to break ties."""
    return f"max({{'size': {size}, 'who': -{who}}}, {asked.top})" if asked.top else "[]"


def _among(columns: Mapping[str, Column], asked: Among | None) -> str:
    """Whether a row has one of some values, in SQL."""
    if asked is None:
        return "false"
    name, values = asked
    return f"coalesce({columns[name].sql}::VARCHAR IN ({', '.join(map(literal, values))}), false)"


def _nodes(members: Mapping[str, Any]) -> object:
    import pyarrow as pa

    pairs = [(label, node) for label, nodes in members.items() for node in nodes]
    return pa.table(
        {
            "label": pa.array([label for label, _ in pairs], pa.string()),
            "node": pa.array([node for _, node in pairs], pa.int32()),
        }
    )


def _keyed(keys: NDArray[np.uint64]) -> object:
    import pyarrow as pa

    return pa.table({"place": pa.array(np.arange(len(keys))), "key": pa.array(keys)})


def _number(
    cursor: DuckDBPyConnection,
    columns: Mapping[str, Column],
    name: str | None,
    alias: str,
    reading: Reading,
    place: Path,
) -> _Number:
    """A column of numbers as whole ones, each text read once; 1 for each row without a column.

    Raises InputError for what is not a number, naming its row.
    """
    if name is None:
        return _ONE
    column = columns[name]
    raw = "raw::VARCHAR"
    absent = condition(column.user_missing, reading.missing, raw) or "false"
    text = f"trim({raw})" if reading.decimal == "." else f"replace(trim({raw}), ',', '.')"
    pattern = literal(number_pattern(reading.decimal))
    cursor.execute(
        f"CREATE TEMP TABLE {alias}_texts AS SELECT {column.sql} AS raw, min(rowid) AS first "
        f"FROM {DATA} GROUP BY raw HAVING NOT ({absent})"
    )
    wrong = cursor.execute(
        f"SELECT first, {raw} FROM {alias}_texts "
        f"WHERE NOT regexp_full_match(trim({raw}), {pattern}) ORDER BY first LIMIT 1"
    ).fetchall()
    if wrong:
        raise _not_a_number(name, int(wrong[0][0]), str(wrong[0][1]), place)
    digits = (
        f"length(regexp_extract({text}, '\\.(\\d*)', 1)) - "
        f"coalesce(try_cast(nullif(regexp_extract({text}, '{_EXPONENT}', 1), '') AS INTEGER), 0)"
    )
    found = cursor.execute(f"SELECT coalesce(max({digits}), 0) FROM {alias}_texts").fetchall()
    scale = max(0, int(found[0][0]))
    if scale > _MOST_DIGITS:
        raise _too_fine(name, scale, place)
    cursor.execute(
        f"CREATE TEMP TABLE {alias} AS SELECT raw, {_on_grid(text, scale)} AS v FROM {alias}_texts"
    )
    most = cursor.execute(f"SELECT coalesce(max(abs(v)), 0) FROM {alias}").fetchall()[0][0]
    join = f"JOIN {alias} ON {column.sql} = {alias}.raw"
    return _Number(f"{alias}.v", scale, int(most), join)


def _too_fine(name: str, digits: int, place: Path) -> InputError:
    return InputError(
        "source.too-fine",
        msg(
            "{file}, column `{column}`: a number has {digits} digits after the decimal mark, "
            "expected at most {most}.",
            file=place.name,
            column=name,
            digits=digits,
            most=_MOST_DIGITS,
        ),
        hint="Round the column.",
        details={"column": name},
    )


def _on_grid(text: str, scale: int) -> str:
    """The text of a number as a whole number of units of 10^-scale: its digits, put together."""
    plain = (
        f"CASE WHEN regexp_matches({text}, '[eE]') "
        f"THEN CAST({text} AS DECIMAL(38, {scale}))::VARCHAR ELSE {text} END"
    )
    whole = f"regexp_extract({plain}, '^([+-]?\\d*)', 1)"
    part = f"rpad(regexp_extract({plain}, '\\.(\\d*)', 1), {scale}, '0')"
    return f"replace({whole} || {part}, '+', '')::HUGEINT"


def _not_a_number(name: str, row: int, text: str, place: Path) -> InputError:
    return InputError(
        "source.not-a-number",
        msg(
            "{file}, row {row}, column `{column}`: found {text}, expected a number.",
            file=place.name,
            row=row + 1,
            column=name,
            text=quoted(text),
        ),
        hint="Correct it, or declare it as missing (`missing` under [source]).",
        details={"column": name, "row": row + 1},
    )


def _filled(
    asked: Tabulation, found: list[tuple[Any, ...]], scale: int, weight_scale: int, left_out: int
) -> Tabulated:
    """The counted cells among all of them."""
    axes, cells = len(asked.columns), asked.cells
    frequency = np.zeros(cells, np.int64)
    totals, sizes, weights, prints = (np.zeros(cells, dtype=object) for _ in range(4))
    top = np.zeros((cells, asked.top), dtype=object)
    who = np.full((cells, asked.top), -1, np.int64)
    asking, holding = np.zeros(cells, dtype=object), np.full(cells, -1, dtype=object)
    for line in found:
        place = 0
        for size, node in zip(asked.shape, line[:axes], strict=True):
            place = place * size + int(node)
        frequency[place], totals[place], sizes[place] = line[axes : axes + 3]
        weights[place], prints[place], largest = line[axes + 3 : axes + 6]
        asking[place], holding[place] = line[axes + 6 :]
        for j, one in enumerate(largest):
            top[place, j], who[place, j] = one["size"], -one["who"]
    return Tabulated(
        *(frequency, totals, sizes, weights, top, who, prints, scale, weight_scale, left_out),
        None if asked.request is None else asking,
        None if asked.waive is None else holding,
    )


# Rows of a data store as they are counted after an edit: a sample, with exchanged columns.


_NUMBERS = count()


class EditedRows:
    """A :class:`~dpdesk.core.tabulation.CellSource` over a table of its own in the database."""

    def __init__(
        self,
        con: DuckDBPyConnection,
        columns: Mapping[str, Column],
        edit: RowEdit,
        reading: Reading,
        path: Path,
        token: CancelToken,
    ) -> None:
        self._con, self._columns, self._reading, self._path = con, columns, reading, path
        self._table = f"edited{next(_NUMBERS)}"
        self.name, self.columns = path.name, tuple(columns)
        self.rows = int(edit.kept.sum())
        self._make(edit, token)
        weakref.finalize(self, _drop, con, self._table)

    def frequency_table(self, attributes: Sequence[str], token: CancelToken) -> FrequencyTable:
        """See :meth:`dpdesk.io.store.DataStore.frequency_table`."""
        columns = tuple(self._columns[name] for name in attributes)
        place = self._path, token, Origin(self._table)
        return _occurring(
            count_tuples(self._con, columns, self.rows, self._reading.missing, *place)
        )

    def tabulate(self, asked: Tabulation, token: CancelToken) -> Tabulated:
        """See :meth:`dpdesk.io.store.DataStore.tabulate`."""
        given = self._con, self._columns, asked, self._reading, self._path, token
        return tabulate(*given, self._table)

    def coded_columns(self, names: Sequence[str], token: CancelToken) -> tuple[CodedColumn, ...]:
        """Nothing asks edited rows one by one. Raises TypeError."""
        raise TypeError("edited rows are counted, not read")

    def edited(self, edit: RowEdit, token: CancelToken) -> EditedRows:
        """Edits are not laid upon each other. Raises TypeError."""
        raise TypeError("rows are edited once")

    def restricted(self, rule: RowRule, token: CancelToken) -> FrequencySource:
        """No method of tables restricts rows. Raises TypeError."""
        raise TypeError("edited rows are not restricted")

    def _make(self, edit: RowEdit, token: CancelToken) -> None:
        import pyarrow as pa

        rows = np.flatnonzero(edit.kept)
        places = pa.table({"place": pa.array(rows), "taken": pa.array(edit.taken[rows])})
        exchanged = {self._columns[name].sql for name in edit.columns}
        listed = ", ".join(
            f"{'other' if column.sql in exchanged else 'own'}.{column.sql} AS {column.sql}"
            for column in self._columns.values()
        )
        with query(self._con, token, self._path) as cursor:
            cursor.register("edit", places)
            cursor.execute(
                f"CREATE TABLE {self._table} AS SELECT {listed} FROM edit "
                f"JOIN {DATA} AS own ON own.rowid = edit.place "
                f"JOIN {DATA} AS other ON other.rowid = edit.taken ORDER BY edit.place"
            )


def _occurring(table: FrequencyTable) -> FrequencyTable:
    """The table without values that no row has any more."""
    codes, domains, missing = table.codes.copy(), [], []
    for place, (domain, gone) in enumerate(zip(table.domains, table.missing, strict=True)):
        used, codes[:, place] = np.unique(table.codes[:, place], return_inverse=True)
        domains.append(tuple(domain[code] for code in used.tolist()))
        missing.append(frozenset(n for n, code in enumerate(used.tolist()) if code in gone))
    return FrequencyTable(table.attributes, tuple(domains), codes, table.counts, tuple(missing))


def _drop(con: DuckDBPyConnection, table: str) -> None:
    import contextlib

    with contextlib.suppress(Exception):  # the store may be closed by then
        con.cursor().execute(f"DROP TABLE IF EXISTS {table}")
