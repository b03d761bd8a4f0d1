"""What a k-anonymous release lost: per attribute, and for whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.hierarchies.alignment import AlignedTable
from dpdesk.engine.methods.k_anonymity.grouping import GeneralisedTable

SMALLEST_SHARE = 0.01
MOST_GROUPS = 8


@dataclass(frozen=True)
class AttributeUtility:
    """What one attribute lost.

    ``loss`` is the mean over its cells of (leaves covered − 1)/(leaves − 1), suppressed cells
    counting 1 (LM of Iyengar, NCP). ``distance`` is the total variation distance, 0 to 1, between
    the original distribution and the one a user rebuilds by spreading every released value evenly
    over the values that it covers.
    """

    attribute: str
    level: int
    height: int
    loss: float
    distance: float

    def as_json(self) -> dict[str, object]:
        """The figures under the names that evidence files use."""
        return {
            "attribute": self.attribute,
            "level": self.level,
            "height": self.height,
            "loss": self.loss,
            "distribution_distance": self.distance,
        }


@dataclass(frozen=True)
class GroupSuppression:
    """How many of the rows with one original value were suppressed."""

    attribute: str
    value: str
    rows: int
    suppressed: int

    @property
    def share(self) -> float:
        """Suppressed share of these rows, 0 to 1."""
        return self.suppressed / self.rows

    def as_json(self) -> dict[str, object]:
        """The figures under the names that evidence files use."""
        return {
            "attribute": self.attribute,
            "value": self.value,
            "rows": self.rows,
            "suppressed": self.suppressed,
        }


LeafRows = tuple[NDArray[np.float64], ...]
"""Rows per leaf, for each attribute."""


def attribute_utilities(
    classes: GeneralisedTable, before: LeafRows, after: LeafRows
) -> tuple[AttributeUtility, ...]:
    """Loss and distribution distance of each attribute.

    ``before`` are the rows per leaf of the whole table, ``after`` those of the kept rows.
    """
    return tuple(
        _attribute_utility(classes, position, before[position], after[position])
        for position in range(len(classes.levels))
    )


def _attribute_utility(
    classes: GeneralisedTable,
    position: int,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> AttributeUtility:
    hierarchy, level = classes.table.hierarchies[position], classes.levels[position]
    leaves = len(hierarchy.leaves)
    ancestors = hierarchy.ancestors(level)
    covered = np.bincount(ancestors, minlength=len(hierarchy.labels[level]))
    rows, rows_kept = float(before.sum()), float(after.sum())
    lost = float((after * (covered[ancestors] - 1)).sum()) / max(leaves - 1, 1)
    return AttributeUtility(
        attribute=classes.table.attributes[position],
        level=level,
        height=hierarchy.height,
        loss=(lost + rows - rows_kept) / rows if rows else 0.0,
        distance=_distance(before, after, ancestors, covered),
    )


def _distance(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    ancestors: NDArray[np.int32],
    covered: NDArray[np.intp],
) -> float:
    if not after.sum():
        return 1.0
    released = np.bincount(ancestors, weights=after, minlength=len(covered))
    rebuilt = (released / covered)[ancestors] / after.sum()
    return float(np.abs(before / before.sum() - rebuilt).sum() / 2)


def groups_hit(
    table: AlignedTable, before: LeafRows, after: LeafRows
) -> tuple[GroupSuppression, ...]:
    """The original values that suppression hit most, hardest hit first.

    Only values that at least one row in a hundred holds, and at most a handful; empty when nothing
    was suppressed. ``before`` and ``after`` as in :func:`attribute_utilities`.
    """
    if float(before[0].sum()) == float(after[0].sum()):
        return ()
    found: list[GroupSuppression] = []
    for position, (rows, kept) in enumerate(zip(before, after, strict=True)):
        found += _groups_of(table, position, rows, rows - kept)
    # Stable, so ties stay in column order and hierarchy order.
    found.sort(key=lambda group: -group.share)
    return tuple(found[:MOST_GROUPS])


def _groups_of(
    table: AlignedTable,
    position: int,
    rows: NDArray[np.float64],
    lost: NDArray[np.float64],
) -> Sequence[GroupSuppression]:
    leaves = table.hierarchies[position].leaves
    common = np.flatnonzero((rows >= SMALLEST_SHARE * rows.sum()) & (lost > 0))
    hardest = common[np.argsort(-lost[common] / rows[common], kind="stable")][:MOST_GROUPS]
    return [
        GroupSuppression(table.attributes[position], leaves[code], int(rows[code]), int(lost[code]))
        for code in hardest
    ]
