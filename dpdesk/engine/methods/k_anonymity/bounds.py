"""What counted nodes prove about nodes that were not counted: lower bounds of the objectives.

Write u ≤ v when v generalises every attribute at least as far as u. Each class of v is then a union
of classes of u. So a class that v suppresses (fewer than k rows) consists of classes that u
suppresses as well, and the rows suppressed only grow on the way down. Three things follow.

Feasibility
    If v suppresses more than allowed, so does every u ≤ v; nothing there is feasible.

Penalty of suppression
    Write an objective as G + P, where G is its value if no row were suppressed (k = 1; for
    discernibility see below) and P what suppression adds. P(u) ≥ P(v) for every u ≤ v:

    * loss, precision, entropy: G is a mean (entropy: a sum) over cells of a cost that grows with
      the level and never exceeds the cost of a suppressed cell (1, or the bits of the whole table).
      P is the sum over suppressed rows of what their cells fall short of that cost. From v down to
      u no suppressed row is lost and every shortfall grows. It also holds for the rounded integer
      costs that are counted with, since rounding keeps their order.
    * discernibility: G is Σ size·max(size, k) over all classes, and P = (N − k)·(rows suppressed):
      a kept class costs size² = size·max(size, k), and a suppressed one size·N = size·k +
      size·(N − k). Rows suppressed only grow on the way down, and N ≥ k where any node is feasible.

Cost without suppression
    G(w) ≥ G(u) for every w ≥ u. For loss, precision and entropy G is a sum of one term for each
    attribute and its level, so it is known for all nodes before any is counted. For discernibility
    G grows upwards: classes of a and b rows cost a·max(a, k) + b·max(b, k) ≤ (a + b)·max(a + b, k)
    once they are one.

    The average class size is not of this form. Let w ≥ u be feasible. Each kept class of w holds a
    kept class of u, or consists of rows that u suppresses, at least k of them; so w keeps at most
    ``classes(u) + suppressed(u) div k`` classes. It keeps at least as many rows as u, and at least
    N − allowed. So its value is at least max(kept(u), N − allowed) / (that many classes · k).

Where classes must pass more than k, all of this is of k alone, and bounds what is asked from below:
w then keeps some of the classes that k alone keeps, a class that goes costs no less than one that
stays, and w still keeps at least N − allowed rows in at most as many classes.

So obj(w) ≥ base(w) + penalty(w), where base is the greatest bound from counted nodes below w (or G
itself), penalty the greatest P of counted nodes above w (infinite below an infeasible one). A node
is ruled out when its bound exceeds a value that has been reached by more than floating point and
fixed-point sums can be wrong, so exact ties are never ruled out.

Source: predictive tagging as in Samarati's, Incognito's and Flash's searches for the feasibility;
the bounds with suppression are our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.methods.k_anonymity.lattice import Ints, LatticeProblem
from dpdesk.engine.methods.k_anonymity.statistics import EvaluatedNodes, Floats

ADDITIVE = ("loss", "precision", "entropy")
"""Objectives whose cost without suppression is a sum over attributes."""


class Bounds:
    """Lower bounds of one objective for all nodes, at one k and limit; see the module.

    Arrays have one entry per node, numbered as in the lattice (17 bytes a node).
    """

    def __init__(
        self, problem: LatticeProblem, objective: str, k: int, max_suppressed: int
    ) -> None:
        self.problem = problem
        self.objective = objective
        self.k = k
        self.max_suppressed = max_suppressed
        shape = tuple(height + 1 for height in problem.heights)
        self._penalty = np.zeros(shape)
        self._counted = np.zeros(shape, np.bool_)
        if problem.bounds is not None:
            # Nodes outside of the bounds are settled.
            self._counted[:] = True
            self._counted[tuple(slice(a, b + 1) for a, b in zip(*problem.bounds, strict=True))] = 0
        self._base = _plain_costs(problem, objective) if objective in ADDITIVE else np.zeros(shape)

    def learn(self, nodes: EvaluatedNodes) -> None:
        """Take in nodes that were counted at 1 and k."""
        values = nodes.objective(self.objective, self.k)
        feasible = nodes.feasible(self.k, self.max_suppressed)
        bases = plain_bounds(nodes, self.objective, self.k, self.max_suppressed)
        penalties = np.zeros(len(values))
        if self.objective != "average-class-size":
            penalties = np.maximum(values - bases, 0)
        penalties[~feasible] = np.inf
        places = tuple(nodes.levels.astype(np.int64).T)
        self._counted[places] = True
        self._penalty[places] = np.maximum(self._penalty[places], penalties)
        spread(self._penalty, downwards=True)
        if self.objective not in ADDITIVE:
            self._base[places] = np.maximum(self._base[places], bases)
            spread(self._base, downwards=False)

    @property
    def none_feasible(self) -> bool:
        """Whether k alone rules out every node that may be chosen."""
        return bool(np.isinf(self._penalty[self.problem.top]))

    @property
    def counted(self) -> int:
        """How many nodes were learnt."""
        return int(np.count_nonzero(self._counted))

    def learn_removed(self, nodes: NDArray[np.int64], removed: Ints) -> None:
        """Take in what every feasible node at or below some nodes removes besides small classes.

        ``removed`` holds rows, and what they cost more in loss, logarithms and discernibility.
        """
        problem, cells = self.problem, max(self.problem.cells, 1)
        costs = {
            "loss": removed[:, 1] / (float(cells) * problem.loss_unit),
            "entropy": removed[:, 2] / problem.log_unit,
            "discernibility": removed[:, 3].astype(np.float64),
        }
        found = costs.get(self.objective, np.zeros(len(nodes)))
        found = np.where(removed[:, 0] > self.max_suppressed, np.inf, found)
        places = tuple(nodes.T)
        self._penalty[places] = np.maximum(self._penalty[places], found)
        spread(self._penalty, downwards=True)

    def rule_out(self, nodes: NDArray[np.int64]) -> None:
        """Nothing at or below these nodes, by levels, is feasible."""
        self._penalty[tuple(nodes.T)] = np.inf
        spread(self._penalty, downwards=True)

    def least(self, levels: NDArray[np.int64]) -> Floats:
        """The bounds of nodes by levels, counted or not."""
        places = tuple(levels.T)
        found: Floats = self._base[places] + self._penalty[places]
        return found

    def of(self, nodes: NDArray[np.int64]) -> Floats:
        """The bounds of nodes by number; infinite for counted ones, which need no bound."""
        found: Floats = self._base.reshape(-1)[nodes] + self._penalty.reshape(-1)[nodes]
        found[self._counted.reshape(-1)[nodes]] = np.inf
        return found

    def open(self, most: float) -> NDArray[np.bool_]:
        """Which nodes are neither counted nor ruled out by a bound above ``most``, by level."""
        found: NDArray[np.bool_] = self._base + self._penalty <= most
        found &= ~self._counted
        return found


def spread(grid: NDArray[np.generic], *, downwards: bool) -> None:
    """Raise each entry to the greatest of those above it (or below it), in place."""
    for axis, length in enumerate(grid.shape):
        rows = grid.reshape(math.prod(grid.shape[:axis]), length, -1)
        steps = range(length - 2, -1, -1) if downwards else range(1, length)
        for level in steps:
            near = rows[:, level + 1] if downwards else rows[:, level - 1]
            np.maximum(rows[:, level], near, out=rows[:, level])


def highest(marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Those of the marked nodes above which none is marked."""
    below = marked.copy()
    spread(below, downwards=True)
    found = marked.copy()
    for axis in range(marked.ndim):
        lower, upper = [slice(None)] * marked.ndim, [slice(None)] * marked.ndim
        lower[axis], upper[axis] = slice(None, -1), slice(1, None)
        found[tuple(lower)] &= ~below[tuple(upper)]
    return found


def plain_bounds(nodes: EvaluatedNodes, objective: str, k: int, max_suppressed: int) -> Floats:
    """Per node, a lower bound of the objective of every feasible node at or above it.

    ``nodes`` were counted at 1 and k. It is what the module calls G, and for the average class size
    the bound that is given there.
    """
    asked, rows = nodes.problem.constraints, nodes.problem.rows
    if asked is not None and asked.households is not None:
        # Classes lose some of their rows: all that is known is that each has k.
        if objective == "discernibility":
            return np.full(nodes.node_count, float(rows * k))
        if objective == "average-class-size":
            return np.ones(nodes.node_count)
    if objective == "discernibility":
        whole: Floats = (nodes.sum_of_squares(k) + nodes.suppressed(k) * k).astype(np.float64)
        return whole
    if objective != "average-class-size":
        return nodes.objective(objective, 1)
    suppressed = nodes.suppressed(k)
    kept = np.maximum(rows - suppressed, rows - max_suppressed)
    if asked is not None:
        kept = np.full(len(suppressed), rows - max_suppressed)
    classes = nodes.classes(k) + suppressed // k
    found: Floats = kept / (np.maximum(classes, 1) * float(k))
    return found


def _plain_costs(problem: LatticeProblem, objective: str) -> Floats:
    """The objective of every node if no row were suppressed, shape (levels, levels, …)."""
    costs = np.zeros(())
    for position in range(len(problem.heights)):
        costs = np.add.outer(costs, _level_costs(problem, objective, position))
    return costs


def _level_costs(problem: LatticeProblem, objective: str, position: int) -> Floats:
    """What the cells of one attribute add to the objective, for each of its levels."""
    height, cells = problem.heights[position], max(problem.cells, 1)
    if objective == "precision":
        share = problem.rows * problem.each_weight[position] / cells
        steps: Floats = np.arange(height + 1) / max(height, 1) * share
        return steps
    value_rows = problem.value_rows[position]
    if objective == "loss":
        unit = float(problem.loss_unit) * cells
        lost: Floats = _per_level(value_rows, problem.loss_cost, position) / unit
        return lost
    sums = _per_level(value_rows, problem.log_cost, position)
    bits: Floats = (sums - sums[0]) / problem.log_unit
    return bits


def _per_level(
    value_rows: tuple[Ints, ...], cost: Callable[[int, int], Ints], position: int
) -> Floats:
    sums = [int((rows * cost(position, level)).sum()) for level, rows in enumerate(value_rows)]
    return np.array(sums, np.float64)
