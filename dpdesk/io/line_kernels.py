"""Compiled steps of lines: what is blank in them, and the fields of many rows put into them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel
from dpdesk.core.plain import BLANKS

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""
_FIRSTS = np.array([first for first, _ in BLANKS], np.int64)
_LASTS = np.array([last for _, last in BLANKS], np.int64)
_HIGH = 0x80


@kernel
def is_blank_point(point: int) -> bool:
    """Whether a code point is a blank (:data:`~dpdesk.core.plain.BLANKS`)."""
    for k in range(len(_FIRSTS)):
        if point <= _LASTS[k]:
            return bool(point >= _FIRSTS[k])
    return False


@kernel
def blank_length(data: Array, at: int, stop: int) -> int:
    """How many bytes the blank at this place has in UTF-8; 0 for another character.

    -1 when the character goes on behind ``stop``.
    """
    first = int(data[at])
    more = 0 if first < _HIGH else 1 if first < 0xE0 else 2 if first < 0xF0 else 3
    if at + more >= stop:
        return -1
    point = first if more == 0 else first & (0x3F >> more)
    for j in range(more):
        point = point << 6 | int(data[at + 1 + j]) & 0x3F
    return 1 + more if is_blank_point(point) else 0


@kernel
def add_lengths(index: Array, offsets: Array, lengths: Array) -> None:
    """Add to each line the length of its field; text ``index[i]`` begins at ``offsets[index]``."""
    for i in range(len(index)):
        place = int(index[i])
        lengths[i] += offsets[place + 1] - offsets[place]


@kernel
def put_fields(index: Array, offsets: Array, data: Array, ends: Array, buffer: Array) -> None:
    """Copy each line's field to where the line ends so far, and move its end along."""
    for i in range(len(index)):
        place, at = int(index[i]), ends[i]
        for source in range(offsets[place], offsets[place + 1]):
            buffer[at] = data[source]
            at += 1
        ends[i] = at


@kernel
def put_byte(byte: int, ends: Array, buffer: Array) -> None:
    """Write one byte at the end of every line, and move the ends along."""
    for i in range(len(ends)):
        buffer[ends[i]] = byte
        ends[i] += 1


@kernel
def gather(codes: Array, order: Array, found: Array) -> None:
    """``found[i] = codes[order[i]]``."""
    for i in range(len(order)):
        found[i] = codes[order[i]]


@kernel
def repeat_lines(offsets: Array, data: Array, times: Array, state: Array, buffer: Array) -> int:
    """Fill a buffer with lines, each written so often as ``times`` says; how many bytes it holds.

    ``state`` says where to go on: line, how often it stands there already, and all lines so far.
    """
    filled = 0
    while state[0] < len(times):
        first, last = offsets[state[0]], offsets[state[0] + 1]
        room = (len(buffer) - filled) // (last - first)
        fits = min(times[state[0]] - state[1], room)
        for _ in range(fits):
            for place in range(first, last):
                buffer[filled] = data[place]
                filled += 1
        state[1] += fits
        state[2] += fits
        if state[1] < times[state[0]]:
            break
        state[0] += 1
        state[1] = 0
    return filled
