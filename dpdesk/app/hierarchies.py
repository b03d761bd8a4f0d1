"""Hierarchies for the window: read, build, suggest, edit by hand, and see what levels do.

The edits (:func:`group`, :func:`merge`, :func:`move`, :func:`rename`, :func:`insert_level`,
:func:`remove_level`, :func:`add_values`, :func:`remove_values`, :func:`sort_values`) are those of
:mod:`dpdesk.engine.hierarchies.editing`: each gives a new, checked hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.app.planning import build_from, missing_apart
from dpdesk.core.errors import InputError, StorageError
from dpdesk.core.hierarchy import BuilderForm, Hierarchy, HierarchyPreview, LevelEffect
from dpdesk.core.jobs import CancelToken
from dpdesk.core.plan import HierarchyBuilder, HierarchyFile, HierarchySpec, SuggestedHierarchy, Why
from dpdesk.core.schema import ColumnType, ValueCount
from dpdesk.engine.hierarchies.editing import (
    add_values,
    group,
    insert_level,
    merge,
    move,
    remove_level,
    remove_values,
    rename,
    sort_values,
)
from dpdesk.project.work import HierarchyChoice

if TYPE_CHECKING:
    from dpdesk.io.hierarchyfile import HierarchyReading
    from dpdesk.io.safewrite import PartialKeeper
    from dpdesk.io.store import DataStore

__all__ = [
    "Examined",
    "add_values",
    "build",
    "examine",
    "forms",
    "group",
    "insert_level",
    "level_effect",
    "load",
    "merge",
    "move",
    "preview",
    "remove_level",
    "remove_values",
    "rename",
    "resolve",
    "save",
    "sort_values",
    "suggest",
]


@dataclass(frozen=True, eq=False)
class Examined:
    """A hierarchy over a column, also when it does not cover the column.

    ``hierarchy`` is what the choice stands for. ``lacking`` are values of the data without a leaf,
    most frequent first; in ``preview`` they are leaves of their own below the top, as missing
    tokens are.
    """

    hierarchy: Hierarchy
    preview: HierarchyPreview
    lacking: tuple[ValueCount, ...] = ()


def load(path: Path, attribute: str) -> HierarchyReading:
    """Read a hierarchy file and say how it was read. Raises StorageError, InputError."""
    from dpdesk.io.hierarchyfile import open_hierarchy

    return open_hierarchy(path, attribute)


def save(hierarchy: Hierarchy, path: Path, keeper: PartialKeeper) -> None:
    """Write a hierarchy file. Raises StorageError."""
    from dpdesk.io.hierarchyfile import write_hierarchy

    write_hierarchy(hierarchy, path, keeper)


def forms() -> Mapping[str, BuilderForm]:
    """Title, summary and typed options of every builder, by kind."""
    from dpdesk.engine.hierarchies.builders import builder_forms

    return builder_forms()


def build(
    data: DataStore, attribute: str, builder: HierarchyBuilder, token: CancelToken
) -> Hierarchy:
    """The hierarchy that a builder makes for a column. Raises InputError, Cancelled."""
    return build_from(builder, attribute, data, token, data.name)


def resolve(
    data: DataStore,
    attribute: str,
    choice: HierarchyChoice | None,
    base: Path,
    token: CancelToken,
) -> Hierarchy:
    """The hierarchy that a choice of the work stands for; None means value, then ``*``.

    Raises InputError and StorageError when a file or builder fails.
    """
    if isinstance(choice, Hierarchy):
        return choice
    if isinstance(choice, HierarchyFile):
        return missing_apart(load(base / choice.path, attribute).hierarchy, data)[0]
    if isinstance(choice, HierarchyBuilder):
        return build(data, attribute, choice, token)
    from dpdesk.engine.hierarchies.preview import default_hierarchy

    return default_hierarchy(attribute, data.frequency_table([attribute], token).domains[0])


def suggest(
    data: DataStore, attribute: str, kind: ColumnType, token: CancelToken
) -> SuggestedHierarchy:
    """A hierarchy that suits the values of a column and builds without error, and why.

    That of the file's own metadata, if there is one; a file is named by its whole path.
    """
    from dpdesk.engine.hierarchies.suggestions import suggest_hierarchy

    stated = _stated(data, attribute, token)
    if stated is not None:
        return stated
    table = data.frequency_table([attribute], token)
    values = table.domains[0]
    missing = [values[code] for code in sorted(table.missing[0])] if table.missing else []
    rows = dict(zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True))
    counts = [rows.get(code, 0) for code in range(len(values))]
    return suggest_hierarchy(values, kind, missing, attribute, counts)


def _stated(data: DataStore, attribute: str, token: CancelToken) -> SuggestedHierarchy | None:
    """The hierarchy that the metadata of the source state; None without one that can be built."""
    variable = data.book.get(attribute)
    if variable is None or not variable.hierarchy:
        return None
    choice: HierarchySpec
    digits = [int(text) for text in variable.hierarchy.split() if text.isdigit() and int(text)]
    if digits:
        # The last digits are hidden first; without the first ones all that is left is the top.
        hidden = list(accumulate(reversed(digits)))[:-1]
        choice = HierarchyBuilder("mask", {"from": "right", "steps": hidden})
        facts = {"digits": " ".join(map(str, digits))}
    else:
        choice = HierarchyFile(str(data.path.with_name(variable.hierarchy)))
        facts = {"file": variable.hierarchy}
    try:
        resolve(data, attribute, choice, data.path.parent, token)
    except (InputError, StorageError):
        return None
    return SuggestedHierarchy(choice, Why.STATED, facts)


def preview(data: DataStore, hierarchy: Hierarchy, token: CancelToken) -> HierarchyPreview:
    """Rows per value of every level of a hierarchy over the data.

    Raises InputError ``hierarchy.missing-leaf``, which lists the values without a leaf.
    """
    from dpdesk.engine.hierarchies.preview import level_counts

    table = data.frequency_table([hierarchy.attribute], token)
    return level_counts(table, hierarchy, data.name)


def level_effect(
    previewed: HierarchyPreview, level: int, sample: Sequence[str] = ()
) -> LevelEffect:
    """What a chosen level does to the column; ``sample`` are raw values to show changed."""
    from dpdesk.engine.hierarchies import preview as engine

    return engine.level_effect(previewed, level, sample)


def examine(
    data: DataStore,
    attribute: str,
    choice: HierarchyChoice | None,
    base: Path,
    token: CancelToken,
) -> Examined:
    """What a choice does to a column; values without a leaf are told, not refused.

    Raises InputError and StorageError as :func:`resolve` does.
    """
    from dpdesk.engine.hierarchies.preview import level_counts

    hierarchy = resolve(data, attribute, choice, base, token)
    token.check()
    table = data.frequency_table([attribute], token)
    domain, rows = table.domains[0], dict.fromkeys(range(len(table.domains[0])), 0)
    rows |= dict(zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True))
    tokens = table.missing[0] if table.missing else frozenset()
    lacking = [
        ValueCount(value, rows[code])
        for code, value in enumerate(domain)
        if rows[code] and code not in tokens and value not in hierarchy.leaf_codes
    ]
    lacking.sort(key=lambda count: (-count.rows, count.value))
    grown = hierarchy.with_untouched_leaves([count.value for count in lacking])
    return Examined(hierarchy, level_counts(table, grown, data.name), tuple(lacking))
