"""The guarantee of a cube in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpdesk.core.budget import amount
from dpdesk.core.messages import joined, msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Guarantee, Manifest
from dpdesk.core.shapes import as_table
from dpdesk.engine.cubes.exact.words import assumptions, exact_guarantee
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.guarantee_words import (
    CHOOSING,
    PUBLISHING,
    between_words,
    epsilon_of,
    model_of,
    person_claim,
    stated,
)
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.private.settings import REPLACE, PrivateSettings, stated_cluster


def cube_guarantee(
    settings: CubeSettings, cluster: str | None, change: int | None = None
) -> Guarantee:
    """Claim, assumptions and limits; from the settings alone.

    ``change`` is the size of a minimal change where something is released exactly.
    """
    parameters, model = stated(settings, cluster, change), model_of(settings)
    if change is not None:
        return exact_guarantee(
            settings,
            msg("{model} alongside exact tables", model=model),
            parameters,
            epsilon_of(settings),
            change,
            cluster,
        )
    return Guarantee(
        model=model,
        parameters=parameters,
        claim=person_claim(settings),
        assumes=assumptions(settings, cluster),
        does_not_cover=_not_covered(settings),
    )


def together_claim(releases: Sequence[Guarantee]) -> str:
    """What holds for several releases about the same persons together: their losses add up.

    Only of guarantees of one kind, for persons of equally many rows, and next to nothing exact; of
    others it says that no one sentence holds. Source: Dwork and Roth 2014, Theorem 3.14; Bun and
    Steinke 2016, Lemma 1.7.
    """
    composed = _composed([one.parameters for one in releases])
    if composed is None or len({one.model for one in releases}) > 1:
        return msg(
            "No single sentence holds for these {count} releases together: each has its own "
            "claim, and their costs add up.",
            count=len(releases),
        )
    added = msg("The losses of these {count} releases are added up.", count=len(releases))
    return joined([added, person_claim(composed)])


_AMOUNTS = ("epsilon", "rho", "delta")


def _composed(guarantees: Sequence[Mapping[str, object]]) -> PrivateSettings | None:
    """Settings that promise what all of these do together; None where that is not known."""
    first = guarantees[0]
    key = "epsilon" if "epsilon" in first else "rho"
    needed = {key, "noise", "neighbours", "rows_per_person"} | (
        {"delta"} if key == "rho" else set()
    )
    fixed = [{name: one[name] for name in one if name not in _AMOUNTS} for one in guarantees]
    known = all(needed <= set(one) <= needed | {"cluster"} for one in guarantees)
    if not known or any(one != fixed[0] for one in fixed):
        return None
    total = sum((amount(one[key], key) for one in guarantees), Fraction(0))
    delta = min(amount(one.get("delta", 0), "delta") for one in guarantees)
    kind, rows = Noise(str(first["noise"])), int(str(first["rows_per_person"]))
    return PrivateSettings(kind, total, delta, first["neighbours"] == REPLACE, rows)


def _not_covered(settings: CubeSettings) -> tuple[str, ...]:
    sentences = [
        "Facts about a whole group, which hold whether or not one person is in the data: anyone "
        "who is known to belong to the group may be judged by them.",
    ]
    if not settings.replace:
        which = "values of a person who is known to be in the data"
        sentences.append(between_words(settings, which))
    else:
        sentences.append("The number of persons in the data: it is taken to be known.")
    sentences += [CHOOSING, PUBLISHING]
    return tuple(sentences)


# Settings and guarantee of a cube once more, from the public parameters of its manifest.


def settings_of(manifest: Manifest) -> CubeSettings:
    """The settings in the public parameters of a manifest. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    return CubeSettings.from_parameters(values, "the manifest")


def guarantee_again(manifest: Manifest) -> Guarantee:
    """The guarantee that the settings and the stated minimal change give.

    Raises InputError, and what a malformed manifest raises.
    """
    exact = manifest.result.get("exact")
    change = None if exact is None else int(str(as_table(exact)["minimal_change"]))
    return cube_guarantee(settings_of(manifest), stated_cluster(manifest), change)
