"""Programs that are solved again and again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import highspy
import numpy as np
from scipy.sparse import csr_array

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.solving import Answer, Program


class _Warm:
    """A solver whose warm starts end just outside of the bounds."""

    def __init__(self, solver: Any) -> None:
        self._solver, self._warm = solver, True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._solver, name)

    def clearSolver(self) -> None:
        self._warm = False
        self._solver.clearSolver()

    def getInfo(self) -> Any:
        info = self._solver.getInfo()
        outside = highspy.SolutionStatus.kSolutionStatusInfeasible
        value = info.objective_function_value
        feasible = outside if self._warm else info.primal_solution_status
        return SimpleNamespace(objective_function_value=value, primal_solution_status=feasible)


def test_an_optimum_outside_of_its_bounds_is_solved_again_from_nothing() -> None:
    """Without a point an attacker would seem to come close to a cell that is protected."""
    matrix = csr_array(np.array([[1.0, -1.0]]))
    none, ends = np.zeros(1), np.array([5.0, 3.0])
    program = Program(matrix, (none, none), (-ends, ends), np.array([-1.0, 0.0]))
    program._solver = _Warm(program._solver)
    solved = program.solve(CancelToken())
    assert solved.answer is Answer.OPTIMAL
    assert solved.point is not None
    assert solved.point.tolist() == [3.0, 3.0]
