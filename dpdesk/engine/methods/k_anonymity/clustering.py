"""Classes of rows whose cells are generalised or suppressed one by one, at little loss.

Every class shows, for each attribute, the lowest node over its rows; its loss is the mean loss of
these nodes. Three ways, by size:

- An integer program over all generalised tuples that at least k rows have in common, for small
  tables: proven optimal, or with the bound that the solver reached.
- A forest, for some 20,000 distinct tuples (Aggarwal et al., *Approximation algorithms for
  k-anonymity*, in the form proven below), with a lower bound: the result loses at most 3k − 3
  times the optimum. Mondrian's classes are taken where these lose less.
- Mondrian beyond, with a weaker lower bound.

Why 3k − 3. Let the distance of two tuples be the loss of the lowest nodes over both. In any release
with k equal rows per class, a row loses at least the distance to its (k − 1)-th nearest other row:
that is the lower bound. The forest has at most one edge from each tuple, to one of its nearest rows
among the first k − 1, so all its edges together are no longer than the bound. It is cut into parts
that share no edge, with at least k and at most 3k − 3 rows each, but for classes of equal rows,
which lose nothing. In one part no attribute loses more than
the sum of its edges, for nodes are nested: the lowest node over all is that over the two ends of
some edge. So a part loses at most its rows times its edges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.methods.k_anonymity.mondrian import Array, Parts, mondrian
from dpdesk.engine.methods.k_anonymity.scales import Scale
from dpdesk.engine.recoded import row_keys

MOST_CLUSTERED = 20_000
_MOST_CANDIDATES, _MOST_VARIABLES = 4_000, 20_000
_NODE_LIMIT = 2_000
_MOST_LEVELS, _MOST_WORK = 500, 1_000_000_000
_CLOSE = 1e-9
PROVEN, HEURISTIC = "proven optimal", "heuristic"


@dataclass(frozen=True, eq=False)
class Clustered:
    """Classes with their mean loss of a cell; no release of this kind has less than ``least``.

    ``factor`` is how many times the optimum it is at most, proven before it was looked for; 0 where
    nothing is.
    """

    parts: Parts = field(repr=False)
    cost: float
    least: float
    factor: int
    proven: bool = False

    @property
    def optimality(self) -> str:
        """Proven optimal, optimal up to a share, or heuristic, where nothing better is known."""
        if self.proven or self.cost <= self.least + _CLOSE:
            return PROVEN
        if self.least <= 0:
            return HEURISTIC
        share = math.ceil(1000 * (self.cost / self.least - 1)) / 10
        return msg("optimal up to {share:,} %", share=share)


def best_classes(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    token: CancelToken,
) -> Clustered:
    """Classes of at least ``k`` rows, of which there are as many; ``codes`` are leaf codes.

    Raises Cancelled.
    """
    rows = int(counts.sum())
    found, factor = [mondrian(scales, codes, counts, k, token)], 0
    token.check()
    places = np.stack([s.places[codes[:, j]] for j, s in enumerate(scales)], axis=1)
    least = _least_step(scales, places, counts, k) / rows
    if len(counts) <= MOST_CLUSTERED:
        near, far = _neighbours(scales, places, counts, k, token)
        least = max(least, float((far * counts).sum()) / rows)
        found.append(_forest_parts(places, counts, near, k))
        factor = 3 * k - 3
    best = min(found, key=lambda parts: loss_of(scales, parts))
    cost = loss_of(scales, best)
    program = _program(scales, places, counts, k)
    if program is None or cost <= least + _CLOSE:
        return Clustered(best, cost, least, factor)
    token.check()
    return _solved(program, Clustered(best, cost, least, factor), scales, places, counts, k)


def best_at_levels(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    token: CancelToken,
) -> tuple[tuple[Scale, ...], Clustered, tuple[int, ...]]:
    """One level for each attribute and classes whose cells show it or the top: the best together.

    Every cell loses at least what its level loses: that is a bound for all classes at these levels.
    Levels are tried in the order of this bound and of the share of rows that would need more, until
    no others can be better, or the work is done; those left out are then bounded alone. Scales are
    those that show these levels. Raises Cancelled.
    """
    choices = _choices(scales, codes, counts, k, token)
    best: tuple[tuple[Scale, ...], Clustered, tuple[int, ...]] | None = None
    least, work = choices.beyond, 0
    for bound, levels in choices.levels:
        if best is not None and bound >= best[1].cost - _CLOSE:
            least = min(least, bound)
            continue
        token.check()
        shown = _showing(scales, levels)
        of_tuple, first = _at_levels(shown, codes)
        size = len(first)
        work += size * (size if size <= MOST_CLUSTERED else _NODE_LIMIT)
        if best is not None and work > _MOST_WORK:
            least = min(least, bound)
            continue
        sums = np.bincount(of_tuple, counts).astype(np.int64)
        found = best_classes(shown, codes[first], sums, k, token)
        own = found.cost if found.optimality == PROVEN else max(found.least, bound)
        least = min(least, own)
        if best is None or found.cost < best[1].cost - _CLOSE:
            parts = _divided(found.parts, of_tuple, counts, codes, shown)
            best = shown, replace(found, parts=parts, factor=0), levels
    if best is None:
        raise ValueError("a table has at least one node")
    cost = best[1].cost
    proven = cost <= least + _CLOSE
    return best[0], replace(best[1], least=min(least, cost), proven=proven), best[2]


@dataclass(frozen=True, eq=False)
class _Choices:
    """Levels to try, each with what cells lose at least; all others lose ``beyond`` or more."""

    levels: list[tuple[float, tuple[int, ...]]]
    beyond: float


def _choices(
    scales: Sequence[Scale], codes: NDArray[np.int32], counts: Array, k: int, token: CancelToken
) -> _Choices:
    """The levels of the least bounds, those first that leave least to do."""
    rows, bounds = float(counts.sum()), []
    for j, scale in enumerate(scales):
        places = scale.places[codes[:, j]]
        each = []
        for level in range(len(scale.nodes)):
            own = replace(scale, shown=frozenset({level, len(scale.nodes) - 1}))
            lost = node_losses(own)[scale.nodes[level][places]]
            each.append((float((lost * counts).sum()) / rows / len(scales), level))
        bounds.append(sorted(each))
    start = (0,) * len(scales)
    waiting, known = [(sum(each[0][0] for each in bounds), start)], {start}
    found: list[tuple[float, float, tuple[int, ...]]] = []
    while waiting and len(found) < _MOST_LEVELS:
        token.check()
        bound, ranks = heappop(waiting)
        levels = tuple(each[rank][1] for each, rank in zip(bounds, ranks, strict=True))
        of_tuple, _ = _at_levels(_showing(scales, levels), codes)
        sums = np.bincount(of_tuple, counts)
        small = float(sums[sums < k].sum()) / rows
        found.append((bound + small * (1 - bound), bound, levels))
        for j, each in enumerate(bounds):
            more = (*ranks[:j], ranks[j] + 1, *ranks[j + 1 :])
            if more[j] < len(each) and more not in known:
                known.add(more)
                at = sum(b[rank][0] for b, rank in zip(bounds, more, strict=True))
                heappush(waiting, (at, more))
    beyond = min((bound for bound, _ in waiting), default=math.inf)
    return _Choices([(bound, levels) for _, bound, levels in sorted(found)], beyond)


def _showing(scales: Sequence[Scale], levels: Sequence[int]) -> tuple[Scale, ...]:
    return tuple(
        replace(scale, shown=frozenset({level, len(scale.nodes) - 1}))
        for scale, level in zip(scales, levels, strict=True)
    )


def _at_levels(scales: Sequence[Scale], codes: NDArray[np.int32]) -> tuple[Array, Array]:
    """The class of each tuple when each cell shows its level, and a tuple of each class."""
    columns = [
        scale.released[scale.nodes[0][scale.places[codes[:, j]]]] for j, scale in enumerate(scales)
    ]
    keys = row_keys(np.stack(columns, axis=1), [len(scale.parents) for scale in scales])
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return which.reshape(-1), first


def _divided(
    parts: Parts, of_tuple: Array, counts: Array, codes: NDArray[np.int32], scales: Sequence[Scale]
) -> Parts:
    """Parts of classes of tuples as parts of the tuples, in any order within a class."""
    entries = np.argsort(parts.tuples, kind="stable")
    tuples = np.argsort(of_tuple, kind="stable")
    ends, own = np.cumsum(parts.rows[entries]), np.cumsum(counts[tuples])
    cuts = np.unique(np.concatenate([[0], ends, own]))
    entry = entries[np.searchsorted(ends, cuts[:-1], side="right")]
    held = tuples[np.searchsorted(own, cuts[:-1], side="right")]
    order = np.argsort(entry, kind="stable")
    entry, held, rows = entry[order], held[order], np.diff(cuts)[order]
    places = np.stack([s.places[codes[held, j]] for j, s in enumerate(scales)], axis=1)
    starts = np.searchsorted(entry, parts.starts)
    return Parts(held, rows, places.astype(np.int32), starts)


def loss_of(scales: Sequence[Scale], parts: Parts) -> float:
    """Mean loss of a cell when each part shows the lowest nodes over its entries."""
    first = parts.starts[:-1]
    rows = np.add.reduceat(parts.rows, first)
    total = 0.0
    for j, scale in enumerate(scales):
        low = np.minimum.reduceat(parts.places[:, j], first)
        high = np.maximum.reduceat(parts.places[:, j], first)
        total += float((node_losses(scale)[scale.common(low, high)] * rows).sum())
    return total / float(rows.sum()) / len(scales)


def node_losses(scale: Scale) -> Array:
    """(leaves covered − 1)/(leaves − 1) of what each node is released as."""
    shown = scale.widest[scale.released]
    return (scale.high[shown] - scale.low[shown]) / max(scale.leaves - 1, 1)


def _least_step(scales: Sequence[Scale], places: Array, counts: Array, k: int) -> float:
    """Loss of all rows at least: one of fewer than k equal rows gives up some cell's leaf."""
    steps = np.full(len(counts), np.inf)
    for j, scale in enumerate(scales):
        losses = node_losses(scale)
        step = np.full(scale.leaves, np.inf)
        for level in range(len(scale.nodes) - 1, 0, -1):
            lost = losses[scale.nodes[level]]
            step = np.where(lost > 0, np.minimum(step, lost), step)
        steps = np.minimum(steps, step[places[:, j]])
    small = (counts < k) & np.isfinite(steps)
    return float((steps[small] * counts[small]).sum()) / len(scales)


def _neighbours(
    scales: Sequence[Scale], places: Array, counts: Array, k: int, token: CancelToken
) -> tuple[Array, Array]:
    """For each tuple others of which one is within each k − 1 nearest rows, nearest first.

    −1 where fewer are enough; and the distance to the (k − 1)-th nearest other row.
    """
    losses = np.concatenate([node_losses(scale) for scale in scales]) / len(scales)
    firsts = np.cumsum([0, *(len(scale.parents) for scale in scales)])
    height = max(len(scale.nodes) for scale in scales)
    chains = np.empty((len(counts), len(scales), height), np.int32)
    for j, scale in enumerate(scales):
        for level in range(height):
            at = scale.nodes[min(level, len(scale.nodes) - 1)]
            chains[:, j, level] = at[places[:, j]] + firsts[j]
    near = np.full((len(counts), max(k - 1, 1)), -1, np.int64)
    far = np.zeros(len(counts))
    stop = np.zeros(1, np.uint8)

    def stopping() -> None:
        stop[0] = 1

    with token.on_cancel(stopping):
        _nearest(chains, losses, np.asarray(counts, np.int64), k, near, far, stop)
    token.check()
    return near, far


@kernel
def _nearest(
    chains: Array, losses: Array, counts: Array, k: int, near: Array, far: Array, stop: Array
) -> None:
    """Fill ``near`` and ``far``; see :func:`_neighbours`."""
    tuples, attributes = chains.shape[:2]
    held, ids = np.empty(k), np.empty(k, np.int64)
    for one in range(tuples):
        if stop[0] != 0:
            return
        if counts[one] >= k:
            continue
        kept = 0
        for other in range(tuples):
            if other == one:
                continue
            bound = held[kept - 1] if kept == k - 1 else np.inf
            distance = 0.0
            for j in range(attributes):
                level = 0
                while chains[one, j, level] != chains[other, j, level]:
                    level += 1
                if level > 0:
                    distance += losses[chains[one, j, level]]
                    if distance >= bound:
                        break
            if distance >= bound:
                continue
            at = kept if kept < k - 1 else k - 2
            if kept < k - 1:
                kept += 1
            while at > 0 and held[at - 1] > distance:
                held[at], ids[at] = held[at - 1], ids[at - 1]
                at -= 1
            held[at], ids[at] = distance, other
        rows = counts[one]
        for at in range(kept):
            near[one, at] = ids[at]
            if rows < k:
                rows += counts[ids[at]]
                far[one] = held[at]


def _forest_parts(places: Array, counts: Array, near: Array, k: int) -> Parts:
    """The forest, cut into parts."""
    parents = _forest(near, counts, k)
    entries: list[list[tuple[int, int]]] = []
    for root, order, children in _trees(parents):
        entries += _cut_tree(root, order, children, counts, k)
    tuples = np.array([one for group in entries for one, _ in group], np.int64)
    rows = np.array([rows for group in entries for _, rows in group], np.int64)
    starts = np.cumsum([0, *map(len, entries)])
    return Parts(tuples, rows, places[tuples].astype(np.int32), starts)


def _forest(near: Array, weights: Array, k: int) -> list[int]:
    """For each tuple the one that its edge leads to, −1 for none: every tree has k rows."""
    group = list(range(len(weights)))
    parents, mass = [-1] * len(weights), [int(rows) for rows in weights]
    roots = list(range(len(weights)))

    def find(one: int) -> int:
        while group[one] != one:
            group[one] = group[group[one]]
            one = group[one]
        return one

    waiting = [one for one in range(len(weights)) if mass[one] < k]
    while waiting:
        tree = find(waiting.pop())
        if mass[tree] >= k:
            continue
        tail = roots[tree]
        other = next(int(each) for each in near[tail] if each >= 0 and find(int(each)) != tree)
        joined = find(other)
        parents[tail] = other
        group[tree] = joined
        mass[joined] += mass[tree]
        if mass[joined] < k:
            waiting.append(joined)
    return parents


def _trees(parents: Sequence[int]) -> list[tuple[int, list[int], dict[int, list[int]]]]:
    """Each tree: its root, its vertices with children before parents, and the children of each."""
    children: dict[int, list[int]] = {}
    for one, parent in enumerate(parents):
        if parent >= 0:
            children.setdefault(parent, []).append(one)
    found = []
    for root in (one for one, parent in enumerate(parents) if parent < 0):
        order = [root]
        for one in order:
            order += children.get(one, [])
        found.append((root, order[::-1], children))
    return found


def _cut_tree(
    root: int, order: Sequence[int], children: dict[int, list[int]], weights: Array, k: int
) -> list[list[tuple[int, int]]]:
    """Classes of at least k rows, tuples with their rows, from edges that no two of them share.

    What hangs below a vertex with fewer than k rows waits for those above; as soon as what waits at
    a vertex has k rows it is a class, with the vertex in between.
    """
    waiting: dict[int, list[int]] = {}
    classes: list[list[int]] = []
    near: dict[int, int] = {}  # a class whose edges touch a vertex

    def rows(group: Sequence[int]) -> int:
        return int(sum(weights[one] for one in group))

    for one in order:
        rest: list[int] = []
        for child in children.get(one, []):
            rest += waiting.pop(child, [])
            if near.get(one, -1) < 0:
                near[one] = near.get(child, -1)
            if rows(rest) >= k:
                near[one] = len(classes)
                classes.append(rest)
                rest = []
        if weights[one] >= k:
            near[one] = len(classes)
            classes.append([one])
        else:
            rest = [*rest, one]
        if rows(rest) >= k:
            near[one] = len(classes)
            classes.append(rest)
            rest = []
        waiting[one] = rest
    found = [[(one, int(weights[one])) for one in group] for group in classes]
    last = [(one, int(weights[one])) for one in waiting[root]]
    if last:
        joined, missing = found[near[root]], k - rows(waiting[root])
        if len(joined) == 1 and joined[0][1] - missing >= k:
            one, whole = joined[0]
            found[near[root]] = [(one, whole - missing)]
            found.append([*last, (one, missing)])
        else:
            joined += last
    return found


@dataclass(frozen=True, eq=False)
class _Program:
    """Generalised tuples that may be released: their costs, and which tuples each covers."""

    costs: Array = field(repr=False)
    tuples: Array = field(repr=False)
    candidates: Array = field(repr=False)
    unit: int


def _program(scales: Sequence[Scale], places: Array, counts: Array, k: int) -> _Program | None:
    """The integer program of a small table; None for a table that is too large."""
    chains = [
        [list(dict.fromkeys(scale.released[nodes[place]].tolist())) for place in column.tolist()]
        for scale, column, nodes in (
            (scale, places[:, j], scale.nodes.T) for j, scale in enumerate(scales)
        )
    ]
    if sum(math.prod(map(len, each)) for each in zip(*chains, strict=True)) > _MOST_VARIABLES:
        return None
    index: dict[tuple[int, ...], int] = {}
    pairs = [
        (one, index.setdefault(nodes, len(index)))
        for one, each in enumerate(zip(*chains, strict=True))
        for nodes in product(*each)
    ]
    tuples, candidates = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    covered = np.bincount(candidates, counts[tuples], len(index))
    usable = covered >= k
    if usable.sum() > _MOST_CANDIDATES:
        return None
    unit = math.lcm(*(max(scale.leaves - 1, 1) for scale in scales))
    losses = [node_losses(scale) for scale in scales]
    costs = np.array([sum(lost[node] for lost, node in zip(losses, nodes, strict=True))
                      for nodes in index])  # fmt: skip
    number = np.cumsum(usable) - 1
    inside = usable[candidates]
    return _Program(np.rint(costs[usable] * unit), tuples[inside], number[candidates[inside]], unit)


def _solved(
    program: _Program,
    known: Clustered,
    scales: Sequence[Scale],
    places: Array,
    counts: Array,
    k: int,
) -> Clustered:
    """The optimum of the program, or what it proved when its nodes were used up.

    Whether rows go to a candidate is whole; with that fixed, whole rows are an optimum of the flow.
    """
    from scipy.optimize import Bounds, milp

    pairs, released = len(program.tuples), len(program.costs)
    held = counts[program.tuples].astype(np.float64)
    found = milp(
        np.concatenate([program.costs[program.candidates], np.zeros(released)]),
        integrality=np.concatenate([np.zeros(pairs), np.ones(released)]),
        bounds=Bounds(0, np.concatenate([held, np.ones(released)])),
        constraints=_constraints(program, counts, k),
        options={"node_limit": _NODE_LIMIT, "mip_rel_gap": 0.0},
    )
    cells = program.unit * float(counts.sum()) * len(scales)
    bound = found.mip_dual_bound
    least_loss = known.least if bound is None else max(known.least, (bound - 0.5) / cells)
    if found.x is None:
        return replace(known, least=least_loss)
    rows = np.rint(found.x[:pairs]).astype(np.int64)
    used = np.flatnonzero(rows)
    used = used[np.argsort(program.candidates[used], kind="stable")]
    tuples, groups = program.tuples[used], program.candidates[used]
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1], [True]]))
    parts = Parts(tuples, rows[used], places[tuples].astype(np.int32), starts)
    sizes = np.add.reduceat(parts.rows, starts[:-1])
    whole = np.bincount(tuples, rows[used], len(counts))
    if sizes.min() < k or (whole != counts).any():  # a solver may be off by its tolerance
        return replace(known, least=least_loss)
    cost = loss_of(scales, parts)
    if cost > known.cost + _CLOSE:
        return replace(known, least=least_loss)
    proven = found.status == 0 and round(cost * cells) <= round(found.fun)
    return Clustered(parts, cost, cost if proven else least_loss, known.factor, proven)


def _constraints(program: _Program, counts: Array, k: int) -> list[Any]:
    """Every row goes somewhere, a released tuple has k rows or none, and none where it is not."""
    from scipy.optimize import LinearConstraint
    from scipy.sparse import coo_array

    pairs, released = len(program.tuples), len(program.costs)
    at = np.arange(pairs)
    every = coo_array((np.ones(pairs), (program.tuples, at)), (len(counts), pairs + released))
    least = coo_array(
        (
            np.concatenate([np.ones(pairs), np.full(released, -float(k))]),
            (
                np.concatenate([program.candidates, np.arange(released)]),
                np.concatenate([at, pairs + np.arange(released)]),
            ),
        ),
        (released, pairs + released),
    )
    held = counts[program.tuples].astype(np.float64)
    only = coo_array(
        (
            np.concatenate([np.ones(pairs), -held]),
            (np.concatenate([at, at]), np.concatenate([at, pairs + program.candidates])),
        ),
        (pairs, pairs + released),
    )
    return [
        LinearConstraint(every, counts, counts),
        LinearConstraint(least, 0, np.inf),
        LinearConstraint(only, -np.inf, 0),
    ]
