"""Risk of a release, or of a plan before and after it: what `dpdesk risk` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.planning import PlacedPlan, check_protection, placed
from dpdesk.app.querying import NOT_COMPARED
from dpdesk.core.capabilities import Protection
from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken, Note, Report, ending
from dpdesk.core.messages import msg
from dpdesk.core.release import hidden_columns
from dpdesk.engine.registry import noise_of

if TYPE_CHECKING:
    from dpdesk.app.context import AppContext
    from dpdesk.core.release import ReleaseFacts


# Risk figures as values.


@dataclass(frozen=True)
class RiskReport:
    """Risk figures as JSON values.

    ``subject`` is ``"plan"`` or ``"release"``. ``risk`` is what the method says (``before`` and
    ``after``); of a release it comes from its internal part and is empty without one. ``counted``
    are figures counted now from the published table; empty for a plan.
    """

    subject: str
    name: str
    method: str
    guarantee: Mapping[str, object]
    result: Mapping[str, object]
    risk: Mapping[str, object]
    counted: Mapping[str, object]

    def as_json(self) -> dict[str, object]:
        """The object that ``risk --json`` prints."""
        return {
            "subject": self.subject,
            "name": self.name,
            "method": self.method,
            "guarantee": dict(self.guarantee),
            "result": dict(self.result),
            "risk": dict(self.risk),
            "counted": dict(self.counted),
        }


def assess(
    context: AppContext, target: Path | PlacedPlan, token: CancelToken, report: Report
) -> RiskReport:
    """Risk of a release folder, of a plan file or of a plan; writes nothing.

    Raises what running the plan or reading the release raises, and RefusedError
    ``risk.not-verified`` for a release whose files or claims are not what they should be.
    """
    if isinstance(target, Path) and target.is_dir():
        _check_release(context, target, token, report)
        return release_risk(context, target, token)
    return plan_risk(context, target, token, report)


def _check_release(context: AppContext, path: Path, token: CancelToken, report: Report) -> None:
    """Figures of a release that says something false would be false comfort."""
    from dpdesk.app.review.review_picture import signed_or_refused

    hint = "The risk of a release that fails the check is not stated; see `dpdesk verify`."
    found = signed_or_refused(context, path, token, report, ("risk.not-verified", hint))
    if not found.words_compared:
        report(Note("release.not-compared", NOT_COMPARED))


def plan_risk(
    context: AppContext, plan: Path | PlacedPlan, token: CancelToken, report: Report
) -> RiskReport:
    """Risk before the plan and after it, without writing a release.

    Raises what :func:`dpdesk.app.running.run_plan` raises, but needs no place to write to.
    """
    from dpdesk.app.running import prepare_plan

    given = placed(plan)
    private = is_private_plan(context, given)
    protection = _protection(context, given.plan.protection.method, given.name)
    if private:
        return design_risk(context, given, token, report)
    with prepare_plan(context, given, token, report) as prepared, ending(token) as own:
        outcome = prepared.decide(own, report)
        drawn = protection is Protection.RANDOMISED
        return RiskReport(
            "plan",
            given.name,
            prepared.method.id,
            outcome.guarantee.as_json(),
            outcome.result,
            odds(outcome.guarantee.parameters) if drawn else outcome.risk,
            {},
        )


def release_risk(context: AppContext, path: Path, token: CancelToken) -> RiskReport:
    """Risk of a release: recorded figures where its internal part is at hand, counted ones always.

    Raises InputError when the folder or its table cannot be read, RefusedError
    ``risk.silent-method`` when its method does not say how it protects.
    """
    from dpdesk.io.release_check import read_release

    facts = read_release(path)
    protection = _protection(context, facts.method, path.name)
    if protection is Protection.NOISE:
        return release_odds(facts, path.name)
    if protection is Protection.RANDOMISED:
        return replace(release_odds(facts, path.name), counted=_counted(facts, token))
    return RiskReport(
        "release",
        facts.title or path.name,
        facts.method,
        facts.manifest.guarantee.as_json(),
        facts.manifest.result,
        facts.evidence.risk or _stated(facts),
        _counted(facts, token),
    )


def _protection(context: AppContext, method: str, where: str) -> Protection:
    """By what a method protects, and so which risk there is."""
    said = context.registry.about(method).protection
    if said is None:
        raise RefusedError(
            "risk.silent-method",
            msg(
                "{where}: the method `{method}` does not say how it protects, so its risk is "
                "not stated.",
                where=where,
                method=method,
            ),
            hint="Ask the authors of the method what a release reveals about people.",
        )
    return said


def _stated(facts: ReleaseFacts) -> dict[str, object]:
    """What the guarantee of drawn values, or of those that stand apart, says of the risk."""
    given = facts.manifest.guarantee.parameters
    size, names = given.get("l"), hidden_columns(given)
    if not isinstance(size, int) or size < 2:
        return {}
    return {"beliefs": {name: {"belief_after": 1 / size} for name in names}}


def _counted(facts: ReleaseFacts, token: CancelToken) -> dict[str, object]:
    from dpdesk.app.pseudonyms import linkage_risk
    from dpdesk.io.csvgrammar import UnreadableTableError
    from dpdesk.io.published import PublishedCsv
    from dpdesk.io.release_folder import MICRODATA

    place = facts.public / MICRODATA
    names = _quasi_identifiers(facts)
    if not names:
        return {}
    try:
        published = PublishedCsv(place, token)
        sizes = published.group_sizes(names, token)
        linkage = linkage_risk(published, facts.manifest.guarantee.parameters, token)
    except KeyError as error:
        raise InputError(
            "release.unreadable",
            msg(
                "{place}: there is no column `{name}`, which the manifest calls a "
                "quasi-identifier.",
                place=place,
                name=error.args[0],
            ),
        ) from error
    except UnreadableTableError as error:
        raise InputError(
            "release.unreadable", msg("{path}: {reason}.", path=place, reason=error)
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            "release.unreadable",
            msg("{place}: could not be read ({reason}).", place=place, reason=reason),
        ) from error
    return {
        "rows": sizes.rows,
        "classes": sizes.groups,
        "smallest_class": sizes.smallest,
        "highest_risk": 1 / sizes.smallest if sizes.smallest else 0.0,
        "average_risk": sizes.groups / sizes.rows if sizes.rows else 0.0,
        **({"linkage": linkage} if linkage else {}),
    }


def _quasi_identifiers(facts: ReleaseFacts) -> list[str]:
    parameters = facts.manifest.guarantee.parameters
    names = parameters.get("quasi_identifiers")
    if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
        return names
    if names is None and hidden_columns(parameters):
        return []  # all columns are released unchanged, but for these
    raise InputError(
        "release.unreadable",
        msg(
            "{public}: the guarantee names no quasi-identifiers, so there is no risk to count.",
            public=facts.public / "manifest.json",
        ),
    )


# What somebody can learn about one person from a release with noise: the odds that it allows.
#
# All of it follows from the privacy loss, so it is the same before and after, and tells nothing
# of the data.


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

    with prepare_tables(context, given, token, report) as prepared:
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
