"""Questions to a diverted release: counts estimated from its published rows alone.

The columns that were not drawn are unaltered, so which rows match conditions on them is exact; how
many of those have certain sensitive values is estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import isfinite
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.parameters import Choice
from dpdesk.core.plain import quoted
from dpdesk.core.query import COVERING_95, Answer, AnswerRow, Askable, AskableColumn, Match, Query
from dpdesk.core.release import CountedRows, Manifest, ReleasedContent
from dpdesk.core.shapes import as_list
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.k_anonymity.querying import (
    PARTLY,
    generalised_columns,
    group_rows,
    label_order,
    matches_of,
)
from dpdesk.engine.methods.l_diverted.estimation.estimate import Estimator, Solved, Tables, estimate
from dpdesk.engine.methods.l_diverted.groups import FullTransition, Mask, group_model
from dpdesk.engine.methods.l_diverted.mechanism import labels_of
from dpdesk.engine.methods.l_diverted.settings import Settings

# The true answer to a query that a diverted release is asked: for anyone who holds the data.
#
# Counted from the source, so never to be published beside an estimate: the two together tell the
# error of a release, and with it more than the release does.


Texts = Mapping[str, Mapping[str, str]]
_NONE: Texts = MappingProxyType({})


def true_answer(
    query: Query, given: MethodInput, token: CancelToken, recoded: Texts = _NONE
) -> Answer:
    """Exact counts of the source for the groups and conditions of a query; no estimator is used.

    ``given`` is the input of the plan that the release was made from; drawn columns are counted at
    the level at which they are released, and ``recoded`` ones (of a combined release) by the
    released text of every raw one. Rows that a release leaves out are counted. Raises InputError
    ``query.value``, ``source.unknown-column``, Cancelled.
    """
    counted = _counted(query, given, token, recoded)
    certain = np.ones(len(counted.rows), bool)
    possible = certain.copy()
    for place, name in enumerate(counted.columns):
        found = matches_of(query, name, counted.texts[place], frozenset(recoded))
        codes = counted.codes[:, place]
        certain &= np.array([match is Match.YES for match in found])[codes]
        possible &= np.array([match is not Match.NO for match in found])[codes]
    places = [counted.columns.index(each.column) for each in query.by]
    rows = []
    for labels, inside in group_rows(query, counted, places, possible, token):
        count = float(counted.rows[inside & certain].sum())
        if bool((inside & possible & ~certain).any()):
            rows.append(AnswerRow(labels, None, note=PARTLY))
        else:
            rows.append(AnswerRow(labels, count, 0.0, count, count))
    return Answer(
        tuple(each.column for each in query.by),
        "count",
        tuple(rows),
        "True counts of the source: internal, not to be published.",
        interval="certain",
    )


def _counted(query: Query, given: MethodInput, token: CancelToken, recoded: Texts) -> CountedRows:
    """The rows of the source by the released texts of the columns of a query."""
    settings = Settings.from_parameters(given.parameters)
    names = query.columns() or settings.diverted(given.roles)[:1]
    table = given.source.frequency_table(names, token)
    texts: list[tuple[str, ...]] = []
    codes = table.codes.astype(np.int32)
    for place, name in enumerate(names):
        domain = table.domains[place]
        labels = recoded.get(name)
        if labels is None and settings.levels.get(name, 0):
            alone = given.source.frequency_table((name,), token)
            labels = labels_of(alone, given.hierarchies, settings.levels[name], given.where)
        if labels is not None:
            known = tuple(sorted(set(labels.values())))
            at = np.array([known.index(labels[value]) for value in domain], np.int32)
            codes[:, place] = at[codes[:, place]]
            domain = known
        texts.append(tuple(domain))
    return CountedRows(tuple(names), tuple(texts), codes, table.counts)


MICRODATA = "microdata.csv"
ESTIMATORS = (
    Choice(
        Estimator.MATRIX.value,
        "All values at once",
        "From the chances with which every value publishes every other, which follow from the "
        "published counts; no count is negative.",
    ),
    Choice(
        Estimator.EM.value,
        "Iterative Bayes, one value against all others",
        "Assumes that the conditions do not depend on which other value a row has.",
    ),
    Choice(
        Estimator.CLOSED_FORM.value,
        "Closed form, one value against all others",
        "Unbiased, may be negative; assumes that the conditions do not depend on which other "
        "value a row has.",
    ),
    Choice(
        Estimator.PAPER.value,
        "As printed in the paper, for comparison only",
        "Iterative Bayes with the paper's own matrix, which is not the right one.",
    ),
)
_MOST_CELLS = 1 << 20
_INDEPENDENT_95 = "95 % if the conditions do not depend on the other values"
_BY_INTERVAL = "rely on the interval"

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Label = tuple[int, str | None]


@dataclass(frozen=True)
class Mechanism:
    """What a manifest says of how values were drawn: ℓ′, the rule, the columns.

    ``generalised`` are quasi-identifiers whose released values may stand for several.
    """

    size: int
    mixed: bool
    columns: tuple[str, ...]
    generalised: frozenset[str]

    @classmethod
    def of(cls, manifest: Manifest) -> Mechanism:
        """Read from a manifest; TypeError or KeyError where it is malformed."""
        given = manifest.guarantee.parameters
        size, rule = given["l"], manifest.parameters["partition"]
        if not isinstance(size, int) or rule not in ("mixed", "largest-first"):
            raise TypeError("expected l and partition")
        columns = tuple(map(str, as_list(given["diverted"])))
        recoded = generalised_columns(manifest) if "k" in given else frozenset()
        return cls(size, rule == "mixed", columns, recoded)


def askable_diverted(content: ReleasedContent, token: CancelToken) -> Askable:
    """Every column of the microdata, and the ways to estimate."""
    columns = content.columns(MICRODATA, token)
    return Askable(tuple(AskableColumn(name) for name in columns), estimators=ESTIMATORS)


def answer_diverted(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """The answer to a query; see :class:`~dpdesk.engine.querying.Questions`."""
    asked = askable_diverted(content, token)
    asked.check(query)
    estimator = Estimator(asked.estimator(query.estimator))
    mechanism = Mechanism.of(content.manifest)
    columns = query.columns() or mechanism.columns[:1]
    question = _Question(query, content.counted(MICRODATA, columns, token), mechanism, estimator)
    rows = list(question.rows(token))
    drawn = [name for name in query.columns() if name in mechanism.columns]
    return Answer(
        tuple(each.column for each in query.by),
        "count",
        tuple(rows),
        _sentence(drawn, mechanism, question.condition),
        (MICRODATA,),
        tuple(_warnings(drawn, mechanism, estimator, rows)),
        interval=_interval(estimator) if drawn else "certain",
        estimator=estimator.value if drawn else "",
        condition=question.condition,
    )


@lru_cache(maxsize=16)
def _transition(counts: bytes, size: int, mixed: bool) -> FullTransition:
    return FullTransition(group_model(np.frombuffer(counts, np.int64), size, mixed))


@dataclass
class _Question:
    """A query on counted rows: which rows match, and which cells of which table they are in.

    ``condition`` becomes the largest condition number of the estimates made.
    """

    query: Query
    counted: CountedRows
    mechanism: Mechanism
    estimator: Estimator
    condition: float | None = None
    drawn: list[int] = field(init=False)

    def __post_init__(self) -> None:
        names = self.counted.columns
        self.drawn = [
            place
            for place, name in enumerate(names)
            if name in self.mechanism.columns and name in self.query.columns()
        ]
        self.shape = tuple(len(self.counted.texts[place]) for place in self.drawn)
        if np.prod(self.shape, dtype=np.float64) > _MOST_CELLS:
            raise RefusedError(
                "query.refused",
                msg(
                    "The query distinguishes {prod:,.0f} combinations of sensitive values, "
                    "expected at most {most:,}.",
                    prod=np.prod(self.shape, dtype=np.float64),
                    most=_MOST_CELLS,
                ),
                hint="Ask for fewer sensitive columns at once.",
            )
        self.everything = self._table(np.ones(len(self.counted.rows), bool))
        self.chosen, self.cut = self._chosen()
        self.certain, self.possible = self._matched()

    def rows(self, token: CancelToken) -> Iterator[AnswerRow]:
        """One row of the answer for each combination of groups."""
        by = [self.counted.columns.index(each.column) for each in self.query.by]
        known = [place for place in by if place not in self.drawn]
        transitions = [self._attribute(axis) for axis in range(len(self.drawn))]
        for labels, inside in group_rows(self.query, self.counted, known, self.possible, token):
            hits, solved = self._table(inside & self.certain), Solved()
            whole = not (inside & self.possible & ~self.certain).any() and not self.cut
            for choice in self._choices(by):
                token.check()
                named = {**dict(zip(known, labels, strict=True)), **choice.labels}
                texts = tuple(named[place] for place in by)
                if not whole:
                    yield AnswerRow(texts, None, note=PARTLY)
                    continue
                tables = Tables(hits, self.everything, choice.chosen)
                yield self._row(texts, tables, transitions, solved)

    def _row(
        self,
        texts: tuple[str | None, ...],
        tables: Tables,
        transitions: Sequence[FullTransition],
        solved: Solved,
    ) -> AnswerRow:
        found = estimate(tables, transitions, self.estimator, solved)
        if found.condition is not None and isfinite(found.condition):
            self.condition = max(self.condition or 0.0, found.condition)
        if found.value is None:
            return AnswerRow(texts, None, note=msg("not estimable: {reason}", reason=found.reason))
        note = _BY_INTERVAL if found.leans else ""
        return AnswerRow(texts, found.value, found.standard_error, found.low, found.high, note)

    def _choices(self, by: Sequence[int]) -> Iterator[_Choice]:
        """Chosen values of every sensitive column, for each combination of those of ``by``."""
        lists: list[list[tuple[str | None, Mask]]] = []
        for place, chosen in zip(self.drawn, self.chosen, strict=True):
            if place not in by:
                lists.append([("", chosen)])
                continue
            order = sorted(np.flatnonzero(chosen).tolist(), key=label_order(self.counted, place))
            texts = self.counted.texts[place]
            each: list[tuple[str | None, Mask]] = [
                (texts[code], np.arange(len(texts)) == code) for code in order
            ]
            lists.append([*each, *([(None, chosen)] if self.query.margins else [])])
        for picked in product(*lists):
            labels = {place: text for place, (text, _) in zip(self.drawn, picked, strict=True)}
            yield _Choice(labels, tuple(mask for _, mask in picked))

    def _attribute(self, axis: int) -> FullTransition:
        others = tuple(other for other in range(len(self.drawn)) if other != axis)
        counts = self.everything.sum(axis=others).astype(np.int64)
        return _transition(counts.tobytes(), self.mechanism.size, self.mechanism.mixed)

    def _table(self, inside: Bools) -> Floats:
        """Rows inside, by published values of the sensitive columns of the query."""
        if not self.drawn:
            return np.array(self.counted.rows[inside].sum(), np.float64)
        codes = self.counted.codes[inside][:, self.drawn].T
        cells = np.ravel_multi_index(tuple(codes), self.shape)
        rows = self.counted.rows[inside]
        flat = np.bincount(cells, rows, minlength=int(np.prod(self.shape)))
        return flat.astype(np.float64).reshape(self.shape)

    def _chosen(self) -> tuple[tuple[Mask, ...], bool]:
        """The values that fulfil the conditions on each sensitive column; whether one cuts."""
        masks, cut = [], False
        for place in self.drawn:
            found = self._matches(place)
            cut |= Match.PARTLY in found
            masks.append(np.array([match is Match.YES for match in found]))
        return tuple(masks), cut

    def _matched(self) -> tuple[Bools, Bools]:
        """Which combinations fulfil every condition on other columns for certain; which may."""
        certain = np.ones(len(self.counted.rows), bool)
        possible = certain.copy()
        for place in range(len(self.counted.columns)):
            if place not in self.drawn:
                found = self._matches(place)
                codes = self.counted.codes[:, place]
                certain &= np.array([match is Match.YES for match in found])[codes]
                possible &= np.array([match is not Match.NO for match in found])[codes]
        return certain, possible

    def _matches(self, place: int) -> tuple[Match, ...]:
        name = self.counted.columns[place]
        texts = self.counted.texts[place]
        return tuple(matches_of(self.query, name, texts, self.mechanism.generalised))


@dataclass(frozen=True, eq=False)
class _Choice:
    """The label of each sensitive column by its place, and the values chosen on each axis."""

    labels: Mapping[int, str | None]
    chosen: tuple[Mask, ...]


def _sentence(drawn: Sequence[str], mechanism: Mechanism, condition: float | None) -> str:
    if not drawn:
        return (
            "Only columns that are released unchanged are asked for: the numbers are exact for "
            "the release."
        )
    names = ", ".join(quoted(name) for name in drawn)
    said = msg(
        "Estimated from the release alone: published values of {columns} were drawn in "
        "hidden groups of {l:,} values; which rows fulfil conditions on other columns is "
        "exact.",
        columns=names,
        l=mechanism.size,
    )
    if condition is not None:
        said += msg(" Condition number of the matrix: {condition:,.3g}.", condition=condition)
    return said


def _interval(estimator: Estimator) -> str:
    """What the ends of the intervals mean; the paper's way gives none."""
    two_states = estimator in (Estimator.EM, Estimator.CLOSED_FORM)
    return _INDEPENDENT_95 if two_states else COVERING_95


def _warnings(
    drawn: Sequence[str], mechanism: Mechanism, estimator: Estimator, rows: Sequence[AnswerRow]
) -> Iterator[str]:
    if not drawn:
        return
    if estimator in (Estimator.EM, Estimator.CLOSED_FORM):
        yield (
            "This estimator assumes that the conditions do not depend on which other sensitive "
            "value a row has; where they do, it is biased, and the interval does not know it."
        )
    if any(row.note == _BY_INTERVAL for row in rows):
        yield (
            "Counts are kept from being negative, which draws estimates away from the truth "
            "where few rows match. Standard error and interval are those of the unbiased solution: "
            "the number shown varies less, but its error does not include how far it is drawn. So "
            "rely on the interval where it says so."
        )
    if estimator is Estimator.PAPER:
        yield (
            "This estimator is the one printed in the paper, for comparison only: its chance of "
            "f/N for a decoy is not the right one, and it gives no error."
        )
    if not mechanism.mixed:
        yield (
            "The hidden groups were made largest first, as in the paper: frequent values "
            "mostly meet each other, so the release says little about how they relate to other "
            "columns."
        )
