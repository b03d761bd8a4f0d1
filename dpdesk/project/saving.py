"""Save the work as a plan file, with the hierarchies made by hand as files beside it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from dpdesk.project.work import WorkState

if TYPE_CHECKING:
    from dpdesk.io.safewrite import PartialKeeper


def save_work(state: WorkState, path: Path, keeper: PartialKeeper) -> WorkState:
    """Write ``state`` as the plan file ``path`` and return the state that the file holds.

    Hierarchies that are values go into the folder ``<plan name>-hierarchies`` beside the plan, one
    CSV file each; in the returned state they are files. The plan is written last, so that it never
    names a file that is not there; ``keeper`` minds the half-written files. Raises StorageError;
    ValueError when no data file was chosen.
    """
    from dpdesk.io.hierarchyfile import write_hierarchy
    from dpdesk.io.planfile import write_plan

    folder = path.absolute().parent
    values = state.hand_made()
    files = hierarchy_files(values, path)
    plan = state.to_plan(folder, files)
    for name, hierarchy in values.items():
        write_hierarchy(hierarchy, folder / files[name], keeper)
    write_plan(plan, path, keeper)
    return WorkState.from_plan(plan, folder)


def hierarchy_files(attributes: Iterable[str], plan: Path) -> dict[str, str]:
    """The path, relative to the plan, of each attribute's hierarchy file; no two are equal."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for attribute in attributes:
        stem = quote(attribute, safe=" ()+,-=@[]{}~") or "column"
        name, number = stem, 2
        while name.casefold() in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name.casefold())
        names[attribute] = f"{plan.stem}-hierarchies/{name}.csv"
    return names
