"""Questions to drawn rows: unbiased counts, with intervals for the draws; and the true answers.

Source: the inverse of the matrix of chances (Warner 1965 and its k-ary form). Each row counts a
product of weights, one for each drawn column that is asked for (:func:`.chances.weights`); its mean
over the draws is 1 where the row truly fulfils all conditions and 0 where it does not. Rows are
drawn independently, so the variance of the sum is at most t·v₁ + (m − t)·v₀ for a true count t of m
rows, with the largest variance of a row of either kind. The interval holds all t whose distance to
the estimate is at most z times the root of that, and 0.97 of the range of a weight more: half of it
since estimates move in steps, (z² − 1)/6 of it for the skewness of rare draws (Cornish and Fisher),
whose third moment is at most the variance of the sum times the range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.query import COVERING_95, Answer, AnswerRow, Askable, AskableColumn, Match, Query
from dpdesk.core.release import CountedRows, Manifest, ReleasedContent
from dpdesk.core.shapes import as_list, as_table
from dpdesk.engine.method import MethodInput
from dpdesk.engine.methods.k_anonymity.querying import MICRODATA, group_rows, matches_of
from dpdesk.engine.methods.randomised_response.settings import (
    Chances,
    Settings,
    read_matrix,
    weights,
)

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Label = tuple[str | None, ...]
_NONE: frozenset[str] = frozenset()
_Z = 1.959963984540055
_STEP = 0.5 + (_Z * _Z - 1) / 6
NEGATIVE = (
    "An estimate may be below 0 or above the number of rows: it is right on average, over all "
    "possible draws. Do not cut it off if you add up estimates."
)


@dataclass(frozen=True)
class Drawn:
    """A drawn column of a release: its categories in the plan's order, and its chances."""

    name: str
    categories: tuple[str, ...]
    chances: Chances


def drawn_of(manifest: Manifest) -> dict[str, Drawn]:
    """The drawn columns by a manifest; KeyError, TypeError, ValueError where it is malformed."""
    given = manifest.parameters
    domains, matrices = as_table(given["domains"]), as_table(given.get("matrix", {}))
    found: dict[str, Drawn] = {}
    for each in map(as_table, as_list(manifest.result["chances"])):
        name = str(each["column"])
        categories = tuple(map(str, as_list(domains[name])))
        if name in matrices:
            chances = Chances.of(read_matrix(as_list(matrices[name])))
        else:
            whole, stay, move = (int(str(each[key])) for key in ("whole", "stay", "move"))
            chances = Chances(len(categories), whole, stay, move)
        found[name] = Drawn(name, categories, chances)
    return found


def askable(content: ReleasedContent, token: CancelToken) -> Askable:
    """Every column of the rows, the drawn ones with their categories."""
    drawn = drawn_of(content.manifest)
    return Askable(
        tuple(
            AskableColumn(name, (drawn[name].categories,)) if name in drawn else AskableColumn(name)
            for name in content.columns(MICRODATA, token)
        )
    )


def answer(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """The answer to a query; see :class:`~dpdesk.engine.querying.Questions`."""
    askable(content, token).check(query)
    drawn = drawn_of(content.manifest)
    asked = [drawn[name] for name in query.columns() if name in drawn]
    others = tuple(name for name in query.columns() if name not in drawn)
    names = (*others, *(each.name for each in asked)) or content.columns(MICRODATA, token)[:1]
    question = _Question(query, content.counted(MICRODATA, names, token), tuple(asked))
    sentence = (
        msg(
            "Estimated from the release alone: counts of {columns} are unbiased, by the inverse of "
            "the chances with which values were drawn, and the interval covers the draws. Which "
            "rows fulfil conditions on other columns is exact.",
            columns=", ".join(quoted(each.name) for each in asked),
        )
        if asked
        else "Only columns that are released unchanged are asked for: the numbers are exact for "
        "the release."
    )
    return Answer(
        tuple(each.column for each in query.by),
        "count",
        tuple(question.rows(token)),
        sentence,
        (MICRODATA,),
        (NEGATIVE,) if asked else (),
        interval=COVERING_95 if asked else "certain",
    )


def estimate(
    counts: NDArray[np.int64],
    parts: Sequence[tuple[Floats, Floats, Bools]],
    codes: NDArray[np.int32],
) -> tuple[float, float, float, float]:
    """The estimate of a count, its standard error, and the ends of its interval.

    ``counts`` are rows of combinations; ``codes``, shape (combinations, columns), their released
    categories. ``parts``: for each column the weight of each released category, its second moment
    for each true one, and which are wanted.
    """
    whole = float(counts.sum())
    each = np.ones(len(counts))
    for place, (weight, _, _) in enumerate(parts):
        each *= weight[codes[:, place]]
    found = float(counts @ each)
    inside, outside = _variances(parts)
    slope, level = inside - outside, whole * outside
    step = _STEP * _range([part[0] for part in parts])
    mean = min(max(found, 0.0), whole)
    error = sqrt(max(0.0, mean * slope + level))
    if inside == outside == 0.0:
        return found, 0.0, found, found
    low = min(found, _end(found - step, slope, level, whole, -1))
    return found, error, low, max(found, _end(found + step, slope, level, whole, 1))


def _variances(parts: Sequence[tuple[Floats, Floats, Bools]]) -> tuple[float, float]:
    """The largest variance of what a row counts: where it fulfils all conditions, where not."""
    sums = [
        [max((float(each) for each in moments[kind]), default=-1.0) for kind in (wanted, ~wanted)]
        for _, moments, wanted in parts
    ]
    inside, outside = 0.0, 0.0
    for choice in product((0, 1), repeat=len(parts)):
        chosen = [sums[place][kind] for place, kind in enumerate(choice)]
        if min(chosen, default=1.0) < 0:
            continue  # there is no such category
        moment = float(np.prod(chosen))
        if any(choice):
            outside = max(outside, moment)
        else:
            inside = max(inside, moment - 1)
    exact = all(wanted.all() for _, _, wanted in parts)
    return (0.0, 0.0) if exact else (inside, outside)


def _range(parts: Sequence[Floats]) -> float:
    low = high = 1.0
    for each in parts:
        ends = [a * b for a in (low, high) for b in (float(each.min()), float(each.max()))]
        low, high = min(ends), max(ends)
    return high - low


def _end(start: float, slope: float, level: float, whole: float, side: int) -> float:
    """The t that lies furthest to one side of ``start`` with |t − start| ≤ z·√(slope·t + level).

    Beyond 0 and ``whole`` the variance is that of the end.
    """
    root = sqrt((_Z * _Z * slope) ** 2 / 4 + _Z * _Z * max(0.0, slope * start + level))
    found = start + _Z * _Z * slope / 2 + side * root
    if 0 <= found <= whole:
        return found
    edge = max(0.0, slope * min(max(found, 0.0), whole) + level)
    return min(max(start + side * _Z * sqrt(edge), 0.0), whole)


@dataclass
class _Question:
    """A query on released rows; the codes of ``counted`` end with those of the drawn columns."""

    query: Query
    counted: CountedRows
    drawn: tuple[Drawn, ...]
    _codes: NDArray[np.int32] = field(init=False)

    def __post_init__(self) -> None:
        first = len(self.counted.columns) - len(self.drawn)
        places = []
        for each, texts in zip(self.drawn, self.counted.texts[first:], strict=True):
            known = {text: place for place, text in enumerate(each.categories)}
            if any(text not in known for text in texts):
                raise ValueError("a drawn column has a value that is no category")
            places.append(np.array([known[text] for text in texts], np.int32))
        self._first = first
        self._codes = np.stack(
            [place[self.counted.codes[:, first + at]] for at, place in enumerate(places)]
            or [np.zeros(len(self.counted.rows), np.int32)],
            axis=1,
        )

    def rows(self, token: CancelToken) -> Iterator[AnswerRow]:
        """One row of the answer for each combination of labels."""
        by = [each.column for each in self.query.by]
        mine = {each.name: place for place, each in enumerate(self.drawn)}
        places = [self.counted.columns.index(name) for name in by if name not in mine]
        wanted = [self._wanted(each) for each in self.drawn]
        told = [name for name in by if name in mine]
        for labels, inside in group_rows(self.query, self.counted, places, self._inside(), token):
            for chosen in product(*(self._choices(mine[name], wanted) for name in told)):
                token.check()
                asked = list(wanted)
                for name, (_, only) in zip(told, chosen, strict=True):
                    asked[mine[name]] = only
                rest, own = iter(labels), iter([label for label, _ in chosen])
                names = tuple(next(own) if name in mine else next(rest) for name in by)
                yield self._row(names, inside, asked)

    def _row(self, labels: Label, inside: Bools, asked: Sequence[Bools]) -> AnswerRow:
        counts = self.counted.rows[inside]
        if not self.drawn:
            count = float(counts.sum())
            return AnswerRow(labels, count, 0.0, count, count)
        parts = [
            (*weights(each.chances, wanted), wanted)
            for each, wanted in zip(self.drawn, asked, strict=True)
        ]
        return AnswerRow(labels, *estimate(counts, parts, self._codes[inside]))

    def _wanted(self, each: Drawn) -> Bools:
        found = matches_of(self.query, each.name, each.categories, _NONE)
        return np.array([match is Match.YES for match in found])

    def _choices(self, place: int, wanted: Sequence[Bools]) -> Iterator[tuple[str | None, Bools]]:
        """Each category that is told apart, the margin last."""
        categories = self.drawn[place].categories
        for code in np.flatnonzero(wanted[place]).tolist():
            yield categories[code], np.arange(len(categories)) == code
        if self.query.margins:
            yield None, wanted[place]

    def _inside(self) -> Bools:
        """Which combinations fulfil the conditions on columns that are not drawn."""
        inside = np.ones(len(self.counted.rows), bool)
        for place, name in enumerate(self.counted.columns[: self._first]):
            found = matches_of(self.query, name, self.counted.texts[place], _NONE)
            inside &= np.array([match is Match.YES for match in found])[
                self.counted.codes[:, place]
            ]
        return inside


def true_answer(query: Query, given: MethodInput, token: CancelToken) -> Answer:
    """Exact counts of the source, by declared category of the drawn columns: internal.

    Raises InputError ``query.value``, ``source.unknown-column``, Cancelled.
    """
    settings = Settings.read(given.parameters, given.where)
    known = {each.name: each for each in settings.columns}
    names = query.columns() or settings.names[:1]
    table = given.source.frequency_table(names, token)
    texts: list[tuple[str, ...]] = []
    codes = table.codes.astype(np.int32)
    for place, name in enumerate(names):
        domain = table.domains[place]
        if name in known:
            true = known[name].codes(domain, table.missing_of(place))
            codes[:, place] = true[codes[:, place]]
            domain = known[name].categories
        texts.append(tuple(domain))
    counted = CountedRows(tuple(names), tuple(texts), codes, table.counts)
    inside = np.ones(len(counted.rows), bool)
    for place, name in enumerate(counted.columns):
        found = matches_of(query, name, counted.texts[place], _NONE)
        inside &= np.array([match is Match.YES for match in found])[codes[:, place]]
    places = [counted.columns.index(each.column) for each in query.by]
    rows = []
    for labels, members in group_rows(query, counted, places, inside, token):
        count = float(counted.rows[members].sum())
        rows.append(AnswerRow(labels, count, 0.0, count, count))
    return Answer(
        tuple(each.column for each in query.by),
        "count",
        tuple(rows),
        "True counts of the source: internal, not to be published.",
        interval="certain",
    )


def row_errors(settings: Settings, rows: int) -> Mapping[str, float]:
    """By column, the largest standard error of the count of one category among so many rows."""
    found: dict[str, float] = {}
    for each in settings.columns:
        chances, worst = settings.chances[each.name], 0.0
        places = range(1 if chances.matrix is None else len(each.categories))
        for place in places:
            wanted = np.arange(len(each.categories)) == place
            _, moments = weights(chances, wanted)
            worst = max(worst, float((moments - wanted).max()))
        found[each.name] = sqrt(rows * worst)
    return found
