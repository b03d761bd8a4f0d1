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
    order, starts, group, inside, alone = _known_again(here, there)
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
    places = order[starts[group[alone]]]
    return LinkedRows(shown, len(places), _neighbours(places))


def rising_pairs(
    published: PublishedCsv,
    names: Sequence[str],
    group_column: str,
    apart: CodedColumn,
    there: Prints,
    key: Prints,
    token: CancelToken,
) -> tuple[int, int]:
    """Pairs of rows that are known again by ``names`` and have the same value of ``apart`` in the
    source, no row in two pairs; and how many of them have numbers of groups in its order.

    Each pair does so with a chance of 1/2, by itself, where rows of a value are put into groups at
    random. ``there`` and ``key`` as for :func:`linked_rows`.
    """
    here = published_prints(published, names, key, token)
    order, starts, group, _, alone = _known_again(here, there)
    places = order[starts[group[alone]]]
    texts, own = _released(published, group_column, token)
    ranks = np.empty(len(texts), np.int64)
    ranks[sorted(range(len(texts)), key=lambda at: (len(texts[at]), texts[at]))] = range(len(texts))
    values = apart.codes[places]
    by = np.lexsort((places, values))
    numbers, values = ranks[own[alone]][by], values[by]
    first = np.searchsorted(values, values)
    even = (np.arange(len(values)) - first) % 2 == 0
    pairs = even[:-1] & (values[1:] == values[:-1])
    return int(pairs.sum()), int((numbers[1:] > numbers[:-1])[pairs].sum())


def _known_again(here: Prints, there: Prints) -> tuple[Ints, Ints, Ints, NDArray[np.bool_], Ints]:
    """Rows of the source sorted by their columns, where each run begins, the run of each row of the
    table and whether it has one, and the rows whose columns no other row has.
    """
    order = np.argsort(there, kind="stable")
    found, starts, sizes = np.unique(there[order], return_index=True, return_counts=True)
    group = np.searchsorted(found, here)
    inside = group < len(found)
    inside[inside] = found[group[inside]] == here[inside]
    return order, starts, group, inside, _alone(here, inside, group, sizes)


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
