"""Exact integer noise from a cryptographic source of randomness."""

from __future__ import annotations

from dpdesk.engine.noise.gaussian import DiscreteGaussian
from dpdesk.engine.noise.laplace import DiscreteLaplace
from dpdesk.engine.noise.randomness import RandomSource, SystemRandomness

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "RandomSource", "SystemRandomness"]
