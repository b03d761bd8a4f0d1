"""How near to what it hides noise, or a choice, can come by chance: bounds that are proven.

All bounds are logarithms of chances, 0 where nothing is told. Below :data:`NEVER`, e^-45, a thing
does not happen in 10^19 releases, so that a program is found that draws nothing, or much less than
it says. Larger noise and few cells tell nothing. What is bounded, and why it holds:

*Noise as it was drawn* (:func:`chance_of_sum`): Chernoff's bound on the sum of |noise| by scale,
Pr(sum ≤ s) ≤ e^{ts} Π E e^{−t|x|}, the means summed up exactly. Where negative numbers became 0,
|noise| is cut at the true count on that side, and so is the mean.

*A part of noise* (:func:`log_chance`): what is left of a table when all that other tables tell is
taken away, which whatever linear way makes tables agree leaves as it was drawn: noise projected on
D of m dimensions. With a uniform part of ±1/2 added to each cell, noise has a density of at most p,
the chance of its likeliest value, and its projection one of at most p^D times the smaller of
2^{D/2} and (m/(m−D))^{(m−D)/2} (Livshyts, Paouris and Pivovarov 2015, by sections of the cube: Ball
1989). The projected uniform part has a mean square of D/12, so with a chance of 1/3 or more it is
within √(D/8) (Markov), whatever the noise is. So the noise is within r of 0 with at most 3 times
the chance of the sum to be within r + √(D/8): density times volume. Independent tables multiply.

*Sums of noise, each with cells that no sum before it has* (:func:`chance_of_integers`): whatever
the other cells hold, such a sum takes none of its values, which lie ``gap`` apart, with a chance
above q, that of the likeliest sum of its own cells. So of |error| values at most 2|error|/gap + 1
are as near, the mean of e^{−t|error|} is at most that of chances q at 0, gap/2, gap, …, whatever
came before, and Chernoff's bound holds for the sum. Parts are told so where noise is small
(:func:`chance_of_contrasts`).

*Choices* (:func:`chance_of_choices`): Chernoff's bound on the sum of what they fall short of the
best candidate, with the stated chances.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, erfc, exp, inf, lgamma, log, pi, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

NEVER = -45.0
_SMALL_SIGMA = 400.0
_MOST_BLOCKS = 1 << 23
_MOST_POINTS = 1 << 16

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Noise in whole units, as it was drawn with this scale.

    ``floor`` are the true counts where negative numbers became 0; ``off`` bounds the sum of what
    values were moved by beyond that.
    """

    noise: Floats = field(repr=False)
    scale: float
    floor: NDArray[np.int64] | None = field(default=None, repr=False)
    off: float = 0.0


@dataclass(frozen=True, eq=False)
class Part:
    """Noise in whole units, an axis for each dimension; its ``own`` residuals are as drawn.

    ``own`` has an axis of two for each dimension: whether it varies in it; None where all are.
    ``likeliest`` is the chance of the likeliest value of a cell, ``off`` the most that all was
    moved by otherwise (as a length).
    """

    noise: Floats = field(repr=False)
    likeliest: float
    own: NDArray[np.bool_] | None = field(default=None, repr=False)
    off: float = 0.0

    @property
    def size(self) -> int:
        """Of how many dimensions the part is."""
        return self.noise.size if self.own is None else own_size(self.noise.shape, self.own)

    def length(self) -> float:
        """The length of the part that is as drawn."""
        left = self.noise if self.own is None else _own_part(self.noise, self.own)
        return float(np.linalg.norm(left)) + self.off


def own_size(shape: Sequence[int], own: NDArray[np.bool_]) -> int:
    """Of how many dimensions the residuals ``own`` of such a table are."""
    found = own.astype(np.int64)
    for size in shape:
        found = found[0] + found[1] * (size - 1)
    return int(found)


def _own_part(noise: Floats, own: NDArray[np.bool_]) -> Floats:
    """The sum of the residuals: along each axis a mean and the rest, of which some are left out."""
    whole = np.prod([size + 1 for size in noise.shape], dtype=np.float64)
    if whole > _MOST_BLOCKS:  # of the whole of it, more than the part: nothing is told too early
        return noise
    left = noise
    for axis in range(noise.ndim):
        mean = left.mean(axis=axis, keepdims=True)
        left = np.concatenate([mean, left - mean], axis=axis)
    places = [np.minimum(np.arange(size + 1), 1) for size in noise.shape]
    left = left * own[np.ix_(*places)]
    for axis in range(noise.ndim):
        parts = np.split(left, [1], axis=axis)
        left = parts[0] + parts[1]
    return np.asarray(left)


def log_chance(parts: Iterable[Part]) -> float:
    """Of parts of independent tables to be all so near to 0."""
    density = square = blur = 0.0
    dimensions = 0
    for part in parts:
        size, cells = part.size, part.noise.size
        if not size:
            continue
        loose = (cells - size) / 2 * log(cells / (cells - size)) if size < cells else 0.0
        density += min(size / 2 * log(2), loose)
        square += (part.likeliest * part.length()) ** 2
        blur += size * part.likeliest**2 / 8
        dimensions += size
    if not dimensions:
        return 0.0
    radius = sqrt(square) + sqrt(blur)
    volume = dimensions / 2 * log(pi) + dimensions * log(radius) - lgamma(dimensions / 2 + 1)
    return float(min(density + volume + log(3), 0.0))


def chance_of_sum(tables: Sequence[Drawn], *, gaussian: bool) -> float:
    """Of noise as it was drawn to be so small, all tables together."""
    sound = [each for each in tables if each.scale > 0]
    total = 0.0
    for each in sound:
        size = np.abs(each.noise)
        if each.floor is not None:
            size = np.where(each.noise < 0, np.minimum(size, each.floor), size)
        total += (float(size.sum()) + each.off) / each.scale
    rates = [2.0**power for power in range(-20, 4 if gaussian else 8)]
    found = (rate * total + sum(_log_means(each, rate, gaussian) for each in sound)
             for rate in rates)  # fmt: skip
    return float(min(0.0, *found)) if sound else 0.0


def _log_means(table: Drawn, rate: float, gaussian: bool) -> float:
    """The sum over cells of the logarithm of the mean of e^(−t|x|), t = rate / scale."""
    mean = _gaussian_mean if gaussian else _laplace_mean
    step = rate / table.scale
    if table.floor is None:
        return table.noise.size * log(mean(step, table.scale))
    floors, many = np.unique(np.asarray(table.floor), return_counts=True)
    cut = _gaussian_cut if gaussian else _laplace_cut
    return float(many @ np.log(np.minimum(cut(step, table.scale, floors), 1.0)))


def _laplace_mean(rate: float, scale: float) -> float:
    """The mean of e^(−t|x|): the geometric series of both sides, summed."""
    return tanh(1 / (2 * scale)) / tanh((1 / scale + rate) / 2)


def _laplace_cut(rate: float, scale: float, floors: NDArray[np.int64]) -> Floats:
    """The same of x cut at −floor: above it geometric series, and what is beyond at the floor."""
    least, step, fall = chance_of_zero(scale, gaussian=False), 1 / scale + rate, 1 / scale
    far = np.maximum(floors - 1.0, 0)
    inner = least * exp(-step) * -np.expm1(-step * far) / -np.expm1(-step)
    beyond = least * np.exp(-step * floors) / -np.expm1(-fall)
    above = least / -np.expm1(-step)
    at_zero = least * exp(-fall) / -np.expm1(-fall)  # all that is below 0
    return np.asarray(above + np.where(floors > 0, inner + beyond, at_zero))


def _gaussian_mean(rate: float, scale: float) -> float:
    """A bound on the mean of e^(−t|x|), which is nearly it: sums fall below their integrals."""
    if scale <= _SMALL_SIGMA:
        raw = [exp(-(x**2) / (2 * scale**2)) for x in range(1, int(40 * scale) + 3)]
        inner = sum(weight * exp(-rate * x) for x, weight in enumerate(raw, 1))
        return (1 + 2 * inner) / (1 + 2 * sum(raw))
    reach, all_of_it = rate * scale / sqrt(2), scale * sqrt(2 * pi)
    return min(1.0, (1 + all_of_it * exp(reach**2) * erfc(reach)) / all_of_it)


def _gaussian_cut(rate: float, scale: float, floors: NDArray[np.int64]) -> Floats:
    """The same of x cut at −floor; 1, which tells nothing, for scales that are long to sum."""
    if scale > _SMALL_SIGMA:
        return np.ones(len(floors))
    places = np.arange(int(40 * scale) + 3)
    raw = np.exp(-(places**2) / (2 * scale**2))
    raw /= 2 * raw.sum() - 1
    fading = np.cumsum(raw * np.exp(-rate * places))
    below = np.cumsum(raw[::-1])[::-1]  # the chance of x and all beyond it
    last = np.minimum(floors, len(places) - 1)
    inner = np.where(floors > 0, fading[np.maximum(last - 1, 0)] - raw[0], 0.0)
    beyond = below[np.maximum(last, 1)] * np.exp(-rate * np.minimum(floors, last))
    return np.asarray(fading[-1] + inner + beyond)


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


def likeliest_sum(scale: float, cells: int, *, gaussian: bool) -> float:
    """The most that any value of the sum of so many cells with noise is likely.

    That is the value 0: sums of symmetric noise whose chances fall on both sides, evenly or faster,
    are such noise. The mean of the characteristic function, which is above 0, over evenly spaced
    points is the chance of 0 and of what lies as far apart as there are points.
    """
    single = chance_of_zero(scale, gaussian=gaussian)
    if cells == 1 or (gaussian and scale < 1):
        return single
    deviation = scale * sqrt(cells if gaussian else 2 * cells)
    points = min(_MOST_POINTS, max(64, int(32 * deviation)))
    angle = 2 * pi * np.arange(points) / points
    angle = np.minimum(angle, 2 * pi - angle)
    if gaussian:
        turns = 2 * pi * np.arange(-4, 5)
        waves = np.exp(-((angle[:, None] + turns) ** 2) * scale**2 / 2).sum(axis=1)
        each = waves / np.exp(-(turns**2) * scale**2 / 2).sum()
    else:
        half = 2 * np.sinh(1 / (2 * scale)) ** 2 if scale > 1 / 700 else inf
        each = np.ones(points) if half == inf else half / (half + 2 * np.sin(angle / 2) ** 2)
    return min(single, float((each**cells).mean()))


def chance_of_integers(sums: Iterable[tuple[Floats, float, float]]) -> float:
    """Of sums of noise with cells of their own to be so near: their |errors|, gap and q."""
    given = list(sums)
    found = [0.0]
    for power in range(-8, 9) if given else ():
        told = 0.0
        for errors, gap, likely in given:
            rate = 2.0**power * likely / gap
            ratio, many = exp(-rate * gap / 2), ceil(1 / likely)
            mean = likely * (1 - ratio**many) / (1 - ratio)
            told += rate * float(errors.sum()) + errors.size * min(0.0, log(mean))
        found.append(told)
    return min(found)


def chance_of_contrasts(parts: Iterable[Part]) -> float:
    """As :func:`log_chance`, by cells less those that differ from them by being first.

    Along each axis the first cell is taken from all others. What is left in a cell is a sum of its
    own noise and of that of cells that are first in more dimensions, so it is one of the sums of
    :func:`chance_of_integers`; it is known where residuals that vary in these dimensions are.
    """
    sums = []
    for part in parts:
        if part.off:
            continue
        left = part.noise
        for axis in range(left.ndim):
            first, others = np.split(left, [1], axis=axis)
            left = np.concatenate([first, others - first], axis=axis)
        if part.own is not None:
            places = [np.minimum(np.arange(size), 1) for size in left.shape]
            left = left[part.own[np.ix_(*places)]]
        sums.append((np.abs(left).reshape(-1), 1.0, part.likeliest))
    return chance_of_integers(sums)


@dataclass(frozen=True, eq=False)
class Choice:
    """By how much a choice fell short of the best, and of all candidates by how much and with
    which chance they do; in the unit in which chances fall by e.
    """

    short: float
    falls: Floats = field(repr=False)
    chances: Floats = field(repr=False)


def chance_of_choices(choices: Sequence[Choice]) -> float:
    """Of choices to be so good, all together."""
    found = [0.0]
    for power in range(-8, 9) if choices else ():
        rate = 2.0**power
        told = 0.0
        for each in choices:
            mean = float(each.chances @ np.exp(-rate * each.falls))
            told += rate * each.short + min(0.0, log(mean))
        found.append(told)
    return min(found)
