"""Texts of a column as codes of its own values, and rows of such codes counted in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import Any, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.io.coding import texts

_KEY_BYTES = 8
_PIECE = 1 << 15
_PLACES_EACH = 8
"""Places that are marked at most for each row where groups are numbered without sorting."""
_MOST_KEYS = 1 << 62
"""Numbers of tuples that fit a key; with more, those that occur are numbered anew."""


class LaterTexts(Sequence[str]):
    """A domain whose Python texts are made when one is asked for; its length is known before."""

    def __init__(self, values: pa.Array) -> None:
        self.values = values

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return texts(self.values)

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        return self._texts[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __eq__(self, other: object) -> bool:
        return self._texts == (other._texts if isinstance(other, LaterTexts) else other)

    def __hash__(self) -> int:
        return hash(self._texts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} texts)"

    def copy(self) -> LaterTexts:
        """The same values, without the Python texts that were made."""
        return LaterTexts(self.values)

    def places(self, wanted: Sequence[str]) -> frozenset[int]:
        """Where texts are that occur, without making the others: they are in order."""
        found = ((self._place(text), text) for text in wanted)
        return frozenset(place for place, text in found if self._holds(place, text))

    def _place(self, text: str) -> int:
        """How many of the texts come before this one."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.values[middle].as_py() < text:
                low = middle + 1
            else:
                high = middle
        return low

    def _holds(self, place: int, text: str) -> bool:
        return place < len(self) and bool(self.values[place].as_py() == text)


def coded_texts(values: pa.ChunkedArray) -> tuple[NDArray[np.int32], LaterTexts]:
    """Codes of a text column against its own values, sorted by code point."""
    encoded = values.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    order = _order(encoded.dictionary)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    domain = LaterTexts(encoded.dictionary.take(pa.array(order)))
    return ranks[encoded.indices.to_numpy()], domain


def _order(values: pa.Array) -> NDArray[np.int64]:
    """The places of different texts in their order by code point.

    Their first bytes, as one number, tell nearly all apart; comparing texts is ten times slower.
    """
    wide = values.cast(pa.large_string())
    _, ends, data = wide.buffers()
    bounds = np.frombuffer(ends or bytes(8), np.int64)[wide.offset : wide.offset + len(wide) + 1]
    padded = np.frombuffer((data.to_pybytes() if data else b"") + bytes(_KEY_BYTES), np.uint8)
    keys, sizes = np.zeros(len(wide), np.uint64), np.diff(bounds)
    for place in range(_KEY_BYTES):
        byte = padded[bounds[:-1] + place] * (place < sizes)
        keys |= byte.astype(np.uint64) << np.uint64(8 * (_KEY_BYTES - 1 - place))
    order = np.argsort(keys)
    ordered = keys[order]
    if len(order) > 1 and bool((ordered[1:] == ordered[:-1]).any()):
        return np.asarray(pc.array_sort_indices(values).to_numpy(), np.int64)
    return np.asarray(order, np.int64)


def count_codes(
    codes: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int, token: CancelToken
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The different tuples of the codes of rows, in ascending order, and how often each comes.

    ``codes`` has one array of shape (rows,) for each column, below the size of the column. Raises
    Cancelled.
    """
    if prod(sizes) <= _MOST_KEYS:
        return _sorted_keys(codes, sizes, rows, token)
    groups, known = np.zeros(rows, np.int64), min(rows, 1)
    for column, size in zip(codes, sizes, strict=True):
        token.check()
        if known * size > _MOST_KEYS:
            groups, known = _numbered(groups, known)
            if known == rows:  # each is a tuple of its own: no column can tell more apart
                break
        groups, known = groups * size + column, known * size
    groups, known = _numbered(groups, known)
    first = np.empty(known, np.int64)
    first[groups[::-1]] = np.arange(rows - 1, -1, -1)
    found = np.empty((known, len(codes)), np.int32)
    for place, column in enumerate(codes):
        token.check()
        found[:, place] = column[first]
    return found, np.bincount(groups, minlength=known).astype(np.int64)


def _sorted_keys(
    codes: Sequence[NDArray[Any]], sizes: Sequence[int], rows: int, token: CancelToken
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """As :func:`count_codes`, where each tuple fits one 62-bit key."""
    keys = np.zeros(rows, np.int64)
    for column, size in zip(codes, sizes, strict=True):
        token.check()
        keys *= size
        keys += column
    keys.sort()
    token.check()
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    return digits(keys[starts], sizes), np.diff(starts, append=rows)


def digits(keys: NDArray[np.int64], sizes: Sequence[int]) -> NDArray[np.int32]:
    """The codes that make up keys: of shape (keys, columns), below the size of each column."""
    codes = np.empty((len(keys), len(sizes)), dtype=np.int32)
    for start in range(0, len(keys), _PIECE):  # as many as a processor's cache holds
        piece = slice(start, start + _PIECE)
        rest = keys[piece]
        for j in reversed(range(len(sizes))):
            above = rest // sizes[j]
            codes[piece, j] = rest - above * sizes[j]
            rest = above
    return codes


def _numbered(keys: NDArray[np.int64], limit: int) -> tuple[NDArray[np.int64], int]:
    """The rank of each key among those that occur, all below ``limit``, and how many these are."""
    if limit <= _PLACES_EACH * len(keys):
        seen = np.zeros(limit, np.bool_)
        seen[keys] = True
        ranks = np.cumsum(seen, dtype=np.int64)
        return ranks[keys] - 1, int(ranks[-1]) if limit else 0
    order = np.argsort(keys)
    ordered = keys[order]
    fresh = np.cumsum(np.diff(ordered, prepend=-1) > 0, dtype=np.int64)
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = fresh - 1
    return ranks, int(fresh[-1]) if len(keys) else 0
