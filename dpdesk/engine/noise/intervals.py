"""Interval arithmetic on whole numbers, with bounds that hold by construction.

An interval is a pair (low, high) of whole numbers and stands for every real number v with
low ≤ v·2^bits ≤ high. Lower ends are only ever rounded down and upper ends up, so what is computed
encloses the true value, whatever the precision; more bits only make it narrower.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

Interval = tuple[int, int]

# Extra bits that are carried inside a computation, so that its result is narrow.
_GUARD = 32


def enclose(value: Fraction, bits: int) -> Interval:
    """The narrowest interval of ``bits`` bits around a rational number."""
    scaled = value.numerator << bits
    return scaled // value.denominator, -(-scaled // value.denominator)


def times(left: Interval, right: Interval, bits: int) -> Interval:
    """The product of two intervals of numbers ≥ 0."""
    return (left[0] * right[0]) >> bits, -((-left[1] * right[1]) >> bits)


def over(left: Interval, right: Interval, bits: int) -> Interval:
    """The quotient of an interval of numbers ≥ 0 by one of numbers > 0."""
    return (left[0] << bits) // right[1], -((-left[1] << bits) // right[0])


def plus(left: Interval, right: Interval) -> Interval:
    """The sum of two intervals."""
    return left[0] + right[0], left[1] + right[1]


def minus(left: Interval, right: Interval) -> Interval:
    """The difference of two intervals."""
    return left[0] - right[1], left[1] - right[0]


def fewer(interval: Interval, bits: int) -> Interval:
    """The same interval with ``bits`` bits less, rounded outwards."""
    return interval[0] >> bits, -(-interval[1] >> bits)


def inside_unit(interval: Interval, bits: int) -> Interval:
    """What is left when the true value is known to lie strictly between 0 and 1.

    The upper end becomes 2^bits − 1, so the whole part of v·2^n is below 2^n for every n ≤ bits.
    The end itself then no longer bounds v, but the whole part of v·2^bits, which is what is used.
    """
    return max(interval[0], 0), min(interval[1], (1 << bits) - 1)


def exp_negative(x: Fraction, bits: int) -> Interval:
    """e^(−x) for a rational x ≥ 0.

    x is halved until it is at most 1/256, the alternating series is summed there (its remainder is
    smaller than the first term left out), and the result is squared as often as x was halved.
    """
    if x < 0:
        raise ValueError("the exponent must not be positive")
    if x == 0:
        return 1 << bits, 1 << bits
    if x >= bits + 1:  # e^(−x) < 2^(−x) ≤ 2^(−bits−1)
        return 0, 1
    halvings = max(0, (x.numerator // x.denominator + 1).bit_length() + 8)
    work = bits + halvings + _GUARD
    power = _series(enclose(x / (1 << halvings), work), work)
    for _ in range(halvings):
        power = times(power, power, work)
    low, high = fewer(power, work - bits)
    return max(low, 0), min(high, 1 << bits)


def _series(y: Interval, bits: int) -> Interval:
    """e^(−y) for 0 ≤ y ≤ 1/2, by its alternating series."""
    one = 1 << bits
    total: Interval = (one, one)
    term: Interval = (one, one)
    count = 0
    while term[1] > 1:
        count += 1
        low, high = times(term, y, bits)
        term = low // count, -(-high // count)
        total = minus(total, term) if count % 2 else plus(total, term)
    # What is left out has the size of at most the next term, which is at most the last one.
    return total[0] - term[1], total[1] + term[1]


def powers(base: Interval, count: int, bits: int) -> list[Interval]:
    """base^0 … base^(count−1) for a base between 0 and 1."""
    found: list[Interval] = [(1 << bits, 1 << bits)]
    for _ in range(count - 1):
        found.append(times(found[-1], base, bits))
    return found


def square_root(value: Interval, bits: int) -> Interval:
    """The square root of an interval of numbers ≥ 0."""
    from math import isqrt

    high = value[1] << bits
    root = isqrt(high)
    return isqrt(value[0] << bits), root + (root * root != high)


@lru_cache(maxsize=8)
def pi(bits: int) -> Interval:
    """π = 16·arctan(1/5) − 4·arctan(1/239) (Machin)."""
    work = bits + _GUARD
    fifth, small = _arctangent(5, work), _arctangent(239, work)
    return fewer((16 * fifth[0] - 4 * small[1], 16 * fifth[1] - 4 * small[0]), _GUARD)


def _arctangent(inverse: int, bits: int) -> Interval:
    """arctan(1/inverse) for a whole number above 1, by its alternating series."""
    low = high = 0
    count = 1
    while True:
        floor = (1 << bits) // (count * inverse**count)
        if count % 4 == 1:
            low, high = low + floor, high + floor + 1
        else:
            low, high = low - floor - 1, high - floor
        if floor == 0:
            # The rest of an alternating series is smaller than the first term left out, below 1.
            return low - 1, high + 1
        count += 2
