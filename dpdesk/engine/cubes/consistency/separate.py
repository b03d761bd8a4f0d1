"""No consistency: every cuboid is summed from the noisy cuboid that gives it most precisely.

Source: data cubes paper, section 3 (K_part, aggregation).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpdesk.core.errors import RefusedError
from dpdesk.engine.cubes.consistency.residual import Measured, Numbers
from dpdesk.engine.cubes.lattice import magnification, members


@dataclass(frozen=True, eq=False)
class SeparateCube:
    """Noisy cuboids, each answering for what it gives most precisely; sums need not agree."""

    shape: tuple[int, ...]
    noisy: Mapping[int, Measured]

    def source(self, mask: int) -> int:
        """The noisy cuboid from which ``mask`` is computed; the smallest among equals.

        Raises RefusedError for a cuboid that no noisy cuboid gives.
        """
        above = [fine for fine in self.noisy if mask & ~fine == 0]
        if not above:
            raise RefusedError(
                "cube.not-determined", "No noisy cuboid determines one that is to be published."
            )
        return min(above, key=lambda fine: (self._variance(mask, fine), fine))

    def cuboid(self, mask: int) -> Numbers:
        """Values of a cuboid, axes ascending; whole numbers when the noise is. Raises as source."""
        fine = self.source(mask)
        axes = members(fine)
        away = tuple(place for place, axis in enumerate(axes) if not mask >> axis & 1)
        return np.asarray(self.noisy[fine].values.sum(axis=away))

    def variance(self, mask: int) -> float:
        """Variance of one cell of a cuboid. Raises as source."""
        return self._variance(mask, self.source(mask))

    def _variance(self, mask: int, fine: int) -> float:
        return magnification(mask, fine, self.shape) / self.noisy[fine].information
