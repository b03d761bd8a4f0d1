"""Private choices, slowly and obviously: utilities row by row, chances by powers of e."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 80


def rank_utility(rows: Sequence[int], candidate: int, q: Fraction) -> Fraction:
    """Minus how many rows more would have to lie below a candidate, or up to it, for it to be a
    q-quantile of the rows.
    """
    below = sum(row < candidate for row in rows)
    upto = sum(row <= candidate for row in rows)
    goal = q * len(rows)
    return -max(Fraction(0), below - goal, goal - upto)


def utilities(rows: Sequence[int], candidates: int, q: Fraction | None) -> list[Fraction]:
    """Of each candidate; without ``q`` how many rows hold it."""
    if q is None:
        return [Fraction(sum(row == one for row in rows)) for one in range(candidates)]
    return [rank_utility(rows, one, q) for one in range(candidates)]


def chances(scores: Sequence[Fraction], rate: Fraction) -> list[Decimal]:
    """The probabilities of the exponential mechanism, to many digits."""
    with localcontext() as context:
        context.prec = DIGITS
        exact = [rate * (score - max(scores)) for score in scores]
        weights = [(Decimal(x.numerator) / Decimal(x.denominator)).exp() for x in exact]
        total = sum(weights, Decimal(0))
        return [weight / total for weight in weights]


def width(before: Sequence[Fraction], after: Sequence[Fraction]) -> Fraction:
    """By how much the difference of two candidates' utilities changes, at most."""
    changes = [new - old for old, new in zip(before, after, strict=True)]
    return max(changes) - min(changes)
