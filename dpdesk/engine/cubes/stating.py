"""Settings and guarantee of a cube once more, from the public parameters of its manifest."""

from __future__ import annotations

from dpdesk.core.guarantee import Guarantee
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Manifest
from dpdesk.core.shapes import as_table
from dpdesk.engine.cubes.guarantee import cube_guarantee
from dpdesk.engine.cubes.parameters import PARAMETERS
from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.settings import stated_cluster


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
