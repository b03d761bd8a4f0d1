"""Columns of a cube with the categories that its plan declares."""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.engine.cubes.settings import CubeSettings
from dpdesk.engine.private.declared import DeclaredDomain, declare
from dpdesk.engine.private.method import PrivateInput


def declared_of(
    settings: CubeSettings, given: PrivateInput, names: Sequence[str]
) -> DeclaredDomain:
    """These columns as the settings and hierarchies declare them; InputError ``cube.*``."""
    return DeclaredDomain(
        tuple(
            declare(
                name,
                settings.domains.get(name),
                given.hierarchies.get(name),
                settings.levels.get(name, 0),
                settings.outside.get(name),
                given.where,
            )
            for name in names
        )
    )
