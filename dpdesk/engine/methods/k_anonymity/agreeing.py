"""Classes of tuples that agree at some levels, from the levels that lose least on.

Levels are tried in the order of what all rows would lose at them. Of the tuples that are left,
those that agree there with k rows or more are a class. A forest joins a row with its nearest ones
one after the other, and a cell is lost where any two of a class differ; tuples that agree at given
levels lose these alone, however many they are. What is left at the end joins the classes that lose
least by it. With cells that are suppressed or kept, these are all sets of columns that a row may
lose, up to ``_MOST_LEVELS``.

It is a heuristic, and an order in which some column is touched later may end with less lost. So
each column is weighed higher in turn, as it would be where a limit of its cells asks for it; what
loses least is gone on from, as long as that helps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.mondrian import Array, Parts, loss_of
from dpdesk.engine.methods.k_anonymity.requirements import Constraints
from dpdesk.engine.methods.k_anonymity.scales import Scale, node_losses
from dpdesk.engine.recoded import row_keys

_MOST_LEVELS, _MOST_KNOWN, _MOST_WORK = 256, 4_096, 20_000_000
_LATER = 8
ROUNDS = 4
"""How often columns are weighed higher where there is time for it."""


def agreeing_parts(
    scales: Sequence[Scale],
    places: Array,
    counts: Array,
    k: int,
    asked: Constraints | None,
    token: CancelToken,
    rounds: int,
) -> Parts | None:
    """The classes that lose least; those that others joined may fail what is asked.

    Columns are weighed higher in up to ``rounds`` rounds; with 0 none is.
    None where no levels give a class. Raises Cancelled.
    """
    weighed, known = tuple(scales), set[tuple[tuple[int, ...], ...]]()
    best: tuple[float, Parts] | None = None
    for number in range(rounds + 1):
        tried = [weighed] if not number else [_later(weighed, j) for j in range(len(scales))]
        start = weighed
        for each in tried:
            order = tuple(_levels(each, places, counts))
            if order in known:
                continue
            known.add(order)
            parts = _at(scales, order, places, counts, k, asked, token)
            cost = math.inf if parts is None else loss_of(scales, parts)
            if parts is not None and (best is None or cost < best[0]):
                best, weighed = (cost, parts), each
        if number and weighed is start:
            break
    return None if best is None else best[1]


def _later(scales: tuple[Scale, ...], j: int) -> tuple[Scale, ...]:
    """The scales with column j weighed higher, so that it is touched later."""
    return (*scales[:j], replace(scales[j], weight=scales[j].weight * _LATER), *scales[j + 1 :])


def _at(
    scales: Sequence[Scale],
    order: Sequence[tuple[int, ...]],
    places: Array,
    counts: Array,
    k: int,
    asked: Constraints | None,
    token: CancelToken,
) -> Parts | None:
    """The classes for one order of levels; None where no levels give one."""
    of_tuple = np.full(len(counts), -1, np.int64)
    left, found = np.arange(len(counts)), 0
    for levels in order:
        token.check()
        columns = [s.nodes[level][places[left, j]] for (j, s), level in zip(
            enumerate(scales), levels, strict=True)]  # fmt: skip
        keys = row_keys(np.stack(columns, axis=1), [len(scale.parents) for scale in scales])
        _, which = np.unique(keys, return_inverse=True)
        which = which.reshape(-1)
        taken = np.bincount(which, counts[left]) >= k
        if asked is not None and taken.any():
            taken = asked.within(left).passing(which, taken, asked.whole)
        inside = taken[which]
        of_tuple[left[inside]] = (np.cumsum(taken) - 1 + found)[which[inside]]
        found, left = found + int(taken.sum()), left[~inside]
        if not len(left):
            break
    if not found:
        return None
    _join(scales, places, counts, of_tuple, left, token)
    tuples = np.argsort(of_tuple, kind="stable")
    starts = np.flatnonzero(np.diff(of_tuple[tuples], prepend=-1, append=-1))
    rows = np.asarray(counts, np.int64)[tuples]
    return Parts(tuples, rows, places[tuples].astype(np.int32), starts)


def _levels(scales: Sequence[Scale], places: Array, counts: Array) -> list[tuple[int, ...]]:
    """The levels to try, by what they lose: all, or as many as there is room for, evenly."""
    room = min(_MOST_LEVELS, max(2, _MOST_WORK // max(len(counts) * len(scales), 1)))
    found = list(_by_loss(scales, places, counts))
    if len(found) > room:
        chosen = np.linspace(0, len(found) - 1, room).astype(np.int64)
        found = [found[place] for place in chosen.tolist()]
    return [*found, tuple(scale.allowed[-1] for scale in scales)]


def _by_loss(scales: Sequence[Scale], places: Array, counts: Array) -> Iterator[tuple[int, ...]]:
    """Levels in the order of what all rows lose at them, the first ``_MOST_KNOWN``."""
    lost = []
    for j, scale in enumerate(scales):
        losses = node_losses(scale)
        each = [
            (float((losses[scale.nodes[level][places[:, j]]] * counts).sum()), level)
            for level in scale.allowed
        ]
        lost.append(sorted(each))
    start = (0,) * len(scales)
    waiting, known = [(math.fsum(each[0][0] for each in lost), start)], {start}
    for _ in range(_MOST_KNOWN):
        if not waiting:
            return
        _, ranks = heappop(waiting)
        yield tuple(each[rank][1] for each, rank in zip(lost, ranks, strict=True))
        for j, each in enumerate(lost):
            more = (*ranks[:j], ranks[j] + 1, *ranks[j + 1 :])
            if more[j] < len(each) and more not in known:
                known.add(more)
                at = math.fsum(e[rank][0] for e, rank in zip(lost, more, strict=True))
                heappush(waiting, (at, more))


def _join(
    scales: Sequence[Scale],
    places: Array,
    counts: Array,
    of_tuple: Array,
    left: Array,
    token: CancelToken,
) -> None:
    """Each tuple that is left joins the class that loses least by it."""
    size = int(of_tuple.max()) + 1
    low = np.full((size, len(scales)), np.iinfo(np.int64).max)
    high = np.full((size, len(scales)), -1, np.int64)
    inside = of_tuple >= 0
    np.minimum.at(low, of_tuple[inside], places[inside])
    np.maximum.at(high, of_tuple[inside], places[inside])
    rows = np.bincount(of_tuple[inside], counts[inside], size)
    losses = [node_losses(scale) for scale in scales]

    def lost(below: Array, above: Array) -> Array:
        found = np.zeros(size)
        for j, scale in enumerate(scales):
            found += losses[j][scale.common(below[:, j], above[:, j])]
        return found

    own = lost(low, high)
    for one in left.tolist():
        token.check()
        below, above = np.minimum(low, places[one]), np.maximum(high, places[one])
        wide = lost(below, above)
        to = int(np.argmin(wide * (rows + counts[one]) - own * rows))
        of_tuple[one], low[to], high[to], own[to] = to, below[to], above[to], wide[to]
        rows[to] += counts[one]
