"""Rows of a release known again in its source, and what became of their drawn values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.frequency import CodedColumn
from dpdesk.core.jobs import CancelToken
from dpdesk.core.release import LinkedRows
from dpdesk.io.prints import Prints, drawn_column, published_prints

if TYPE_CHECKING:
    from dpdesk.io.published import PublishedCsv

Ints = NDArray[np.int64]


def linked_rows(
    published: PublishedCsv,
    names: Sequence[str],
    drawn: Sequence[CodedColumn],
    there: Prints,
    key: Prints,
    token: CancelToken,
) -> LinkedRows:
    """What rows of a table show for ``drawn`` values of the source, where those are known.

    A row is known by its columns ``names``, of which ``there`` are the prints of the source under
    ``key``: its value is known where all rows of the source with these columns have it. Raises
    Cancelled, and what reading the table raises.
    """
    here = published_prints(published, names, key, token)
    order = np.argsort(there, kind="stable")
    found, starts, sizes = np.unique(there[order], return_index=True, return_counts=True)
    group = np.searchsorted(found, here)
    inside = group < len(found)
    inside[inside] = found[group[inside]] == here[inside]
    shown: dict[str, Mapping[tuple[str, str], int]] = {}
    for column in drawn:
        token.check()
        codes = column.codes[order].astype(np.int64)
        low, high = (each.reduceat(codes, starts) for each in (np.minimum, np.maximum))
        known = inside.copy()
        known[inside] = (low == high)[group[inside]]
        texts, own = _released(published, column.name, token)
        shown[column.name] = _counted(
            (column.domain, low[group[known]]), (texts, own[known].astype(np.int64))
        )
    alone = _alone(here, inside, group, sizes)
    places = order[starts[group[alone]]]
    return LinkedRows(shown, len(places), _neighbours(places))


def _released(
    published: PublishedCsv, name: str, token: CancelToken
) -> tuple[Sequence[str], NDArray[Any]]:
    column = drawn_column(published, name, token)
    return column.dictionary.to_pylist(), column.indices.to_numpy()


def _counted(
    source: tuple[Sequence[str], Ints], released: tuple[Sequence[str], Ints]
) -> dict[tuple[str, str], int]:
    (values, there), (texts, here) = source, released
    keys, counts = np.unique(there * max(len(texts), 1) + here, return_counts=True)
    pairs = zip(keys.tolist(), counts.tolist(), strict=True)
    return {(values[key // len(texts)], texts[key % len(texts)]): n for key, n in pairs}


def _alone(here: Prints, inside: NDArray[np.bool_], group: Ints, sizes: Ints) -> Ints:
    """The rows whose columns no other row has, in either table."""
    once, counts = np.unique(here, return_counts=True)
    single = np.isin(here, once[counts == 1]) & inside
    single[single] = sizes[group[single]] == 1
    return np.flatnonzero(single)


def _neighbours(places: Ints) -> int:
    """How many of these places in the source follow each other, among themselves, either way."""
    ranks = np.empty(len(places), np.int64)
    ranks[np.argsort(places)] = np.arange(len(places))
    return int((np.abs(np.diff(ranks)) == 1).sum())
