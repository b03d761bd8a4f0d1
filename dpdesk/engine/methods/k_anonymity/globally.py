"""Recoding every value of an attribute alike, but not all to one level: two searches.

Top-down specialisation (after Fung, Wang and Yu) starts with every attribute at the top of its
hierarchy, and replaces one node at a time by those below it, everywhere, as long as every class
keeps k rows and passes what is required. The step comes first that regains most detail for what it
takes from the smallest class, the gain divided by 1 + the rows that this class gets smaller by: a
step that leaves room for others. A step that fails once fails for good, for classes only get
smaller, and classes that pass together pass as one; so no node is tried again.

k-Optimize (Bayardo and Agrawal) cuts the ordered values of each attribute into intervals. Sets of
cuts are enumerated, best first, and left out with all that follow where a lower bound of their
discernibility is no better than what is known. All cuts that may follow make the finest classes of
a set: a row of one of n rows costs max(n, k) at least, or N where its class has fewer than k rows.
Tuples that no such cut divides are counted as one, and all cuts of an attribute are weighed by sums
along its values, so a set deep in the search costs little. Where classes must pass more than k, the
same bounds hold, and those of :func:`~.requirements.least_removed` with them; every set that is
reached is then judged by all that is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.jobs import CancelToken, EarlyEnd, Note, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.engine.methods.k_anonymity.clustering import HEURISTIC, PROVEN
from dpdesk.engine.methods.k_anonymity.grouping import numbered
from dpdesk.engine.methods.k_anonymity.matched_cells import meaning
from dpdesk.engine.methods.k_anonymity.mondrian import Array
from dpdesk.engine.methods.k_anonymity.preferred import kept_apart
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, least_removed
from dpdesk.engine.methods.k_anonymity.scales import Scale, node_losses

MOST_VISITS = 400_000_000
"""Classes that k-Optimize looks at before it keeps the best that it has (half a minute)."""

SEARCH = "Divide the rows into classes"
_SET_COST, _MOST_TRIED, _FIRST_TOLD = 500, 8, 5_000_000
_MIX = -7046029254386353131  # 2**64 divided by the golden ratio, as a signed word


def top_down(
    scales: Sequence[Scale],
    codes: NDArray[np.int32],
    counts: Array,
    k: int,
    token: CancelToken,
    asked: Constraints | None = None,
) -> Array | None:
    """The node of each attribute of each tuple, shape (tuples, attributes).

    Classes pass what is ``asked`` too, measured against all rows; None where those at the highest
    levels that may be shown do not, or have fewer rows. Raises Cancelled.
    """
    places = np.stack([s.places[codes[:, j]] for j, s in enumerate(scales)], axis=1)
    highest = [
        s.nodes[-1 if s.most is None else s.most][places[:, j]] for j, s in enumerate(scales)
    ]
    nodes = np.stack(highest, axis=1).astype(np.int64)
    classes = kept_apart(scales, codes)
    sizes = np.bincount(classes, counts)
    passed = _pass(asked, np.arange(len(counts)), classes, len(sizes), len(counts))
    if sizes.min() < k or not passed or not _matched(asked, scales, nodes):
        return None
    waiting = {(j, node) for j, s in enumerate(scales) for node in _open(s, np.unique(nodes[:, j]))}
    while True:
        token.check()
        steps = _steps(scales, places, counts, nodes, classes, waiting, k)
        waiting = {step for _, step in steps}
        for _, (j, node) in steps:
            waiting.discard((j, node))
            inside = np.flatnonzero(nodes[:, j] == node)
            below = scales[j].nodes[int(scales[j].levels[node]) - 1][places[inside, j]]
            keys = classes[inside] * len(scales[j].parents) + below
            groups = np.unique(keys, return_inverse=True)[1].reshape(-1)
            lower = nodes[inside]
            lower[:, j] = below
            passed = _pass(asked, inside, groups, int(groups.max()) + 1, len(counts))
            if passed and _matched(asked, scales, lower):
                break
        else:
            return nodes
        nodes[inside, j] = below
        classes[inside] = int(classes.max()) + 1 + groups
        classes = np.unique(classes, return_inverse=True)[1].reshape(-1)
        waiting |= {(j, each) for each in _open(scales[j], np.unique(below))}


def _open(scale: Scale, nodes: Array) -> list[int]:
    """Those of some nodes that may be shown by the ones below them."""
    least = min(scale.shown) if scale.shown else 0
    return [int(node) for node in nodes[scale.levels[nodes] > least]]


def _steps(
    scales: Sequence[Scale],
    places: Array,
    counts: Array,
    nodes: Array,
    classes: Array,
    waiting: Iterable[tuple[int, int]],
    k: int,
) -> list[tuple[float, tuple[int, int]]]:
    """The steps of the ``waiting`` nodes that leave k rows in each class, the best first."""
    smallest, found = int(np.bincount(classes, counts).min()), []
    for j, scale in enumerate(scales):
        mine = np.array([node for attribute, node in waiting if attribute == j], np.int64)
        place = np.full(len(scale.parents), -1, np.int64)
        place[mine] = np.arange(len(mine))
        inside = np.flatnonzero(place[nodes[:, j]] >= 0)
        if not len(inside):
            continue
        above = nodes[inside, j]
        below = scale.nodes[scale.levels[above] - 1, places[inside, j]]
        room = (int(classes.max()) + 1) * len(scale.parents)
        group = numbered(classes[inside] * len(scale.parents) + below, room)[1]
        sizes, which = np.bincount(group, counts[inside]), place[above]
        least = np.full(len(mine), np.inf)
        np.minimum.at(least, which, sizes[group])
        losses = node_losses(scale)
        gains = np.bincount(which, (losses[above] - losses[below]) * counts[inside], len(mine))
        scores = gains / (1 + smallest - np.minimum(least, smallest))
        found += [
            (float(scores[at]), (j, int(mine[at]))) for at in np.flatnonzero(least >= k).tolist()
        ]
    return sorted(found, key=lambda step: (-step[0], step[1]))


def _matched(asked: Constraints | None, scales: Sequence[Scale], nodes: Array) -> bool:
    """Whether classes that show these nodes match enough rows of the population."""
    if asked is None or asked.matched is None:
        return True
    shown = np.stack([meaning(s)[nodes[:, j]] for j, s in enumerate(scales)], axis=1)
    return bool(asked.matched.passing(np.unique(shown, axis=0)).all())


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
    """The class of each tuple, which tuples stay, their discernibility, and what no other set of
    cuts is below.
    """

    classes: Array = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)
    cost: int
    least: int
    visited: int

    @property
    def optimality(self) -> str:
        """Proven optimal, optimal up to a share, or heuristic where nothing is known."""
        return _up_to(self.cost, self.least)


def _up_to(cost: int, least: int) -> str:
    if cost <= least:
        return PROVEN
    if least <= 0:
        return HEURISTIC
    return msg("optimal up to {share:,} %", share=-(-1000 * (cost - least) // least) / 10)


def _least(left: Sequence[_Open], cost: int) -> int:
    """What no set of cuts costs less than, by the best one and the bounds of those left."""
    return int(min([cost, *(bound for bound, *_ in left)]))


def _best_so_far(cost: int, least: int) -> Note:
    return Note(
        "search.best-so-far",
        msg(
            "Best so far: discernibility {cost:,}; no cuts reach less than {least:,}.",
            cost=cost,
            least=least,
        ),
    )


@dataclass(frozen=True, eq=False)
class _Groups:
    """Tuples that no cut of interest divides, as one each: their places and rows."""

    places: NDArray[np.int32] = field(repr=False)
    counts: Array = field(repr=False)


@dataclass(frozen=True, eq=False)
class _Weighed:
    """For each further cut: the rows gone, the discernibility, and a bound for all that follow."""

    gone: Array = field(repr=False)
    costs: Array = field(repr=False)
    bounds: Array = field(repr=False)

    def of(self, which: Array) -> _Weighed:
        """Those of some cuts."""
        return _Weighed(self.gone[which], self.costs[which], self.bounds[which])


_Open = tuple[int, Array, Array, "_Groups"]


class KOptimize:
    """The search: ``places`` are values on ordered scales; classes below ``k``, and those that do
    not pass what is ``asked``, are suppressed.

    Cut number ``starts[j] + v`` is the one behind the value v of attribute j, of those that occur.
    Nodes of the ``least`` level of an attribute are not cut, and those of its ``most`` always are.
    """

    def __init__(
        self,
        places: Array,
        counts: Array,
        k: int,
        allowed: int,
        asked: Constraints | None = None,
        scales: Sequence[Scale] = (),
    ) -> None:
        columns = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in places.T]
        codes = np.ascontiguousarray(np.stack(columns, axis=1), np.int32)
        self._whole = _Groups(codes, np.asarray(counts, np.int64))
        self._k, self._allowed, self._asked = k, allowed, asked
        self._rows = int(counts.sum())
        self._widths = codes.max(axis=0).astype(np.int64) + 1
        self._starts = np.cumsum([0, *self._widths])[:-1].astype(np.int64)
        self._attribute = np.repeat(np.arange(len(self._widths)), self._widths)
        self._may, self._must = (np.ones(len(self._attribute), np.bool_) for _ in range(2))
        self._must[:] = False
        for j, (scale, start) in enumerate(zip(scales, self._starts.tolist(), strict=False)):
            held = scale.nodes[:, np.unique(places[:, j])]
            inner = slice(start, start + held.shape[1] - 1)
            parted = held[:, 1:] != held[:, :-1]
            self._may[inner] = parted[min(scale.shown or (0,))]
            if scale.most is not None:
                self._must[inner] = parted[scale.most]
        self._may[self._starts + self._widths - 1] = False
        self._visited = 0
        self._best: tuple[int, Array] | None = None
        self._end = EarlyEnd(None)

    def search(
        self, token: CancelToken, most: int = MOST_VISITS, report: Report = silent
    ) -> Cuts | None:
        """The best set of cuts; None where no set suppresses few enough. Raises Cancelled.

        After ``most`` visits, and where it is asked to end, it is the best so far, whose bound is
        the least of those of the sets that are left.
        """
        with token.early_end() as self._end:
            return self._searched(token, most, report)

    def _searched(self, token: CancelToken, most: int, report: Report) -> Cuts | None:
        first, every = np.flatnonzero(self._must), np.flatnonzero(self._may & ~self._must)
        lost, hopeless = self._judge(first)
        counts = self._whole.counts
        least = max(lost, int((counts * np.maximum(counts, self._k)).sum()))
        stack: list[_Open] = [] if hopeless else [(least, first, every, self._whole)]
        for limit in sorted({0, self._allowed} if stack else ()):
            self._descend(first, every, limit, token)
        told = _FIRST_TOLD
        while stack and self._visited < most and not self._ended():
            token.check()
            report(StepProgress(SEARCH, min(self._visited, most), most, "classes"))
            if self._visited >= told and self._best is not None:
                told = 2 * self._visited
                report(_best_so_far(self._best[0], _least(stack, self._best[0])))
            bound, made, tail, groups = stack.pop()
            if self._best is None or bound < self._best[0]:
                stack += self._expanded(bound, made, tail, groups)
        if self._best is None:
            return None
        cost, made = self._best
        classes, kept, _ = self._kept(made)
        return Cuts(classes, kept[classes], cost, _least(stack, cost), self._visited)

    def _ended(self) -> bool:
        return self._best is not None and self._end.reached(self._visited)

    def _descend(self, made: Array, every: Array, limit: int, token: CancelToken) -> None:
        """Add the best cut again and again, with at most ``limit`` rows gone: good sets at once."""
        groups, known = self._whole, self._rows**2
        while not self._ended():
            token.check()
            groups, found = self._weighed(made, np.setdiff1d(every, made), groups)
            tail = np.setdiff1d(every, made)
            fits = np.flatnonzero((found.gone <= limit) & (found.gone < self._rows))
            fits = fits[np.argsort(found.costs[fits], kind="stable")][:_MOST_TRIED]
            for at in fits[found.costs[fits] < known].tolist():
                more = np.append(made, tail[at])
                if self._asked is None:
                    self._keep(int(found.costs[at]), more)
                elif self._judge(more)[1]:
                    continue
                made, known = more, int(found.costs[at])
                break
            else:
                return

    def _expanded(self, bound: int, made: Array, tail: Array, groups: _Groups) -> list[_Open]:
        """Sets with one cut more, the best last; each may add those of the later ones."""
        if self._asked is not None and len(made):
            least, hopeless = self._judge(made)
            bound = max(bound, least)
            if hopeless or (self._best is not None and bound >= self._best[0]):
                return []
        while True:  # what is left out makes the bound of the others sharper
            groups, found = self._weighed(made, tail, groups)
            fits = (found.gone <= self._allowed) & (found.gone < self._rows)
            if self._asked is None and fits.any():
                best = np.flatnonzero(fits)[np.argmin(found.costs[fits])]
                self._keep(int(found.costs[best]), np.append(made, tail[best]))
            if self._best is not None:
                fits &= found.bounds < self._best[0]
            if not fits.any():
                return []
            if fits.all():
                break
            tail = tail[fits]
        order = np.argsort(found.costs, kind="stable")
        tail, found = tail[order], found.of(order)
        return [
            (max(bound, int(found.bounds[at])), np.append(made, tail[at]), tail[at + 1 :], groups)
            for at in range(len(tail) - 1, -1, -1)
        ]

    def _weighed(self, made: Array, tail: Array, groups: _Groups) -> tuple[_Groups, _Weighed]:
        """What each cut of the ``tail`` comes to next to those ``made``; and the finest groups."""
        cuts = np.sort(np.concatenate([made, tail]))
        fine, size = self._intervals(cuts), len(groups.counts)
        firsts, of_row = np.empty(size, np.int64), np.empty(size, np.int64)
        many = _numbered(groups.places, fine, self._starts, _slots(size), firsts, of_row)
        firsts = firsts[:many]
        sums = np.bincount(of_row, groups.counts, many).astype(np.int64)
        groups = _Groups(groups.places[firsts], sums)
        classes = np.empty(many, np.int64)
        coarse = self._intervals(made)
        held = _numbered(groups.places, coarse, self._starts, _slots(many), firsts, classes)
        self._visited += size + _SET_COST
        widths = np.bincount(self._attribute[cuts], minlength=len(self._widths))
        weighed = np.zeros((3, len(cuts)), np.int64)
        _weigh(
            groups.places, groups.counts, classes, held, fine, self._starts, widths,
            self._k, self._rows, *weighed,
        )  # fmt: skip
        return groups, _Weighed(*weighed[:, np.searchsorted(cuts, tail)])

    def _intervals(self, cuts: Array) -> Array:
        """The interval of each value of each attribute between some cuts."""
        begins = np.zeros(len(self._attribute) + 1, np.int64)
        begins[cuts + 1] = 1
        found = np.cumsum(begins[:-1])
        return found - found[self._starts][self._attribute]

    def _kept(self, made: Array) -> tuple[Array, NDArray[np.bool_], Array]:
        """The class of each tuple, which classes stay, and their rows."""
        tuples = len(self._whole.counts)
        classes, firsts = np.empty(tuples, np.int64), np.empty(tuples, np.int64)
        place = self._whole.places, self._intervals(made), self._starts, _slots(tuples)
        many = _numbered(*place, firsts, classes)
        self._visited += tuples
        sizes = np.bincount(classes, self._whole.counts, many).astype(np.int64)
        if self._asked is None:
            return classes, sizes >= self._k, sizes
        return classes, self._asked.kept(classes, sizes, self._k, ()), sizes

    def _judge(self, made: Array) -> tuple[int, bool]:
        """Keep a set that is the best so far; what all that follow cost at least, and whether none
        of these is feasible.
        """
        classes, kept, sizes = self._kept(made)
        gone, large = int(sizes[~kept].sum()), sizes >= self._k
        if gone <= self._allowed and kept.any():
            self._keep(int((sizes[kept] ** 2).sum()) + gone * self._rows, made)
        if self._asked is None:
            return 0, int(sizes[~large].sum()) > self._allowed
        if not self._allowed:  # classes that pass each pass together
            return 0, gone > 0
        held = self._asked.held(classes, large)
        each, total = least_removed(self._asked, held, sizes, large, self._allowed)
        return int((each * self._rows + (sizes - each) * self._k).sum()), total > self._allowed

    def _keep(self, cost: int, made: Array) -> None:
        if self._best is None or cost < self._best[0]:
            self._best = cost, made


def _slots(size: int) -> Array:
    return np.full(max(8, 1 << (2 * size - 1).bit_length()), -1, np.int64)


@kernel
def _numbered(
    places: Array, interval: Array, starts: Array, slots: Array, firsts: Array, of_row: Array
) -> int:
    """Number rows alike that have all values in the same intervals; how many numbers there are.

    ``slots``, of a power of two and larger than the rows, is −1 everywhere before.
    """
    mask, found = len(slots) - 1, 0
    for row in range(len(places)):
        key = 0
        for j in range(len(starts)):
            key = (key ^ interval[starts[j] + places[row, j]]) * _MIX
        slot, number = (key >> 20) & mask, -1
        while number < 0:
            at = slots[slot]
            if at < 0:
                slots[slot] = number = found
                firsts[found] = row
                found += 1
                break
            number = at
            for j in range(len(starts)):
                other = interval[starts[j] + places[firsts[at], j]]
                if interval[starts[j] + places[row, j]] != other:
                    number = -1
                    break
            slot = (slot + 1) & mask
        of_row[row] = number
    return found


@kernel
def _weigh(
    places: Array, counts: Array, classes: Array, many: int, interval: Array, starts: Array,
    widths: Array, k: int, rows: int, gone: Array, costs: Array, bounds: Array,
) -> None:  # fmt: skip
    """For each cut, attribute by attribute, the rows that it suppresses and what they and the
    others cost, now and at least.

    ``widths`` are the cuts of each attribute; ``many`` is the number of ``classes``.
    """
    first = 0
    for j in range(len(starts)):
        width = widths[j]
        if width == 0:
            continue
        held = np.zeros((many, width + 1), np.int64)
        least = np.zeros((many, width + 1), np.int64)
        for row in range(len(counts)):
            at = interval[starts[j] + places[row, j]]
            held[classes[row], at] += counts[row]
            least[classes[row], at] += counts[row] * max(counts[row], k)
        for one in range(many):
            whole, all_ = held[one].sum(), least[one].sum()
            left, below = 0, 0
            for at in range(width):
                left += held[one, at]
                below += least[one, at]
                for size, low in ((left, below), (whole - left, all_ - below)):
                    small = size < k
                    gone[first + at] += size if small else 0
                    costs[first + at] += size * (rows if small else size)
                    bounds[first + at] += size * rows if small else low
        first += width
