"""Compressed rows of SAS files, unpacked: run lengths (RLE) and Ross data compression (RDC).

RLE as "SAS7BDAT Database Binary Format" (M. Shotwell, C. Cummins) describes it, with the commands
1, 2, 4 and 5 that it had not met; RDC after E. Ross, The C Users Journal 10(10), 1992, table 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

# By the upper half of a control byte of RLE: the least number of bytes that it copies or fills in
# (0: none), whether the number goes on in the next byte, and what it fills in (-1: the next byte).
_COPIED = np.array([64, 4160, 96, 0, 0, 0, 0, 0, 1, 17, 33, 49, 0, 0, 0, 0], np.int64)
_FILLED = np.array([0, 0, 0, 0, 18, 17, 17, 17, 0, 0, 0, 0, 3, 2, 2, 2], np.int64)
_LONGER = np.array([1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], np.bool_)
_FILL = np.array([0, 0, 0, 0, -1, 64, 32, 0, 0, 0, 0, 0, -1, 64, 32, 0], np.int64)


@kernel
def unpack_rle(raw: Bytes, start: int, stop: int, row: Bytes) -> bool:
    """Unpack the bytes from ``start`` to ``stop`` into ``row``; False unless they fill it."""
    at, made, size = start, 0, len(row)
    while at < stop:
        command, more = np.int64(raw[at]) >> 4, np.int64(raw[at]) & 15
        if at + int(_LONGER[command]) + int(_FILL[command] < 0) >= stop:
            return False
        at += 1
        if _LONGER[command]:
            more = np.int64(raw[at]) + 256 * more
            at += 1
        fill = _FILL[command]
        if fill < 0:
            fill = np.int64(raw[at])
            at += 1
        copies = _COPIED[command] > 0
        count = more + _COPIED[command] + _FILLED[command]
        if command == 3 or made + count > size or (copies and at + count > stop):
            return False
        for k in range(made, made + count):
            row[k] = raw[at + k - made] if copies else fill
        made += count
        if copies:
            at += count
    return bool(made == size)


@kernel
def unpack_rdc(raw: Bytes, start: int, stop: int, row: Bytes) -> bool:
    """Unpack the bytes from ``start`` to ``stop`` into ``row``; False unless they fill it."""
    at, made, bits, left = start, 0, np.int64(0), 0
    while at < stop and made < len(row):
        if left == 0:
            if at + 2 > stop:
                return False
            bits, left = np.int64(raw[at]) << 8 | np.int64(raw[at + 1]), 16
            at += 2
            continue
        left -= 1
        if not bits >> left & 1:
            row[made] = raw[at]
            at, made = at + 1, made + 1
            continue
        command, low = np.int64(raw[at]) >> 4, np.int64(raw[at]) & 15
        needed = 3 if command == 1 or command == 2 else 2
        if at + needed > stop:
            return False
        far = low + 3 + 16 * np.int64(raw[at + 1])
        back, count = far, command
        if command == 0:
            back, count = np.int64(0), low + 3
        elif command == 1:
            back, count = np.int64(0), far + 16
        elif command == 2:
            count = np.int64(raw[at + 2]) + 16
        if made + count > len(row) or back > made:
            return False
        for k in range(made, made + count):
            row[k] = row[k - back] if back else raw[at + needed - 1]
        at, made = at + needed, made + int(count)
    return bool(made == len(row))


@kernel
def unpack_rows(
    raw: Bytes, starts: Places, sizes: Places, packed: Bytes, rdc: bool, rows: Bytes
) -> int:
    """Unpack one row after the other; the number of rows before the first that cannot be."""
    for k in range(len(starts)):
        start, stop = starts[k], starts[k] + sizes[k]
        if packed[k] == 0:
            if sizes[k] != rows.shape[1]:
                return k
            for b in range(rows.shape[1]):
                rows[k, b] = raw[start + b]
        elif rdc:
            if not unpack_rdc(raw, start, stop, rows[k]):
                return k
        elif not unpack_rle(raw, start, stop, rows[k]):
            return k
    return len(starts)
