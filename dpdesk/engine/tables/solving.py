"""Linear and integer programs by HiGHS, kept between solves: each starts where the last ended."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import highspy
import numpy as np
from scipy.sparse import csr_array

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.model import Flags, Floats, Ints


class Answer(Enum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    STOPPED = "stopped"
    """Out of time: the best point so far, if there is one, and the bound."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution (or the best so far; for an unbounded program the ray), and the proven bound."""

    answer: Answer
    point: Floats | None
    value: float
    bound: float
    duals: Floats | None = None
    """Reduced costs of the columns."""


class Program:
    """Minimise ``cost · y``, ``matrix y`` between the bounds ``rows``, ``y`` within ``columns``.

    ``kind`` says what changes between solves: the costs, the rows, or everything. An integer
    search ends after so many ``nodes``.
    """

    def __init__(
        self,
        matrix: csr_array,
        rows: tuple[Floats, Floats],
        columns: tuple[Floats, Floats],
        cost: Floats | None = None,
        integral: Flags | None = None,
        kind: Literal["costs", "rows", "anew"] = "costs",
        nodes: int | None = None,
    ) -> None:
        # Other costs leave the point feasible, more rows the duals; where all costs are positive
        # and a few bounds force a move, nothing is a better start than no move at all.
        self._strategy = 4 if kind == "costs" else 1
        self._anew = kind == "anew"
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for name, value in {
            "output_flag": False,
            "threads": 1,
            "simplex_strategy": self._strategy,
            "presolve": "off" if self._anew else "choose",
            "primal_feasibility_tolerance": 1e-9,
            "dual_feasibility_tolerance": 1e-9,
            "mip_feasibility_tolerance": 1e-7,
            "mip_abs_gap": 1e-7,
            "mip_rel_gap": 0.0,
        }.items():
            self._solver.setOptionValue(name, value)
        if nodes is not None:
            self._solver.setOptionValue("mip_max_nodes", nodes)
        self.columns = matrix.shape[1]
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.col_cost_ = np.zeros(self.columns) if cost is None else cost
        lp.col_lower_, lp.col_upper_ = columns
        lp.row_lower_, lp.row_upper_ = rows
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = matrix.data.astype(np.float64)
        self._whole = integral is not None
        if integral is not None:
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            lp.integrality_ = [kinds[int(each)] for each in integral]
        self._solver.passModel(lp)

    def cost(self, columns: Ints, cost: Floats) -> None:
        """Change the cost of some columns (each once, in their order)."""
        self._solver.changeColsCost(len(columns), columns.astype(np.int32), cost)

    def bound(self, columns: Ints, lower: Floats, upper: Floats) -> None:
        """Change the bounds of some columns (each once, in their order)."""
        self._solver.changeColsBounds(len(columns), columns.astype(np.int32), lower, upper)

    def add(self, rows: csr_array, lower: Floats) -> None:
        """Add rows ``rows y >= lower``."""
        self._solver.addRows(
            rows.shape[0],
            lower,
            np.full(rows.shape[0], np.inf),
            rows.nnz,
            rows.indptr[:-1].astype(np.int32),
            rows.indices.astype(np.int32),
            rows.data.astype(np.float64),
        )

    def start(self, point: Floats) -> None:
        """Begin the next integer search from a point that satisfies all rows."""
        columns = np.arange(self.columns, dtype=np.int32)
        self._solver.setSolution(self.columns, columns, point)

    def solve(
        self,
        token: CancelToken,
        watch: Callable[[float, float], None] | None = None,
        stop: CancelToken | None = None,
    ) -> Solved:
        """Solve; ``watch`` hears the value and the bound of an integer search while it runs.

        When ``stop`` is cancelled, an integer search ends with its best point, once it has one.

        Raises
        ------
        Cancelled
            The token asked for it.
        RuntimeError
            The solver failed, which no input should make it do.
        """
        token.check()
        solver = self._solver
        if self._anew:
            solver.clearSolver()
        if self._whole:
            self._listen(token, watch, stop)
        solver.run()
        if not self._answered():
            # A basis that a warm start cannot use within the tolerances: once more from nothing.
            solver.clearSolver()
            solver.setOptionValue("simplex_strategy", 1)
            solver.run()
            solver.setOptionValue("simplex_strategy", self._strategy)
        if self._whole:
            solver.clearCallbacks()
        token.check()
        return self._solved(solver.getModelStatus())

    def _answered(self) -> bool:
        """Whether the last run ended with an answer: an optimum has to be within the bounds."""
        status, known = self._solver.getModelStatus(), highspy.HighsModelStatus
        feasible = highspy.SolutionStatus.kSolutionStatusFeasible
        if status == known.kOptimal and not self._whole:
            return bool(self._solver.getInfo().primal_solution_status == feasible)
        return bool(status != known.kUnknown)

    def _listen(
        self,
        token: CancelToken,
        watch: Callable[[float, float], None] | None,
        stop: CancelToken | None,
    ) -> None:
        def interrupted(event: Any) -> None:
            told = event.data_out
            enough = stop is not None and stop.cancelled and math.isfinite(told.mip_primal_bound)
            if token.cancelled or enough:
                event.data_in.user_interrupt = True
            if watch is not None:
                watch(told.mip_primal_bound, told.mip_dual_bound)

        self._solver.cbMipInterrupt += interrupted
        self._solver.cbSimplexInterrupt += interrupted

    def _solved(self, status: Any) -> Solved:
        solver, known = self._solver, highspy.HighsModelStatus
        if status == known.kInfeasible:
            return Solved(Answer.INFEASIBLE, None, np.inf, np.inf)
        if status in (known.kUnbounded, known.kUnboundedOrInfeasible):
            _, there, ray = solver.getPrimalRay()
            point = np.asarray(ray, dtype=np.float64) if there else None
            return Solved(Answer.UNBOUNDED, point, -np.inf, -np.inf)
        info = solver.getInfo()
        stopped = (known.kTimeLimit, known.kInterrupt, known.kSolutionLimit)
        if status not in (known.kOptimal, known.kModelEmpty, *stopped):
            raise RuntimeError(solver.modelStatusToString(status))
        solution = solver.getSolution()
        feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        point = np.array(solution.col_value) if feasible or status == known.kModelEmpty else None
        bound = info.mip_dual_bound if self._whole else info.objective_function_value
        answer = Answer.STOPPED if status in stopped else Answer.OPTIMAL
        duals = None if self._whole else np.array(solution.col_dual)
        return Solved(answer, point, info.objective_function_value, bound, duals)
