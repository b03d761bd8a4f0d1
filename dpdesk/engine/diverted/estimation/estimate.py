"""One count from the tables of an ℓ′-diverted release: its estimate, error and interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import prod, sqrt

import numpy as np

from dpdesk.engine.diverted.estimation.counts import Floats
from dpdesk.engine.diverted.estimation.solving import (
    along,
    bayes_step,
    fixed_point,
    nonnegative_counts,
)
from dpdesk.engine.diverted.estimation.transition import FullTransition, Mask, TwoStates
from dpdesk.engine.diverted.estimation.variance import (
    Transition,
    group_variance,
    interval,
    row_variance,
)

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
    "The values can not be told apart: groups of decoys made from these value counts hold so much "
    "the same values that published counts do not determine true ones."
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
    """The same counts with ``count`` in the chosen part, the others in proportion."""
    total, places = float(found.sum()), np.ix_(*(np.flatnonzero(mask) for mask in chosen))
    moved = found.copy()
    inside, outside = float(found[places].sum()), total - float(found[places].sum())
    moved *= (total - count) / outside if outside > 0 else 0.0
    part = found[places]
    moved[places] = part * (count / inside) if inside > 0 else count / part.size
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

    For one attribute of which most values are chosen it is |P| less the others. Variances are
    added: counts of different values vary against each other, so that is a little too much.
    """
    chosen = tables.chosen
    turned = len(chosen) == 1 and 2 * int(chosen[0].sum()) > len(chosen[0])
    if turned:
        chosen = (~chosen[0],)
    places = list(product(*(np.flatnonzero(mask).tolist() for mask in chosen)))
    if len(places) > _MOST_STATES:
        return Estimate(
            None, reason=f"{len(places):,} combinations are too many to take one by one."
        )
    parts = [_one_combination(tables, attributes, place, estimator) for place in places]
    wrong = next((part for part in parts if part.value is None), None)
    if wrong is not None:
        return wrong
    if len(parts) == 1 and not turned:
        return parts[0]
    return _summed(parts, tables.hits, turned)


def _summed(parts: Sequence[Estimate], hits: float, turned: bool) -> Estimate:
    value = sum(part.value or 0.0 for part in parts)
    value = hits - value if turned else value
    condition = max(part.condition or 0.0 for part in parts)
    if any(part.standard_error is None for part in parts):
        return Estimate(value, condition=condition)
    error = sqrt(sum((part.standard_error or 0.0) ** 2 for part in parts))
    low, high = interval(value, lambda _: error**2, NORMAL, (0.0, hits))
    leans = any(part.leans for part in parts)
    return Estimate(value, error, low, high, condition, leans=leans)


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
    from dpdesk.engine.diverted.estimation.iteration import iterate

    # Bit i of a state is axis i, so axes are put in reversed order before they are laid flat.
    both = [table.T.ravel() for table in (everything - matching, matching)]
    published = np.concatenate(both)
    found = published + published.sum() / len(published) * 1e-6
    iterate(published, size, matching.ndim, as_in_paper, found, 1e-4)
    return np.asarray(found[len(both[0]) :].reshape(matching.shape).T)
