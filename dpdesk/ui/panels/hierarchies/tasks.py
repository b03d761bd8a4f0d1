"""Work that the panel gives to background jobs: plain callables that touch nothing of the window.

Errors of a hierarchy are part of the answer, because the panel shows them beside the attribute.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpdesk.app import hierarchies, recording
from dpdesk.app.hierarchies import Examined
from dpdesk.app.types import AppContext, DataStore, HierarchyChoice
from dpdesk.core.charts import ChartTable
from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.hierarchy import Codes, Hierarchy
from dpdesk.core.hierarchy_preview import LevelEffect
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.plan import HierarchyBuilder
from dpdesk.core.schema import ColumnType
from dpdesk.core.suggested import SuggestedHierarchy
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.jobs.outcomes import failure
from dpdesk.ui.panels.hierarchies.edits import Edit
from dpdesk.ui.panels.hierarchies.pictures import level_table
from dpdesk.ui.words.spoken import said_line

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TreeShape:
    """Children and places of the nodes of a hierarchy.

    A node is a value ``code`` of a ``level``, numbered ``offsets[level] + code``. ``order[l]`` are
    the codes of level ``l`` in the order in which they are shown, siblings together;
    ``starts[l]`` says where the children of each value of level ``l + 1`` begin in it;
    ``ranks[l][code]`` is the place of a value among its siblings. ``lacking[l][code]`` tells
    whether only values that lack a leaf are below, ``missing[l][code]`` only missing values.
    """

    offsets: tuple[int, ...]
    order: tuple[Codes, ...] = field(repr=False)
    starts: tuple[NDArray[np.int64], ...] = field(repr=False)
    ranks: tuple[Codes, ...] = field(repr=False)
    lacking: tuple[Flags, ...] = field(repr=False)
    missing: tuple[Flags, ...] = field(repr=False)

    @classmethod
    def of(
        cls,
        hierarchy: Hierarchy,
        lacking: frozenset[int] = frozenset(),
        missing: frozenset[int] = frozenset(),
    ) -> TreeShape:
        """The shape of a hierarchy; leaves in ``lacking`` come first among their siblings."""
        flags = _flags(hierarchy, lacking)
        order: list[Codes] = []
        starts: list[NDArray[np.int64]] = []
        ranks: list[Codes] = []
        for level, parents in enumerate(hierarchy.parents):
            by_parent = np.lexsort((np.arange(len(parents)), ~flags[level], parents))
            counts = np.bincount(parents, minlength=len(hierarchy.labels[level + 1]))
            begins = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
            rank = np.empty(len(parents), dtype=np.int32)
            rank[by_parent] = np.arange(len(parents)) - begins[parents[by_parent]]
            order.append(by_parent.astype(np.int32))
            starts.append(begins)
            ranks.append(rank)
        sizes = [len(labels) for labels in hierarchy.labels]
        offsets = tuple(int(total) for total in np.concatenate(([0], np.cumsum(sizes)))[:-1])
        empty = tuple(_flags(hierarchy, missing))
        return cls(offsets, tuple(order), tuple(starts), tuple(ranks), tuple(flags), empty)

    @property
    def height(self) -> int:
        """The level of the top."""
        return len(self.order)

    def number(self, level: int, code: int) -> int:
        """The number of a node."""
        return self.offsets[level] + code

    def node(self, number: int) -> tuple[int, int]:
        """Level and code of a node."""
        level = bisect_right(self.offsets, number) - 1
        return level, number - self.offsets[level]

    def child_count(self, level: int, code: int) -> int:
        """Number of children of a node."""
        if level == 0:
            return 0
        starts = self.starts[level - 1]
        return int(starts[code + 1] - starts[code])

    def child(self, level: int, code: int, row: int) -> int:
        """The code, one level below, of a child of a node."""
        return int(self.order[level - 1][self.starts[level - 1][code] + row])

    def children(self, level: int, code: int, first: int, last: int) -> Codes:
        """The codes of the children ``first`` to ``last`` (inclusive) of a node."""
        start = int(self.starts[level - 1][code])
        return self.order[level - 1][start + first : start + last + 1]

    def row(self, level: int, code: int) -> int:
        """The place of a node among its siblings; 0 for the top."""
        return int(self.ranks[level][code]) if level < self.height else 0


def _flags(hierarchy: Hierarchy, leaves: frozenset[int]) -> list[Flags]:
    """Per level, which values stand above these leaves only."""
    flag = np.zeros(len(hierarchy.leaves), dtype=np.bool_)
    flag[sorted(leaves)] = True
    flags = [flag]
    for level, parents in enumerate(hierarchy.parents):
        above = np.ones(len(hierarchy.labels[level + 1]), dtype=np.bool_)
        above[parents[~flags[-1]]] = False
        flags.append(above)
    return flags


@dataclass(frozen=True, eq=False)
class HierarchyAnswer:
    """All that the panel shows of a hierarchy over a column; one effect and table per level."""

    attribute: str
    examined: Examined
    shape: TreeShape
    effects: tuple[LevelEffect, ...]
    tables: tuple[ChartTable, ...]

    @property
    def height(self) -> int:
        """The highest level."""
        return self.shape.height


@dataclass(frozen=True, eq=False)
class Answer:
    """What a choice for an attribute turned out to be: a look, or why there is none."""

    data: DataStore
    attribute: str
    choice: HierarchyChoice | None
    look: HierarchyAnswer | None
    error: JobFailed | None = None


@dataclass(frozen=True, eq=False)
class Examine:
    """Resolve a choice and count its values."""

    data: DataStore
    attribute: str
    choice: HierarchyChoice | None
    base: Path

    def __call__(self, token: CancelToken, report: Report) -> Answer:
        """The answer."""
        try:
            examined = hierarchies.examine(self.data, self.attribute, self.choice, self.base, token)
            return Answer(self.data, self.attribute, self.choice, look_at(examined, token))
        except Cancelled:
            raise
        except DpdeskError as error:
            told = failure(0, self.attribute, error)
            return Answer(self.data, self.attribute, self.choice, None, told)


def look_at(examined: Examined, token: CancelToken) -> HierarchyAnswer:
    """Shape, effects and tables of an examined hierarchy."""
    preview = examined.preview
    leaf_codes = preview.hierarchy.leaf_codes
    lacking = frozenset(leaf_codes[count.value] for count in examined.lacking)
    effects: list[LevelEffect] = []
    tables: list[ChartTable] = []
    for level in range(preview.hierarchy.height + 1):
        token.check()
        effects.append(hierarchies.level_effect(preview, level))
        tables.append(level_table(preview, level))
    shape = TreeShape.of(preview.hierarchy, lacking, preview.missing)
    return HierarchyAnswer(
        preview.hierarchy.attribute, examined, shape, tuple(effects), tuple(tables)
    )


@dataclass(frozen=True)
class Suggestion:
    """What suits an attribute that had ``before``; ``found`` None and ``problem`` when nothing."""

    attribute: str
    before: HierarchyChoice | None
    found: SuggestedHierarchy | None
    problem: str = ""

    @property
    def builder(self) -> HierarchyBuilder | None:
        """The builder that is suggested."""
        return None if self.found is None else self.found.builder


@dataclass(frozen=True, eq=False)
class Suggest:
    """Find a builder for each of some attributes."""

    data: DataStore
    kinds: Mapping[str, ColumnType]
    before: Mapping[str, HierarchyChoice | None] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def __call__(self, token: CancelToken, report: Report) -> tuple[Suggestion, ...]:
        """One suggestion per attribute."""
        return tuple(self._one(name, kind, token) for name, kind in self.kinds.items())

    def _one(self, attribute: str, kind: ColumnType, token: CancelToken) -> Suggestion:
        token.check()
        before = self.before.get(attribute)
        try:
            found = hierarchies.suggest(self.data, attribute, kind, token)
        except Cancelled:
            raise
        except DpdeskError as error:
            return Suggestion(attribute, before, None, said_line(error))
        return Suggestion(attribute, before, found)


@dataclass(frozen=True)
class Edited:
    """A hierarchy edited by hand; ``before`` is the choice from which the edit started."""

    attribute: str
    before: HierarchyChoice | None
    hierarchy: Hierarchy
    edit: Edit


@dataclass(frozen=True, eq=False)
class MakeEdit:
    """Edit a hierarchy; large ones take longer than a frame."""

    attribute: str
    before: HierarchyChoice | None
    examined: Examined
    edit: Edit

    def __call__(self, token: CancelToken, report: Report) -> Edited:
        """The edited hierarchy. Raises InputError."""
        return Edited(self.attribute, self.before, self.edit.on(self.examined), self.edit)


@dataclass(frozen=True)
class Imported:
    """A hierarchy file that can be read; ``notes`` say how it was read."""

    attribute: str
    path: Path
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ImportFile:
    """Read and check a hierarchy file before the work refers to it."""

    attribute: str
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> Imported:
        """The checked file. Raises StorageError, InputError."""
        reading = hierarchies.load(self.path, self.attribute)
        return Imported(self.attribute, self.path, tuple(reading.notes))


@dataclass(frozen=True, eq=False)
class ExportFile:
    """Write a hierarchy as a file."""

    context: AppContext
    hierarchy: Hierarchy
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> Path:
        """The path that was written. Raises StorageError."""
        facts = {"what": "hierarchy", "column": self.hierarchy.attribute}
        recording.enter(self.context, "exported", self.path.absolute(), facts)
        hierarchies.save(self.hierarchy, self.path, self.context.workspace)
        return self.path
