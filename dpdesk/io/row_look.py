"""Rows of the table ``data`` in another order, or some of them, found inside the database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.frequency import CellFilter, RowLook
from dpdesk.core.jobs import CancelToken
from dpdesk.core.schema import ColumnType
from dpdesk.io.coding import DATA, Column
from dpdesk.io.column_types import candidates
from dpdesk.io.database import literal, query
from dpdesk.io.missing import missing_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from dpdesk.io.reading import Reading


def rows_of(
    con: DuckDBPyConnection,
    columns: Mapping[str, Column],
    look: RowLook,
    reading: Reading,
    place: Path,
    token: CancelToken,
) -> NDArray[np.int64]:
    """The numbers (from 0) of the rows that are looked at, in their order."""
    kept = [_condition(columns, one, reading.missing) for one in look.filters]
    where = " AND ".join(f"({one})" for one in kept) or "true"
    order = _order(columns[look.column], look, reading) if look.column else "rowid"
    with query(con, token, place) as cursor:
        found = cursor.sql(f"SELECT rowid AS n FROM {DATA} WHERE {where} ORDER BY {order}")
        return np.asarray(found.to_arrow_table().column("n").to_numpy(), np.int64)


def _value(column: Column) -> str:
    return f"{column.sql}::VARCHAR"


def _absent(column: Column, missing: tuple[str, ...]) -> str:
    found = missing_sql(column, missing)
    return f"(SELECT {found} FROM (SELECT {_value(column)} AS v))" if found else "false"


def _order(column: Column, look: RowLook, reading: Reading) -> str:
    direction = "DESC" if look.descending else "ASC"
    keys = [
        one.order
        for one in candidates(reading.decimal)
        if one.kind is look.kind and one.date_order == look.date_order and one.order != "trim(v)"
    ]
    if look.kind not in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.DATE):
        keys = []
    value = f"CASE WHEN {_absent(column, reading.missing)} THEN NULL ELSE {_value(column)} END"
    parts = [f"lower({value})", value]
    if keys:
        parts.insert(0, f"(SELECT coalesce({', '.join(keys)}) FROM (SELECT {value} AS v))")
    return ", ".join((*(f"{one} {direction} NULLS LAST" for one in parts), "rowid"))


def _condition(columns: Mapping[str, Column], asked: CellFilter, missing: tuple[str, ...]) -> str:
    among = [columns[asked.column]] if asked.column else list(columns.values())
    if asked.text is None:
        parts = [_absent(one, missing) for one in among]
    elif asked.whole:
        parts = [f"{_value(one)} = {literal(asked.text)}" for one in among]
    else:
        part = literal(asked.text.lower())
        parts = [f"contains(lower({_value(one)}), {part})" for one in among]
    return f"{'NOT ' if asked.without else ''}({' OR '.join(parts)})"
