"""The values of the columns that are drawn: counted, and at the level of their hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.rows import CodedColumn
from dpdesk.core.schema import ValueCount
from dpdesk.engine.hierarchies.alignment import align


def value_counts(
    table: FrequencyTable, hierarchies: Mapping[str, Hierarchy], level: int, where: str
) -> tuple[ValueCount, ...]:
    """Released values of the one column of ``table`` with their rows, most frequent first.

    ``level`` is that of its hierarchy, 0 for the values themselves. Raises InputError
    ``diverted.levels`` or ``hierarchy.*``.
    """
    labels = labels_of(table, hierarchies, level, where)
    rows: dict[str, int] = {}
    for code, count in zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True):
        rows[labels[code]] = rows.get(labels[code], 0) + count
    found = [ValueCount(value, count) for value, count in rows.items()]
    return tuple(sorted(found, key=lambda item: (-item.rows, item.value)))


def labels_of(
    table: FrequencyTable, hierarchies: Mapping[str, Hierarchy], level: int, where: str
) -> Sequence[str]:
    """The released text of every code of the one column of ``table``."""
    name, domain = table.attributes[0], table.domains[0]
    if level == 0:
        return domain
    if name not in hierarchies:
        raise _level_error(name, where, "but the column has no hierarchy")
    aligned = align(table, hierarchies, where)
    hierarchy = aligned.hierarchies[0]
    if level > hierarchy.height:
        raise _level_error(name, where, f"expected 0 to {hierarchy.height}")
    texts = [hierarchy.labels[level][code] for code in hierarchy.ancestors(level)]
    leaf_of = hierarchy.leaf_codes
    return [texts[leaf_of[value]] if value in leaf_of else value for value in domain]


def at_level(column: CodedColumn, labels: Sequence[str]) -> CodedColumn:
    """The column with the released text ``labels[code]`` in the place of each value."""
    domain = tuple(sorted(set(labels)))
    if domain == column.domain:
        return column
    place = {label: code for code, label in enumerate(domain)}
    codes = np.array([place[label] for label in labels], np.int32)
    return CodedColumn(column.name, domain, codes[column.codes])


def _level_error(name: str, where: str, expected: str) -> InputError:
    return InputError(
        "diverted.levels",
        f"{where}, levels: the level of `{name}` cannot be released, {expected}.",
        details={"key": "levels", "attribute": name},
    )
