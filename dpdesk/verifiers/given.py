"""The source of a release as it is handed to verifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dpdesk.core.frequency import FrequencySource
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.schema import Role


class Given(Protocol):
    """Counts of the source, with roles, hierarchies and parameters of the plan."""

    @property
    def source(self) -> FrequencySource:
        """The source's columns, and how many rows have which values."""
        ...

    @property
    def roles(self) -> Mapping[str, Role]:
        """The role of every column, in the source's order."""
        ...

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """Hierarchies by column."""
        ...

    @property
    def parameters(self) -> Mapping[str, ParameterValue]:
        """The settings of the method."""
        ...
