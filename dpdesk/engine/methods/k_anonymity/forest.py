"""Classes from a forest of nearest tuples, which lose at most 3k − 3 times the optimum.

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

from collections.abc import Sequence

import numpy as np

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.mondrian import Array, Parts
from dpdesk.engine.methods.k_anonymity.scales import Scale, node_losses


def neighbours(
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
    """Fill ``near`` and ``far``; see :func:`neighbours`."""
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


def forest_parts(places: Array, counts: Array, near: Array, k: int) -> Parts:
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
