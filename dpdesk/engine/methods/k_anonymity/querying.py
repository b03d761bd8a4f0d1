"""Counting the rows of released microdata: by released values, exact for the release.

A released value such as ``20-39`` or ``*`` may stand for values inside and outside a condition.
Then the count is known to lie between two numbers only, and no number between them is guessed. Rows
that were suppressed are in no group, so each group may have had up to that many more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.query import (
    Answer,
    AnswerRow,
    Askable,
    AskableColumn,
    Chosen,
    Match,
    Query,
    matching,
)
from dpdesk.core.release import CountedRows, Manifest, ReleasedContent
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.core.spans import span_of

MICRODATA = "microdata.csv"
_ANYTHING = "*"
PARTLY = "a released value stands for values inside and outside the condition"

Bools = NDArray[np.bool_]
Places = NDArray[np.int64]
_MOST_GROUPS = 1_000_000


def askable_rows(content: ReleasedContent, token: CancelToken) -> Askable:
    """Every column of the microdata; categories show when they are asked for."""
    return Askable(tuple(AskableColumn(name) for name in content.columns(MICRODATA, token)))


def count_rows(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """The answer to a query on released rows; see :class:`~dpdesk.engine.querying.Questions`."""
    asked = askable_rows(content, token)
    asked.check(query)
    counted = content.counted(MICRODATA, query.columns(), token)
    generalised = generalised_columns(content.manifest)
    certain, possible = _matched(query, counted, generalised)
    suppressed = int(as_float(content.manifest.result["rows_suppressed"]))
    places = [counted.columns.index(each.column) for each in query.by]
    rows: list[AnswerRow] = []
    for labels, members in _groups(query, counted, places, possible, token):
        token.check()
        rows.append(_row(labels, counted.rows[members], certain[members], suppressed))
    columns = tuple(each.column for each in query.by)
    return Answer(
        columns,
        "count",
        tuple(rows),
        _sentence(query, suppressed),
        (MICRODATA,),
        tuple(_warnings(query, generalised, rows, suppressed)),
        interval="certain",
    )


def _matched(
    query: Query, counted: CountedRows, generalised: frozenset[str]
) -> tuple[Bools, Bools]:
    """Which combinations fulfil every condition for certain, and which may."""
    certain = np.ones(len(counted.rows), dtype=bool)
    possible = certain.copy()
    for place, (column, texts) in enumerate(zip(counted.columns, counted.texts, strict=True)):
        if not query.conditions_on(column):
            continue
        found = matches_of(query, column, texts, generalised)
        codes = counted.codes[:, place]
        certain &= np.array([match is Match.YES for match in found])[codes]
        possible &= np.array([match is not Match.NO for match in found])[codes]
    return certain, possible


def matches_of(
    query: Query, column: str, texts: Sequence[str], generalised: frozenset[str]
) -> list[Match]:
    """How each text of a column stands to the conditions on it; ``*`` may be anything.

    Raises InputError ``query.value``.
    """
    found = list(matching(query.conditions_on(column), column, texts))
    if column in generalised and _ANYTHING in texts and query.conditions_on(column):
        place = list(texts).index(_ANYTHING)
        found[place] = found[place] if _asks_for_all(query, column) else Match.PARTLY
    return found


def _asks_for_all(query: Query, column: str) -> bool:
    return any(
        isinstance(condition, Chosen) and _ANYTHING in condition.values
        for condition in query.conditions_on(column)
    )


def group_rows(
    query: Query, counted: CountedRows, places: Sequence[int], possible: Bools, token: CancelToken
) -> Iterator[tuple[tuple[str | None, ...], Bools]]:
    """Labels of each group that occurs with the combinations inside it, in order, margins last."""
    for labels, members in _groups(query, counted, places, possible, token):
        inside = np.zeros(len(counted.rows), dtype=bool)
        inside[members] = True
        yield labels, inside


def _groups(
    query: Query, counted: CountedRows, places: Sequence[int], possible: Bools, token: CancelToken
) -> list[tuple[tuple[str | None, ...], Places]]:
    """Labels of each group that occurs, and the numbers of its combinations; margins last.

    For each set of columns whose margin is taken the combinations are sorted once, so the work does
    not grow with groups that do not occur. Raises RefusedError ``query.too-large``, Cancelled.
    """
    ranks = [_ranks(counted, place) for place in places]
    found: list[tuple[tuple[int, ...], Places]] = []
    rows = np.flatnonzero(possible)
    for kept in product((True, False) if query.margins else (True,), repeat=len(places)):
        token.check()
        keys = np.stack(
            [
                rank[counted.codes[rows, place]] if keep else np.full(len(rows), len(rank))
                for place, rank, keep in zip(places, ranks, kept, strict=True)
            ]
            or [np.zeros(len(rows), dtype=np.int64)],
            axis=1,
        )
        different, which = np.unique(keys, axis=0, return_inverse=True)
        if len(found) + len(different) > _MOST_GROUPS:
            raise _too_many()
        order = np.argsort(which.reshape(-1), kind="stable")
        ends = np.searchsorted(which.reshape(-1)[order], np.arange(1, len(different)))
        parts = np.split(rows[order], ends) if len(different) else []
        found += [(tuple(key), part) for key, part in zip(different.tolist(), parts, strict=True)]
    if not places:
        return [((), rows)]
    names = [_named(counted, place, rank) for place, rank in zip(places, ranks, strict=True)]
    return [
        (tuple(texts[rank] for texts, rank in zip(names, key, strict=True)), part)
        for key, part in sorted(found, key=lambda pair: pair[0])
    ]


def _ranks(counted: CountedRows, place: int) -> Places:
    """The place of each code of a column among its labels in order."""
    order = sorted(range(len(counted.texts[place])), key=label_order(counted, place))
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _named(counted: CountedRows, place: int, ranks: Places) -> list[str | None]:
    """The label of each rank; the last one, beyond all, is the margin."""
    names: list[str | None] = [None] * (len(ranks) + 1)
    for code, rank in enumerate(ranks):
        names[int(rank)] = counted.texts[place][code]
    return names


def _too_many() -> RefusedError:
    return RefusedError(
        "query.too-large",
        msg("The answer has more than {most:,} numbers.", most=_MOST_GROUPS),
        hint="Distinguish fewer columns.",
    )


def label_order(counted: CountedRows, place: int) -> Callable[[int], tuple[bool, float, str]]:
    """A key that sorts the codes of a column: numbers and intervals first, by their size."""
    texts = counted.texts[place]

    def key(code: int) -> tuple[bool, float, str]:
        span = span_of(texts[code])
        low = float("-inf") if span is None or span.low is None else float(span.low)
        return span is None, low, texts[code]

    return key


def _row(
    labels: tuple[str | None, ...], rows: Places, certain: Bools, suppressed: int
) -> AnswerRow:
    """A group from the rows of its combinations, which all may be meant."""
    low, high = int(rows[certain].sum()), int(rows.sum())
    if low == high:
        return AnswerRow(labels, float(low), 0.0, float(low), float(high + suppressed))
    return AnswerRow(labels, None, None, float(low), float(high + suppressed), PARTLY)


def _sentence(query: Query, suppressed: int) -> str:
    said = (
        "Rows of the release are counted by their released values: the numbers are exact for the "
        "release."
    )
    if suppressed:
        said += msg(
            " {suppressed:,} rows were suppressed and are in no group, so each "
            "number may have been up to {suppressed:,} higher in the source.",
            suppressed=suppressed,
        )
    return said


def _warnings(
    query: Query, generalised: frozenset[str], rows: Sequence[AnswerRow], suppressed: int
) -> Iterator[str]:
    named = [name for name in query.columns() if name in generalised]
    if named:
        shown = ", ".join(quoted(name) for name in named)
        yield msg(
            "Released values of {shown} may be generalised: they stand for groups of values.",
            shown=shown,
        )
    if any(row.value is None for row in rows):
        yield (
            "Some released values stand for values inside and outside a condition; there the "
            "answer is an interval, and nothing within it is guessed."
        )


def generalised_columns(manifest: Manifest) -> frozenset[str]:
    """The quasi-identifiers, less those that the result says were released as they are."""
    named = as_list(manifest.guarantee.parameters.get("quasi_identifiers", []))
    levels = as_table(manifest.result.get("node", {}))
    return frozenset(str(name) for name in named if levels.get(str(name)) != 0)
