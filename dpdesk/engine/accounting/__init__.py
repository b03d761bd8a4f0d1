"""Accounting of differential privacy: exact sums, conversions, tight numerical composition.

``joint_epsilon``     one (ε, δ) for spending of several kinds, simply
``advanced_epsilon``  advanced composition, in closed form
``zcdp_epsilon``      ρ to (ε, δ)

The modules ``tight`` (the numerical composition) and ``renyi`` load numpy and are imported where
they are used.
"""

from dpdesk.engine.accounting.conversion import (
    advanced_epsilon,
    group_delta,
    joint_epsilon,
    zcdp_epsilon,
)

__all__ = [
    "advanced_epsilon",
    "group_delta",
    "joint_epsilon",
    "zcdp_epsilon",
]
