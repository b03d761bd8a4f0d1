"""Recoding every value of an attribute alike, but not all to one level: two searches.

Top-down specialisation (after Fung, Wang and Yu) starts with every attribute at the top of its
hierarchy, and replaces one node at a time by those below it, everywhere, as long as every class
keeps k rows and passes what is required; the step that regains most detail comes first. A step that
fails once fails for good, for classes only get smaller, and classes that pass together pass as one;
so each node is tried once.

k-Optimize (Bayardo and Agrawal) cuts the ordered values of each attribute into intervals. Sets of
cuts are enumerated, best first, and left out with all that follow where a lower bound of their
discernibility is no better than what is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.engine.methods.k_anonymity.clustering import HEURISTIC, PROVEN, node_losses
from dpdesk.engine.methods.k_anonymity.mondrian import Array
from dpdesk.engine.methods.k_anonymity.requirements import Constraints
from dpdesk.engine.methods.k_anonymity.scales import Scale

MOST_VISITS = 200_000_000
"""Tuples that k-Optimize looks at before it keeps the best that it has."""


def top_down(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    token: CancelToken,
    asked: Constraints | None = None,
) -> Array | None:
    """The node of each attribute of each tuple, shape (tuples, attributes).

    Classes pass what is ``asked`` too, measured against all rows; None where all rows together do
    not. Raises Cancelled.
    """
    places = np.stack([s.places[codes[:, j]] for j, s in enumerate(scales)], axis=1)
    nodes = np.tile(np.array([scale.top for scale in scales], np.int64), (len(counts), 1))
    classes = np.zeros(len(counts), np.int64)
    if asked is not None and not asked.passing(classes, np.ones(1, np.bool_)).all():
        return None
    waiting: list[tuple[float, int, int]] = []

    def wait(j: int, node: int) -> None:
        """Let a node wait for its turn, by the detail that its step regains."""
        scale = scales[j]
        level = int(scale.levels[node])
        if level == 0:
            return
        inside = nodes[:, j] == node
        below = scale.nodes[level - 1][places[inside, j]]
        losses = node_losses(scale)
        gain = float(((losses[node] - losses[below]) * counts[inside]).sum())
        heappush(waiting, (-gain, j, node))

    for j, scale in enumerate(scales):
        wait(j, scale.top)
    while waiting:
        token.check()
        _, j, node = heappop(waiting)
        inside = np.flatnonzero(nodes[:, j] == node)
        below = scales[j].nodes[int(scales[j].levels[node]) - 1][places[inside, j]]
        keys = classes[inside] * len(scales[j].parents) + below
        groups = np.unique(keys, return_inverse=True)[1].reshape(-1)
        sizes = np.bincount(groups, counts[inside])
        if sizes.min() < k or not _pass(asked, inside, groups, len(sizes), len(counts)):
            continue
        nodes[inside, j] = below
        classes[inside] = int(classes.max()) + 1 + groups
        classes = np.unique(classes, return_inverse=True)[1].reshape(-1)
        for child in np.unique(below).tolist():
            wait(j, child)
    return nodes


def _pass(
    asked: Constraints | None, inside: Array, groups: Array, classes: int, tuples: int
) -> bool:
    """Whether new classes, ``groups`` of the tuples ``inside``, pass what is asked."""
    if asked is None:
        return True
    of_tuple = np.full(tuples, classes, np.int64)
    of_tuple[inside] = groups
    wanted = np.arange(classes + 1) < classes
    return bool((asked.passing(of_tuple, wanted, asked.whole) == wanted).all())


@dataclass(frozen=True, eq=False)
class Cuts:
    """The class of each tuple, its discernibility, and what no other set of cuts is below."""

    classes: Array = field(repr=False)
    cost: int
    least: int
    visited: int

    @property
    def optimality(self) -> str:
        """Proven optimal, optimal up to a share, or heuristic where nothing is known."""
        if self.cost <= self.least:
            return PROVEN
        if self.least <= 0:
            return HEURISTIC
        share = math.ceil(1000 * (self.cost / self.least - 1)) / 10
        return msg("optimal up to {share:,} %", share=share)


class KOptimize:
    """The search: ``places`` are values on ordered scales, classes below ``k`` are suppressed."""

    def __init__(self, places: Array, counts: Array, k: int, allowed: int) -> None:
        self._counts, self._k, self._allowed = np.asarray(counts, np.float64), k, allowed
        self._rows = int(counts.sum())
        self._sides: list[NDArray[np.bool_]] = []
        for column in places.T:
            self._sides += [column > value for value in np.unique(column)[:-1].tolist()]
        self._visited = 0
        self._best: tuple[int, Array] | None = None

    def search(self, token: CancelToken, most: int = MOST_VISITS) -> Cuts | None:
        """The best set of cuts; None where no set suppresses few enough. Raises Cancelled."""
        whole = np.zeros(len(self._counts), np.int64)
        self._try(whole)
        stack: list[tuple[float, tuple[int, ...], tuple[int, ...]]] = [
            (0.0, (), tuple(range(len(self._sides))))
        ]
        while stack and self._visited < most:
            token.check()
            bound, made, tail = stack.pop()
            if self._best is None or bound < self._best[0]:
                stack += self._expanded(made, tail)
        if self._best is None:
            return None
        cost, classes = self._best
        least = min((bound for bound, _, _ in stack), default=float(cost))
        return Cuts(classes, cost, int(min(least, cost)), self._visited)

    def _expanded(
        self, made: tuple[int, ...], tail: tuple[int, ...]
    ) -> list[tuple[float, tuple[int, ...], tuple[int, ...]]]:
        """Sets with one cut more, the most promising last; each may add those of the later ones."""
        classes = self._classes(np.zeros(len(self._counts), np.int64), made)
        kept: list[tuple[float, float, int]] = []
        for _ in range(2):  # what is left out makes the bound of the others sharper
            kept = self._promising(classes, tail)
            if len(kept) == len(tail):
                break
            tail = tuple(cut for _, _, cut in kept)
        kept.sort()
        order = [cut for _, _, cut in kept]
        found = [
            (bound, (*made, cut), tuple(order[at + 1 :])) for at, (_, bound, cut) in enumerate(kept)
        ]
        return found[::-1]

    def _promising(self, classes: Array, tail: Sequence[int]) -> list[tuple[float, float, int]]:
        """Cost and lower bound of each further cut that may lead to something better."""
        finest = self._classes(classes, tail)
        fine = np.bincount(finest, self._counts)[finest]
        least = np.maximum(fine, self._k)
        found = []
        for cut in tail:
            self._visited += len(classes)
            refined = 2 * classes + self._sides[cut]
            sizes = np.bincount(refined, self._counts)
            small = sizes[refined] < self._k
            gone = float(self._counts[small].sum())
            if gone > self._allowed or gone == self._rows:
                continue  # more cuts suppress no fewer rows
            cost = float((sizes[sizes >= self._k] ** 2).sum()) + gone * self._rows
            self._keep(cost, refined)
            bound = float((self._counts * np.where(small, self._rows, least)).sum())
            if self._best is None or bound < self._best[0]:
                found.append((cost, bound, cut))
        return found

    def _classes(self, classes: Array, cuts: Sequence[int]) -> Array:
        for cut in cuts:
            self._visited += len(classes)
            classes = np.unique(2 * classes + self._sides[cut], return_inverse=True)[1].reshape(-1)
        return classes

    def _try(self, classes: Array) -> None:
        sizes = np.bincount(classes, self._counts)
        gone = float(sizes[sizes < self._k].sum())
        if gone <= self._allowed and gone < self._rows:
            cost = float((sizes[sizes >= self._k] ** 2).sum()) + gone * self._rows
            self._keep(cost, classes)

    def _keep(self, cost: float, classes: Array) -> None:
        if self._best is None or cost < self._best[0]:
            self._best = int(cost), classes.copy()
