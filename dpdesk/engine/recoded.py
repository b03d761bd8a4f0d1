"""Tuples of a source as a recoding releases them: their labels, and which are suppressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import FrequencySource, RowRule
from dpdesk.core.jobs import CancelToken
from dpdesk.core.recoding import AnyRecoding, Recoding, TupleRecoding
from dpdesk.engine.telling import grouped

_LARGEST_KEY = 1 << 62
_AT_ONCE = 1 << 24
"""Rows whose tuples are counted at once."""


def rows_alone(
    source: FrequencySource, names: Sequence[str], recoding: AnyRecoding | None, token: CancelToken
) -> int | None:
    """Rows that are not suppressed and of whose released values in ``names`` there are no others.

    ``names`` hold the attributes of ``recoding``. A class is suppressed as a whole, so no
    suppressed row has the values of one that is kept, but for rows that are left out by the value
    of a column, which do not count. None where equal rows become different ones: then it depends on
    their order. Raises Cancelled.
    """
    if isinstance(recoding, TupleRecoding):
        return _tuples_alone(source, names, recoding, token)
    column, gone = ("", ()) if recoding is None else recoding.left_out
    left_out = {column: tuple(gone)} if gone else {}
    apart, parts = _parts(source, names, recoding, token)
    found = 0
    for part in parts:
        lost = left_out | ({apart: (*left_out.get(apart, ()), *part)} if part else {})
        some = source.restricted(RowRule(lost), token) if lost else source
        found += _alone(some, names, recoding, token)
    return found


def _parts(
    source: FrequencySource, names: Sequence[str], recoding: Recoding | None, token: CancelToken
) -> tuple[str, list[tuple[str, ...]]]:
    """A column by which many rows are counted in parts, and for each part the values it excludes.

    Values released as one label stay in the same part, so equal released rows do too. The column is
    the one whose most frequent label has the fewest rows. A single empty part: all rows at once.
    """
    if source.rows <= _AT_ONCE or not names:
        return "", [()]
    best, chosen, held = source.rows + 1, "", dict[str, list[tuple[str, int]]]()
    for name in names:
        table = source.frequency_table([name], token)
        labels = {} if recoding is None else recoding.mapping.get(name, {})
        groups: dict[str, list[tuple[str, int]]] = {}
        for code, rows in zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True):
            value = table.domains[0][code]
            groups.setdefault(labels.get(value, value), []).append((value, rows))
        most = max(sum(rows for _, rows in group) for group in groups.values())
        if most < best:
            best, chosen, held = most, name, groups
    parts: list[list[str]] = [[]]
    filled = 0
    for group in held.values():
        rows = sum(n for _, n in group)
        if parts[-1] and filled + rows > _AT_ONCE:
            parts.append([])
            filled = 0
        parts[-1] += [value for value, _ in group]
        filled += rows
    every = [value for group in held.values() for value, _ in group]
    return chosen, [tuple(v for v in every if v not in kept) for kept in map(frozenset, parts)]


def _alone(
    source: FrequencySource, names: Sequence[str], recoding: Recoding | None, token: CancelToken
) -> int:
    """As :func:`rows_alone`, for all rows of the source at once."""
    table = source.frequency_table(names, token)
    if recoding is None:
        return int((table.counts == 1).sum())
    groups, sizes = grouped(table, recoding.mapping, token)
    first = np.flatnonzero(sizes[groups] == 1)
    at = [names.index(name) for name in recoding.attributes]
    domains = [table.domains[place] for place in at]
    codes = label_codes(recoding, domains, table.codes[first][:, at])
    return int((~suppressed_tuples(recoding, codes)).sum())


def _tuples_alone(
    source: FrequencySource, names: Sequence[str], recoding: TupleRecoding, token: CancelToken
) -> int | None:
    """As :func:`rows_alone`, where every tuple is recoded by itself."""
    if len(recoding.source) != len(recoding.codes):
        return None
    table = source.frequency_table(names, token)
    at = [names.index(name) for name in recoding.attributes]
    sizes = [len(domain) for domain in recoding.domains]
    index = [{value: code for code, value in enumerate(domain)} for domain in recoding.domains]
    own = np.stack(
        [
            np.array([index[place].get(value, -1) for value in table.domains[column]], np.int32)[
                table.codes[:, column]
            ]
            for place, column in enumerate(at)
        ],
        axis=1,
    )
    keys = row_keys(np.concatenate([recoding.codes, own]), sizes)
    known, order = keys[: len(recoding.codes)], np.argsort(keys[: len(recoding.codes)])
    tuples = order[np.searchsorted(known, keys[len(known) :], sorter=order)]
    target = recoding.target[tuples]
    others = [column for column in range(len(names)) if column not in at]
    codes = np.stack([target + 1, *(table.codes[:, column] for column in others)], axis=1)
    widths = [len(recoding.targets) + 1, *(len(table.domains[column]) for column in others)]
    _, groups = np.unique(row_keys(codes, widths), return_inverse=True)
    rows = np.bincount(groups.reshape(-1), table.counts)
    return int(((rows[groups.reshape(-1)] == 1) & (target >= 0)).sum())


def label_codes(
    recoding: Recoding, domains: Sequence[Sequence[str]], codes: NDArray[Any]
) -> NDArray[np.int32]:
    """Raw codes as codes of the recoding's labels, of the same shape."""
    found = np.empty(codes.shape, np.int32)
    for place, name in enumerate(recoding.attributes):
        mapping: Mapping[str, str] = recoding.mapping[name]
        index = {label: code for code, label in enumerate(recoding.labels[place])}
        released = np.array([index[mapping[value]] for value in domains[place]], np.int32)
        found[:, place] = released[codes[:, place]]
    return found


def tuple_keys(recoding: Recoding, codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """One number for each tuple of labels, the same for the same tuple."""
    return row_keys(codes, [len(labels) for labels in recoding.labels])


def row_keys(codes: NDArray[Any], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number for each row of codes, the same for the same row; column j is below sizes[j]."""
    keys, factor = np.zeros(len(codes), np.int64), 1
    for place, size in enumerate(sizes):
        if factor * size >= _LARGEST_KEY:
            known, keys = np.unique(keys, return_inverse=True)
            factor = len(known)
        keys = keys * size + codes[:, place]
        factor *= size
    return keys


def suppressed_tuples(recoding: Recoding, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each tuple of labels is suppressed."""
    gone = len(recoding.suppressed)
    keys = tuple_keys(recoding, np.concatenate([recoding.suppressed, codes]).astype(np.int32))
    if not gone:
        return np.zeros(len(codes), np.bool_)
    known = np.sort(keys[:gone])
    places = np.minimum(np.searchsorted(known, keys[gone:]), gone - 1)
    return np.asarray(known[places] == keys[gone:], np.bool_)
