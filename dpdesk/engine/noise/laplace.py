"""The discrete Laplace distribution: P(x) = (1 − p)/(1 + p)·p^|x| with p = exp(−1/scale).

Added to a count of sensitivity 1 with scale 1/ε it is ε-differentially private (the two-sided
geometric mechanism of Ghosh, Roughgarden and Sundararajan, 2009): P(x)/P(x ± 1) never exceeds e^ε.
``resources/docs/noise.md`` gives the whole argument.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.engine.noise.discrete import DiscreteNoise
from dpdesk.engine.noise.intervals import exp_negative, minus, over, plus, times
from dpdesk.engine.noise.inversion import BITS
from dpdesk.engine.noise.laplace_sampler import LaplaceLayout, LaplaceSampler
from dpdesk.engine.noise.levels import Probability, shown

MAX_SCALE = 1 << 48
"""The greatest scale: noise reaches 2^62 with a probability below e^(−16000) then."""


@dataclass(frozen=True)
class DiscreteLaplace(DiscreteNoise):
    """Integer noise with P(x) ∝ exp(−|x|/scale), drawn exactly.

    Raises
    ------
    InputError
        ``noise.scale`` for a scale that is not above 0 or exceeds :data:`MAX_SCALE`.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", Fraction(self.scale))
        if not 0 < self.scale <= MAX_SCALE:
            raise InputError(
                "noise.scale",
                msg(
                    "The noise scale must be above 0 and at most 2^48, not {shown}.",
                    shown=shown(self.scale),
                ),
                hint="Spend more of the budget, or count in larger units.",
            )

    @cached_property
    def sampler(self) -> LaplaceSampler:
        """The tables that values are drawn with; made at the first draw."""
        return LaplaceSampler(self.scale, LaplaceLayout.of(self.scale))

    @cached_property
    def variance(self) -> float:
        """2p/(1 − p)², the variance of the discrete distribution, correctly rounded.

        It lies below 2·scale² by about 1/6; for small scales the two have little in common.
        """
        if self.scale < Fraction(1, 1000):
            return 0.0  # 2e^(−1000) is below the smallest positive float
        bits = BITS + 4 * int(self.scale).bit_length() + 3 * int(1 / self.scale)
        while True:
            one, p = (1 << bits, 1 << bits), exp_negative(1 / self.scale, bits)
            rest = minus(one, p)
            low, high = over(plus(p, p), times(rest, rest, bits), bits)
            found = float(Fraction(low, 1 << bits))
            if found == float(Fraction(high, 1 << bits)):
                return found
            bits *= 2

    def _covers(self, h: int, missing: Fraction) -> bool:
        """Whether 2p^(h+1) ≤ missing·(1 + p), which never holds with equality: decided exactly.

        For P(|X| ≤ h) = 1 − 2p^(h+1)/(1 + p).
        """
        bits = BITS
        while True:
            tail = exp_negative((h + 1) / self.scale, bits)
            p = exp_negative(1 / self.scale, bits)
            one = 1 << bits
            left, right = plus(tail, tail), plus((one, one), p)
            if left[1] <= missing * right[0]:
                return True
            if left[0] > missing * right[1]:
                return False
            bits *= 2

    def probability(self, x: int) -> Probability:
        """Rational bounds of P(X = x), which differ by less than a share of 2^−200.

        Values so far out that they are less likely than 2^−100000 may have 0 as lower bound.
        """
        reach = (abs(x) + 1) / self.scale
        bits = BITS + 2 * int(self.scale).bit_length() + min(int(2 * reach), 100_000)
        one, p = (1 << bits, 1 << bits), exp_negative(1 / self.scale, bits)
        share = over(minus(one, p), plus(one, p), bits)
        low, high = times(share, exp_negative(abs(x) / self.scale, bits), bits)
        return Fraction(max(low, 0), 1 << bits), Fraction(high, 1 << bits)
