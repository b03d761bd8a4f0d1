"""Compiled steps of counting rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


@kernel
def add_ones(places: Array, counts: Array) -> None:
    """Count each place once more for each time that it comes."""
    for place in places:
        counts[place] += 1


_MULTIPLIER = np.uint64(0x100000001B3)
_SHIFT = np.uint64(31)
_BLANK, _PLUS, _MINUS, _SMALL_E, _LARGE_E, _ZERO, _NINE = 32, 43, 45, 101, 69, 48, 57
_MOST_DIGITS, _MOST_WHOLE, _MOST_POWER = 17, 37, 280
OTHER, DECIMAL, INTEGER = range(3)
"""What texts are: integers, numbers of which some are no integers, or not shown to be numbers."""


@kernel
def _compared(data: Array, first: int, stop: int, start: int, end: int) -> int:
    """Below, above or equal to 0 as one text stands before, behind or is another, by bytes."""
    size = min(stop - first, end - start)
    for place in range(size):
        left, right = np.int64(data[first + place]), np.int64(data[start + place])
        if left != right:
            return int(left - right)
    return (stop - first) - (end - start)


@kernel
def count_texts(ends: Array, data: Array, seed: int, rows: Array, counts: Array) -> int:
    """How many different texts there are; the first row and the number of rows of each.

    Text i lies from ``ends[i]`` to ``ends[i + 1]`` in ``data``; ``rows`` and ``counts`` have room
    for all.
    """
    size = 16
    while size < 2 * (len(ends) - 1):
        size *= 2
    slots, hashes = np.full(size, -1, np.int32), np.empty(len(ends) - 1, np.uint64)
    known = 0
    for row in range(len(ends) - 1):
        first, stop = ends[row], ends[row + 1]
        mixed = np.uint64(seed)
        for place in range(first, stop):
            mixed = (mixed ^ np.uint64(data[place])) * _MULTIPLIER
        slot = np.int64((mixed ^ (mixed >> _SHIFT)) & np.uint64(size - 1))
        while True:
            text = slots[slot]
            if text < 0:
                slots[slot], rows[known], counts[known], hashes[known] = known, row, 1, mixed
                known += 1
                break
            other = rows[text]
            if hashes[text] == mixed and not _compared(
                data, first, stop, ends[other], ends[other + 1]
            ):
                counts[text] += 1
                break
            slot = (slot + 1) & (size - 1)
    return known


@kernel
def most_frequent(ends: Array, data: Array, counts: Array, best: Array) -> int:
    """The places of the most frequent texts, ties by code point; how many of ``best`` it fills."""
    held = 0
    for text in range(len(counts)):
        place = held
        while place > 0:
            other = best[place - 1]
            order = counts[other] - counts[text]
            if order == 0:
                order = _compared(data, ends[text], ends[text + 1], ends[other], ends[other + 1])
            if order >= 0:
                break
            place -= 1
        if place == len(best):
            continue
        held = min(held + 1, len(best))
        for later in range(held - 1, place, -1):
            best[later] = best[later - 1]
        best[place] = text
    return held


@kernel
def _digits(data: Array, first: int, stop: int) -> int:
    """Where the digits that begin at ``first`` end."""
    while first < stop and _ZERO <= data[first] <= _NINE:
        first += 1
    return first


@kernel
def _number(data: Array, first: int, stop: int, mark: int) -> tuple[int, float]:
    """Whether a text is a number, and about which; OTHER too where its size is beyond comparing."""
    while first < stop and data[first] == _BLANK:
        first += 1
    while stop > first and data[stop - 1] == _BLANK:
        stop -= 1
    minus = first < stop and data[first] == _MINUS
    first += int(first < stop and (minus or data[first] == _PLUS))
    whole = _digits(data, first, stop)
    after = whole
    if whole < stop and data[whole] == mark:
        after = _digits(data, whole + 1, stop)
    if after - first - int(after > whole) == 0:
        return OTHER, 0.0
    power, at = 0, after
    if at < stop and (data[at] == _SMALL_E or data[at] == _LARGE_E):
        down = at + 1 < stop and data[at + 1] == _MINUS
        start = at + 1 + int(at + 1 < stop and (down or data[at + 1] == _PLUS))
        at = _digits(data, start, stop)
        if at == start:
            return OTHER, 0.0
        for place in range(start, at):
            power = min(10 * power + data[place] - _ZERO, 1_000)
        power = -power if down else power
    if at < stop or whole - first > _MOST_WHOLE:
        return OTHER, 0.0
    value, digits = np.int64(0), 0
    for place in range(first, after):
        if place == whole:
            continue
        digits += int(digits > 0 or data[place] != _ZERO)
        if digits <= _MOST_DIGITS:
            value = 10 * value + np.int64(data[place] - _ZERO)
            power -= int(place > whole)
        else:
            power += int(place < whole)
    if abs(power) > _MOST_POWER:
        return OTHER, 0.0
    found = float(value) * 10.0**power
    return (INTEGER if at == whole else DECIMAL), (-found if minus else found)


@kernel
def as_numbers(ends: Array, data: Array, mark: int, values: Array) -> int:
    """INTEGER or DECIMAL where all texts are numbers with this decimal mark, which ``values`` gets.

    The values are good for 14 digits. OTHER as soon as one text is not shown to be a number.
    """
    kind = INTEGER
    for text in range(len(values)):
        found, values[text] = _number(data, ends[text], ends[text + 1], mark)
        kind = min(kind, found)
        if kind == OTHER:
            break
    return kind
