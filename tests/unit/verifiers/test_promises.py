"""Numbers in sentences must be those that the budget gives, rounded up and never down."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.cubes.guarantee import cube_guarantee
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.kinds import Noise
from dpdesk.verifiers.promises import miscounted, overstated

PURE: dict[str, Any] = {"epsilon": 1}
RHO: dict[str, Any] = {"rho": 0.5, "delta": 1e-6}
ODDS = (
    "Whatever is published, the odds change by at most ×{} (ε = {}). A suspicion of 10 % can rise "
    "to at most {} %."
)
EXCEPT = "Except with a chance of {}, the odds change by at most ×{} (ρ = {}, ε = {})."
SETTINGS = CubeSettings.from_parameters(
    parse_parameters(PARAMETERS, {"dimensions": ["a"], "epsilon": 1}, "plan"), "plan"
)


def _said(claim: str, limit: str = "") -> dict[str, Any]:
    return {"claim": claim, "assumes": [], "does_not_cover": [limit]}


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        (("2.72", "1", "24"), ""),
        (("2.71", "1", "24"), "claim"),
        (("2.72", "0.5", "24"), "claim"),
        (("2.72", "1", "23"), "claim"),
        (("1.65", "1", "24"), "claim"),
        (("3", "1", "24"), "claim"),
        (("2.72", "1", "40"), "claim"),
    ],
)
def test_odds_and_suspicions_follow_from_epsilon(numbers: tuple[str, ...], found: str) -> None:
    assert overstated(_said(ODDS.format(*numbers)), PURE) == found


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        (("0.000001", "317", "0.5", "5.76"), ""),
        (("0.0000001", "317", "0.5", "5.76"), "claim"),
        (("0.000001", "316", "0.5", "5.76"), "claim"),
        (("0.000001", "317", "0.4", "5.76"), "claim"),
        (("0.000001", "317", "0.5", "5.75"), "claim"),
    ],
)
def test_odds_follow_from_rho_and_delta(numbers: tuple[str, ...], found: str) -> None:
    assert overstated(_said(EXCEPT.format(*numbers)), RHO) == found


def test_powers_of_ten_are_the_next_ones_above_the_odds() -> None:
    """e^1000 is 1.97 times 10^434."""
    large: dict[str, Any] = {"epsilon": 1000}
    for times, found in (("10^435", ""), ("10^434", "claim"), ("10^436", "claim"), ("10", "claim")):
        assert overstated(_said(ODDS.format(times, "1000", "100")), large) == found


def test_odds_between_two_values_are_larger() -> None:
    claim = ODDS.format("2.72", "1", "24")
    assert overstated(_said(claim, "these change by up to ×7.39."), PURE) == ""
    assert overstated(_said(claim, "these change by up to ×2.72."), PURE) == "does_not_cover"


@pytest.mark.parametrize(
    ("numbers", "wrong"),
    [
        ((5, "1,024", 5), False),
        ((5, "1,024", 9), True),
        ((6, "1,024", 5), True),
        ((5, "9", 5), True),
    ],
)
def test_a_claim_of_k_has_the_numbers_that_were_counted(
    numbers: tuple[object, ...], wrong: bool
) -> None:
    said = "It covers at least {} rows (the smallest covers {}), a chance of at most 1 in {}."
    assert miscounted(said.format(*numbers), 5, 1024) is wrong


@given(st.fractions(min_value=Fraction(1, 10**7), max_value=2000), st.booleans())
def test_what_the_program_says_of_a_budget_is_right(budget: Fraction, replace: bool) -> None:
    settings = dataclasses.replace(SETTINGS, budget=Fraction(str(float(budget))), replace=replace)
    told = {"epsilon": float(budget)}
    assert overstated(cube_guarantee(settings, None).as_json(), told) == ""
    settings = dataclasses.replace(settings, noise=Noise.GAUSSIAN)
    told = {"rho": float(budget), "delta": 1e-6}
    assert overstated(cube_guarantee(settings, None).as_json(), told) == ""
