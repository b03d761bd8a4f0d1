"""What can be told of suppressed cells: the ends of the interval in which each must lie.

Each end is a linear program over the equations of the tables as they lie in the files, formulated
and solved apart from the search. Points that a program finds serve all cells of its component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from dpdesk.core.jobs import CancelToken

Floats = NDArray[np.float64]
Row = tuple[Mapping[int, int], float]
"""An equation over unknowns: their coefficients, and what their sum is."""


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Suppressed cells with the equations that hold for them and the bounds that are known."""

    rows: Sequence[Row]
    low: Floats
    high: Floats

    @property
    def matrix(self) -> csr_array:
        """The coefficients, shape (equations, unknowns)."""
        places = [(i, j, c) for i, (row, _) in enumerate(self.rows) for j, c in row.items()]
        entries = np.array(places, dtype=np.float64).reshape(-1, 3)
        shape = (len(self.rows), len(self.low))
        at = entries[:, 0].astype(np.int64), entries[:, 1].astype(np.int64)
        return csr_array(coo_array((entries[:, 2], at), shape=shape))

    @property
    def sums(self) -> Floats:
        """What each equation comes to."""
        return np.array([total for _, total in self.rows], dtype=np.float64)


class InfeasibleError(Exception):
    """No values of the suppressed cells satisfy the published ones."""


def ranges(unknowns: Unknowns, wanted: Sequence[int], token: CancelToken) -> tuple[Floats, Floats]:
    """The least and the largest possible value of each wanted unknown (inf: no bound).

    Of the others what was found on the way: values that are possible. Raises InfeasibleError and
    Cancelled.
    """
    count = len(unknowns.low)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    matrix, sums = unknowns.matrix, unknowns.sums
    part = _parts(matrix, count)
    asked = set(wanted)
    for number in range(int(part.max(initial=-1)) + 1):
        columns = np.flatnonzero(part == number)
        rows = np.unique(matrix[:, columns].tocoo().coords[0])
        inner = matrix[rows][:, columns]
        box = np.stack([unknowns.low[columns], unknowns.high[columns]], axis=1)
        for place, column in enumerate(columns.tolist()):
            if column not in asked:
                continue
            for sign in (1.0, -1.0):
                token.check()
                cost = np.zeros(len(columns))
                cost[place] = sign
                point = _end(inner, sums[rows], box, cost)
                if point is None:
                    end = -np.inf if sign > 0 else np.inf
                    low[column], high[column] = min(low[column], end), max(high[column], end)
                else:
                    low[columns] = np.minimum(low[columns], point)
                    high[columns] = np.maximum(high[columns], point)
    return low, high


def _parts(matrix: csr_array, count: int) -> NDArray[np.int64]:
    rows = matrix.shape[0]
    at = matrix.tocoo().coords
    ones = np.ones(len(at[0]), np.int8)
    links = coo_array((ones, (at[1], count + at[0])), shape=(count + rows,) * 2)
    _, part = connected_components(links, directed=False)
    return np.unique(part[:count], return_inverse=True)[1].astype(np.int64)


def _end(matrix: csr_array, sums: Floats, box: Floats, cost: Floats) -> Floats | None:
    """The point at one end; None where there is no end."""
    given = {"A_eq": matrix, "b_eq": sums} if matrix.shape[0] else {}
    found = linprog(cost, **given, bounds=box, method="highs")
    if found.status == 3:
        return None
    if found.status == 2:
        # The solver may not tell whether there is no point or no end.
        there = linprog(np.zeros(len(cost)), **given, bounds=box, method="highs")
        if there.status == 0:
            return None
        raise InfeasibleError
    if found.status != 0:
        raise ArithmeticError(f"a linear program was not solved: {found.message}")
    return np.asarray(found.x, dtype=np.float64)
