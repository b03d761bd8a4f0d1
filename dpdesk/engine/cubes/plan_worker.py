"""Plans and simulations that take long, in a process of their own that stays warm.

A planner imports and compiles for a second before it begins, and holds the interpreter for longer
than a window can wait; a process can be ended at any time. It sees settings alone, never data.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from dpdesk.core.aside import Aside, AsideError
from dpdesk.core.errors import DpdeskError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.cubes.plans import CubePlan
from dpdesk.engine.cubes.settings import CubeSettings

_TARGET = "dpdesk.engine.cubes.plan_worker:answer"
_WAIT = 0.1


@dataclass(frozen=True)
class _Refusal:
    """Why there is no plan; errors themselves do not travel between processes."""

    code: str
    sentence: str
    hint: str


class PlanWorker:
    """One process that does one job at a time; started by the first, ended with the program."""

    def __init__(self) -> None:
        self._aside: Aside | None = None
        self._ended: weakref.finalize[[], PlanWorker] | None = None
        self._busy = Lock()

    def plan(self, settings: CubeSettings, shape: tuple[int, ...], token: CancelToken) -> CubePlan:
        """The plan that :func:`~dpdesk.engine.cubes.planning.noise_plan` makes of these settings.

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
        return found

    def close(self) -> None:
        """End the process; the next job starts another."""
        ended, self._aside, self._ended = self._ended, None, None
        if ended is not None:
            ended()

    def _asked(self, request: tuple[str, tuple[object, ...]], token: CancelToken) -> object:
        if self._aside is None:
            self._aside = Aside(_TARGET)
            self._ended = weakref.finalize(self, self._aside.close)
        try:
            return self._aside.ask(request, token)
        except AsideError as error:
            self.close()
            raise _stopped() from error
        finally:
            if token.cancelled:  # the process was ended with its job
                self.close()


WORKER = PlanWorker()
"""The process of this program."""


def _stopped() -> RefusedError:
    return RefusedError(
        "cube.solver-failed",
        "The process that plans in the background stopped unexpectedly.",
        hint="Close other programs if memory is short, or choose another planner.",
    )


def _plan(settings: CubeSettings, shape: tuple[int, ...]) -> CubePlan:
    from dpdesk.engine.cubes.planning import noise_plan

    return noise_plan(settings, shape, CancelToken(), silent)


def _bias(*given: Any) -> object:
    from dpdesk.engine.cubes.consistency.bias import expected_bias

    *known, draws = given
    return expected_bias(*known, draws=draws)


_JOBS: Mapping[str, Callable[..., object]] = {"plan": _plan, "bias": _bias}


def answer(request: tuple[str, tuple[object, ...]]) -> object:
    """In the process: do one job; why not, where it is refused."""
    kind, given = request
    try:
        return _JOBS[kind](*given)
    except DpdeskError as error:
        return _Refusal(error.code, error.sentence, error.hint)
