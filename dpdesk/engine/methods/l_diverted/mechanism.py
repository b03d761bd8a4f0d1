"""Mechanism A′: which rows are released, in which order, with which values.

Source: l-diverted paper, Algorithm 1, with p = q = 1/ℓ′ (Theorem 2: any other p breaks the
guarantee). Where the row count is no multiple of ℓ′ the rows left over are removed uniformly at
random, whatever they hold: removing rows of a frequent value would tell what an absent person has.

Everything random comes from one cryptographic stream: first the rows removed and the order of the
released ones, before any value is looked at; then for each column its ids, its partition and its
picks. Ids are fresh for every column.
Groups live in the arrays of :func:`divert` alone, which are overwritten with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.frequency import CodedColumn, FrequencyTable, NewValues, RewrittenRows
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.schema import ValueCount
from dpdesk.engine.decoys.partition import (
    PIECE,
    counted,
    permutation,
    row_groups,
    sample,
    uniform,
    value_groups,
)
from dpdesk.engine.hierarchies.preview import align

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpdesk.engine.noise.randomness import RandomSource


# The values of the columns that are drawn: counted, and at the level of their hierarchy.


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


Choose = Callable[["RandomSource"], "NDArray[np.int64]"]
"""Which rows of the source are released, ascending; it must not depend on sensitive values."""


def all_but_the_rest(rows: int, size: int) -> Choose:
    """Choose all rows but ``rows`` mod ``size``, which are removed uniformly at random."""

    def choose(source: RandomSource) -> NDArray[np.int64]:
        from dpdesk.engine.decoys.kernels import number_kept

        kept = np.empty(rows - rows % size, np.int64)
        number_kept(sample(rows, rows % size, source), kept)
        return kept

    return choose


def draw_rows(
    columns: Sequence[CodedColumn],
    size: int,
    rule: str,
    choose: Choose,
    dropped: tuple[str, ...],
    mapping: Mapping[str, Mapping[str, str]],
    source: RandomSource,
    token: CancelToken,
) -> RewrittenRows:
    """The released rows, with values of ``columns`` drawn within groups of ``size``.

    ``choose`` must leave a multiple of ``size`` rows with which every column is eligible
    (ValueError otherwise). ``dropped`` and ``mapping`` are passed on. Raises Cancelled.
    """
    kept = choose(source)
    places = permutation(len(kept), source, token)
    order = kept[places]
    kept.fill(0)
    places.fill(0)
    drawn: dict[str, NewValues] = {}
    rows = RewrittenRows(order, drawn, dropped, mapping)
    try:
        for column in columns:
            token.check()
            codes = column.codes[order].astype(np.int32)
            values = divert(codes, len(column.domain), size, rule, source, token)
            drawn[column.name] = NewValues(column.domain, values)
    except BaseException:
        rows.wipe()
        raise
    return rows


def divert(
    codes: NDArray[np.int32],
    values: int,
    size: int,
    rule: str,
    source: RandomSource,
    token: CancelToken,
) -> NDArray[np.int32]:
    """A new value for every row: each of its group's ``size`` values with the same chance.

    ``codes`` are the rows' values below ``values``. Raises ValueError when they cannot be divided
    into groups, Cancelled.
    """
    from dpdesk.engine.decoys.kernels import publish

    counts = counted(codes, values)
    ids = permutation(len(codes), source, token)
    groups = value_groups(counts, size, rule, source, token)
    members = row_groups(codes, ids, groups, token)
    ids.fill(0)
    released = np.empty(len(codes), np.int32)
    piece = max(1, PIECE // size)
    for first in range(0, len(groups), piece):
        token.check()
        part = slice(first, first + piece)
        picks = uniform(size, groups[part].size, source)
        publish(members[part], groups[part], picks, released)
        picks.fill(0)
    groups.fill(0)
    members.fill(0)
    return released
