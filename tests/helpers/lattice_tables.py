"""Small tables with awkward hierarchies, as rows of text and as aligned tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.engine.hierarchies.preview import AlignedTable
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem


@dataclass(frozen=True)
class LatticeTable:
    """Rows of text, and the hierarchies of their columns."""

    rows: tuple[tuple[str, ...], ...]
    hierarchies: tuple[Hierarchy, ...]

    @property
    def paths(self) -> list[dict[str, list[str]]]:
        return [{path[0]: path for path in hierarchy.rows()} for hierarchy in self.hierarchies]

    @property
    def problem(self) -> LatticeProblem:
        return LatticeProblem.from_aligned(aligned(self.rows, self.hierarchies))


def aligned(rows: Sequence[tuple[str, ...]], hierarchies: Sequence[Hierarchy]) -> AlignedTable:
    """The rows counted and coded."""
    counted = Counter(rows)
    codes = [
        [hierarchy.leaf_codes[value] for hierarchy, value in zip(hierarchies, row, strict=True)]
        for row in counted
    ]
    return AlignedTable(
        attributes=tuple(hierarchy.attribute for hierarchy in hierarchies),
        hierarchies=tuple(hierarchies),
        codes=np.array(codes, np.int32).reshape(len(codes), len(hierarchies)),
        counts=np.array(list(counted.values()), np.int64),
    )


@st.composite
def _hierarchies(draw: st.DrawFn, name: str) -> Hierarchy:
    """Height 0 to 4, one to nine leaves, unbalanced, levels that change nothing, missing leaves."""
    leaves = draw(st.integers(1, 9))
    if leaves == 1 and draw(st.booleans()):
        return Hierarchy.from_rows(name, [["only"]])
    groups = list(range(leaves))
    paths = [[f"{name}{leaf}"] for leaf in range(leaves)]
    for _ in range(draw(st.integers(0, 3))):
        merge = draw(st.lists(st.integers(0, 8), min_size=9, max_size=9))
        groups = [merge[group] for group in groups] if draw(st.booleans()) else groups
        for path, group in zip(paths, groups, strict=True):
            path.append(f"g{group}")
    for path in paths:
        path.append("*")
    hierarchy = Hierarchy.from_rows(name, paths)
    return hierarchy.with_untouched_leaves(("?", "")[: draw(st.integers(0, 2))])


@st.composite
def lattice_tables(draw: st.DrawFn, most_attributes: int = 3) -> LatticeTable:
    """Up to 40 rows over a few quasi-identifiers; some leaves never occur, some often."""
    count = draw(st.integers(1, most_attributes))
    hierarchies = tuple(draw(_hierarchies(name)) for name in "abcd"[:count])
    row = st.tuples(*(st.sampled_from(hierarchy.leaves) for hierarchy in hierarchies))
    repeated = st.tuples(row, st.integers(1, 5))
    drawn = draw(st.lists(repeated, min_size=1, max_size=12))
    return LatticeTable(tuple(row for row, times in drawn for _ in range(times)), hierarchies)
