"""Linear and integer programs, solved by HiGHS in a process of their own.

A solver cannot be interrupted from within, and importing it takes a second; a process can be ended
at any time, and the window's process never waits for either. It needs no network and no file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.closing import Closing
from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.subprocesses import Subprocess, SubprocessError

# How compiled loops hear of a cancel.


Ints = NDArray[np.int64]


@contextmanager
def stop_flag(token: CancelToken) -> Iterator[Ints]:
    """An array whose only element becomes 1 on cancel: what compiled loops poll."""
    flag = np.zeros(1, np.int64)

    def stop() -> None:
        flag[0] = 1

    with token.on_cancel(stop):
        yield flag


Floats = NDArray[np.float64]

_WORKER = "dpdesk.engine.methods.dp_cube.solver_worker:answer"

OPTIMAL = "optimal"
INFEASIBLE = "infeasible"
LIMIT = "limit"


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise cost · x with least ≤ matrix x ≤ most and lower ≤ x ≤ upper.

    The matrix is given by its entries other than 0: ``rows``, ``columns``, ``values``. With
    ``integral`` every x is a whole number.
    """

    cost: Floats
    rows: Ints
    columns: Ints
    values: Floats
    least: Floats
    most: Floats
    lower: Floats
    upper: Floats
    integral: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """What the solver found: OPTIMAL, INFEASIBLE or LIMIT (out of time).

    ``x`` is the best point, None when none was found; ``bound`` is a proven lower bound of the
    cost, minus infinity when there is none.
    """

    status: str
    x: Floats | None
    bound: float


class Solver(Closing):
    """A solver process, started by the first program and ended on exit; one program at a time."""

    def __init__(self) -> None:
        self._aside = Subprocess(_WORKER)

    def close(self) -> None:
        """End the process."""
        self._aside.close()

    def solve(self, program: Program, seconds: float, token: CancelToken) -> Answer:
        """Solve within about ``seconds``.

        Raises Cancelled at once when ``token`` is cancelled (the solver is unusable then), and
        RefusedError when the solver process ended or failed.
        """
        try:
            answer = self._aside.ask((program, seconds), token)
        except SubprocessError as error:
            raise RefusedError(
                "cube.solver-failed",
                "The solver for linear programs stopped unexpectedly.",
                hint="Close other programs if memory is short, or choose another method.",
            ) from error
        assert isinstance(answer, Answer)
        return answer
