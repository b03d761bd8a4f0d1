"""Errors of several ways to release, on one pool of queries: the paper's experiments.

Everything here compares with the true counts: it is internal, for whoever holds the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, lgamma, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.engine.methods.l_diverted.comparators.pool import Codes, Floats, Sample
from dpdesk.engine.methods.l_diverted.comparators.ways import Setting, Way, estimates

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource

SELECTIVITIES = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05)
"""Where the paper's bins of selectivity begin; the last one is open."""
SMALL = 10
"""The paper's small counts have fewer rows than this."""
STEP = "Compare ways to release"


@dataclass(frozen=True)
class Trial:
    """One point of a chart to be measured: a way to release, with a setting."""

    way: Way
    setting: Setting


@dataclass(frozen=True, eq=False)
class Measured:
    """Mean relative errors of a trial, over its queries and releases.

    ``by_selectivity`` has one number for each bin of :data:`SELECTIVITIES`, ``small`` is that of
    counts from 1 to 9; NaN where no query is. ``rmse`` is the root mean square error in rows of
    all queries with rows.
    """

    trial: Trial
    by_selectivity: Floats = field(repr=False)
    small: float
    rmse: float


def measure(
    sample: Sample,
    pool: Codes,
    trials: Sequence[Trial],
    releases: int,
    source: RandomSource,
    token: CancelToken,
    report: Report,
) -> tuple[Measured, ...]:
    """Release ``releases`` times for each trial, and compare what is estimated with the truth.

    The sample is cut at random, by less than ℓ′ rows, to make whole groups. Raises ValueError for
    an ℓ′ that the sample is not eligible for, Cancelled.
    """
    cuts: dict[int, tuple[Sample, Floats]] = {}
    found = []
    for done, trial in enumerate(trials):
        report(StepProgress(STEP, done, len(trials)))
        size = trial.setting.size
        if size not in cuts:
            part = sample.whole_groups(size, np.random.default_rng(size))
            cuts[size] = part, part.matching(pool, part.sensitive, token)
        part, truth = cuts[size]
        found.append(_measured(trial, part, pool, truth, releases, source, token))
    report(StepProgress(STEP, len(trials), len(trials)))
    return tuple(found)


def _measured(
    trial: Trial,
    sample: Sample,
    pool: Codes,
    truth: Floats,
    releases: int,
    source: RandomSource,
    token: CancelToken,
) -> Measured:
    held = truth > 0
    errors, squares = np.zeros(truth.shape), 0.0
    for _ in range(releases):
        token.check()
        gap = estimates(trial.way, sample, pool, trial.setting, source, token) - truth
        errors[held] += np.abs(gap[held]) / truth[held]
        squares += float((gap[held] ** 2).mean())
    errors /= releases
    share = truth / sample.rows
    bins = [
        (share >= low) & (share < high)
        for low, high in zip(SELECTIVITIES, (*SELECTIVITIES[1:], 1.1), strict=True)
    ]
    return Measured(
        trial,
        np.array([_mean(errors[inside]) for inside in bins]),
        _mean(errors[held & (truth < SMALL)]),
        float(np.sqrt(squares / releases)),
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def expected_error(count: int, size: int) -> float:
    """E|f′ − f|/f of a query on the sensitive value alone, exactly.

    De Moivre's mean deviation of a binomial count with mean f: 2(f+1)(1−p)·Pr(f′ = f+1), for f′ ~
    Binomial(ℓ′f, p = 1/ℓ′).
    """
    trials, k = size * count, count + 1
    chance = exp(
        lgamma(trials + 1)
        - lgamma(k + 1)
        - lgamma(trials - k + 1)
        - k * log(size)
        + (trials - k) * (log(size - 1) - log(size))
    )
    return 2 * k * (1 - 1 / size) * chance / count


def value_errors(
    counts: NDArray[np.int64], sizes: Iterable[int]
) -> Mapping[int, tuple[tuple[int, float], ...]]:
    """For each ℓ′ the expected relative error of every value's own count: (rows, error)."""
    return {
        size: tuple((int(f), expected_error(int(f), size)) for f in counts if f > 0)
        for size in sizes
    }
