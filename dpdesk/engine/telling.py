"""What the columns of a release tell of each other: how many rows one gives away of another.

A promise on one column holds for people to whom the other columns tell nothing of it. Columns that
depend on each other are the rule, so what they tell is measured on the data before anything is
released. Somebody else may know the relation from the release itself or from elsewhere: the rows
here stand for that knowledge. A row that no other row supports tells nothing, so that fine columns
do not look as if they told everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import comb
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Cell,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.compiled import kernel
from dpdesk.core.frequency import FrequencySource, FrequencyTable, RowRule
from dpdesk.core.jobs import CancelToken, Note
from dpdesk.core.messages import counted, listed, msg

TELL = "Measure what columns reveal about each other"
"""The step of a run in which this is done."""
_SHOWN = 5
_COUNTED = 5
"""Sets of each kind that are counted in all rows; only one where rows are very many."""
_PAIRED, _PART = 1 << 19, 1 << 14
"""Most tuples in which all pairs, and all sets of three, are tried."""
_LEAST = 12
"""Columns of which all sets are tried whatever the work."""
_WORK = {2: 200_000_000, 3: 16_000_000}
"""The most tuples that are visited for all pairs, and for all sets of three, of more columns."""
_LARGEST_KEY = 2**62
_AT_ONCE = 1 << 23
"""Rows of which several columns are counted at the same time: about 30 bytes each."""
_CELLS = 1 << 19
"""Cells that are counted by their places; others are looked up."""

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
class Examined:
    """How far sets of ``columns`` columns were tried; the best are counted in all rows.

    So many ``pairs`` were tried in ``paired`` rows, and so many ``triples``, sets of three, in
    ``screened`` rows. Sets of four or more columns are never tried.
    """

    columns: int
    pairs: int
    paired: int
    triples: int
    screened: int

    def as_json(self) -> dict[str, object]:
        """The form in which evidence has it."""
        return {
            "columns": self.columns,
            "pairs": self.pairs,
            "rows_for_pairs": self.paired,
            "triples": self.triples,
            "rows_for_triples": self.screened,
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
    examined: Examined

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
            "examined": self.examined.as_json(),
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
    order = _order(groups, values)
    token.check()
    certain, guessed, nearly = _walk(groups, values, table.counts, order)
    return Told(tuple(columns), int(certain), int(guessed), int(nearly))


def _order(groups: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places by groups and values; a table is in this order where no texts become equal."""
    less, same = groups[:-1] < groups[1:], groups[:-1] == groups[1:]
    if bool((less | (same & (values[:-1] <= values[1:]))).all()):
        return np.arange(len(groups))
    return np.lexsort((values, groups))


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

    Two or three columns may tell together what none of them tells alone, so all sets are tried, as
    far as :class:`Examined` says: pairs in all rows, sets of three in a part of them, of which the
    best are then counted in all rows. ``labels`` as for :func:`told`. Raises Cancelled.
    """
    total, single = len(others) + 2, []
    unaided = told(source, target, (), labels, token)
    with ThreadPoolExecutor(_threads(source.rows), thread_name_prefix="telling") as pool:
        asked = ((name,) for name in others)
        each_one = pool.map(lambda one: told(source, target, one, labels, token), asked)
        for place, one in enumerate(each_one):
            progress(place + 1, total)
            single.append(one)
    single.sort(key=lambda each: (-each.guessed, -each.certain))
    ranked = [name for each in single for name in each.columns]
    best, examined = max(single, key=_guesses, default=None), Examined(len(others), 0, 0, 0, 0)
    if len(others) > 1:
        progress(total - 1, total)
        found, examined = _promising(source, target, ranked, labels, token)
        exact = [told(source, target, each, labels, token) for each in found]
        best = max([*single, *exact], key=_guesses)
    progress(total, total)
    single.sort(key=lambda each: (-each.nearly, -each.certain, -each.guessed))
    return Telling(target, source.rows, unaided.guessed, tuple(single[:_SHOWN]), best, examined)


def _threads(rows: int) -> int:
    """As many threads as there are cores, but one where tuples take much memory."""
    return 1 if rows > _AT_ONCE else cpu_count() or 1


def _guesses(each: Told) -> tuple[int, int]:
    return each.guessed, each.certain


def _promising(
    source: FrequencySource, target: str, ranked: Sequence[str], labels: Labels, token: CancelToken
) -> tuple[list[tuple[str, ...]], Examined]:
    """Sets of columns to count in all rows, after trying all of them in a part of the rows.

    The best pairs and sets of three, and those of three around the best pair.
    """
    known = _Columns.of(source, target, ranked[: _most(len(ranked), 2, source.rows)], labels, token)
    pairs = sorted(known.sets(2, token), key=_guesses, reverse=True)
    part = known.part(_PART)
    last = _most(len(part.names), 3, len(part.values))
    triples = sorted(part.within(last).sets(3, token), key=_guesses, reverse=True)
    around = [each for each in triples if set(pairs[0].columns) <= set(each.columns)]
    most = _COUNTED if source.rows <= _AT_ONCE else 1
    chosen = (*pairs[:most], *triples[:most], *around[:most])
    rows, few = int(known.counts.sum()), int(part.counts.sum())
    examined = Examined(len(ranked), len(pairs), rows, len(triples), few)
    return list(dict.fromkeys(each.columns for each in chosen)), examined


def _most(columns: int, together: int, rows: int) -> int:
    """How many columns, of which all sets can be tried within the limit of work."""
    rows = min(max(rows, 1), _PAIRED)
    while columns > _LEAST and comb(columns, together) * rows > _WORK[together]:
        columns -= 1
    return columns


@dataclass(frozen=True, eq=False)
class _Columns:
    """Released texts as codes, one array for each column, with the rows of each tuple.

    A text of one row has -1: no other row supports what it tells, with whatever columns. ``sizes``
    are the numbers of texts of the columns, and ``width`` that of the target's.
    """

    names: tuple[str, ...]
    codes: tuple[NDArray[np.int64], ...]
    sizes: tuple[int, ...]
    values: NDArray[np.int64]
    width: int
    counts: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        source: FrequencySource,
        target: str,
        names: Sequence[str],
        labels: Labels,
        token: CancelToken,
    ) -> _Columns:
        """At most about ``_PAIRED`` tuples: each n-th one, of a sample where rows are very many."""
        if source.rows > _AT_ONCE:
            source = source.restricted(RowRule({}, every=source.rows // _PAIRED), token)
        table = source.frequency_table((*names, target), token)
        step = _step(len(table.counts), _PAIRED)
        coded = []
        for place, name in enumerate(table.attributes):
            token.check()
            some = np.ascontiguousarray(table.codes[::step, place])
            coded.append(_released(some, table.domains[place], labels.get(name)))
        counts = table.counts[::step].copy()
        values, width = coded.pop()
        codes = tuple(_supported(each, size, counts) for each, size in coded)
        return cls(tuple(names), codes, tuple(size for _, size in coded), values, width, counts)

    def part(self, most: int) -> _Columns:
        """Every so many-th tuple, at most ``most`` of them."""
        step = _step(len(self.values), most)
        codes = tuple(each[::step].copy() for each in self.codes)
        values, counts = self.values[::step].copy(), self.counts[::step].copy()
        return _Columns(self.names, codes, self.sizes, values, self.width, counts)

    def within(self, last: int) -> _Columns:
        """The first columns alone."""
        columns = self.names[:last], self.codes[:last], self.sizes[:last]
        return _Columns(*columns, self.values, self.width, self.counts)

    def sets(self, together: int, token: CancelToken) -> list[Told]:
        """What every set of so many columns tells: two or three."""
        with ThreadPoolExecutor(cpu_count() or 1, thread_name_prefix="telling") as pool:
            places = range(len(self.names))
            parts = pool.map(lambda first: self._with_first(first, together, token), places)
            return [each for part in parts for each in part]

    def _with_first(self, first: int, together: int, token: CancelToken) -> list[Told]:
        """What the sets tell of which a column is the first one."""
        found, room = [], _Room(len(self.values))
        for second in range(first + 1, len(self.names)):
            token.check()
            if together == 2:
                told = self._crossed(self.codes[first], self.sizes[first], second, room)
                found.append(self._named((first, second), told))
                continue
            one, other = self.codes[first], self.codes[second]
            groups = np.where((one < 0) | (other < 0), -1, one * self.sizes[second] + other)
            width = self.sizes[first] * self.sizes[second]
            for third in range(second + 1, len(self.names)):
                told = self._crossed(groups, width, third, room)
                found.append(self._named((first, second, third), told))
        return found

    def _named(self, places: Sequence[int], counted: Sequence[Any]) -> Told:
        certain, guessed, nearly = (int(each) for each in counted)
        names = tuple(self.names[place] for place in places)
        return Told(names, certain, guessed, nearly)

    def _crossed(self, groups: NDArray[np.int64], width: int, place: int, room: _Room) -> Any:
        """What groups, numbers below ``width``, tell together with one column more."""
        codes, size = self.codes[place], self.sizes[place]
        cells = width * size * self.width
        if cells <= _CELLS:
            return _count_cells(
                groups, codes, size, self.values, self.width, self.counts, room.cells[:cells]
            )
        return _cross(groups, codes, size, self.values, self.counts, *room.tables)


class _Room:
    """Room to count so many tuples in, made where it is needed; for one thread."""

    def __init__(self, tuples: int) -> None:
        self._tuples = tuples

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """For each group and value its rows."""
        return np.empty(_CELLS, np.int64)

    @cached_property
    def tables(self) -> tuple[NDArray[np.int64], ...]:
        """A hash table of groups, and one of groups with a value."""
        slots = 1 << (2 * max(self._tuples, 1)).bit_length()
        return tuple(np.empty((slots, width), np.int64) for width in (3, 2))


def _step(tuples: int, most: int) -> int:
    return max(-(-tuples // most), 1)


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


def _supported(codes: NDArray[np.int64], size: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The codes, with -1 for those of one row."""
    return np.where(np.bincount(codes, counts, size)[codes] > 1, codes, -1)


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


@kernel
def _slot(key: Any, keys: Any, slots: Any) -> Any:
    """Where a key is in a hash table, or the free place for it."""
    slot = ((key * 7046029254386353131) >> 20) & (slots - 1)
    while keys[slot, 0] != -1 and keys[slot, 0] != key:
        slot = (slot + 1) & (slots - 1)
    return slot


@kernel
def _cross(
    groups: Any, codes: Any, size: Any, values: Any, counts: Any, keys: Any, pairs: Any
) -> Any:
    """Count what the pairs of a group and a code tell as :func:`_walk` does, but for those of -1.

    ``keys`` is a hash table of the groups: key, rows, largest count of a value; ``pairs`` one of
    groups with a value: key and rows. Of both as much is used as the tuples need.
    """
    some, slots = 0, 2
    for place in range(len(values)):
        some += int(groups[place] >= 0 and codes[place] >= 0)
    while slots < 2 * some:
        slots *= 2
    for slot in range(slots):
        keys[slot, 0], keys[slot, 1], keys[slot, 2] = -1, 0, 0
        pairs[slot, 0], pairs[slot, 1] = -1, 0
    for place in range(len(values)):
        if groups[place] < 0 or codes[place] < 0:
            continue
        key = groups[place] * size + codes[place]
        slot = _slot(key, keys, slots)
        keys[slot, 0] = key
        keys[slot, 1] += counts[place]
        pair = values[place] * slots + slot
        at = _slot(pair, pairs, slots)
        pairs[at, 0] = pair
        pairs[at, 1] += counts[place]
        keys[slot, 2] = max(keys[slot, 2], pairs[at, 1])
    certain, guessed, nearly = 0, 0, 0
    for slot in range(slots):
        rows, most = keys[slot, 1], keys[slot, 2]
        if most > 1:
            guessed += most
            if most == rows:
                certain += most
            if most * 10 >= rows * 9:
                nearly += rows
    return certain, guessed, nearly


@kernel
def _count_cells(
    groups: Any, codes: Any, size: Any, values: Any, width: Any, counts: Any, cells: Any
) -> Any:
    """As :func:`_cross`, where there is a cell for each group, code and value below ``width``."""
    cells[:] = 0
    for place in range(len(values)):
        if groups[place] < 0 or codes[place] < 0:
            continue
        cells[(groups[place] * size + codes[place]) * width + values[place]] += counts[place]
    certain, guessed, nearly = 0, 0, 0
    for first in range(0, len(cells), width):
        total, most = 0, 0
        for place in range(first, first + width):
            total += cells[place]
            most = max(most, cells[place])
        if most > 1:
            guessed += most
            if most == total:
                certain += most
            if most * 10 >= total * 9:
                nearly += total
    return certain, guessed, nearly


# What columns tell of each other, in sentences: warnings before a release, internal.


TELLS, NEARLY, GUESSED, ALONE = (
    "telling.certain", "telling.nearly", "telling.guessed", "telling.alone",
)  # fmt: skip


def telling_notes(found: Sequence[Telling], size: int, part: int | None = None) -> tuple[Note, ...]:
    """A warning for each column of which others tell more than a chance of 1 in ``size``.

    With ``part``, columns that do so for fewer than one in ``part`` rows are left to the evidence.
    What is certain comes before what is likely, and of each what concerns most rows first: where
    there is room for one warning, it is the gravest.
    """
    notes: list[tuple[int, int, Note]] = []

    def warn(grade: int, rows: int, extra: int, code: str, words: str) -> None:
        if not part or extra * part >= each.rows:
            notes.append((grade, -rows, Note(code, words)))

    for each in found:
        if (sure := each.certain) is not None:
            warn(0, sure.certain, sure.certain, TELLS, certain_words(each, sure))
        if (near := each.nearly) is not None:
            warn(1, near.nearly, near.nearly, NEARLY, nearly_words(each, near))
        if (best := each.surer(size)) is not None:
            extra = best.guessed - each.unaided
            warn(2, best.guessed, extra, GUESSED, guessed_words(each, best))
    return tuple(note for *_, note in sorted(notes, key=lambda one: one[:2]))


def certain_words(found: Telling, by: Told) -> str:
    """For how many rows a column gives a value away."""
    rows = _rows(by.certain, found.rows)
    return msg(
        "For {rows}, the column `{columns}` alone reveals `{column}`.",
        rows=rows,
        columns=by.columns[0],
        column=found.column,
    )


def nearly_words(found: Telling, by: Told) -> str:
    """For how many rows a column gives a value away but for a few exceptions."""
    rows = _rows(by.nearly, found.rows)
    return msg(
        (
            "For {rows}, the column `{columns}` alone reveals `{column}` with a chance of 90 % "
            "or more."
        ),
        rows=rows,
        columns=by.columns[0],
        column=found.column,
    )


def guessed_words(found: Telling, by: Told) -> str:
    """For how many rows some columns let a value be guessed."""
    rows = _rows(by.guessed, found.rows)
    return msg(
        "From {names}, `{column}` is guessed right for {rows}; without any "
        "column, for {unaided:,}.",
        names=listed(by.columns),
        column=found.column,
        rows=rows,
        unaided=found.unaided,
    )


def alone_note(columns: int, alone: int, rows: int) -> tuple[Note, ...]:
    """A warning that rows are the only ones with their values; nothing when there are none."""
    many = counted(
        "the {n:,} column that is not drawn", "the {n:,} columns that are not drawn", n=columns
    )
    return _alone(many, alone, rows)


def released_alone_note(columns: int, alone: int, rows: int) -> tuple[Note, ...]:
    """The same of all columns of a release, however few rows a class has."""
    many = counted("the {n:,} released column", "the {n:,} released columns", n=columns)
    return _alone(many, alone, rows)


def _alone(many: str, alone: int, rows: int) -> tuple[Note, ...]:
    if not alone:
        return ()
    text = msg(
        "{alone:,} of {rows:,} rows ({share}) are the only ones with their values in {many}: "
        "someone who knows these values of a person can find the row.",
        alone=alone,
        rows=rows,
        share=_share(alone, rows),
        many=many,
    )
    return (Note(ALONE, text),)


def _share(some: int, whole: int) -> str:
    return format_figure(some / whole if whole else 0.0, "share")


# What columns tell of each other, as a picture with a table: in the window, before a release.


_MOST = 8
_NONE = "No column by itself gives a hidden value away with a chance of 90 % or more."


def telling_chart(found: Sequence[Telling], size: int) -> tuple[BarChart, ...]:
    """For each hidden column, what the columns that tell most of it give away; none without any.

    A guess is worth a word where it is right more often than once in ``size``.
    """
    lines = [(each, by) for each in found for by in _best(each)]
    if not lines:
        return ()
    lines.sort(key=lambda line: (-line[1].nearly, -line[1].guessed))
    lines = lines[:_MOST]
    names = tuple(f"{' + '.join(by.columns)} → {each.column}" for each, by in lines)
    series = (
        BarSeries("Known for certain", tuple(by.certain / each.rows for each, by in lines)),
        BarSeries(
            "Known with 90 % or more",
            tuple(by.nearly / each.rows for each, by in lines),
            SeriesStyle.SECOND,
        ),
        BarSeries(
            "Guessed right",
            tuple(by.guessed / each.rows for each, by in lines),
            SeriesStyle.REFERENCE,
        ),
    )
    return (
        BarChart(
            id="telling",
            question="What do other columns give away?",
            short="Given away",
            answer=_answer(found, size),
            category_axis=Axis("Known columns → hidden column"),
            value_axis=Axis("Rows", "% of the rows", percent=True, minimum=0.0, maximum=1.0),
            categories=names,
            series=series,
            table=table_from(
                [
                    "Known columns",
                    "Hidden column",
                    "Known for certain (rows)",
                    "Known with 90 % or more (rows)",
                    "Guessed right (rows)",
                    "Guessed right without any column (rows)",
                    "Rows",
                ],
                [_row(each, by) for each, by in lines],
            ),
            horizontal=True,
        ),
    )


def _best(found: Telling) -> list[Told]:
    """The column that tells most by itself, and the columns that guess best."""
    best = [*found.single[:1], *([found.together] if found.together else [])]
    told = {each.columns: each for each in best if each.guessed}
    return list(told.values())


def _row(found: Telling, by: Told) -> list[Cell]:
    return [
        " + ".join(by.columns),
        found.column,
        by.certain,
        by.nearly,
        by.guessed,
        found.unaided,
        found.rows,
    ]


def _answer(found: Sequence[Telling], size: int) -> str:
    """The largest of what is given away for certain, nearly so, or by a good guess."""
    sure = max(found, key=lambda each: each.certain.certain if each.certain else 0)
    near = max(found, key=lambda each: each.nearly.nearly if each.nearly else 0)
    if near.nearly and near.nearly.nearly > (sure.certain.certain if sure.certain else 0):
        rows, by = _rows(near.nearly.nearly, near.rows), near.nearly.columns[0]
        return msg(
            "For {rows}, {by} alone reveals {column} with a chance of 90 % or more.",
            rows=rows,
            by=by,
            column=near.column,
        )
    if sure.certain:
        rows, by = _rows(sure.certain.certain, sure.rows), sure.certain.columns[0]
        return msg("For {rows}, {by} alone reveals {column}.", rows=rows, by=by, column=sure.column)
    for each in found:
        guess = each.surer(size)
        if guess is not None:
            names = listed(guess.columns)
            rows = _rows(guess.guessed, each.rows)
            return msg(
                "From {names}, {column} is guessed right for {rows}.",
                names=names,
                column=each.column,
                rows=rows,
            )
    return _NONE


def _rows(some: int, whole: int) -> str:
    return msg(
        "{some:,} of {whole:,} rows ({some2})",
        some=some,
        whole=whole,
        some2=_share(some, whole),
    )
