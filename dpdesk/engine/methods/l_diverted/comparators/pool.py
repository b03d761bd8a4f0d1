"""Random predicates on the columns that are not drawn, as in the paper's experiments.

Source: l-diverted paper, section 9.1: conjunctions A_1 = v_1 ∧ … ∧ A_d = v_d, each combined with
every sensitive value. The values are those of a random row, so that no predicate is empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
_PIECE = 4


@dataclass(frozen=True, eq=False)
class Sample:
    """A table in codes: ``columns`` of shape (columns, rows), and sensitive codes below ``values``.

    The number of rows must be a multiple of every ℓ′ that is tried; :meth:`cut` sees to that.
    """

    columns: Codes = field(repr=False)
    sensitive: Codes = field(repr=False)
    values: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.sensitive)

    @property
    def largest_group(self) -> int:
        """The largest ℓ′ for which the sensitive column is eligible."""
        return self.rows // int(np.bincount(self.sensitive).max())

    def cut(self, rows: int, generator: np.random.Generator) -> Sample:
        """A random part of the rows, in the same order."""
        kept = np.sort(generator.permutation(self.rows)[:rows])
        return Sample(self.columns[:, kept], self.sensitive[kept], self.values)

    def whole_groups(self, size: int, generator: np.random.Generator) -> Sample:
        """All rows but a random few, so that they make groups of ``size``."""
        return self.cut(self.rows - self.rows % size, generator)

    def matching(self, pool: Codes, values: NDArray[np.int32], token: CancelToken) -> Floats:
        """Matching rows by value for each predicate, shape (predicates, V); raises Cancelled.

        ``values`` has shape (rows,) or (rows, per row).
        """
        from dpdesk.engine.methods.l_diverted.comparators.kernels import count_matching

        each = values if values.ndim == 2 else values[:, None]
        found = np.zeros((len(pool), self.values), np.int64)
        for first in range(0, len(pool), _PIECE):
            token.check()
            part = slice(first, first + _PIECE)
            count_matching(self.columns, pool[part], each, found[part])
        return found.astype(np.float64)


def random_pool(
    sample: Sample, predicates: int, most_columns: int, generator: np.random.Generator
) -> Codes:
    """Predicates on 1 to ``most_columns`` random columns, shape (predicates, columns), −1: any."""
    width = len(sample.columns)
    wanted = np.full((predicates, width), -1, np.int32)
    for query in range(predicates):
        size = int(generator.integers(1, min(most_columns, width) + 1))
        chosen = generator.permutation(width)[:size]
        row = int(generator.integers(sample.rows))
        wanted[query, chosen] = sample.columns[chosen, row]
    return wanted
