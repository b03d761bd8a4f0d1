"""Finite fields, by their tables of addition and multiplication."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_LARGEST_FIELD = 256
_LARGEST_POWER = 8


@lru_cache(maxsize=1)
def field_orders() -> tuple[int, ...]:
    """Sizes of finite fields up to 256: powers of primes."""
    primes = [n for n in range(2, _LARGEST_FIELD) if all(n % d for d in range(2, n))]
    return tuple(
        sorted(
            prime**power
            for prime in primes
            for power in range(1, _LARGEST_POWER + 1)
            if prime**power <= _LARGEST_FIELD
        )
    )


@lru_cache(maxsize=64)
def field(order: int) -> tuple[Ints, Ints]:
    """The tables of addition and multiplication of a finite field.

    An element is a polynomial over the numbers modulo the prime, its coefficients the digits of
    its number. A polynomial is looked for modulo which the powers of x are all elements but 0.
    """
    prime = next(p for p in range(2, order + 1) if order % p == 0)
    power = 1
    while prime**power < order:
        power += 1
    numbers = np.arange(order)
    digits = np.array([numbers // prime**place % prime for place in range(power)])
    weights = prime ** np.arange(power)
    added = (digits[:, :, None] + digits[:, None, :]) % prime
    add = np.tensordot(weights, added, axes=1)
    for low in product(range(prime), repeat=power):
        if power == 1:
            powers = [pow(low[0], exponent, prime) for exponent in range(order - 1)]
        else:
            powers = _powers_of_x(low, prime, order)
        if len(set(powers)) == order - 1 and 0 not in powers:
            break
    logarithm = np.zeros(order, np.int64)
    logarithm[powers] = np.arange(order - 1)
    times = np.array(powers)[(logarithm[:, None] + logarithm[None, :]) % (order - 1)]
    times[0, :] = times[:, 0] = 0
    return add.astype(np.int64), times.astype(np.int64)


def _powers_of_x(low: Sequence[int], prime: int, order: int) -> list[int]:
    """Numbers of 1, x, x², … where x to the highest power equals the polynomial ``low``."""
    found, current = [], [1] + [0] * (len(low) - 1)
    for _ in range(order - 1):
        found.append(sum(digit * prime**place for place, digit in enumerate(current)))
        carried = current[-1]
        current = [0, *current[:-1]]
        current = [
            (digit + carried * part) % prime for digit, part in zip(current, low, strict=True)
        ]
    return found
