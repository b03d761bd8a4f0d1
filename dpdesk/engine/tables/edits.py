"""Microdata steps before a table is counted: a random sample, and swapping of matched households.

Both are decided by secret keys of rows, which are drawn once and kept, so that the same plan always
has the same sample and the same swaps. Units are households, or rows where nothing says which
belong together.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.tables.model import Flags, Ints

Keys = NDArray[np.uint64]
_WORD = 64


@dataclass(frozen=True, eq=False)
class Units:
    """Rows that belong together: ``of`` each row its unit, ``first`` of each unit its first row."""

    of: Ints
    first: Ints

    @classmethod
    def by(cls, codes: Ints) -> Units:
        """Rows with the same code."""
        _, first, of = np.unique(codes, return_index=True, return_inverse=True)
        return cls(of.astype(np.int64), first.astype(np.int64))

    def __len__(self) -> int:
        return len(self.first)


def number_of(share: Fraction, units: int) -> int:
    """So many units are a share of them: the nearest whole number, halves upwards."""
    return math.floor(share * units + Fraction(1, 2))


def sampled(units: Units, share: Fraction, keys: Keys) -> Flags:
    """The rows of a simple random sample of whole units: those with the smallest keys.

    ``keys`` has one for each row; that of a unit is the one of its first row.
    """
    wanted = number_of(share, len(units))
    chosen = np.zeros(len(units), dtype=bool)
    chosen[np.lexsort((units.first, keys[units.first]))[:wanted]] = True
    found: Flags = chosen[units.of]
    return found


def swapped(
    units: Units, places: Ints, marks: Ints, share: Fraction, keys: Keys, free: Flags
) -> Ints:
    """For each row, the row from which it has its place after the swap; itself, for most.

    Units are matched where their rows have the same values in the columns of ``marks``, shape
    (rows, columns), one by one in any order. A share of all units changes places (codes of
    ``places``, alike in each unit) with a matched one from another place, each once, or as many as
    can. Rare ones are the likelier: the chance falls with the number of matched units in the same
    place. Rows that are not ``free`` stay where they are.
    """
    kinds, own = _kinds(units, marks), places[units.first]
    _, group = np.unique(np.stack([kinds, own]), axis=1, return_inverse=True)
    alike = np.bincount(group.ravel())[group.ravel()]
    drawn = (keys[units.first].astype(np.float64) + 0.5) / 2.0**_WORD
    order = np.lexsort((units.first, -np.log(drawn) * alike))
    open_ = np.ones(len(units), dtype=bool)
    np.logical_and.at(open_, units.of, free)
    partner = np.arange(len(units))
    for one, other in _pairs(order[open_[order]], kinds, own, number_of(share / 2, len(units))):
        partner[one], partner[other] = other, one
    moved = partner != np.arange(len(units))
    rows = np.arange(len(units.of))
    taken: Ints = np.where(moved[units.of], units.first[partner[units.of]], rows)
    return taken


def _kinds(units: Units, marks: Ints) -> Ints:
    """Of each unit, a number that matched units share."""
    if marks.shape[1]:
        _, kind = np.unique(marks, axis=0, return_inverse=True)
    else:
        kind = np.zeros(len(marks), dtype=np.int64)
    order = np.lexsort((kind.ravel(), units.of))
    inside = kind.ravel()[order].astype(np.int64)
    ends = np.cumsum(np.bincount(units.of, minlength=len(units))).tolist()
    known: dict[bytes, int] = {}
    found, start = [], 0
    for end in ends:
        found.append(known.setdefault(inside[start:end].tobytes(), len(known)))
        start = end
    return np.array(found, dtype=np.int64)


def _pairs(order: Ints, kinds: Ints, places: Ints, wanted: int) -> list[tuple[int, int]]:
    """Pairs of one kind from two places, the first in the order with the first that it can have."""
    rank = {unit: at for at, unit in enumerate(order.tolist())}
    waiting: dict[int, dict[int, deque[int]]] = {}
    for unit in order.tolist():
        of_kind = waiting.setdefault(int(kinds[unit]), {})
        of_kind.setdefault(int(places[unit]), deque()).append(unit)
    found: list[tuple[int, int]] = []
    used: set[int] = set()
    for unit in order.tolist():
        if len(found) == wanted:
            break
        if unit in used:
            continue
        heads = []
        for place, queue in waiting[int(kinds[unit])].items():
            while queue and queue[0] in used:
                queue.popleft()
            if queue and place != places[unit]:
                heads.append(queue[0])
        if heads:
            other = min(heads, key=rank.__getitem__)
            used |= {unit, other}
            found.append((unit, other))
    return found
