"""The guarantee of a cube in words."""

from __future__ import annotations

from fractions import Fraction
from math import exp

from dpdesk.core.guarantee import Guarantee
from dpdesk.engine.cubes.exact.words import exact_guarantee
from dpdesk.engine.cubes.guarantee_words import (
    CHOOSING,
    assumptions,
    converted,
    lead_words,
    rounded_up,
    suspicion_after,
)
from dpdesk.engine.cubes.plans import Noise
from dpdesk.engine.cubes.settings import CubeSettings


def cube_guarantee(
    settings: CubeSettings, cluster: str | None, change: int | None = None
) -> Guarantee:
    """Claim, assumptions and limits; from the settings alone.

    ``change`` is the size of a minimal change where something is released exactly.
    """
    pure = settings.noise is Noise.LAPLACE
    budget = float(settings.budget)
    parameters: dict[str, object] = {
        "epsilon" if pure else "rho": plain(settings.budget),
        **({} if pure else {"delta": float(settings.delta)}),
        "noise": settings.noise.value,
        "neighbours": "replace" if settings.replace else "add-remove",
        "rows_per_person": settings.rows_per_person,
        **({"cluster": [cluster]} if cluster else {}),
        **({} if change is None else {"minimal_change": change}),
    }
    epsilon = budget if pure else converted(budget, float(settings.delta))
    model = "epsilon-differential privacy" if pure else "zero-concentrated differential privacy"
    if change is not None:
        return exact_guarantee(
            settings, f"{model} beside exact tables", parameters, epsilon, change, cluster
        )
    return Guarantee(
        model=model,
        parameters=parameters,
        claim=_claim(settings, epsilon),
        assumes=assumptions(settings, cluster),
        not_covered=_not_covered(settings, epsilon),
    )


def plain(value: Fraction) -> int | float:
    """A number for JSON."""
    return int(value) if value.denominator == 1 else float(value)


def _claim(settings: CubeSettings, epsilon: float) -> str:
    lead, given, times = lead_words(settings, epsilon)
    if settings.replace:
        return (
            f"{lead}, the odds between any two values of a person in the data change by at most "
            f"×{times} ({given})."
        )
    suspicion = suspicion_after(epsilon)
    return (
        f"{lead}, the odds that a given person is in the data change by at most ×{times} "
        f"({given}). A suspicion of 10 % can rise to at most {suspicion} %."
    )


def _not_covered(settings: CubeSettings, epsilon: float) -> tuple[str, ...]:
    sentences = [
        "Facts about a whole group, which hold whether or not one person is in the data: who is "
        "known to belong to the group may be judged by them.",
    ]
    if not settings.replace:
        twice = rounded_up(exp(2 * epsilon)) if epsilon <= 350 else "more than 10^300"
        sentences.append(
            "Odds between two values of a person who is known to be in the data: these change by "
            f"up to ×{twice}."
        )
    else:
        sentences.append("The number of persons in the data: it is taken to be known.")
    sentences.append(CHOOSING)
    return tuple(sentences)
