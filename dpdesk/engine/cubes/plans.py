"""What noise a cube gets: decided from the domain and the budget alone, never from data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.engine.private.kinds import Noise


@dataclass(frozen=True)
class NoiseSource:
    """One noisy measurement: a whole cuboid, or only its residual.

    ``share`` is the part of the budget that it costs, as an exact fraction of the whole (the
    shares of a plan sum to at most 1). With ``residual`` the noise goes to the cuboid minus what
    smaller cuboids say, which costs less: a person moves that vector by sqrt(prod(1 - 1/n_i)) in
    L2, where the whole cuboid moves by 1. Residual sources are for Gaussian noise alone.
    """

    cuboid: int
    share: Fraction
    residual: bool = False


@dataclass(frozen=True)
class CubePlan:
    """Noise sources L_pre for published cuboids L on a domain of this shape.

    ``shape`` holds the cardinalities n_i; ``published`` and the sources' ``cuboid`` are bit masks
    (see :mod:`~dpdesk.engine.cubes.lattice`). ``proven`` says whether the planner's goal is
    reached provably (up to the stated tolerance of the planner). ``exact`` are cuboids released
    without noise, whose residuals are known.
    """

    shape: tuple[int, ...]
    published: tuple[int, ...]
    noise: Noise
    sources: tuple[NoiseSource, ...]
    proven: bool = False
    note: str = ""
    exact: tuple[int, ...] = ()

    @property
    def spent(self) -> Fraction:
        """Sum of the shares; never above 1."""
        return sum((source.share for source in self.sources), Fraction(0))


def equal_shares(cuboids: Sequence[int]) -> tuple[NoiseSource, ...]:
    """Each of these cuboids as a noise source with the same share of the budget."""
    share = Fraction(1, len(cuboids))
    return tuple(NoiseSource(cuboid, share) for cuboid in cuboids)
