"""Changes by cell keys, slow and obvious: chances by nested bisections, keys added row by row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

KEYS = 2**64


def _middle(low: float, high: float, rises: Callable[[float], float]) -> float:
    """Where a rising function is 0."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) > 0 else (middle, high)
    return (low + high) / 2


def likeliest(count: int, deviation: int, variance: float) -> dict[int, float]:
    """Of all chances with the mean 0 and the variance that never go below 0: most entropy.

    They are proportional to exp(a j + b j^2). The mean rises with a; with a such that it is 0, the
    variance rises with b.
    """
    changes = range(-min(count, deviation), deviation + 1)

    def chances(a: float, b: float) -> dict[int, float]:
        powers = {j: a * j + b * j * j for j in changes}
        top = max(powers.values())
        weights = {j: math.exp(power - top) for j, power in powers.items()}
        return {j: weight / sum(weights.values()) for j, weight in weights.items()}

    def moment(found: dict[int, float], power: int) -> float:
        return math.fsum(chance * j**power for j, chance in found.items())

    def balanced(b: float) -> dict[int, float]:
        return chances(_middle(-400.0, 400.0, lambda a: moment(chances(a, b), 1)), b)

    return balanced(_middle(-20.0, 20.0, lambda b: moment(balanced(b), 2) - variance))


def changed(count: int, keys: Iterable[int], shares: Sequence[Sequence[int]]) -> int:
    """A count after its change: the keys of its rows added up, without what is above 64 bits."""
    if not count:
        return 0
    deviation = len(shares) - 1
    left, change = sum(keys) % KEYS, -min(count, deviation)
    for share in shares[min(count, deviation)]:
        if left < share:
            return count + change
        left, change = left - share, change + 1
    raise AssertionError("shares are as many as keys")
