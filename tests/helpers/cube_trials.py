"""Drawn errors of a cube against what is stated, with limits that a right cube hardly ever breaks.

A mean of n independent terms of standard deviation s strays by more than ``_SIGMAS`` * s/sqrt(n)
with a chance below 3e-12, unless single terms are huge, whose share is allowed for (the errors have
exponential tails: none is more than ``_TAIL`` scales off, but for a chance of 1e-12). How often an
error may leave its ± follows from Bernstein's inequality. A sweep of a thousand settings so fails
by chance with a probability below 1e-6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpdesk.engine.methods.dp_cube.design import average
from dpdesk.engine.private.kinds import Noise
from tests.helpers.cube_errors import Numbers, Study, Table
from tests.helpers.statistics import stray

_SIGMAS = 7.0
_TAIL = 28.0
_TELLING = 0.3


@dataclass(frozen=True)
class Trial:
    """``stated`` is the stated variance by the one that the processing gives, where they differ
    most; ``ratio`` the drawn variance by the stated one, the extreme of all tables (but those of
    noise so rare that few draws tell nothing); ``covered`` the least share of a cell's errors
    within the ±. ``faults`` names what broke a limit.
    """

    stated: float
    ratio: float
    covered: float
    faults: tuple[str, ...]


def tried(
    study: Study, draws: int, seed: int, *, claimed: float = 1.0, widened: float = 1.0,
    narrowed: float = 1.0, shifted: float = 0.0,
) -> Trial:  # fmt: skip
    """Draw the errors of that many releases and compare them with what is stated.

    The last four falsify what is stated or drawn, to see whether that is noticed: the variance, the
    noise, the ±, the mean (in standard deviations).
    """
    response, (variances, fourths) = study.response(), study.noise_moments()
    exact = response**2 @ variances
    linear = study.linear
    off = study.stated()[linear] / exact[linear]
    errors = widened * study.noise(draws, seed) @ response.T
    errors[:, linear] += shifted * np.sqrt(exact[linear])
    values = _with_averages(study, errors)
    limits = _Limits(draws, response, variances, fourths, _scale(study))
    faults: list[str] = []
    ratios, shares = [1.0], [1.0]
    for table in study.tables:
        name = f"{table.entry['dimensions']} {table.entry.get('measure', '')}"
        if not table.average:
            ratio, fault = _spread(table, errors, claimed * study.stated(), limits)
            ratios += [ratio] if limits.of_squares(table.cells) < _TELLING else []
            faults += [f"{name}: {text}" for text in (fault, _bias(table, errors, limits)) if text]
        share, fault = _coverage(table, values, narrowed * study.widths(), draws)
        shares.append(share)
        faults += [f"{name}: {fault}"] if fault else []
    extreme = max(ratios, key=lambda ratio: abs(ratio - 1))
    return Trial(float(max(off, key=lambda x: abs(x - 1))), extreme, min(shares), tuple(faults))


def _scale(study: Study) -> Numbers:
    """About how far the noise of each noisy cell reaches in one e-fold of its tail."""
    root = study.design.plan.noise is Noise.GAUSSIAN
    found = []
    for number, shape in enumerate(study.shapes):
        sources = len(study.design.plan.sources)
        spread = float(study.design.channels[number // sources].spreads[number % sources])
        found += [spread**0.5 if root else spread] * int(np.prod(shape, dtype=int))
    return np.maximum(found, 1 / _TAIL)


class _Limits:
    """How far means over draws may lie from their expectation."""

    def __init__(
        self, draws: int, response: Numbers, variances: Numbers, fourths: Numbers, scales: Numbers
    ) -> None:
        self.draws = draws
        self.covariance = (response * variances) @ response.T
        self.fourth = response**2 @ (fourths[:, None] * response.T**2)
        largest = (np.abs(response) * scales).max(axis=1)
        deviations = np.sqrt(np.diag(self.covariance))
        self.reach = np.maximum(largest * (_TAIL + np.log(draws)), 7 * deviations)

    def of_squares(self, cells: slice) -> float:
        """For the mean of squared errors over a table's cells, by their variance."""
        part = slice(cells.start, cells.stop)
        moments = 2 * self.covariance[part, part] ** 2 + self.fourth[part, part]
        variance = self.covariance[part.start, part.start]
        deviation = np.sqrt(moments.mean() / self.draws) / variance
        return float(_SIGMAS * deviation + self.reach[part].max() ** 2 / (variance * self.draws))

    def of_means(self, cells: slice) -> Numbers:
        """For the mean error of each cell."""
        deviations = np.sqrt(np.diag(self.covariance)[cells] / self.draws)
        return np.asarray(_SIGMAS * deviations + self.reach[cells] / self.draws)


def _spread(table: Table, errors: Numbers, stated: Numbers, limits: _Limits) -> tuple[float, str]:
    ratio = float((errors[:, table.cells] ** 2).mean() / stated[table.cells.start])
    limit = limits.of_squares(table.cells)
    fault = f"variance {ratio:.4f} of the stated, limit {limit:.4f}"
    return ratio, fault if abs(ratio - 1) > limit else ""


def _bias(table: Table, errors: Numbers, limits: _Limits) -> str:
    means = np.abs(errors[:, table.cells].mean(axis=0))
    allowed = limits.of_means(table.cells)
    worst = int((means / allowed).argmax())
    fault = f"bias {means[worst]:.4g}, limit {allowed[worst]:.4g}"
    return fault if means[worst] > allowed[worst] else ""


def _coverage(table: Table, values: Numbers, widths: Numbers, draws: int) -> tuple[float, str]:
    known = ~np.isnan(table.truth)
    errors = np.abs(values[:, table.cells] - np.where(known, table.truth, 0))[:, known]
    allowed = widths[table.cells.start] * (1 + 1e-9)
    if table.average:
        counts = values[:, _counts_of(table)][:, known]
        inside = (errors * counts <= allowed) | (counts < 1)
    else:
        inside = errors <= allowed + 1e-9
    missed = (~inside).sum(axis=0).max(initial=0)
    share = 1 - float(missed) / draws
    fault = f"within the ± in {share:.2%}"
    return share, fault if missed > 0.05 * draws + stray(draws, 0.05, 1000) else ""


def _counts_of(table: Table) -> slice:
    assert table.counts is not None
    return table.counts


def _with_averages(study: Study, errors: Numbers) -> Numbers:
    """Published values: the truth and the errors, and averages made of sums and counts."""
    values = errors + np.nan_to_num(study.truth)
    for table in study.tables:
        if table.average:
            assert table.sums is not None
            measure = next(m for m in study.design.settings.measures if m.kind == "average")
            counts, sums = values[:, _counts_of(table)], values[:, table.sums]
            values[:, table.cells] = average(measure, sums, counts)
    return values
