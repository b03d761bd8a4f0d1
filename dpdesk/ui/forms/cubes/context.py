"""What the fields of a cube know of the work around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpdesk.core.schema import Role

NOT_DIMENSIONS = frozenset({Role.IDENTIFIER, Role.WEIGHT, Role.CLUSTER})


@dataclass(frozen=True)
class FormContext:
    """Columns of the data, in order, their roles, and those that have a hierarchy."""

    columns: tuple[str, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    hierarchies: frozenset[str] = frozenset()

    @property
    def possible(self) -> tuple[str, ...]:
        """The columns that can be dimensions."""
        return tuple(
            name
            for name in self.columns
            if self.roles.get(name, Role.INSENSITIVE) not in NOT_DIMENSIONS
        )
