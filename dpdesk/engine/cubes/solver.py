"""Linear and integer programs, solved by HiGHS in a process of their own.

A solver cannot be interrupted from within, and importing it takes a second; a process can be ended
at any time, and the window's process never waits for either. It needs no network and no file.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.stopping import Ints

Floats = NDArray[np.float64]

_WORKER = "from dpdesk.engine.cubes.solver_worker import main; main()"

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


class Solver:
    """A solver process, started by the first program and ended on exit; one program at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Solver:
        return self

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WORKER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment,
        )  # fmt: skip
        return self._process

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._process is None:
            return
        self._process.kill()
        # What a killed process has not read cannot be flushed.
        with suppress(OSError):
            _pipe(self._process.stdin).close()
        _pipe(self._process.stdout).close()
        self._process.wait()

    def solve(self, program: Program, seconds: float, token: CancelToken) -> Answer:
        """Solve within about ``seconds``.

        Raises Cancelled at once when ``token`` is cancelled (the solver is unusable then), and
        RefusedError when the solver process ended or failed.
        """
        process = self._started()
        try:
            with token.on_cancel(process.kill):
                pickle.dump((program, seconds), _pipe(process.stdin))
                _pipe(process.stdin).flush()
                answer = pickle.load(_pipe(process.stdout))
        except (EOFError, OSError, pickle.UnpicklingError):
            answer = None
        token.check()
        if not isinstance(answer, Answer):
            raise RefusedError(
                "cube.solver-failed",
                "The solver for linear programs stopped unexpectedly.",
                hint="Close other programs if memory is short, or choose another method.",
            )
        return answer


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
