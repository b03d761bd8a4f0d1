"""The fast sampler of discrete Laplace noise is exact: same numbers as the slow one, and proofs.

The enumerations run the real sampler on *every* stream of short words. What they find are exact
probabilities, so they leave no room for a small bias that statistics would miss.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise import DiscreteLaplace
from dpdesk.engine.noise.inversion import InversionTable, Thresholds, Uniform, whole_part
from dpdesk.engine.noise.laplace_sampler import (
    DigitThresholds,
    LaplaceLayout,
    LaplaceSampler,
    QuotientThresholds,
)
from tests.helpers.known_bits import ListedBits, SeededBits, enumerate_streams
from tests.reference import noise as reference

ONES = (1 << 64) - 1

SMALL = [
    pytest.param(Fraction(1), LaplaceLayout(1, 3, ()), 5, 3, id="one table"),
    pytest.param(Fraction(7, 3), LaplaceLayout(1, 1, ()), 4, 4, id="mostly tail"),
    pytest.param(Fraction(1, 5), LaplaceLayout(1, 2, ()), 5, 3, id="mostly zero"),
    pytest.param(Fraction(1, 40), LaplaceLayout(1, 1, ()), 4, 5, id="thresholds that cut alike"),
    pytest.param(Fraction(3), LaplaceLayout(2, 2, ((1, 2),)), 4, 4, id="a binary digit"),
    pytest.param(Fraction(9, 2), LaplaceLayout(6, 1, ((1, 6),)), 4, 4, id="a digit of base 6"),
    pytest.param(Fraction(5), LaplaceLayout(4, 2, ((2, 2), (1, 2))), 3, 5, id="two digits"),
]


@pytest.mark.parametrize(("scale", "layout", "word_bits", "depth"), SMALL)
def test_every_stream_of_short_words_together_gives_the_exact_probabilities(
    scale: Fraction, layout: LaplaceLayout, word_bits: int, depth: int
) -> None:
    sampler = LaplaceSampler(scale, layout, word_bits)

    def draw(source: ListedBits) -> int:
        return int(sampler.draw(1, source, CancelToken())[0])

    shares, undecided = enumerate_streams(draw, word_bits, depth)
    assert sum(shares.values()) + undecided == 1
    assert undecided < Fraction(1, 4)
    for value in range(min(shares) - 2, max(shares) + 3):
        low, high = reference.laplace_probability(value, scale)
        share = shares.get(value, Fraction(0))
        assert share < high, value
        assert low < share + undecided, value
    assert shares.keys() >= {-2, -1, 0, 1, 2} or scale < 1


def test_values_behind_a_short_table_are_as_likely_as_they_should_be() -> None:
    # Ratio 0.7 and a table of 5: redrawing where zero is counted once would give 0.0349.
    scale = Fraction(28036732520571, 10**13)
    sampler = LaplaceSampler(scale, LaplaceLayout(1, 5, ()), 6)
    shares, undecided = enumerate_streams(
        lambda source: int(sampler.draw(1, source, CancelToken())[0]), 6, 3
    )
    five = shares[5] + shares[-5]
    assert undecided < Fraction(1, 60)
    assert five <= Fraction("0.05934") < five + undecided
    low, high = DiscreteLaplace(scale).probability(-5)
    assert Fraction("0.05931") < 2 * low < 2 * high < Fraction("0.05933")


layouts = st.sampled_from(
    [
        LaplaceLayout(1, 1, ()),
        LaplaceLayout(1, 7, ()),
        LaplaceLayout(2, 4, ((1, 2),)),
        LaplaceLayout(24, 3, ((4, 6), (1, 4))),
        LaplaceLayout(1024, 5, ((64, 16), (8, 8), (1, 8))),
    ]
)
scales = st.one_of(
    st.fractions(Fraction(1, 60), 100, max_denominator=60),
    st.integers(1, 10**12).map(Fraction),
)


def same_as_bit_by_bit(sampler: LaplaceSampler, n: int, stream: list[int]) -> list[int]:
    """Draw from a stream in both ways; both must also use up the same words."""
    source = ListedBits(stream)
    drawn = sampler.draw(n, source, CancelToken()).tolist()
    words = iter(stream)
    layout = (sampler.layout.divisor, sampler.layout.levels, sampler.layout.digits)
    expected = reference.draw_laplace(n, sampler.scale, layout, words.__next__)
    assert drawn == expected
    assert len(list(words)) == len(stream) - source.taken
    return drawn


@given(scale=scales, layout=layouts, seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_random_streams_give_the_numbers_of_the_bit_by_bit_sampler(
    scale: Fraction, layout: LaplaceLayout, seed: int
) -> None:
    n = 12
    # Many tails need many words: scales that the layout was never meant for may run out.
    if scale > 40 * layout.divisor * layout.levels:
        scale = Fraction(layout.divisor)
    stream = SeededBits(seed).words(5_000).tolist()
    same_as_bit_by_bit(LaplaceSampler(scale, layout), n, stream)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(20), Fraction(100)])
def test_the_layouts_of_the_program_give_the_numbers_of_the_bit_by_bit_sampler(
    scale: Fraction,
) -> None:
    stream = SeededBits(5).words(1_000).tolist()
    same_as_bit_by_bit(DiscreteLaplace(scale).sampler, 300, stream)


def bits_of(part: Thresholds, index: int, words: int) -> list[int]:
    """The first words of a cumulative probability."""
    whole = whole_part(lambda bits: part.one(index, bits), 64 * words)
    return [(whole >> 64 * place) & ONES for place in range(words - 1, -1, -1)]


@given(
    scale=st.fractions(Fraction(1, 4), 20, max_denominator=12),
    index=st.integers(0, 7),
    words=st.integers(1, 9),
    step=st.sampled_from([-1, 1]),
    seed=st.integers(0, 1000),
)
@example(scale=Fraction(1), index=0, words=6, step=1, seed=0)
@settings(max_examples=40, deadline=None)
def test_ties_with_a_threshold_are_decided_by_the_first_bits_that_differ(
    scale: Fraction, index: int, words: int, step: int, seed: int
) -> None:
    sampler = LaplaceSampler(scale, LaplaceLayout(2, 4, ((1, 2),)))
    agreeing = bits_of(sampler.tables[0].thresholds, index, words + 1)
    differing = agreeing[-1] + step if 0 < agreeing[-1] < ONES else agreeing[-1]
    rest = SeededBits(seed).words(60).tolist()
    digit = rest.pop()
    stream = [*agreeing[:-1], differing, digit, *rest]
    (drawn,) = same_as_bit_by_bit(sampler, 1, stream)
    quotient, sign = divmod(index if step < 0 else index + 1, 2)
    if index + 1 < 8 or step < 0:
        magnitude = drawn if drawn >= 0 else -1 - drawn
        assert (magnitude // 2, drawn < 0) == (quotient, bool(sign))


@pytest.mark.parametrize("scale", [Fraction(1, 20), Fraction(1), Fraction(6)])
@pytest.mark.parametrize(
    "start", [[ONES] * 9, [0] * 9, [ONES - 1] * 9, [ONES, 0] * 5, [0, ONES] * 5]
)
def test_streams_of_only_ones_or_zeros_are_followed_to_the_bit(
    scale: Fraction, start: list[int]
) -> None:
    stream = start + SeededBits(3).words(400).tolist()
    for layout in (LaplaceLayout(1, 2, ()), LaplaceLayout(4, 2, ((2, 2), (1, 2)))):
        same_as_bit_by_bit(LaplaceSampler(scale, layout), 3, stream)


def test_ones_for_longer_than_a_tiny_scale_is_likely_to_give_zero_leave_zero() -> None:
    # e^(−100) is about 2^(−144): three words of ones decide, two do not.
    sampler = LaplaceSampler(Fraction(1, 100), LaplaceLayout(1, 1, ()))
    assert same_as_bit_by_bit(sampler, 1, [ONES, ONES, 0, 0]) == [0]
    assert same_as_bit_by_bit(sampler, 1, [ONES, ONES, ONES, 0]) != [0]


@pytest.mark.parametrize(
    "part",
    [
        QuotientThresholds(Fraction(1), 1, 16),
        QuotientThresholds(Fraction(10**9), 1 << 24, 954),
        QuotientThresholds(Fraction(1, 10**4), 1, 1),
        DigitThresholds(Fraction(10**9), 1, 256),
        DigitThresholds(Fraction(1000), 16, 32),
        DigitThresholds(Fraction(2**48), 1, 512),
    ],
    ids=str,
)
def test_cuts_are_the_whole_parts_of_the_true_thresholds(part: Thresholds) -> None:
    cuts = InversionTable(part).cuts
    if isinstance(part, QuotientThresholds):
        sums = reference.quotient_sums(part.scale, part.divisor, part.levels)
    else:
        assert isinstance(part, DigitThresholds)
        sums = reference.digit_sums(part.scale, part.weight, part.base)
    assert len(cuts) == part.count == len(sums)
    for cut, (low, high) in zip(cuts, sums, strict=True):
        highest = min(int(high * 2**64), ONES)  # where p^m vanishes behind the reference's bits
        assert int(low * 2**64) <= cut <= highest
        assert int(low * 2**64) == highest


def test_a_uniform_number_draws_no_word_that_the_comparison_does_not_need() -> None:
    third = Fraction(1, 3)

    def enclosure(bits: int) -> tuple[int, int]:
        low = (third.numerator << bits) // third.denominator
        return low, low + 1

    drawn: list[int] = []

    def more() -> int:
        drawn.append(0)
        return 0

    assert Uniform(0x5555555555555554, 64, more).below(enclosure)
    assert not Uniform(0x5555555555555556, 64, more).below(enclosure)
    assert drawn == []
    assert Uniform(0x5555555555555555, 64, more).below(enclosure)
    assert drawn == [0]
