"""Settings, guarantee and nodes of a graph once more, for its manifest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Manifest
from dpdesk.engine.methods.dp_graph.parameters import PARAMETERS
from dpdesk.engine.methods.dp_graph.settings import GraphSettings
from dpdesk.engine.methods.dp_graph.words import graph_guarantee
from dpdesk.engine.private.settings import stated_cluster


def settings_of(manifest: Manifest) -> GraphSettings:
    """The settings in the public parameters of a manifest. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    return GraphSettings.from_parameters(values, "the manifest")


def words_again(manifest: Manifest) -> Callable[[int | None], Guarantee]:
    """The guarantee that the settings give beside exact numbers with a minimal change of a size.

    Raises InputError, and what a malformed manifest raises.
    """
    return partial(graph_guarantee, settings_of(manifest), stated_cluster(manifest))
