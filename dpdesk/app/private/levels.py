"""The levels of a dimension's hierarchy as people choose them: how many categories, and which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpdesk.core.errors import DpdeskError
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile

if TYPE_CHECKING:
    from dpdesk.project.work import WorkState

EXAMPLES = 3
_MOST_LEVELS = 31
_WHERE = "The plan, [protection]"


@dataclass(frozen=True)
class LevelChoice:
    """A level of a declared hierarchy; ``categories`` is None where the data alone know them."""

    level: int
    categories: int | None
    examples: tuple[str, ...] = ()


def level_choices(work: WorkState, column: str, token: CancelToken) -> tuple[LevelChoice, ...]:
    """All levels of the hierarchy of a column; none where nothing declares them.

    Nothing of the data is looked at. Raises Cancelled.
    """
    from dpdesk.engine.private.declared import declare

    try:
        hierarchy = _declared(work, column, token)
    except DpdeskError:
        token.check()
        return ()
    if hierarchy is None:
        return ()
    found: list[LevelChoice] = []
    for level in range(_MOST_LEVELS):
        token.check()
        try:
            categories = declare(column, None, hierarchy, level, None, _WHERE).categories
        except DpdeskError:
            if level > 0:
                break
            found.append(LevelChoice(0, None))
            continue
        found.append(LevelChoice(level, len(categories), categories[:EXAMPLES]))
    return tuple(found) if len(found) > 1 else ()


def _declared(
    work: WorkState, column: str, token: CancelToken
) -> Hierarchy | HierarchyBuilder | None:
    from dpdesk.io.hierarchyfile import open_hierarchy

    choice = work.hierarchies.get(column)
    if isinstance(choice, HierarchyFile):
        token.check()
        return open_hierarchy(work.base / choice.path, column).hierarchy
    if isinstance(choice, HierarchyBuilder):
        return choice
    return None
