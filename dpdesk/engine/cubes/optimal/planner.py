"""The planner that optimises the closed-form variance after consistency.

Source: resources/docs/cubes.md (unequal budgets); for residual sources the literature on residual
planners, whose optimum for sums is share_S proportional to sqrt(c_S * prod(1 - 1/n_i)).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from math import inf
from random import Random

import numpy as np

from dpdesk.core.jobs import CancelToken, Report, silent
from dpdesk.engine.cubes.lattice import Floats
from dpdesk.engine.cubes.optimal.bounds import Bound, lower_bound
from dpdesk.engine.cubes.optimal.descent import Descent
from dpdesk.engine.cubes.optimal.objectives import (
    Goal,
    Objective,
    Weight,
    candidates_of,
    objective_of,
)
from dpdesk.engine.cubes.optimal.search import Search
from dpdesk.engine.cubes.optimal.shares import exact_shares
from dpdesk.engine.cubes.optimal.terms import Shares, Terms, shares_of
from dpdesk.engine.cubes.planners.bmax import plan_bmax
from dpdesk.engine.cubes.plans import CubePlan, NoiseSource
from dpdesk.engine.cubes.stopping import Ints, stop_flag
from dpdesk.engine.private.kinds import Noise

PROVEN_WITHIN = 0.002
"""A Gaussian plan counts as proven when no plan can be better by more than this part."""

_POWERS = (4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0)
_REVIVALS = 12
_REVIVED = 1 << 12
_SMALL = 0.01
_SEARCHES = 3
_SPLIT = 3_000
_SEED = 20261151
_WORK = 110_000_000
_OVERHEAD = 3_000
_LARGE = 8_000  # products of one evaluation from which on the whole search takes less long
_LEAST_EFFORT, _MOST_EFFORT = 40, 30_000
_SUMMED = 2  # sums settle in half the time of a maximum
_FOUND = "The best plan that a search found; a better one may exist."


def plan_optimal(
    shape: Sequence[int], published: Sequence[int], noise: Noise, *, goal: Goal = Goal.MAXIMUM,
    weights: Mapping[int, Weight] | None = None, residuals: bool = False,
    replace: bool = False, rivals: Iterable[CubePlan] = (), effort: int | None = None,
    token: CancelToken | None = None, report: Report = silent, forbidden: Collection[int] = (),
    exact: Collection[int] = (),
) -> CubePlan:  # fmt: skip
    """Sources and shares of the budget that make the goal small after consistency.

    ``forbidden`` cuboids get no noise (their residuals may, as those belong to larger ones too).
    What follows from ``exact`` cuboids, which have none, is known.

    The result is never worse than K_all, K_base, BMax and equal noise on all cuboids below
    published ones, or than the ``rivals`` (plans for the same cuboids and noise). With
    ``residuals`` noise goes to residuals instead of whole cuboids (Gaussian noise alone), and then
    it matters whether neighbours ``replace`` a person.
    ``effort`` is the number of descents for Laplace noise, by default chosen from the size of the
    problem; no clock has a say in the result.

    Raises InputError as :func:`~dpdesk.engine.cubes.optimal.objectives.objective_of` does;
    Cancelled.
    """
    token = token or CancelToken()
    objective = objective_of(
        shape, published, noise, goal, weights,
        residuals=residuals, replace=replace, forbidden=forbidden, exact=exact,
    )  # fmt: skip
    starts = _starts(objective, rivals, token)
    with stop_flag(token) as stop:
        if noise is Noise.GAUSSIAN:
            found, bound = _convex(objective, starts, stop)
        else:
            found, bound = _searched(objective, starts, stop, effort, token, report), 0.0
    token.check()
    terms = Terms(objective)
    shares = min([*starts, found], key=terms.figure)
    reached = terms.figure(shares)
    note = _gap_note(reached, bound) if noise is Noise.GAUSSIAN else _FOUND
    return _plan(objective, shares, note, proven=reached <= bound * (1 + PROVEN_WITHIN))


def _starts(objective: Objective, rivals: Iterable[CubePlan], token: CancelToken) -> list[Shares]:
    """Shares of plans that the result must not be worse than, if they can be measured."""
    domain = objective.domain
    equal = dict.fromkeys(np.flatnonzero(objective.needed).tolist(), 1.0)
    if len(objective.costs):
        return [_whole(equal)]
    equal = {mask: share for mask, share in equal.items() if objective.allowed[mask]}
    starts = [{domain.base: 1.0}, dict.fromkeys(domain.published.tolist(), 1.0), equal]
    whole = (domain.whole_shape, domain.whole_published, domain.noise)
    bmax = plan_bmax(*whole, token, forbidden=domain.whole_forbidden)
    for rival in (bmax, *rivals):
        shares: Shares = {}
        for source in rival.sources:
            mask = domain.renumbered(source.cuboid)
            shares[mask] = shares.get(mask, 0.0) + float(source.share)
        starts.append(shares)
    return [_whole(shares) for shares in starts if objective.allowed[list(shares)].all()]


def _whole(shares: Shares) -> Shares:
    total = sum(shares.values())
    return {mask: share / total for mask, share in shares.items()}


def _searched(
    objective: Objective, starts: Sequence[Shares], stop: Ints, effort: int | None,
    token: CancelToken, report: Report,
) -> Shares:  # fmt: skip
    if objective.dimensions == 0:
        return starts[0]
    cost = Terms(objective).cost + _OVERHEAD
    work = _WORK if objective.goal is Goal.MAXIMUM else _SUMMED * _WORK
    work = work * _LARGE // max(cost, _LARGE)
    effort = effort or min(max(work // cost, _LEAST_EFFORT), _MOST_EFFORT)
    effort = min(effort, 100 * len(objective.weights))
    searches = _SEARCHES if effort >= _SPLIT else 1
    each = effort // (searches + 1) if searches > 1 else effort
    candidates = candidates_of(objective)
    found: list[Shares] = []
    for number in range(searches):
        search = Search(
            Descent(objective, stop), each, candidates, token, report, Random(_SEED + number),
            before=number * each,
        )  # fmt: skip
        found.append(search.best(starts))
    if searches > 1:
        search = Search(
            Descent(objective, stop), each, candidates, token, report, Random(_SEED + searches),
            before=searches * each,
        )  # fmt: skip
        found.append(search.joined(found))
    return min(found, key=Terms(objective).figure)


def _convex(objective: Objective, starts: Sequence[Shares], stop: Ints) -> tuple[Shares, float]:
    """Shares near the optimum, and what no plan can beat, for Gaussian noise."""
    descent = Descent(objective, stop, spare=0.0)
    candidates = set(candidates_of(objective)).union(*starts)
    shares = np.zeros(len(objective.weights))
    shares[sorted(candidates)] = 1 / len(candidates)
    for start in starts:
        shares[list(start)] += list(start.values())
    shares /= shares.sum()
    best, reached, bound = shares, objective.figure(shares), 0.0
    for power in _POWERS if objective.goal is Goal.MAXIMUM else (0.0,):
        for _ in range(_REVIVALS):
            held = np.flatnonzero(shares)
            shares = shares.copy()
            _, shares[held] = descent.lower(held, shares[held], power, 1500, 1e-9, 1.0)
            limit = lower_bound(objective, shares, power)
            bound = max(bound, limit.value)
            figure = objective.figure(shares)
            if figure < reached:
                best, reached = shares, figure
            if stop[0] or reached <= bound * (1 + PROVEN_WITHIN / 10):
                return shares_of(best), bound
            revived = _revived(objective, shares, limit)
            if revived is None:
                break
            shares = revived
    return shares_of(best), bound


def _revived(objective: Objective, shares: Floats, limit: Bound) -> Floats | None:
    """Shares for what is worth more than it has; None when there is nothing."""
    middle = float(shares[shares > 0].mean())
    wanted = (limit.worth > 1 + PROVEN_WITHIN / 20) & objective.allowed
    places = np.flatnonzero(wanted & (shares < _SMALL * middle))
    if not len(places):
        return None
    places = places[np.argsort(-limit.worth[places], kind="stable")[:_REVIVED]]
    found = shares.copy()
    found[places] = np.maximum(found[places], 0.02 * middle)
    return np.asarray(found / found.sum())


def _gap_note(reached: float, bound: float) -> str:
    gap = reached / bound - 1 if bound > 0 else inf
    if gap <= PROVEN_WITHIN:
        return f"No plan of this kind is better by more than {100 * max(gap, 0.0001):.2f} %."
    return f"A plan of this kind may be better, by at most {100 * gap:.1f} %."


def _plan(objective: Objective, shares: Shares, note: str, *, proven: bool) -> CubePlan:
    domain = objective.domain
    residual = bool(len(objective.costs))
    # Dimensions of one category cost nothing, and without them no source would hold some tables.
    single = 0 if residual else sum(1 << i for i, n in enumerate(domain.shape) if n == 1)
    forbidden = set(domain.forbidden.tolist())
    found: dict[int, Fraction] = {}
    for place, share in exact_shares(Terms(objective).array(shares)).items():
        whole = place if place | single in forbidden else place | single
        found[whole] = found.get(whole, Fraction(0)) + share
    sources = tuple(
        NoiseSource(domain.original(place), share, residual)
        for place, share in sorted(found.items())
    )
    return CubePlan(domain.whole_shape, domain.whole_published, domain.noise, sources, proven, note)
