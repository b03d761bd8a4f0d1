"""What the verifier finds out by itself about a graph: changes, variances, from settings alone.

Nothing of the design's closed forms is used: sizes of minimal changes of small graphs are a list
of enumerated values or all walks, those of others follow from walks; variances are solved for step
by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from dpdesk.verifiers.cubes.exact_claim import longest_walks
from dpdesk.verifiers.graphs import small_walks

Floats = NDArray[np.float64]
_SMALL = {
    (3, False): (1, 2, 3, 0),
    (4, False): (1, 2, 3, 4, 4),
    (5, False): (1, 2, 3, 5, 6, 6),
    (6, False): (1, 2, 3, 5, 6, 7, 6),
    (3, True): (2, 2, 0, 0),
    (4, True): (2, 2, 4, 4, 4),
    (5, True): (2, 2, 4, 6, 6, 6),
    (6, True): (2, 2, 4, 6, 6, 6, 6),
}
"""Longest minimal changes of undirected graphs by nodes and known edge count, by known degrees:
from all changes of all graphs (tests/unit/engine/methods/dp_graph/test_changes.py)."""
_STEPS = 200


@dataclass(frozen=True)
class Claim:
    """What is exact of a graph, as flags of its nodes; ``into`` are in-degrees."""

    directed: bool
    out: NDArray[np.bool_] = field(repr=False)
    into: NDArray[np.bool_] = field(repr=False)
    total: bool

    @property
    def size(self) -> int:
        """Nodes."""
        return len(self.out)

    @property
    def pairs(self) -> int:
        """Edges that there can be."""
        return self.size * (self.size - 1) // (1 if self.directed else 2)


def whole_claim(directed: bool, out: Sequence[bool], into: Sequence[bool], total: bool) -> Claim:
    """With all that follows from what is named: walks through the rules until nothing changes."""
    sides = [list(out), list(into)] if directed else [list(out)]
    count, before = total, None
    while before != (sides, count):
        before = ([list(side) for side in sides], count)
        count = count or any(all(side) for side in sides)
        for side in sides:
            if count and side.count(False) == 1:
                side[side.index(False)] = True
    flags = [np.array(side, dtype=bool) for side in sides]
    return Claim(directed, flags[0], flags[-1] if directed else ~flags[0] & flags[0], count)


def minimal_change(claim: Claim) -> int:
    """The size of the largest minimal change, or a safe bound, that keeps what is claimed."""
    size, known = claim.size, int(claim.out.sum())
    if claim.directed:
        if size <= small_walks.MOST_NODES:
            return small_walks.longest_change(claim.out.tolist(), claim.into.tolist(), claim.total)
        return min(claim.pairs, _directed(size, known, int(claim.into.sum()), total=claim.total))
    if size <= max(nodes for nodes, _ in _SMALL):
        return _SMALL[size, claim.total and known < size][known]
    if known == size:
        return min(claim.pairs, 2 * size)
    return min(claim.pairs, 2 * known + (2 if claim.total else 1))


def _directed(size: int, known1: int, known2: int, *, total: bool) -> int:
    """The longest walk, as in a table with loops; two where the number of edges must stay."""
    if not known1 and not known2:
        return 2 if total else 1
    even, odd = longest_walks(known1, size, known2, size)
    if not total or size in (known1, known2):
        return max(even, odd)
    return max(even, 2 * min(known1, known2) + 2)


def left_over(claim: Claim, wanted: Floats, squares: float) -> float:
    """What is left of the squares of a sum's coefficients when known sums are taken out of it.

    ``wanted`` are its sums over the edges of each out-end, in-end (0 of undirected graphs) and all,
    shape (2 nodes + 1,). By conjugate gradients on the known sums, which takes a few steps.
    """
    keep = np.concatenate((claim.out, claim.into, [claim.total]))
    right = np.where(keep, wanted, 0.0)
    found, rest = np.zeros_like(right), right.copy()
    step, size = rest.copy(), float(rest @ rest)
    least = 1e-28 * size
    for _ in range(_STEPS):
        if size <= least or size == 0:
            break
        image = np.where(keep, _sums(claim, step), 0.0)
        length = size / float(step @ image)
        found += length * step
        rest -= length * image
        smaller = float(rest @ rest)
        step = rest + smaller / size * step
        size = smaller
    left = squares - float(right @ found)
    return left if left > 1e-9 * squares else 0.0


def _sums(claim: Claim, given: Floats) -> Floats:
    """The sums of the edges that hold, each, the numbers of their ends and that of all."""
    size = claim.size
    out, into, every = given[:size], given[size:-1], float(given[-1])
    if not claim.directed:
        rows = (size - 2) * out + out.sum() + (size - 1) * every
        return np.concatenate((rows, np.zeros(size), [rows.sum() / 2]))
    rows = (size - 1) * (out + every) + into.sum() - into
    columns = (size - 1) * (into + every) + out.sum() - out
    return np.concatenate((rows, columns, [rows.sum()]))


def edge_groups(claim: Claim) -> Iterator[tuple[int, float]]:
    """How many edges keep which share of their noise; edges with like ends are alike."""
    kinds: dict[tuple[bool, bool], list[int]] = {}
    for node in range(claim.size):
        kinds.setdefault((bool(claim.out[node]), bool(claim.into[node])), []).append(node)
    groups = list(kinds.values())
    chosen = product(groups, groups) if claim.directed else combinations_with_replacement(groups, 2)
    for one, other in chosen:
        same = one is other
        count = len(one) * (len(other) - same) // (2 if same and not claim.directed else 1)
        if count:
            first, second = one[0], other[1 if same else 0]
            wanted = np.zeros(2 * claim.size + 1)
            wanted[first] = wanted[-1] = 1.0
            wanted[second + (claim.size if claim.directed else 0)] = 1.0
            yield count, left_over(claim, wanted, 1.0)


def degree_groups(claim: Claim, *, into: bool) -> Iterator[tuple[int, float]]:
    """How many degrees keep which share of the noise of one edge."""
    kinds: dict[tuple[bool, bool], list[int]] = {}
    for node in range(claim.size):
        kinds.setdefault((bool(claim.out[node]), bool(claim.into[node])), []).append(node)
    size = claim.size
    for (out, inside), nodes in kinds.items():
        if inside if into else out:
            yield len(nodes), 0.0
            continue
        own, others = np.zeros(size), np.ones(size)
        own[nodes[0]], others[nodes[0]] = size - 1, 0.0
        parts = (others, own) if into else (own, others)
        if not claim.directed:
            parts = (own + others, np.zeros(size))
        wanted = np.concatenate((*parts, [float(size - 1)]))
        yield len(nodes), left_over(claim, wanted, float(size - 1))


def count_share(claim: Claim) -> float:
    """Which share of the noise of one edge the number of edges keeps."""
    if claim.total:
        return 0.0
    every = np.full(claim.size, float(claim.size - 1))
    other = every if claim.directed else np.zeros(claim.size)
    wanted = np.concatenate((every, other, [float(claim.pairs)]))
    return left_over(claim, wanted, float(claim.pairs))
