"""The recoding that a manifest claims, from the source and the plan's hierarchies alone.

With it the whole table can be made once more and compared with the published one: the columns that
are released unchanged too, and which values stand in one row. Shares nothing with the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource, FrequencyTable
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.recoding import Recoding
from dpdesk.core.schema import Role


def claimed_recoding(
    k: int,
    node: Mapping[str, int],
    source: FrequencySource,
    roles: Mapping[str, Role],
    hierarchies: Mapping[str, Hierarchy],
    token: CancelToken,
) -> Recoding:
    """Values at the levels of ``node``, without the classes of fewer than ``k`` rows.

    KeyError for a value, an attribute or a hierarchy that is not there, IndexError for a level
    above the top.
    """
    table = source.frequency_table(tuple(node), token)
    mapping: dict[str, dict[str, str]] = {}
    labels: list[tuple[str, ...]] = []
    columns: list[NDArray[np.int32]] = []
    for position, (name, level) in enumerate(node.items()):
        token.check()
        found = released_texts(table, position, hierarchies[name], level)
        mapping[name] = found
        index = {label: code for code, label in enumerate(dict.fromkeys(found.values()))}
        labels.append(tuple(index))
        codes = [index[found[value]] for value in table.domains[position]]
        columns.append(np.array(codes, np.int32)[table.codes[:, position]])
    small, gone = _small_classes(columns, table.counts, k)
    token.check()
    return Recoding(
        attributes=tuple(node),
        mapping=mapping,
        labels=tuple(labels),
        suppressed=small,
        dropped_columns=tuple(name for name, role in roles.items() if role is Role.IDENTIFIER),
        rows_out=table.rows - gone,
        rows_suppressed=gone,
    )


def released_texts(
    table: FrequencyTable, position: int, hierarchy: Hierarchy, level: int
) -> dict[str, str]:
    """The released text of every value of a column.

    KeyError for a value that is not there, IndexError for a level above the top.
    """
    domain = table.domains[position]
    missing = sorted(table.missing[position]) if table.missing else []
    whole = hierarchy.with_untouched_leaves([domain[code] for code in missing])
    rows = {row[0]: row for row in whole.rows()}
    return {value: rows[value][level] for value in domain}


def _small_classes(
    columns: Sequence[NDArray[np.int32]], counts: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int32], int]:
    """The tuples of labels that fewer than ``k`` rows have, and the number of these rows."""
    tuples = np.stack(columns, axis=1)
    classes, which = np.unique(tuples, axis=0, return_inverse=True)
    sizes = np.zeros(len(classes), np.int64)
    np.add.at(sizes, which.reshape(-1), counts)
    return classes[sizes < k], int(sizes[sizes < k].sum())
