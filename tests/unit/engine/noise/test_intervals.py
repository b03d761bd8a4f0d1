"""Enclosures hold the true value and are narrow."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.engine.noise import intervals
from tests.reference.noise import exp_minus

# Known digits, cut off: π, and e^(−1).
PI = Fraction(31415926535897932384626433832795028841971693993751058209749445923, 10**64)
INVERSE_E = Fraction(36787944117144232159552377016146086744581113103176783450783680169, 10**65)


@given(
    x=st.one_of(
        st.fractions(0, 600, max_denominator=1000),
        st.fractions(0, Fraction(1, 10**9), max_denominator=10**15),
        st.integers(0, 400).map(Fraction),
    ),
    bits=st.sampled_from([8, 64, 256, 600]),
)
@settings(max_examples=150, deadline=None)
def test_exponentials_are_enclosed_by_neighbouring_numbers(x: Fraction, bits: int) -> None:
    low, high = intervals.exp_negative(x, bits)
    true_low, true_high = exp_minus(x)
    assert 0 <= high - low <= 2
    assert Fraction(low, 1 << bits) <= true_high
    assert true_low <= Fraction(high, 1 << bits)


def test_exponentials_of_huge_numbers_are_next_to_zero() -> None:
    assert intervals.exp_negative(Fraction(10**30), 256) == (0, 1)
    assert intervals.exp_negative(Fraction(0), 256) == (1 << 256, 1 << 256)
    with pytest.raises(ValueError, match="positive"):
        intervals.exp_negative(Fraction(-1), 64)


def test_the_digits_of_known_constants_are_found() -> None:
    for (low, high), known in (
        (intervals.pi(200), PI),
        (intervals.exp_negative(Fraction(1), 200), INVERSE_E),
    ):
        assert high - low <= 2
        assert Fraction(low, 1 << 200) <= known + Fraction(1, 10**64)
        assert known <= Fraction(high, 1 << 200)


@given(st.integers(0, 1 << 300), st.integers(0, 3))
def test_square_roots_are_enclosed(value: int, width: int) -> None:
    low, high = intervals.square_root((value, value + width), 256)
    assert low * low <= value << 256 < (low + 1) ** 2
    assert (max(high - 1, 0)) ** 2 <= (value + width) << 256 <= high * high


@given(
    a=st.tuples(st.integers(0, 1 << 70), st.integers(0, 5)),
    b=st.tuples(st.integers(1, 1 << 70), st.integers(0, 5)),
    share=st.fractions(0, 1),
)
def test_every_operation_encloses_what_it_is_done_to(
    a: tuple[int, int], b: tuple[int, int], share: Fraction
) -> None:
    bits = 64
    left, right = (a[0], a[0] + a[1]), (b[0], b[0] + b[1])
    x = (a[0] + share * a[1]) / (1 << bits)
    y = (b[0] + (1 - share) * b[1]) / (1 << bits)
    results = {
        "times": (intervals.times(left, right, bits), x * y),
        "over": (intervals.over(left, right, bits), x / y),
        "plus": (intervals.plus(left, right), x + y),
        "minus": (intervals.minus(left, right), x - y),
        "enclose": (intervals.enclose(x, bits), x),
    }
    for name, ((low, high), true) in results.items():
        assert low <= true * (1 << bits) <= high, name
    low, high = intervals.fewer(left, 10)
    assert low <= x * (1 << bits - 10) <= high
