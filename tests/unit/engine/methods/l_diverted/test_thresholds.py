"""Exact thresholds of diverted releases: known answers, fractions, and bounds that are none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.core.schema import ValueCount
from dpdesk.engine.methods.l_diverted.judging import (
    Limits,
    chebyshev,
    error_chances,
    privacy_threshold,
    reliability_chart,
    utility_threshold,
)
from tests.reference.diverted_estimation import error_chance

FIFTH, FIFTIETH = Fraction(1, 5), Fraction(1, 50)


def test_the_paper_examples_have_other_thresholds_than_it_says() -> None:
    assert utility_threshold(10, FIFTH, FIFTIETH) == 126
    assert utility_threshold(10, FIFTIETH, FIFTIETH) == 12_201
    assert error_chances([11], 10, FIFTH)[0] == pytest.approx(0.427, abs=5e-4)
    assert 1 / (10 * 0.2**2 * 11**2) < 0.021  # what the paper's formula gives, which is no bound


def test_five_rows_are_told_within_one_with_a_chance_of_about_a_half() -> None:
    within = 1 - error_chances([5], 10, Fraction(3, 10))[0]
    assert within == pytest.approx(0.520, abs=5e-4)


def test_every_count_above_a_threshold_keeps_the_limit_and_the_one_below_does_not() -> None:
    counts = np.arange(1, 2000)
    chances = error_chances(counts, 10, FIFTH)
    assert (chances[125:] <= 0.02).all()
    assert chances[124] > 0.02


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(2, 8),
    st.fractions(Fraction(1, 50), 3, max_denominator=50),
    st.booleans(),
)
def test_tails_are_those_of_the_binomial_distribution(
    f: int, size: int, share: Fraction, beyond: bool
) -> None:
    exact = float(error_chance(f, size, share, strict=beyond))
    assert error_chances([f], size, share, beyond=beyond)[0] == pytest.approx(exact, abs=1e-11)


def test_tails_of_millions_of_rows_are_those_of_the_normal_distribution() -> None:
    f, size = 4_000_000, 5
    deviation = np.sqrt(f * (1 - 1 / size))
    share = Fraction(round(2 * deviation), f)
    assert error_chances([f], size, share)[0] == pytest.approx(0.0455, abs=2e-4)


@given(
    st.integers(1, 3000), st.integers(2, 20), st.fractions(Fraction(1, 20), 1, max_denominator=20)
)
def test_the_bound_of_chebyshev_holds(f: int, size: int, share: Fraction) -> None:
    assert error_chances([f], size, share)[0] <= chebyshev([f], size, share)[0] + 1e-12


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.fractions(Fraction(1, 5), 1, max_denominator=10))
def test_protected_counts_are_a_run_from_one_on(size: int, share: Fraction) -> None:
    least = Fraction(2, 5)
    found = privacy_threshold(size, share, least)
    exact = [error_chance(f, size, share, strict=True) for f in range(1, min(found + 2, 60))]
    assert all(chance >= least for chance in exact[:found])
    if found < 58:
        assert exact[found] < least


@pytest.mark.parametrize(
    ("share", "chance"), [(Fraction(0), FIFTH), (FIFTH, Fraction(1)), (Fraction(1, 10**6), FIFTH)]
)
def test_thresholds_out_of_range_are_refused(share: Fraction, chance: Fraction) -> None:
    with pytest.raises(InputError) as failure:
        utility_threshold(10, share, chance)
    assert failure.value.code == "threshold.range"


def test_the_chart_tells_reliable_values_from_protected_ones() -> None:
    limits = Limits(Fraction(1, 5), Fraction(1, 50), Fraction(2, 5))
    counts = [ValueCount("common", 5000), ValueCount("some", 60), ValueCount("rare", 4)]
    chart = reliability_chart("illness", counts, 10, limits)
    verdicts = {row[0]: row[4] for row in chart.table.rows}
    assert verdicts == {"common": "reliable", "some": "between", "rare": "protected"}
    assert "reliable: 1 with 126 rows or more" in chart.answer
    curve = {series.name: series for series in chart.series}
    assert curve["Values of the column"].x.tolist() == [5000, 60, 4]
    assert set(curve) == {"Exact", "Chebyshev's bound", "Values of the column"}
    assert (curve["Chebyshev's bound"].y >= curve["Exact"].y - 1e-12).all()
