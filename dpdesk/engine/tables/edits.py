"""Microdata steps before a table is counted: a random sample, and swapping of matched households.

Both are decided by secret keys of rows, which are drawn once and kept, so that the same plan always
has the same sample and the same swaps. Units are households, or rows where nothing says which
belong together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import Flags, Ints

Keys = NDArray[np.uint64]
_WORD = 64
_PIECE = 1 << 16


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
    units: Units,
    places: Ints,
    marks: Ints,
    share: Fraction,
    keys: Keys,
    free: Flags,
    token: CancelToken,
) -> Ints:
    """For each row, the row from which it has its place after the swap; itself, for most.

    Units are matched where their rows have the same values in the columns of ``marks``, shape
    (rows, columns), one by one in any order. A share of all units changes places (codes of
    ``places``, alike in each unit) with a matched one from another place, each once, or as many as
    can. Rare ones are the likelier: the chance falls with the number of matched units in the same
    place. Rows that are not ``free`` stay where they are. Raises Cancelled.
    """
    kinds, own = _kinds(units, marks, token), places[units.first]
    _, group = np.unique(np.stack([kinds, own]), axis=1, return_inverse=True)
    alike = np.bincount(group.ravel())[group.ravel()]
    drawn = (keys[units.first].astype(np.float64) + 0.5) / 2.0**_WORD
    order = np.lexsort((units.first, -np.log(drawn) * alike))
    open_ = np.ones(len(units), dtype=bool)
    np.logical_and.at(open_, units.of, free)
    partner = np.arange(len(units))
    ones, others = _pairs(order[open_[order]], kinds, own, number_of(share / 2, len(units)), token)
    partner[ones], partner[others] = others, ones
    moved = partner != np.arange(len(units))
    rows = np.arange(len(units.of))
    taken: Ints = np.where(moved[units.of], units.first[partner[units.of]], rows)
    return taken


def _kinds(units: Units, marks: Ints, token: CancelToken) -> Ints:
    """Of each unit, a number that matched units share."""
    kind = np.zeros(len(marks), dtype=np.int64)
    for column in marks.T:
        token.check()
        _, kind = np.unique(kind * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    order = np.lexsort((kind, units.of))
    inside, size = kind[order], np.bincount(units.of, minlength=len(units))
    start = np.cumsum(size) - size
    found, seen = np.zeros(len(units), dtype=np.int64), 0
    for each in np.unique(size).tolist():
        token.check()
        same = np.flatnonzero(size == each)
        own = np.zeros(len(same), dtype=np.int64)
        for place in range(each):
            both = own * (int(kind.max(initial=0)) + 1) + inside[start[same] + place]
            _, own = np.unique(both, return_inverse=True)
        found[same] = own + seen
        seen += int(own.max(initial=-1)) + 1
    return found


def _pairs(
    order: Ints, kinds: Ints, places: Ints, wanted: int, token: CancelToken
) -> tuple[Ints, Ints]:
    """Pairs of one kind from two places, the first in the order with the first that it can have.

    Of a kind, those that have no partner yet are of one place: the next from another place goes
    with the first of them. So one pass is enough.
    """
    rank = np.arange(len(order))
    by_kind = np.lexsort((rank, kinds[order]))
    units = order[by_kind]
    kind, place = kinds[units].tolist(), places[units].tolist()
    first: list[int] = []
    second: list[int] = []
    before, start = -1, 0
    waiting: list[int] = []
    for at, (own, here) in enumerate(zip(kind, place, strict=True)):
        if at % _PIECE == 0:
            token.check()
        if own != before:
            before, start, waiting = own, 0, []
        if start < len(waiting) and place[waiting[start]] != here:
            first.append(waiting[start])
            second.append(at)
            start += 1
        else:
            waiting.append(at)
    ones, others = (by_kind[np.array(each, dtype=np.int64)] for each in (first, second))
    earliest = np.argsort(ones, kind="stable")[:wanted]
    return order[ones[earliest]], order[others[earliest]]
