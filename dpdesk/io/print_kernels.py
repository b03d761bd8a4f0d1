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
def count_apart(first: Array, times: Array, second: Array, others: Array, found: Array) -> None:
    """Count in ``found`` what only the first, and only the second of two sorted lists has.

    ``times`` and ``others`` are how often each stands there; the last holds for all behind it.
    """
    i, j, last, end = 0, 0, len(times) - 1, len(others) - 1
    while i < len(first) or j < len(second):
        only = j == len(second) or (i < len(first) and first[i] < second[j])
        value = first[i] if only else second[j]
        balance = 0
        while i < len(first) and first[i] == value:
            balance += times[min(i, last)]
            i += 1
        while j < len(second) and second[j] == value:
            balance -= others[min(j, end)]
            j += 1
        if balance > 0:
            found[0] += balance
        else:
            found[1] -= balance
