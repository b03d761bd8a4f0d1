"""Settings, guarantee and nodes of a graph once more, for its manifest."""

from __future__ import annotations

from collections.abc import Mapping

from dpdesk.core.errors import InputError
from dpdesk.core.guarantee import Guarantee
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.published import CheckStatus, ClaimCheck
from dpdesk.core.shapes import as_list, as_table
from dpdesk.engine.graphs.parameters import PARAMETERS
from dpdesk.engine.graphs.settings import GraphSettings
from dpdesk.engine.graphs.words import graph_guarantee
from dpdesk.engine.private.method import PrivateInput

MANIFEST = "manifest.json"


def settings_of(manifest: Mapping[str, object]) -> GraphSettings:
    """The settings in the public parameters of a manifest. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, as_table(manifest["parameters"]), "the manifest")
    return GraphSettings.from_parameters(values, "the manifest")


def guarantee_again(manifest: Mapping[str, object], change: int | None) -> Guarantee:
    """The guarantee that the settings give beside exact numbers with a minimal change of a size.

    Raises InputError, and what a malformed manifest raises.
    """
    parameters = as_table(as_table(manifest["guarantee"])["parameters"])
    clusters = as_list(parameters.get("cluster", []))
    cluster = str(clusters[0]) if clusters else None
    return graph_guarantee(settings_of(manifest), cluster, change)


def declared_check(manifest: Mapping[str, object], given: PrivateInput | None) -> list[ClaimCheck]:
    """Whether the nodes are those of the hierarchy, where the plan does not list them."""
    from dpdesk.engine.graphs.design import declared_nodes

    settings = settings_of(manifest)
    if settings.nodes is not None:
        return []
    claim, label = "nodes of the hierarchy", "The nodes are those that the plan declares"
    if given is None:
        found = "the hierarchy lies in the internal part"
        return [ClaimCheck(claim, CheckStatus.NEEDS_SOURCE, found, MANIFEST, label)]
    try:
        declared = declared_nodes(settings, given).domain.as_json()
    except InputError as error:
        return [ClaimCheck(claim, CheckStatus.FAILED, error.sentence, MANIFEST, label)]
    if as_table(manifest["result"])["domains"] == declared:
        return [
            ClaimCheck(claim, CheckStatus.CONFIRMED, "declared again, the same", MANIFEST, label)
        ]
    found = "the nodes are others, or in another order"
    return [ClaimCheck(claim, CheckStatus.FAILED, found, MANIFEST, label)]
