"""Lines of a text held as codes while they are read, as long as each column has few values.

Each different text is looked at once, by the statement that reads columns of texts; a table of many
columns in the database costs far more than its codes, and is made only where that is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.source_spec import KEEP, SourceSpec
from dpdesk.core.systems import memory
from dpdesk.io.coded_rows import CodedRows, narrow
from dpdesk.io.coding import texts
from dpdesk.io.csvload import RAW
from dpdesk.io.formats.coded import most_coded
from dpdesk.io.private.lines import NumberedTexts, SplitLines
from dpdesk.io.private.values import value_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_HELD, MOST_IN_ALL, LEAST_ROOM = 1 << 16, 1 << 20, 1 << 30
"""Different texts of a column and of all, and bytes of codes, of which an eighth of the computer's
memory is taken where that is more; beyond, lines go into the database, which has a limit of memory
and spills.
"""
MOST_COLUMNS = 1_000
_AT_ONCE = 128
"""Blocks whose codes are put together: small arrays would pin what is freed between them."""
Codes = NDArray[np.unsignedinteger[Any]]


class HeldLines:
    """Rows of the columns of these ``kinds``, line by line."""

    def __init__(self, kinds: Sequence[str], spec: SourceSpec) -> None:
        self._kinds, self._keep = kinds, spec.empty_rows == KEEP
        self._how = (spec.missing, spec.decimal or ".", spec.date_order or "")
        self._values: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
        self._places: list[dict[str, int]] = [{} for _ in kinds]
        self._blocks: list[list[Codes]] = []
        self._recent: list[list[Codes]] = []
        self._room, self._bytes, self._full = max(LEAST_ROOM, memory() // 8), 0, False

    def prepared(self, lines: SplitLines) -> list[NumberedTexts] | None:
        """What :meth:`take` takes of some lines, made by any thread; None where that is no use."""
        return None if self._full else lines.numbered(MOST_HELD, self._keep)

    def take(self, cursor: DuckDBPyConnection, prepared: Sequence[NumberedTexts] | None) -> bool:
        """Keep the next lines; False, from then on, where there is no room for more."""
        self._full = self._full or prepared is None
        if self._full or prepared is None:
            return False
        for kind in self._values:
            self._look_up(cursor, kind, [own for own, _ in prepared])
        codes: list[Codes] = []
        columns = zip(prepared, self._kinds, self._places, strict=True)
        for (own, numbers), kind, places in columns:
            values = self._values[kind]
            here = [places.setdefault(values[text], len(places)) for text in own]
            codes.append(np.array(here, narrow(len(places)))[numbers])
        self._recent.append(codes)
        if len(self._recent) >= _AT_ONCE:
            self._gather()
        self._bytes += sum(each.nbytes for each in codes)
        sizes = [len(places) for places in self._places]
        self._full = max(sizes) > MOST_HELD or sum(sizes) > MOST_IN_ALL or self._bytes > self._room
        return True

    def _gather(self) -> None:
        """Put the codes of the last blocks together, column by column."""
        if self._recent:
            self._blocks.append([np.concatenate(each) for each in zip(*self._recent, strict=True)])
            self._recent = []

    def _look_up(
        self, cursor: DuckDBPyConnection, kind: str, found: Sequence[Sequence[str]]
    ) -> None:
        """Note the values of the texts of columns of a kind that were not seen yet."""
        import pyarrow as pa

        known = self._values[kind]
        mine = [own for own, each in zip(found, self._kinds, strict=True) if each == kind]
        new = list(dict.fromkeys(text for own in mine for text in own if text not in known))
        if new:
            cursor.register("listed", pa.table({"v": pa.array(new, pa.large_string())}))
            value = value_sql("v", kind, *self._how)
            made = cursor.sql(f"SELECT {value} AS w FROM listed").to_arrow_table()
            known.update(zip(new, texts(made.column(0)), strict=True))
            cursor.unregister("listed")

    def coded(self) -> CodedRows | None:
        """All rows, held here no longer; None where lines are not held, or a column has too many
        values for codes.
        """
        self._gather()
        rows = sum(len(codes[0]) for codes in self._blocks)
        many = any(len(places) > most_coded(rows) for places in self._places)
        if many or self._full:
            return None
        domains = [tuple(sorted(places)) for places in self._places]
        columns: list[Codes] = []
        for places, domain in zip(self._places, domains, strict=True):
            kind, rank = narrow(len(domain)), {value: at for at, value in enumerate(domain)}
            ranks = np.array([rank[value] for value in places], kind)
            column, start = np.empty(rows, kind), 0
            for codes in self._blocks:
                own = codes.pop(0)
                np.take(ranks, own, out=column[start : start + len(own)], mode="clip")
                start += len(own)
            columns.append(column)
        self._blocks = []
        return CodedRows(tuple(domains), tuple(columns), rows)

    def put(self, cursor: DuckDBPyConnection) -> None:
        """Add the rows to the table ``raw``, if there are any, and hold them no longer."""
        self._gather()
        if not self._blocks:
            return
        import pyarrow as pa

        values = [pa.array(list(places), pa.string()) for places in self._places]
        listed = ", ".join(f"f{j} AS c{j}" for j in range(len(values)))
        for codes in self._blocks:
            arrays = [
                pa.DictionaryArray.from_arrays(pa.array(own.astype(np.int32)), each)
                for own, each in zip(codes, values, strict=True)
            ]
            names = [f"f{j}" for j in range(len(values))]
            cursor.register("block", pa.table(arrays, names=names))
            cursor.execute(f"INSERT INTO {RAW} SELECT {listed} FROM block")
            cursor.unregister("block")
        self._blocks = []
