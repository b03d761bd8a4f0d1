"""How much work the walk over a whole lattice is: the one rule that decides walk or not.

A run and an exploration ask :func:`worth_walking`, so the window and the command line always agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.methods.k_anonymity.lattice import MAX_WALK_NODES, LatticeProblem

MAX_WALK_WORK = 10_000_000_000
"""Largest :func:`walk_work` that is walked: one to three minutes on two free cores.

Measured in processor time per unit, for both threads together: 19,502 tuples × 12,960 nodes (1.6e8
units) 14 ns; 22,540 × 19,440 (2.8e8) 11 ns; 25,017 × 233,280 (5.1e9) 10 ns; tables beyond the
processor's cache cost more, 499,998 × 15,552 (4.3e9) 30 ns. So the limit stands for 100 seconds of
processor time with small tables and 300 with large ones, half of that on two cores.
"""


def walk_work(problem: LatticeProblem) -> float:
    """An upper bound on the groups that a walk makes: Σ over nodes of min(tuples, combinations).

    The combinations of a node are the product of the numbers of values at its levels. Milliseconds
    for a million nodes; infinite for more than MAX_WALK_NODES nodes.
    """
    if problem.node_count > MAX_WALK_NODES:
        return float("inf")
    return float(_most_groups(problem, range(len(problem.hierarchies))).sum())


def most_held(problem: LatticeProblem, order: Sequence[int]) -> float:
    """An upper bound on the groups that one thread of a walk holds at a time.

    It holds the tables along a path that raises one attribute by one level at a time, attributes in
    ``order`` (the walk order): the heaviest such path from the raw node counts. Milliseconds for a
    million nodes.
    """
    groups = _most_groups(problem, order)
    held = groups.copy()
    for position in reversed(range(len(order))):
        here, below = np.moveaxis(held, position, 0), np.moveaxis(groups, position, 0)
        for level in reversed(range(len(here) - 1)):
            here[level] = np.maximum(here[level], below[level] + here[level + 1])
    return float(held.reshape(-1)[0])


def _most_groups(problem: LatticeProblem, order: Sequence[int]) -> NDArray[np.float64]:
    """Per node, at most so many groups; one axis of levels per attribute, in ``order``."""
    combinations = np.ones(())
    for attribute in order:
        labels = problem.hierarchies[attribute].labels
        values = np.array([len(each) for each in labels], np.float64)
        combinations = np.multiply.outer(combinations, values)
    most: NDArray[np.float64] = np.minimum(combinations, float(len(problem.counts)))
    return most


def worth_walking(problem: LatticeProblem) -> bool:
    """Whether every node of the lattice is counted: neither nodes nor work are too many."""
    return problem.node_count <= MAX_WALK_NODES and walk_work(problem) <= MAX_WALK_WORK
