"""The different values of each column of a delimited text, collected while its bytes are scanned.

With them a column is coded while the database reads it, and its texts are never kept twice. Nothing
depends on them but time and memory: the database reads every value by itself and refuses one that
was not collected; then, and for texts that this reading cannot take, columns are coded afterwards.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel
from dpdesk.io.formats.coded import most_coded

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

_AT, _RECORDS, _VALUES, _BYTES, _WANTS, _ODD = range(6)
_QUOTE, _LF, _CR = 34, 10, 13
_MULTIPLIER = np.uint64(0x100000001B3)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(31)
_LONGEST_RECORD = 16 << 20
MOST_HELD, _MOST_BYTES = 3_000_000, 128 << 20
"""Values, and bytes of values, of all columns together that are held while they are collected."""
_SOME_SHARE, _MARGIN = 1 / 16, 1.25
"""After this share of the text it is judged which columns have too many values: those with so many
times the most that may be."""
_KEPT_SHARE = 0.5
"""So much of that stays when the columns with most values are let go."""


class Values:
    """Collects the values of ``width`` columns, at most ``most`` of each, from chunks of a text.

    ``headers`` records at the beginning hold no values. ``size`` is how many bytes the text has:
    from it and the first records it is judged how many values a column will have.
    """

    def __init__(self, delimiter: str, width: int, headers: int, most: int, size: int) -> None:
        self._marks = np.array([ord(delimiter), headers, most, secrets.randbits(62)], np.int64)
        self._width = width
        self._most, self._size, self._read = most, size, 0
        self._state = np.zeros(6, np.int64)
        self._found = np.zeros(width, np.int64)
        self._slots: Array = np.zeros(1 << 12, np.uint64)
        self._owners: Array = np.zeros(1 << 11, np.int32)
        self._hashes: Array = np.zeros(1 << 11, np.uint64)
        self._ends: Array = np.zeros((1 << 11) + 1, np.int64)
        self._pool: Array = np.zeros(1 << 16, np.uint8)
        self._rest = b""

    def watched(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same chunks; the values of each are collected while the caller processes it."""
        with ThreadPoolExecutor(1, thread_name_prefix="values") as pool:
            for chunk in chunks:
                collected = pool.submit(self._add, chunk)
                yield chunk
                collected.result()
                self._read += len(chunk)
                self._foresee()
        if self._rest:
            self._add(b"\n")

    def _foresee(self) -> None:
        """Look for no more values of columns that will have too many, as far as can be told.

        A column whose 2m values are equally frequent shows 2m(1 - exp(-r / 2m)) of them in r rows,
        and more than m, the most that a column of this table may have, in all.
        """
        state, found = self._state, self._found
        records = float(state[_RECORDS])
        rows = records * max(1.0, self._size / self._read)
        if state[_ODD] or records < _SOME_SHARE * rows:
            return
        most = min(self._most, _MARGIN * most_coded(int(rows)))
        self._marks[2] = int(most)
        shown = 2 * most * -np.expm1(-records / (2 * most))
        found[found > shown] = -1

    def _add(self, chunk: bytes) -> None:
        state = self._state
        if state[_ODD]:
            return
        joined = bytearray(self._rest)
        joined += chunk
        data = np.frombuffer(joined, np.uint8)
        scratch = np.empty(len(data), np.uint8)
        state[_AT] = 0
        while True:
            state[_WANTS] = 0
            collect(
                *(data, self._marks, state, self._found, self._slots),
                *(self._owners, self._hashes, self._ends, self._pool, scratch),
            )
            if not state[_WANTS]:
                break
            if state[_VALUES] >= MOST_HELD or state[_BYTES] >= _MOST_BYTES:
                self._let_go()
            self._make_room(len(data))
        self._rest = data[int(state[_AT]) :].tobytes()
        if len(self._rest) > _LONGEST_RECORD:
            self._give_up()

    def _let_go(self) -> None:
        """Forget the values of the columns that have most, so that there is room for the others.

        What is left is half of what may be held, or the values of one column.
        """
        import pyarrow as pa

        values = int(self._state[_VALUES])
        owners, sizes = self._owners[:values], np.diff(self._ends[: values + 1])
        wanted = self._found >= 0
        held = np.bincount(owners, minlength=self._width) * wanted
        weights = np.bincount(owners, sizes, self._width) * wanted
        share = np.maximum(held / MOST_HELD, weights / _MOST_BYTES)
        order = np.argsort(share, kind="stable")
        gone = order[(np.cumsum(share[order]) > _KEPT_SHARE) & (held[order] > 0)]
        self._found[gone] = -1
        kept = self._found[owners] >= 0
        texts = self._texts().filter(pa.array(kept))
        count = len(texts)
        _, ends, pool = texts.buffers()
        room = len(self._owners)
        for name, found in (("_owners", owners[kept]), ("_hashes", self._hashes[:values][kept])):
            setattr(self, name, np.concatenate([found, np.zeros(room - count, found.dtype)]))
        self._ends = np.zeros(room + 1, np.int64)
        self._ends[: count + 1] = np.frombuffer(ends, np.int64, count + 1)
        used = int(self._ends[count])
        self._pool = np.zeros(len(self._pool), np.uint8)
        self._pool[:used] = np.frombuffer(pool, np.uint8, used) if used else 0
        self._state[_VALUES], self._state[_BYTES] = count, used
        self._slots = np.zeros(len(self._slots), np.uint64)
        place_again(self._hashes[:count], self._slots)

    def _texts(self) -> Any:
        """All values that are held, as an Arrow array."""
        import pyarrow as pa

        values = int(self._state[_VALUES])
        ends, pool = pa.py_buffer(self._ends[: values + 1]), pa.py_buffer(self._pool)
        return pa.Array.from_buffers(pa.large_string(), values, [None, ends, pool])

    def _give_up(self) -> None:
        """Nothing more is collected, and what was is forgotten."""
        self._state[_ODD] = 1
        self._rest = b""
        self._slots = self._owners = self._hashes = self._ends = self._pool = np.zeros(0)

    def _make_room(self, size: int) -> None:
        values, used = int(self._state[_VALUES]), int(self._state[_BYTES])
        if values == len(self._owners):
            self._owners, self._hashes = (
                np.concatenate([each, np.zeros_like(each)]) for each in (self._owners, self._hashes)
            )
            self._ends = np.concatenate([self._ends, np.zeros(values, np.int64)])
            self._slots = np.zeros(4 * values, np.uint64)
            place_again(self._hashes[:values], self._slots)
        if used + size > len(self._pool):
            self._pool = np.concatenate([self._pool, np.zeros(len(self._pool) + size, np.uint8)])

    def domains(self, width: int, rows: int, most: int) -> list[Any] | None:
        """The values of each column by code point, as Arrow arrays; None where they are too many.

        None for all where this is not the table of so many columns and rows.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        state = self._state
        if state[_ODD] or width != self._width or state[_RECORDS] - self._marks[1] != rows:
            return None
        values, texts = int(state[_VALUES]), self._texts()
        found: list[Any] = [None] * width
        order = np.argsort(self._owners[:values], kind="stable")
        bounds = np.searchsorted(self._owners[:values][order], np.arange(width + 1))
        for column, count in enumerate(self._found.tolist()):
            if 0 <= count <= most:
                mine = order[bounds[column] : bounds[column + 1]]
                own = texts.take(pa.array(mine, pa.int64()))
                found[column] = own.take(pc.array_sort_indices(own))
        return found


@kernel
def place_again(hashes: Array, slots: Array) -> None:
    """Fill an empty table with these hashes."""
    for mixed in hashes:
        slot = np.int64((mixed ^ (mixed >> _SHIFT)) & np.uint64(len(slots) - 1))
        while slots[slot]:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = mixed


@kernel
def _past_quotes(data: Array, at: int, scratch: Array) -> tuple[int, int]:
    """Copy a quoted value; where it ends, behind its quote, and its length. -1: not in the data."""
    length, i = 0, at + 1
    while i + 1 < len(data):
        if data[i] == _QUOTE:
            if data[i + 1] != _QUOTE:
                return i + 1, length
            i += 1
        scratch[length] = data[i]
        length, i = length + 1, i + 1
    return -1, 0


@kernel
def _added(
    column: int, text: Array, mixed: Any, slot: Any, most: int, state: Array, found: Array,
    slots: Array, owners: Array, hashes: Array, ends: Array, pool: Array,
) -> bool:  # fmt: skip
    """Add a new value of a column at a free slot; False where there is no room for it."""
    value, used = state[_VALUES], state[_BYTES]
    if value == len(owners) or used + len(text) > len(pool):
        state[_WANTS] = 1
        return False
    found[column] += 1
    if found[column] > most:
        found[column] = -1  # too many: no more are looked for
        return True
    pool[used : used + len(text)] = text
    slots[slot], owners[value], hashes[value] = mixed, column, mixed
    state[_VALUES], state[_BYTES] = value + 1, used + len(text)
    ends[value + 1] = used + len(text)
    return True


@kernel
def collect(
    data: Array, marks: Array, state: Array, found: Array, slots: Array,
    owners: Array, hashes: Array, ends: Array, pool: Array, scratch: Array,
) -> None:  # fmt: skip
    """Collect the values of whole records; ``state`` says where the first one begins that is not.

    A record is begun again where there was no room for a value, which adds nothing twice. Values
    are known by 64 bits: of two with the same, the second is not collected, which the database
    finds when it reads it.
    """
    delimiter, size, width, last_slot = marks[0], len(data), len(found), len(slots) - 1
    seed = np.uint64(marks[3])
    while True:
        i = state[_AT]
        for column in range(width):
            first, stop, length, mixed = i, i, 0, (seed ^ np.uint64(column)) * _SPREAD
            quoted, left = i < size and data[i] == _QUOTE, found[column] < 0
            if quoted:
                stop, length = _past_quotes(data, i, scratch)
                if stop < 0:
                    return
                for place in range(0 if left else length):
                    mixed = (mixed ^ np.uint64(scratch[place])) * _MULTIPLIER
            while left and stop < size and data[stop] != delimiter and data[stop] != _LF:
                stop += 1
            while stop < size and data[stop] != delimiter and data[stop] != _LF:
                if data[stop] != _CR:  # of the line end: a last line may have none
                    mixed = (mixed ^ np.uint64(data[stop])) * _MULTIPLIER
                stop += 1
            if stop >= size:
                return
            last = data[stop] == _LF
            state[_ODD] = int(last != (column == width - 1))
            if state[_ODD]:
                return
            i = stop + 1
            if left or state[_RECORDS] < marks[1]:
                continue
            if not quoted:
                length = stop - first
                length -= int(last and length > 0 and data[stop - 1] == _CR)
            mixed = max(mixed, np.uint64(1))  # 0 is a free slot
            slot = np.int64((mixed ^ (mixed >> _SHIFT)) & np.uint64(last_slot))
            while slots[slot] and slots[slot] != mixed:
                slot = (slot + 1) & last_slot
            if slots[slot]:
                continue
            text = scratch[:length] if quoted else data[first : first + length]
            place_of = state, found, slots, owners, hashes, ends, pool
            if not _added(column, text, mixed, slot, marks[2], *place_of):
                return
        state[_AT] = i
        state[_RECORDS] += 1


@kernel
def weigh_codes(
    codes: Array, lengths: Array, first: int, cycle: int, sums: Array, seen: Array
) -> None:
    """Add up the lengths of coded values, plain and by the weights of their rows; mark each code.

    ``first`` is the number of the first row; see ``scan.WEIGHTS`` for ``cycle``.
    """
    for i in range(len(codes)):
        code = codes[i]
        seen[code] = True
        sums[0] += lengths[code]
        sums[1] += lengths[code] * ((first + i) % cycle + 1)
