"""Settings, guarantee and nodes of a graph once more, for its manifest."""

from __future__ import annotations

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_list
from dpdesk.engine.methods.dp_graph.parameters import PARAMETERS
from dpdesk.engine.methods.dp_graph.settings import GraphSettings
from dpdesk.engine.methods.dp_graph.words import graph_guarantee


def settings_of(manifest: Manifest) -> GraphSettings:
    """The settings in the public parameters of a manifest. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    return GraphSettings.from_parameters(values, "the manifest")


def guarantee_again(manifest: Manifest, change: int | None) -> Guarantee:
    """The guarantee that the settings give beside exact numbers with a minimal change of a size.

    Raises InputError, and what a malformed manifest raises.
    """
    parameters = manifest.guarantee.parameters
    clusters = as_list(parameters.get("cluster", []))
    cluster = str(clusters[0]) if clusters else None
    return graph_guarantee(settings_of(manifest), cluster, change)
