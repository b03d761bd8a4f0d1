"""Hierarchies that a plan leaves to be made from values, made again from fewer of them.

A hierarchy that is made from all rows may show, in its labels and its number of levels, values that
only suppressed rows have. What the plan makes of the released rows alone shows nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from dpdesk.core.errors import InputError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.engine.hierarchies.alignment import default_hierarchy
from dpdesk.engine.hierarchies.builders import build_hierarchy

Remake = Callable[[Sequence[str], Collection[str]], Hierarchy | None]
"""The hierarchy of some values, and of those of them that mean a missing one."""


def remakes(made: Mapping[str, HierarchyBuilder | None]) -> dict[str, Remake]:
    """By attribute, what makes its hierarchy; None stands for the value itself, then ``*``."""
    return {name: partial(_made, name, builder) for name, builder in made.items()}


def _made(
    attribute: str,
    builder: HierarchyBuilder | None,
    values: Sequence[str],
    missing: Collection[str],
) -> Hierarchy | None:
    """None where the plan makes no hierarchy of so few values: a form of dates is open then."""
    if builder is None:
        return default_hierarchy(attribute, values)
    try:
        return build_hierarchy(attribute, builder, values, missing)
    except InputError:
        return None
