"""One count from the tables of an ℓ′-diverted release: its estimate, error and interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import prod, sqrt
from typing import Any, Protocol

import numpy as np

from dpdesk.core.compiled import kernel
from dpdesk.core.messages import msg
from dpdesk.engine.methods.l_diverted.estimation.solving import (
    Floats,
    along,
    bayes_step,
    fixed_point,
    nonnegative_counts,
)
from dpdesk.engine.methods.l_diverted.groups import (
    FullTransition,
    Mask,
    TwoStates,
    shares,
)

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
    transition: FullTransition,
    found: Floats,
    weights: Floats,
    chosen: Mask,
    drift: Floats | None = None,
) -> float:
    """Variance of Σ w_s y_s for one attribute, from a sample of its decoy groups.

    ``drift`` is how the estimate moves with published counts, by default through the full matrix.

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
    if drift is None:
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


NORMAL = 1.959963984540054
"""The normal quantile of 95 % intervals."""
_MOST_STATES = 4096
_MOST_SOLVED = 3000
_SLACK = 4.0


class Estimator(Enum):
    """How a count is estimated; the value is the word of the command line."""

    MATRIX = "matrix"
    EM = "em"
    CLOSED_FORM = "closed-form"
    PAPER = "paper"


@dataclass(frozen=True)
class Estimate:
    """An estimated count of rows, its standard error and its 95 % interval.

    ``value`` is None where the release does not determine the count; ``reason`` then says why.
    ``standard_error`` and the interval are also None where none is known (the paper's estimate).
    ``condition`` is the condition number of the matrix behind it: how much it spreads errors.
    ``leans`` says that keeping counts from being negative may draw the value away from the truth:
    see :func:`_leans`.
    """

    value: float | None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    condition: float | None = None
    reason: str = ""
    leans: bool = False


@dataclass(frozen=True, eq=False)
class Tables:
    """All that a count is estimated from, made from the release alone.

    ``matching`` are counts by published sensitive values of the rows that match the predicate,
    ``everything`` those of all rows, of the same shape (V1, …, Vw), one axis for each sensitive
    attribute of the question; ``chosen`` are the values asked for on each axis.
    """

    matching: Floats
    everything: Floats
    chosen: tuple[Mask, ...]

    @property
    def hits(self) -> float:
        """|P|: rows that match the predicate on the unaltered attributes; exact."""
        return float(self.matching.sum())


Solved = dict[tuple[int, ...], Floats]
"""Counts by true values that were found before for the same matching rows, by axes in use."""


def estimate(
    tables: Tables,
    attributes: Sequence[FullTransition],
    estimator: Estimator,
    solved: Solved | None = None,
) -> Estimate:
    """Estimate how many rows match and have the chosen values of every attribute.

    ``attributes`` describe the sensitive attributes in the order of the axes; one of which all
    values are chosen is left out. Questions about the same matching rows may share ``solved``.
    Never raises for counts that the release does not determine: see :class:`Estimate`.
    """
    if tables.hits == 0 or any(not mask.any() for mask in tables.chosen):
        return Estimate(0.0, 0.0, 0.0, 0.0)
    used = tuple(axis for axis, mask in enumerate(tables.chosen) if not mask.all())
    if not used:
        return Estimate(tables.hits, 0.0, tables.hits, tables.hits)
    unused = tuple(axis for axis in range(len(tables.chosen)) if axis not in used)
    part = Tables(
        np.asarray(tables.matching.sum(axis=unused)),
        np.asarray(tables.everything.sum(axis=unused)),
        tuple(tables.chosen[axis] for axis in used),
    )
    models = [attributes[axis] for axis in used]
    if estimator is not Estimator.MATRIX:
        return _two_state_estimate(part, models, estimator)
    if not all(each.estimable for each in models):
        return Estimate(None, condition=_conditions(models), reason=_SINGULAR)
    known = {} if solved is None else solved
    if used not in known:
        known[used] = nonnegative(part.matching, models)
    return full_estimate(part, models, known[used])


def _conditions(transitions: Sequence[Transition]) -> float:
    return float(prod(each.condition for each in transitions))


def full_estimate(tables: Tables, transitions: Sequence[FullTransition], found: Floats) -> Estimate:
    """The default: all values at once, with the matrices that follow from the value counts.

    ``found`` are the counts of :func:`nonnegative`.
    The value comes from counts that are not negative and sum to |P|; standard error and interval
    belong to the linear solution, which is unbiased and tells how far the truth may be.
    """
    condition = _conditions(transitions)
    value = float(_part(found, tables.chosen).sum())
    linear = _linear(tables, transitions)
    if len(transitions) == 1:
        only = transitions[0]
        variance_at = _group_variance_at(tables, only, found)
    else:
        others = clipped(tables.everything - tables.matching, transitions)
        variance_at = _row_variance_at(tables, transitions, found, others)
    error = sqrt(variance_at(value))
    step = _step(transitions, tables.chosen)
    low, high = _interval(linear, error, variance_at, tables, step)
    leans = _leans(value, linear, error, tables.hits)
    return Estimate(value, error, min(low, value), max(high, value), condition, leans=leans)


def _leans(value: float, linear: float, error: float, hits: float) -> bool:
    """Whether an estimate that cannot be negative may lie to one side of the truth on average.

    The linear solution is unbiased. Keeping counts from 0 to |P| changes it where its 95 % error
    reaches beyond these ends, and where other values' counts were kept so: then the value has moved
    by half a standard error or more. Elsewhere the two agree but for a small part of the error.
    """
    reach = NORMAL * error
    ends = linear - reach < 0 or linear + reach > hits
    return error > 0 and (ends or abs(value - linear) >= error / 2)


def _step(transitions: Sequence[Transition], chosen: Sequence[Mask]) -> float:
    """How far one row that publishes chosen values of several attributes moves the estimate.

    About ℓ′ for each attribute, so ℓ′² for two: where hardly a row matches, a single one that
    happens to be published so is the whole error. One attribute's steps are small beside it.
    """
    if len(transitions) == 1:
        return 0.0
    both = zip(transitions, chosen, strict=True)
    return float(prod(float(np.abs(each.weights(mask)).max()) for each, mask in both))


def _interval(
    linear: float,
    error: float,
    variance_at: Callable[[float], float],
    tables: Tables,
    step: float,
) -> tuple[float, float]:
    """The 95 % interval; for all rows with the one variance that their counts allow."""
    possible = possible_counts(tables)
    if tables.hits == float(tables.everything.sum()) and len(tables.chosen) == 1:
        return interval(linear, lambda _: error**2, NORMAL, possible)
    return interval(linear, variance_at, NORMAL, possible, step)


def possible_counts(tables: Tables) -> tuple[float, float]:
    """The counts that are possible at all: at most P, at most all rows with the chosen values.

    And, for one attribute, at least what of P the rows with other values can not fill. The number
    of rows with the chosen values is known within the error of published counts, of which four
    standard deviations are allowed: the variance is at most that number, and at most that of
    the others.
    """
    rows, least, most = float(tables.everything.sum()), 0.0, tables.hits
    size = len(tables.chosen)
    for axis, mask in enumerate(tables.chosen):
        others = tuple(other for other in range(size) if other != axis)
        with_values = float(tables.everything.sum(axis=others)[mask].sum())
        slack = _SLACK * sqrt(min(with_values, rows - with_values) + _SLACK**2)
        most = min(most, with_values + slack)
        if size == 1:
            least = min(most, max(0.0, tables.hits - (rows - with_values) - slack))
    return least, most


def nonnegative(published: Floats, transitions: Sequence[Transition]) -> Floats:
    """Counts by true values that are not negative, from counts by published values.

    By least squares for one attribute; for several, and for very many values, by iterative Bayes.
    """
    matrices = [each.matrix for each in transitions]
    if len(matrices) == 1 and len(published) <= _MOST_SOLVED:
        return nonnegative_counts(matrices[0], published)
    start = clipped(published, transitions) + published.sum() / published.size / 100
    return fixed_point(bayes_step(matrices, published), start / start.sum() * published.sum())[0]


def clipped(published: Floats, transitions: Sequence[Transition]) -> Floats:
    """The linear solution by true values, what is negative set to 0, with the sum kept."""
    inverses = [np.asarray(np.linalg.inv(each.matrix), np.float64) for each in transitions]
    found = np.maximum(along(inverses, published, forward=True), 0)
    total = float(found.sum())
    return np.asarray(found * (float(published.sum()) / total)) if total else found


_SINGULAR = (
    "The values cannot be distinguished: groups of decoys made from these value counts hold so "
    "nearly the same values that published counts do not determine true ones."
)
_TOO_FREQUENT = (
    "The value is published N/ℓ′ times or more, so rows without it publish it as often as rows "
    "with it."
)


def _linear(tables: Tables, transitions: Sequence[Transition]) -> float:
    """The sum of published counts with the weights of all attributes."""
    table = tables.matching
    for each, mask in zip(transitions, tables.chosen, strict=True):
        table = np.tensordot(table, each.weights(mask), axes=(0, 0))
    return float(table)


def _part(found: Floats, chosen: Sequence[Mask]) -> Floats:
    return found[np.ix_(*(np.flatnonzero(mask) for mask in chosen))]


def _moved(found: Floats, chosen: Sequence[Mask], count: float) -> Floats:
    """The same counts with ``count`` in the chosen part, and the rest of their sum elsewhere.

    Both parts keep their shares; a part that had nothing is filled evenly.
    """
    inside = np.zeros(found.shape, dtype=bool)
    inside[np.ix_(*(np.flatnonzero(mask) for mask in chosen))] = True
    moved = np.empty(found.shape)
    for part, sum_ in ((inside, count), (~inside, float(found.sum()) - count)):
        whole = float(found[part].sum())
        # Shares first: iterative Bayes leaves counts so near 0 that nothing can be divided by them.
        moved[part] = (found[part] / whole if whole > 0 else 1.0 / max(part.sum(), 1)) * sum_
    return moved


def _group_variance_at(
    tables: Tables, transition: FullTransition, found: Floats
) -> Callable[[float], float]:
    weights = transition.weights(tables.chosen[0])

    def variance_at(count: float) -> float:
        moved = _moved(found, tables.chosen, count)
        return group_variance(transition, moved, weights, tables.chosen[0])

    return variance_at


def _row_variance_at(
    tables: Tables, transitions: Sequence[Transition], found: Floats, others: Floats
) -> Callable[[float], float]:
    def variance_at(count: float) -> float:
        moved = _moved(found, tables.chosen, count)
        return row_variance(transitions, tables.chosen, moved, others)

    return variance_at


def _two_state_estimate(
    tables: Tables, attributes: Sequence[FullTransition], estimator: Estimator
) -> Estimate:
    """The sum of the estimates of each combination of chosen values, each against all others.

    For one attribute of which most values are chosen it is |P| less the others.
    """
    chosen = tables.chosen
    turned = len(chosen) == 1 and 2 * int(chosen[0].sum()) > len(chosen[0])
    if turned:
        chosen = (~chosen[0],)
    places = list(product(*(np.flatnonzero(mask).tolist() for mask in chosen)))
    if len(places) > _MOST_STATES:
        return Estimate(
            None, reason=msg("{n:,} combinations are too many to take one by one.", n=len(places))
        )
    parts = [_one_combination(tables, attributes, place, estimator) for place in places]
    wrong = next((part for part in parts if part.value is None), None)
    if wrong is not None:
        return wrong
    if len(parts) == 1 and not turned:
        return parts[0]
    value = sum(part.value or 0.0 for part in parts)
    condition = max(part.condition or 0.0 for part in parts)
    if any(part.standard_error is None for part in parts):
        return Estimate(tables.hits - value if turned else value, condition=condition)
    linear, error = _linear_sum(Tables(tables.matching, tables.everything, chosen), attributes)
    if turned:
        value, linear = tables.hits - value, tables.hits - linear
    low, high = interval(linear, lambda _: error**2, NORMAL, (0.0, tables.hits))
    leans = any(part.leans for part in parts)
    low, high = min(low, value), max(high, value)
    return Estimate(value, error, low, high, condition, leans=leans)


def _linear_sum(tables: Tables, attributes: Sequence[FullTransition]) -> tuple[float, float]:
    """The closed forms of all combinations of chosen values added up, and the error of the sum.

    Each row adds Z = ∏ W_i − Σ D_i of what it publishes (−Σ D_i where it does not match), W_i being
    the weights of one value against all others added up over the chosen values, D_i how a value's
    published count moves the sum through the matrix. So different values of one row vary against
    each other, as they must. For one attribute the decoy groups tell how Z varies; for several,
    rows vary by themselves: Σ E(Z²) − Σ (EZ)², where EZ is 1 for what is counted and 0 for what is
    not, less the mean of the D_i.
    """
    axes, size = range(len(attributes)), len(attributes)
    every = [
        tables.everything.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes
    ]
    states = [
        {
            int(value): TwoStates(each.groups.rows, each.groups.size, float(counts[value]))
            for value in np.flatnonzero(mask)
        }
        for each, counts, mask in zip(attributes, every, tables.chosen, strict=True)
    ]
    alone = [
        {value: _of_value(state.weights(_YES), value, len(counts)) for value, state in held.items()}
        for held, counts in zip(states, every, strict=True)
    ]
    weights = [np.sum(list(held.values()), axis=0) for held in alone]
    drifts = np.zeros((1,) * size)
    for axis in axes:
        seen = tables.matching
        for other in reversed([each for each in axes if each != axis]):
            seen = np.tensordot(seen, weights[other], axes=(other, 0))
        drift = np.zeros(len(every[axis]))
        for value, state in states[axis].items():
            with_value = float(seen @ alone[axis][value])
            found = np.array([float(seen.sum()) - with_value, with_value])
            drift[value] = state.drift(found, state.weights(_YES), _YES)[1]
        drifts = drifts + _on_axis(drift, axis, size)
    products = _outer(weights)
    linear = float((tables.matching * products).sum())
    if size == 1:
        only, found = attributes[0], nonnegative(tables.matching, attributes)
        variance = group_variance(only, found, weights[0], tables.chosen[0], drifts)
        return linear, sqrt(variance)
    others = tables.everything - tables.matching
    squares = (tables.matching * (products - drifts) ** 2 + others * drifts**2).sum()
    rows, moved = float(tables.everything.sum()), float((tables.everything * drifts).sum())
    counted = min(max(linear, 0.0), tables.hits)
    means = counted * (1 - 2 * moved / rows) + moved**2 / rows
    # Each counted row varies by more than 1: to publish it so has a chance of ℓ′^−w.
    return linear, sqrt(max(float(squares) - means, counted))


_YES = np.array([False, True])


def _of_value(states: Floats, value: int, size: int) -> Floats:
    """Weights of one value and of all others, by published value."""
    weights = np.full(size, float(states[0]))
    weights[value] = float(states[1])
    return weights


def _one_combination(
    tables: Tables,
    attributes: Sequence[FullTransition],
    place: tuple[int, ...],
    estimator: Estimator,
) -> Estimate:
    """One value of each attribute against all its others: 2^w states within P and outside."""
    matching = collapsed(tables.matching, place)
    everything = collapsed(tables.everything, place)
    paper = estimator is Estimator.PAPER
    size, state = len(place), np.array([False, True])
    states = []
    for axis, attribute in enumerate(attributes):
        count = float(everything.take(1, axis=axis).sum())
        states.append(
            TwoStates(attribute.groups.rows, attribute.groups.size, count, as_in_paper=paper)
        )
    condition = _conditions(states)
    if not all(each.estimable for each in states):
        return Estimate(None, condition=condition, reason=_TOO_FREQUENT)
    small = Tables(matching, everything, (state,) * size)
    linear = _linear(small, states)
    value = linear
    if estimator is not Estimator.CLOSED_FORM:
        bayes = iterative_bayes(matching, everything, states[0].size, as_in_paper=paper)
        value = float(bayes[(1,) * size])
    if paper:
        return Estimate(value, condition=condition)
    found, others = clipped(matching, states), clipped(everything - matching, states)
    variance_at = _row_variance_at(small, states, found, others)
    error = sqrt(variance_at(float(found[(1,) * size])))
    low, high = _interval(linear, error, variance_at, small, _step(states, small.chosen))
    kept = estimator is not Estimator.CLOSED_FORM
    leans = kept and _leans(value, linear, error, small.hits)
    return Estimate(value, error, low, high, condition, leans=leans)


def collapsed(table: Floats, place: Sequence[int]) -> Floats:
    """A table of two states on each axis: all other values, and the value at ``place``."""
    for axis, value in enumerate(place):
        one = table.take([value], axis=axis)
        table = np.concatenate([table.sum(axis=axis, keepdims=True) - one, one], axis=axis)
    return table


def iterative_bayes(
    matching: Floats, everything: Floats, size: int, *, as_in_paper: bool = False
) -> Floats:
    """The paper's iteration (its equation 13) on 2^(w+1) states, accelerated.

    ``matching`` and ``everything`` have shape (2,)·w: state 1 of an axis is to have its value. The
    matrices follow the counts of the current x, as in the paper; it starts at the published
    counts. Returns the counts by true state of the matching rows, of the same shape.
    """
    # Bit i of a state is axis i, so axes are put in reversed order before they are laid flat.
    both = [table.T.ravel() for table in (everything - matching, matching)]
    published = np.concatenate(both)
    found = published + published.sum() / len(published) * 1e-6
    iterate(published, size, matching.ndim, as_in_paper, found, 1e-4)
    return np.asarray(found[len(both[0]) :].reshape(matching.shape).T)


Array = Any
"""A numpy array; inside compiled code element types come from the caller."""


@kernel
def decoy_chances(found: Array, size: int, as_in_paper: bool, chances: Array) -> None:
    """The paper's a for each attribute, from the counts f of the current states.

    Bit i of a state says whether it has the value of attribute i; f is kept at N/ℓ′ or below.
    """
    total = found.sum()
    for i in range(len(chances)):
        count = 0.0
        for state in range(len(found)):
            if state >> i & 1:
                count += found[state]
        count = min(count, total / size)
        if as_in_paper:
            chances[i] = count / total
        else:
            chances[i] = count * (size - 1) / (size * (total - count))


@kernel
def _chance(true: int, published: int, size: int, chances: Array) -> Any:
    """The entry of the Kronecker product; the bit above the attributes never changes."""
    if true >> len(chances) != published >> len(chances):
        return 0.0
    product = 1.0
    for i in range(len(chances)):
        up = 1.0 / size if true >> i & 1 else chances[i]
        product *= up if published >> i & 1 else 1.0 - up
    return product


@kernel
def bayes(
    published: Array, found: Array, size: int, as_in_paper: bool, chances: Array, after: Array
) -> None:
    """One step of the paper's equation 13, with the matrix of the current counts."""
    decoy_chances(found, size, as_in_paper, chances)
    after[:] = 0.0
    for j in range(len(found)):
        expected = 0.0
        for i in range(len(found)):
            expected += found[i] * _chance(i, j, size, chances)
        if expected > 0.0:
            for i in range(len(found)):
                after[i] += published[j] / expected * found[i] * _chance(i, j, size, chances)


@kernel
def iterate(
    published: Array, size: int, attributes: int, as_in_paper: bool, found: Array, tolerance: float
) -> int:
    """Move ``found`` to the fixed point, by SQUAREM; the number of steps taken.

    Ends when no state moves by more than ``tolerance`` rows, with regard to how slowly the steps
    shrink, or after 3,000 steps.
    """
    chances = np.zeros(attributes)
    first, second, jumped = np.empty_like(found), np.empty_like(found), np.empty_like(found)
    taken = 0
    while taken < 3_000:
        bayes(published, found, size, as_in_paper, chances, first)
        bayes(published, first, size, as_in_paper, chances, second)
        taken += 2
        change, bend, last = 0.0, 0.0, 0.0
        for i in range(len(found)):
            change += (first[i] - found[i]) ** 2
            bend += (second[i] - 2 * first[i] + found[i]) ** 2
            last = max(last, abs(second[i] - first[i]))
        length = np.sqrt(change / bend) if bend > 0 else 1.0
        if last * max(1.0, length) <= tolerance:
            found[:] = second
            return taken
        jumped[:] = found + 2 * length * (first - found)
        jumped += length**2 * (second - 2 * first + found)
        if length <= 1.0 or jumped.min() < 0.0:
            found[:] = second
        else:
            bayes(published, jumped, size, as_in_paper, chances, found)
            taken += 1
    return taken
