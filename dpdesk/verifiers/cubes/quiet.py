"""Whether a table with noise is nearer to its source than its stated noise allows.

The part of a table that varies in all of its dimensions at once (what is left when the mean along
each of them is taken away) is known from the table itself and from none with fewer dimensions. So
whatever linear way makes tables agree leaves it as it was drawn: in a table that no other noisy one
has all dimensions of, it is the noise, projected on D = Π(nᵢ − 1) of its m = Πnᵢ dimensions.

How near to 0 that can be: with a uniform part of ±1/2 added to each cell, the noise has a density
of at most p, the chance of 0. Its projection then has one of at most (√2·p)^D (Livshyts, Paouris
and Pivovarov 2015, after Rudelson and Vershynin 2014), and lies within r of 0 with a chance of at
most (√2·p)^D times the volume of that ball. Below e^-45 it does not happen in 10^19 releases. So a
program that draws nothing, or much less than it says, is found; larger noise, and few cells, tell
nothing. Where tables are published as they were drawn, the sum of the sizes of the noise is bounded
instead, which tells of fewer cells and of small scales.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import erfc, exp, lgamma, log, pi, prod, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import ORDERED, CuboidTable
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.shapes import as_list, as_table
from dpdesk.verifiers.cubes.claimed import Claimed, float_of, names_of
from dpdesk.verifiers.cubes.stated import COUNT
from dpdesk.verifiers.declared import Column, counted_cells

_EXPONENT = -45.0
_LINEAR = ("none", "l2")
_SMALL_SIGMA = 400.0


def too_quiet(
    claimed: Claimed,
    published: Mapping[str, CuboidTable],
    columns: Sequence[Column],
    kept: FrequencySource,
    token: CancelToken,
) -> Iterator[str]:
    """Tables of counts whose noise is smaller than stated; ``kept`` are the rows that count.

    Nothing is told where some step between noise and table is not linear. Raises Cancelled, and
    what a malformed manifest raises (TypeError, KeyError, ValueError).
    """
    changed = claimed.nonnegative or claimed.integral or claimed.consistency not in _LINEAR
    if changed or claimed.residuals or claimed.exact is not None:
        return
    single = len(claimed.measures) == 1
    for measure in claimed.measures:
        if str(measure.get("measure", COUNT)) != COUNT:
            continue
        for names, scale in zip(claimed.sources, as_list(measure["scales"]), strict=True):
            if any(names < other for other in claimed.sources):
                continue
            for item in claimed.cuboids:
                if names_of(item["dimensions"], claimed.domains) != names:
                    continue
                if not single and item.get("measure", COUNT) != COUNT:
                    continue
                axes = [column for column in columns if column.name in names]
                true = counted_cells(kept, axes, token)
                file = str(item["file"])
                stated = np.asarray(published[file].values, np.float64).reshape(true.shape)
                bound = chance_of_sum if claimed.consistency == "none" else log_chance
                chance = bound(stated - true, float_of(scale), gaussian=claimed.gaussian)
                if chance < _EXPONENT:
                    yield msg("{file} has less noise than is stated", file=file)


def quiet_edges(
    manifest: Mapping[str, object],
    published: Mapping[str, CuboidTable],
    there: NDArray[np.bool_],
    *,
    gaussian: bool,
) -> str:
    """The same of the edges of a graph, of which nothing is exact; empty when all is well.

    ``there`` says from where to where an edge leads; of edges without direction, both ways.
    """
    result = as_table(manifest["result"])
    scale = float_of(as_list(result["scales"])[0])
    for item in map(as_table, as_list(result["cuboids"])):
        if "pairs" not in item:
            continue
        file, size = str(item["file"]), len(there)
        both = item["pairs"] == ORDERED
        places = ~np.eye(size, dtype=bool) if both else np.triu(np.ones((size, size), bool), 1)
        stated = np.asarray(published[file].values, np.float64).reshape(-1)
        if chance_of_sum(stated - there[places], scale, gaussian=gaussian) < _EXPONENT:
            return msg("{file} has less noise than is stated", file=file)
    return ""


def log_chance(noise: NDArray[np.float64], scale: float, *, gaussian: bool) -> float:
    """The logarithm of a bound on the chance that noise of this scale lies so near to 0.

    ``noise`` has an axis for each dimension; 0 (no bound) where a dimension has a single category.
    """
    varying = prod(size - 1 for size in noise.shape)
    if not noise.ndim or not varying:
        return 0.0
    part = noise
    for axis in range(noise.ndim):
        part = part - part.mean(axis=axis, keepdims=True)
    radius = float(np.linalg.norm(part)) + sqrt(noise.size) / 2
    density = log(sqrt(2) * chance_of_zero(scale, gaussian=gaussian))
    volume = varying / 2 * log(pi) + varying * log(radius) - lgamma(varying / 2 + 1)
    return float(min(varying * density + volume, 0.0))


def chance_of_sum(noise: NDArray[np.float64], scale: float, *, gaussian: bool) -> float:
    """As :func:`log_chance`, of noise as it was drawn: Chernoff's bound on its sum of sizes."""
    if scale <= 0:
        return 0.0
    total, cells = float(np.abs(noise).sum()), noise.size
    rates = [2.0**power / scale for power in range(-20, 4 if gaussian else 8)]
    mean = _gaussian_mean if gaussian else _laplace_mean
    return float(min(0.0, *(rate * total + cells * log(mean(rate, scale)) for rate in rates)))


def _laplace_mean(rate: float, scale: float) -> float:
    """The mean of e^(−t|x|): the geometric series of both sides, summed."""
    return tanh(1 / (2 * scale)) / tanh((1 / scale + rate) / 2)


def _gaussian_mean(rate: float, scale: float) -> float:
    """A bound on the mean of e^(−t|x|), which is nearly it: sums fall below their integrals."""
    if scale <= _SMALL_SIGMA:
        raw = [exp(-(x**2) / (2 * scale**2)) for x in range(1, int(40 * scale) + 3)]
        inner = sum(weight * exp(-rate * x) for x, weight in enumerate(raw, 1))
        return (1 + 2 * inner) / (1 + 2 * sum(raw))
    reach, all_of_it = rate * scale / sqrt(2), scale * sqrt(2 * pi)
    return min(1.0, (1 + all_of_it * exp(reach**2) * erfc(reach)) / all_of_it)


def chance_of_zero(scale: float, *, gaussian: bool) -> float:
    """Of discrete Laplace noise with P(x) ∝ e^(−|x|/b), or Gaussian with P(x) ∝ e^(−x²/2σ²)."""
    if scale <= 0:
        return 1.0
    if not gaussian:
        return tanh(1 / (2 * scale))
    if scale > _SMALL_SIGMA:  # the sum of all is no less than its integral
        return 1 / (scale * sqrt(2 * pi))
    reach = int(40 * scale) + 3
    return 1 / (1 + 2 * sum(exp(-(x**2) / (2 * scale**2)) for x in range(1, reach)))
