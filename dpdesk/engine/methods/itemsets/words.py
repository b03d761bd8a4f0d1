"""The guarantee of itemsets in words, and what a manifest says worded again."""

from __future__ import annotations

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Manifest
from dpdesk.engine.cubes.guarantee import cube_guarantee
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings
from dpdesk.engine.private.guarantee_words import origin_words, person_guarantee, stated
from dpdesk.engine.private.settings import stated_cluster


def itemset_guarantee(settings: ItemsetSettings, cluster: str | None) -> Guarantee:
    """Claim, assumptions and limits; from the settings alone."""
    said = origin_words(settings.dimensions, settings.domains, settings.origins)
    return person_guarantee(settings, cluster, stated(settings, cluster, None), said)


def guarantee_again(manifest: Manifest) -> Guarantee:
    """The guarantee that the settings of a manifest give. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    settings = ItemsetSettings.from_parameters(values, "the manifest")
    cluster = stated_cluster(manifest)
    if settings.views:
        return cube_guarantee(settings.views.cube, cluster)
    return itemset_guarantee(settings, cluster)
