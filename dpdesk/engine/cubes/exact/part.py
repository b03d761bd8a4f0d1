"""The exact part of a cube: which tables and cells have no noise, and what that asks of the rest.

The noise of all other tables hides one minimal move of what is exact (m of them where a person has
up to m rows: the rows of a person can be taken from where they are by at most so many). Source:
resources/docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.cubes.exact.sensitivity import Cell, GenericSensitivity, Knowledge
from dpdesk.engine.cubes.lattice import down_closure, members

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ExactPart:
    """What a cube releases without noise.

    ``known`` is the shortest form of it, with the grand total where neighbours have the same number
    of rows; ``whole`` are the cuboids to count, none part of another; ``generic`` is the
    sensitivity of everything else. ``asked`` are the single cells as the plan names them.
    """

    known: Knowledge
    whole: tuple[int, ...]
    generic: GenericSensitivity
    asked: tuple[tuple[int, Cell], ...] = ()

    def gives(self, cuboid: int) -> bool:
        """Whether a cuboid is exact."""
        trivial = sum(1 << i for i, size in enumerate(self.known.shape) if size == 1)
        return any(cuboid & ~trivial & ~mask == 0 for mask in self.whole)

    def noisy(self, published: Iterable[int]) -> tuple[int, ...]:
        """The published cuboids that have noise."""
        return tuple(mask for mask in published if not self.gives(mask))

    @cached_property
    def single(self) -> tuple[tuple[int, Cell], ...]:
        """Exact cells of cuboids that have noise elsewhere, in their shortest form."""
        cells = self.known.cells
        return tuple((mask, cell) for mask in cells for cell in sorted(cells[mask]))

    @cached_property
    def fixed(self) -> NDArray[np.bool_]:
        """Which residuals are known exactly, shape (2^d,)."""
        return down_closure(self.whole, len(self.known.shape))

    def table(self, cuboid: int, counted: Mapping[int, Integers]) -> Integers:
        """An exact cuboid, axes ascending, summed up from the counted ones."""
        shape = self.known.shape
        trivial = sum(1 << i for i, size in enumerate(shape) if size == 1)
        finer = next(mask for mask in self.whole if cuboid & ~trivial & ~mask == 0)
        gone = tuple(axis for axis, i in enumerate(members(finer)) if not cuboid >> i & 1)
        found = counted[finer].sum(axis=gone, dtype=np.int64)
        return np.asarray(found).reshape([shape[i] for i in members(cuboid)])
