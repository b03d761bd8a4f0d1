"""Sentences and numbers that guarantees of methods with noise are put together from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from math import ceil, exp, log, sqrt

from dpdesk.core.messages import counted, joined, listed, msg
from dpdesk.core.plain import number_text
from dpdesk.core.release import Guarantee
from dpdesk.engine.private.origins import FROM_CODES, FROM_DATA, FROM_FILE, TYPED
from dpdesk.engine.private.settings import PrivateSettings

_PRIOR = 0.1
_SLACK = 1e-12
_NEARLY_SURE = 99
_LARGE = 15
CHOOSING = (
    "A choice among several releases, or of settings, that was made after looking at the data or "
    "at results: then more was spent than is said here."
)
PUBLISHING = (
    "The decision to publish this release, or not to publish another one, which trial runs and "
    "the checklist inform: these are internal looks at the data, and the stated loss does not "
    "cover what the decision itself reveals."
)
LINES = (
    "Each line of a text file counts as a row, also inside quotes: a value that contains a line "
    "end makes two rows."
)
OTHERS = "Every other release about the same persons costs as well: losses add up."
_ORIGINS = {
    TYPED: "were written by hand",
    FROM_FILE: "come from a hierarchy",
    FROM_CODES: "come from the code list of the source",
    FROM_DATA: "were suggested from the data, and are assumed to have been known beforehand; "
    "where one was not, its being listed shows that someone has it, which no ε "
    "covers",
}
FIXED = (
    "The categories, their order and all settings are taken to have been fixed without looking at "
    "the data."
)
INDEPENDENT = "What someone knows about different persons is independent."
GENERATOR = (
    "The random numbers come from a cryptographic generator, and the manifest holds a "
    "commitment to the source: against an adversary who breaks these nothing is promised."
)
NO_BUDGET = (
    "Give ε (or ρ), the privacy loss that you are ready to spend: nothing is chosen for you. Until "
    "then, errors are drawn for a budget of 1, and nothing is spent."
)


def converted(rho: float, delta: float) -> float:
    """Epsilon that holds except with chance delta: rho + 2 sqrt(rho ln 1/delta).

    Source: Bun and Steinke 2016, Proposition 1.3.
    """
    return rho + 2 * sqrt(rho * log(1 / delta))


def rounded_up(value: float, digits: int = 3) -> str:
    """A number that is not too small: so many significant digits, rounded up, no exponent."""
    exact = Decimal(value * (1 + _SLACK))
    place = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    shown = exact.quantize(place, rounding=ROUND_CEILING)
    return f"{shown.normalize():f}" if abs(exact.adjusted()) < 15 else f"{shown:.2E}"


def posterior(prior: float, epsilon: float) -> float:
    """The largest chance after a release: p e^eps / (1 - p + p e^eps)."""
    return 1.0 if epsilon > 700 else prior * exp(epsilon) / (1 - prior + prior * exp(epsilon))


def stated(settings: PrivateSettings, cluster: str | None, change: int | None) -> dict[str, object]:
    """The parameters of a guarantee; ``change`` is the size of a minimal change, if any."""
    return {
        "epsilon" if settings.pure else "rho": plain(settings.budget),
        **({} if settings.pure else {"delta": float(settings.delta)}),
        "noise": settings.noise.value,
        "neighbours": "replace" if settings.replace else "add-remove",
        "rows_per_person": settings.rows_per_person,
        **({"cluster": [cluster]} if cluster else {}),
        **({} if change is None else {"minimal_change": change}),
    }


def model_of(settings: PrivateSettings) -> str:
    """What the guarantee is called."""
    pure = settings.pure
    return "epsilon-differential privacy" if pure else "zero-concentrated differential privacy"


def epsilon_of(settings: PrivateSettings) -> float:
    """The epsilon that is promised, or follows from rho but for a chance of delta."""
    budget = float(settings.budget)
    return budget if settings.pure else converted(budget, float(settings.delta))


def epsilon_between(settings: PrivateSettings) -> float:
    """What holds between two values of a person who is in the data; with rho, but for a delta.

    Under add/remove neighbours one value becomes another in two steps. With epsilon that costs
    twice as much, with rho four times: two steps of a sum whose bounds have both signs go the same
    way, and rho grows with the square of the distance (Bun and Steinke 2016, Proposition 1.9). So
    it is 4 rho + 4 sqrt(rho ln 1/delta). Where one person replaces another it is one step.
    """
    if settings.replace:
        return epsilon_of(settings)
    budget = float(settings.budget)
    return 2 * budget if settings.pure else converted(4 * budget, float(settings.delta))


def between_words(settings: PrivateSettings, which: str) -> str:
    """By what the odds between two of ``which`` change at most: for limits of a guarantee."""
    epsilon = epsilon_between(settings)
    times = times_words(epsilon)
    if settings.pure:
        return msg(
            "Odds between two {which}: these change by up to ×{times}.", which=which, times=times
        )
    return msg(
        "Odds between two {which}: except with a chance of {delta}, these change "
        "by up to ×{times} (ε = {epsilon}).",
        which=which,
        delta=number_text(settings.delta),
        times=times,
        epsilon=rounded_up(epsilon),
    )


def several_changes_words(settings: PrivateSettings, which: str, unit: str) -> str:
    """What k changes at once cost: k times as much epsilon, and k² times as much rho."""
    cost = "k times as much" if settings.pure else "k² times as much ρ"
    return msg(
        "Larger differences between {which}: k times {unit} cost {cost}.",
        which=which,
        unit=unit,
        cost=cost,
    )


def others_beside_exact(settings: PrivateSettings, change: int) -> str:
    """How often other releases count whose noise was made for a change of one row alone.

    The loss here is for as many minimal changes as a person has rows.
    """
    rows = change * settings.rows_per_person
    times = rows if settings.pure else rows**2
    if times == 1:
        return OTHERS
    return joined(
        [
            OTHERS,
            msg(
                "A release whose noise was not made alongside the same exact numbers counts up to "
                "{times:,} times.",
                times=times,
            ),
        ]
    )


def times_words(epsilon: float) -> str:
    """By what odds change at most, rounded up: from 10^15 on as a power of ten."""
    if epsilon < _LARGE * log(10):
        return rounded_up(exp(epsilon))
    return f"10^{ceil(epsilon / log(10) * (1 + _SLACK))}"


def plain(value: Fraction) -> int | float:
    """A number for JSON."""
    return int(value) if value.denominator == 1 else float(value)


def lead_words(settings: PrivateSettings, epsilon: float) -> tuple[str, str, str]:
    """How a claim begins, its budget, and by what odds change at most."""
    times = times_words(epsilon)
    if settings.pure:
        return "Whatever is published", msg("ε = {n}", n=number_text(settings.budget)), times
    lead = msg(
        "Except with a chance of {delta}, whatever is published", delta=number_text(settings.delta)
    )
    rho, loss = number_text(settings.budget), rounded_up(epsilon)
    return lead, msg("ρ = {rho}, ε = {epsilon}", rho=rho, epsilon=loss), times


def except_words(settings: PrivateSettings) -> str:
    """What a sentence about ε ends with where it follows from ρ: but for which chance it holds."""
    return (
        ""
        if settings.pure
        else msg(", except with a chance of {delta}", delta=number_text(settings.delta))
    )


def rise_words(settings: PrivateSettings) -> str:
    """To what a suspicion of 10 % can rise: how a claim ends. With rho, but for the chance delta
    that it names before.
    """
    after = suspicion_after(epsilon_of(settings))
    again = "" if settings.pure else ", again except with that chance"
    return msg("can rise to at most {after} %{again}.", after=after, again=again)


def suspicion_after(epsilon: float) -> str:
    """What a suspicion of 10 % can rise to, in percent, rounded up: 100 at most."""
    return highest_percent(_PRIOR, epsilon)


def highest_percent(prior: float, epsilon: float) -> str:
    """What a chance ``prior`` can become, in percent with two digits, rounded up: 100 at most."""
    percent = 100 * posterior(prior, epsilon)
    return rounded_up(percent, 2) if percent < _NEARLY_SURE else "100"


def origin_words(
    names: Sequence[str], listed_ones: Collection[str], recorded: Mapping[str, str]
) -> tuple[str, ...]:
    """What is known of where the categories come from, and of which of them it is not.

    ``names`` are the columns, ``listed_ones`` those whose categories the plan lists (others are
    those of a hierarchy that it names), ``recorded`` the origins that it states.
    """
    hierarchies = {name: FROM_FILE for name in names if name not in listed_ones}
    known = hierarchies | dict(recorded)
    said = [
        msg(
            "The categories of {joined} {words}.",
            joined=listed([one for one in names if known.get(one) == origin]),
            words=words,
        )
        for origin, words in _ORIGINS.items()
        if origin in known.values()
    ]
    unknown = [name for name in names if name not in known]
    if unknown:
        said.append(
            msg("Where the categories of {names} come from is not recorded.", names=listed(unknown))
        )
    return tuple(said)


def person_guarantee(
    settings: PrivateSettings,
    cluster: str | None,
    parameters: Mapping[str, object],
    origins: Sequence[str] = (),
) -> Guarantee:
    """Claim, assumptions and limits of what hides a person; from the settings alone.

    ``origins`` say where the declared categories come from.
    """
    return Guarantee(
        model=model_of(settings),
        parameters=parameters,
        claim=person_claim(settings),
        assumes=(
            unit_words(settings, cluster),
            LINES,
            FIXED,
            *origins,
            INDEPENDENT,
            OTHERS,
            GENERATOR,
        ),
        does_not_cover=_not_covered(settings),
    )


def person_claim(settings: PrivateSettings) -> str:
    """What holds for any person, in odds."""
    lead, given, times = lead_words(settings, epsilon_of(settings))
    if settings.replace:
        return msg(
            "{lead}, the odds between any two values of a person in the data change "
            "by at most ×{times} ({given}).",
            lead=lead,
            times=times,
            given=given,
        )
    return msg(
        "{lead}, the odds that a given person is in the data change by at most "
        "×{times} ({given}). A suspicion of 10 % {rise_words}",
        lead=lead,
        times=times,
        given=given,
        rise_words=rise_words(settings),
    )


def unit_words(settings: PrivateSettings, cluster: str | None) -> str:
    """Which rows are one person's, and what makes sure of it."""
    rows = settings.rows_per_person
    held = "one row" if rows == 1 else msg("at most {rows:,} rows", rows=rows)
    if not cluster:
        return msg(
            "Every person has {held} in the data; nothing in the data enforced it.", held=held
        )
    return counted(
        "A person (or household) is all rows with the same `{cluster}`; of each, "
        "{held} was used, and rows without it were left out.",
        "A person (or household) is all rows with the same `{cluster}`; of each, "
        "{held} were used, and rows without it were left out.",
        n=rows,
        cluster=cluster,
        held=held,
    )


def _not_covered(settings: PrivateSettings) -> tuple[str, ...]:
    whole = (
        "Facts about a whole group, which hold whether or not one person is in the data: anyone "
        "who is known to belong to the group may be judged by them."
    )
    limits = "The number of persons in the data: it is taken to be known."
    if not settings.replace:
        limits = between_words(settings, "values of a person who is known to be in the data")
    return (whole, limits, CHOOSING, PUBLISHING)
