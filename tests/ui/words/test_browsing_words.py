"""Numbers as the browser writes them."""

from __future__ import annotations

import numpy as np
import pytest

from dpdesk.core.pivot import CubeGrid, pivot_of
from dpdesk.ui.browsing.words import cell_words, half_text, value_text


@pytest.mark.parametrize("value", [32561.0, 32561.000000000004, 32560.999999999996])
def test_an_exact_count_that_was_summed_up_from_fractions_is_written_without_any(
    value: float,
) -> None:
    assert value_text(value, 0.0) == "32,561"


def test_a_value_below_zero_has_a_minus_and_zero_has_no_sign() -> None:
    assert value_text(-13.2, 55.8) == "−13"
    assert value_text(-1234.2, 55.8) == "−1,234"
    assert value_text(-0.2, 55.8) == "0"


def test_an_exact_mean_keeps_a_digit() -> None:
    assert value_text(12.25, 0.0) == "12.2"


@pytest.mark.parametrize(
    ("half", "text"),
    [
        (0.0032, "± 0.0032"),
        (0.00321, "± 0.0033"),
        (0.99, "± 0.99"),
        (1.01, "± 1.1"),
        (2.3, "± 2.3"),
        (100.2, "± 101"),
        (0.0, "exact"),
    ],
)
def test_a_half_width_is_never_written_smaller_than_it_is(half: float, text: str) -> None:
    assert half_text(half) == text


def test_an_average_between_0_and_1_has_an_interval_of_its_own_width() -> None:
    value, half = np.array([0.5312]), np.array([0.0032])
    grid = CubeGrid(("sex",), (("f",),), "average of share", value, half / 2, half)
    said = cell_words(pivot_of(grid, 1), 0, 0)
    assert "0.5312 ± 0.0032" in said
    assert "between 0.5280 and 0.5344" in said


def test_an_interval_is_rounded_outwards() -> None:
    value, half = np.array([100.4]), np.array([10.3])
    grid = CubeGrid(("sex",), (("f",),), "count", value, half / 2, half)
    assert "between 90 and 111 in" in cell_words(pivot_of(grid, 1), 0, 0)
