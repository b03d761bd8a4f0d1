"""The guarantee of itemsets in words, and what a manifest says worded again."""

from __future__ import annotations

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.manifest import Manifest
from dpdesk.core.messages import counted, msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.shapes import as_list
from dpdesk.engine.cubes.guarantee import cube_guarantee
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings
from dpdesk.engine.private.guarantee_words import (
    CHOOSING,
    GENERATOR,
    INDEPENDENT,
    LINES,
    OTHERS,
    PUBLISHING,
    between_words,
    epsilon_of,
    lead_words,
    model_of,
    rise_words,
    stated,
)


def itemset_guarantee(settings: ItemsetSettings, cluster: str | None) -> Guarantee:
    """Claim, assumptions and limits; from the settings alone."""
    return Guarantee(
        model=model_of(settings),
        parameters=stated(settings, cluster, None),
        claim=_claim(settings),
        assumes=(
            _unit(settings, cluster),
            LINES,
            "The categories, their order and all settings are taken to have been fixed without "
            "looking at the data.",
            INDEPENDENT,
            OTHERS,
            GENERATOR,
        ),
        does_not_cover=_not_covered(settings),
    )


def guarantee_again(manifest: Manifest) -> Guarantee:
    """The guarantee that the settings of a manifest give. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    clusters = as_list(manifest.guarantee.parameters.get("cluster", []))
    settings = ItemsetSettings.from_parameters(values, "the manifest")
    cluster = str(clusters[0]) if clusters else None
    if settings.views:
        return cube_guarantee(settings.views.cube, cluster)
    return itemset_guarantee(settings, cluster)


def _claim(settings: ItemsetSettings) -> str:
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


def _unit(settings: ItemsetSettings, cluster: str | None) -> str:
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


def _not_covered(settings: ItemsetSettings) -> tuple[str, ...]:
    whole = (
        "Facts about a whole group, which hold whether or not one person is in the data: who is "
        "known to belong to the group may be judged by them."
    )
    limits = "The number of persons in the data: it is taken to be known."
    if not settings.replace:
        limits = between_words(settings, "values of a person who is known to be in the data")
    return (whole, limits, CHOOSING, PUBLISHING)
