"""What discrete Laplace noise promises: its distribution, its figures, and how it is asked for.

Statistical tests take known seeds, so they never fail by luck; with other seeds each of them would
do so with a probability of at most 10^−9 (see tests/helpers/statistics.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, InputError, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise import DiscreteLaplace, SystemRandomness
from dpdesk.engine.noise.laplace import MAX_SCALE
from dpdesk.engine.noise.laplace_sampler import CHUNK, LIMIT
from tests.helpers.known_bits import ListedBits, SeededBits
from tests.helpers.statistics import chi_square_limit, stray
from tests.reference import noise as reference

N = 400_000
ONES = (1 << 64) - 1


def draw(scale: Fraction | int, n: int = N, seed: int = 1) -> np.ndarray:
    return DiscreteLaplace(Fraction(scale)).draw(n, SeededBits(seed), CancelToken())


def below(x: int, scale: Fraction) -> float:
    """P(X < x)."""
    s = float(scale)
    p = math.exp(-1 / s)
    return p ** (1 - x) / (1 + p) if x <= 0 else 1 - p**x / (1 + p)


@pytest.mark.parametrize(
    "scale", [Fraction(1, 2), Fraction(1), Fraction(40), Fraction(129), Fraction(10**4), 10**9]
)
def test_counts_fit_the_distribution(scale: Fraction) -> None:
    values = draw(scale)
    edges = sorted({round(float(scale) * k / 4) for k in range(-16, 17)})
    counts = np.diff(np.searchsorted(np.sort(values), edges), prepend=0)
    inner = np.array([below(b, scale) - below(a, scale) for a, b in pairwise(edges)])
    counts, expected = counts[1:], inner * N
    assert expected.min() > 25
    for count, share in zip(counts, inner, strict=True):
        assert abs(count - share * N) <= stray(N, share, len(inner))
    assert ((counts - expected) ** 2 / expected).sum() <= chi_square_limit(len(inner))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(1000), Fraction(10**9)])
@pytest.mark.parametrize("modulus", [2, 4, 8])
def test_lowest_bits_are_as_they_should_be(scale: Fraction, modulus: int) -> None:
    # P(X mod m = r) = (1 − p)/(1 + p)·(p^r + p^(m − r))/(1 − p^m), and for r = 0 with 1 + p^m.
    found = np.bincount(draw(scale, seed=2) % modulus, minlength=modulus)
    step = 1 / float(scale)
    half = math.tanh(step / 2)
    for rest in range(modulus):
        share = half * (math.exp(-rest * step) + math.exp((rest - modulus) * step))
        share /= -math.expm1(-modulus * step)
        assert abs(found[rest] - N * share) <= stray(N, share, modulus)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(5), Fraction(300)])
def test_neighbouring_counts_cannot_be_told_apart_better_than_promised(scale: Fraction) -> None:
    limit = math.exp(1 / float(scale))
    one, other = draw(scale, seed=3), draw(scale, seed=4) + 1
    reach = int(4 * scale) + 1
    events: list[Callable[[np.ndarray], np.ndarray]] = [
        *(lambda v, x=x: v == x for x in range(-5, 6)),
        *(lambda v, x=x: v <= x for x in range(-reach, reach, max(1, reach // 20))),
        *(lambda v, m=m, r=r: v % m == r for m in (2, 4, 16) for r in range(m)),
        *(lambda v, r=r: (v > 0) & (v % 2 == r) for r in (0, 1)),
        *(lambda v, r=r: (v <= 0) & (v % 4 == r) for r in range(4)),
    ]
    for event in events:
        counts = int(event(one).sum()), int(event(other).sum())
        for seen, against in (counts, counts[::-1]):
            # A count from n·q misses it by at most this, if q is the share that is granted.
            granted = min(1.0, (against + stray(N, against / N, 4 * len(events)) + 20) / N)
            allowed = min(N, limit * granted * N)
            assert seen <= allowed + stray(N, min(1.0, allowed / N), 4 * len(events))


@given(scale=st.fractions(Fraction(1, 20), 1000, max_denominator=20), x=st.integers(-2000, 2000))
@settings(max_examples=60, deadline=None)
def test_neighbouring_probabilities_have_exactly_the_promised_ratio(
    scale: Fraction, x: int
) -> None:
    if abs(x) > 400 * scale:
        x = 0
    noise = DiscreteLaplace(scale)
    low, high = noise.probability(x)
    next_low, next_high = noise.probability(x + 1 if x >= 0 else x - 1)
    promised = reference.exp_minus(1 / scale)
    assert 0 < low <= high
    assert (high - low) * (1 << 200) < low
    # P(next)/P(x) = e^(−1/scale): the bounds overlap it, and miss it by less than 2^−190 of it.
    assert next_low / high <= promised[1]
    assert next_high / low >= promised[0]
    assert next_high / low - next_low / high < promised[0] / (1 << 190)
    true_low, true_high = reference.laplace_probability(x, scale)
    assert low <= true_high
    assert true_low <= high
    assert noise.probability(-x) == (low, high)


def test_probabilities_of_all_values_add_up_to_one() -> None:
    noise = DiscreteLaplace(Fraction(2))
    sums = [
        sum(ends) for ends in zip(*(noise.probability(x) for x in range(-250, 251)), strict=True)
    ]
    assert sums[0] < 1 < sums[1] + Fraction(1, 10**50)
    assert sums[1] - sums[0] < Fraction(1, 1 << 190)


def test_far_out_probabilities_stay_bounds() -> None:
    low, high = DiscreteLaplace(Fraction(1, 10**6)).probability(10**9)
    assert low == 0 < high < Fraction(1, 1 << 99_000)


@pytest.mark.parametrize(
    ("scale", "variance"),
    [
        (Fraction(1), 1.8413471884155848),  # 1/(2·sinh²(1/2)), to 30 digits elsewhere
        (Fraction(10**4), 199999999.83333333),  # 2s² − 1/6 + 1/(120s²)
        (Fraction(2**48), 1.5845632502852868e29),
        (Fraction(1, 10**6), 0.0),
        (Fraction(1, 50), 2 * math.exp(-50)),
    ],
)
def test_the_variance_is_that_of_the_discrete_distribution(
    scale: Fraction, variance: float
) -> None:
    assert DiscreteLaplace(scale).variance == pytest.approx(variance, rel=3e-16, abs=0)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(7, 2)])
def test_the_variance_is_the_sum_of_its_definition(scale: Fraction) -> None:
    total = sum(x * x * reference.laplace_probability(x, scale)[0] for x in range(-200, 201))
    assert DiscreteLaplace(scale).variance == pytest.approx(float(total), rel=3e-16)


@given(
    scale=st.fractions(Fraction(1, 20), 12, max_denominator=20),
    level=st.one_of(
        st.floats(0.001, 0.999), st.sampled_from([0.5, 0.95, Fraction(19, 20), 1 - 2**-53, 1e-300])
    ),
)
@settings(max_examples=40, deadline=None)
def test_the_half_width_is_the_smallest_that_reaches_the_level(
    scale: Fraction, level: float | Fraction
) -> None:
    found = DiscreteLaplace(scale).half_width(level)
    total, h = Fraction(0), -1
    while total < Fraction(level):
        h += 1
        low, _ = reference.laplace_probability(h, scale)
        total += low if h == 0 else 2 * low
    assert found == h


@pytest.mark.parametrize("scale", [10**9, MAX_SCALE])
def test_the_half_width_of_large_scales_is_found_too(scale: int) -> None:
    h = DiscreteLaplace(Fraction(scale)).half_width(0.95)
    assert h == pytest.approx(scale * math.log(20), rel=1e-9)


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5, float("nan")])
def test_a_level_outside_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(InputError) as caught:
        DiscreteLaplace(Fraction(1)).half_width(level)
    assert caught.value.code == "noise.level"


@pytest.mark.parametrize(
    "scale", [Fraction(0), Fraction(-1), MAX_SCALE + Fraction(1, 7), Fraction(10**5000)]
)
def test_a_scale_that_cannot_be_drawn_is_refused(scale: Fraction) -> None:
    with pytest.raises(InputError) as caught:
        DiscreteLaplace(scale)
    assert caught.value.code == "noise.scale"


def test_tiny_scales_give_zero() -> None:
    assert not draw(Fraction(1, 10**6)).any()


@pytest.mark.parametrize("scale", [10**12, MAX_SCALE])
def test_the_greatest_scales_are_spread_as_promised(scale: int) -> None:
    values = draw(scale, 50_000).astype(float)
    assert abs(np.mean(np.abs(values) > scale * math.log(2)) - 0.5) < stray(50_000, 0.5) / 50_000
    assert abs(np.mean(values >= 0) - 0.5) < stray(50_000, 0.5) / 50_000
    assert np.abs(values).max() < 60 * scale


def test_noise_that_would_leave_64_bits_is_refused_and_never_wraps() -> None:
    noise = DiscreteLaplace(Fraction(MAX_SCALE))
    reach = noise.sampler.layout.divisor * noise.sampler.layout.levels
    tails = LIMIT // reach + 2
    with pytest.raises(RefusedError) as caught:
        noise.draw(1, ListedBits([ONES] * tails), CancelToken())
    assert caught.value.code == "noise.limit"
    noise = DiscreteLaplace(Fraction(MAX_SCALE))
    digits = [ONES] * (len(noise.sampler.tables) - 1)
    (value,) = noise.draw(1, ListedBits([ONES] * (tails - 3) + [0] + digits), CancelToken())
    assert LIMIT - 4 * reach < value < LIMIT


def test_a_cancelled_token_ends_the_drawing_at_the_next_chunk() -> None:
    token, done = CancelToken(), []

    def advance(count: int) -> None:
        done.append(count)
        if len(done) == 3:
            token.cancel()

    with pytest.raises(Cancelled):
        DiscreteLaplace(Fraction(10)).draw(10**9, SeededBits(1), token, advance)
    assert done == [CHUNK] * 3


def test_a_source_stuck_at_ones_can_be_cancelled() -> None:
    class Stuck:
        taken = 0

        def words(self, n: int) -> np.ndarray:
            self.taken += n
            if self.taken > 10_000:
                token.cancel()
            return np.full(n, ONES, np.uint64)

    token = CancelToken()
    with pytest.raises(Cancelled):
        DiscreteLaplace(Fraction(1)).draw(1, Stuck(), token)


def test_every_chunk_is_reported() -> None:
    done: list[int] = []
    values = DiscreteLaplace(Fraction(10)).draw(40_000, SeededBits(1), CancelToken(), done.append)
    assert done == [CHUNK, CHUNK, 40_000 - 2 * CHUNK]
    assert len(values) == 40_000
    assert values.dtype == np.int64


def test_drawing_nothing_takes_no_bits() -> None:
    assert len(DiscreteLaplace(Fraction(10)).draw(0, ListedBits([]), CancelToken())) == 0


def test_noise_from_the_system_differs_every_time() -> None:
    noise = DiscreteLaplace(Fraction(10**9))
    first, second = (noise.draw(100, SystemRandomness(), CancelToken()) for _ in range(2))
    assert (first != second).all()
