"""Odds between two values of a person: the stated change, against privacy losses added up exactly.

The mechanism here is a sum in one cell with bounds -u and u, the worst that two values can do: the
noise is made for a row that comes or goes, a change of u, and two values differ by 2u.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import exp, inf, log

import numpy as np
import pytest

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.language import speaking, voice
from dpdesk.core.parameters import parse_parameters
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.methods.dp_cube.method import DpCube
from dpdesk.engine.private.guarantee_words import (
    converted,
    epsilon_between,
    epsilon_of,
    person_guarantee,
)
from dpdesk.engine.private.method import PrivateInput

UPPER = 20


def settings(**keys: object) -> CubeSettings:
    raw = {
        "dimensions": ["sex"],
        "domains": {"sex": ["f", "m"]},
        "planner": "base",
        "publish": [["sex"]],
        "measure": {"sum": "change", "lower": -UPPER, "upper": UPPER},
        **keys,
    }
    return CubeSettings.from_parameters(parse_parameters(PARAMETERS, raw, "plan"), "plan")


def chance_of_more(spread: Fraction, distance: int, epsilon: float) -> float:
    """The chance that the log odds of two sums this far apart change by more than epsilon.

    Discrete Gaussian noise with variance parameter ``spread``: the loss at x is
    ((x + distance)^2 - x^2) / (2 spread).
    """
    width = int(12 * float(spread) ** 0.5) + distance
    noise = np.arange(-width, width + 1)
    chances = np.exp(-(noise.astype(float) ** 2) / (2 * float(spread)))
    losses = ((noise + distance) ** 2 - noise**2) / (2 * float(spread))
    return float(chances[losses > epsilon].sum() / chances.sum())


@pytest.mark.parametrize("rho", ["0.1", "0.5", "2", "8"])
@pytest.mark.parametrize("delta", ["0.1", "0.01", "0.000001"])
def test_with_rho_the_odds_between_values_hold_but_for_delta(rho: str, delta: str) -> None:
    given = settings(rho=float(rho), delta=float(delta))
    spread = Fraction(UPPER**2) / (2 * Fraction(rho))
    assert chance_of_more(spread, UPPER, epsilon_of(given)) <= float(delta)
    assert chance_of_more(spread, 2 * UPPER, epsilon_between(given)) <= float(delta)


def test_twice_the_epsilon_of_presence_would_not_hold() -> None:
    given = settings(rho=2.0, delta=0.01)
    spread = Fraction(UPPER**2, 4)
    assert chance_of_more(spread, 2 * UPPER, 2 * epsilon_of(given)) > 0.01
    assert epsilon_between(given) > 2 * epsilon_of(given)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_with_epsilon_the_odds_between_values_are_twice_and_never_more(epsilon: float) -> None:
    given = settings(epsilon=epsilon)
    scale = UPPER / epsilon
    noise = np.arange(-400, 401)
    losses = (np.abs(noise + 2 * UPPER) - np.abs(noise)) / scale
    assert epsilon_between(given) == pytest.approx(float(losses.max()))


def test_where_one_person_replaces_another_values_are_neighbours() -> None:
    for keys in ({"epsilon": 1.5}, {"rho": 0.5}):
        given = settings(**keys, neighbours="replace")
        assert epsilon_between(given) == epsilon_of(given)


def test_the_sentence_names_delta_and_a_factor_that_is_large_enough() -> None:
    raw = {"dimensions": ["sex"], "domains": {"sex": ["f", "m"]}, "rho": 0.5}
    given = PrivateInput({}, {}, parse_parameters(PARAMETERS, raw, "plan"))
    found = DpCube().design(given, CancelToken(), silent).guarantee.does_not_cover
    sentence = next(each for each in found if each.startswith("Odds between two values"))
    assert "except with a chance of 0.000001," in sentence
    factor = float(sentence.split("×")[1].split(" ")[0].replace(",", ""))
    least = exp(converted(2.0, 1e-6))
    assert least <= factor < 1.01 * least
    assert log(factor) < inf


@pytest.mark.parametrize("epsilon", [0.1, 1, 34.5, 34.6, 200, 699.9, 701, 1000])
def test_large_odds_are_numbers_that_every_language_reads(epsilon: float) -> None:
    said = person_guarantee(settings(epsilon=epsilon), None, {})
    with speaking("de"):
        german = voice().say(said.claim)
    shown = said.claim.split("×")[1].split(" (")[0]
    assert f"Faktor {shown.replace('.', ',')} (" in german
    base, _, power = shown.partition("^")
    truth = Decimal(epsilon).exp()
    stated = Decimal(base) ** Decimal(power or 1)
    assert truth <= stated <= truth * (10 if power else Decimal("1.011"))


def test_the_german_of_a_claim_that_holds_but_for_a_chance_is_a_sentence() -> None:
    with speaking("de"):
        german = voice().say(person_guarantee(settings(rho=0.5), None, {}).claim)
    assert german.startswith("Außer mit einer Wahrscheinlichkeit von 0,000001, was auch ")
    assert "veröffentlicht wird: Die Chancen (Odds), dass " in german
