"""Compiled steps that put the fields of many rows into one buffer of CSV lines."""

from __future__ import annotations

from typing import Any

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


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
