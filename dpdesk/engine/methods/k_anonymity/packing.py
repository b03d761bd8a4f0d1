"""The lattice in the form that the kernels walk: packed keys, step tables, order of attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.lattice import (
    Ints,
    LatticeProblem,
    Node,
    generalised_classes,
)

Flag = NDArray[np.uint8]
Renumbering = tuple[Ints, ...]

_WORD_BITS = 63
_SAMPLE = 2_000
_PIECE = 500_000


@dataclass(frozen=True, eq=False)
class GroupTable:
    """The groups of one node, as the kernels read them: see there."""

    rests: Ints
    entries: Ints

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def nbytes(self) -> int:
        """Memory in bytes."""
        return self.rests.nbytes + self.entries.nbytes


@dataclass(frozen=True, eq=False)
class PackedLattice:
    """A problem with its attributes in walk order (``order[i]`` is the attribute at position i).

    The last position is the inner attribute (see the kernels); a walk makes tables for its level 0
    alone. ``base`` is the group table of the raw node. Each other attribute has its own bits in the
    ``words`` words of a key, 63 used bits each, so any number of attributes fits. ``codes[j][l]``
    gives the packed code of each value of level l of attribute j; packed codes number siblings next
    to each other at every level. ``steps[i, l]`` is (word, shift, mask, offset into ``maps``) for
    raising position i from level l; rows of ``maps`` are (new code, change of the loss cost, change
    of the log cost). ``inner[l]`` holds for each packed code of the inner attribute at level l the
    code one level up, the loss cost and the log cost.
    """

    problem: LatticeProblem
    order: Node
    words: int
    base: GroupTable
    heights: Ints
    fields: Ints
    steps: Ints
    maps: Ints
    inner: Ints
    codes: tuple[Renumbering, ...]

    @classmethod
    def of(cls, problem: LatticeProblem, token: CancelToken) -> PackedLattice:
        """Pack a problem; the order of the attributes makes the walk cheap, see _walk_order.

        Raises Cancelled.
        """
        if "value_rows" not in problem.__dict__:
            problem.prepare(token)
        order = _walk_order(problem)
        token.check()
        fields, words = _fields(problem, order[:-1])
        codes = tuple(_sibling_order(problem, attribute) for attribute in range(len(order)))
        steps, maps = _step_tables(problem, order[:-1], fields, codes)
        return cls(
            problem=problem,
            order=order,
            words=words,
            base=_base(problem, order, fields, codes, token),
            heights=np.array([problem.heights[j] for j in order], np.int64),
            fields=fields,
            steps=steps,
            maps=maps,
            inner=_inner_levels(problem, order[-1], codes[order[-1]]),
            codes=codes,
        )

    @cached_property
    def strides(self) -> Ints:
        """Node number per step of each position; OverflowError beyond 2**63 nodes."""
        return np.array([self.problem.strides[attribute] for attribute in self.order], np.int64)

    @cached_property
    def depth(self) -> int:
        """Most steps from the raw node to the top."""
        return int(self.heights.sum())

    def step_map(self, position: int, lower: int, upper: int) -> Ints:
        """(new code, change of loss cost, of log cost) of each value raised to ``upper``."""
        attribute = self.order[position]
        return _step_map(self.problem, attribute, self.codes[attribute], lower, upper)


def _walk_order(problem: LatticeProblem) -> Node:
    """Attributes in walk order: those that shrink the table most come first, the inner one last.

    Each table is made from its parent by the last attribute in this order that is above level 0, so
    one that an early attribute has shrunk serves many nodes. Ranked by the number of classes of a
    sample when the attribute alone is at its top; attributes of height 0 come first. Inner is the
    attribute that saves most tables: the number of its levels times the share of groups that it
    joins in the sample.
    """
    sample = problem
    if len(problem.counts) > _SAMPLE:
        every = -(-len(problem.counts) // _SAMPLE)
        sample = LatticeProblem(
            problem.attributes, problem.hierarchies, problem.codes[::every], problem.counts[::every]
        )
    classes = []
    for position, height in enumerate(problem.heights):
        levels = [0] * len(problem.heights)
        levels[position] = height
        classes.append(len(generalised_classes(sample, levels)[1]) if height else 0)
    ranked = sorted(range(len(classes)), key=lambda position: (classes[position], position))
    joined = [
        height * (len(sample.counts) - left)
        for height, left in zip(problem.heights, classes, strict=True)
    ]
    inner = max(ranked, key=joined.__getitem__)
    return (*(position for position in ranked if position != inner), inner)


def _fields(problem: LatticeProblem, order: Node) -> tuple[Ints, int]:
    """(word, shift, mask) of each position; earlier positions lie in more significant bits."""
    fields = np.zeros((len(order), 3), np.int64)
    word, left = 0, _WORD_BITS
    for position, attribute in enumerate(order):
        bits = (len(problem.hierarchies[attribute].leaves) - 1).bit_length()
        if bits > left:
            word, left = word + 1, _WORD_BITS
        left -= bits
        fields[position] = word, left, (1 << bits) - 1
    return fields, word + 1


def _base(
    problem: LatticeProblem,
    order: Node,
    fields: Ints,
    renumbered: tuple[Renumbering, ...],
    token: CancelToken,
) -> GroupTable:
    """The raw node: its tuples sorted, equal ones added up; in pieces, since they may be many."""
    words = int(fields[-1, 0]) + 1 if len(fields) else 1
    size, codes = len(problem.counts), problem.codes
    if not size:
        return GroupTable(np.zeros((1, words + 3), np.int64), np.empty(0, np.int64))
    keys = np.zeros((words + 1, size), np.int64)
    for piece in _pieces(size, token):
        for (word, shift, _), attribute in zip(fields, order, strict=False):
            keys[word, piece] |= renumbered[attribute][0][codes[piece, attribute]] << shift
        keys[words, piece] = renumbered[order[-1]][0][codes[piece, order[-1]]]
    ranks = _sorted_ranks(keys, token)
    rest, entry = np.ones(size, np.bool_), np.ones(size, np.bool_)
    for piece in _pieces(size - 1, token):
        low, high = ranks[piece.start : piece.stop], ranks[piece.start + 1 : piece.stop + 1]
        at = slice(piece.start + 1, piece.stop + 1)
        rest[at] = (keys[:words, high] != keys[:words, low]).any(axis=0)
        entry[at] = rest[at] | (keys[words, high] != keys[words, low])
    starts = np.flatnonzero(entry)
    entries = keys[words][ranks[starts]]
    entries <<= 32
    token.check()
    entries |= np.add.reduceat(problem.counts[ranks], starts)
    firsts = np.flatnonzero(rest)
    rests = np.empty((len(firsts), words + 3), np.int64)
    for piece in _pieces(len(firsts), token):
        places = ranks[firsts[piece]]
        rests[piece, :words] = keys[:words, places].T
        rests[piece, words : words + 2] = _raw_costs(problem, order[:-1], codes[places])
    rests[:-1, words + 2] = np.searchsorted(starts, firsts[1:])
    rests[-1, words + 2] = len(starts)
    return GroupTable(rests, entries)


def _raw_costs(problem: LatticeProblem, order: Node, codes: NDArray[np.int32]) -> Ints:
    """Loss and log cost of the cells of some raw tuples, shape (tuples, 2)."""
    costs = np.zeros((len(codes), 2), np.int64)
    for attribute in order:
        costs[:, 0] += problem.loss_cost(attribute, 0)[codes[:, attribute]]
        costs[:, 1] += problem.log_cost(attribute, 0)[codes[:, attribute]]
    return costs


def _pieces(size: int, token: CancelToken) -> Iterator[slice]:
    """Cut ``size`` places into pieces; raises Cancelled before each."""
    for first in range(0, size, _PIECE):
        token.check()
        yield slice(first, min(first + _PIECE, size))


def _inner_levels(problem: LatticeProblem, attribute: int, codes: Renumbering) -> Ints:
    """(code one level up, loss cost, log cost) of each packed code of each level; 0 at the top."""
    heights, leaves = problem.heights[attribute], len(codes[0])
    levels = np.zeros((heights + 1, leaves, 3), np.int64)
    for level, renumbered in enumerate(codes):
        rows = np.zeros((len(renumbered), 3), np.int64)
        if level < heights:
            rows[:, 0] = codes[level + 1][problem.hierarchies[attribute].parents[level]]
        rows[:, 1] = problem.loss_cost(attribute, level)
        rows[:, 2] = problem.log_cost(attribute, level)
        levels[level, renumbered] = rows
    return levels


def _sorted_ranks(keys: Ints, token: CancelToken) -> NDArray[np.intp]:
    """Places of the keys, shape (words, keys), the first most significant, in ascending order.

    In pieces of keys between cuts that a sample suggests, so that a cancel need not wait for one
    long sort. Raises Cancelled.
    """
    first = keys[0]
    pieces = max(1, -(-len(first) // _PIECE))
    cuts = np.unique(np.sort(first[:: max(1, len(first) // 10_000)])[:: max(1, 10_000 // pieces)])
    if len(cuts) < 2:
        return np.lexsort(keys[::-1])
    parts = np.empty(len(first), np.uint16)
    for piece in _pieces(len(first), token):
        parts[piece] = np.searchsorted(cuts[1:], first[piece], "right")
    ranks = np.argsort(parts, kind="stable")
    ends = np.cumsum(np.bincount(parts, minlength=len(cuts)))
    for start, end in pairwise([0, *ends.tolist()]):
        token.check()
        places = ranks[start:end]
        ranks[start:end] = places[np.lexsort(keys[::-1, places])]
    return ranks


def _sibling_order(problem: LatticeProblem, attribute: int) -> Renumbering:
    """New codes of the values of each level, in the order of a walk down the tree."""
    ancestors = problem.ancestors[attribute]
    leaves = np.lexsort(ancestors)
    renumbered = []
    for codes in ancestors:
        seen, firsts = np.unique(codes[leaves], return_index=True)
        numbers = np.empty(len(seen), np.int64)
        numbers[seen[np.argsort(firsts)]] = np.arange(len(seen))
        renumbered.append(numbers)
    return tuple(renumbered)


def _step_tables(
    problem: LatticeProblem, order: Node, fields: Ints, codes: tuple[Renumbering, ...]
) -> tuple[Ints, Ints]:
    steps = np.zeros((len(order), max(*problem.heights, 1), 4), np.int64)
    maps = []
    offset = 0
    for position, attribute in enumerate(order):
        for level in range(problem.heights[attribute]):
            rows = _step_map(problem, attribute, codes[attribute], level, level + 1)
            steps[position, level, :3] = fields[position]
            steps[position, level, 3] = offset
            offset += len(rows)
            maps.append(rows)
    return steps, np.concatenate(maps) if maps else np.zeros((1, 3), np.int64)


def _step_map(
    problem: LatticeProblem, attribute: int, renumbered: Renumbering, lower: int, upper: int
) -> Ints:
    hierarchy = problem.hierarchies[attribute]
    codes = np.arange(len(hierarchy.labels[lower]), dtype=np.int64)
    for level in range(lower, upper):
        codes = hierarchy.parents[level][codes].astype(np.int64)
    loss = problem.loss_cost(attribute, upper)[codes] - problem.loss_cost(attribute, lower)
    logs = problem.log_cost(attribute, upper)[codes] - problem.log_cost(attribute, lower)
    rows = np.empty((len(codes), 3), np.int64)
    rows[renumbered[lower]] = np.stack([renumbered[upper][codes], loss, logs], axis=1)
    return rows
