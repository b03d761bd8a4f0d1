"""The kernels that draw values, compiled or loaded before the first real draw waits for them."""

from __future__ import annotations


def warm_kernels() -> None:
    """Draw a few values of nobody, by both rules, and forget them."""
    import numpy as np

    from dpdesk.core.jobs import CancelToken
    from dpdesk.engine.decoys import RULES
    from dpdesk.engine.decoys.kernels import number_kept
    from dpdesk.engine.methods.l_diverted.mechanism import divert
    from dpdesk.engine.noise.randomness import SystemRandomness

    source, token = SystemRandomness(), CancelToken()
    for rule in RULES:
        divert(np.array([0, 1, 2, 0], np.int32), 3, 2, rule, source, token)
    number_kept(np.array([1], np.int64), np.empty(2, np.int64))
