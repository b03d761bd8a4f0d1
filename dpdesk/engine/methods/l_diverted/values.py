"""The values of the columns that are drawn: counted, and at the level of their hierarchy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import CodedColumn, FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.messages import msg
from dpdesk.core.schema import ValueCount
from dpdesk.engine.hierarchies.alignment import align


def released_counts(counts: Mapping[str, int], labels: Mapping[str, str]) -> tuple[ValueCount, ...]:
    """Rows of each released text, most frequent first; ``counts`` are those of the raw values."""
    rows: dict[str, int] = {}
    for value, count in counts.items():
        rows[labels[value]] = rows.get(labels[value], 0) + count
    found = [ValueCount(value, count) for value, count in rows.items()]
    return tuple(sorted(found, key=lambda item: (-item.rows, item.value)))


def raw_counts(table: FrequencyTable) -> dict[str, int]:
    """Rows of each value of the one column of ``table``."""
    codes, domain = table.codes[:, 0].tolist(), table.domains[0]
    return {domain[code]: rows for code, rows in zip(codes, table.counts.tolist(), strict=True)}


def labels_of(
    table: FrequencyTable, hierarchies: Mapping[str, Hierarchy], level: int, where: str
) -> dict[str, str]:
    """The released text of every value of the one column of ``table``.

    ``level`` is that of its hierarchy, 0 for the values themselves. Raises InputError
    ``diverted.levels`` or ``hierarchy.*``.
    """
    name, domain = table.attributes[0], table.domains[0]
    if level == 0:
        return {value: value for value in domain}
    if name not in hierarchies:
        raise _level_error(name, where, "but the column has no hierarchy")
    aligned = align(table, hierarchies, where)
    hierarchy = aligned.hierarchies[0]
    if level > hierarchy.height:
        raise _level_error(name, where, msg("expected 0 to {height}", height=hierarchy.height))
    texts = [hierarchy.labels[level][code] for code in hierarchy.ancestors(level)]
    leaf_of = hierarchy.leaf_codes
    return {value: texts[leaf_of[value]] if value in leaf_of else value for value in domain}


def at_level(column: CodedColumn, labels: Mapping[str, str]) -> CodedColumn:
    """The column with its released texts in the place of its values."""
    domain = tuple(sorted({labels[value] for value in column.domain}))
    place = {label: code for code, label in enumerate(domain)}
    codes = np.array([place[labels[value]] for value in column.domain], np.int32)
    return CodedColumn(column.name, domain, codes[column.codes])


def _level_error(name: str, where: str, expected: str) -> InputError:
    return InputError(
        "diverted.levels",
        msg(
            "{where}, levels: the level of `{name}` cannot be released, {expected}.",
            where=where,
            name=name,
            expected=expected,
        ),
        details={"key": "levels", "attribute": name},
    )
