"""Plans and simulations that take long, in a process of their own that stays warm.

A planner imports and compiles for a second before it begins, and holds the interpreter for longer
than a window can wait; a process can be ended at any time. It sees settings alone, never data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dpdesk.core.errors import DpdeskError, RefusedError
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.subprocesses import KeptSubprocess, SubprocessError
from dpdesk.engine.cubes.lattice import CubePlan
from dpdesk.engine.cubes.settings import CubeSettings

_TARGET = "dpdesk.engine.methods.dp_cube.plan_worker:answer"


@dataclass(frozen=True)
class _Refusal:
    """Why there is no plan; errors themselves do not travel between processes."""

    code: str
    sentence: str
    hint: str


class PlanWorker:
    """One process that does one job at a time; started by the first, ended with the program."""

    def __init__(self) -> None:
        self._aside = KeptSubprocess(_TARGET)

    def plan(self, settings: CubeSettings, shape: tuple[int, ...], token: CancelToken) -> CubePlan:
        """The plan that :func:`~.planning.noise_plan` makes of these settings.

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
        try:
            found = self._aside.ask((kind, given), token)
        except SubprocessError as error:
            raise _stopped() from error
        if isinstance(found, _Refusal):
            raise RefusedError(found.code, found.sentence, hint=found.hint)
        return found

    def close(self) -> None:
        """End the process; the next job starts another."""
        self._aside.close()


WORKER = PlanWorker()
"""The process of this program."""


def _stopped() -> RefusedError:
    return RefusedError(
        "cube.solver-failed",
        "The process that plans in the background stopped unexpectedly.",
        hint="Close other programs if memory is short, or choose another planner.",
    )


def _plan(settings: CubeSettings, shape: tuple[int, ...]) -> CubePlan:
    from dpdesk.engine.methods.dp_cube.planning import noise_plan

    return noise_plan(settings, shape, CancelToken(), silent)


def _bias(*given: Any) -> object:
    from dpdesk.engine.cubes.consistency.integral import expected_bias

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
