"""Noise the slow, obvious way: probabilities as fractions, uniform numbers bit by bit.

Shares no line with the program. e^x comes from its power series with positive terms, on fractions;
a value is found by halving the unit interval, one fair bit at a time, until what is left lies
between two cumulative probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import count

Bounds = tuple[Fraction, Fraction]

PRECISION = 800
"""Bits to which bounds are kept; a uniform number that needs more fails an assertion."""


def outward(low: Fraction, high: Fraction, bits: int = PRECISION) -> Bounds:
    """The same bounds on a grid, so that fractions stay short."""
    grid = 1 << bits
    return Fraction(low * grid // 1, grid), Fraction(-(-high * grid // 1), grid)


@lru_cache(maxsize=100_000)
def exp_minus(x: Fraction) -> Bounds:
    """Bounds of e^(−x), x ≥ 0: 1/e^(x) by pieces of at most 1, each by its power series."""
    if x == 0:
        return Fraction(1), Fraction(1)
    pieces = max(1, -(-x.numerator // x.denominator))
    piece = x / pieces
    term = total = Fraction(1)
    for k in count(1):
        term = term * piece / k
        term = Fraction(term.numerator * (1 << 1000) // term.denominator, 1 << 1000)
        total += term
        if term < Fraction(1, 1 << 990):
            break
    # k terms were cut down by less than 2^-1000 each (and that shrinks on); the rest of the series
    # is below twice its first term.
    low, high = 1 / (total + Fraction(4 * k + 8, 1 << 990)), 1 / total
    return outward(*raised((low, high), pieces))


def raised(bounds: Bounds, power: int) -> Bounds:
    """Bounds of a positive number raised to a whole power."""
    low = high = Fraction(1)
    base = outward(*bounds, 950)
    while power:
        if power & 1:
            low, high = outward(low * base[0], high * base[1], 950)
        base = outward(base[0] ** 2, base[1] ** 2, 950)
        power >>= 1
    return low, high


def laplace_probability(x: int, scale: Fraction) -> Bounds:
    """Bounds of P(X = x) of the discrete Laplace distribution, from its definition."""
    p, far = exp_minus(1 / scale), exp_minus(abs(x) / scale)
    return outward((1 - p[1]) / (1 + p[1]) * far[0], (1 - p[0]) / (1 + p[0]) * far[1])


def gaussian_probabilities(variance: Fraction, reach: int) -> dict[int, Bounds]:
    """Bounds of P(X = x) for |x| ≤ reach, from the definition: e^(−x²/2σ²) over the sum of all."""
    weights = {x: exp_minus(Fraction(x * x) / (2 * variance)) for x in range(reach + 1)}
    x, low, high = reach, Fraction(0), Fraction(0)
    total_low = 2 * sum(w[0] for w in weights.values()) - weights[0][0]
    total_high = 2 * sum(w[1] for w in weights.values()) - weights[0][1]
    while True:
        x += 1
        low, high = exp_minus(Fraction(x * x) / (2 * variance))
        total_low, total_high = total_low + 2 * low, total_high + 2 * high
        if high < Fraction(1, 1 << (PRECISION - 8)):
            # Further terms fall at least as fast as e^(−1/2σ²·(2x + 1)) each.
            ratio = exp_minus(Fraction(2 * x + 1) / (2 * variance))[1]
            total_high += 2 * high / (1 - ratio)
            break
    return {
        x: outward(weights[abs(x)][0] / total_high, weights[abs(x)][1] / total_low)
        for x in range(-reach, reach + 1)
    }


class BitReader:
    """Bits of a stream of words, highest first; ``drop`` leaves the rest of a word unread."""

    def __init__(self, word: int, word_bits: int, more: Callable[[], int]) -> None:
        self._word_bits = word_bits
        self._more = more
        self._bits = self._digits(word)

    def _digits(self, word: int) -> Iterator[int]:
        return iter([(word >> place) & 1 for place in range(self._word_bits - 1, -1, -1)])

    def bit(self) -> int:
        found = next(self._bits, None)
        if found is None:
            self._bits = self._digits(self._more())
            found = next(self._bits)
        return found


def invert(cumulative: Callable[[int], Bounds | None], reader: BitReader) -> int:
    """The index whose interval of cumulative probability holds a uniform number, bit by bit.

    ``cumulative(j)`` bounds F_j; None means that the index j takes all the rest.
    """
    low, width, index = Fraction(0), Fraction(1), 0
    while True:
        bounds = cumulative(index)
        if bounds is None or low + width <= bounds[0]:
            return index
        if low >= bounds[1]:
            index += 1
            continue
        assert width > Fraction(1, 1 << (PRECISION - 16)), "the reference is not precise enough"
        width /= 2
        low += width * reader.bit()


def summed(parts: Sequence[Bounds]) -> list[Bounds]:
    """Running sums of bounds."""
    low = high = Fraction(0)
    found = []
    for part in parts:
        low, high = low + part[0], high + part[1]
        found.append((low, high))
    return found


def quotient_sums(scale: Fraction, divisor: int, levels: int) -> list[Bounds]:
    """F_j of (quotient, sign) in the order (0,+), (0,−), (1,+), …: masses of blocks of values.

    The block of q holds the values m·q … m·q + m − 1, or mirrored −1 − m·q … −m − m·q. Small blocks
    are summed value by value, large ones as P(first value)·(1 − p^m)/(1 − p).
    """
    block = block_by_values if divisor <= 4 else block_by_series
    masses = []
    for q in range(levels):
        masses += [
            block(divisor * q, 1, divisor, scale),
            block(-1 - divisor * q, -1, divisor, scale),
        ]
    return summed(masses)


def block_by_values(first: int, step: int, size: int, scale: Fraction) -> Bounds:
    """The mass of ``size`` values from ``first`` outwards, added up."""
    masses = [laplace_probability(first + step * i, scale) for i in range(size)]
    return sum((m[0] for m in masses), Fraction(0)), sum((m[1] for m in masses), Fraction(0))


def block_by_series(first: int, step: int, size: int, scale: Fraction) -> Bounds:
    """The same by the sum of a geometric series."""
    mass, p, end = laplace_probability(first, scale), exp_minus(1 / scale), exp_minus(size / scale)
    return outward(mass[0] * (1 - end[1]) / (1 - p[0]), mass[1] * (1 - end[0]) / (1 - p[1]))


def digit_sums(scale: Fraction, weight: int, base: int) -> list[Bounds]:
    """F_d of a digit with P(d) ∝ e^(−d·weight/scale), without the last."""
    weights = [exp_minus(Fraction(d * weight) / scale) for d in range(base)]
    low, high = sum(w[0] for w in weights), sum(w[1] for w in weights)
    return summed([outward(w[0] / high, w[1] / low) for w in weights])[:-1]


def draw_laplace(
    n: int,
    scale: Fraction,
    layout: tuple[int, int, Sequence[tuple[int, int]]],
    words: Callable[[], int],
    word_bits: int = 64,
) -> list[int]:
    """``n`` values (at most one chunk) from a stream, in the order of words that is documented."""
    divisor, levels, digits = layout
    outer = quotient_sums(scale, divisor, levels)
    tables = [digit_sums(scale, *digit) for digit in digits]

    def among(sums: list[Bounds]) -> Callable[[int], Bounds | None]:
        return lambda index: sums[index] if index < len(sums) else None

    signs, magnitudes = [], []
    for word in [words() for _ in range(n)]:
        behind = 0
        index = invert(among(outer), BitReader(word, word_bits, words))
        while index == len(outer):
            behind += levels
            index = invert(among(outer), BitReader(words(), word_bits, words))
        signs.append(index % 2)
        magnitudes.append(divisor * (behind + index // 2))
    for sums, (weight, _) in zip(tables, digits, strict=True):
        for place, word in enumerate([words() for _ in range(n)]):
            digit = invert(among(sums), BitReader(word, word_bits, words))
            magnitudes[place] += weight * digit
    return [-1 - m if sign else m for sign, m in zip(signs, magnitudes, strict=True)]


def draw_gaussian(
    n: int,
    variance: Fraction,
    layout: tuple[int, int],
    words: Callable[[], int],
    word_bits: int = 64,
) -> list[int]:
    """``n`` values (at most one chunk) from a stream, in the order of words that is documented."""
    block_bits, _ = layout
    narrow = variance / 4**block_bits
    reach = next(r for r in count(1) if r * r > 2 * narrow * 620)
    masses = gaussian_probabilities(narrow, reach)
    if not block_bits:
        order = [0, *(sign * k for k in range(1, reach + 1) for sign in (-1, 1))]
        sums = summed([masses[x] for x in order])
        return [order[invert(sums.__getitem__, BitReader(words_, word_bits, words))]
                for words_ in [words() for _ in range(n)]]  # fmt: skip
    halves = [
        outward(masses[k][0] / (1 + masses[0][1]), masses[k][1] / (1 + masses[0][0]))
        for k in range(reach + 1)
        for _ in range(2)
    ]
    sums, found = summed(halves), []
    while len(found) < n:
        found += one_round(n - len(found), variance, block_bits, sums, words, word_bits)
    return found


def one_round(
    n: int,
    variance: Fraction,
    block_bits: int,
    sums: list[Bounds],
    words: Callable[[], int],
    word_bits: int,
) -> list[int]:
    """Propose ``n`` values by blocks; those that are kept."""
    first = [words() for _ in range(n)]
    blocks = [invert(sums.__getitem__, BitReader(word, word_bits, words)) for word in first]
    places = [words() >> (word_bits - block_bits) for _ in range(n)]
    found = []
    for index, place, word in zip(blocks, places, [words() for _ in range(n)], strict=True):
        start = (index // 2) * 2**block_bits
        value = start + place
        if index % 2 and value == 0:
            continue
        limit = exp_minus(Fraction(value**2 - start**2) / (2 * variance))
        among = [limit, None]
        if invert(among.__getitem__, BitReader(word, word_bits, words)) == 0:
            found.append(-value if index % 2 else value)
    return found
