"""Hypothesis strategies: small tables with hierarchies, as text."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.hierarchies.preview import AlignedTable, align
from tests.helpers.memory_tables import MemorySource, Row


@dataclass(frozen=True)
class SmallTable:
    """A few rows over a few quasi-identifiers."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    hierarchies: dict[str, Hierarchy]

    @property
    def source(self) -> MemorySource:
        return MemorySource.of(self.columns, self.rows)

    @property
    def aligned(self) -> AlignedTable:
        table = self.source.frequency_table(self.columns, CancelToken())
        return align(table, self.hierarchies, "test")

    @property
    def paths(self) -> list[dict[str, list[str]]]:
        return [{path[0]: path for path in self.hierarchies[name].rows()} for name in self.columns]


@st.composite
def hierarchies(draw: st.DrawFn, name: str) -> Hierarchy:
    """A hierarchy of 1 to 6 leaves and height 1 to 3."""
    leaves = draw(st.integers(1, 6))
    groups = list(range(leaves))
    paths = [[f"{name}{leaf}"] for leaf in range(leaves)]
    for level in range(draw(st.integers(0, 2))):
        merge = draw(st.lists(st.integers(0, 2), min_size=6, max_size=6))
        groups = [merge[group] for group in groups]
        for path, group in zip(paths, groups, strict=True):
            path.append(f"{name}:{level}:{group}")
    for path in paths:
        path.append("*")
    return Hierarchy.from_rows(name, paths)


@st.composite
def small_tables(draw: st.DrawFn, least_rows: int = 1) -> SmallTable:
    """1 to 3 quasi-identifiers, up to 25 rows."""
    columns = ("a", "b", "c")[: draw(st.integers(1, 3))]
    found = {name: draw(hierarchies(name)) for name in columns}
    row = st.tuples(*(st.sampled_from(found[name].leaves) for name in columns))
    rows = draw(st.lists(row, min_size=least_rows, max_size=25))
    return SmallTable(columns, tuple(rows), found)


@st.composite
def tables_with_levels(draw: st.DrawFn) -> tuple[SmallTable, tuple[int, ...]]:
    """A table and one node of its lattice."""
    table = draw(small_tables())
    levels = tuple(draw(st.integers(0, table.hierarchies[name].height)) for name in table.columns)
    return table, levels
