"""Questions to a release and their answers: what is counted, by what, where, how exactly.

A query names columns alone; what its texts mean depends on the release, which the method that made
it resolves (:mod:`dpdesk.engine.querying`). Nothing here reads files or knows a front end.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from dpdesk.core.charts import Axis, BarChart, BarSeries, Cell, SeriesStyle, table_from
from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Choice, nearest
from dpdesk.core.plain import number_text, quoted, show
from dpdesk.core.schema import spelling
from dpdesk.core.spans import Span, exact, span_of

ALL = "ALL"
"""How the sum over all categories of a column is called where labels are shown."""
_LISTED = 12
_SPECIAL = frozenset(',"=<>!')


class Match(Enum):
    """Whether the rows behind a label fulfil a condition: all, none, or some of them."""

    YES = "yes"
    NO = "no"
    PARTLY = "partly"


@dataclass(frozen=True)
class Chosen:
    """The column has (with ``excluded``: has not) one of these values.

    ``text`` is what was written: where it is itself a category, commas and all, that is meant.
    """

    column: str
    values: tuple[str, ...]
    excluded: bool = False
    text: str = ""

    def among(self, labels: Sequence[str]) -> tuple[str, ...]:
        """The values, read with the labels that there are: a text with commas may be one label."""
        if self.text and self.text in labels:
            return (self.text,)
        if all(map(str.isascii, (self.text, *self.values))):
            return self.values
        spelled = spelling(labels)
        if self.text and spelled(self.text) in labels:
            return (spelled(self.text),)
        return tuple(map(spelled, self.values))

    def match(self, label: str, labels: Sequence[str]) -> Match:
        """Whether rows with this one of the ``labels`` are meant."""
        return Match.YES if (label in self.among(labels)) is not self.excluded else Match.NO

    def words(self) -> str:
        """The condition as it is written on the command line."""
        sign, values = "!=" if self.excluded else "=", ",".join(map(_written, self.values))
        return f"{_written(self.column)}{sign}{self.text or values}"


@dataclass(frozen=True)
class Within:
    """The column is a number of this span; labels such as ``20-29`` count as what they hold."""

    column: str
    span: Span

    def match(self, label: str, labels: Sequence[str]) -> Match:
        """Whether rows with this label are meant; PARTLY when the span cuts through it."""
        held = span_of(label)
        if held is None or held.apart(self.span):
            return Match.NO
        return Match.YES if held.within(self.span) else Match.PARTLY

    def words(self) -> str:
        """The condition as it is written on the command line, as one text or two."""
        low, high = self.span.low, self.span.high
        parts = []
        if low is not None:
            sign = ">" if self.span.low_open else ">="
            parts.append(f"{_written(self.column)}{sign}{number_text(low)}")
        if high is not None:
            sign = "<" if self.span.high_open else "<="
            parts.append(f"{_written(self.column)}{sign}{number_text(high)}")
        return " and ".join(parts)


Condition: TypeAlias = Chosen | Within


@dataclass(frozen=True)
class Grouping:
    """A column whose categories are told apart, at a level of its hierarchy (0: as released)."""

    column: str
    level: int = 0


@dataclass(frozen=True)
class Query:
    """What is asked of a release.

    One row of the answer for each combination of the groups ``by``, of the rows that fulfil every
    condition ``where``; with ``margins`` also their sums. An empty ``measure`` is the first one of
    the release, an empty ``estimator`` its usual one.
    """

    by: tuple[Grouping, ...] = ()
    where: tuple[Condition, ...] = ()
    measure: str = ""
    margins: bool = False
    estimator: str = ""

    def conditions_on(self, column: str) -> tuple[Condition, ...]:
        """The conditions on one column."""
        return tuple(condition for condition in self.where if condition.column == column)

    def columns(self) -> tuple[str, ...]:
        """Every column that the query names, each once."""
        named = [each.column for each in self.by] + [each.column for each in self.where]
        return tuple(dict.fromkeys(named))

    def spelled_as(self, columns: Sequence[str]) -> Query:
        """The same query with names as these columns have them, in whatever Unicode form."""
        spelled = spelling(columns)
        return replace(
            self,
            by=tuple(replace(each, column=spelled(each.column)) for each in self.by),
            where=tuple(replace(each, column=spelled(each.column)) for each in self.where),
        )

    def as_json(self) -> dict[str, object]:
        """Plain values; conditions as on the command line."""
        return {
            "by": [{"column": each.column, "level": each.level} for each in self.by],
            "where": [condition.words() for condition in self.where],
            "measure": self.measure,
            "margins": self.margins,
            "estimator": self.estimator,
        }


@dataclass(frozen=True)
class AskableColumn:
    """A column that can be asked for, with its categories at each level, the finest first.

    ``levels`` is empty where the categories are only known from the rows themselves.
    """

    name: str
    levels: tuple[tuple[str, ...], ...] = ()

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories as released."""
        return self.levels[0] if self.levels else ()


@dataclass(frozen=True)
class Askable:
    """What can be asked of a release: columns, measures and estimators, the usual one first."""

    columns: tuple[AskableColumn, ...]
    measures: tuple[str, ...] = ("count",)
    estimators: tuple[Choice, ...] = ()

    def column(self, name: str) -> AskableColumn:
        """The column with this name; InputError ``query.column``."""
        for column in self.columns:
            if column.name == name:
                return column
        names = [column.name for column in self.columns]
        near = nearest(name, names)
        raise InputError(
            "query.column",
            msg(
                "The release has no column {name} that can be queried, expected one of {listed}.",
                name=quoted(name),
                listed=listed(names),
            ),
            hint=msg("Did you mean `{near}`?", near=near) if near else "",
            details={"column": name, "nearest": near},
        )

    def measure(self, name: str) -> str:
        """The measure with this name, or the first one for an empty name; ``query.measure``."""
        if not name:
            return self.measures[0]
        return _one_of(name, self.measures, "measure")

    def estimator(self, name: str) -> str:
        """The estimator with this name, or the usual one for an empty name; ``query.estimator``."""
        values = tuple(choice.value for choice in self.estimators)
        if not name:
            return values[0] if values else ""
        return _one_of(name, values, "estimator")

    def check(self, query: Query) -> None:
        """Raise InputError ``query.*`` for a name that the release does not know."""
        self.measure(query.measure)
        self.estimator(query.estimator)
        for name in query.columns():
            self.column(name)
        for number, each in enumerate(query.by):
            if each.column in [other.column for other in query.by[:number]]:
                raise InputError(
                    "query.twice",
                    msg("The column {name} is asked for twice.", name=quoted(each.column)),
                )
            levels = len(self.column(each.column).levels) or 1
            if not 0 <= each.level < levels:
                top = (
                    "only level 0"
                    if levels == 1
                    else msg("levels 0 to {levels}", levels=levels - 1)
                )
                raise InputError(
                    "query.level",
                    msg(
                        "Level {level} of {column} is asked for, but the release gives it {top}.",
                        level=each.level,
                        column=quoted(each.column),
                        top=top,
                    ),
                )


def _one_of(name: str, known: Sequence[str], what: str) -> str:
    if name in known:
        return name
    near = nearest(name, known)
    expected = msg("expected one of {known}", known=listed(known)) if known else "and it takes none"
    raise InputError(
        f"query.{what}",
        msg(
            "The release has no {what} {name}, {expected}.",
            what=what,
            name=quoted(name),
            expected=expected,
        ),
        hint=msg("Did you mean `{near}`?", near=near) if near else "",
    )


def _written(text: str) -> str:
    """A name or value as the command line takes it, in quotes where it must be."""
    if _SPECIAL.isdisjoint(text) and text == text.strip():
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; of very many the first ones."""
    shown = ", ".join(quoted(name) for name in names[:_LISTED])
    return (
        shown
        if len(names) <= _LISTED
        else msg("{shown} and {names:,} more", shown=shown, names=len(names) - _LISTED)
    )


def matching(
    conditions: Sequence[Condition], column: str, labels: Sequence[str]
) -> tuple[Match, ...]:
    """How each of the labels of a column stands to all conditions on it together.

    Raises InputError ``query.value`` when a condition names a value that is no label.
    """
    for condition in conditions:
        if isinstance(condition, Chosen):
            check_values(condition, column, labels)
    known = frozenset(labels)
    found = []
    for label in labels:
        each = [condition.match(label, tuple(known)) for condition in conditions]
        found.append(
            Match.NO if Match.NO in each else Match.PARTLY if Match.PARTLY in each else Match.YES
        )
    return tuple(found)


def check_values(condition: Chosen, column: str, labels: Sequence[str]) -> None:
    """Raise InputError ``query.value`` for a value that is none of the labels of the column."""
    known = frozenset(labels)
    for value in condition.among(labels):
        if value not in known:
            near = nearest(value, labels)
            raise InputError(
                "query.value",
                msg(
                    "The release has no category {value} of {name}, expected one of {listed}.",
                    value=quoted(value),
                    name=quoted(column),
                    listed=listed(labels),
                ),
                hint=msg("Did you mean `{near}`?", near=near) if near else "",
                details={"column": column, "value": value, "nearest": near},
            )


COVERING_95 = "95 %"
"""The interval of an answer that holds the truth in 95 of 100 cases or more."""


@dataclass(frozen=True)
class AnswerRow:
    """One number of an answer; ``labels`` go with the columns, None for the sum over all.

    ``low`` and ``high`` are the ends of the interval that :attr:`Answer.interval` names. None
    where there is nothing honest to say, which ``note`` explains.
    """

    labels: tuple[str | None, ...]
    value: float | None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer to a query from a release alone.

    ``interval`` says what ``low`` and ``high`` mean (``"95 %"``, ``"certain"`` for bounds, or
    what a chance of 95 % depends on that may not be so);
    ``tables`` are the files that it came from; ``sentence`` says it, with what it assumes.
    ``condition`` is the largest condition number of a matrix behind an estimate: how much the
    release's randomness is spread by it; None where there is none.
    """

    columns: tuple[str, ...]
    measure: str
    rows: tuple[AnswerRow, ...]
    sentence: str
    tables: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    interval: str = COVERING_95
    estimator: str = ""
    condition: float | None = None

    def as_json(self) -> dict[str, object]:
        """Plain values; the label of a sum over all categories is null."""
        return {
            "columns": list(self.columns),
            "measure": self.measure,
            "estimator": self.estimator,
            "interval": self.interval,
            "condition": self.condition,
            "rows": [_row_json(self.columns, row) for row in self.rows],
            "sentence": self.sentence,
            "tables": list(self.tables),
            "warnings": list(self.warnings),
        }


def _row_json(columns: Sequence[str], row: AnswerRow) -> Mapping[str, object]:
    return {
        "labels": dict(zip(columns, row.labels, strict=True)),
        "value": row.value,
        "standard_error": row.standard_error,
        "low": row.low,
        "high": row.high,
        "note": row.note,
    }


# The texts in which a query is asked on a command line, read into values.
#
# ``age>=30``, ``sex=F,M``, ``region!=North``, ``age=30..39``; names of columns and values that hold
# a comma or one of ``= ! < >`` are put in double quotes, a double quote in them is doubled.


_CONDITION = re.compile(r'("(?:[^"]|"")*"|[^=<>!"]+)\s*(!=|>=|<=|=|<|>)(.*)', re.DOTALL)
_BETWEEN = re.compile(r"\s*([^\s,]*?)\s*\.\.\s*([^\s,]*)\s*")
_HINT = 'Write it as "age>=30", "age=30..39", "sex=F,M" or "region!=North".'


def read_query(
    by: Sequence[str] = (),
    where: Sequence[str] = (),
    *,
    levels: Sequence[str] = (),
    measure: str = "",
    margins: bool = False,
    estimator: str = "",
) -> Query:
    """A query from its texts.

    InputError ``query.syntax`` or ``query.level`` names the text, ``query.margins`` tells of sums
    over the categories of no column.
    """
    names = [name for text in by for name in read_names(text)]
    wanted = read_levels(levels)
    for name in wanted:
        if name not in names:
            raise InputError(
                "query.level",
                msg("A level is given for `{name}`, which --by does not name.", name=name),
            )
    if margins and not names:
        raise InputError(
            "query.margins",
            msg("--margins adds sums over categories, but --by names no column that has any."),
        )
    groups = tuple(Grouping(name, wanted.get(name, 0)) for name in names)
    conditions = tuple(read_condition(text) for text in where)
    return Query(groups, conditions, measure, margins, estimator)


def read_names(text: str) -> tuple[str, ...]:
    """Names or values parted by commas; InputError ``query.syntax``."""
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        rows = []
    names = tuple(name.strip() for row in rows for name in row)
    if not names or (len(names) > 1 and not all(names)):
        raise _syntax(text, "names parted by commas")
    return names


def read_levels(texts: Sequence[str]) -> Mapping[str, int]:
    """Levels by column from texts such as ``age=2``; InputError ``query.syntax``."""
    found: dict[str, int] = {}
    for text in texts:
        name, sign, number = text.rpartition("=")
        if not sign or not name or not number.strip().isdecimal() or name in found:
            raise _syntax(text, "a column and a level, such as `age=2`, each column once")
        found[_unquoted(name)] = int(number)
    return found


def read_condition(text: str) -> Condition:
    """One condition; InputError ``query.syntax``."""
    found = _CONDITION.fullmatch(text.strip())
    if found is None:
        raise _syntax(text, "a column, a sign of = != < <= > >= and a value")
    column, sign, rest = _unquoted(found[1]), found[2], found[3].strip()
    if sign in ("=", "!="):
        between = _BETWEEN.fullmatch(rest)
        if between is not None and sign == "=":
            return Within(column, _between(text, between[1], between[2]))
        values = read_names(rest) if rest else ("",)
        return Chosen(column, values, sign == "!=", _unquoted(rest))
    number = exact(rest)
    if number is None:
        raise _syntax(text, msg("a number after `{sign}`", sign=sign))
    if sign[0] == ">":
        return Within(column, Span(low=number, low_open=sign == ">"))
    return Within(column, Span(high=number, high_open=sign == "<"))


def _between(text: str, first: str, last: str) -> Span:
    low, high = exact(first), exact(last)
    if (low is None and first) or (high is None and last) or (low is None and high is None):
        raise _syntax(text, "two numbers around `..`, or one")
    if low is not None and high is not None and low > high:
        raise _syntax(text, "the smaller number first")
    return Span(low, high)


def _unquoted(text: str) -> str:
    plain = text.strip()
    if len(plain) > 1 and plain[0] == plain[-1] == '"' and '"' not in plain[1:-1].replace('""', ""):
        return plain[1:-1].replace('""', '"')
    return plain


def _syntax(text: str, expected: str) -> InputError:
    return InputError(
        "query.syntax",
        msg("{show} cannot be read, expected {expected}.", show=show(text), expected=expected),
        hint=_HINT,
    )


# A question to a release as it is put together by clicking, and its answer as a chart.


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
