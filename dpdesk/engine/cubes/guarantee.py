"""The guarantee of a cube in words."""

from __future__ import annotations

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.exact.words import exact_guarantee
from dpdesk.engine.cubes.guarantee_words import assumptions
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import (
    CHOOSING,
    PUBLISHING,
    between_words,
    epsilon_of,
    lead_words,
    model_of,
    rise_words,
    stated,
)


def cube_guarantee(
    settings: CubeSettings, cluster: str | None, change: int | None = None
) -> Guarantee:
    """Claim, assumptions and limits; from the settings alone.

    ``change`` is the size of a minimal change where something is released exactly.
    """
    parameters, model = stated(settings, cluster, change), model_of(settings)
    epsilon = epsilon_of(settings)
    if change is not None:
        return exact_guarantee(
            settings,
            msg("{model} beside exact tables", model=model),
            parameters,
            epsilon,
            change,
            cluster,
        )
    return Guarantee(
        model=model,
        parameters=parameters,
        claim=_claim(settings, epsilon),
        assumes=assumptions(settings, cluster),
        does_not_cover=_not_covered(settings),
    )


def _claim(settings: CubeSettings, epsilon: float) -> str:
    lead, given, times = lead_words(settings, epsilon)
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


def _not_covered(settings: CubeSettings) -> tuple[str, ...]:
    sentences = [
        "Facts about a whole group, which hold whether or not one person is in the data: who is "
        "known to belong to the group may be judged by them.",
    ]
    if not settings.replace:
        which = "values of a person who is known to be in the data"
        sentences.append(between_words(settings, which))
    else:
        sentences.append("The number of persons in the data: it is taken to be known.")
    sentences += [CHOOSING, PUBLISHING]
    return tuple(sentences)
