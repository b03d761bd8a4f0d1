"""What a release may tell of its levels: figures that no value of a suppressed row enters.

Loss and precision are those of the hierarchies that the plan makes of the released rows alone, put
in the groups that were released. So a value that only suppressed rows have counts nowhere: neither
as a leaf nor as a further level. A hierarchy from a file, or one that the plan spells out, is the
same for any rows, and counts whole; a missing value that it lacks is a leaf of its own only where a
released row has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.anonymity.grouping import GeneralisedTable
from dpdesk.engine.anonymity.metrics import NodeStatistics
from dpdesk.engine.anonymity.utility import LeafRows
from dpdesk.engine.hierarchies.remaking import Remake


@dataclass(frozen=True)
class ReleasedFigures:
    """Mean ``loss`` and ``precision`` of a cell, 0 to 1, as a release may tell them.

    ``telling`` are the attributes whose released labels, or their level, are not those that the
    plan makes of the released rows alone: they follow from values of suppressed rows as well.
    """

    loss: Fraction
    precision: Fraction
    telling: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Counted:
    """Which leaves count, how many steps there are to the top, and whether the labels agree."""

    leaves: NDArray[np.bool_] = field(repr=False)
    height: int
    same: bool


def released_figures(
    classes: GeneralisedTable,
    statistics: NodeStatistics,
    before: LeafRows,
    after: LeafRows,
    remakes: Mapping[str, Remake],
) -> ReleasedFigures:
    """The figures of a node; ``before`` and ``after`` are rows per leaf, of all and of kept rows.

    ``remakes`` hold what makes the hierarchies that were made from values of the data.
    """
    losses, steps, telling = [], [], []
    for position, name in enumerate(classes.table.attributes):
        found = _counted(classes, position, before[position], after[position], remakes.get(name))
        if not found.same:
            telling.append(name)
        lost = _lost(classes, position, found, after[position])
        losses.append((lost + statistics.suppressed) / max(statistics.rows, 1))
        level = classes.levels[position]
        step = Fraction(min(level, found.height), found.height) if found.height else Fraction(0)
        moved = step * statistics.kept + statistics.suppressed
        steps.append(moved / max(statistics.rows, 1))
    loss = sum(losses, Fraction(0)) / len(losses)
    return ReleasedFigures(loss, 1 - sum(steps, Fraction(0)) / len(steps), tuple(telling))


def _counted(
    classes: GeneralisedTable,
    position: int,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    remake: Remake | None,
) -> _Counted:
    table = classes.table
    hierarchy, held = table.hierarchies[position], after > 0
    whole = np.ones(len(hierarchy.leaves), dtype=np.bool_)
    if remake is None:
        unseen = [code for code in table.added[position] if not held[code]]
        whole[unseen] = False
        return _Counted(whole, hierarchy.height, same=True)
    if not held.any() or (held == (before > 0)).all():
        return _Counted(whole, hierarchy.height, same=True)
    shown = [hierarchy.leaves[code] for code in np.flatnonzero(held).tolist()]
    missing = {hierarchy.leaves[code] for code in table.missing[position]}
    alone = remake(shown, [value for value in shown if value in missing])
    level = classes.levels[position]
    groups = hierarchy.ancestors(level)
    if alone is None:
        return _Counted(held, _first_whole(classes, position, held), same=False)
    alone = alone.with_untouched_leaves([value for value in shown if value in missing])
    whole = np.array([leaf in alone.leaf_codes for leaf in hierarchy.leaves], dtype=np.bool_)
    if level > alone.height:
        return _Counted(whole, alone.height, same=False)
    above = alone.ancestors(level)
    same = all(
        alone.labels[level][above[alone.leaf_codes[value]]]
        == hierarchy.labels[level][groups[hierarchy.leaf_codes[value]]]
        for value in shown
    )
    return _Counted(whole, alone.height, same)


def _first_whole(classes: GeneralisedTable, position: int, held: NDArray[np.bool_]) -> int:
    """The lowest level at which all leaves that are held are in one group."""
    hierarchy = classes.table.hierarchies[position]
    return next(
        level
        for level in range(hierarchy.height + 1)
        if len(np.unique(hierarchy.ancestors(level)[held])) == 1
    )


def _lost(
    classes: GeneralisedTable, position: int, found: _Counted, after: NDArray[np.float64]
) -> Fraction:
    """Sum over the kept cells of (leaves covered - 1)/(leaves - 1), counting ``found.leaves``."""
    above = classes.table.hierarchies[position].ancestors(classes.levels[position])
    covered = np.bincount(above, weights=found.leaves)[above].astype(np.int64)
    rows, whole = after.astype(np.int64), int(found.leaves.sum()) - 1
    return Fraction(int((rows * (covered - 1)).sum()), whole) if whole > 0 else Fraction(0)
