"""With which chances a value is released as which: exact, in whole parts of a whole number.

Source: Warner 1965 for two categories, the k-ary form by the course text: the true category with
e^ε/(e^ε + k − 1), each other one with 1/(e^ε + k − 1). These are irrational, so the drawn chances
are the nearest that cost no more: each other category has ⌈2^52/(e^ε + k − 1)⌉ parts of 2^52, the
true one what is left. Rounding up there makes the largest ratio smaller, never larger than e^ε.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.decoys.partition import PIECE, uniform
from dpdesk.engine.methods.randomised_response.parameters import Matrix

if TYPE_CHECKING:
    from dpdesk.engine.noise.randomness import RandomSource

Floats = NDArray[np.float64]
PARTS = 1 << 52
"""The whole of which shares of k-ary randomised response are parts: exact in any JSON reader."""
MOST_PARTS = 10**15
MOST_CATEGORIES, MOST_OF_MATRIX = 10_000, 64
_LARGEST = 40
"""An ε above which e^ε exceeds the whole, so that other categories have one part each."""
_DIGITS = 80


def power_of_e(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Two numbers between which e^exponent lies, for an exponent from 0 to 100."""
    with localcontext() as context:
        context.prec = _DIGITS
        given = Decimal(exponent.numerator) / Decimal(exponent.denominator)
        slip = Fraction(1, 10 ** (_DIGITS - 10))
        found = Fraction(given.exp())  # correctly rounded; the exponent itself is off by a slip
    return found * (1 - slip), found * (1 + slip)


@dataclass(frozen=True)
class Chances:
    """The chances of a column: ``parts[x][y]`` of ``whole`` that x is released as y.

    Of k-ary randomised response (``matrix`` None) two numbers say it all: ``stay`` and ``move``.
    """

    categories: int
    whole: int
    stay: int = 0
    move: int = 0
    matrix: Matrix | None = field(default=None, repr=False)

    @classmethod
    def k_ary(cls, categories: int, epsilon: Fraction) -> Chances:
        """Those of the least error at this ε; ValueError where it is too small to be drawn."""
        low, _ = power_of_e(min(epsilon, Fraction(_LARGEST)))
        share = PARTS / (low + categories - 1)
        move = -(-share.numerator // share.denominator)
        stay = PARTS - (categories - 1) * move
        if stay <= move:
            raise ValueError("ε is too small for chances of so many categories")
        return cls(categories, PARTS, stay, move)

    @classmethod
    def of(cls, matrix: Matrix) -> Chances:
        """Those of a matrix whose rows add up to 1."""
        whole = lcm(*(each.denominator for row in matrix for each in row))
        return cls(len(matrix), whole, matrix=matrix)

    def parts(self, true: int) -> NDArray[np.uint64]:
        """Of how many parts each category is released where this one is true."""
        if self.matrix is not None:
            return np.array([int(each * self.whole) for each in self.matrix[true]], np.uint64)
        found = np.full(self.categories, self.move, np.uint64)
        found[true] = self.stay
        return found

    def draw(
        self, codes: NDArray[np.int32], source: RandomSource, token: CancelToken
    ) -> NDArray[np.int32]:
        """A released category for each true one, each drawn by itself. Raises Cancelled."""
        found = np.empty(len(codes), np.int32)
        for start in range(0, len(codes), PIECE):
            token.check()
            true = codes[start : start + PIECE]
            lots = uniform(self.whole, len(true), source)
            found[start : start + PIECE] = self._drawn(true, lots)
            lots.fill(0)
        return found

    def _drawn(self, true: NDArray[np.int32], lots: NDArray[np.uint64]) -> NDArray[np.int32]:
        if self.matrix is not None:
            found = np.empty(len(true), np.int32)
            for value in range(self.categories):
                mine = true == value
                ends = np.cumsum(self.parts(value))
                found[mine] = np.searchsorted(ends, lots[mine], side="right")
            return found
        moved = lots >= np.uint64(self.stay)
        lots = np.where(moved, lots - np.uint64(self.stay), np.uint64(0))
        other = (lots // np.uint64(self.move)).astype(np.int32)
        return np.where(moved, other + (other >= true), true).astype(np.int32)


def largest_ratio(matrix: Matrix) -> Fraction | None:
    """By how much the chance of a released category differs at most; None: without bound."""
    largest = Fraction(1)
    for column in zip(*matrix, strict=True):
        if not any(column):
            continue
        if not all(column):
            return None
        largest = max(largest, max(column) / min(column))
    return largest


def inverse(matrix: Matrix) -> Matrix | None:
    """The inverse, exactly; None where there is none."""
    size = len(matrix)
    rows = [
        [*row, *(Fraction(place == other) for other in range(size))]
        for place, row in enumerate(matrix)
    ]
    for place in range(size):
        pivot = next((at for at in range(place, size) if rows[at][place]), None)
        if pivot is None:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        first = rows[place][place]
        rows[place] = [each / first for each in rows[place]]
        for other in range(size):
            factor = rows[other][place]
            if other != place and factor:
                rows[other] = [
                    a - factor * b for a, b in zip(rows[other], rows[place], strict=True)
                ]
    return tuple(tuple(row[size:]) for row in rows)


def weights(chances: Chances, wanted: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """What each released category counts in an unbiased estimate of the rows of wanted ones.

    With the second moment of that for each true category. Source: the inverse of the matrix of
    chances applied to the indicator; for k-ary response (1[y wanted] − w·q)/(p − q), w wanted
    categories, p and q the chances to stay and to move to one other.
    """
    if chances.matrix is None:
        whole = float(chances.whole)
        p, q = chances.stay / whole, chances.move / whole
        many = int(wanted.sum())
        gap = (chances.stay - chances.move) / whole
        found: Floats = (wanted.astype(np.float64) - many * q) / gap
        inside, outside = (1 - many * q) / gap, -many * q / gap
        chance = np.where(wanted, p + (many - 1) * q, many * q)
        second: Floats = chance * inside**2 + (1 - chance) * outside**2
        return found, second
    inverted = inverse(chances.matrix)
    if inverted is None:
        raise ValueError("the matrix of chances has no inverse")
    chosen = np.flatnonzero(wanted).tolist()
    found = np.array([float(sum(row[place] for place in chosen)) for row in inverted])
    table = np.array([[float(each) for each in row] for row in chances.matrix])
    moments: Floats = table @ found**2
    return found, moments


def stated(chances: Mapping[str, Chances]) -> list[dict[str, object]]:
    """The chances as a result states them; those of a matrix stand among the settings."""
    return [
        {
            "column": name,
            "whole": each.whole,
            **({} if each.matrix is not None else {"stay": each.stay, "move": each.move}),
        }
        for name, each in chances.items()
    ]
