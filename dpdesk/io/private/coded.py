"""Rows of a source for a private method, from a table of codes: each value is looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.source_spec import KEEP, SourceSpec
from dpdesk.io.coded_rows import CodedRows, narrow
from dpdesk.io.coding import texts
from dpdesk.io.database import query
from dpdesk.io.emptyrows import blank_sql
from dpdesk.io.formats.coded import CodedTable, most_coded
from dpdesk.io.formats.numbers import text_sql
from dpdesk.io.private.values import UNREADABLE, value_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from dpdesk.io.private.loading import RequestedColumns

Codes = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class _Told:
    """What the codes of a column stand for: its values, the place of each code, which are blank."""

    domain: list[str]
    places: NDArray[np.int64]
    blank: NDArray[np.bool_]


def take_codes(
    con: DuckDBPyConnection,
    path: Path,
    target: Path,
    spec: SourceSpec,
    wanted: RequestedColumns,
    table: CodedTable,
    token: CancelToken,
) -> CodedRows | None:
    """The rows that count, with the values of the wanted columns; None where these are too many.

    Raises StorageError, Cancelled.
    """
    kinds = dict(zip(wanted.places, wanted.kinds, strict=True))
    told = [
        _told(con, path, values, kinds.get(place), spec, token)
        for place, values in enumerate(table.values)
    ]
    codes, rows = _gathered(table, target, wanted.places, told, spec.empty_rows == KEEP, token)
    if any(len(told[place].domain) > most_coded(rows) for place in wanted.places):
        return None
    made = [
        occurring(each, told[place].domain)
        for each, place in zip(codes, wanted.places, strict=True)
    ]
    domains, kept = (tuple(parts) for parts in zip(*made, strict=True))
    return CodedRows(domains, kept, rows)


def _told(
    con: DuckDBPyConnection,
    path: Path,
    values: Any,
    kind: str | None,
    spec: SourceSpec,
    token: CancelToken,
) -> _Told:
    """What the codes of a column stand for, by the statements that read columns of texts."""
    import pyarrow as pa

    with query(con, token, path) as cursor:
        cursor.register("listed", pa.table({"v": values, "i": np.arange(len(values))}))
        held = str(cursor.execute("DESCRIBE SELECT v FROM listed").fetchall()[0][1])
        text = f"coalesce({text_sql('v', held)}, '')"
        how = (spec.missing, spec.decimal or ".", spec.date_order or "")
        value = "''" if kind is None else value_sql("f", kind, *how)
        found = cursor.sql(
            f"SELECT {value} AS t, {blank_sql('f')} AS b "
            f"FROM (SELECT {text} AS f, i FROM listed) ORDER BY i"
        ).to_arrow_table()
        cursor.unregister("listed")
    written = texts(found.column(0))
    domain = sorted(set(written))
    known = {text: place for place, text in enumerate(domain)}
    places = np.array([known[text] for text in written], np.int64)
    return _Told(domain, places, found.column(1).to_numpy(zero_copy_only=False).astype(np.bool_))


def _gathered(
    table: CodedTable,
    target: Path,
    wanted: Sequence[int],
    told: Sequence[_Told],
    keep: bool,
    token: CancelToken,
) -> tuple[list[Codes], int]:
    """The codes of the wanted columns, without rows of which all columns are blank."""
    kinds = [narrow(len(told[place].domain)) for place in wanted]
    codes: list[Codes] = [np.empty(table.rows, kind) for kind in kinds]
    places = [told[place].places.astype(kind) for place, kind in zip(wanted, kinds, strict=True)]
    rows = 0
    for batch in table.read(target):
        token.check()
        blank = None if keep else _blank_rows(batch, told)
        kept = len(batch[0]) if blank is None else int(len(blank) - blank.sum())
        for j, place in enumerate(wanted):
            found = batch[place] if blank is None else batch[place][~blank]
            codes[j][rows : rows + kept] = places[j][found]
        rows += kept
    return [each[:rows] for each in codes], rows


def _blank_rows(batch: Sequence[Codes], told: Sequence[_Told]) -> NDArray[np.bool_] | None:
    """Which rows hold no value; None where each row holds one."""
    blank: NDArray[np.bool_] | None = None
    for codes, each in zip(batch, told, strict=True):
        own = each.blank[codes]
        blank = own if blank is None else blank & own
        if not blank.any():
            return None
    return blank


def occurring(codes: Codes, domain: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """The values that occur, and the codes against these."""
    there = np.zeros(len(domain), np.bool_)
    there[codes] = True
    found = np.flatnonzero(there)
    if len(found) == len(domain):
        return tuple(domain), codes
    places = (np.cumsum(there) - 1).astype(narrow(len(found)))
    return tuple(domain[place] for place in found.tolist()), places[codes]


def lost_codes(coded: CodedRows, names: Sequence[str]) -> dict[str, object]:
    """How many values of each column are unreadable; see ``loading.lost_values``."""
    lost: dict[str, object] = {}
    for name, domain, codes in zip(names, coded.domains, coded.codes, strict=True):
        if UNREADABLE in domain:
            lost[name] = int((codes == domain.index(UNREADABLE)).sum())
    return {"unreadable_values": lost}
