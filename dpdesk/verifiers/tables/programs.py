"""Linear programs of an attacker, one after the other over the same sums.

Each starts where the last one ended. A point is believed only after it was put into the sums and
between the bounds: what shows that a cell is protected does not rest on the solver.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dpdesk.core.messages import msg

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
_TIGHT, _CLOSE = 1e-9, 1e-6
_CHOOSE, _DUAL = 0, 1
_KNOWN = highspy.HighsModelStatus


class InfeasibleError(Exception):
    """No values of the suppressed cells satisfy the published ones."""


class Program:
    """Minimise ``cost @ y`` where ``matrix @ y = sums`` and ``y`` lies in a box.

    Of ``moves`` all sums are 0, and unknowns of which one tells the other are solved as one.
    """

    def __init__(self, matrix: csr_array, *, moves: bool) -> None:
        self._matrix, self._size = matrix, abs(matrix)
        rows, count = matrix.shape
        of, sign = one_for_another(matrix) if moves else (np.arange(count), np.ones(count))
        self._free = np.flatnonzero(sign)
        names, self._of = np.unique(of[self._free], return_inverse=True)
        self._sign, self._count = sign[self._free], len(names)
        joined = csr_array((self._sign, (self._free, self._of)), shape=(count, len(names)))
        inner = csr_array(matrix @ joined)
        inner.eliminate_zeros()
        self._rows = np.flatnonzero(np.diff(inner.indptr)) if moves else np.arange(rows)
        self._solver = _solver(csr_array(inner[self._rows]))

    def end(self, sums: Floats, box: Floats, cost: Floats) -> Floats | None:
        """The point at one end; None where there is no end.

        Raises InfeasibleError, and ArithmeticError where no answer of the solver holds.
        """
        self._ask(sums, box, cost)
        for anew in (False, True):
            status = self._run(anew=anew)
            if status in (_KNOWN.kOptimal, _KNOWN.kModelEmpty):
                point = self._point(len(cost))
                if self._holds(point, sums, box):
                    return np.clip(point, box[:, 0], box[:, 1])
            elif anew and status == _KNOWN.kInfeasible:
                # The solver may not tell whether there is no point or no end.
                if cost.any() and self.end(sums, box, np.zeros(len(cost))) is not None:
                    return None
                raise InfeasibleError
            elif anew and status in (_KNOWN.kUnbounded, _KNOWN.kUnboundedOrInfeasible):
                self.end(sums, box, np.zeros(len(cost)))
                return None
        message = self._solver.modelStatusToString(status)
        raise ArithmeticError(msg("a linear program was not solved: {message}", message=message))

    def _ask(self, sums: Floats, box: Floats, cost: Floats) -> None:
        """Tell the solver all numbers of a program."""
        low, high = np.full(self._count, -np.inf), np.full(self._count, np.inf)
        # A column that goes against its unknown has the unknown's bounds turned round.
        ends = np.where(self._sign[:, None] > 0, box[self._free], -box[self._free][:, ::-1])
        np.maximum.at(low, self._of, ends[:, 0])
        np.minimum.at(high, self._of, ends[:, 1])
        own = np.bincount(self._of, cost[self._free] * self._sign, minlength=self._count)
        columns = np.arange(self._count, dtype=np.int32)
        self._solver.changeColsBounds(self._count, columns, low, high)
        self._solver.changeColsCost(self._count, columns, own)
        rows, goal = np.arange(len(self._rows), dtype=np.int32), sums[self._rows]
        self._solver.changeRowsBounds(len(rows), rows, goal, goal)

    def _run(self, *, anew: bool) -> Any:
        """How the solver ends: from where it was, or from nothing."""
        if anew:
            self._solver.clearSolver()
        self._solver.setOptionValue("simplex_strategy", _DUAL if anew else _CHOOSE)
        self._solver.run()
        return self._solver.getModelStatus()

    def _point(self, count: int) -> Floats:
        """What the solver gives for all unknowns."""
        point, found = np.zeros(count), np.zeros(self._count)
        given = self._solver.getSolution().col_value
        found[: len(given)] = given
        point[self._free] = found[self._of] * self._sign
        return point

    def _holds(self, point: Floats, sums: Floats, box: Floats) -> bool:
        """Whether a point lies in the box and has the sums."""
        slack = _CLOSE * (1.0 + np.abs(point))
        inside = (point >= box[:, 0] - slack) & (point <= box[:, 1] + slack)
        return bool(
            inside.all() and (np.abs(self._matrix @ point - sums) <= self._size @ slack).all()
        )


def _solver(matrix: csr_array) -> Any:
    """A solver that has these rows, and no bounds yet."""
    rows, columns = matrix.shape
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = rows, columns
    lp.col_cost_ = np.zeros(columns)
    lp.col_lower_, lp.col_upper_ = np.zeros((2, columns))
    lp.row_lower_, lp.row_upper_ = np.zeros((2, rows))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(np.float64)
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    for name, value in {
        "output_flag": False,
        "threads": 1,
        "primal_feasibility_tolerance": _TIGHT,
        "dual_feasibility_tolerance": _TIGHT,
    }.items():
        solver.setOptionValue(name, value)
    solver.passModel(lp)
    return solver


def one_for_another(matrix: csr_array) -> tuple[Ints, Floats]:
    """For each unknown another one that moves as far, and in which direction; 0: none can move.

    All sums of the moves are 0: what is alone in one stays, of two each tells the other, and what
    is one for another makes further sums short.
    """
    count = matrix.shape[1]
    of, sign = np.arange(count), np.ones(count)
    while True:
        joined = csr_array((sign, (np.arange(count), of)), shape=(count, count))
        now = csr_array(matrix @ joined)
        now.eliminate_zeros()
        told: dict[int, tuple[int, float]] = {}
        length = np.diff(now.indptr)
        for row in np.flatnonzero((length == 1) | (length == 2)).tolist():
            inside = slice(now.indptr[row], now.indptr[row + 1])
            _tell(told, now.indices[inside].tolist(), now.data[inside].tolist())
        if not told:
            return of, sign
        ends = [_followed(told, column) for column in of.tolist()]
        of = np.array([column for column, _ in ends], dtype=np.int64)
        sign = sign * np.array([way for _, way in ends])


def _tell(told: dict[int, tuple[int, float]], columns: list[int], factors: list[float]) -> None:
    """Note what one sum of one or two columns tells of them."""
    if len(columns) == 2 and abs(factors[0]) != abs(factors[1]):
        return
    ends = [_followed(told, column) for column in columns]
    (column, way), (other, back) = ends[0], ends[-1]
    if column == other:
        if way and sum(f * w for f, (_, w) in zip(factors, ends, strict=True)):
            told[column] = column, 0.0
    elif not way:
        told[other] = column, 0.0
    elif not back:
        told[column] = other, 0.0
    else:
        told[other] = column, -(factors[0] * way) / (factors[1] * back)


def _followed(told: dict[int, tuple[int, float]], column: int) -> tuple[int, float]:
    """The column that stands for another now, and in which direction (0: it stays)."""
    at, way = column, 1.0
    while at in told and told[at][0] != at:
        at, turned = told[at]
        way *= turned
    if at != column:
        told[column] = at, way
    return at, 0.0 if at in told else way


def times(amounts: Floats, low: Floats, high: Floats) -> tuple[float, float]:
    """How often a move can be made between bounds around 0, and its opposite."""
    up, down = amounts > 0, amounts < 0
    on = np.concatenate([high[up] / amounts[up], low[down] / amounts[down]])
    back = np.concatenate([-low[up] / amounts[up], -high[down] / amounts[down]])
    return float(on.min()), float(back.min())
