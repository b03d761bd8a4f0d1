"""Incognito: all minimal generalisations, from small sets of quasi-identifiers up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.engine.methods.k_anonymity.bounded import MAX_BOUNDED_NODES
from dpdesk.engine.methods.k_anonymity.bounds import spread
from dpdesk.engine.methods.k_anonymity.grouping import numbered, tuple_keys
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import evaluate_node
from dpdesk.engine.methods.k_anonymity.samarati import Candidate, criterion_of, highest_node
from dpdesk.engine.methods.k_anonymity.search import SearchResult

STEP = "Searching the minimal generalisations"

Grid = NDArray[np.bool_]


def incognito(
    problem: LatticeProblem,
    k: int,
    max_suppressed: int,
    prefer: str,
    token: CancelToken,
    report: Report,
) -> SearchResult:
    """The preferred one of all k-minimal generalisations, of whatever height.

    LeFevre, DeWitt and Ramakrishnan: what is too coarse to be kept apart on some of the
    quasi-identifiers only gets finer with more of them, so the rows that a node suppresses on a
    subset of the columns are suppressed on all. So levels of all columns are feasible only where
    they are on every smaller set, and sets are looked at by size; within one, all nodes above a
    feasible node are feasible. Where classes must pass more than k, that holds for k alone: it
    says which nodes of all columns are worth a look.

    Criteria and ties are those of :func:`~dpdesk.engine.methods.k_anonymity.samarati.samarati`.
    Raises InputError ``k-anonymity.too-many-levels`` where the lattice has too many nodes to mark
    each, Cancelled, and KeyError for an unknown criterion.
    """
    if problem.node_count > MAX_BOUNDED_NODES:
        raise InputError(
            "k-anonymity.too-many-levels",
            msg(
                "Incognito marks every combination of levels; there are {n:,}, at most {most:,} "
                "are possible.",
                n=problem.node_count,
                most=MAX_BOUNDED_NODES,
            ),
            hint='Choose `algorithm` "genetic", or fewer quasi-identifiers.',
            details={"key": "algorithm"},
        )
    better, top = criterion_of(problem)[prefer], highest_node(problem, k)
    found, counted = _feasible(problem, k, max_suppressed, token, report)
    minimal = np.argwhere(_minimal(found))
    if not len(minimal):
        return SearchResult(None, None, False, counted, top)
    candidates = []
    for node in map(tuple, minimal.tolist()):
        token.check()
        known = evaluate_node(problem, node, k)
        candidates.append(Candidate(node, known.suppressed, known.classes))
    chosen = min(candidates, key=lambda each: (better(each), *each.ties)).node
    return SearchResult(chosen, evaluate_node(problem, chosen, k), True, counted, top)


def _feasible(
    problem: LatticeProblem, k: int, max_suppressed: int, token: CancelToken, report: Report
) -> tuple[Grid, int]:
    """Which nodes are feasible, by level, and how many were counted."""
    columns, counted = range(len(problem.attributes)), 0
    grids: dict[tuple[int, ...], Grid] = {}
    for size in range(1, len(problem.attributes) + 1):
        for chosen in combinations(columns, size):
            candidates = np.ones([problem.heights[j] + 1 for j in chosen], np.bool_)
            for place in range(size if size > 1 else 0):
                less = grids[chosen[:place] + chosen[place + 1 :]]
                candidates &= np.expand_dims(less, place)
            whole = size == len(problem.attributes)
            if whole:
                _keep_within(problem, candidates)
            part = problem if whole else _on(problem, chosen)
            grids[chosen], more = _walked(part, candidates, k, max_suppressed, token)
            counted += more
            report(StepProgress(STEP, counted, None, "nodes"))
    return grids[tuple(columns)], counted


def _walked(
    part: LatticeProblem, candidates: Grid, k: int, max_suppressed: int, token: CancelToken
) -> tuple[Grid, int]:
    """Which candidates are feasible: counted from the lowest height up, unless they must be."""
    from dpdesk.engine.methods.k_anonymity.counting import node_counter

    found = np.zeros(candidates.shape, np.bool_)
    heights = np.indices(candidates.shape).sum(axis=0)
    rising = part.monotone(max_suppressed)
    with node_counter(part, k, token) as counter:
        for height in range(sum(part.heights) + 1):
            nodes = list(
                map(tuple, np.argwhere(candidates & ~found & (heights == height)).tolist())
            )
            if not nodes:
                continue
            feasible = counter.evaluated(nodes).feasible(k, max_suppressed)
            for node, good in zip(nodes, feasible.tolist(), strict=True):
                found[node] = good
            if rising and feasible.any():
                spread(found, downwards=False)
                found &= candidates
        return found, counter.counted


def _keep_within(problem: LatticeProblem, candidates: Grid) -> None:
    if problem.bounds is not None:
        inside = np.zeros(candidates.shape, np.bool_)
        inside[tuple(slice(a, b + 1) for a, b in zip(*problem.bounds, strict=True))] = True
        candidates &= inside


def _on(problem: LatticeProblem, chosen: Sequence[int]) -> LatticeProblem:
    """The lattice of some of the columns, under k alone."""
    columns = [np.ascontiguousarray(problem.codes[:, j]) for j in chosen]
    widths = [len(problem.hierarchies[j].leaves) for j in chosen]
    first, of_tuple = numbered(*tuple_keys(columns, widths, len(problem.counts)))
    counts = np.bincount(of_tuple, problem.counts, len(first)).astype(np.int64)
    return replace(
        problem,
        attributes=tuple(problem.attributes[j] for j in chosen),
        hierarchies=tuple(problem.hierarchies[j] for j in chosen),
        codes=np.stack([column[first] for column in columns], axis=1),
        counts=counts,
        constraints=None,
        weights=(),
        bounds=None,
    )


def _minimal(feasible: Grid) -> Grid:
    """Feasible nodes with no other one anywhere below them."""
    below = feasible.copy()
    spread(below, downwards=False)
    found = feasible.copy()
    for axis, length in enumerate(feasible.shape):
        if math.prod(feasible.shape) and length > 1:
            upper, lower = [slice(None)] * feasible.ndim, [slice(None)] * feasible.ndim
            upper[axis], lower[axis] = slice(1, None), slice(None, -1)
            found[tuple(upper)] &= ~below[tuple(lower)]
    return found
