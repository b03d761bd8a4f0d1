"""What was counted at nodes of a lattice, at every k asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.methods.k_anonymity.lattice import Ints, LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, evaluate_node

Floats = NDArray[np.float64]
Levels = NDArray[np.signedinteger]

FIELDS = 5
"""Numbers kept per node and k: suppressed, classes, Σ size², Σ loss, Σ log, 8 bytes each."""

MEMORY = 300_000_000
"""Bytes that the statistics of a walk may take, see :func:`recommended_ks`."""

LONGEST_BINS = 4096
"""Sizes below this are looked up instead of searched, see the kernel ``tally``."""

_CLOSE = 1e-9
_KEPT_MEASURES = 6


class EvaluatedNodes:
    """Some nodes of a lattice at every k of ``ks``.

    ``levels`` has shape (nodes, attributes), ``data`` (nodes, ks, FIELDS). All sums are integers,
    so they depend neither on the order of the counting nor on threads. Reading is safe from any
    thread.
    """

    def __init__(self, problem: LatticeProblem, ks: Ints, data: Ints, levels: Levels) -> None:
        self.problem = problem
        self.ks = ks
        self.levels = levels
        self._data = data
        self._measured: OrderedDict[tuple[str, int], Floats] = OrderedDict()

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self._data)

    @property
    def data(self) -> Ints:
        """What was counted, shape (nodes, ks, FIELDS)."""
        return self._data

    def _field(self, k: int, field: int) -> Ints:
        place = int(np.searchsorted(self.ks, k))
        if place == len(self.ks) or self.ks[place] != k:
            raise KeyError(f"the walk did not cover k = {k}")
        return self._data[:, place, field]

    def suppressed(self, k: int) -> Ints:
        """Rows in classes smaller than k, per node; KeyError for a k that was not walked."""
        return self._field(k, 0)

    def classes(self, k: int) -> Ints:
        """Classes of at least k rows, per node."""
        return self._field(k, 1)

    def sum_of_squares(self, k: int) -> Ints:
        """Σ size² over the kept classes, per node."""
        return self._field(k, 2)

    def objective(self, name: str, k: int) -> Floats:
        """The objective per node, lower is better (precision: 1 − precision).

        The latest few are kept: do not write to them. Formulas:
        :mod:`dpdesk.engine.methods.k_anonymity.metrics`. KeyError for an unknown name or k.
        """
        found = self._measured.get((name, k))
        if found is None:
            found = self._measure(name, k)
            self._measured[name, k] = found
            while len(self._measured) > _KEPT_MEASURES:
                self._forget_oldest()
        return found

    def _forget_oldest(self) -> None:
        # Another thread may have been faster.
        with suppress(KeyError):
            self._measured.popitem(last=False)

    def _measure(self, name: str, k: int) -> Floats:
        if name not in OBJECTIVES:
            raise KeyError(name)
        suppressed, rows = self.suppressed(k), self.problem.rows
        if name == "discernibility":
            return _floats(self.sum_of_squares(k) + suppressed * rows)
        if name == "average-class-size":
            classes = self.classes(k)
            size: Floats = np.full(len(classes), np.inf)
            np.divide(rows - suppressed, classes * float(k), out=size, where=classes > 0)
            return size
        if name == "precision":
            return self._moved(k) / max(self.problem.cells, 1)
        if name == "loss":
            unit = float(max(self.problem.cells, 1)) * self.problem.loss_unit
            return _floats(self._loss(k)) / unit
        return self._entropy(k)

    def _moved(self, k: int) -> Floats:
        suppressed = self.suppressed(k)
        kept: Floats = (self.problem.rows - suppressed) * self._relative_steps
        kept += suppressed * sum(self.problem.each_weight)
        return kept

    def _loss(self, k: int) -> Ints:
        lost = self.suppressed(k) * (sum(self.problem.each_weight) * self.problem.loss_unit)
        return self._field(k, 3) + lost

    def _entropy(self, k: int) -> Floats:
        problem = self.problem
        unit = problem.log_unit
        top = int(problem.log_cost_of(problem.rows)) * sum(problem.each_weight)
        raw = sum(
            int((rows[0] * problem.log_cost(position, 0)).sum())
            for position, rows in enumerate(problem.value_rows)
        )
        bits: Floats = np.maximum(self._field(k, 4) + self.suppressed(k) * top - raw, 0) / unit
        return bits

    @cached_property
    def _relative_steps(self) -> Floats:
        heights = np.maximum(np.array(self.problem.heights, np.float64), 1)
        moved: Floats = (self.levels / heights) @ np.array(self.problem.each_weight, np.float64)
        return moved

    def feasible(self, k: int, max_suppressed: int) -> NDArray[np.bool_]:
        """Whether a node keeps at least one row and suppresses at most ``max_suppressed``.

        And whether it lies within the bounds of the problem.
        """
        found: NDArray[np.bool_] = (self.suppressed(k) <= max_suppressed) & (self.classes(k) > 0)
        return found if self.problem.bounds is None else found & self.problem.within(self.levels)

    def least_suppressed(self, k: int) -> int:
        """The node that suppresses fewest rows; ties by classes, levels, number."""
        inside = np.flatnonzero(self.problem.within(self.levels))
        suppressed = self.suppressed(k)[inside]
        nodes = inside[suppressed == suppressed.min()]
        return int(nodes[self._tie_order(nodes, k, np.zeros(len(nodes)))[0]])

    def best(self, objective: str, k: int, max_suppressed: int) -> int | None:
        """The node with the lowest objective of all feasible ones, or None when none is feasible.

        Ties: more classes, then fewer suppressed rows, then a lower sum of levels, then the
        lexicographically first levels. Nodes within the accuracy of floating point of the lowest
        are compared exactly, so rounding never decides.
        """
        nodes = np.flatnonzero(self.feasible(k, max_suppressed))
        if not len(nodes):
            return None
        values = self.objective(objective, k)[nodes]
        lowest = float(values.min())
        nodes = nodes[values <= lowest + self.slack(objective, lowest)]
        if len(nodes) > 1:
            nodes = nodes[self._tie_order(nodes, k, self._exact_ranks(nodes, objective, k))]
        return int(nodes[0])

    def slack(self, objective: str, lowest: float) -> float:
        """How far above the lowest value a node can seem although it is as low: rounding only."""
        slack = _CLOSE * abs(lowest)
        if objective == "loss" and not self.problem.loss_is_exact:
            slack += 2 / self.problem.loss_unit
        if objective == "entropy":
            slack += 4 * self.problem.cells / self.problem.log_unit
        return slack + 1e-15

    def _tie_order(self, nodes: NDArray[np.intp], k: int, ranks: NDArray[np.number]) -> Ints:
        heights = self.levels[nodes].sum(axis=1, dtype=np.int64)
        suppressed, classes = self.suppressed(k)[nodes], self.classes(k)[nodes]
        lexicographic = self.levels[nodes].T[::-1]
        return np.lexsort((*lexicographic, heights, suppressed, -classes, ranks))

    def _exact_ranks(self, nodes: NDArray[np.intp], objective: str, k: int) -> Ints:
        """Integers in the exact order of the objective at ``nodes``."""
        suppressed = self.suppressed(k)[nodes]
        if objective == "discernibility":
            return self.sum_of_squares(k)[nodes] + suppressed * self.problem.rows
        if objective == "loss" and self.problem.loss_is_exact:
            return self._loss(k)[nodes]
        if objective == "average-class-size":
            pairs = zip(suppressed.tolist(), self.classes(k)[nodes].tolist(), strict=True)
            return _ranks([Fraction(self.problem.rows - lost, classes) for lost, classes in pairs])
        if objective == "precision":
            return _ranks([self._steps_exactly(int(node), k) for node in nodes])
        return self._evaluated_ranks(nodes, objective, k)

    def _steps_exactly(self, node: int, k: int) -> Fraction:
        suppressed = int(self.suppressed(k)[node])
        steps = sum(
            (
                Fraction(int(level) * weight, height)
                for level, height, weight in zip(
                    self.levels[node], self.problem.heights, self.problem.each_weight, strict=True
                )
                if height
            ),
            Fraction(0),
        )
        return (self.problem.rows - suppressed) * steps + suppressed * sum(self.problem.each_weight)

    def _evaluated_ranks(self, nodes: NDArray[np.intp], objective: str, k: int) -> Ints:
        canonical = self.problem.canonical_levels
        same = [
            tuple(canonical[position][level] for position, level in enumerate(levels))
            for levels in self.levels[nodes].tolist()
        ]
        keys = {
            levels: evaluate_node(self.problem, levels, k).exact_key(objective)
            for levels in dict.fromkeys(same)
        }
        return _ranks([keys[levels] for levels in same])


class LatticeStatistics(EvaluatedNodes):
    """Every node of a lattice at every k of ``ks``, indexed by node number."""

    def __init__(self, problem: LatticeProblem, ks: Ints, data: Ints) -> None:
        shape = tuple(height + 1 for height in problem.heights)
        columns = np.unravel_index(np.arange(len(data)), shape)
        super().__init__(problem, ks, data, level_array(problem, np.stack(columns, axis=1)))

    def minimal(self, k: int, max_suppressed: int) -> NDArray[np.bool_]:
        """Whether a node is a k-minimal generalisation: feasible, and nothing below it is.

        It suffices to look one step down, since for k-anonymity with tuple suppression
        feasibility is monotone along the lattice.
        """
        feasible = self.feasible(k, max_suppressed)
        shape = tuple(height + 1 for height in self.problem.heights)
        grid = feasible.reshape(shape)
        minimal = grid.copy()
        for axis in range(len(shape)):
            upper = [slice(None)] * len(shape)
            lower = [slice(None)] * len(shape)
            upper[axis], lower[axis] = slice(1, None), slice(None, -1)
            minimal[tuple(upper)] &= ~grid[tuple(lower)]
        return minimal.reshape(-1)


def level_array(problem: LatticeProblem, levels: NDArray[np.int64]) -> Levels:
    """Levels in as few bytes as they need: int8 unless a hierarchy is higher than 127."""
    small: Levels = levels.astype(np.int8 if max(problem.heights) <= 127 else np.int16)
    return small


def _floats(values: Ints) -> Floats:
    floats: Floats = values.astype(np.float64)
    return floats


def _ranks(values: Sequence[object]) -> Ints:
    """Dense ranks of exactly comparable values."""
    ranks = np.zeros(len(values), np.int64)
    order = sorted(range(len(values)), key=values.__getitem__)  # type: ignore[arg-type]
    for before, place in pairwise(order):
        ranks[place] = ranks[before] + (1 if values[place] != values[before] else 0)
    return ranks


def recommended_ks(problem: LatticeProblem, wanted: Sequence[int] = ()) -> Ints:
    """Which k to walk at once, ascending, within :data:`MEMORY`.

    ``wanted`` come first, in their order; then 2 to 100; then 1-2-5 steps up to N. As many as the
    statistics (nodes × ks × 40 bytes) have room for, at least one.
    """
    room = max(1, MEMORY // (problem.node_count * FIELDS * 8))
    steps = [first * 10**power for power in range(2, 10) for first in (1, 2, 5)]
    offered = [*wanted, *range(2, 101), *(step for step in steps if step <= problem.rows)]
    chosen = list(dict.fromkeys(k for k in offered if k >= 1))[:room]
    return np.array(sorted(chosen), np.int64)
