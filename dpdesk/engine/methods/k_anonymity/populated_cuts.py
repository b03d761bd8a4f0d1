"""Cuts of Mondrian that leave k rows on both sides, and rows of a population that match them.

As :mod:`.mondrian` cuts strictly; of the cuts of an attribute the first one of its order is taken
of which both sides show cells that enough rows of the population match.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.matched_cells import MatchedCells, covered, meaning
from dpdesk.engine.methods.k_anonymity.mondrian import (
    SPARSE,
    Array,
    Parts,
    cut_at,
    divide,
    joined,
    spread_of,
    tables,
)
from dpdesk.engine.methods.k_anonymity.scales import Scale


def populated_mondrian(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    matched: MatchedCells,
    token: CancelToken,
    *,
    along: bool = True,
) -> Parts | None:
    """As :func:`.mondrian`, strictly, where the cells of every part must match the population.

    None where those of all rows together do not. Raises Cancelled.
    """
    columns = [scale.places[codes[:, j]] for j, scale in enumerate(scales)]
    places: NDArray[np.int32] = np.stack(columns, axis=1).astype(np.int32)
    tuples, rows = np.arange(len(counts)), np.array(counts, np.int64)
    starts, stop = np.empty(len(rows) + 1, np.int64), np.zeros(1, np.uint8)

    def stopping() -> None:
        stop[0] = 1

    with token.on_cancel(stopping):
        fixed = (k, *tables(scales), along, _nodes(scales), matched.index, matched.k_map)
        found = _cut_up(places, rows, tuples, *fixed, starts, stop)
    token.check()
    if not found:
        return None
    starts[found] = len(rows)
    return Parts(tuples, rows, places, starts[: found + 1].copy())


class _Nodes(NamedTuple):
    """Of each attribute: the leaf at each place, the parent of each node, its last place, and the
    node that its cell stands for.
    """

    leaves: Array
    parents: Array
    last: Array
    meaning: Array


def _nodes(scales: Sequence[Scale]) -> _Nodes:
    width = max(len(scale.parents) for scale in scales)
    found = _Nodes(*(np.zeros((len(scales), width), np.int64) for _ in _Nodes._fields))
    for j, scale in enumerate(scales):
        found.leaves[j, : scale.leaves] = scale.order
        found.parents[j, : len(scale.parents)] = scale.parents
        found.last[j, : len(scale.parents)] = scale.high
        found.meaning[j, : len(scale.parents)] = meaning(scale)
    return found


class _Room(NamedTuple):
    """Room to work in: the least and the greatest place of each attribute, and what is shown."""

    least: Array
    most: Array
    order: Array
    low: Array
    high: Array
    shown: Array
    tally: Array


@kernel
def _cut_up(
    places: Array, rows: Array, tuples: Array, k: int, sizes: Array, weights: Array, heights: Array,
    bounds: Array, nodes: Array, along: bool, own: Any, index: Any, k_map: int, starts: Array,
    stop: Array,
) -> int:  # fmt: skip
    """Cut the table up, in place; how many parts there are, 0 if stopped or if it does not match.

    ``starts`` gets where each begins.
    """
    d = places.shape[1]
    room = _Room(
        np.empty(d, np.int32), np.empty(d, np.int32), np.empty(d, np.int64), np.empty(d, np.int32),
        np.empty(d, np.int32), np.empty(d, np.int64),
        np.zeros(min(int(sizes.max()), SPARSE * len(rows)) + 1, np.int64),
    )  # fmt: skip
    if not _matches(places, 0, len(rows), -1, 0, False, own, index, k_map, room):
        return 0
    low_of, high_of = np.empty(len(rows) + 1, np.int64), np.empty(len(rows) + 1, np.int64)
    low_of[0], high_of[0] = 0, len(rows)
    waiting, found = 1, 0
    while waiting:
        if stop[0] != 0:
            return 0
        waiting -= 1
        low, high = low_of[waiting], high_of[waiting]
        middle, total = -1, rows[low:high].sum()
        if total >= 2 * k:
            spread_of(places, low, high, sizes, weights, room.least, room.most, room.order)
            for j in room.order:
                if room.least[j] == room.most[j]:
                    continue
                cut = _best(
                    places, rows, low, high, j, total, k, sizes, heights, bounds, nodes, along,
                    own, index, k_map, room, stop,
                )  # fmt: skip
                if cut >= 0:
                    middle = divide(places, rows, tuples, low, high, j, cut, 0)
                    break
        if middle < 0:
            starts[found] = low
            found += 1
        else:
            low_of[waiting], high_of[waiting] = middle, high
            low_of[waiting + 1], high_of[waiting + 1] = low, middle
            waiting += 2
    return found


@kernel
def _best(
    places: Array, rows: Array, low: int, high: int, j: Any, total: int, k: int, sizes: Array,
    heights: Array, bounds: Array, nodes: Array, along: bool, own: Any, index: Any, k_map: int,
    room: Any, stop: Array,
) -> int:  # fmt: skip
    """The last place on the left of the first cut that both sides match; −1 without one."""
    least, most = room.least[j], room.most[j]
    top, _ = cut_at(
        places, rows, low, high, j, total, k, least, most, room.tally, sizes, heights, bounds,
        nodes, True, along,
    )  # fmt: skip
    if top < 0 or _both(places, low, high, j, top, own, index, k_map, room):
        return top
    order = np.argsort(places[low:high, j], kind="mergesort")
    cuts, ranks = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    count, before = 0, 0
    for at in range(len(order) - 1):
        value, after = places[low + order[at], j], places[low + order[at + 1], j]
        before += rows[low + order[at]]
        even = min(before, total - before)
        if value == after or even < k or value == top:  # noqa: SIM109 - types differ
            continue
        join = 0
        if along and heights[j] > 1:
            join = joined(nodes, bounds[j], sizes[j], value, after)
        cuts[count], ranks[count] = value, -(join * (total + 1) + even)
        count += 1
    for at in np.argsort(ranks[:count], kind="mergesort"):
        if stop[0] != 0:
            break
        if _both(places, low, high, j, cuts[at], own, index, k_map, room):
            return int(cuts[at])
    return -1


@kernel
def _both(
    places: Array, low: int, high: int, j: Any, cut: int, own: Any, index: Any, k_map: int,
    room: Any,
) -> bool:  # fmt: skip
    """Whether both sides of a cut match."""
    left = _matches(places, low, high, j, cut, False, own, index, k_map, room)
    return left and _matches(places, low, high, j, cut, True, own, index, k_map, room)


@kernel
def _matches(
    places: Array, low: int, high: int, j: Any, cut: int, right: bool, own: Any, index: Any,
    k_map: int, room: Any,
) -> bool:  # fmt: skip
    """Whether the cells over one side of a cut match enough rows; j < 0: those over all entries."""
    d = places.shape[1]
    first = True
    for row in range(low, high):
        if j >= 0 and (places[row, j] > cut) != right:
            continue
        for a in range(d):
            value = places[row, a]
            if first or value < room.low[a]:
                room.low[a] = value
            if first or value > room.high[a]:
                room.high[a] = value
        first = False
    for a in range(d):
        node = own.leaves[a, room.low[a]]
        while own.last[a, node] < room.high[a]:
            node = own.parents[a, node]
        room.shown[a] = own.meaning[a, node]
    return covered(room.shown, index, k_map) >= k_map
