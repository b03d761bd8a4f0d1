"""Edits of a tree by hand, as values: what is to be done, in words and on a hierarchy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

import numpy as np
from PySide6.QtCore import QCoreApplication

from dpdesk.app import hierarchies
from dpdesk.app.hierarchies import Examined
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.ui.words.counts import short_name
from dpdesk.ui.words.numbers import grouped, shortened

translate = QCoreApplication.translate


class EditKind(Enum):
    """What can be done to a tree."""

    GROUP = "group"
    RENAME = "rename"
    MOVE = "move"
    INSERT_LEVEL = "insert level"
    REMOVE_LEVEL = "remove level"
    SORT = "sort"
    REMOVE = "remove"
    ADD = "add"


@dataclass(frozen=True)
class Edit:
    """One edit: ``values`` of ``level``, and the new or target ``label`` where there is one."""

    kind: EditKind
    level: int = 0
    values: tuple[str, ...] = ()
    label: str = ""

    @property
    def words(self) -> str:
        """The edit in a few words, for the list of changes."""
        count = len(self.values)
        first = shown(self.values[0]) if self.values else ""
        what = (
            first if count == 1 else translate("Hierarchies", "{n} values").format(n=grouped(count))
        )
        templates = {
            EditKind.GROUP: translate("Hierarchies", "{what} grouped as {label}"),
            EditKind.RENAME: translate("Hierarchies", "{what} renamed {label}"),
            EditKind.MOVE: translate("Hierarchies", "{what} moved to {label}"),
            EditKind.INSERT_LEVEL: translate("Hierarchies", "level added above level {level}"),
            EditKind.REMOVE_LEVEL: translate("Hierarchies", "level {level} removed"),
            EditKind.SORT: translate("Hierarchies", "sorted"),
            EditKind.REMOVE: translate("Hierarchies", "{what} removed"),
            EditKind.ADD: translate("Hierarchies", "{what} added"),
        }
        return templates[self.kind].format(what=what, label=self.label, level=self.level)

    def on(self, examined: Examined) -> Hierarchy:
        """The edited hierarchy; raises InputError as the edits of the facade do.

        Values that lack a leaf become leaves only when the edit speaks of them, so that an edit
        elsewhere does not silently accept them.
        """
        base = self._base(examined)
        if self.kind is EditKind.GROUP:
            return hierarchies.group(base, self.level, self.values, self.label)
        if self.kind is EditKind.RENAME:
            return hierarchies.rename(base, self.level, self.values[0], self.label)
        if self.kind is EditKind.MOVE:
            return hierarchies.move(base, self.level, self.values, self.label)
        if self.kind is EditKind.INSERT_LEVEL:
            return hierarchies.insert_level(base, self.level)
        if self.kind is EditKind.REMOVE_LEVEL:
            return hierarchies.remove_level(base, self.level)
        if self.kind is EditKind.SORT:
            return hierarchies.sort_values(base)
        if self.kind is EditKind.REMOVE:
            return hierarchies.remove_values(base, self.values)
        return base

    def _base(self, examined: Examined) -> Hierarchy:
        needed = _leaves_below(examined, self.level, self.values)
        if self.kind is EditKind.MOVE:
            needed += _leaves_below(examined, self.level + 1, (self.label,))
        return examined.hierarchy.with_untouched_leaves(needed)


def _leaves_below(examined: Examined, level: int, values: Collection[str]) -> list[str]:
    """Leaves that the preview shows below some values and that the hierarchy itself lacks."""
    hierarchy = examined.preview.hierarchy
    if level > hierarchy.height or len(hierarchy.leaves) == len(examined.hierarchy.leaves):
        return []
    wanted = set(values)
    marked = np.array([label in wanted for label in hierarchy.labels[level]], dtype=np.bool_)
    below = np.flatnonzero(marked[hierarchy.ancestors(level)])
    return [
        hierarchy.leaves[leaf]
        for leaf in below
        if hierarchy.leaves[leaf] not in examined.hierarchy.leaf_codes
    ]


def shown(value: str) -> str:
    """A value as the window writes it: no empty text looks like nothing, a long one is cut."""
    return shortened(value) if value.strip() else short_name(value)
