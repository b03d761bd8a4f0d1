"""The planner that optimises the closed-form variance after consistency.

Source: resources/docs/cubes.md (unequal budgets); for residual sources the literature on residual
planners, whose optimum for sums is share_S proportional to sqrt(c_S * prod(1 - 1/n_i)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import inf
from random import Random
from threading import Timer
from time import monotonic

import numpy as np

from dpdesk.core.jobs import CancelToken, Report, silent
from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.optimal.bounds import lower_bound
from dpdesk.engine.cubes.optimal.descent import Descent
from dpdesk.engine.cubes.optimal.objectives import Goal, Objective, Weight, objective_of
from dpdesk.engine.cubes.optimal.search import Search
from dpdesk.engine.cubes.optimal.shares import exact_shares
from dpdesk.engine.cubes.planners.bmax import plan_bmax
from dpdesk.engine.cubes.plans import CubePlan, Noise, NoiseSource
from dpdesk.engine.cubes.stopping import Ints, stop_flag

PROVEN_WITHIN = 0.002
"""A Gaussian plan counts as proven when no plan can be better by more than this part."""

_POWERS = (4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0)
_REVIVALS = 12
_SEARCHING = 0.85  # part of the time after which a search comes to its end
_SMALL = 0.01
_EFFORT = 21_000
_SEARCHES = 3  # independent ones end up to 6 % apart, and one of thrice the length is no better
_SPLIT = 3_000
_SEED = 20261121
_WORK = 256 * 8


def plan_optimal(
    shape: Sequence[int], published: Sequence[int], noise: Noise, *, goal: Goal = Goal.MAXIMUM,
    weights: Mapping[int, Weight] | None = None, residuals: bool = False,
    replace: bool = False, rivals: Iterable[CubePlan] = (), seconds: float = 20.0,
    effort: int | None = None, token: CancelToken | None = None, report: Report = silent,
) -> CubePlan:  # fmt: skip
    """Sources and shares of the budget that make the goal small after consistency.

    The result is never worse than K_all, K_base, BMax and equal noise on all cuboids below
    published ones, or than the ``rivals`` (plans for the same cuboids and noise). With
    ``residuals`` noise goes to residuals instead of whole cuboids (Gaussian noise alone), and then
    it matters whether neighbours ``replace`` a person.
    ``effort`` is the number of descents for Laplace noise, by default chosen from the size of the
    lattice; after ``seconds`` the best so far is taken, and the note says so.

    Raises InputError as :func:`~dpdesk.engine.cubes.optimal.objectives.objective_of` does;
    Cancelled.
    """
    token = token or CancelToken()
    objective = objective_of(
        shape, published, noise, goal, weights, residuals=residuals, replace=replace
    )
    starts = _starts(objective, rivals, token)
    with stop_flag(token) as stop:
        Descent(objective, stop).run(starts[-1], 4.0, 1, 0.0)  # compiles, if it must
        ends = monotonic() + _SEARCHING * seconds
        with _deadline(stop, seconds):
            if noise is Noise.GAUSSIAN:
                shares, bound = _convex(objective, starts, stop, ends)
                note = _gap_note(objective, shares, bound)
            else:
                shares = _searched(objective, starts, stop, ends, effort, token, report)
                bound, note = 0.0, "The best plan that a search found; a better one may exist."
    token.check()
    shares = min([*starts, shares], key=objective.figure)
    plan = _plan(objective, shares, note + (_LATE if monotonic() > ends else ""))
    proven = objective.figure(shares) <= bound * (1 + PROVEN_WITHIN)
    return CubePlan(plan.shape, plan.published, noise, plan.sources, proven, plan.note)


@contextmanager
def _deadline(stop: Ints, seconds: float) -> Iterator[None]:
    """Let compiled loops end after this time."""
    timer = Timer(seconds, stop.__setitem__, (0, 1))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


_LATE = " Time ran out, so the best plan until then was taken."


def required_budget(plan: CubePlan, targets: Mapping[int, Weight]) -> Fraction:
    """The least epsilon or rho with which cells of these cuboids have at most these variances.

    For shares as they stand, and an L1 or L2 sensitivity of 1; rounded up by less than a
    millionth. Raises ValueError for a target that is not above 0 or whose cuboid no source tells.
    """
    from dpdesk.engine.cubes.optimal.variances import plan_variances

    variances = plan_variances(plan, 1.0)
    worst = 0.0
    for mask, target in targets.items():
        if not float(target) > 0 or variances[mask] == inf:
            raise ValueError("targets must be above 0 and for cuboids that the plan determines")
        worst = max(worst, float(variances[mask]) / float(target))
    needed = worst**0.5 if plan.noise is Noise.LAPLACE else worst
    return Fraction(needed * (1 + 1e-9)).limit_denominator(10**9) + Fraction(1, 10**9)


def plan_for_targets(
    shape: Sequence[int], published: Sequence[int], noise: Noise, targets: Mapping[int, Weight], *,
    residuals: bool = False, seconds: float = 20.0, effort: int | None = None,
    token: CancelToken | None = None, report: Report = silent,
) -> tuple[CubePlan, Fraction]:  # fmt: skip
    """A plan that meets target variances with little budget, and the budget that it needs.

    Published cuboids without a target may have any variance. As variances fall with the budget in
    the same way for all plans, this is the plan of the smallest largest variance/target. Raises as
    :func:`plan_optimal` and :func:`required_budget` do.
    """
    weights: dict[int, Weight] = dict.fromkeys(published, 0.0)
    weights.update({mask: 1.0 / float(target) for mask, target in targets.items() if target > 0})
    plan = plan_optimal(
        shape, published, noise, weights=weights, residuals=residuals, seconds=seconds,
        effort=effort, token=token, report=report,
    )  # fmt: skip
    return plan, required_budget(plan, targets)


def _starts(objective: Objective, rivals: Iterable[CubePlan], token: CancelToken) -> list[Floats]:
    """Shares of plans that the result must not be worse than, if they can be measured."""
    domain = objective.domain
    size = len(objective.weights)
    equal = objective.needed.astype(np.float64)
    if len(objective.costs):
        return [equal / equal.sum()]
    base, everything = np.zeros(size), np.zeros(size)
    base[domain.base] = 1.0
    everything[domain.published] = 1.0 / len(domain.published)
    starts = [base, everything, equal / equal.sum()]
    bmax = plan_bmax(domain.whole_shape, domain.whole_published, domain.noise, token)
    for rival in (bmax, *rivals):
        shares = np.zeros(size)
        for source in rival.sources:
            shares[domain.renumbered(source.cuboid)] += float(source.share)
        starts.append(shares)
    return [shares for shares in starts if not shares[~objective.allowed].any()]


def _searched(
    objective: Objective, starts: Sequence[Floats], stop: Ints, ends: float, effort: int | None,
    token: CancelToken, report: Report,
) -> Floats:  # fmt: skip
    size = len(objective.weights) * max(objective.dimensions, 1)
    effort = effort or max(_EFFORT * _WORK // max(size, _WORK), 40)
    if objective.dimensions == 0:
        return starts[0]
    effort = min(effort, 100 * len(objective.weights))
    searches = _SEARCHES if effort >= _SPLIT else 1
    found: list[Floats] = []
    for number in range(searches):
        began = monotonic()
        until = began + (ends - began) / (searches - number)
        search = Search(
            Descent(objective, stop), effort // searches, _clock(until),
            token, report, Random(_SEED + number), before=number * (effort // searches),
        )  # fmt: skip
        found.append(search.best(starts))
    return min(found, key=objective.figure)


def _clock(ends: float) -> Callable[[], bool]:
    return lambda: monotonic() > ends


def _convex(
    objective: Objective, starts: Sequence[Floats], stop: Ints, ends: float
) -> tuple[Floats, float]:
    """Shares near the optimum, and what no plan can beat, for Gaussian noise."""
    descent = Descent(objective, stop, spare=0.0)
    shares = sum((start for start in starts), np.zeros(len(objective.weights)))
    if not len(objective.costs):
        shares = shares + objective.allowed / len(shares)
    shares = shares / shares.sum()
    best, reached, bound = shares, objective.figure(shares), 0.0
    for power in _POWERS if objective.goal is Goal.MAXIMUM else (0.0,):
        for _ in range(_REVIVALS):
            shares = descent.run(shares, power, 1500, 1e-9).shares
            limit = lower_bound(objective, shares, power)
            bound = max(bound, limit.value)
            figure = objective.figure(shares)
            if figure < reached:
                best, reached = shares, figure
            if stop[0] or monotonic() > ends or reached <= bound * (1 + PROVEN_WITHIN / 10):
                return best, bound
            wanted = (limit.worth > 1 + PROVEN_WITHIN / 20) & objective.allowed
            if not (wanted & (shares < _SMALL * shares.mean())).any():
                break
            shares = np.where(wanted, np.maximum(shares, 0.02 * shares.mean()), shares)
            shares /= shares.sum()
    return best, bound


def _gap_note(objective: Objective, shares: Floats, bound: float) -> str:
    gap = objective.figure(shares) / bound - 1 if bound > 0 else inf
    if gap <= PROVEN_WITHIN:
        return f"No plan of this kind is better by more than {max(gap, 0.0001):.2%}."
    return f"A plan of this kind may be better, by at most {gap:.1%}."


def _plan(objective: Objective, shares: Floats, note: str) -> CubePlan:
    domain = objective.domain
    residual = bool(len(objective.costs))
    sources = tuple(
        NoiseSource(domain.original(place), share, residual)
        for place, share in exact_shares(shares).items()
    )
    return CubePlan(domain.whole_shape, domain.whole_published, domain.noise, sources, False, note)
