"""The discrete Gaussian distribution: P(x) ∝ exp(−x²/2σ²) on the whole numbers.

Added to a count of sensitivity 1 it satisfies 1/(2σ²)-concentrated differential privacy, as the
continuous one does (Canonne, Kamath and Steinke, 2020, "The Discrete Gaussian for Differential
Privacy"). ``resources/docs/noise.md`` gives the whole argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpdesk.core.errors import InputError
from dpdesk.engine.noise.discrete import DiscreteNoise
from dpdesk.engine.noise.gaussian_sampler import (
    DIRECT_VARIANCE,
    GaussianLayout,
    GaussianSampler,
    running_sums,
    weights,
)
from dpdesk.engine.noise.intervals import (
    Interval,
    enclose,
    exp_negative,
    minus,
    over,
    pi,
    plus,
    square_root,
    times,
)
from dpdesk.engine.noise.inversion import BITS
from dpdesk.engine.noise.levels import Probability, shown

MAX_VARIANCE = 1 << 96
"""The greatest variance: noise reaches 2^62 with a probability below e^(−10^8) then."""


@dataclass(frozen=True, init=False)
class DiscreteGaussian(DiscreteNoise):
    """Integer noise with P(x) ∝ exp(−x²/2σ²), drawn exactly.

    It is made from the variance σ² of the continuous distribution, which is kept as
    ``sigma_squared``. The variance of the discrete one, :attr:`variance`, is never greater.

    Raises
    ------
    InputError
        ``noise.variance`` for a σ² that is not above 0 or exceeds :data:`MAX_VARIANCE`.
    """

    sigma_squared: Fraction

    def __init__(self, variance: Fraction) -> None:
        object.__setattr__(self, "sigma_squared", Fraction(variance))
        if not 0 < self.sigma_squared <= MAX_VARIANCE:
            raise InputError(
                "noise.variance",
                f"The noise variance must be above 0 and at most 2^96, not {shown(variance)}.",
                hint="Spend more of the budget, or count in larger units.",
            )

    @cached_property
    def sampler(self) -> GaussianSampler:
        """The table that values are drawn with; made at the first draw."""
        return GaussianSampler(self.sigma_squared, GaussianLayout.of(self.sigma_squared))

    @cached_property
    def variance(self) -> float:
        """Σx²·P(x), the variance of the discrete distribution, to the last digit of a float.

        By Poisson summation it is σ² − 8π²σ⁴·Σk²q_k/(1 + 2Σq_k) with q_k = exp(−2π²σ²k²), summed
        over k ≥ 1: σ² itself from σ² = 9 on, as far as a float can tell. Below, it is summed.
        """
        if self.sigma_squared >= 9:
            return float(self.sigma_squared)
        if self.sigma_squared < Fraction(1, 2000):
            return 0.0  # 2e^(−1000) is below the smallest positive float
        bits = BITS + 3 * int(1 / self.sigma_squared)
        while True:
            terms, rest = weights(self.sigma_squared, bits)
            # Behind the terms, k²e_k falls faster than a geometric series of ratio 1/100.
            low = sum(2 * k * k * term[0] for k, term in enumerate(terms))
            high = sum(2 * k * k * term[1] for k, term in enumerate(terms))
            high += 8 * len(terms) ** 2 * (rest[1] + 2)
            low, high = over((low, high), self._total(bits), bits)
            if float(Fraction(low, 1 << bits)) == float(Fraction(high, 1 << bits)):
                return float(Fraction(low, 1 << bits))
            bits *= 2

    def probability(self, x: int) -> Probability:
        """Rational bounds of P(X = x), which differ by less than a share of 2^−200.

        Values so far out that they are less likely than 2^−100000 may have 0 as lower bound.
        """
        exponent = x * x / (2 * self.sigma_squared)
        bits = BITS + int(self.sigma_squared).bit_length() + min(int(2 * exponent), 100_000)
        low, high = over(exp_negative(exponent, bits), self._total(bits), bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)

    def _total(self, bits: int) -> Interval:
        """Σexp(−x²/2σ²) over all whole numbers x.

        For wide noise by Poisson summation: √(2πσ²)·(1 + 2Σexp(−2π²σ²k²)), where the sum is below
        2^−400000 for every variance above :data:`DIRECT_VARIANCE`.
        """
        if self.sigma_squared <= DIRECT_VARIANCE:
            _, total = running_sums(self.sigma_squared, bits)
            return 2 * total[0] - (1 << bits), 2 * total[1] - (1 << bits)
        twice = enclose(2 * self.sigma_squared, bits)
        low, high = square_root(times(twice, pi(bits), bits), bits)
        return low, high + 1 + (high >> min(bits, 400_000))

    def _covers(self, h: int, missing: Fraction) -> bool:
        """Whether P(|X| > h) ≤ missing.

        Decided exactly up to σ² = 2^14. Above, sums are enclosed by the integral and a proven
        remainder (see :meth:`_outside`); should these not tell two neighbouring h apart, which
        takes a level within σ^(−3) of a step's width of one, the answer is no: the half-width is
        the greater one.
        """
        if self.sigma_squared > DIRECT_VARIANCE:
            bits = 2 * BITS + 2 * int((h + 1) * (h + 1) / self.sigma_squared)
            return self._outside(h, bits)[1] <= missing * (1 << bits)
        bits = BITS
        while True:
            sums, total = running_sums(self.sigma_squared, bits)
            inside = sums[h] if h < len(sums) else (sums[-1][0], total[1])
            outside = minus((2 * total[0], 2 * total[1]), (2 * inside[0], 2 * inside[1]))
            whole = self._total(bits)
            if outside[1] <= missing * whole[0]:
                return True
            if outside[0] > missing * whole[1]:
                return False
            bits *= 2

    def _outside(self, h: int, bits: int) -> Interval:
        """P(|X| > h) for wide noise, enclosed by the Euler–Maclaurin formula.

        With b = h + 1/2, t = b/σ, e = e^(−t²/2) and Q = ∫_t^∞ e^(−s²/2)ds, the sum over x > h is
        σ·(Q − t·e/(24σ²) ± r), and r ≤ ((t³ + 9t)·e + 12Q)/(384σ⁴): the remainder after the first
        term is the integral of (B₄(1/2) − B₄({x}))/4! times the fourth derivative. The factor is at
        most 1/384, the derivative at x = σs at most (s⁴ + 6s² + 3)·e^(−s²/2)/σ⁴. The sum over all x
        is σ·√(2π).
        """
        square = (h + Fraction(1, 2)) ** 2 / self.sigma_squared
        t = square_root(enclose(square, bits), bits)
        falling = exp_negative(square / 2, bits)
        edge = times(t, falling, bits)
        inside = times(edge, _odd_series(square, bits), bits)
        half = square_root((pi(bits)[0] >> 1, (pi(bits)[1] >> 1) + 1), bits)
        beyond = minus(half, inside)
        correction = over(edge, enclose(24 * self.sigma_squared, bits), bits)
        cubic = times(edge, enclose(square + 9, bits), bits)
        bound = (cubic[1] + 12 * beyond[1]) / (384 * self.sigma_squared**2)
        error = -(-bound.numerator // bound.denominator)
        low, high = minus(beyond, correction)
        return over((max(low - error, 0), high + error), half, bits)


def _odd_series(square: Fraction, bits: int) -> Interval:
    """Σ t^(2n)/(1·3·5···(2n + 1)), which times t·e^(−t²/2) is ∫_0^t e^(−s²/2)ds."""
    factor = enclose(square, bits)
    term = total = (1 << bits, 1 << bits)
    divisor = 1
    while term[1] > 1 or 2 * square > divisor:
        divisor += 2
        low, high = times(term, factor, bits)
        term = low // divisor, -(-high // divisor)
        total = plus(total, term)
    # From here on every term is at most half the one before.
    return total[0], total[1] + term[1]
