"""Compiled steps of keyed row prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

_SHIFT = np.uint64(29)


@kernel
def print_texts(offsets: Array, data: Array, key: Array, prints: Array) -> None:
    """A print of each text: its bytes folded in one by one, under the key's two numbers."""
    for i in range(len(prints)):
        found = key[0]
        for place in range(offsets[i], offsets[i + 1]):
            found = (found ^ np.uint64(data[place])) * key[1]
            found ^= found >> _SHIFT
        prints[i] = found


@kernel
def fold_prints(rows: Array, index: Array, prints: Array, key: Array) -> None:
    """Fold the print of one more column, ``prints[index[i]]``, into the print of row i."""
    for i in range(len(rows)):
        found = (rows[i] ^ prints[int(index[i])]) * key[1] + key[0]
        rows[i] = found ^ (found >> _SHIFT)


@kernel
def count_apart(first: Array, second: Array, found: Array) -> None:
    """Count in ``found`` what only the first, and only the second of two sorted lists has."""
    i, j = 0, 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            i += 1
            j += 1
        elif first[i] < second[j]:
            found[0] += 1
            i += 1
        else:
            found[1] += 1
            j += 1
    found[0] += len(first) - i
    found[1] += len(second) - j
