"""Rows of a data store as they are counted after an edit: a sample, with exchanged columns."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.frequency import CodedColumn, FrequencySource, FrequencyTable, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.core.tabulation import RowEdit, Tabulated, Tabulation
from dpdesk.io.coding import DATA, Column
from dpdesk.io.counting import Origin, count_tuples
from dpdesk.io.database import query
from dpdesk.io.reading import Reading
from dpdesk.io.tabulation import tabulate

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
