"""What the columns of a release tell of each other: how many rows one gives away of another.

A promise on one column holds for people to whom the other columns tell nothing of it. Columns that
depend on each other are the rule, so what they tell is measured on the data before anything is
released. Somebody else may know the relation from the release itself or from elsewhere: the rows
here stand for that knowledge. A row that no other row supports tells nothing, so that fine columns
do not look as if they told everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.compiled import kernel
from dpdesk.core.frequency import FrequencySource, FrequencyTable
from dpdesk.core.jobs import CancelToken

TELL = "Count what columns tell of each other"
"""The step of a run in which this is done."""
_CANDIDATES = 12
_SHOWN = 5
_LARGEST_KEY = 2**62

Labels = Mapping[str, Mapping[str, str]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Told:
    """What some columns tell of another; counts are rows.

    ``certain`` are rows of which all others with the same values in ``columns`` have the same
    value, at least one other; ``guessed`` are rows whose value is the most frequent one (one of
    them, where several are) among all rows with these values, where another row has it too;
    ``nearly`` are rows with whose values in ``columns`` nine tenths of the rows, or all, have one
    value, at least two rows: a few exceptions protect nobody.
    """

    columns: tuple[str, ...]
    certain: int
    guessed: int
    nearly: int

    def as_json(self) -> dict[str, object]:
        """The form in which evidence has it."""
        return {
            "columns": list(self.columns),
            "certain": self.certain,
            "nearly": self.nearly,
            "guessed": self.guessed,
        }


@dataclass(frozen=True)
class Telling:
    """What other released columns tell of ``column``, in ``rows`` rows.

    ``unaided`` are the rows that are guessed with no column, by the most frequent value. ``single``
    are columns by themselves, those nearly certain of most rows first; ``together`` is the best
    guess found with up to three columns.
    """

    column: str
    rows: int
    unaided: int
    single: tuple[Told, ...]
    together: Told | None

    @property
    def certain(self) -> Told | None:
        """The column that gives away most rows; None when none gives one away."""
        best = max(self.single, key=lambda each: each.certain, default=None)
        return best if best is not None and best.certain else None

    @property
    def nearly(self) -> Told | None:
        """The column nearly certain of most rows, where these are more than of :attr:`certain`."""
        sure = 0 if self.certain is None else self.certain.certain
        return self.single[0] if self.single and self.single[0].nearly > sure else None

    def surer(self, size: int) -> Told | None:
        """The best guess where it is right more often than once in ``size`` and than unaided."""
        best = self.together
        if best is None or best.guessed * size <= self.rows or best.guessed <= self.unaided:
            return None
        return best

    def as_json(self) -> dict[str, object]:
        """The form in which evidence has it."""
        return {
            "column": self.column,
            "rows": self.rows,
            "guessed_unaided": self.unaided,
            "by_one_column": [each.as_json() for each in self.single],
            "together": None if self.together is None else self.together.as_json(),
        }


def told(
    source: FrequencySource, target: str, columns: Sequence[str], labels: Labels, token: CancelToken
) -> Told:
    """What ``columns`` tell of ``target``, by one count of the source.

    ``labels`` gives, for columns that are not released as they are, the released text of each
    value. Raises Cancelled.
    """
    table = source.frequency_table((*columns, target), token)
    groups = _numbered(table, columns, labels, token)
    values, _ = _released(table.codes[:, -1], table.domains[-1], labels.get(target))
    order = np.lexsort((values, groups))
    token.check()
    certain, guessed, nearly = _walk(groups, values, table.counts, order)
    return Told(tuple(columns), int(certain), int(guessed), int(nearly))


def grouped(
    table: FrequencyTable, labels: Labels, token: CancelToken
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of equal released texts that each combination is in, and the rows of each group.

    ``labels`` as for :func:`told`. Raises Cancelled.
    """
    numbers = _numbered(table, table.attributes, labels, token)
    known, groups = np.unique(numbers, return_inverse=True)
    return groups, np.bincount(groups, table.counts, len(known)).astype(np.int64)


def _numbered(
    table: FrequencyTable, columns: Sequence[str], labels: Labels, token: CancelToken
) -> NDArray[np.int64]:
    """A number for the released texts of the first ``columns``, the same for the same texts."""
    groups = np.zeros(len(table.counts), np.int64)
    width = 1
    for place, name in enumerate(columns):
        token.check()
        codes, size = _released(table.codes[:, place], table.domains[place], labels.get(name))
        if width * size >= _LARGEST_KEY:
            known, groups = np.unique(groups, return_inverse=True)
            width = len(known)
        groups = groups * size + codes
        width *= max(size, 1)
    return groups


def telling(
    source: FrequencySource,
    target: str,
    others: Sequence[str],
    labels: Labels,
    token: CancelToken,
    progress: Progress = lambda done, total: None,
) -> Telling:
    """What the columns ``others`` tell of ``target``: each by itself, then up to three together.

    All pairs of the twelve best by themselves are tried, since two columns may tell together what
    neither tells alone; to the best pair is added the column that adds most, so other sets of three
    may tell more. ``labels`` as for :func:`told`. Raises Cancelled.
    """

    def best_of(sets: Sequence[tuple[str, ...]], known: Sequence[Told]) -> Told | None:
        tried = [told(source, target, names, labels, token) for names in sets]
        return max((*known, *tried), key=lambda each: (each.guessed, each.certain), default=None)

    total, single = len(others) + 1, []
    unaided = told(source, target, (), labels, token)
    for place, name in enumerate(others):
        progress(place + 1, total)
        single.append(told(source, target, (name,), labels, token))
    single.sort(key=lambda each: (-each.guessed, -each.certain))
    candidates = [name for each in single[:_CANDIDATES] for name in each.columns]
    best = best_of(list(combinations(candidates, 2)), single)
    if best is not None and len(best.columns) == 2:
        more = [(*best.columns, name) for name in candidates if name not in best.columns]
        best = best_of(more, [best])
    progress(total, total)
    single.sort(key=lambda each: (-each.nearly, -each.certain, -each.guessed))
    return Telling(target, source.rows, unaided.guessed, tuple(single[:_SHOWN]), best)


def _released(
    codes: NDArray[np.int32], domain: Sequence[str], labels: Mapping[str, str] | None
) -> tuple[NDArray[np.int64], int]:
    """Codes of released texts, and how many of them there are."""
    if labels is None:
        return codes.astype(np.int64), len(domain)
    texts = [labels.get(value, value) for value in domain]
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    numbers = np.array([place[text] for text in texts], np.int64)
    return numbers[codes], len(place)


@kernel
def _walk(groups: Any, values: Any, counts: Any, order: Any) -> Any:
    """Rows that are certain, guessed, and nearly certain, by one walk over sorted runs.

    Per group only its rows and its largest count are kept.
    """
    certain, guessed, nearly = 0, 0, 0
    place, last = 0, len(order)
    while place < last:
        group = groups[order[place]]
        total, most = 0, 0
        while place < last and groups[order[place]] == group:
            value = values[order[place]]
            rows = 0
            while place < last and groups[order[place]] == group and values[order[place]] == value:
                rows += counts[order[place]]
                place += 1
            total += rows
            most = max(most, rows)
        if most > 1:
            guessed += most
            if most == total:
                certain += most
            if most * 10 >= total * 9:
                nearly += total
    return certain, guessed, nearly
