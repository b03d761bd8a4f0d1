"""What is told of suppressed cells to those who conclude that no suppressed one is empty."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.audit import INFORMED, Problem, Target, exposed, targets_of
from dpdesk.engine.tables.model import Flags, Requirement
from dpdesk.engine.tables.witnesses import Witnesses


def told_as_present(
    problem: Problem,
    suppressed: Flags,
    required: Requirement,
    token: CancelToken,
    witnesses: Witnesses | None = None,
) -> tuple[int, int]:
    """How many unsafe variables a pattern tells exactly, and how many others closer than required.

    To who is ``INFORMED``: sees that no suppressed cell is empty. The pattern protects from
    everyone else. Whether a value of 0 is certain is asked too. No program is solved for what
    ``witnesses`` show. Raises Cancelled.
    """
    problem = replace(problem, owners=None)
    targets = [t for t in targets_of(required, zeros=True) if suppressed[t.variable]]
    if problem.least is None:  # that a cell is not empty tells nothing more, as of most sums
        protected = set(targets_of(required))
        targets = [target for target in targets if target not in protected]
    if witnesses is not None:
        covered = witnesses.covered(problem, targets)
        targets = [each for each, there in zip(targets, covered, strict=True) if not there]
    told = sorted({each.variable for each in exposed(problem, suppressed, targets, token)})
    least = replace(problem, low=problem.low_of(INFORMED), least=None)
    unit = [Target(variable, up, 1.0) for variable in told for up in (False, True)]
    still = Counter(each.variable for each in exposed(least, suppressed, unit, token))
    exact = sum(still[variable] == 2 for variable in told)
    return exact, len(told) - exact
