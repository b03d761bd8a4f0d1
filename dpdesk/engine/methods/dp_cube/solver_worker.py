"""What the solver process does; see :mod:`dpdesk.core.subprocesses`."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, linprog, milp
from scipy.sparse import csr_array, vstack

from dpdesk.engine.cubes.solver import INFEASIBLE, LIMIT, OPTIMAL, Answer, Program

_STATUS = {0: OPTIMAL, 1: LIMIT, 2: INFEASIBLE}


def solve(program: Program, seconds: float) -> Answer:
    """Solve one program; the time limit is checked by the solver. Raises RuntimeError."""
    shape = (len(program.least), len(program.cost))
    matrix = csr_array((program.values, (program.rows, program.columns)), shape=shape)
    found = (_whole if program.integral else _linear)(program, matrix, seconds)
    if found.status not in _STATUS:
        raise RuntimeError(found.message)
    bound = found.mip_dual_bound if program.integral else found.fun
    if bound is None or (found.status == 1 and not program.integral):
        bound = -np.inf
    return Answer(_STATUS[found.status], found.x, float(bound))


def _whole(program: Program, matrix: csr_array, seconds: float) -> OptimizeResult:
    return milp(
        program.cost,
        integrality=np.ones(len(program.cost)),
        bounds=Bounds(program.lower, program.upper),
        constraints=LinearConstraint(matrix, program.least, program.most),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )


def _linear(program: Program, matrix: csr_array, seconds: float) -> OptimizeResult:
    """By interior points: these programs are highly degenerate, which simplex steps suffer from."""
    equal = program.least == program.most
    above = ~equal & np.isfinite(program.most)
    below = ~equal & np.isfinite(program.least)
    return linprog(
        program.cost,
        A_ub=vstack([matrix[above], -matrix[below]]),
        b_ub=np.append(program.most[above], -program.least[below]),
        A_eq=matrix[equal],
        b_eq=program.least[equal],
        bounds=np.column_stack([program.lower, program.upper]),
        method="highs-ipm",
        options={"time_limit": seconds},
    )


def answer(question: tuple[Program, float]) -> Answer:
    """Solve one program within so many seconds; see :func:`solve`."""
    return solve(*question)
