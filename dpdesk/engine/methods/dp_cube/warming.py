"""Making the compiled parts of cubes ready before somebody waits for them."""

from __future__ import annotations

from fractions import Fraction


def warm_kernels() -> None:
    """Plan a tiny cube and draw a few values that nobody sees, so that all is compiled."""
    from dpdesk.core.jobs import CancelToken, silent
    from dpdesk.engine.cubes.planners.bmax import plan_bmax
    from dpdesk.engine.noise.gaussian import DiscreteGaussian
    from dpdesk.engine.noise.laplace import DiscreteLaplace
    from dpdesk.engine.noise.randomness import SystemRandomness
    from dpdesk.engine.private.kinds import Noise

    token, randomness = CancelToken(), SystemRandomness()
    plan_bmax((2, 2), (0, 1, 2, 3), Noise.LAPLACE, token, silent)
    for scale in (Fraction(3), Fraction(1 << 20)):
        DiscreteLaplace(scale).draw(4, randomness, token)
        DiscreteGaussian(scale).draw(4, randomness, token)
