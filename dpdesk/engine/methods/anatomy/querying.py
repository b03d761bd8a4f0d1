"""Questions to an anatomised release: counts estimated from its two tables alone.

Source: the course text: of each group, the share of its rows that fulfil the conditions on other
columns, times its values that fulfil those on the sensitive one. Which rows and values these are
is exact; how they go together within a group is not released, so bounds are given that hold for
certain: of n rows and k values among s, at least n + k − s and at most the fewer of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.query import Answer, AnswerRow, Askable, AskableColumn, Match, Query
from dpdesk.core.release import CountedRows, ReleasedContent
from dpdesk.core.shapes import as_list
from dpdesk.engine.methods.anatomy.settings import GROUP, TABLE
from dpdesk.engine.methods.k_anonymity.querying import (
    MICRODATA,
    group_rows,
    label_order,
    matches_of,
)

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Label = tuple[str | None, ...]


def askable(content: ReleasedContent, token: CancelToken) -> Askable:
    """Every column of the rows, and the one whose values stand apart with these."""
    names = [name for name in content.columns(MICRODATA, token) if name != GROUP]
    values = content.counted(TABLE, ("value",), token).texts[0]
    apart = AskableColumn(_separated(content), (values,))
    return Askable((*(AskableColumn(name) for name in names), apart))


def answer(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """The answer to a query; see :class:`~dpdesk.engine.querying.QueryableMethod`."""
    askable(content, token).check(query)
    name = _separated(content)
    others = tuple(each for each in query.columns() if each != name)
    counted = content.counted(MICRODATA, (*others, GROUP), token)
    table = content.counted(TABLE, (GROUP, "value"), token)
    asked = name in query.columns()
    rows = tuple(_Question(query, counted, table, name).rows(asked, token))
    sentence = (
        msg(
            "Estimated from the release alone: which rows and which values fulfil the conditions "
            "is exact, and within each group every value of {column} is taken to be equally "
            "likely for every row. The bounds hold for certain.",
            column=quoted(name),
        )
        if asked
        else "Only columns that are released unchanged are asked for: the numbers are exact for "
        "the release."
    )
    warning = (
        "Where the other columns of a query go together with the value, the estimate is too "
        "close to no relation; the bounds hold nevertheless."
    )
    return Answer(
        tuple(each.column for each in query.by),
        "count",
        rows,
        sentence,
        (MICRODATA, TABLE) if asked else (MICRODATA,),
        (warning,) if asked and others else (),
        interval="certain",
    )


def _separated(content: ReleasedContent) -> str:
    (name,) = as_list(content.manifest.guarantee.parameters["separated"])
    return str(name)


@dataclass
class _Question:
    """A query on the two tables; ``sizes`` are the rows of each group, in the order of its texts.

    ``group`` and ``value`` are the codes of each line of the table of values.
    """

    query: Query
    counted: CountedRows
    table: CountedRows
    name: str
    sizes: Ints = field(init=False)

    def __post_init__(self) -> None:
        if self.counted.texts[-1] != self.table.texts[0]:
            raise ValueError("the tables have other groups")
        self.group, self.value = self.table.codes[:, 0], self.table.codes[:, 1]
        self.sizes = self._rows_of(np.ones(len(self.counted.rows), bool))
        listed = np.bincount(self.group, self.table.rows, len(self.sizes))
        if not np.array_equal(listed, self.sizes):
            raise ValueError("a group has another number of values than of rows")

    def rows(self, asked: bool, token: CancelToken) -> Iterator[AnswerRow]:
        """One row of the answer for each combination of labels."""
        names = self.counted.columns
        by = [each.column for each in self.query.by]
        places = [names.index(each) for each in by if each != self.name]
        for labels, inside in group_rows(self.query, self.counted, places, self._inside(), token):
            token.check()
            here = self._rows_of(inside)
            if not asked:
                yield _row(labels, *[float(here.sum())] * 3)
                continue
            for label, chosen in self._choices():
                found = self._estimate(here, chosen)
                place = by.index(self.name) if label else 0
                yield _row((*labels[:place], *label, *labels[place:]), *found)

    def _estimate(self, here: Ints, chosen: Bools) -> tuple[float, float, float]:
        values = np.bincount(self.group[chosen], minlength=len(self.sizes))
        low = np.maximum(0, here + values - self.sizes)
        high = np.minimum(here, values)
        return float((here * values / self.sizes).sum()), float(low.sum()), float(high.sum())

    def _choices(self) -> Iterator[tuple[Label, Bools]]:
        """The lines with each value that is told apart, margins last; without labels if none is."""
        wanted = np.array(
            [
                match is Match.YES
                for match in matches_of(self.query, self.name, self.table.texts[1], frozenset())
            ]
        )
        if self.name not in [each.column for each in self.query.by]:
            yield (), wanted[self.value]
            return
        texts, place = self.table.texts[1], 1
        for code in sorted(np.flatnonzero(wanted).tolist(), key=label_order(self.table, place)):
            yield (texts[code],), self.value == code
        if self.query.margins:
            yield (None,), wanted[self.value]

    def _rows_of(self, inside: Bools) -> Ints:
        """Rows of each group among the combinations ``inside``."""
        codes, rows = self.counted.codes[inside, -1], self.counted.rows[inside]
        return np.bincount(codes, rows, len(self.counted.texts[-1])).astype(np.int64)

    def _inside(self) -> Bools:
        """Which combinations fulfil the conditions on the columns of the rows."""
        inside = np.ones(len(self.counted.rows), bool)
        for place, column in enumerate(self.counted.columns[:-1]):
            found = matches_of(self.query, column, self.counted.texts[place], frozenset())
            inside &= np.array([match is Match.YES for match in found])[
                self.counted.codes[:, place]
            ]
        return inside


def _row(labels: Sequence[str | None], value: float, low: float, high: float) -> AnswerRow:
    return AnswerRow(tuple(labels), value, 0.0 if low == high else None, low, high)
