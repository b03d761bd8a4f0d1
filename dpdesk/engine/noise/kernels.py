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

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""
_ONE = np.uint64(1)


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


@kernel
def keep(
    blocks: Array, places: Array, words: Array, shift: int, block_bits: int, unit: float,
    half_rate: float, values: Array, verdicts: Array, open_: Array,
) -> int:  # fmt: skip
    """Propose start + place, with the block's sign, and judge whether the word keeps it.

    It is kept when the uniform number that the word begins lies below e^(−g), with
    g = place·(2·start + place)·half_rate. In double precision g has a relative error below 2^−49,
    so for g ≤ 1/2 the sum below is within 2^−43 of e^(−g): its remainder is below 2^−45, its twelve
    steps round by less than 2^−47 together. Within 2^−40 of it, and for greater g, nothing is
    decided: the number of those is returned and their places are listed in ``open_``. Since
    e^(−g) ≥ 1 − g, most words need no sum, and are judged first by all but their last bit, in a
    loop without branches. A zero is kept with one sign only.
    """
    below = 1.0 - 2.0**-40 - 2.0 * unit
    for i in range(len(blocks)):
        block, place = np.int64(blocks[i]), np.int64(places[i] >> shift)
        start, negative = (block >> 1) << block_bits, block & 1
        magnitude = start + place
        values[i] = (magnitude ^ -negative) + negative
        g = float(place) * float(start + magnitude) * half_rate
        uniform = float(np.int64(words[i] >> _ONE)) * (2.0 * unit)
        verdicts[i] = (uniform < below - g) & (magnitude >= negative)
    undecided = 0
    for i in range(len(blocks)):
        if verdicts[i] or (blocks[i] & 1 and values[i] == 0):
            continue
        start, place = np.int64(blocks[i] >> 1) << block_bits, np.int64(places[i] >> shift)
        g = float(place) * float(2 * start + place) * half_rate
        uniform = float(words[i]) * unit
        power = 1.0
        for step in range(12, 0, -1):
            power = 1.0 - g * power / step
        if g <= 0.5 and uniform + unit < power - 2.0**-40:
            verdicts[i] = 1
        elif g > 0.5 or uniform <= power + 2.0**-40:
            open_[undecided] = i
            undecided += 1
    return undecided
