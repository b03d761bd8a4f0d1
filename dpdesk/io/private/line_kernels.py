"""Compiled steps from the bytes of a text to the fields of its lines, a line at a time.

What becomes of a line depends on its own bytes alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel
from dpdesk.io.line_kernels import blank_length

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""
_LF, _CR, _END, _HIGH = 0x0A, 0x0D, 0x1A, 0x80
_PACKED, _SIZE = 14, np.uint64(56)
"""The most bytes of a field that are told by two numbers, of which the second has their number."""
_NO_FIELD, _FACTOR = np.uint64((1 << 64) - 1), np.uint64(0x369DEA0F31A53F85)
_MOST_TRIES = 1_000
"""Places that are looked at for a field: a file whose fields were made to share one ends here."""


@kernel
def blanks_end(data: Array, start: int, stop: int) -> int:
    """Behind the blanks (:data:`~dpdesk.core.plain.BLANKS`) at the beginning of bytes in UTF-8."""
    at = start
    while at < stop:
        length = blank_length(data, at, stop)
        if length <= 0:
            return at
        at += length
    return at


@kernel
def find_lines(data: Array, size: int, starts: Array, stops: Array, blanks: bool) -> int:
    """Where the lines of ``data[:size]`` begin and end; how many there are.

    LF, CR and CR LF end a line. A byte order mark at its beginning and end-of-file bytes (0x1A) at
    its end, with which old programs fill a block, are no part of it. A line of nothing is none, and
    with ``blanks`` one of blanks alone.
    """
    found = begin = 0
    for at in range(size + 1):
        if at < size and data[at] != _LF and data[at] != _CR:
            continue
        first = begin
        if (
            at - first >= 3
            and data[first] == 0xEF
            and data[first + 1] == 0xBB
            and data[first + 2] == 0xBF
        ):
            first += 3
        last = at
        while last > first and data[last - 1] == _END:
            last -= 1
        empty = last == first
        if not empty and blanks and blanks_end(data, first, last) == last:
            empty = is_text(data, first, last)
        if not empty:
            starts[found] = first
            stops[found] = last
            found += 1
        begin = at + 1
    return found


@kernel
def is_text(data: Array, start: int, stop: int) -> bool:
    """Whether bytes are UTF-8 without NUL."""
    at = start
    while at < stop:
        first = int(data[at])
        at += 1
        if first < _HIGH:
            if first == 0:
                return False
            continue
        low, high = 0x80, 0xBF
        if 0xC2 <= first <= 0xDF:
            more = 1
        elif 0xE0 <= first <= 0xEF:
            more = 2
            if first == 0xE0:
                low = 0xA0
            elif first == 0xED:
                high = 0x9F
        elif 0xF0 <= first <= 0xF4:
            more = 3
            if first == 0xF0:
                low = 0x90
            elif first == 0xF4:
                high = 0x8F
        else:
            return False
        if at + more > stop:
            return False
        for _ in range(more):
            if data[at] < low or data[at] > high:
                return False
            low, high = 0x80, 0xBF
            at += 1
    return True


@kernel
def protects(data: Array, at: int, stop: int, marks: Array) -> bool:
    """Whether the escape stands here, in front of a delimiter, a quote or itself.

    Before anything else it is a character like any other.
    """
    if marks[2] < 0 or data[at] != marks[2] or at + 1 >= stop:
        return False
    behind = data[at + 1]
    return bool(behind == marks[0] or behind == marks[1] or behind == marks[2])


@kernel
def quoted_end(data: Array, start: int, stop: int, marks: Array) -> Any:
    """Where a quoted field ends (behind its last quote; -1: nowhere), and the bytes that it has."""
    at, size, quote, escapes = start, 0, marks[1], marks[2] >= 0
    while at < stop:
        if escapes and protects(data, at, stop, marks):
            at += 2
        elif data[at] != quote:
            at += 1
        elif at + 1 < stop and data[at + 1] == quote:
            at += 2
        else:
            return at + 1, size
        size += 1
    return -1, size


@kernel
def split_line(
    data: Array,
    start: int,
    stop: int,
    marks: Array,
    places: Array,
    line: int,
    firsts: Array,
    sizes: Array,
) -> int:
    """Find the wanted fields of one line; 0 when it has not as many fields as it should.

    2 when one of them holds more than blanks, else 1.

    ``marks`` are delimiter, quote, escape (-1: none) and whether blanks before a field are no part
    of it; ``places[k]`` is where field ``k`` goes, -1 for one that nobody wants. ``firsts`` tells
    where it begins, as ``4 · place``, 1 more for one in quotes and 2 more where bytes of it do not
    count (:func:`hides`). Surplus empty fields are none.
    """
    delimiter, quote, escapes, skips = marks[0], marks[1], marks[2] >= 0, marks[3]
    at, k, found = start, 0, 1
    while True:
        while skips and at < stop and data[at] == 0x20:
            at += 1
        if quote >= 0 and at < stop and data[at] == quote:
            end, size = quoted_end(data, at + 1, stop, marks)
            if end < 0 or (end < stop and data[end] != delimiter):
                return 0
            begin, last, first = at + 1, end - 1, 1
        else:
            end, begin, first, size = at, at, 0, 0
            if escapes:
                while end < stop and data[end] != delimiter:
                    end += 2 if protects(data, end, stop, marks) else 1
                    size += 1
            else:
                while end < stop and data[end] != delimiter:
                    end += 1
                size = end - begin
            last = end
        if found == 1 and blanks_end(data, begin, last) < last:
            found = 2
        first += 4 * begin + (2 if last - begin > size else 0)
        if k < len(places):
            if places[k] >= 0:
                firsts[line, places[k]] = first
                sizes[line, places[k]] = size
        elif size > 0:
            return 0
        k += 1
        if end >= stop:
            return found if k >= len(places) else 0
        at = end + 1


@kernel
def split_lines(
    data: Array,
    starts: Array,
    stops: Array,
    marks: Array,
    places: Array,
    longest: int,
    plain: bool,
    firsts: Array,
    sizes: Array,
    filled: Array,
) -> int:
    """Find the wanted fields of all lines; how many lines are unreadable.

    ``plain`` says that all bytes are known to be ASCII without NUL.

    Fields of these have the place -1 and the size 4, which is that of the sign put for them. Places
    and sizes stand by line and column, in the order in which they are found.
    ``filled`` tells which lines hold more than blanks, or are unreadable.
    """
    lost = 0
    for line in range(len(starts)):
        start, stop = starts[line], stops[line]
        good = 0
        if stop - start <= longest and (plain or is_text(data, start, stop)):
            good = split_line(data, start, stop, marks, places, line, firsts, sizes)
        filled[line] = good != 1
        if good == 0:
            lost += 1
            firsts[line, :] = -1
            sizes[line, :] = 4
    return lost


@kernel
def put_fields(
    data: Array, firsts: Array, sizes: Array, marks: Array, sign: Array, buffer: Array
) -> None:
    """Copy one column's fields into a buffer, one behind the other."""
    to = 0
    for line in range(len(firsts)):
        first, stop = firsts[line], to + sizes[line]
        if first < 0:
            for j in range(len(sign)):
                buffer[to + j] = sign[j]
            to = stop
            continue
        at, quoted, hidden = first >> 2, first & 1 == 1, first & 2 > 0
        while to < stop:
            if hidden:
                at += hides(data, at, quoted, marks)
            buffer[to] = data[at]
            at += 1
            to += 1


@kernel
def hides(data: Array, at: int, quoted: bool, marks: Array) -> bool:
    """Whether of two bytes the second counts: two quotes, or the sign of an escape and another."""
    return bool((quoted and data[at] == marks[1]) or protects(data, at, len(data), marks))


@kernel
def number_fields(
    data: Array,
    words: Array,
    firsts: Array,
    sizes: Array,
    marks: Array,
    slots: Array,
    single: Array,
    packs: Array,
    lines: Array,
    numbers: Array,
    counts: Array,
) -> None:
    """Number the fields of each column by what they hold, as they first occur.

    ``firsts`` and ``sizes`` stand by line and column, all else by column: ``numbers`` by line,
    ``counts`` how many there are, and ``lines[:, n]`` a line that holds what has the number n.
    ``slots`` are zeros, of each column a power of two; ``single`` are 256, for fields of one byte;
    ``packs[:, n]`` are short fields as two numbers (:func:`_packed`). ``words`` are the bytes of
    ``data``, eight in one, least first, and 24 or more behind them.
    A count of -1: there are more than ``lines`` has room for, or too many share a place in
    ``slots``. All columns of a line are looked at together, for they stand together.
    """
    room = lines.shape[1]
    for line in range(len(firsts)):
        for column in range(firsts.shape[1]):
            first, size = firsts[line, column], sizes[line, column]
            if counts[column] < 0:
                continue
            at, low, high = first >> 2, _NO_FIELD, _NO_FIELD
            if size == 1:
                if first & 2:
                    at += hides(data, at, first & 1 == 1, marks)
                held = single[column, data[at]]
            elif size <= _PACKED:
                low, high = _packed(data, words, first, size, marks)
                at = _free_or_known(packs, slots, column, low, high)
                held = slots[column, at] if at >= 0 else -1
            else:
                at = _free_or_same(data, firsts, sizes, marks, slots, lines, line, column)
                held = slots[column, at] if at >= 0 else -1
            if held == 0 and counts[column] < room:
                packs[column, counts[column], 0] = low
                packs[column, counts[column], 1] = high
                lines[column, counts[column]] = line
                held = counts[column] + 1
                counts[column] = held
                if size == 1:
                    single[column, data[at]] = held
                else:
                    slots[column, at] = held
            elif held <= 0:
                counts[column] = -1
            numbers[column, line] = held - 1


@kernel
def _packed(data: Array, words: Array, first: int, size: int, marks: Array) -> Any:
    """The bytes of a field and how many these are as two numbers; unreadable ones share theirs."""
    if first < 0:
        return np.uint64(0), np.uint64(_PACKED + 1) << _SIZE
    if first & 2 == 0:
        # A field in two looks without a loop: how long it is cannot be foreseen.
        half = min(size, 7)
        low, high = _word(words, first >> 2, half), _word(words, (first >> 2) + 7, size - half)
        return low, high | np.uint64(size) << _SIZE
    low, high, at = np.uint64(0), np.uint64(0), first >> 2
    for n in range(size):
        at += hides(data, at, first & 1 == 1, marks)
        if n < 7:
            low |= np.uint64(data[at]) << np.uint64(8 * n)
        else:
            high |= np.uint64(data[at]) << np.uint64(8 * (n - 7))
        at += 1
    return low, high | np.uint64(size) << _SIZE


@kernel
def _word(words: Array, at: int, size: int) -> Any:
    """Up to seven bytes from a place as a number, the first one as its last digits."""
    place, shift = at >> 3, np.uint64(8 * (at & 7))
    behind = (words[place + 1] << np.uint64(1)) << (np.uint64(63) - shift)
    return (words[place] >> shift | behind) & ((np.uint64(1) << np.uint64(8 * size)) - np.uint64(1))


@kernel
def _free_or_known(packs: Array, slots: Array, column: int, low: Any, high: Any) -> int:
    """The place in ``slots`` of a field by its two numbers, or a free one; -1: it is too far."""
    last = slots.shape[1] - 1
    mixed = (low ^ (high * _FACTOR)) * _FACTOR
    at = np.int64(mixed >> np.uint64(32)) & last
    for _ in range(_MOST_TRIES):
        held = slots[column, at] - 1
        if held < 0 or (packs[column, held, 0] == low and packs[column, held, 1] == high):
            return int(at)
        at = (at + 1) & last
    return -1


@kernel
def _free_or_same(
    data: Array,
    firsts: Array,
    sizes: Array,
    marks: Array,
    slots: Array,
    lines: Array,
    line: int,
    column: int,
) -> int:
    """The place in ``slots`` of what a field holds, or a free one; -1 where it is too far."""
    first, size, last = firsts[line, column], sizes[line, column], slots.shape[1] - 1
    begin, straight = first >> 2, first >= 0 and first & 2 == 0
    at = 0x811C9DC5  # the hash FNV-1a, in 32 bits
    if not straight:
        at = _hidden_hash(data, first, size, marks)
    else:
        for j in range(begin, begin + size):
            at = ((at ^ int(data[j])) * 0x01000193) & 0xFFFFFFFF
    at = (at ^ (at >> 16)) & last
    for _ in range(_MOST_TRIES):
        if slots[column, at] == 0:
            return int(at)
        other = lines[column, slots[column, at] - 1]
        if sizes[other, column] == size:
            known = firsts[other, column]
            if not straight or known < 0 or known & 2 > 0:
                same = _same_field(data, first, known, size, marks)
            else:
                same, shift = True, (known >> 2) - begin
                for j in range(begin, begin + size):
                    same = same and data[j] == data[j + shift]
            if same:
                return int(at)
        at = (at + 1) & last
    return -1


@kernel
def _hidden_hash(data: Array, first: int, size: int, marks: Array) -> int:
    """The hash of a field of which bytes do not count; unreadable ones share theirs."""
    made, at, quoted = 0x811C9DC5, first >> 2, first & 1 == 1
    for _ in range(size if first >= 0 else 0):
        at += hides(data, at, quoted, marks)
        made = ((made ^ int(data[at])) * 0x01000193) & 0xFFFFFFFF
        at += 1
    return made


@kernel
def _same_field(data: Array, first: int, other: int, size: int, marks: Array) -> bool:
    """Whether two fields of so many bytes hold the same."""
    if first < 0 or other < 0:
        return first == other
    at, behind = first >> 2, other >> 2
    for _ in range(size):
        if first & 2:
            at += hides(data, at, first & 1 == 1, marks)
        if other & 2:
            behind += hides(data, behind, other & 1 == 1, marks)
        if data[at] != data[behind]:
            return False
        at += 1
        behind += 1
    return True


@kernel
def are_texts(data: Array, ends: Array, good: Array) -> None:
    """Which values are UTF-8 without NUL; value ``i`` begins at ``ends[i]``."""
    for i in range(len(good)):
        good[i] = is_text(data, ends[i], ends[i + 1])
