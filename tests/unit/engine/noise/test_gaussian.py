"""What discrete Gaussian noise promises: its distribution, its figures, and how it is asked for.

Statistical tests take known seeds, so they never fail by luck; with other seeds each of them would
do so with a probability of at most 10^−9 (see tests/helpers/statistics.py).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, InputError, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise import DiscreteGaussian, SystemRandomness
from dpdesk.engine.noise.gaussian import DIRECT_VARIANCE, MAX_VARIANCE
from dpdesk.engine.noise.laplace_sampler import CHUNK
from tests.helpers.known_bits import ListedBits, SeededBits
from tests.helpers.searching import examples
from tests.helpers.statistics import chi_square_limit, stray
from tests.reference import noise as reference

N = 400_000
ONES = (1 << 64) - 1


def draw(variance: Fraction | int, n: int = N, seed: int = 1) -> np.ndarray:
    return DiscreteGaussian(Fraction(variance)).draw(n, SeededBits(seed), CancelToken())


def masses(variance: Fraction) -> dict[int, float]:
    """P(x) in floats, for what statistics compare."""
    reach = int(9 * math.sqrt(variance)) + 2
    found = {x: math.exp(-x * x / (2 * float(variance))) for x in range(-reach, reach + 1)}
    total = math.fsum(found.values())
    return {x: mass / total for x, mass in found.items()}


VARIANCES = [Fraction(1, 4), Fraction(3), Fraction(2500), Fraction(20_000), Fraction(10**7)]


@pytest.mark.parametrize("variance", VARIANCES)
def test_counts_fit_the_distribution(variance: Fraction) -> None:
    values, true = np.sort(draw(variance)), masses(variance)
    edges = sorted({round(math.sqrt(variance) * k / 6) for k in range(-18, 19)})
    counts = np.diff(np.searchsorted(values, edges))
    shares = [math.fsum(true[x] for x in range(a, b)) for a, b in pairwise(edges)]
    for count, share in zip(counts, shares, strict=True):
        assert abs(count - share * N) <= stray(N, share, len(shares))
    expected = np.array(shares) * N
    assert expected.min() > 25
    assert ((counts - expected) ** 2 / expected).sum() <= chi_square_limit(len(shares))


@pytest.mark.parametrize("variance", [*VARIANCES, Fraction(3 * 10**8)])
@pytest.mark.parametrize("modulus", [2, 8])
def test_lowest_bits_are_as_they_should_be(variance: Fraction, modulus: int) -> None:
    found = np.bincount(draw(variance, seed=2) % modulus, minlength=modulus)
    true = masses(min(variance, Fraction(2500)))  # wider: even to within 10^−1000
    for rest in range(modulus):
        share = math.fsum(mass for x, mass in true.items() if x % modulus == rest)
        assert abs(found[rest] - N * share) <= stray(N, share, modulus)


@pytest.mark.parametrize("variance", [Fraction(4), Fraction(30_000)])
def test_neighbouring_counts_lose_no_more_privacy_than_promised(variance: Fraction) -> None:
    # Noise v and v − 1 differ in likelihood by the factor e^(|2v − 1|/2σ²), and no event within a
    # stretch of values by more than the largest of them there.
    sigma = math.sqrt(variance)
    low, high = -int(2 * sigma) - 1, int(2 * sigma) + 1
    one, other = draw(variance, seed=3), draw(variance, seed=4) + 1
    width = max(1, (high - low) // 24)
    for start in range(low, high, width):
        counts = [int(((v >= start) & (v < start + width)).sum()) for v in (one, other)]
        ratio = math.exp((abs(start) + width + 1) / float(variance))
        for seen, against in (counts, counts[::-1]):
            granted = min(1.0, (against + stray(N, against / N, 100) + 20) / N)
            allowed = min(1.0, ratio * granted) * N
            assert seen <= allowed + stray(N, allowed / N, 100)


@given(variance=st.fractions(Fraction(1, 20), 3000, max_denominator=20), x=st.integers(-300, 300))
@settings(max_examples=40, deadline=None)
def test_neighbouring_probabilities_have_exactly_the_promised_ratio(
    variance: Fraction, x: int
) -> None:
    if x * x > 1000 * variance:
        x = 1
    noise = DiscreteGaussian(variance)
    (low, high), (next_low, next_high) = noise.probability(x), noise.probability(abs(x) + 1)
    promised = reference.exp_minus((2 * abs(x) + 1) / (2 * variance))
    assert 0 < low <= high
    assert (high - low) * (1 << 200) < low
    assert next_low / high <= promised[1]
    assert next_high / low >= promised[0]
    assert next_high / low - next_low / high < promised[0] / (1 << 190)
    assert noise.probability(-x) == (low, high)


@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(2), Fraction(45, 2)])
def test_probabilities_are_those_of_the_definition(variance: Fraction) -> None:
    noise = DiscreteGaussian(variance)
    for x, (true_low, true_high) in reference.gaussian_probabilities(variance, 40).items():
        low, high = noise.probability(x)
        assert low <= true_high
        assert true_low <= high


def test_probabilities_of_wide_noise_continue_those_of_narrow_noise() -> None:
    # The normaliser is summed up to this variance and found by Poisson summation behind it.
    narrow = DiscreteGaussian(Fraction(DIRECT_VARIANCE)).probability(0)
    wide = DiscreteGaussian(DIRECT_VARIANCE + Fraction(1, 10**40)).probability(0)
    assert wide[1] < narrow[0]
    # P(0) falls as 1/σ: by half the relative change of the variance.
    change = narrow[0] * Fraction(1, 2 * DIRECT_VARIANCE * 10**40)
    assert narrow[0] - wide[1] == pytest.approx(float(change), rel=1e-9)
    assert wide[1] - wide[0] < wide[0] / (1 << 200)


def test_far_out_probabilities_stay_bounds() -> None:
    low, high = DiscreteGaussian(Fraction(1, 10**6)).probability(10**9)
    assert low == 0 < high < Fraction(1, 1 << 99_000)


@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1, 4), Fraction(2), Fraction(8)])
def test_the_variance_is_the_sum_of_its_definition(variance: Fraction) -> None:
    true = reference.gaussian_probabilities(variance, 120)
    total = sum(x * x * low for x, (low, _) in true.items())
    assert DiscreteGaussian(variance).variance == pytest.approx(float(total), rel=3e-16, abs=0)


def test_the_variance_of_wider_noise_is_that_of_the_continuous_one() -> None:
    true = reference.gaussian_probabilities(Fraction(9), 150)
    total = sum(x * x * low for x, (low, _) in true.items())
    assert 0 < 9 - total < Fraction(1, 10**70)
    assert DiscreteGaussian(Fraction(9)).variance == 9.0
    assert DiscreteGaussian(Fraction(10**20, 3)).variance == 10**20 / 3
    assert DiscreteGaussian(Fraction(1, 10**6)).variance == 0.0


@given(
    variance=st.fractions(Fraction(1, 20), 20, max_denominator=20),
    level=st.one_of(
        st.floats(0.001, 0.999), st.sampled_from([0.5, 0.95, Fraction(19, 20), 1 - 2**-53, 1e-300])
    ),
)
@settings(max_examples=examples(15), deadline=None)
def test_the_half_width_is_the_smallest_that_reaches_the_level(
    variance: Fraction, level: float | Fraction
) -> None:
    true = reference.gaussian_probabilities(variance, 45)
    total, h = Fraction(0), -1
    while total < Fraction(level):
        h += 1
        total += true[h][0] if h == 0 else 2 * true[h][0]
    assert DiscreteGaussian(variance).half_width(level) == h


@pytest.mark.parametrize("level", [0.001, 0.5, 0.95, 0.999999, 1 - 2**-53])
@pytest.mark.parametrize("variance", [DIRECT_VARIANCE + 1, 10**6])
def test_the_half_width_of_wide_noise_agrees_with_adding_up(variance: int, level: float) -> None:
    # Weights are added in whole numbers of 400 bits here: no integral, no remainder.
    found = DiscreteGaussian(Fraction(variance)).half_width(level)
    low, high = reference.exp_minus(Fraction(1, 2 * variance))
    q = int((low + high) / 2 * 2**400)
    term, ratio, square = 1 << 400, q, q * q >> 400
    sums = [term]
    while term >> 150:
        term, ratio = term * ratio >> 400, ratio * square >> 400
        sums.append(sums[-1] + term)
    whole = 2 * sums[-1] - sums[0]
    inside = [2 * each - sums[0] for each in sums]
    assert inside[found] >= Fraction(level) * whole
    assert found == 0 or inside[found - 1] < Fraction(level) * whole


@pytest.mark.parametrize("variance", [4, 30, DIRECT_VARIANCE + 1])
def test_the_integral_with_its_remainder_encloses_the_sum_of_the_tail(variance: int) -> None:
    # For narrow noise the remainder is large enough to be seen; the total is off by e^(−2π²σ²).
    noise, sigma = DiscreteGaussian(Fraction(variance)), math.isqrt(variance)
    slack = Fraction(1, 10**30)
    low, high = reference.exp_minus(Fraction(1, 2 * variance))
    q = int((low + high) / 2 * 2**400)
    term, ratio, square = 1 << 400, q, q * q >> 400
    weights = [term]
    while term >> 150:
        term, ratio = term * ratio >> 400, ratio * square >> 400
        weights.append(term)
    whole = 2 * sum(weights) - weights[0]
    for h in {0, 1, sigma // 2, sigma, 2 * sigma, 3 * sigma, 5 * sigma}:
        outside = Fraction(2 * sum(weights[h + 1 :]), whole)
        low_end, high_end = (Fraction(end, 1 << 512) for end in noise._outside(h, 512))
        assert low_end - slack <= outside <= high_end + slack
        assert high_end - low_end < Fraction(1, 5 * variance**2)


def test_the_half_width_of_the_greatest_variance_is_found_too() -> None:
    found = DiscreteGaussian(Fraction(MAX_VARIANCE)).half_width(0.95)
    assert found == pytest.approx(1.959963984540054 * 2**48, rel=1e-12)


@pytest.mark.parametrize("level", [0, 1, 2.0, float("nan")])
def test_a_level_outside_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(InputError) as caught:
        DiscreteGaussian(Fraction(1)).half_width(level)
    assert caught.value.code == "noise.level"


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), MAX_VARIANCE + Fraction(1, 7)])
def test_a_variance_that_cannot_be_drawn_is_refused(variance: Fraction) -> None:
    with pytest.raises(InputError) as caught:
        DiscreteGaussian(variance)
    assert caught.value.code == "noise.variance"


def test_tiny_variances_give_zero() -> None:
    assert not draw(Fraction(1, 10**6)).any()


@pytest.mark.parametrize("variance", [10**18, MAX_VARIANCE])
def test_the_widest_noise_is_spread_as_promised(variance: int) -> None:
    values = draw(variance, 50_000)
    noise = DiscreteGaussian(Fraction(variance))
    for level in (0.1, 0.5, 0.95):
        share = np.mean(np.abs(values) <= noise.half_width(level))
        assert abs(share - level) < stray(50_000, level, 3) / 50_000
    assert abs(np.mean(values >= 0) - 0.5) < stray(50_000, 0.5) / 50_000


def test_noise_that_would_leave_64_bits_is_refused_and_never_wraps() -> None:
    noise = DiscreteGaussian(Fraction(MAX_VARIANCE))
    sampler = noise.sampler
    too_far = (1 << (62 - sampler.layout.block_bits)) * 2
    with pytest.raises(RefusedError) as caught:
        sampler._checked(too_far)
    assert caught.value.code == "noise.limit"
    assert sampler._checked(too_far - 4) == too_far - 4


def test_a_cancelled_token_ends_the_drawing_at_the_next_chunk() -> None:
    for variance in (10, 10**7):
        token, done = CancelToken(), []

        def advance(count: int, done: list[int] = done, token: CancelToken = token) -> None:
            done.append(count)
            if len(done) == 3:
                token.cancel()

        with pytest.raises(Cancelled):
            DiscreteGaussian(Fraction(variance)).draw(10**9, SeededBits(1), token, advance)
        assert len(done) == 3
        assert 0.98 * CHUNK < min(done) <= max(done) <= CHUNK  # what is not kept is drawn later


def test_a_source_that_never_lets_a_value_be_kept_can_be_cancelled() -> None:
    class Stuck:
        taken = 0

        def words(self, n: int) -> np.ndarray:
            self.taken += 1
            if self.taken > 300:
                token.cancel()
            # Blocks far out, their last place, and no word small enough to keep it.
            return np.full(n, ONES - (1 << 40), np.uint64)

    token = CancelToken()
    with pytest.raises(Cancelled):
        DiscreteGaussian(Fraction(10**9)).draw(1, Stuck(), token)


def test_drawing_nothing_takes_no_bits() -> None:
    assert len(DiscreteGaussian(Fraction(10)).draw(0, ListedBits([]), CancelToken())) == 0


def test_noise_from_the_system_differs_every_time() -> None:
    noise = DiscreteGaussian(Fraction(10**18))
    first, second = (noise.draw(100, SystemRandomness(), CancelToken()) for _ in range(2))
    assert (first != second).all()
