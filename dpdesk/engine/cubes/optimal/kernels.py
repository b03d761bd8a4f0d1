"""Compiled loops over the lattice: the objective, its gradient, and a descent that uses them.

Arrays over the lattice have 2^d elements and are indexed by the mask of a cuboid; ``inverse`` holds
1/n_i of the d dimensions. Where few cuboids are published, sums go over lists of links instead, and
arrays hold what these need alone. Loops poll ``stop[0]``, so they end soon after a cancel.

What is minimised is F(x) = log f + kappa * log sum(exp(x)), where x are logarithms of the shares of
the candidates and f is the wanted figure of the cell variances after consistency. Noise of a share
s has 1/variance proportional to s^kappa (2 for Laplace noise, 1 for Gaussian), so f has degree
-kappa in the shares and F does not depend on their sum: the budget needs no constraint.
"""

from __future__ import annotations

from math import exp, inf, log, log2
from typing import Any

import numpy as np

from dpdesk.core.compiled import kernel

Array = Any
"""A numpy array; inside compiled code element types come from the caller."""

Maps = Any
"""A tuple of arrays: 1/n_i; which residuals a candidate tells, and which a cuboid is made of."""


@kernel
def gather_down(values: Array, inverse: Array) -> None:
    """Own information to information W of every residual, in place (see ``information``)."""
    step = 1
    for i in range(len(inverse)):
        for base in range(0, len(values), 2 * step):
            for low in range(base, base + step):
                values[low] += values[low + step] * inverse[i]
        step *= 2


@kernel
def gather_down_adjoint(slopes: Array, inverse: Array) -> None:
    """Slopes by W to slopes by own information, in place."""
    step = 1
    for i in range(len(inverse)):
        for base in range(0, len(slopes), 2 * step):
            for low in range(base, base + step):
                slopes[low + step] += slopes[low] * inverse[i]
        step *= 2


@kernel
def build_up(parts: Array, inverse: Array) -> None:
    """1/W of every residual to the cell variance of every cuboid, in place."""
    step = 1
    for i in range(len(inverse)):
        own, below = 1.0 - inverse[i], inverse[i] * inverse[i]
        for base in range(0, len(parts), 2 * step):
            for low in range(base, base + step):
                parts[low + step] = parts[low + step] * own + parts[low] * below
        step *= 2


@kernel
def build_up_adjoint(slopes: Array, inverse: Array) -> None:
    """Slopes by cell variances to slopes by 1/W, in place."""
    step = 1
    for i in range(len(inverse)):
        own, below = 1.0 - inverse[i], inverse[i] * inverse[i]
        for base in range(0, len(slopes), 2 * step):
            for low in range(base, base + step):
                slopes[low] += slopes[low + step] * below
                slopes[low + step] *= own
        step *= 2


@kernel
def figure(variances: Array, slopes: Array, weights: Array, power: float) -> float:
    """The p-norm of weighted variances (their sum for power 0) and its slopes by the variances.

    ``power`` must be 0 or a power of two: it is taken by squaring.
    """
    if power == 0.0:
        total = 0.0
        for c in range(len(weights)):
            slopes[c] = weights[c]
            if weights[c] > 0.0:
                total += weights[c] * variances[c]
        return total
    squarings = int(log2(power) + 0.5)
    largest = 0.0
    for c in range(len(weights)):
        if weights[c] > 0.0:
            largest = max(largest, weights[c] * variances[c])
    total = 0.0
    for c in range(len(weights)):
        slopes[c] = 0.0
        if weights[c] > 0.0:
            ratio = weights[c] * variances[c] / largest
            for _ in range(squarings):
                ratio *= ratio
            total += ratio
            slopes[c] = ratio / variances[c]
    norm: float = largest * total ** (1.0 / power)
    for c in range(len(weights)):
        slopes[c] *= norm / total
    return norm


@kernel
def load(
    logs: Array, own: Array, candidates: Array, maps: Maps, costs: Array, kappa: float,
    known: Array,
) -> float:  # fmt: skip
    """W of every residual into ``known``; returns the sum of the shares.

    ``own`` gets the information that each candidate has by itself.
    """
    inverse, first, place, part, links = maps[0], maps[1], maps[2], maps[3], maps[4]
    known[:] = 0.0
    total = 0.0
    for j in range(len(candidates)):
        share = exp(logs[j])
        total += share
        own[j] = share * share if kappa == 2.0 else exp(kappa * logs[j])
        if len(links) > 0:
            for e in range(first[j], first[j + 1]):
                known[place[e]] += own[j] * part[e]
            continue
        if len(costs) > 0:
            own[j] /= costs[candidates[j]]
        known[candidates[j]] = own[j]
    if len(links) == 0 and len(costs) == 0:
        gather_down(known, inverse)
    return total


@kernel
def link_up(parts: Array, variances: Array, links: Array, place: Array, part: Array) -> None:
    """1/W of the residuals to the cell variances of the cuboids that count."""
    for c in range(len(variances)):
        total = 0.0
        for e in range(links[c], links[c + 1]):
            total += parts[place[e]] * part[e]
        variances[c] = total


@kernel
def link_up_adjoint(slopes: Array, below: Array, links: Array, place: Array, part: Array) -> None:
    """Slopes by cell variances to slopes by 1/W."""
    below[:] = 0.0
    for c in range(len(slopes)):
        for e in range(links[c], links[c + 1]):
            below[place[e]] += slopes[c] * part[e]


@kernel
def objective(
    logs: Array, gradient: Array, candidates: Array, maps: Maps, weights: Array,
    needed: Array, costs: Array, power: float, kappa: float, work: Array,
) -> float:  # fmt: skip
    """F and its gradient by the logarithms of the shares; infinite where a residual is unknown.

    ``maps`` are those of :class:`~dpdesk.engine.cubes.optimal.planner.Terms`. ``needed`` marks the
    residuals below published cuboids. With ``costs`` (one per lattice element, else empty) the
    candidates are residuals: their information enters W of that residual alone. ``work`` is scratch
    with five rows as long as the longest array.
    """
    links, place, part = maps[4], maps[5], maps[6]
    known, parts = work[0, : len(needed)], work[1, : len(needed)]
    total = load(logs, gradient, candidates, maps, costs, kappa, known)
    for s in range(len(known)):
        parts[s] = 0.0
        if needed[s]:
            if known[s] <= 0.0:
                return inf
            parts[s] = 1.0 / known[s]
    slopes = work[2, : len(weights)]
    if len(links) > 0:
        variances, below = work[3, : len(weights)], work[4, : len(needed)]
        link_up(parts, variances, links, place, part)
        value = figure(variances, slopes, weights, power)
        link_up_adjoint(slopes, below, links, place, part)
    else:
        below = slopes
        build_up(parts, maps[0])
        value = figure(parts, slopes, weights, power)
        build_up_adjoint(slopes, maps[0])
    for s in range(len(known)):
        below[s] = -below[s] / (known[s] * known[s]) if needed[s] else 0.0
    finish_gradient(logs, gradient, candidates, maps, costs, below, kappa, value, total)
    return log(value) + kappa * log(total)


@kernel
def finish_gradient(
    logs: Array, gradient: Array, candidates: Array, maps: Maps, costs: Array, below: Array,
    kappa: float, value: float, total: float,
) -> None:  # fmt: skip
    """From slopes by W (``below``) to the gradient, which holds own information before."""
    first, place, part, links = maps[1], maps[2], maps[3], maps[4]
    if len(links) == 0 and len(costs) == 0:
        gather_down_adjoint(below, maps[0])
    for j in range(len(candidates)):
        slope = 0.0
        if len(links) > 0:
            for e in range(first[j], first[j + 1]):
                slope += below[place[e]] * part[e]
        else:
            slope = below[candidates[j]]
        gradient[j] = kappa * (gradient[j] * slope / value + exp(logs[j]) / total)


# Loops instead of whole arrays: each expression of these takes the compiler a second or more.


@kernel
def product(one: Array, other: Array) -> float:
    """The sum of the products of two rows."""
    total = 0.0
    for i in range(len(one)):
        total += one[i] * other[i]
    return total


@kernel
def add_multiple(target: Array, factor: float, row: Array) -> None:
    """Add a multiple of a row, in place."""
    for i in range(len(target)):
        target[i] += factor * row[i]


@kernel
def direction(
    gradient: Array, moves: Array, turns: Array, scales: Array, held: int, newest: int
) -> Array:
    """Minus the gradient through the inverse Hessian that the last moves and turns suggest.

    Two-loop recursion of limited-memory BFGS (Nocedal and Wright, algorithm 7.4): row k of
    ``moves`` is a step, of ``turns`` the change of the gradient, ``scales`` 1/(move·turn).
    """
    memory = len(scales)
    result = np.zeros(len(gradient))
    for i in range(len(result)):
        result[i] = -gradient[i]
    alphas = np.zeros(memory)
    for back in range(held):
        k = (newest - back) % memory
        alphas[k] = scales[k] * product(moves[k], result)
        add_multiple(result, -alphas[k], turns[k])
    if held > 0:
        size = scales[newest] * product(turns[newest], turns[newest])
        for i in range(len(result)):
            result[i] /= size
    for back in range(held - 1, -1, -1):
        k = (newest - back) % memory
        add_multiple(result, alphas[k] - scales[k] * product(turns[k], result), moves[k])
    return result


@kernel
def lower(
    logs: Array, gradient: Array, heading: Array, value: float, candidates: Array, maps: Maps,
    weights: Array, needed: Array, costs: Array, power: float, kappa: float, work: Array,
    move: Array, turn: Array, stop: Array,
) -> float:  # fmt: skip
    """Go along ``heading`` until F falls enough (Armijo); returns F, which may not be lower.

    If it is lower, ``logs`` and ``gradient`` become those of the new point, ``move`` and ``turn``
    their changes. No logarithm changes by more than 2.
    """
    slope, largest = product(heading, gradient), 0.0
    for i in range(len(heading)):
        largest = max(largest, abs(heading[i]))
    length = min(1.0, 2.0 / (largest + 1e-300))
    fresh, place = np.zeros(len(gradient)), np.zeros(len(logs))
    reached = inf
    for _ in range(30):
        for i in range(len(logs)):
            place[i] = logs[i] + length * heading[i]
        reached = objective(
            place, fresh, candidates, maps, weights, needed, costs, power, kappa, work
        )
        if reached <= value + 1e-4 * length * slope or stop[0] != 0:
            break
        length *= 0.4
    if reached < value:
        for i in range(len(logs)):
            move[i] = length * heading[i]
            turn[i] = fresh[i] - gradient[i]
            logs[i] += move[i]
            gradient[i] = fresh[i]
    return reached


@kernel
def descend(
    logs: Array, candidates: Array, maps: Maps, weights: Array, needed: Array, costs: Array,
    power: float, kappa: float, work: Array, steps: int, tolerance: float, stop: Array,
) -> float:  # fmt: skip
    """Minimise F from ``logs``, in place, by at most ``steps`` steps of L-BFGS; returns F.

    Ends when ten steps together lower F by less than ``tolerance``.
    """
    size, memory, held, newest = len(logs), 10, 0, 0
    moves, turns, scales = np.zeros((memory, size)), np.zeros((memory, size)), np.zeros(memory)
    gradient = np.zeros(size)
    value = objective(logs, gradient, candidates, maps, weights, needed, costs, power, kappa, work)
    mark = value
    for step in range(steps):
        if stop[0] != 0 or value == inf:
            break
        heading = direction(gradient, moves, turns, scales, held, newest)
        if product(heading, gradient) >= 0.0:
            held = 0
            for i in range(size):
                heading[i] = -gradient[i]
        place = (newest + 1) % memory
        reached = lower(
            logs, gradient, heading, value, candidates, maps, weights, needed, costs, power,
            kappa, work, moves[place], turns[place], stop,
        )  # fmt: skip
        bend = product(moves[place], turns[place])
        if not reached < value:
            if held == 0:
                break
            held = 0
        else:
            value = reached
            if bend > 1e-14:
                newest, scales[place], held = place, 1.0 / bend, min(held + 1, memory)
        if step % 10 == 9:
            if mark - value < tolerance:
                break
            mark = value
    return value
