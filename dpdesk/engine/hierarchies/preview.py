"""Previews of hierarchies over data, computed on the frequency table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import (
    Hierarchy,
    HierarchyPreview,
    LevelEffect,
    LevelSummary,
    ValueChange,
)
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.engine.hierarchies.alignment import align


def level_counts(
    table: FrequencyTable, hierarchy: Hierarchy, where: str = "preview"
) -> HierarchyPreview:
    """Rows per value of every level, for the attribute of ``hierarchy`` in ``table``.

    Raises InputError ``hierarchy.missing-leaf`` as :func:`align` does, and
    ``hierarchy.unknown-attribute`` when the table lacks the attribute.
    """
    one = _single(table, hierarchy.attribute, where)
    aligned = align(one, {hierarchy.attribute: hierarchy}, where)
    grown = aligned.hierarchies[0]
    below = np.zeros(len(grown.leaves), dtype=np.int64)
    np.add.at(below, aligned.codes[:, 0], aligned.counts)
    rows = [below]
    for step, parents in enumerate(grown.parents):
        above = np.zeros(len(grown.labels[step + 1]), dtype=np.int64)
        np.add.at(above, parents, rows[-1])
        rows.append(above)
    levels = tuple(_summary(grown, level, counts) for level, counts in enumerate(rows))
    return HierarchyPreview(grown, tuple(rows), levels, aligned.missing[0])


def level_effect(preview: HierarchyPreview, level: int, sample: Sequence[str] = ()) -> LevelEffect:
    """What generalising to ``level`` does; ``sample`` are raw values of the first rows to show.

    A sampled value without a leaf raises InputError ``hierarchy.missing-leaf``, a level that the
    hierarchy lacks ``hierarchy.level``.
    """
    hierarchy = preview.hierarchy
    if not 0 <= level <= hierarchy.height:
        raise InputError(
            "hierarchy.level",
            msg(
                "hierarchy of `{attribute}`: there is no level {level}, expected 0 to {height}.",
                attribute=hierarchy.attribute,
                level=level,
                height=hierarchy.height,
            ),
            details={"attribute": hierarchy.attribute, "level": level},
        )
    upper, labels = hierarchy.ancestors(level), hierarchy.labels[level]
    leaf_rows = preview.rows[0]
    occurring = np.flatnonzero(leaf_rows)
    sharing = np.bincount(upper[occurring], minlength=len(labels))
    changed = sum(
        int(leaf_rows[leaf]) for leaf in occurring if hierarchy.leaves[leaf] != labels[upper[leaf]]
    )
    return LevelEffect(
        attribute=hierarchy.attribute,
        level=level,
        sample=tuple(_change(hierarchy, upper, labels, value) for value in sample),
        distinct_before=int(occurring.size),
        distinct_after=int(np.count_nonzero(sharing)),
        merged=int(sharing[sharing > 1].sum()),
        rows_changed=changed,
        smallest_before=preview.levels[0].smallest,
        smallest_after=preview.levels[level].smallest,
    )


def _change(
    hierarchy: Hierarchy, upper: NDArray[np.int32], labels: Sequence[str], value: str
) -> ValueChange:
    code = hierarchy.leaf_codes.get(value)
    if code is None:
        raise InputError(
            "hierarchy.missing-leaf",
            msg(
                "hierarchy of `{attribute}`: {quoted} has no leaf, expected one.",
                attribute=hierarchy.attribute,
                quoted=quoted(value),
            ),
            details={"attribute": hierarchy.attribute, "values": (value,)},
        )
    return ValueChange(value, labels[upper[code]])


def _summary(hierarchy: Hierarchy, level: int, counts: NDArray[np.int64]) -> LevelSummary:
    used = np.flatnonzero(counts)
    if not used.size:
        return LevelSummary(level, 0, 0, "", len(counts))
    rarest = int(used[np.argmin(counts[used])])
    return LevelSummary(
        level,
        int(used.size),
        int(counts[rarest]),
        hierarchy.labels[level][rarest],
        len(counts) - int(used.size),
    )


def _single(table: FrequencyTable, attribute: str, where: str) -> FrequencyTable:
    """The table of one attribute: other columns summed out."""
    if attribute not in table.attributes:
        raise InputError(
            "hierarchy.unknown-attribute",
            msg(
                "{where}: the data have no attribute `{attribute}`.",
                where=where,
                attribute=attribute,
            ),
            details={"attribute": attribute},
        )
    position = table.attributes.index(attribute)
    domain = table.domains[position]
    counts = np.zeros(len(domain), dtype=np.int64)
    np.add.at(counts, table.codes[:, position], table.counts)
    used = np.flatnonzero(counts)
    missing = (table.missing[position],) if table.missing else ()
    return FrequencyTable(
        (attribute,), (domain,), used.astype(np.int32).reshape(-1, 1), counts[used], missing
    )
