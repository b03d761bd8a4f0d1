"""Ways to release a sensitive column, and what their releases say of a pool of queries.

Anatomy: Xiao and Tao, 2006. Global randomised response: mechanism A of the l-diverted paper, which
keeps a value with probability p = 1/ℓ′ and else publishes any other. Laplace noise: every query is
answered with noise of scale m/ε. All are simulations on the true data, for comparison alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.decoys import LARGEST_FIRST, MIXED
from dpdesk.engine.decoys.drawing import permutation, uniform
from dpdesk.engine.decoys.partition import row_groups, value_groups
from dpdesk.engine.methods.l_diverted.comparators.pool import Codes, Floats, Sample
from dpdesk.engine.methods.l_diverted.estimation.estimate import iterative_bayes
from dpdesk.engine.methods.l_diverted.estimation.groups import group_model
from dpdesk.engine.methods.l_diverted.estimation.solving import nonnegative_counts
from dpdesk.engine.methods.l_diverted.estimation.transition import FullTransition
from dpdesk.engine.methods.l_diverted.mechanism import divert
from dpdesk.engine.noise.laplace import DiscreteLaplace

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource


class Way(Enum):
    """A way to release and to estimate; the value is its name in charts."""

    MIXED = "ℓ′-diverted: mixed groups, all values at once"
    CORRECTED = "ℓ′-diverted: mixed groups, corrected iterative Bayes"
    LARGEST = "ℓ′-diverted: largest-first groups, all values at once"
    PAPER = "ℓ′-diverted as printed in the paper"
    ANATOMY = "Anatomy"
    RESPONSE = "Global randomised response"
    LAPLACE = "Laplace noise on each query"


@dataclass(frozen=True)
class Setting:
    """ℓ′ (also Anatomy's ℓ and 1/p), the queries m that a budget ε is split among."""

    size: int
    queries: int = 100
    epsilon: Fraction = Fraction(1, 20)


def estimates(
    way: Way,
    sample: Sample,
    pool: Codes,
    setting: Setting,
    source: RandomSource,
    token: CancelToken,
) -> Floats:
    """What one release says of every query: shape (predicates, V), rows.

    ``sample`` must be eligible and a multiple of ℓ′. Raises ValueError where it is not, Cancelled.
    """
    return _WAYS[way](sample, pool, setting, source, token)


def _diverted(
    rule: str, solve: Callable[[Floats, Floats, Setting, bool, CancelToken], Floats]
) -> Callable[[Sample, Codes, Setting, RandomSource, CancelToken], Floats]:
    def run(
        sample: Sample, pool: Codes, setting: Setting, source: RandomSource, token: CancelToken
    ) -> Floats:
        published = divert(sample.sensitive, sample.values, setting.size, rule, source, token)
        counts = np.bincount(published, minlength=sample.values)
        seen = np.flatnonzero(counts)
        matching = sample.matching(pool, published, token)
        found = np.zeros_like(matching)
        found[:, seen] = solve(
            matching[:, seen], counts[seen].astype(np.float64), setting, rule == MIXED, token
        )
        return found

    return run


def _all_values(
    matching: Floats, counts: Floats, setting: Setting, mixed: bool, token: CancelToken
) -> Floats:
    model = group_model(counts.astype(np.int64), setting.size, mixed, token)
    matrix = FullTransition(model).matrix
    return np.array([nonnegative_counts(matrix, row) if row.any() else row for row in matching])


def _iterated(as_in_paper: bool) -> Callable[[Floats, Floats, Setting, bool, CancelToken], Floats]:
    def solve(
        matching: Floats, counts: Floats, setting: Setting, mixed: bool, token: CancelToken
    ) -> Floats:
        rows, found = float(counts.sum()), np.zeros_like(matching)
        for query, row in enumerate(matching):
            token.check()
            hits = float(row.sum())
            for value in range(len(counts)):
                pair = np.array([hits - row[value], row[value]])
                both = np.array([rows - counts[value], counts[value]])
                states = iterative_bayes(pair, both, setting.size, as_in_paper=as_in_paper)
                found[query, value] = states[1]
        return found

    return solve


def _anatomy(
    sample: Sample, pool: Codes, setting: Setting, source: RandomSource, token: CancelToken
) -> Floats:
    """|group ∩ P|·count/|group|, summed: each row stands for ℓ values with equal parts."""
    counts = np.bincount(sample.sensitive, minlength=sample.values).astype(np.int64)
    groups = value_groups(counts, setting.size, LARGEST_FIRST, source, token)
    ids = permutation(sample.rows, source, token)
    members = row_groups(sample.sensitive, ids, groups, token)
    of_row = np.empty((sample.rows, setting.size), np.int32)
    for place in range(setting.size):
        of_row[members[:, place]] = groups
    return sample.matching(pool, of_row, token) / setting.size


def _response(
    sample: Sample, pool: Codes, setting: Setting, source: RandomSource, token: CancelToken
) -> Floats:
    keep = uniform(setting.size, sample.rows, source) == 0
    other = uniform(sample.values - 1, sample.rows, source).astype(np.int32)
    other += other >= sample.sensitive
    published = np.where(keep, sample.sensitive, other).astype(np.int32)
    p = 1 / setting.size
    rest = (1 - p) / (sample.values - 1)
    matrix = np.full((sample.values, sample.values), rest)
    np.fill_diagonal(matrix, p)
    matching = sample.matching(pool, published, token)
    return np.array([nonnegative_counts(matrix, row) if row.any() else row for row in matching])


def _laplace(
    sample: Sample, pool: Codes, setting: Setting, source: RandomSource, token: CancelToken
) -> Floats:
    exact = sample.matching(pool, sample.sensitive, token)
    noise = DiscreteLaplace(Fraction(setting.queries) / setting.epsilon)
    return exact + noise.draw(exact.size, source, token).reshape(exact.shape)


_WAYS: dict[Way, Callable[[Sample, Codes, Setting, RandomSource, CancelToken], Floats]] = {
    Way.MIXED: _diverted(MIXED, _all_values),
    Way.CORRECTED: _diverted(MIXED, _iterated(as_in_paper=False)),
    Way.LARGEST: _diverted(LARGEST_FIRST, _all_values),
    Way.PAPER: _diverted(LARGEST_FIRST, _iterated(as_in_paper=True)),
    Way.ANATOMY: _anatomy,
    Way.RESPONSE: _response,
    Way.LAPLACE: _laplace,
}
