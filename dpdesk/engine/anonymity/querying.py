"""Counting the rows of released microdata: by released values, exact for the release.

A released value such as ``20-39`` or ``*`` may stand for values inside and outside a condition.
Then the count is known to lie between two numbers only, and no number between them is guessed. Rows
that were suppressed are in no group, so each group may have had up to that many more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
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
from dpdesk.core.released import CountedRows, ReleasedContent
from dpdesk.core.spans import span_of

MICRODATA = "microdata.csv"
_ANYTHING = "*"
PARTLY = "a released value stands for values inside and outside the condition"

Bools = NDArray[np.bool_]


def askable_rows(content: ReleasedContent, token: CancelToken) -> Askable:
    """Every column of the microdata; categories show when they are asked for."""
    return Askable(tuple(AskableColumn(name) for name in content.columns(MICRODATA, token)))


def count_rows(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """The answer to a query on released rows; see :class:`QueryableMethod`."""
    asked = askable_rows(content, token)
    asked.check(query)
    counted = content.counted(MICRODATA, query.columns(), token)
    generalised = generalised_columns(content.manifest)
    certain, possible = _matched(query, counted, generalised)
    suppressed = _suppressed(content.manifest)
    places = [counted.columns.index(each.column) for each in query.by]
    rows = [
        _row(query, labels, counted.rows, certain & inside, possible & inside, suppressed)
        for labels, inside in group_rows(query, counted, places, possible, token)
    ]
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
    choices: list[list[int | None]] = []
    for place in places:
        codes = sorted(
            set(counted.codes[possible, place].tolist()), key=label_order(counted, place)
        )
        choices.append([*codes, *([None] if query.margins else [])])
    for chosen in product(*choices):
        token.check()
        inside = np.ones(len(counted.rows), dtype=bool)
        for place, code in zip(places, chosen, strict=True):
            if code is not None:
                inside &= counted.codes[:, place] == code
        if not places or bool((inside & possible).any()):
            labels = tuple(
                None if code is None else counted.texts[place][code]
                for place, code in zip(places, chosen, strict=True)
            )
            yield labels, inside


def label_order(counted: CountedRows, place: int) -> Callable[[int], tuple[bool, float, str]]:
    """A key that sorts the codes of a column: numbers and intervals first, by their size."""
    texts = counted.texts[place]

    def key(code: int) -> tuple[bool, float, str]:
        span = span_of(texts[code])
        low = float("-inf") if span is None or span.low is None else float(span.low)
        return span is None, low, texts[code]

    return key


def _row(
    query: Query,
    labels: tuple[str | None, ...],
    rows: NDArray[np.int64],
    certain: Bools,
    possible: Bools,
    suppressed: int,
) -> AnswerRow:
    low, high = int(rows[certain].sum()), int(rows[possible].sum())
    if low == high:
        return AnswerRow(labels, float(low), 0.0, float(low), float(high + suppressed))
    return AnswerRow(labels, None, None, float(low), float(high + suppressed), PARTLY)


def _sentence(query: Query, suppressed: int) -> str:
    said = (
        "Rows of the release are counted by their released values: the numbers are exact for the "
        "release."
    )
    if suppressed:
        said += (
            f" {suppressed:,} rows were suppressed and are in no group, so each number may have "
            f"been up to {suppressed:,} higher in the source."
        )
    return said


def _warnings(
    query: Query, generalised: frozenset[str], rows: Sequence[AnswerRow], suppressed: int
) -> Iterator[str]:
    named = [name for name in query.columns() if name in generalised]
    if named:
        shown = ", ".join(quoted(name) for name in named)
        yield f"Released values of {shown} may be generalised: they stand for groups of values."
    if any(row.value is None for row in rows):
        yield (
            "Some released values stand for values inside and outside a condition; there the "
            "answer is an interval, and nothing within it is guessed."
        )


def generalised_columns(manifest: Mapping[str, object]) -> frozenset[str]:
    """The quasi-identifiers, less those that the result says were released as they are."""
    guarantee, result = manifest["guarantee"], manifest["result"]
    parameters = guarantee["parameters"] if isinstance(guarantee, Mapping) else {}
    named = parameters.get("quasi_identifiers", ()) if isinstance(parameters, Mapping) else ()
    node = result.get("node") if isinstance(result, Mapping) else None
    levels = node if isinstance(node, Mapping) else {}
    return frozenset(str(name) for name in named if levels.get(name) != 0)


def _suppressed(manifest: Mapping[str, object]) -> int:
    result = manifest["result"]
    return int(result["rows_suppressed"]) if isinstance(result, Mapping) else 0
