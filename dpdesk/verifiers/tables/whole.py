"""What whole numbers tell of suppressed counts, by integer programs of the verifier's own.

Linear programs allow moves by parts of a person. Where a program of a part ends at whole points in
any case, it says the same as an integer program, which is solved for the others.
"""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dpdesk.verifiers.tables.intervals import Floats, Ints, Room, Unknowns

_CLOSE = 1e-6
_WIDE = 1e6
_PAST = 16
_NODES = 2_000


class WholeRoom(Room):
    """In what the unknowns can lie when they are whole numbers."""

    def __init__(self, unknowns: Unknowns) -> None:
        low, high = np.clip(unknowns.low, -_WIDE, _WIDE), np.clip(unknowns.high, -_WIDE, _WIDE)
        self._low = np.minimum(np.ceil(low - _CLOSE), 0.0)
        self._high = np.maximum(np.floor(high + _CLOSE), 0.0)
        self._fits: NDArray[np.bool_] = (low == self._low) & (high == self._high)
        super().__init__(Unknowns(unknowns.rows, self._low, self._high))
        self._free: dict[int, bool] = {}

    def at_ends(self, place: int) -> bool:
        """Whether linear programs of an unknown's part end at whole points in any case.

        The bounds are whole, and the equations those of a network: each unknown is in at most two
        of them, and with suitable signs adds to one what it takes from the other.
        """
        number = int(self._part[place])
        if number not in self._free:
            self._free[number] = self._network(self.parts[number])
        return self._free[number]

    def _network(self, columns: Ints) -> bool:
        inner = self._matrix[:, columns].tocsc()
        length = np.diff(inner.indptr)
        if not self._fits[columns].all() or (length > 2).any() or (np.abs(inner.data) != 1).any():
            return False
        first = inner.indptr[:-1][length == 2]
        rows, one, other = inner.shape[0], inner.indices[first], inner.indices[first + 1]
        turned = inner.data[first] == inner.data[first + 1]
        # Each equation and its opposite are nodes; none may be joined to its own opposite.
        ends = [np.where(turned, other + rows, other), np.where(turned, other, other + rows)]
        nodes = np.concatenate([one, one + rows]), np.concatenate(ends)
        links = coo_array((np.ones(len(nodes[0]), np.int8), nodes), shape=(2 * rows, 2 * rows))
        part = connected_components(links, directed=False)[1]
        return bool((part[:rows] != part[rows:]).all())

    def steps(self, place: int, need: float, *, upward: bool) -> float | None:
        """How far an unknown can go from 0, at most ``need`` rounded up; None: not decided."""
        way = 1.0 if upward else -1.0
        end = self._high[place] if upward else -self._low[place]
        goal = float(min(ceil(need - _CLOSE), end))
        if goal <= 0:
            return 0.0
        columns = self.parts[int(self._part[place])]
        inner, sums, _ = self._inner(int(self._part[place]))
        at = int(np.searchsorted(columns, place))
        low, high = self._low[columns].copy(), self._high[columns].copy()
        # Some can go by two and not by one, so that the end is beyond the goal.
        far = min(float(end), _PAST * (goal + 1.0))
        low[at], high[at] = (low[at], far) if upward else (-far, high[at])
        cost: Floats = np.zeros(len(columns))
        cost[at] = -way
        found = milp(
            cost,
            integrality=np.ones(len(columns)),
            bounds=Bounds(low, high),
            constraints=LinearConstraint(inner, sums, sums) if inner.shape[0] else (),
            options={"mip_rel_gap": 0.0, "node_limit": _NODES},
        )
        if found.x is None:
            return None
        reach = min(goal, float(np.rint(found.x[at])) * way)
        return reach if found.status == 0 or reach >= goal else None
