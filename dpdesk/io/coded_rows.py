"""Rows as codes in memory: counted as they lie there, and made a table only where that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import DATA
from dpdesk.io.database import query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_PIECE = 1 << 19
_MOST_CELLS, _CELLS_EACH = 1 << 24, 16
"""Cells, in all and for each row, that are counted by their places; keys of more are sorted."""
_WAITING = 1 << 24
"""Keys that are sorted at once; all those of very many rows would take more than their codes."""
_FEW_CELLS = (1 << 16) - 1
"""Cells whose keys fit two bytes, of which a processor makes many at once."""


@dataclass(frozen=True, eq=False)
class CodedRows:
    """All rows of a source: for each column c0, c1, … its values by code point, and codes of these.

    Each value occurs; ``codes`` are as narrow as the number of values allows.
    """

    domains: tuple[tuple[str, ...], ...] = field(repr=False)
    codes: tuple[NDArray[np.unsignedinteger[Any]], ...] = field(repr=False)
    rows: int

    def place(self, sql: str) -> int:
        """The place of a column by its name in SQL."""
        return int(sql.removeprefix("c"))

    def count(
        self, places: Sequence[int], token: CancelToken
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The keys that occur for some columns, ascending, and their rows.

        A key is the codes of the columns as the digits of one number, which must fit 63 bits.
        """
        sizes = [len(self.domains[place]) for place in places]
        space = prod(sizes)
        if space <= min(_MOST_CELLS, _CELLS_EACH * self.rows):
            return self._by_place(places, sizes, space, token)
        return self._by_key(places, sizes, token)

    def _by_key(
        self, places: Sequence[int], sizes: Sequence[int], token: CancelToken
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        found, rows = np.empty(0, np.int64), np.empty(0, np.int64)
        keys: list[NDArray[np.int64]] = []
        for start in range(0, self.rows, _PIECE):
            token.check()
            keys.append(self._keys(places, sizes, slice(start, start + _PIECE)))
            # Keys wait until they are as many as those that are known, so each is merged few times.
            if len(keys) * _PIECE >= max(_WAITING, len(found)):
                found, rows = _merged(found, rows, keys)
                keys = []
        return _merged(found, rows, keys) if keys else (found, rows)

    def _by_place(
        self, places: Sequence[int], sizes: Sequence[int], space: int, token: CancelToken
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from dpdesk.io.count_kernels import add_ones

        counts = np.zeros(space, np.int64)
        kind: type[np.integer[Any]] = np.uint16 if space <= _FEW_CELLS else np.int64
        for start in range(0, self.rows, _PIECE):
            token.check()
            add_ones(self._keys(places, sizes, slice(start, start + _PIECE), kind), counts)
        found = np.flatnonzero(counts)
        return found, counts[found]

    def _keys(
        self,
        places: Sequence[int],
        sizes: Sequence[int],
        piece: slice,
        kind: type[Any] = np.int64,
    ) -> NDArray[Any]:
        keys = np.zeros(len(self.codes[places[0]][piece]), kind)
        for place, size in zip(places, sizes, strict=True):
            keys *= size
            # Codes below their number of values fit, whatever holds them.
            np.add(keys, self.codes[place][piece], out=keys, casting="unsafe")
        return keys

    def make_table(self, con: DuckDBPyConnection, place: Path, token: CancelToken) -> None:
        """Make the table ``data`` of all rows. Raises StorageError, Cancelled."""
        import pyarrow as pa

        values = [pa.array(domain, pa.string()) for domain in self.domains]
        listed = ", ".join(f"c{j}::e{j} AS c{j}" for j in range(len(values)))
        made = f"CREATE OR REPLACE TABLE {DATA} AS"
        with query(con, token, place) as cursor:
            for j, each in enumerate(values):
                cursor.register("listed", pa.table({"v": each}))
                cursor.execute(f"CREATE OR REPLACE TYPE e{j} AS ENUM (SELECT v FROM listed)")
            for start in range(0, max(self.rows, 1), _PIECE):
                columns = {
                    f"c{j}": pa.DictionaryArray.from_arrays(pa.array(codes), each)
                    for j, (codes, each) in enumerate(
                        zip(
                            [codes[start : start + _PIECE] for codes in self.codes],
                            values,
                            strict=True,
                        )
                    )
                }
                cursor.register("piece", pa.table(columns))
                cursor.execute(f"{made} SELECT {listed} FROM piece")
                made = f"INSERT INTO {DATA}"


def _merged(
    found: NDArray[np.int64], rows: NDArray[np.int64], keys: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ascending keys and their rows with more keys, in any order, of a row each."""
    more = np.concatenate(keys)
    more.sort()
    starts = np.flatnonzero(np.diff(more, prepend=-1))
    new, counts = more[starts], np.diff(starts, append=len(more))
    if not len(found):
        return new, counts
    del more
    both = np.concatenate([found, new])
    order = np.argsort(both, kind="stable")  # two ascending runs, which it merges
    both = both[order]
    starts = np.flatnonzero(np.diff(both, prepend=-1))
    return both[starts], np.add.reduceat(np.concatenate([rows, counts])[order], starts)


def narrow(values: int) -> np.dtype[Any]:
    """The narrowest whole numbers that tell so many values apart."""
    return np.dtype("u1" if values <= 1 << 8 else "u2" if values <= 1 << 16 else "u4")
