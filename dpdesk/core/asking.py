"""A question to a release as it is put together by clicking, and its answer as a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dpdesk.core.charts import Axis, BarChart, BarSeries, Cell, SeriesStyle, table_from
from dpdesk.core.query import (
    ALL,
    COVERING_95,
    Answer,
    AnswerRow,
    Condition,
    Grouping,
    Match,
    Query,
    Within,
)
from dpdesk.core.spans import span_of

Labels = tuple[str | None, ...]
MOST_BARS = 40
_MOST_LYING = 16
_WHOLE_FROM = 10.0


@dataclass(frozen=True)
class AskState:
    """What is asked: at most one condition a column, and at most one column to tell apart."""

    conditions: tuple[Condition, ...] = ()
    by: str = ""
    estimator: str = ""

    def condition_on(self, column: str) -> Condition | None:
        """The condition on a column; None when any value will do."""
        return next((each for each in self.conditions if each.column == column), None)

    def ticked(self, column: str, values: Sequence[str]) -> tuple[str, ...] | None:
        """Those of the values of a column that count for certain; None for all."""
        condition = self.condition_on(column)
        if condition is None:
            return None
        return tuple(v for v in values if condition.match(v, values) is Match.YES)

    def within(self, column: str) -> Within | None:
        """The range that a column has to be in."""
        condition = self.condition_on(column)
        return condition if isinstance(condition, Within) else None

    def put(self, column: str, condition: Condition | None) -> AskState:
        """With another condition on a column, or with none."""
        others = tuple(each for each in self.conditions if each.column != column)
        return replace(self, conditions=others if condition is None else (*others, condition))

    def query(self) -> Query:
        """The question itself."""
        by = (Grouping(self.by),) if self.by else ()
        return Query(by, self.conditions, estimator=self.estimator)


@dataclass(frozen=True)
class AnswerChartWords:
    """The words of a chart of an answer: question, answer, and the names of its series."""

    question: str
    answer: str
    unit: str
    estimated: str
    true: str


def answer_chart(
    answer: Answer, truth: Mapping[Labels, float] | None, words: AnswerChartWords
) -> BarChart:
    """A bar with its interval for each number of :func:`drawn_rows`.

    ``truth`` adds bars, and two columns of the table, that only the data's holder may see.
    """
    shown = drawn_rows(answer)
    series = [
        BarSeries(
            words.estimated,
            tuple(_drawn(row) for row in shown),
            errors=tuple(max(0.0, (row.high or _drawn(row)) - _drawn(row)) for row in shown),
            below=tuple(max(0.0, _drawn(row) - _low(row)) for row in shown),
        )
    ]
    if truth is not None:
        exact = tuple(truth.get(row.labels, 0.0) for row in shown)
        series.append(BarSeries(words.true, exact, SeriesStyle.SECOND))
    return BarChart(
        id="answer",
        question=words.question,
        answer=words.answer,
        category_axis=Axis(" × ".join(answer.columns) or "Rows", bare=True),
        value_axis=Axis(words.unit, minimum=0),
        categories=tuple(label_words(row.labels) for row in shown),
        series=tuple(series),
        table=table_from(_heads(answer, truth), [_twin(row, truth) for row in answer.rows]),
        horizontal=len(shown) <= _MOST_LYING,
        short=words.question,
    )


def drawn_rows(answer: Answer) -> tuple[AnswerRow, ...]:
    """The numbers that were estimated; of very many by number the first, by name the largest."""
    known = [row for row in answer.rows if row.value is not None]
    if len(known) <= _MOST_LYING:
        return tuple(known)
    if all(span_of(row.labels[0] or "") is not None for row in known):
        return tuple(known[:MOST_BARS])
    return tuple(sorted(known, key=lambda row: -(row.value or 0.0))[:_MOST_LYING])


def label_words(labels: Labels) -> str:
    """The labels of a number in one text."""
    return " · ".join(ALL if label is None else label or "(empty)" for label in labels) or "all"


def _drawn(row: AnswerRow) -> float:
    value = max(0.0, row.value or 0.0)
    return float(round(value)) if (row.standard_error or 0.0) >= _WHOLE_FROM else round(value, 1)


def _low(row: AnswerRow) -> float:
    return _drawn(row) if row.low is None else max(0.0, row.low)


def _heads(answer: Answer, truth: Mapping[Labels, float] | None) -> tuple[str, ...]:
    ends = ("From (95 %)", "To (95 %)") if answer.interval == COVERING_95 else ("From", "To")
    head = (" × ".join(answer.columns) or "Rows", "Estimate", *ends)
    internal = () if truth is None else ("True (internal)", "Error (internal)")
    return (*head, "Standard error", *internal, "Note")


def _twin(row: AnswerRow, truth: Mapping[Labels, float] | None) -> tuple[Cell, ...]:
    numbers = (row.value, row.low, row.high, row.standard_error)
    cells: list[Cell] = [label_words(row.labels)]
    cells += [None if number is None else round(number, 1) for number in numbers]
    if truth is not None:
        exact = truth.get(row.labels, 0.0)
        cells += [exact, None if row.value is None else round(row.value - exact, 1)]
    return (*cells, row.note)
