"""Groups of rows with different sensitive values, and the two tables that they give.

Source: the course text's anatomy. ⌊N/l⌋ groups of l rows are drawn of all rows but N mod l, which
are chosen uniformly, whatever they hold; each of these joins a group without its value, every such
group with the same chance. Where there are as many such rows as groups, rows are dealt out instead,
value by value in random order, so that groups are as even as can be. Groups are numbered by a
random permutation.

Whatever is done depends on the values alone and treats rows with the same value alike: rows left
over are a uniform set, and rows that join because of different values do not hinder each other. So
all ways to give a group's values to its rows are equally likely, which tests enumerate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import Figure
from dpdesk.core.errors import InputError
from dpdesk.core.frequency import NewValues, RewrittenRows
from dpdesk.core.jobs import CancelToken, Report, StepProgress, StepStarted, silent
from dpdesk.core.messages import joined, msg
from dpdesk.core.parameters import ParameterValue
from dpdesk.core.plain import quoted
from dpdesk.core.query import Answer, AnswerRow, Askable, AskableColumn, Match, Query
from dpdesk.core.release import CountedRows, ReleasedContent
from dpdesk.core.schema import Role, ValueCount
from dpdesk.core.shapes import as_list
from dpdesk.engine.decoys import MIXED
from dpdesk.engine.decoys.eligibility import Eligibility, frequency_chart, refuse
from dpdesk.engine.decoys.partition import (
    counted,
    permutation,
    row_groups,
    sample,
    uniform,
    value_groups,
)
from dpdesk.engine.method import ExplorationView, MethodInput, Outcome
from dpdesk.engine.methods.anatomy.settings import COUNT, GROUP, TABLE, Settings, anatomy_guarantee
from dpdesk.engine.methods.k_anonymity.querying import (
    MICRODATA,
    group_rows,
    label_order,
    matches_of,
)
from dpdesk.engine.telling import TELL, Telling, telling, telling_chart, telling_notes

if TYPE_CHECKING:
    from dpdesk.core.frequency import RowSource
    from dpdesk.engine.noise.randomness import RandomSource


def decide(given: MethodInput, token: CancelToken, report: Report) -> Outcome:
    """See :meth:`~dpdesk.engine.method.RowsMethod.decide`."""
    settings = Settings.of(given)
    report(StepStarted(COUNT, 1, 2))
    found = value_counts(given, settings.sensitive, token)
    eligible = Eligibility(settings.sensitive, settings.l, found)
    refuse((eligible,), given.source.name)
    report(StepStarted(TELL, 2, 2))
    return described(given, settings, eligible, columns_tell(given, settings, token, report))


def value_counts(given: MethodInput, name: str, token: CancelToken) -> tuple[ValueCount, ...]:
    """Rows of each value of a column, most frequent first."""
    table = given.source.frequency_table((name,), token)
    pairs = zip(table.codes[:, 0].tolist(), table.counts.tolist(), strict=True)
    found = [ValueCount(table.domains[0][code], rows) for code, rows in pairs]
    return tuple(sorted(found, key=lambda item: (-item.rows, item.value)))


def columns_tell(
    given: MethodInput, settings: Settings, token: CancelToken, report: Report
) -> Telling:
    """What the released columns tell of the one that stands apart. Raises Cancelled."""
    others, name = settings.released(given.roles), settings.sensitive

    def progress(done: int, total: int) -> None:
        report(StepProgress(TELL, done, total, "columns"))

    return telling(given.source, name, others, {}, token, progress)


def described(given: MethodInput, settings: Settings, found: Eligibility, told: Telling) -> Outcome:
    """The release of a column that can be divided into groups."""
    size, groups = settings.l, found.allowed
    roles = {name: given.roles[name] for name in settings.released(given.roles)}
    figures = (
        Figure(
            "belief",
            "Chance that a value of the group is a person's, at most",
            1 / size,
            "share",
            better="lower",
            help="For someone to whom the other columns reveal nothing about it.",
            headline=True,
            about="risk",
        ),
        Figure("groups", "Groups", groups, "count", headline=True, about="loss"),
        Figure(
            "largest_l",
            "Largest l that the column allows",
            found.largest_l,
            "count",
            help="The rows over those of the most frequent value.",
        ),
    )
    return Outcome(
        guarantee=anatomy_guarantee(size, settings.sensitive, roles),
        result={"rows_out": found.rows, "groups": groups, "smallest_group": found.rows // groups},
        risk={"telling": [told.as_json()]},
        charts=(frequency_chart(found), *telling_chart((told,), size)),
        figures=figures,
        notes=telling_notes((told,), size),
    )


def draw(
    given: MethodInput, rows: RowSource, source: RandomSource, token: CancelToken
) -> RewrittenRows:
    """The rows in the order of all that is released of them, and the table of their values."""
    settings = Settings.of(given)
    apart = rows.coded_columns((settings.sensitive,), token)[0]
    codes = apart.codes.astype(np.int32)
    groups = row_numbers(codes, len(apart.domain), settings.l, source, token)
    texts = [str(number + 1) for number in range(rows.rows // settings.l)]
    places = sorted(range(len(texts)), key=texts.__getitem__)
    ranks = np.empty(len(texts), np.int64)
    ranks[places] = np.arange(len(texts))
    domain, ranked = tuple(sorted(texts)), ranks[groups]
    keys: list[NDArray[np.int64]] = [ranked]
    for column in reversed(rows.coded_columns(settings.released(given.roles), token)):
        token.check()
        keys.append(column.codes)
    order = np.lexsort(keys)
    token.check()
    pairs = np.lexsort((codes, ranked))
    return RewrittenRows(
        order,
        {},
        (*given.with_role(Role.IDENTIFIER), settings.sensitive),
        added={GROUP: NewValues(domain, ranked[order])},
        tables={
            TABLE: {
                "group": NewValues(domain, ranked[pairs]),
                "value": NewValues(apart.domain, codes[pairs]),
                "count": NewValues(("1",), np.zeros(len(pairs), np.int64)),
            }
        },
    )


def row_numbers(
    codes: NDArray[np.int32], values: int, size: int, source: RandomSource, token: CancelToken
) -> NDArray[np.int64]:
    """The group of each row, from 0 on; ``codes`` are its values below ``values``.

    Raises ValueError where a value has more rows than there are groups, Cancelled.
    """
    count = len(codes) // size
    if len(codes) % size >= count:
        return _dealt(codes, values, count, source, token)
    over = sample(len(codes), len(codes) % size, source)
    kept = np.delete(np.arange(len(codes)), over)
    inside = codes[kept]
    ids = permutation(len(kept), source, token)
    groups = value_groups(counted(inside, values), size, MIXED, source, token)
    members = row_groups(inside, ids, groups, token)
    numbers = permutation(count, source, token).astype(np.int64)
    found = np.empty(len(codes), np.int64)
    found[kept[members]] = numbers[:, np.newaxis]
    joined: list[tuple[int, int]] = []
    for row in over.tolist():
        token.check()
        value = int(codes[row])
        free = ~(groups == value).any(axis=1)
        free[[group for group, other in joined if other == value]] = False
        open_ = np.flatnonzero(free)
        group = int(open_[int(uniform(len(open_), 1, source)[0])])
        joined.append((group, value))
        found[row] = numbers[group]
    return found


def _dealt(
    codes: NDArray[np.int32], values: int, count: int, source: RandomSource, token: CancelToken
) -> NDArray[np.int64]:
    """Rows dealt out to ``count`` groups in turn: values in random order, rows of each as well."""
    if int(counted(codes, values).max(initial=0)) > count:
        raise ValueError(f"a value has more rows than there are {count} groups")
    order = permutation(values, source, token)[codes]
    rows = np.lexsort((permutation(len(codes), source, token), order))
    numbers = permutation(count, source, token).astype(np.int64)
    found = np.empty(len(codes), np.int64)
    found[rows] = numbers[np.arange(len(codes)) % count]
    return found


class AnatomyExploration:
    """Settings tried on counts: what could be released, and what would be claimed."""

    def __init__(self, given: MethodInput) -> None:
        self._given = given
        self._known: dict[str, tuple[tuple[ValueCount, ...], Telling]] = {}

    def view(self, parameters: Mapping[str, ParameterValue]) -> ExplorationView:
        """See :meth:`~dpdesk.engine.method.Exploration.view`."""
        return self.view_until(parameters, CancelToken(), silent)

    def view_until(
        self, parameters: Mapping[str, ParameterValue], token: CancelToken, report: Report
    ) -> ExplorationView:
        """See :meth:`~dpdesk.engine.method.PatientExploration.view_until`."""
        given = self._given
        settings = Settings.read(parameters, given.roles)
        if settings.sensitive not in self._known:
            counts = value_counts(given, settings.sensitive, token)
            told = columns_tell(given, settings, token, report)
            self._known[settings.sensitive] = counts, told
        counts, told = self._known[settings.sensitive]
        found = Eligibility(settings.sensitive, settings.l, counts)
        if not found.eligible:
            largest = found.largest_l
            return ExplorationView(
                False,
                joined([found.sentence, found.hint]),
                (frequency_chart(found),),
                (),
                remedy={"l": largest} if largest > 1 else None,
                remedy_label=msg("Set l to {n:,}", n=largest) if largest > 1 else "",
            )
        made = described(given, settings, found, told)
        sentence = msg(
            "{rows:,} rows in {groups:,} groups, each with {l:,} or more different values of "
            "{column}.",
            rows=found.rows,
            groups=found.allowed,
            l=settings.l,
            column=settings.sensitive,
        )
        charts, notes = tuple(made.charts), made.notes
        return ExplorationView(True, sentence, charts, made.figures, made.guarantee, notes=notes)

    def pick(self, point: int) -> Mapping[str, object]:
        """See :meth:`~dpdesk.engine.method.Exploration.pick`: there are no points."""
        raise InputError("exploration.no-point", "There is no point with this number.")


# Questions to an anatomised release: counts estimated from its two tables alone.
#
# Source: the course text: of each group, the share of its rows that fulfil the conditions on
# other columns, times its values that fulfil those on the sensitive one. Which rows and values
# these are is exact; how they go together within a group is not released, so bounds are given
# that hold for certain: of n rows and k values among s, at least n + k − s and at most the fewer
# of both.


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
    """The answer to a query; see :class:`~dpdesk.engine.querying.Questions`."""
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
        "Where the other columns of a query go together with the value, the estimate shows too "
        "weak a relation; the bounds hold nevertheless."
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
