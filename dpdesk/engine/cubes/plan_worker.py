"""Plans and simulations that take long, in a process of their own that stays warm.

A planner imports and compiles for a second before it begins, and holds the interpreter for longer
than a window can wait; a process can be ended at any time. It needs no network and no file, and
sees settings alone, never data.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any

from dpdesk.core.errors import DpdeskError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.settings import CubeSettings

_COMMAND = "from dpdesk.engine.cubes.plan_worker import main; main()"
_POLITE = 10
_WAIT = 0.1


@dataclass(frozen=True)
class _Refusal:
    """Why there is no plan; errors themselves do not travel between processes."""

    code: str
    sentence: str
    hint: str


class PlanWorker:
    """One process that makes one plan at a time; started by the first, or by :meth:`warm`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ended: weakref.finalize[[subprocess.Popen[bytes]], PlanWorker] | None = None
        self._busy = Lock()

    def warm(self) -> None:
        """Start the process, so that the first plan need not wait for it."""
        if self._busy.acquire(blocking=False):
            try:
                self._started()
            finally:
                self._busy.release()

    def plan(self, settings: CubeSettings, shape: tuple[int, ...], token: CancelToken) -> CubePlan:
        """The plan that :func:`~dpdesk.engine.cubes.design.noise_plan` makes of these settings.

        Raises RefusedError where the planner refuses the settings, and as :meth:`run`.
        """
        found = self.run("plan", (settings, shape), token)
        if not isinstance(found, CubePlan):
            raise _stopped()
        return found

    def run(self, kind: str, given: tuple[object, ...], token: CancelToken) -> object:
        """What a job of this kind (see ``_JOBS``) answers.

        Raises RefusedError where it refuses, and ``cube.solver-failed`` when the process ended by
        itself; Cancelled within a moment, even while another job is under way.
        """
        while not self._busy.acquire(timeout=_WAIT):
            token.check()
        try:
            found = self._asked((kind, given), token)
        finally:
            self._busy.release()
        if isinstance(found, _Refusal):
            raise RefusedError(found.code, found.sentence, hint=found.hint)
        if found is None:
            raise _stopped()
        return found

    def close(self) -> None:
        """End the process; the next plan starts another."""
        ended, self._process, self._ended = self._ended, None, None
        if ended is not None:
            ended()

    def _asked(self, request: tuple[str, tuple[object, ...]], token: CancelToken) -> object:
        token.check()
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        found: object = None
        try:
            with token.on_cancel(process.kill):
                pickle.dump(request, process.stdin)
                process.stdin.flush()
                found = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self.close()
        if token.cancelled:
            self.close()
        token.check()
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._process = process
        self._ended = weakref.finalize(self, _end, process)
        return process


WORKER = PlanWorker()
"""The process of this program."""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        # What a killed process has not read cannot be flushed.
        with suppress(OSError):
            if pipe is not None:
                pipe.close()
    process.wait()


def _stopped() -> RefusedError:
    return RefusedError(
        "cube.solver-failed",
        "The process that plans in the background stopped unexpectedly.",
        hint="Close other programs if memory is short, or choose another planner.",
    )


def _plan(settings: CubeSettings, shape: tuple[int, ...]) -> CubePlan:
    from dpdesk.engine.cubes.design import noise_plan

    return noise_plan(settings, shape, CancelToken(), silent)


def _bias(*given: Any) -> object:
    from dpdesk.engine.cubes.consistency.bias import expected_bias

    *known, draws = given
    return expected_bias(*known, draws=draws)


_JOBS: Mapping[str, Callable[..., object]] = {"plan": _plan, "bias": _bias}


def main() -> None:
    """Answer every request that comes in, until the input ends."""
    from dpdesk.engine.cubes.warming import warm_kernels

    if hasattr(os, "nice"):
        os.nice(_POLITE)
    # Whatever prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    warm_kernels()
    while True:
        try:
            kind, given = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        found: object
        try:
            found = _JOBS[kind](*given)
        except DpdeskError as error:
            found = _Refusal(error.code, error.sentence, error.hint)
        pickle.dump(found, answers)
        answers.flush()
