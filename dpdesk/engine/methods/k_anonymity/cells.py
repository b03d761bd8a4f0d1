"""Releases without one level for each attribute: every tuple has cells of its own.

What Mondrian, local recoding and cell-wise models decide is brought into one form here, counted,
judged and made a recoding, whatever found it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.recoding import TupleRecoding
from dpdesk.engine.hierarchies.editing import Remake
from dpdesk.engine.hierarchies.preview import ROOT, AlignedTable
from dpdesk.engine.methods.k_anonymity.metrics import (
    AttributeUtility,
    GroupSuppression,
    groups_hit,
)
from dpdesk.engine.methods.k_anonymity.mondrian import Parts
from dpdesk.engine.methods.k_anonymity.scales import Scale, range_text
from dpdesk.engine.recoded import row_keys

Array = NDArray[Any]
_MOST_PAIRS, _MOST_STATES = 20_000_000, 5_000


@dataclass(frozen=True, eq=False)
class Cells:
    """The released values of one attribute: ``codes[e]`` of entry e, an index of ``texts``.

    Text ``t`` covers the leaves at the places of ``scale`` from ``low[t]`` to ``high[t]``, or those
    of ``members[t]`` where that is given; ``levels[t]`` is the level of the node that it shows, or
    of the lowest one over what it covers.
    """

    scale: Scale
    texts: tuple[str, ...] = field(repr=False)
    codes: Array = field(repr=False)
    low: Array = field(repr=False)
    high: Array = field(repr=False)
    levels: Array = field(repr=False)
    members: Mapping[int, Array] = field(default_factory=dict, repr=False)

    def covered(self, counts: NDArray[np.bool_]) -> Array:
        """How many of the leaves that count (by code) each text covers."""
        before = np.concatenate([[0], np.cumsum(counts[self.scale.order])])
        found = before[self.high + 1] - before[self.low]
        for text, places in self.members.items():
            found[text] = counts[self.scale.order[places]].sum()
        return np.asarray(found, np.int64)

    def spread(self, rows: Array) -> Array:
        """Rows per leaf (by code) when those of each text are spread evenly over what it covers."""
        total = np.zeros(self.scale.leaves + 1)
        rate = rows / self.covered(np.ones(self.scale.leaves, np.bool_))
        whole = np.ones(len(rate), np.bool_)
        whole[list(self.members)] = False
        np.add.at(total, self.low[whole], rate[whole])
        np.add.at(total, self.high[whole] + 1, -rate[whole])
        by_place = np.cumsum(total)[:-1]
        for text, places in self.members.items():
            by_place[places] += rate[text]
        return np.maximum(by_place[self.scale.places], 0.0)


def node_cells(scale: Scale, nodes: Array) -> Cells:
    """Cells that show nodes of the hierarchy, one for each entry.

    A label of several nodes means the widest; where that would mean other values, the cell shows
    the next node above.
    """
    shown = scale.widest[scale.released[nodes]]
    held, codes = np.unique(shown, return_inverse=True)
    texts = tuple(scale.texts[node] for node in held.tolist())
    return Cells(
        *(scale, texts, codes.reshape(-1), scale.low[held], scale.high[held], scale.levels[held])
    )


def part_cells(scale: Scale, parts: Parts, column: int, *, ranges: bool) -> Cells:
    """Cells that show what the entries of each part share, as a node or as a range."""
    values, sizes = parts.places[:, column], np.diff(parts.starts)
    low = np.minimum.reduceat(values, parts.starts[:-1])
    high = np.maximum.reduceat(values, parts.starts[:-1])
    if not ranges or not (scale.numeric or scale.listed):
        return node_cells(scale, np.repeat(scale.common(low, high), sizes))
    nodes = None if scale.shown is None else scale.nodes[min(scale.shown)]
    if scale.numeric and not scale.missing:
        if nodes is not None:
            low, high = scale.low[nodes[low]], scale.high[nodes[high]]
        held, which = np.unique(low.astype(np.int64) * scale.leaves + high, return_inverse=True)
        groups = [sorted({key // scale.leaves, key % scale.leaves}) for key in held.tolist()]
        return _range_cells(scale, groups, np.repeat(which.reshape(-1), sizes))
    part = np.repeat(np.arange(len(sizes)), sizes)
    pairs = np.unique(part * np.int64(scale.leaves) + values)
    ends = np.searchsorted(pairs // scale.leaves, np.arange(len(sizes) + 1))
    places = (pairs % scale.leaves).tolist()
    index: dict[tuple[int, ...], int] = {}
    found = [
        index.setdefault(tuple(places[first:last]), len(index))
        for first, last in pairwise(ends.tolist())
    ]
    several: list[Sequence[int]] = list(index)
    if nodes is not None:
        several = [np.flatnonzero(np.isin(nodes, nodes[list(g)])).tolist() for g in several]
    return _range_cells(scale, several, np.repeat(np.array(found, np.int64), sizes))


def _range_cells(scale: Scale, groups: Sequence[Sequence[int]], codes: Array) -> Cells:
    """Cells whose code c shows the range of ``groups[c]``, ascending places; equal texts are one.

    A text of several ranges shows nothing that either covers: both become ``*``.
    """
    texts_of = [range_text(scale, [int(scale.order[place]) for place in group]) for group in groups]
    said = [ROOT if text is None else text for text in texts_of]
    texts = list(dict.fromkeys(said))
    if len(texts) < len(said):
        times = Counter(said)
        said = [ROOT if times[text] > 1 else text for text in said]
        texts = list(dict.fromkeys(said))
    index = {text: place for place, text in enumerate(texts)}
    group_of = dict(zip(said, groups, strict=True))
    first = [group_of[text] for text in texts]
    low = np.array([0 if t == ROOT else g[0] for t, g in zip(texts, first, strict=True)], np.int64)
    high = np.array(
        [scale.leaves - 1 if t == ROOT else g[-1] for t, g in zip(texts, first, strict=True)],
        np.int64,
    )
    members = {}
    if not scale.numeric:
        several = enumerate(zip(texts, first, strict=True))
        members = {at: np.array(g) for at, (t, g) in several if t != ROOT and len(g) > 1}
    own = np.array([index[text] for text in said], np.int64)
    levels = scale.level_over(low, high)
    return Cells(scale, tuple(texts), own[codes], low, high, levels, members)


@dataclass(frozen=True, eq=False)
class CellRelease:
    """Entries with their cells: ``rows[e]`` of the rows of tuple ``tuples[e]``, kept or not.

    Entries of a tuple may be several. Kept rows with equal cells are a class. Tuples that look
    alike in the table differ in other columns, by which rows are told apart.
    """

    table: AlignedTable
    cells: tuple[Cells, ...]
    tuples: Array = field(repr=False)
    rows: Array = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)

    @cached_property
    def _classes(self) -> tuple[Array, Array]:
        """The first kept entry of each class, and the class of each kept entry."""
        codes = np.stack([cells.codes[self.kept] for cells in self.cells], axis=1)
        keys = row_keys(codes, [len(cells.texts) for cells in self.cells])
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        return first, which.reshape(-1)

    @property
    def of_tuple(self) -> Array:
        """The class of each tuple, where each has one entry; their number for those left out."""
        found = np.empty(len(self.table.counts), np.int64)
        found[self.tuples] = self.of_entry
        return found

    @property
    def of_entry(self) -> Array:
        """The class of each entry; the number of classes for those left out."""
        first, which = self._classes
        found = np.full(len(self.tuples), len(first), np.int64)
        found[self.kept] = which
        return found

    @cached_property
    def sizes(self) -> Array:
        """Rows of each class."""
        first, which = self._classes
        return np.bincount(which, self.rows[self.kept], len(first)).astype(np.int64)

    @property
    def shown(self) -> Array:
        """The node that each class shows of each attribute, where cells show nodes."""
        first, _ = self._classes
        columns = []
        for cells in self.cells:
            at = cells.codes[self.kept][first]
            node = cells.scale.common(cells.low[at], cells.high[at])
            columns.append(cells.scale.widest[node])
        return np.stack(columns, axis=1)

    @cached_property
    def suppressed(self) -> int:
        """Rows that are left out."""
        return int(self.rows[~self.kept].sum())

    def recoding(self, counted: FrequencyTable, dropped: Sequence[str]) -> TupleRecoding:
        """What is done to each tuple of the source; columns by which rows are told apart, which
        stand last in ``counted``, stay as they are.
        """
        first, which = self._classes
        columns = [cells.codes[self.kept] for cells in self.cells]
        others = range(len(columns), len(counted.attributes))
        columns += [counted.codes[self.tuples[self.kept], place] for place in others]
        if others:
            sizes = [*(len(cells.texts) for cells in self.cells)]
            sizes += [len(counted.domains[place]) for place in others]
            keys = row_keys(np.stack(columns, axis=1), sizes)
            _, first, which = np.unique(keys, return_index=True, return_inverse=True)
        target = np.full(len(self.rows), -1, np.int64)
        target[self.kept] = which.reshape(-1)
        tuples, targets, rows = _joined(self.tuples, target, self.rows)
        texts = [cells.texts for cells in self.cells]
        return TupleRecoding(
            attributes=counted.attributes,
            domains=tuple(map(tuple, counted.domains)),
            codes=counted.codes,
            labels=(*texts, *(tuple(counted.domains[place]) for place in others)),
            targets=np.stack([column[first] for column in columns], axis=1).astype(np.int32),
            source=tuples,
            target=targets,
            rows=rows,
            dropped_columns=tuple(dropped),
            told_apart=tuple(counted.attributes[place] for place in others),
        )

    def covers(self) -> dict[str, int | float]:
        """How many rows of the other kind each original and each released row fits, at least.

        ``originals``: released rows that generalise an original; ``released``: originals under a
        released row; ``matching``: released rows that an original meets in some perfect matching;
        ``largest_share``: the largest share of all perfect matchings in which one original meets
        one released row, where these can be counted. Empty for a table with too many pairs to look
        at.
        """
        first, which = self._classes
        tuples = len(self.table.counts)
        if tuples * len(first) > _MOST_PAIRS:
            return {}
        fits = np.ones((tuples, len(first)), np.bool_)
        for place, cells in enumerate(self.cells):
            at = cells.scale.places[self.table.codes[:, place]]
            shown = cells.codes[self.kept][first]
            fits &= (cells.low[shown] <= at[:, None]) & (at[:, None] <= cells.high[shown])
        flows = np.zeros(fits.shape, np.bool_)
        flows[self.tuples[self.kept], which] = True
        matched = fits & (_meeting(fits, flows) | flows)
        sizes, counts = self.sizes, self.table.counts
        share = _largest_share(fits, counts, sizes)
        return ({} if share is None else {"largest_share": share}) | {
            "originals": int((fits @ sizes).min()),
            "released": int((counts @ fits).min()),
            "matching": int((matched @ sizes).min()),
        }

    def leaf_rows(self, *, kept: bool) -> tuple[Array, ...]:
        """Rows per leaf of each attribute, of all rows or of those that are kept."""
        rows = np.where(self.kept, self.rows, 0) if kept else self.rows
        columns = self.table.codes[self.tuples].T
        sizes = [cells.scale.leaves for cells in self.cells]
        return tuple(
            np.bincount(column, rows, size) for column, size in zip(columns, sizes, strict=True)
        )

    def utilities(self) -> tuple[AttributeUtility, ...]:
        """What each attribute lost; its level is the highest that one of its cells shows."""
        found = []
        before, after = self.leaf_rows(kept=False), self.leaf_rows(kept=True)
        for name, cells, raw, held in zip(
            self.table.attributes, self.cells, before, after, strict=True
        ):
            shown = np.bincount(cells.codes[self.kept], self.rows[self.kept], len(cells.texts))
            every = np.ones(cells.scale.leaves, np.bool_)
            lost = float((shown * (cells.covered(every) - 1)).sum()) / max(len(every) - 1, 1)
            rebuilt = cells.spread(shown) / max(held.sum(), 1)
            found.append(
                AttributeUtility(
                    attribute=name,
                    level=int(cells.levels[shown > 0].max(initial=0)),
                    height=cells.scale.hierarchy.height,
                    loss=(lost + self.suppressed) / raw.sum(),
                    distance=float(np.abs(raw / raw.sum() - rebuilt).sum() / 2),
                )
            )
        return tuple(found)

    def groups(self) -> tuple[GroupSuppression, ...]:
        """The original values that suppression hit most."""
        return groups_hit(self.table, self.leaf_rows(kept=False), self.leaf_rows(kept=True))

    def entropy(self) -> float:
        """Bits lost: minus the sum over cells of log2(n_raw / n_generalised); see the metrics."""
        total = 0.0
        codes = self.table.codes[self.tuples]
        for place, (cells, raw) in enumerate(
            zip(self.cells, self.leaf_rows(kept=False), strict=True)
        ):
            by_place = np.concatenate([[0], np.cumsum(raw[cells.scale.order])])
            shown = by_place[cells.high + 1] - by_place[cells.low]
            for text, places in cells.members.items():
                shown[text] = raw[cells.scale.order[places]].sum()
            general = np.where(self.kept, shown[cells.codes], raw.sum())
            total += float((self.rows * np.log2(general / raw[codes[:, place]])).sum())
        return total

    def told(self, remakes: Mapping[str, Remake]) -> tuple[Fraction, Fraction]:
        """Mean loss and precision of a cell, as a release may tell them: without values of
        suppressed rows, where these made a hierarchy.
        """
        losses, steps = [], []
        rows = int(self.rows.sum())
        before, after = self.leaf_rows(kept=False), self.leaf_rows(kept=True)
        for place, (name, cells) in enumerate(zip(self.table.attributes, self.cells, strict=True)):
            counts, height = _counted(
                self.table, place, before[place], after[place], remakes.get(name)
            )
            shown = np.bincount(cells.codes[self.kept], self.rows[self.kept], len(cells.texts))
            weights, whole = shown.astype(np.int64), int(counts.sum()) - 1
            lost = int((weights * (cells.covered(counts) - 1)).sum())
            losses.append((Fraction(lost, whole) if whole > 0 else 0) + self.suppressed)
            moved = int((weights * np.minimum(cells.levels, height)).sum())
            steps.append((Fraction(moved, height) if height else 0) + self.suppressed)
        mean = Fraction(1, max(rows, 1) * len(losses))
        return sum(losses, Fraction(0)) * mean, 1 - sum(steps, Fraction(0)) * mean


def _meeting(fits: NDArray[np.bool_], flows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which pairs lie on a cycle that alternates between pairs that fit and pairs that are used.

    Going around it changes one perfect matching into another, and all arise so: they are the pairs
    within one strongly connected part.
    """
    from scipy.sparse import bmat, csr_array
    from scipy.sparse.csgraph import connected_components

    graph = bmat([[None, csr_array(fits)], [csr_array(flows.T), None]])
    _, part = connected_components(graph, directed=True, connection="strong")
    tuples = len(fits)
    return np.asarray(part[:tuples, None] == part[None, tuples:])


def _largest_share(fits: NDArray[np.bool_], originals: Array, released: Array) -> float | None:
    """The largest share of perfect matchings that hold one pair; None where they are too many.

    Rows that fit the same are counted together: of n rows of a tuple x_b go to class b in
    n!/Π x_b! ways. Parts that nothing connects are counted by themselves.
    """
    from scipy.sparse import bmat, csr_array
    from scipy.sparse.csgraph import connected_components

    whole = csr_array(fits)
    _, part = connected_components(bmat([[None, whole], [whole.T, None]]), directed=False)
    of_class = part[len(fits) :]
    shares = []
    for each in range(int(part.max()) + 1):
        tuples, classes = (
            np.flatnonzero(part[: len(fits)] == each),
            np.flatnonzero(of_class == each),
        )
        if math.prod((released[classes] + 1).tolist()) * len(tuples) > _MOST_STATES:
            return None
        rows, free = originals[tuples].tolist(), tuple(released[classes].tolist())
        shares.append(_share_of_part(fits[np.ix_(tuples, classes)].tolist(), rows, free))
    return float(max(shares))


def _share_of_part(fits: list[list[bool]], rows: list[int], free: tuple[int, ...]) -> Fraction:
    """See :func:`_largest_share`; ``free`` are the rows of each class, all of which are taken."""
    ways: list[dict[tuple[int, ...], int]] = [{free: 1}]
    steps = []
    for row, size in zip(fits, rows, strict=True):
        found: dict[tuple[int, ...], int] = {}
        taken = []
        for left, known in ways[-1].items():
            for split in _splits(size, [n if fit else 0 for n, fit in zip(left, row, strict=True)]):
                after = tuple(n - x for n, x in zip(left, split, strict=True))
                weight = math.factorial(size) // math.prod(map(math.factorial, split))
                found[after] = found.get(after, 0) + known * weight
                taken.append((left, split, weight, after))
        ways.append(found)
        steps.append(taken)
    rest, best = {(0,) * len(free): 1}, Fraction(0)
    total = ways[-1][(0,) * len(free)]
    for before, taken, size in zip(ways[-2::-1], steps[::-1], rows[::-1], strict=True):
        earlier: dict[tuple[int, ...], int] = {}
        met = [0] * len(free)
        for left, split, weight, after in taken:
            here = weight * rest.get(after, 0)
            earlier[left] = earlier.get(left, 0) + here
            for at, x in enumerate(split):
                met[at] += x * here * before[left]
        rest = earlier
        shares = (Fraction(n, size * m * total) for n, m in zip(met, free, strict=True))
        best = max(best, *shares)
    return best


def _splits(size: int, room: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All ways to divide ``size`` rows among places with so much room."""
    if not room:
        if not size:
            yield ()
        return
    for first in range(min(size, room[0]) + 1):
        for others in _splits(size - first, room[1:]):
            yield (first, *others)


def _joined(tuples: Array, target: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Entries in the order of their tuples, those of one tuple with one target as one."""
    order = np.lexsort((target, tuples))
    tuples, target, rows = tuples[order], target[order], rows[order]
    new = np.concatenate([[True], (tuples[1:] != tuples[:-1]) | (target[1:] != target[:-1])])
    first = np.flatnonzero(new)
    return tuples[first], target[first], np.add.reduceat(rows, first)


def _counted(
    table: AlignedTable, place: int, before: Array, after: Array, remake: Remake | None
) -> tuple[NDArray[np.bool_], int]:
    """Which leaves count in a public figure, and how many steps there are to the top."""
    hierarchy, held = table.hierarchies[place], after > 0
    whole = np.ones(len(held), np.bool_)
    if remake is None:
        whole[[code for code in table.added[place] if not held[code]]] = False
        return whole, hierarchy.height
    if not held.any() or bool((held == (before > 0)).all()):
        return whole, hierarchy.height
    shown = [hierarchy.leaves[code] for code in np.flatnonzero(held).tolist()]
    missing = {hierarchy.leaves[code] for code in table.missing[place]}
    alone = remake(shown, [value for value in shown if value in missing])
    if alone is None:
        levels = range(hierarchy.height + 1)
        return held, next(n for n in levels if len(np.unique(hierarchy.ancestors(n)[held])) == 1)
    alone = alone.with_untouched_leaves([value for value in shown if value in missing])
    return np.array([leaf in alone.leaf_codes for leaf in hierarchy.leaves]), alone.height
