"""Work that the panel gives to background jobs: it touches nothing of the window.

Errors of a hierarchy are part of the answer, because the panel shows them beside the attribute.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication

from dpdesk.app import auditing, hierarchies
from dpdesk.app.hierarchies import Examined
from dpdesk.app.types import AppContext, ColumnType, DataStore, HierarchyChoice
from dpdesk.core.charts import Axis, BarChart, BarSeries, ChartTable
from dpdesk.core.errors import Cancelled, DpdeskError
from dpdesk.core.hierarchy import Codes, Hierarchy, HierarchyPreview, LevelEffect, LevelSummary
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.logged import Logged
from dpdesk.core.plan import HierarchySpec, SuggestedHierarchy
from dpdesk.ui.jobs import JobFailed
from dpdesk.ui.jobs.hub import failure
from dpdesk.ui.words.numbers import grouped, short_name, shortened
from dpdesk.ui.words.spoken import said_line


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
        if self.kind is EditKind.GROUP and takes_place(base, self.level):
            return hierarchies.merge(base, self.level, self.values, self.label)
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


def takes_place(hierarchy: Hierarchy, level: int) -> bool:
    """Whether a new group takes the place of groups: above them is the top, and no level comes
    unasked between.
    """
    return 0 < level == hierarchy.height - 1


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
    """A value as the window writes it: no empty text looks like nothing, a long one is cut.

    Blanks at its ends are signs: else it looked like another value, and stood twice in a list.
    """
    inner = value.strip(" ")
    if not value.strip():
        return short_name(value)
    before, after = value.index(inner), len(value.rstrip(" "))
    return "␣" * before + shortened(inner) + "␣" * (len(value) - after)


FEWEST_BARS, MOST_BARS = 4, 24
TABLE_AT_MOST = 2_000
AIR = 1.12

translate = QCoreApplication.translate


def level_chart(
    preview: HierarchyPreview, level: int, table: ChartTable, bars: int = 12
) -> BarChart:
    """Rows per value at a level, in the order of the hierarchy.

    With more than ``bars`` values in the data, the most frequent and the rarest ones are shown, by
    frequency, with a line for those between. ``table`` is the twin, from
    :func:`level_table`.
    """
    rows, labels = preview.rows[level], preview.hierarchy.labels[level]
    barred = barred_codes(preview, level, bars)
    between = preview.levels[level].values - barred.size
    values = [float(rows[code]) for code in barred]
    attribute = preview.hierarchy.attribute
    absent = _flags(preview.hierarchy, preview.missing)[level]
    question = translate("Hierarchies", "How many rows have the same value of {name}?")
    return BarChart(
        id=f"hierarchy-{attribute}-level-{level}",
        question=question.format(name=short_name(attribute)),
        answer=_answer(preview, level, between),
        category_axis=Axis(short_name(attribute)),
        value_axis=_rows_axis(values),
        categories=tuple(shown(labels[code]) for code in barred),
        series=(BarSeries(translate("Hierarchies", "Rows"), tuple(values)),),
        table=table,
        horizontal=True,
        threshold_before=_frequent(bars) if between else None,
        missing=frozenset(np.flatnonzero(absent[barred]).tolist()),
    )


def _frequent(bars: int) -> int:
    """How many of the bars show the most frequent values, when not all values have one."""
    return (bars + 1) // 2


def _rows_axis(values: Sequence[float]) -> Axis:
    """From 0, with room for the number at the end of the longest bar."""
    words = translate("Hierarchies", "Rows"), translate("Hierarchies", "count")
    return Axis(*words, minimum=0, maximum=max(values, default=1.0) * AIR)


def barred_codes(preview: HierarchyPreview, level: int, bars: int) -> NDArray[np.int64]:
    """The values that have a bar, from top to bottom."""
    rows = preview.rows[level]
    used = np.flatnonzero(rows)
    if used.size <= bars:
        return used
    ranked = used[np.argsort(-rows[used], kind="stable")]
    first = _frequent(bars)
    return np.concatenate((ranked[:first], ranked[ranked.size - (bars - first) :]))


def _answer(preview: HierarchyPreview, level: int, between: int) -> str:
    """From the rarest to the most frequent value, and how many have no bar."""
    rows, labels = preview.rows[level], preview.hierarchy.labels[level]
    summary, most = preview.levels[level], int(np.argmax(rows))
    if summary.values < 2:
        return level_sentence(summary)
    template = translate(
        "Hierarchies", "From {small} ({rarest}) to {large} ({most}) of {total} rows."
    )
    if between == 1:
        template = translate(
            "Hierarchies",
            "From {small} ({rarest}) to {large} ({most}) of {total} rows. The line stands for "
            "one more value.",
        )
    elif between:
        template = translate(
            "Hierarchies",
            "From {small} ({rarest}) to {large} ({most}) of {total} rows. The line stands for "
            "{n} more values.",
        )
    return template.format(
        n=grouped(between),
        small=grouped(summary.smallest),
        rarest=short_name(summary.rarest),
        large=grouped(int(rows[most])),
        most=short_name(labels[most]),
        total=grouped(int(rows.sum())),
    )


def level_table(preview: HierarchyPreview, level: int) -> ChartTable:
    """The twin of the chart: up to TABLE_AT_MOST values with rows, share and values below."""
    columns = (
        translate("Hierarchies", "Value"),
        translate("Hierarchies", "Rows"),
        translate("Hierarchies", "Share"),
        translate("Hierarchies", "Values below"),
    )
    total = max(int(preview.rows[level].sum()), 1)
    values = preview.values(level, TABLE_AT_MOST)
    rows = tuple(
        (shown(entry.value), entry.rows, share_text(entry.rows, total), entry.leaves)
        for entry in values
    )
    return ChartTable(columns, rows)


def share_text(rows: int, total: int) -> str:
    """A share of the rows in percent, with one digit; never a false zero."""
    if rows and rows * 1000 < total:
        return "<0.1 %"
    return f"{rows / max(total, 1):.1%}".replace("%", " %")


def level_sentence(summary: LevelSummary) -> str:
    """What a level is, in one sentence."""
    if summary.values == 0:
        return translate("Hierarchies", "At this level no value occurs in the data.")
    if summary.values == 1:
        return translate(
            "Hierarchies", "At this level all {rows} rows have the same value, {value}."
        ).format(rows=grouped(summary.smallest), value=short_name(summary.rarest))
    if summary.smallest == 1:
        sentence = translate(
            "Hierarchies", "At this level: {values} values, smallest group 1 row ({rarest})."
        )
    else:
        sentence = translate(
            "Hierarchies", "At this level: {values} values, smallest group {rows} rows ({rarest})."
        )
    return sentence.format(
        values=grouped(summary.values),
        rows=grouped(summary.smallest),
        rarest=short_name(summary.rarest),
    )


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


def examine_choice(
    data: DataStore,
    attribute: str,
    choice: HierarchyChoice | None,
    base: Path,
    token: CancelToken,
    report: Report,
) -> Answer:
    """Resolve a choice and count its values."""
    try:
        examined = hierarchies.examine(data, attribute, choice, base, token)
        return Answer(data, attribute, choice, look_at(examined, token))
    except Cancelled:
        raise
    except DpdeskError as error:
        told = failure(0, attribute, error)
        return Answer(data, attribute, choice, None, told)


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
    def builder(self) -> HierarchySpec | None:
        """The builder or file that is suggested."""
        return None if self.found is None else self.found.builder


def suggest(
    data: DataStore,
    kinds: Mapping[str, ColumnType],
    before: Mapping[str, HierarchyChoice | None],
    token: CancelToken,
    report: Report,
) -> tuple[Suggestion, ...]:
    """Find a builder for each of some attributes."""
    made = []
    for attribute, kind in kinds.items():
        token.check()
        found, problem = None, ""
        try:
            found = hierarchies.suggest(data, attribute, kind, token)
        except Cancelled:
            raise
        except DpdeskError as error:
            problem = said_line(error)
        made.append(Suggestion(attribute, before.get(attribute), found, problem))
    return tuple(made)


@dataclass(frozen=True)
class Edited:
    """A hierarchy edited by hand; ``before`` is the choice from which the edit started."""

    attribute: str
    before: HierarchyChoice | None
    hierarchy: Hierarchy
    edit: Edit


def make_edit(
    attribute: str,
    before: HierarchyChoice | None,
    examined: Examined,
    edit: Edit,
    token: CancelToken,
    report: Report,
) -> Edited:
    """Edit a hierarchy; large ones take longer than a frame. Raises InputError."""
    return Edited(attribute, before, edit.on(examined), edit)


@dataclass(frozen=True)
class Imported:
    """A hierarchy file that can be read; ``notes`` say how it was read."""

    attribute: str
    path: Path
    notes: tuple[str, ...]


def import_file(attribute: str, path: Path, token: CancelToken, report: Report) -> Imported:
    """Read and check a hierarchy file before the work refers to it.

    Raises StorageError, InputError.
    """
    reading = hierarchies.load(path, attribute)
    return Imported(attribute, path, tuple(reading.notes))


def export_file(
    context: AppContext, hierarchy: Hierarchy, path: Path, token: CancelToken, report: Report
) -> Path:
    """Write a hierarchy as a file. Raises StorageError."""
    facts = {"what": "hierarchy", "column": hierarchy.attribute}
    auditing.enter(context, Logged.EXPORTED, path.absolute(), facts)
    hierarchies.save(hierarchy, path, context.workspace)
    return path
