"""What somebody can learn about one person from a release with noise: the odds that it allows.

All of it follows from the privacy loss, so it is the same before and after, and tells nothing of
the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpdesk.app.planning import PlacedPlan, check_protection
from dpdesk.app.risk import RiskReport
from dpdesk.core.errors import InputError
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.engine.registry import noise_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.release import ReleaseFacts

PRIORS = (0.01, 0.1, 0.5)


def is_private_plan(context: AppContext, given: PlacedPlan) -> bool:
    """Whether a plan asks for a method that draws noise. Raises what checking its keys raises."""
    method, _ = check_protection(context, given.plan, given.name)
    return noise_of(method) is not None


def design_risk(
    context: AppContext, given: PlacedPlan, token: CancelToken, report: Report
) -> RiskReport:
    """The odds that a plan's design allows, and its expected errors; nothing is spent."""
    from dpdesk.app.private.preparing import prepare_tables

    place = given.plan, given.base, given.name
    with prepare_tables(context, *place, token, report, hierarchies=given.hierarchies) as prepared:
        guarantee = prepared.design.guarantee
        return RiskReport(
            "plan",
            given.name,
            prepared.method.id,
            guarantee.as_json(),
            prepared.design.result,
            odds(guarantee.parameters),
            {},
        )


def release_odds(facts: ReleaseFacts, name: str) -> RiskReport:
    """The odds that a release allows, from what its guarantee says."""
    stated = facts.manifest
    risk, guarantee = odds(stated.guarantee.parameters), stated.guarantee.as_json()
    return RiskReport(
        "release", stated.title or name, stated.method, guarantee, stated.result, risk, {}
    )


def odds(parameters: Mapping[str, object]) -> dict[str, object]:
    """Largest change of the odds, and the largest chance after the release by chance before it.

    Source: posterior <= p e^eps / (1 - p + p e^eps) for a prior p, for what is
    known of different persons independently. With zCDP it holds except with chance delta. Beside
    exact tables (``minimal_change``) it is about data sets that differ by a minimal change.
    """
    from math import exp

    from dpdesk.engine.private.guarantee_words import converted, posterior

    epsilon, rho = parameters.get("epsilon"), parameters.get("rho")
    if isinstance(rho, int | float):
        delta = parameters.get("delta", 1e-6)
        epsilon = converted(float(rho), float(delta) if isinstance(delta, int | float) else 1e-6)
    if not isinstance(epsilon, int | float):
        raise InputError("release.unreadable", "The guarantee names neither epsilon nor rho.")
    known, change = float(epsilon), parameters.get("minimal_change")
    return {
        **({"minimal_change": change} if isinstance(change, int) else {}),
        "epsilon": known,
        "odds_factor": exp(known) if known < 700 else None,
        "posterior": {f"{prior:g}": posterior(prior, known) for prior in PRIORS},
    }
