"""The lattice in the form that the kernels walk: packed keys, step tables, order of attributes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.anonymity.lattice import Ints, LatticeProblem, Node, generalised_classes

Flag = NDArray[np.uint8]

_WORD_BITS = 63
_SAMPLE = 20_000


@dataclass(frozen=True, eq=False)
class PackedLattice:
    """A problem with its attributes in walk order (``order[i]`` is the attribute at position i).

    ``base`` is the group table of the raw node (see the kernels), sorted by key. Each attribute has
    its own bits in the ``words`` words of a key, 63 used bits each, so any number of attributes
    fits. ``steps[i, l]`` is (word, shift, mask, offset into ``maps``) for raising position i from
    level l; rows of ``maps`` are (new code, change of the loss cost, change of the log cost).
    """

    problem: LatticeProblem
    order: Node
    words: int
    base: Ints
    heights: Ints
    strides: Ints
    fields: Ints
    steps: Ints
    maps: Ints

    @classmethod
    def of(cls, problem: LatticeProblem, token: CancelToken) -> PackedLattice:
        """Pack a problem; the order of the attributes makes the walk cheap, see _walk_order.

        Raises Cancelled.
        """
        order = _walk_order(problem)
        token.check()
        fields, words = _fields(problem, order)
        steps, maps = _step_tables(problem, order, fields)
        return cls(
            problem=problem,
            order=order,
            words=words,
            base=_base(problem, order, fields, words, token),
            heights=np.array([problem.heights[j] for j in order], np.int64),
            strides=np.array([problem.strides[j] for j in order], np.int64),
            fields=fields,
            steps=steps,
            maps=maps,
        )

    @cached_property
    def depth(self) -> int:
        """Most steps from the raw node to the top."""
        return int(self.heights.sum())

    def slots(self) -> Ints:
        """A fresh hash table large enough for any roll-up."""
        size = 16
        while size <= 2 * len(self.base):
            size *= 2
        return np.zeros(size, np.int64)


def _walk_order(problem: LatticeProblem) -> Node:
    """Attributes in walk order: those that shrink the table most come first.

    Each node is rolled up from its parent by the last attribute in this order that is above level
    0, so a table that an early attribute has shrunk serves many nodes. Ranked by the number of
    classes of a sample when the attribute alone is at its top; attributes of height 0 come first.
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
    return tuple(sorted(range(len(classes)), key=lambda position: (classes[position], position)))


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
    for used in range(word + 1):
        # Down to bit 0: the kernels' hash spreads low bits upwards, never high bits downwards.
        fields[fields[:, 0] == used, 1] -= fields[fields[:, 0] == used, 1].min()
    return fields, word + 1


def _base(
    problem: LatticeProblem, order: Node, fields: Ints, words: int, token: CancelToken
) -> Ints:
    table = np.zeros((len(problem.counts), words + 3), np.int64)
    for position, attribute in enumerate(order):
        token.check()
        word, shift, _ = fields[position]
        codes = problem.codes[:, attribute]
        table[:, word] |= codes.astype(np.int64) << shift
        table[:, words + 1] += problem.loss_cost(attribute, 0)[codes]
        table[:, words + 2] += problem.log_cost(attribute, 0)[codes]
    table[:, words] = problem.counts
    keys = [table[:, word] for word in range(words)]
    ranks = np.argsort(keys[0], kind="stable") if words == 1 else np.lexsort(keys[::-1])
    token.check()
    return _merged(np.ascontiguousarray(table[ranks]), words)


def _merged(table: Ints, words: int) -> Ints:
    """The sorted table with equal keys added up: an aligned table has none, others might."""
    fresh = np.ones(len(table), dtype=bool)
    fresh[1:] = (table[1:, :words] != table[:-1, :words]).any(axis=1)
    if fresh.all():
        return table
    starts = np.flatnonzero(fresh)
    merged = table[starts]
    merged[:, words] = np.add.reduceat(table[:, words], starts)
    return merged


def _step_tables(problem: LatticeProblem, order: Node, fields: Ints) -> tuple[Ints, Ints]:
    most = max(problem.heights)
    steps = np.zeros((len(order), max(most, 1), 4), np.int64)
    maps = []
    offset = 0
    for position, attribute in enumerate(order):
        for level in range(problem.heights[attribute]):
            rows = step_map(problem, attribute, level, level + 1)
            steps[position, level, :3] = fields[position]
            steps[position, level, 3] = offset
            offset += len(rows)
            maps.append(rows)
    return steps, np.concatenate(maps) if maps else np.zeros((1, 3), np.int64)


def step_map(problem: LatticeProblem, attribute: int, lower: int, upper: int) -> Ints:
    """(new code, change of loss cost, of log cost) of each value when raised to ``upper``."""
    hierarchy = problem.hierarchies[attribute]
    codes = np.arange(len(hierarchy.labels[lower]), dtype=np.int64)
    for level in range(lower, upper):
        codes = hierarchy.parents[level][codes].astype(np.int64)
    loss = problem.loss_cost(attribute, upper)[codes] - problem.loss_cost(attribute, lower)
    logs = problem.log_cost(attribute, upper)[codes] - problem.log_cost(attribute, lower)
    return np.stack([codes, loss, logs], axis=1)
