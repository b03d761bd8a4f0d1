"""Numbers as the browser writes them."""

from __future__ import annotations

import pytest

from dpdesk.ui.browsing.words import value_text


@pytest.mark.parametrize("value", [32561.0, 32561.000000000004, 32560.999999999996])
def test_an_exact_count_that_was_summed_up_from_fractions_is_written_without_any(
    value: float,
) -> None:
    assert value_text(value, 0.0) == "32,561"


def test_an_exact_mean_keeps_a_digit() -> None:
    assert value_text(12.25, 0.0) == "12.2"
