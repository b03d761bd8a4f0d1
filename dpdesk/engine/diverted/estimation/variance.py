"""The error of an estimate that is linear in the published counts, to first order.

Three sources: which of its group's values a tuple publishes, which tuples of a value are in which
group, and which values meet in groups. The published value counts f′ enter twice, in the counts and
through the matrix made from them; both are taken together, since the same rows cause them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from dpdesk.engine.diverted.estimation.counts import Floats
from dpdesk.engine.diverted.estimation.solving import along
from dpdesk.engine.diverted.estimation.transition import FullTransition, Mask, shares

_GRID = 401
_ROUNDS = 4


class Transition(Protocol):
    """What the error of an estimate needs to know of one attribute."""

    @property
    def matrix(self) -> Floats:
        """Probabilities of published values (columns) by true value (rows)."""
        ...

    @property
    def condition(self) -> float:
        """How much the matrix spreads errors."""
        ...

    @property
    def estimable(self) -> bool:
        """Whether published counts determine true ones."""
        ...

    def weights(self, chosen: Mask) -> Floats:
        """Weights of published counts whose sum estimates the count of the chosen values."""
        ...

    def drift(self, found: Floats, weights: Floats, chosen: Mask) -> Floats:
        """How the estimate moves, through the matrix, for each row that publishes a value."""
        ...


def group_variance(
    transition: FullTransition, found: Floats, weights: Floats, chosen: Mask
) -> float:
    """Variance of Σ w_s y_s for one attribute, from a sample of its decoy groups.

    ``found`` are the counts x of matching tuples by true value, shape (V,). A group with values g
    contributes Σ_v (A_v w − d)[published value]: given its members, that varies by the variance of
    w − d (of d, where the tuple does not match) among g; the matching tuples of a value are drawn
    without replacement from its groups; and what meets in groups varies around its regression on
    the members, whose totals are fixed.
    """
    groups = transition.groups
    sample, share = groups.sample, shares(found, groups)
    own = weights[sample]
    of_group = own.sum(1) * share[sample].sum(1) / groups.size
    slopes = transition.slopes(of_group)
    drift = slopes - share * chosen
    hits = share[sample].sum(1)
    published = hits @ (own - drift[sample]).var(1) + (groups.size - hits) @ drift[sample].var(1)
    composed = float(((of_group - slopes[sample].sum(1)) ** 2).sum()) if groups.mixed else 0.0
    return groups.weight * (float(published) + composed) + _assigned(transition, found, own)


def _assigned(transition: FullTransition, found: Floats, own: Floats) -> float:
    """Variance from which of a value's tuples are in which of its groups."""
    groups = transition.groups
    flat, size = groups.sample.ravel(), len(groups.counts)
    means = np.repeat(own.mean(1), groups.size)
    seen = np.maximum(np.bincount(flat, minlength=size), 1)
    first = np.bincount(flat, means, minlength=size) / seen
    second = np.bincount(flat, means**2, minlength=size) / seen
    counts = groups.counts.astype(np.float64)
    finite = np.maximum(found, 0) * (1 - shares(found, groups)) * counts / np.maximum(counts - 1, 1)
    return float(finite @ np.maximum(second - first**2, 0))


def row_variance(
    transitions: Sequence[Transition], chosen: Sequence[Mask], found: Floats, others: Floats
) -> float:
    """Variance of the estimate for several attributes, rows taken as independent.

    ``found`` are counts of matching tuples by true values, shape (V1, …, Vw), ``others`` those of
    the rest. Each row contributes ∏ w_i − Σ d_i if it matches, −Σ d_i otherwise. Not to draw from
    fixed groups makes this a little too large where most rows match.
    """
    axes = range(len(transitions))
    weights = [each.weights(mask) for each, mask in zip(transitions, chosen, strict=True)]
    drifts = [transitions[i].drift(_seen_by(i, found, chosen), weights[i], chosen[i]) for i in axes]
    size = len(transitions)
    product = _outer(weights)
    drift = np.zeros((1,) * size)
    for axis, each in enumerate(drifts):
        drift = drift + _on_axis(each, axis, size)
    matrices = [each.matrix for each in transitions]
    total = 0.0
    for counts, kept in ((found, product - drift), (others, -drift + np.zeros_like(product))):
        mean = along([m.T for m in matrices], kept, forward=True)
        square = along([m.T for m in matrices], kept**2, forward=True)
        total += float((counts * np.maximum(square - mean**2, 0)).sum())
    return total


def _seen_by(axis: int, found: Floats, chosen: Sequence[Mask]) -> Floats:
    """Counts by one attribute's values of the tuples with the chosen values of all others."""
    for other, mask in enumerate(chosen):
        if other != axis:
            found = np.compress(mask, found, axis=other).sum(axis=other, keepdims=True)
    return found.ravel()


def _on_axis(vector: Floats, axis: int, size: int) -> Floats:
    return vector.reshape([-1 if i == axis else 1 for i in range(size)])


def _outer(vectors: Sequence[Floats]) -> Floats:
    product = np.ones((1,) * len(vectors))
    for axis, vector in enumerate(vectors):
        product = product * _on_axis(vector, axis, len(vectors))
    return product


def interval(
    estimate: float,
    variance_at: Callable[[float], float],
    normal: float,
    possible: tuple[float, float],
    step: float = 0.0,
) -> tuple[float, float]:
    """The ``possible`` counts, from one to another, that the estimate does not contradict.

    All t with |estimate − t| ≤ normal·√Var(t), or + step below it, and what lies between
    them: the variance is that of the count in question, so intervals near 0 stay wide enough. It is
    computed at five counts and interpolated. An estimate outside the possible counts is taken at
    the nearer end, which is nearer to any truth. ``normal`` is the normal quantile, 1.96 for 95 %;
    ``step`` is how far a single row can move the estimate up, where so few such rows are expected
    that errors are skewed: half a step because they come in steps, and (z² − 1)/6, about another
    half, for the skewness of rare events (Cornish and Fisher); upwards the two cancel out.
    """
    least, most = possible
    middle = min(max(estimate, least), most)
    deviation = _deviation(middle, variance_at, least, most)
    grid = np.linspace(least, most, _GRID)
    reach = normal * deviation(grid) + np.where(grid < middle, step, 0.0)
    inside = grid[np.abs(grid - middle) <= reach]
    ends = [float(inside.min(initial=middle)), float(inside.max(initial=middle))]
    for place, sign in enumerate((-1.0, 1.0)):
        end = ends[place]
        for _ in range(_ROUNDS):
            width = normal * float(deviation(np.array([end]))[0]) + (step if sign < 0 else 0.0)
            end = min(max(middle + sign * width, least), most)
        ends[place] = min(ends[place], end) if sign < 0 else max(ends[place], end)
    return ends[0], ends[1]


def _deviation(
    middle: float, variance_at: Callable[[float], float], least: float, most: float
) -> Callable[[Floats], Floats]:
    """The standard deviation by count, from the variance at five counts."""
    from scipy.interpolate import PchipInterpolator

    nodes = np.array([least, (least + middle) / 2, middle, (middle + most) / 2, most])
    nodes = nodes[np.append(True, np.diff(nodes) > 1e-9 * max(most, 1.0))]
    if len(nodes) == 1:
        nodes = np.array([least, least + 1.0])
    known = PchipInterpolator(nodes, [variance_at(float(node)) for node in nodes])

    def deviation(counts: Floats) -> Floats:
        return np.asarray(np.sqrt(np.maximum(known(counts), 0.0)))

    return deviation
