"""What several releases about the same persons promise together."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt
from typing import Any

import pytest

from dpdesk.core.language import voice_of
from dpdesk.core.release import Guarantee
from dpdesk.engine.cubes.guarantee import together_claim

PURE = {
    "epsilon": 1,
    "noise": "discrete-laplace",
    "neighbours": "add-remove",
    "rows_per_person": 1,
}
ZCDP = {
    "rho": 0.5,
    "delta": 1e-6,
    "noise": "discrete-gaussian",
    "neighbours": "add-remove",
    "rows_per_person": 2,
    "cluster": ["person"],
}


def promised(**keys: Any) -> Guarantee:
    return Guarantee("a model", keys, "A claim.", (), ())


def test_pure_losses_are_summed_exactly() -> None:
    claim = together_claim([promised(**(PURE | {"epsilon": 0.1})) for _ in range(3)])
    assert claim.startswith("The losses of these 3 releases are added up. Whatever is published")
    assert "change by at most ×1.35 (ε = 0.3)" in claim
    assert claim.endswith("A suspicion of 10 % can rise to at most 14 %.")
    german = voice_of("de").say(claim)
    assert german.startswith("Die Verluste dieser 3 Veröffentlichungen sind summiert. Was")


def test_replaced_persons_have_odds_between_their_values() -> None:
    claim = together_claim([promised(**(PURE | {"neighbours": "replace"}))] * 2)
    assert "the odds between any two values of a person in the data" in claim
    assert "(ε = 2)" in claim


def test_concentrated_losses_are_summed_before_they_are_told_as_epsilon() -> None:
    claim = together_claim([promised(**ZCDP), promised(**(ZCDP | {"rho": 1.5, "delta": 1e-9}))])
    epsilon = 2 + 2 * sqrt(2 * log(1e9))
    assert "Except with a chance of 0.000000001" in claim
    assert f"(ρ = 2, ε = {epsilon:.1f})" in claim


@pytest.mark.parametrize(
    "other",
    [
        PURE | {"neighbours": "replace"},
        PURE | {"minimal_change": 2},
        PURE | {"cluster": ["person"]},
        PURE | {"hidden": 3},
        PURE | {"rows_per_person": 2},
        {key: value for key, value in PURE.items() if key != "rows_per_person"},
        ZCDP,
    ],
)
def test_of_other_guarantees_nothing_is_said_together(other: dict[str, Any]) -> None:
    for pair in ([PURE, other], [other, PURE], [PURE | {"minimal_change": 2}] * 2):
        claim = together_claim([promised(**each) for each in pair])
        assert claim.startswith("No single sentence holds for these 2 releases together")


def test_other_models_are_not_added_up() -> None:
    one = promised(**PURE)
    assert "No single sentence" in together_claim([one, replace(one, model="another")])
