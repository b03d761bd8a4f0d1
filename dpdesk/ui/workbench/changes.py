"""What has changed, so that a panel refreshes only what it shows."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from dpdesk.app.types import WorkState


class Aspect(Enum):
    """A part of what the workbench holds."""

    SOURCE = "source"  # which file is read, and how
    DATA = "data"  # the loaded data (or none)
    PROFILE = "profile"  # the profile of the loaded data
    ROLES = "roles"
    HIERARCHIES = "hierarchies"
    METHOD = "method"
    PARAMETERS = "parameters"
    BUDGET = "budget"
    TITLE = "title"
    HISTORY = "history"  # undo, redo, breadcrumb, saved or not
    EXPLORATION = "exploration"  # a search has ended, started, or become stale
    CANDIDATES = "candidates"
    RELEASE = "release"  # the release at hand and what checking it showed


Changes: TypeAlias = frozenset[Aspect]


def compare(old: WorkState, new: WorkState) -> set[Aspect]:
    """The aspects in which two states of the work differ."""
    pairs = (
        (Aspect.SOURCE, (old.source, old.base), (new.source, new.base)),
        (Aspect.ROLES, (old.roles, old.pseudonyms), (new.roles, new.pseudonyms)),
        (Aspect.HIERARCHIES, old.hierarchies, new.hierarchies),
        (Aspect.METHOD, old.method, new.method),
        (Aspect.PARAMETERS, old.parameters, new.parameters),
        (Aspect.BUDGET, old.budget, new.budget),
        (Aspect.TITLE, old.title, new.title),
    )
    return {aspect for aspect, before, after in pairs if before != after}
