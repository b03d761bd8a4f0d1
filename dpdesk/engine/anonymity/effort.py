"""How much work the walk over a whole lattice is: the one rule that decides walk or not.

A run and an exploration ask :func:`worth_walking`, so the window and the command line always agree.
"""

from __future__ import annotations

import numpy as np

from dpdesk.engine.anonymity.lattice import MAX_WALK_NODES, LatticeProblem

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
    tuples = float(len(problem.counts))
    combinations = np.ones(1)
    for hierarchy in problem.hierarchies:
        values = np.array([len(labels) for labels in hierarchy.labels], np.float64)
        combinations = np.multiply.outer(combinations, values).reshape(-1)
    return float(np.minimum(combinations, tuples).sum())


def worth_walking(problem: LatticeProblem) -> bool:
    """Whether every node of the lattice is counted: neither nodes nor work are too many."""
    return problem.node_count <= MAX_WALK_NODES and walk_work(problem) <= MAX_WALK_WORK
