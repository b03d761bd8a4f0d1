"""The fast sampler of discrete Gaussian noise is exact: same numbers as the slow one, and proofs.

The enumerations run the real sampler on *every* stream of short words. What they find are exact
probabilities, so they leave no room for a small bias that statistics would miss.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise.gaussian import (
    GaussianLayout,
    GaussianSampler,
    GaussianThresholds,
)
from dpdesk.engine.noise.intervals import exp_negative
from dpdesk.engine.noise.inversion import InversionTable, whole_part
from dpdesk.engine.noise.kernels import keep
from tests.helpers.known_bits import ListedBits, SeededBits, enumerate_streams
from tests.reference import noise as reference

ONES = (1 << 64) - 1

SMALL = [
    pytest.param(Fraction(1), GaussianLayout(0, 3), 6, 3, id="one table"),
    pytest.param(Fraction(5), GaussianLayout(0, 1), 5, 3, id="mostly behind the table"),
    pytest.param(Fraction(1, 9), GaussianLayout(0, 1), 5, 3, id="mostly zero"),
    pytest.param(Fraction(6), GaussianLayout(1, 3), 4, 4, id="blocks of 2"),
    pytest.param(Fraction(20), GaussianLayout(2, 1), 4, 4, id="blocks of 4, short table"),
    pytest.param(Fraction(1, 2), GaussianLayout(1, 2), 4, 4, id="blocks, little is kept"),
]


@pytest.mark.parametrize(("variance", "layout", "word_bits", "depth"), SMALL)
def test_every_stream_of_short_words_together_gives_the_exact_probabilities(
    variance: Fraction, layout: GaussianLayout, word_bits: int, depth: int
) -> None:
    sampler = GaussianSampler(variance, layout, word_bits)

    def draw(source: ListedBits) -> int:
        return int(sampler.draw(1, source, CancelToken())[0])

    shares, undecided = enumerate_streams(draw, word_bits, depth)
    assert sum(shares.values()) + undecided == 1
    assert undecided < Fraction(3, 5)
    true = reference.gaussian_probabilities(variance, max(map(abs, shares)) + 3)
    for value, (low, high) in true.items():
        share = shares.get(value, Fraction(0))
        assert share < high, value
        assert low < share + undecided, value


def same_as_bit_by_bit(sampler: GaussianSampler, n: int, stream: list[int]) -> list[int]:
    """Draw from a stream in both ways; both must also use up the same words."""
    source = ListedBits(stream)
    drawn = sampler.draw(n, source, CancelToken()).tolist()
    words = iter(stream)
    layout = (sampler.layout.block_bits, sampler.layout.levels)
    assert drawn == reference.draw_gaussian(n, sampler.variance, layout, words.__next__)
    assert len(list(words)) == len(stream) - source.taken
    return drawn


@given(
    narrow=st.fractions(Fraction(1, 10), 8, max_denominator=10),
    layout=st.builds(GaussianLayout, st.integers(0, 3), st.integers(1, 9)),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=30, deadline=None)
def test_random_streams_give_the_numbers_of_the_bit_by_bit_sampler(
    narrow: Fraction, layout: GaussianLayout, seed: int
) -> None:
    sampler = GaussianSampler(narrow * 4**layout.block_bits, layout)
    same_as_bit_by_bit(sampler, 12, SeededBits(seed).words(2_000).tolist())


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(1), Fraction(200)])
def test_the_layouts_of_the_program_give_the_numbers_of_the_bit_by_bit_sampler(
    variance: Fraction,
) -> None:
    sampler = GaussianSampler(variance, GaussianLayout.of(variance))
    same_as_bit_by_bit(sampler, 200, SeededBits(6).words(700).tolist())


@given(
    index=st.integers(0, 12),
    block_bits=st.integers(0, 1),
    words=st.integers(1, 9),
    step=st.sampled_from([-1, 1]),
)
@settings(max_examples=40, deadline=None)
def test_ties_with_a_threshold_are_decided_by_the_first_bits_that_differ(
    index: int, block_bits: int, words: int, step: int
) -> None:
    # The table holds 7 thresholds, so some ties lie behind it.
    sampler = GaussianSampler(Fraction(5) * 4**block_bits, GaussianLayout(block_bits, 3))
    part = sampler.table.thresholds
    whole = whole_part(lambda bits: part.one(index, bits), 64 * (words + 1)) + step
    stream = [(whole >> 64 * place) & ONES for place in range(words, -1, -1)]
    if block_bits:
        stream += [1 << 63, 0]  # the second place of the block, kept for certain
    stream += SeededBits(4).words(200).tolist()
    (drawn,) = same_as_bit_by_bit(sampler, 1, stream)
    found = index if step < 0 else index + 1
    magnitude = found >> 1
    if block_bits:
        assert drawn == (2 * magnitude + 1) * (-1 if found & 1 else 1)
    else:
        assert drawn == (-1 - magnitude if found & 1 else magnitude)


@pytest.mark.parametrize("words", [1, 2, 4, 6])
@pytest.mark.parametrize("step", [-1, 1])
def test_ties_with_the_share_that_is_kept_are_decided_by_the_first_bits_that_differ(
    words: int, step: int
) -> None:
    sampler = GaussianSampler(Fraction(40), GaussianLayout(2, 3))
    # Block 0 with its positive sign, place 3: kept below e^(−9/80).
    whole = whole_part(lambda bits: exp_negative(Fraction(9, 80), bits), 64 * words) + step
    tie = [(whole >> 64 * place) & ONES for place in range(words - 1, -1, -1)]
    stream = [0, ONES, *tie, 1 << 60, 1 << 62, 0, *SeededBits(4).words(100).tolist()]
    (drawn,) = same_as_bit_by_bit(sampler, 1, stream)
    assert (drawn == 3) == (step < 0)


@pytest.mark.parametrize("start", [[ONES] * 9, [0] * 9, [ONES, 0] * 5, [0, ONES] * 5])
def test_streams_of_only_ones_or_zeros_are_followed_to_the_bit(start: list[int]) -> None:
    stream = start + SeededBits(3).words(400).tolist()
    for sampler in (
        GaussianSampler(Fraction(2), GaussianLayout(0, 2)),
        GaussianSampler(Fraction(12), GaussianLayout(2, 2)),
    ):
        same_as_bit_by_bit(sampler, 3, stream)


@pytest.mark.parametrize(
    ("variance", "two_zeros"),
    [(Fraction(1, 50), False), (Fraction(300), False), (Fraction(300), True)],
)
def test_cuts_are_the_whole_parts_of_the_true_thresholds(
    variance: Fraction, two_zeros: bool
) -> None:
    levels = GaussianLayout.of(variance).levels
    masses = reference.gaussian_probabilities(variance, levels + 1)
    if two_zeros:
        parts = [masses[k] for k in range(levels) for _ in range(2)]
        parts = [(low / (1 + masses[0][1]), high / (1 + masses[0][0])) for low, high in parts]
    else:
        parts = [masses[0], *(masses[k] for k in range(1, levels) for _ in range(2))]
    cuts = InversionTable(GaussianThresholds(variance, len(parts), two_zeros)).cuts
    for cut, (low, high) in zip(cuts, reference.summed(parts), strict=True):
        assert int(low * 2**64) == cut == int(high * 2**64)


def test_the_fast_test_of_keeping_never_decides_against_the_exact_one() -> None:
    # Words at every distance from the threshold, from many bits to far beyond the margin.
    rng = np.random.default_rng(8)
    variance, block_bits = Fraction(123_456_789), 7
    # In the first block the share that is kept lies next to 1, where 1 − g alone nearly decides.
    pairs = [(0, place) for place in range(1, 128)]
    pairs += [(int(rng.integers(0, 900)), int(rng.integers(1, 128))) for _ in range(200)]
    for start, place in pairs:
        exponent = place * (2 * (start << block_bits) + place) / (2 * variance)
        limit = whole_part(lambda bits, x=exponent: exp_negative(x, bits), 64)  # type: ignore[misc]
        near = [limit + sign * (1 << bits) for bits in range(63) for sign in (-1, 1)]
        words = np.array([word for word in near if 0 <= word <= ONES], np.uint64)
        n = len(words)
        verdicts, undecided = np.zeros(n, np.int8), np.zeros(n, np.int64)
        values = np.zeros(n, np.int64)
        blocks, places = np.full(n, 2 * start, np.int32), np.full(n, place << 57, np.uint64)
        count = keep(
            blocks, places, words, np.uint64(57), block_bits, 2.0**-64,
            float(1 / (2 * variance)), values, verdicts, undecided,
        )  # fmt: skip
        certain = np.setdiff1d(np.arange(n), undecided[:count])
        assert ((words < np.uint64(limit)) == verdicts)[certain].all()
        assert 20 < count < 100
        assert (values == (start << block_bits) + place).all()
