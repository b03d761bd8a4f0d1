"""Privacy losses on a lattice: pessimistic, with every numerical error accounted for.

The privacy loss of an outcome is L = ln P(outcome)/Q(outcome) for the two neighbouring tables P
and Q, drawn under P. All of (ε, δ)-privacy lies in its distribution:

    δ(ε) = E[(1 − e^{ε − L})₊],  with L = ∞ where Q is 0                                  (1)

(Sommer, Meiser and Mohammadi 2019; Koskela, Jälkö and Honkela 2020), and the losses of independent
mechanisms add up, so the distribution of the sum is a convolution. That stays true for mechanisms
that are chosen one after the other with settings fixed beforehand (Zhu, Dong and Wang 2022,
Theorem 10).

**Why the lattice is an upper bound.** A loss l between two neighbouring points g < g + h is split
on both so that P-mass and Q-mass stay: masses p₁ + p₂ = p and p₁e^{−g} + p₂e^{−g−h} = p·e^{−l}. The
composition's δ(ε) = E[(1 − e^ε·Π e^{−L_i})₊] is convex in each e^{−L_i} while the others are held
fixed, and the split keeps the mean of e^{−L_i} and only spreads it; by Jensen's inequality δ
never falls, whatever else is composed. This is the “connect the dots” bound (Doroshenko, Ghazi,
Kamath, Kumar and Manurangsi 2022); replacing the mechanisms one at a time is its second proof.
Moving mass to a larger loss, or to ∞, never lowers δ either, for (1 − e^{ε−l})₊ grows with l.

**Why the arithmetic is an upper bound.** All masses are 0 or more, so a sum of n products is off by
at most a factor 1 ± (n + 2)u (u = 2⁻⁵³), in any order of summation; these factors are added up in
``relative``. A Fourier transform of n points is off by at most 8·u·log₂(n) times its result, in the
2-norm (Higham, *Accuracy and Stability of Numerical Algorithms*, Theorem 24.2, with u for the
error of the twiddle factors). A convolution takes three; as a transform is nowhere larger than the
1-norm, the error is at most 40·u·log₂(n)·max(‖a‖₁‖b‖₂, ‖a‖₂‖b‖₁) in the 2-norm, rounding of the
products included, and √n times that in the 1-norm. An error of t in the 1-norm changes δ by at
most t, since the function under the expectation lies in [0, 1]. Such errors are added up in
``slack``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-53
_DIRECT = 1 << 27
_LONGEST = 1 << 15
_WIDTHS = 16.0
_TAIL = 1e-15

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Losses:
    """A distribution of the privacy loss, never better than the true one.

    Point j has the loss ``low`` + j·``step`` and the P-mass ``masses[j]``; ``infinite`` is the mass
    of L = ∞. ``relative`` and ``slack`` bound what rounding has done: the true masses are at most
    (1 + ``relative``) times these, but for ``slack`` of mass.
    """

    low: Fraction
    step: Fraction
    masses: Vector
    infinite: float = 0.0
    relative: float = 0.0
    slack: float = 0.0

    @property
    def values(self) -> Vector:
        """The losses, rounded up."""
        start, width = float(self.low), float(self.step)
        values = start + width * np.arange(len(self.masses), dtype=np.float64)
        largest = abs(start) + width * len(self.masses)
        return values + 8 * UNIT * largest

    @property
    def deviation(self) -> float:
        """The standard deviation of the finite losses, roughly."""
        total = float(self.masses.sum())
        if total <= 0.0:
            return 0.0
        place = np.arange(len(self.masses), dtype=np.float64)
        mean = float(self.masses @ place) / total
        spread = float(self.masses @ (place - mean) ** 2) / total
        return math.sqrt(max(0.0, spread)) * float(self.step)

    def delta(self, epsilon: float) -> float:
        """δ at ``epsilon``, rounded up: formula (1) and every error."""
        gaps = epsilon - self.values
        above = gaps < 0.0
        found = float(self.masses[above] @ -np.expm1(gaps[above]))
        found *= 1.0 + 2.0 * self.relative + (len(self.masses) + 8) * UNIT
        return min(1.0, found + self.infinite + self.slack)

    def epsilon(self, delta: float) -> float | None:
        """The least ε of 0 or more with δ(ε) ≤ ``delta``, rounded up; None where none is found."""
        top = max(0.0, float(self.values[-1])) if len(self.masses) else 0.0
        if self.delta(top) > delta:
            return None
        low, high = 0.0, top
        if self.delta(0.0) <= delta:
            return 0.0
        for _ in range(60):
            middle = (low + high) / 2.0
            if self.delta(middle) <= delta:
                high = middle
            else:
                low = middle
        return high


def point_masses(losses: Vector, masses: Vector, step: Fraction) -> Losses:
    """Losses at any places, split on the multiples of ``step`` as the module says."""
    width = float(step)
    lifted = losses + 8 * UNIT * np.abs(losses)
    below = np.floor(lifted / width)
    inside = np.clip(lifted - below * width, 0.0, width)
    upper = np.clip(np.expm1(-inside) / math.expm1(-width) * (1.0 + 8 * UNIT), 0.0, 1.0)
    first = int(below.min())
    place = (below - first).astype(np.int64)
    found = np.zeros(int(place.max()) + 2)
    np.add.at(found, place, masses * (1.0 - upper))
    np.add.at(found, place + 1, masses * upper)
    return Losses(first * step, step, found, relative=(len(losses) + 16) * UNIT)


def on_grid(losses: Losses, step: Fraction) -> Losses:
    """The same losses split on the multiples of ``step``."""
    moved = point_masses(losses.values, losses.masses, step)
    return replace(
        moved,
        infinite=losses.infinite,
        relative=losses.relative + moved.relative,
        slack=losses.slack,
    )


def without_tails(losses: Losses, tail: float = _TAIL) -> Losses:
    """Shorter: at most ``tail`` of mass from the top goes to ∞, from the bottom to the new lowest.

    Both only raise δ.
    """
    sums = np.cumsum(losses.masses)
    total = float(sums[-1])
    first = int(np.searchsorted(sums, tail, side="right"))
    last = int(np.searchsorted(sums, total - tail, side="left"))
    first, last = min(first, len(sums) - 1), max(min(last, len(sums) - 1), 0)
    if first > last or (first == 0 and last == len(sums) - 1):
        return losses
    kept = losses.masses[first : last + 1].copy()
    kept[0] += float(losses.masses[:first].sum())
    cut = float(losses.masses[last + 1 :].sum()) * (1.0 + 2.0 * losses.relative + 1e-9)
    return replace(
        losses,
        low=losses.low + first * losses.step,
        masses=kept,
        infinite=losses.infinite + cut,
        relative=losses.relative + (len(sums) + 2) * UNIT,
    )


def convolved(one: Losses, other: Losses, tail: float = _TAIL) -> Losses:
    """The losses of both together; they must have the same step."""
    if one.step != other.step:
        raise ValueError("losses are added on one lattice")
    shorter = min(len(one.masses), len(other.masses))
    relative, slack = one.relative + other.relative, one.slack + other.slack
    if len(one.masses) * len(other.masses) <= _DIRECT:
        masses = np.convolve(one.masses, other.masses)
        # Products below the smallest float vanish: at most that much in each term.
        relative, slack = relative + (shorter + 2) * UNIT, slack + 1e-290
    else:
        masses, lost = _by_fourier(one.masses, other.masses)
        slack += lost
    infinite = (one.infinite + other.infinite) * (1.0 + 4 * UNIT)
    return without_tails(
        Losses(one.low + other.low, one.step, masses, infinite, relative, slack), tail
    )


def _by_fourier(one: Vector, other: Vector) -> tuple[Vector, float]:
    """The convolution, and what it is off by at most in the 1-norm."""
    length = len(one) + len(other) - 1
    size = 1 << (length - 1).bit_length()
    found = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[:length]
    norms = max(
        float(one.sum()) * float(np.linalg.norm(other)),
        float(other.sum()) * float(np.linalg.norm(one)),
    )
    lost = 40.0 * UNIT * math.log2(size) * math.sqrt(size) * (norms + 1e-290)
    return np.maximum(found, 0.0), lost


def repeated(losses: Losses, count: int) -> Losses:
    """The losses of ``count`` equal mechanisms, by repeated squaring.

    A lattice that would grow too long is made coarser first.
    """
    widest = _WIDTHS * math.sqrt(count) * losses.deviation
    if count > 1 and widest / float(losses.step) > _LONGEST:
        losses = on_grid(losses, rounded_step(widest / _LONGEST))
    tail = _TAIL / count
    found: Losses | None = None
    power = losses
    for bit in range(count.bit_length()):
        if bit:
            power = convolved(power, power, tail)
        if count >> bit & 1:
            found = power if found is None else convolved(found, power, tail)
    if found is None:
        raise ValueError("at least one mechanism is composed")
    return found


def rounded_step(wanted: float) -> Fraction:
    """A step of a lattice near ``wanted``: a power of two, so that its multiples are floats."""
    return Fraction(2) ** math.floor(math.log2(wanted))
