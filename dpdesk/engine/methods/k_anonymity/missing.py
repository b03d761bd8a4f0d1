"""What missing values count as, where they are not a category like any other.

A cell is missing when its raw value is, and its attribute is below the top of its hierarchy.

``any``
    A missing cell matches every cell; two rows match when all their cells do. Rows that fewer than
    k of the rows still kept match (each matches itself) leave together, and the rest is counted
    again, until every row that is kept has k matches.
``none``
    A missing cell matches nothing: rows that have one leave, whatever k is.

Both are monotone along the lattice: further up, cells that were equal stay equal, and missing ones
stay missing or reach the top, where all are equal. So rows that match go on matching, rows that
were kept have at least the matches that they had among the kept, and are kept; no fewer rows stay.

Under ``none`` fewer rows stay than under k alone, so that bounds of k alone hold. Under ``any``
more stay, and no such bound holds: all nodes are counted, but those below an infeasible one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.engine.hierarchies.preview import AlignedTable
from dpdesk.engine.methods.k_anonymity.grouping import GeneralisedTable, numbered, tuple_keys
from dpdesk.engine.methods.k_anonymity.lattice import MAX_WALK_NODES, LatticeProblem
from dpdesk.engine.methods.k_anonymity.search import STEP, SearchResult, best_of
from dpdesk.engine.methods.k_anonymity.settings import ANY, NONE
from dpdesk.engine.methods.k_anonymity.statistics import FIELDS, LatticeStatistics

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MissingCells:
    """Which cells of a table are missing at each level; ``how`` they count: ANY or NONE.

    ``leaves[j][l]`` says of every leaf of attribute j whether its cell is missing at level l.
    """

    how: str
    table: AlignedTable = field(repr=False)
    leaves: tuple[tuple[Bools, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, table: AlignedTable, how: str, where: str) -> MissingCells:
        """The missing cells of an aligned table.

        InputError ``k-anonymity.missing-in-group`` where a hierarchy puts missing values and others
        under one label below its top: whether a released cell is missing would be undecided.
        """
        leaves = tuple(_leaves_of(table, place, how, where) for place in range(len(table.codes.T)))
        return cls(how, table, leaves)

    def in_classes(
        self, of_tuple: Ints, classes: int, levels: Sequence[int]
    ) -> tuple[NDArray[np.int32], Bools]:
        """The codes of the classes of a node and their missing cells, (classes, attributes)."""
        member = np.zeros(classes, np.int64)
        member[of_tuple] = np.arange(len(of_tuple))
        shown = self.table.codes[member]
        codes = np.empty_like(shown)
        missing = np.zeros(shown.shape, np.bool_)
        for place, level in enumerate(levels):
            codes[:, place] = self.table.hierarchies[place].ancestors(level)[shown[:, place]]
            missing[:, place] = self.leaves[place][level][shown[:, place]]
        return codes, missing

    def kept(self, of_tuple: Ints, sizes: Ints, k: int, levels: Sequence[int]) -> Bools:
        """Which classes stay at ``k``; ``of_tuple`` gives each tuple's class, ``sizes`` rows."""
        codes, missing = self.in_classes(of_tuple, len(sizes), levels)
        if self.how == NONE:
            found: Bools = (sizes >= k) & ~missing.any(axis=1)
            return found
        matching = Matching.of(codes, missing)
        kept = np.ones(len(sizes), np.bool_)
        while True:
            left: Bools = kept & (matching.count(np.where(kept, sizes, 0)) >= k)
            if (left == kept).all():
                return kept
            kept = left


def _leaves_of(table: AlignedTable, place: int, how: str, where: str) -> tuple[Bools, ...]:
    hierarchy, height = table.hierarchies[place], table.hierarchies[place].height
    missing = np.zeros(len(hierarchy.leaves), np.bool_)
    missing[sorted(table.missing[place]) if table.missing else []] = True
    occurs = np.bincount(table.codes[:, place], minlength=len(missing)) > 0
    found = []
    for level in range(height):
        above = hierarchy.ancestors(level)
        width = len(hierarchy.labels[level])
        lost = np.bincount(above[missing & occurs], minlength=width) > 0
        held = np.bincount(above[~missing & occurs], minlength=width) > 0
        part = hierarchy.leaves_covered(level) < len(missing)
        for node in np.flatnonzero(lost & held & part)[:1].tolist():
            raise _mixed(table.attributes[place], hierarchy, level, node, where)
        alone = lost & ~held
        if how == NONE:
            top = set(hierarchy.labels[height])
            alone &= np.array([label not in top for label in hierarchy.labels[level]])
        found.append(alone[above])
    return (*found, np.zeros(len(missing), np.bool_))


def _mixed(name: str, hierarchy: Hierarchy, level: int, node: int, where: str) -> InputError:
    return InputError(
        "k-anonymity.missing-in-group",
        msg(
            "{where}, missing_as: the hierarchy of `{name}` puts missing values and others "
            "together as {label}, expected a label of their own below its top.",
            where=where,
            name=name,
            label=quoted(hierarchy.labels[level][node]),
        ),
        hint="Give missing values a branch of their own in the hierarchy, or count them as a "
        "category.",
        details={"key": "missing_as", "attribute": name},
    )


@dataclass(frozen=True, eq=False)
class Matching:
    """Which classes match which: for every two patterns of missing cells, keys of what both show.

    Each of ``pairs`` holds the classes of one pattern, those of another, and for both the number of
    what they hold in the columns that neither misses.
    """

    classes: int
    pairs: tuple[tuple[Ints, Ints, Ints, Ints], ...] = field(repr=False)

    @classmethod
    def of(cls, codes: NDArray[np.int32], missing: Bools) -> Matching:
        """All pairs of patterns of the classes, shape (classes, attributes)."""
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        members = [np.flatnonzero(which.reshape(-1) == at) for at in range(len(patterns))]
        widths = [int(column.max(initial=0)) + 1 for column in codes.T]
        pairs = []
        for first, one in enumerate(members):
            for second, other in enumerate(members):
                shown = np.flatnonzero(~(patterns[first] | patterns[second])).tolist()
                both = codes[np.concatenate([one, other])]
                columns = [np.ascontiguousarray(both[:, place]) for place in shown]
                keys = tuple_keys(columns, [widths[place] for place in shown], len(both))
                number = numbered(*keys)[1]
                pairs.append((one, other, number[: len(one)], number[len(one) :]))
        return cls(len(codes), tuple(pairs))

    def count(self, rows: Ints) -> Ints:
        """How many of the ``rows`` of all classes match each class, its own among them."""
        found = np.zeros(self.classes, np.int64)
        for one, other, keys, others in self.pairs:
            held = np.bincount(others, rows[other], int(max(keys.max(), others.max())) + 1)
            found[one] += held[keys].astype(np.int64)
        return found


def counted_as(classes: GeneralisedTable, k: int) -> tuple[int, dict[str, object]]:
    """The fewest rows that a kept row is hidden among, and how a guarantee says it was counted.

    Under ANY these are the rows that match it, else those of its class.
    """
    sizes = classes.kept_sizes(k)  # of households that leave, a class loses some of its rows
    kept = sizes > 0
    smallest = int(sizes[kept].min()) if kept.any() else 0
    cells = None if classes.constraints is None else classes.constraints.missing
    if cells is None:
        return smallest, {}
    if cells.how == NONE:
        return smallest, {"missing_as": NONE}
    codes, missing = cells.in_classes(classes.of_tuple, len(kept), classes.levels)
    codes, missing = codes[kept], missing[kept]
    labels = {}
    for at, name in enumerate(classes.table.attributes):
        shown = np.unique(codes[missing[:, at], at]).tolist()
        if shown:
            labels[name] = sorted(classes.labels[at][code] for code in shown)
    fewest = Matching.of(codes, missing).count(sizes[kept]).min() if kept.any() else 0
    return int(fewest), {"missing_as": ANY, "missing": labels}


def every_node(
    problem: LatticeProblem,
    objective: str,
    k: int,
    allowed: int,
    token: CancelToken,
    report: Report,
) -> SearchResult:
    """The optimum where nothing bounds what a node is worth: all nodes, from the top down.

    What lies below an infeasible node is not counted where feasibility is monotone. Raises
    RefusedError ``k-anonymity.too-many-levels`` for a lattice that is too large, Cancelled.
    """
    from dpdesk.engine.methods.k_anonymity.counting import constrained_counter

    counter = constrained_counter(problem, k, allowed)
    if counter is None or problem.node_count > MAX_WALK_NODES:
        raise _too_many(problem)
    shape = tuple(height + 1 for height in problem.heights)
    levels = np.stack(np.unravel_index(np.arange(problem.node_count), shape), axis=1)
    answers = np.zeros((problem.node_count, 1, FIELDS), np.int64)
    answers[:, 0, 0] = problem.rows
    inside = problem.within(levels)
    hopeless = np.zeros(shape, np.bool_)
    steps, done = levels.sum(axis=1), 0
    for height in range(int(steps.max()), -1, -1):
        layer = np.flatnonzero((steps == height) & inside & ~hopeless.reshape(-1))
        if len(layer):
            answers[layer, 0] = counter.count(levels[layer].astype(np.int64), token)
        done += len(layer)
        report(StepProgress(STEP, int((steps >= height).sum()), problem.node_count, "nodes"))
        failed = (answers[layer, 0, 0] > allowed) | (answers[layer, 0, 1] == 0)
        if not problem.monotone(allowed):
            continue
        low = (steps == height) & inside & hopeless.reshape(-1)
        for node in (*layer[failed].tolist(), *np.flatnonzero(low).tolist()):
            for place, level in enumerate(levels[node].tolist()):
                if level:
                    below = levels[node].copy()
                    below[place] -= 1
                    hopeless[tuple(below)] = True
    found = best_of(LatticeStatistics(problem, np.array([k]), answers), objective, k, allowed)
    return SearchResult(
        found.node, found.statistics, found.proven_optimal, done, found.least_suppressed
    )


def _too_many(problem: LatticeProblem) -> RefusedError:
    return RefusedError(
        "k-anonymity.too-many-levels",
        msg(
            "What this plan requires of classes can only be checked by counting every combination "
            "of levels, and there are {nodes:,}, expected at most {most:,}.",
            nodes=problem.node_count,
            most=MAX_WALK_NODES,
        ),
        hint="Use fewer quasi-identifiers, hierarchies with fewer levels, or the objective loss.",
    )
