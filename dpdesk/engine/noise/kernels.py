"""Compiled look-ups of random words in tables of thresholds.

A table has ascending ``thresholds``, each the whole part of (cumulative probability)·2^w for words
of w bits, and a ``guide`` with one entry for each value of a word's leading bits (``word >>
shift``): an index j ≥ 0 where every word of that bucket means j, else −1 − j where the search
starts at j. A word means the number of thresholds that are not above it. A word equal to a
threshold may lie on either side of the true probability: it is never decided here, but listed for
whoever can draw more bits.
"""

from __future__ import annotations

from typing import Any

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


@kernel
def look_up(
    words: Array, guide: Array, thresholds: Array, shift: int, last: int, found: Array, open_: Array
) -> int:
    """Write what each word means to ``found``; the number of undecided ones, listed in ``open_``.

    A word is undecided where it equals a threshold, or means more than ``last``. What ``found``
    holds for it has no meaning.
    """
    size, undecided = len(thresholds), 0
    for i in range(len(words)):
        word = words[i]
        entry = guide[word >> shift]
        if entry < 0:
            place = -1 - entry
            while place < size and thresholds[place] <= word:
                place += 1
            if place > last or (place > 0 and thresholds[place - 1] == word):
                open_[undecided] = i
                undecided += 1
            entry = place
        found[i] = entry
    return undecided


@kernel
def fold_in(found: Array, weight: int, folded: Array) -> None:
    """Add digits of this weight to magnitudes, which stand above their sign bit."""
    for i in range(len(found)):
        folded[i] += 2 * weight * found[i]


@kernel
def start_folded(found: Array, weight: int, folded: Array) -> None:
    """Begin magnitudes with their leading digit: ``found`` is 2·digit + sign bit."""
    for i in range(len(found)):
        folded[i] = (found[i] >> 1) * (2 * weight) + (found[i] & 1)


@kernel
def unfold(folded: Array) -> None:
    """Turn 2·magnitude + sign bit into magnitude or −1 − magnitude."""
    for i in range(len(folded)):
        folded[i] = (folded[i] >> 1) ^ -(folded[i] & 1)
