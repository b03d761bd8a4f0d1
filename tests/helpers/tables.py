"""Small tables with all margins, made from their inner cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.tables.model import Cells, Dimension, Table, exact


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
