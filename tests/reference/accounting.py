"""Slow accounting: every outcome of a composition is enumerated, in 60 decimal digits.

Nothing is shared with the program: losses are kept as pairs of P- and Q-masses, and δ(ε) is the
sum of (P − e^ε·Q)₊ over all outcomes, straight from the definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

Pair = tuple[Decimal, Decimal]
DIGITS = 60
REACH = Decimal(130)  # e^-130 of mass is left out at each end


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def discrete_laplace(shift: int, scale: Fraction) -> list[Pair]:
    """P is moved by ``shift``, Q is not: both as they are, outcome by outcome."""
    reach = int(REACH * decimal(scale)) + shift + 2
    fall = (-1 / decimal(scale)).exp()
    norm = (1 - fall) / (1 + fall)
    return [
        (norm * fall ** abs(x - shift), norm * fall ** abs(x))
        for x in range(-reach, reach + shift + 1)
    ]


def discrete_gaussian(shift: int, variance: Fraction) -> list[Pair]:
    spread = decimal(variance)
    reach = int((2 * REACH * spread).sqrt()) + shift + 2
    weights = {x: (-Decimal(x * x) / (2 * spread)).exp() for x in range(-2 * reach, 2 * reach + 1)}
    total = sum(weights.values())
    return [
        (weights[x - shift] / total, weights[x] / total) for x in range(-reach, reach + shift + 1)
    ]


def pure(epsilon: Fraction) -> list[Pair]:
    """Randomised response."""
    likely = 1 / (1 + (-decimal(epsilon)).exp())
    return [(likely, 1 - likely), (1 - likely, likely)]


def several_cells(shifts: Iterable[int], scale: Fraction) -> list[Pair]:
    """Several cells of one table, each moved by its own shift."""
    return product([discrete_laplace(shift, scale) for shift in shifts])


def product(parts: Sequence[list[Pair]]) -> list[Pair]:
    """All outcomes of all parts together; outcomes with the same ratio are put together."""
    found: list[Pair] = [(Decimal(1), Decimal(1))]
    for part in parts:
        found = together([(p * u, q * v) for p, q in found for u, v in part])
    return found


def together(pairs: list[Pair]) -> list[Pair]:
    """Outcomes whose likelihood ratio is the same (to 40 digits) are one."""
    sums: dict[Decimal, list[Decimal]] = {}
    with localcontext() as context:
        context.prec = 40
        for p, q in pairs:
            one = sums.setdefault(+(p / q), [Decimal(0), Decimal(0)])
            one[0] += p
            one[1] += q
    return [(p, q) for p, q in sums.values()]


def delta(parts: Sequence[list[Pair]], epsilon: Fraction) -> Decimal:
    """max over both directions of the sum of (P − e^ε·Q)₊."""
    factor = decimal(epsilon).exp()
    found = product(parts)
    forth = sum((max(Decimal(0), p - factor * q) for p, q in found), Decimal(0))
    back = sum((max(Decimal(0), q - factor * p) for p, q in found), Decimal(0))
    return max(forth, back)
