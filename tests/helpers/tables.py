"""Small tables with all margins, made from their inner cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.engine.tables.model import Cells, Dimension, Requirement, System, Table, exact


def with_margins(dimensions: Sequence[Dimension], leaves: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sums over the leaves of every combination of nodes, flat."""
    values = leaves.reshape([len(d.leaves) for d in dimensions])
    for axis, dimension in enumerate(dimensions):
        covered = dimension.covers.astype(np.int64)
        values = np.moveaxis(np.tensordot(covered, values, (1, axis)), 0, axis)
    return values.ravel()


def filled(
    dimensions: Sequence[Dimension],
    leaves: NDArray[np.int64],
    name: str = "t",
    frequency: NDArray[np.int64] | None = None,
) -> Table:
    """A table of counts, or of amounts where ``frequency`` gives the contributors of a leaf."""
    values = with_margins(dimensions, leaves)
    counts = values if frequency is None else with_margins(dimensions, frequency)
    return Table(name, tuple(dimensions), Cells(exact(values), counts.astype(np.int64)))


def drawn_system(rng: np.random.Generator, largest: int = 12) -> System:
    """One small table, or two linked ones: one to three dimensions, one may have subtotals."""
    sizes = [int(n) for n in rng.integers(2, 4, rng.integers(1, 4))]
    dimensions = [Dimension.flat(f"d{i}", list("pqrs")[:n]) for i, n in enumerate(sizes)]
    rows = [[x, "A" if x in "pq" else "B", "*"] for x in "pqrs"]
    grouped = Dimension.of("region", Hierarchy.from_rows("region", rows))
    if len(sizes) < 3 and rng.random() < 0.5:
        dimensions.append(grouped)
    shape = [len(d.leaves) for d in dimensions]
    frequency = rng.integers(0, 4, int(np.prod(shape)))
    values = np.where(frequency > 0, rng.integers(0, largest, frequency.size), 0)
    tables = [filled(dimensions, values, "first", frequency)]
    if len(shape) > 1 and rng.random() < 0.5:
        axis = int(rng.integers(len(shape)))
        other = Dimension.flat("other", ["u", "v"])
        total, people = (x.reshape(shape).sum(axis=axis) for x in (values, frequency))
        first = rng.integers(0, people + 1)
        part = np.where(people > 0, total * first // np.maximum(people, 1), 0)
        split = np.stack([part, total - part], axis=-1)
        parts = np.stack([first, people - first], axis=-1)
        rest = [d for i, d in enumerate(dimensions) if i != axis]
        tables.append(filled([*rest, other], split, "second", parts))
    return System.of(tables)


def required(system: System, unsafe: NDArray[np.bool_], rng: np.random.Generator) -> Requirement:
    """Some protection for each of these variables."""
    wide = np.where(unsafe, rng.integers(0, 5, len(system)), 0)
    return Requirement(unsafe, exact(np.minimum(wide, system.cells.values)), exact(wide))
