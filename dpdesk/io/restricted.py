"""Some rows of a data store, chosen in the database: see :class:`dpdesk.core.frequency.RowRule`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.frequency import FrequencyTable, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import DATA, Column
from dpdesk.io.counting import Origin, count_tuples
from dpdesk.io.database import query
from dpdesk.io.missing import condition

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

_PIECE = 10_000


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
        sql = " ".join([f"SELECT {shown} FROM {DATA}", *joins, *wanted])
        return Origin(f"({sql}) AS counted", self._lost)


def _code(column: Column) -> str:
    """What sorts a column as the codes of a frequency table do."""
    return column.sql if column.domain is None else f"enum_code({column.sql})"


def _texts(texts: Sequence[str]) -> pyarrow.Table:
    """One column ``v``, made in pieces, so that other threads get their turn."""
    import pyarrow as pa

    starts = range(0, len(texts), _PIECE)
    pieces = [pa.array(texts[start : start + _PIECE], pa.string()) for start in starts]
    return pa.table({"v": pa.chunked_array(pieces, pa.string())})
