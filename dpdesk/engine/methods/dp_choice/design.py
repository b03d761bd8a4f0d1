"""The design of private choices: utilities, what a person changes of them, errors and guarantee.

A group has n rows. The utility of a candidate v for the q-quantile is

    u(v) = -max(0, below(v) - q n, q n - upto(v)),

how many rows more would have to lie below v, or up to it, for v to be a q-quantile: 0 where it is
one, which some candidate of the grid always is. That of a category is the number of its rows.

What one person changes. Let c(v) be by how much one row changes u(v), and the width of the change
the largest c(v) less the smallest one; the loss of the exponential mechanism is rate * width
(:mod:`dpdesk.engine.noise.choosing`).

- Categories: a row raises one utility by 1, so all c(v) are 0 or 1 and the width is 1 (not 2: rows
  only raise counts). Replaced, one falls and one rises, in one group or in two: 2.
- Quantiles: a row changes n by 1, and below(v) and upto(v) by 0 or 1. Each of the three terms
  changes by at most max(q, 1 - q), so u(v) does, and the width is at most 2 max(q, 1 - q); at the
  median 1. Replaced within a group, n stays and the terms change by at most 1: the width is 2,
  which covers a row that is left out before or after. Between two groups, one loses a row and one
  gains one: 4 max(q, 1 - q) together.

Groups part the rows. What is chosen in one depends on its own rows alone, so that losses add up
over the groups in which a person has rows, and the rows of a person, m at most, multiply the width
by m in all groups together. Several choices share epsilon (sequential composition).
``tests/unit/engine/methods/dp_choice`` finds these widths again by enumeration.

Errors are planned: the candidates, N at most, that are more than t worse than the best one have
together at most N exp(-rate * t) times its weight, so that a choice falls short by more than
ln(N / b) / rate with a chance of b at most (McSherry and Talwar 2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.budget import draws_of
from dpdesk.core.charts import Axis, BarChart, BarSeries, Figure, SeriesStyle, table_from
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken, Report, StepProgress
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters, plain_number
from dpdesk.core.query import Answer, AnswerRow, Askable, AskableColumn, Match, Query, matching
from dpdesk.core.release import Guarantee, Manifest, ReleasedContent
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.cubes.naming import encoded
from dpdesk.engine.methods.dp_choice.settings import (
    MOST_CANDIDATES,
    MOST_GROUPS,
    PARAMETERS,
    ChoiceSettings,
    Wanted,
)
from dpdesk.engine.noise.choosing import Coins, Weights, choose_run
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.charts import loss_figure, odds_bars
from dpdesk.engine.private.counting import PlacedRows, place_rows
from dpdesk.engine.private.declared import (
    DeclaredDimension,
    DeclaredDomain,
    declare,
    made_beside_data,
)
from dpdesk.engine.private.guarantee_words import epsilon_of, origin_words, person_guarantee, stated
from dpdesk.engine.private.kinds import Measure
from dpdesk.engine.private.method import (
    Charge,
    Design,
    Drawing,
    Measured,
    NoisyTables,
    PrivateInput,
)
from dpdesk.engine.private.settings import cluster_of, misfit, stated_cluster

FOLDER = "choices"
UNIT = "rows"
RISK = 0.05
"""The chance with which a choice may err by more than is stated."""
_LONGEST, _EXAMPLE = 120, 1000

Runs = tuple[list[int], list[int], list[int]]
"""First candidate, number of candidates, and utility of each run of equally good candidates."""


@dataclass(frozen=True, kw_only=True)
class ChoiceDesign(Design):
    """A release of private choices as its plan decides it."""

    settings: ChoiceSettings

    @property
    def deciding(self) -> DeclaredDomain:
        """See :attr:`Design.deciding`: columns of numbers leave out rows too."""
        known = {each.name for each in self.declared.dimensions}
        grids = {
            each.column: grid_dimension(each)
            for each in self.settings.wanted
            if each.quantile is not None and each.column not in known
        }
        return DeclaredDomain((*self.declared.dimensions, *grids.values()))

    def count(self, source: FrequencySource, token: CancelToken) -> Drawing:
        """See :meth:`Design.count`."""
        wanted, found = self.settings.wanted, self._placed(source, token)

        def draw(randomness: RandomSource, report: Report) -> Measured:
            coins, values = Coins(randomness), []
            for number, (each, rows) in enumerate(zip(wanted, found, strict=True)):
                values.append(self._chosen(each, rows, coins, token))
                report(StepProgress("Choose", number + 1, len(wanted), "tables"))
            return Measured(NoisyTables(tuple(values)), _facts(wanted, found))

        return draw

    def facts(self, source: FrequencySource, token: CancelToken) -> Mapping[str, object]:
        """See :meth:`Design.facts`."""
        return _facts(self.settings.wanted, self._placed(source, token))

    def _placed(self, source: FrequencySource, token: CancelToken) -> list[PlacedRows]:
        most, count = self.settings.rows_per_person, Measure(COUNT)
        groups = self.declared.dimensions[: len(self.settings.groups)]
        return [
            place_rows(source, DeclaredDomain((*groups, own)), count, self.cluster, most, token)
            for own in map(self._dimension, self.settings.wanted)
        ]

    def _dimension(self, wanted: Wanted) -> DeclaredDimension:
        if wanted.quantile is not None:
            return grid_dimension(wanted)
        return next(each for each in self.declared.dimensions if each.name == wanted.column)

    def _chosen(
        self, wanted: Wanted, rows: PlacedRows, coins: Coins, token: CancelToken
    ) -> NDArray[np.int64]:
        """The candidate that is chosen in each group."""
        candidates = candidates_of(wanted, self.declared)
        *codes, places = rows.codes.T
        shape = rows.shape[:-1]
        cells = np.ravel_multi_index(tuple(codes), shape) if codes else np.zeros_like(places)
        order = np.lexsort((places, cells))
        ends = np.searchsorted(cells[order], np.arange(prod(shape) + 1))
        share = wanted.quantile or Fraction(1)
        weights = Weights(self.settings.rate(wanted) / share.denominator)
        chosen = np.zeros(prod(shape), np.int64)
        for cell, (start, end) in enumerate(pairwise(ends.tolist())):
            own = order[start:end]
            first, sizes, scores = runs_of(
                wanted.quantile, candidates, places[own], rows.counts[own]
            )
            best = max(scores)
            place = choose_run([best - score for score in scores], sizes, weights, coins, token)
            chosen[cell] = first[place] + coins.below(sizes[place])
        return chosen.reshape(shape)

    def process(
        self, noisy: NoisyTables, token: CancelToken, report: Report
    ) -> tuple[CuboidTable, ...]:
        """See :meth:`Design.process`."""
        token.check()
        domain = self.declared.domain
        groups = domain.part(range(len(self.settings.groups)))
        tables = []
        for number, (each, values) in enumerate(
            zip(self.settings.wanted, noisy.values, strict=True), start=1
        ):
            file = file_of(number, each)
            if each.quantile is None:
                labels = domain.categories[domain.dimensions.index(each.column)]
                tables.append(CuboidTable(groups, values, file, labels))
                continue
            chosen = [plain_number(each.value(place)) for place in values.reshape(-1).tolist()]
            whole = all(part.denominator == 1 for part in (each.lower, each.step))
            shown = np.array(chosen, np.int64 if whole else np.float64).reshape(values.shape)
            tables.append(CuboidTable(groups, shown, file))
        return tuple(tables)


def runs_of(
    quantile: Fraction | None,
    candidates: int,
    places: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Runs:
    """The candidates in runs that are equally good, with their utilities.

    ``places``, in ascending order, are the candidates that rows hold, ``counts`` how many rows.
    Utilities of quantiles are times the denominator of q, so that they are whole.
    """
    held = np.zeros(candidates, np.int64) if quantile is None else np.zeros(0, np.int64)
    if quantile is None:
        np.add.at(held, places, counts)
        return list(range(candidates)), [1] * candidates, held.tolist()
    own, inverse = np.unique(places, return_inverse=True)
    sums = np.zeros(len(own), np.int64)
    np.add.at(sums, inverse, counts)
    part, whole = quantile.numerator, quantile.denominator
    goal = part * int(counts.sum())
    first, sizes, scores = [], [], []
    free = below = 0
    for place, rows in (*zip(own.tolist(), sums.tolist(), strict=True), (candidates, 0)):
        if place > free:
            first.append(free)
            sizes.append(place - free)
            scores.append(-abs(whole * below - goal))
        if place < candidates:
            upto = below + rows
            first.append(place)
            sizes.append(1)
            scores.append(-max(0, whole * below - goal, goal - whole * upto))
            below, free = upto, place + 1
    return first, sizes, scores


def grid_dimension(wanted: Wanted) -> DeclaredDimension:
    """A column of numbers as one by whose texts rows are placed: on the grid, whose values are not
    listed; texts that are not numbers, or that mean a missing value, belong nowhere.
    """
    return DeclaredDimension(wanted.column, ("number",), {}, rule=wanted.place)


def candidates_of(wanted: Wanted, declared: DeclaredDomain) -> int:
    """From how many candidates one is chosen."""
    if wanted.quantile is not None:
        return wanted.steps
    own = next(each for each in declared.dimensions if each.name == wanted.column)
    return len(own.categories)


def file_of(number: int, wanted: Wanted) -> str:
    """Path of a table in the public part, such as ``choices/1-income.csv``."""
    stem = f"{number}-{encoded(wanted.column)}"
    return f"{FOLDER}/{stem if len(stem) <= _LONGEST else number}.csv"


def error_of(candidates: int, rate: Fraction) -> float:
    """By how many rows a choice falls short of the best candidate in 5 of 100 cases at most."""
    return log(candidates / RISK) / float(rate) if candidates > 1 else 0.0


def _facts(wanted: Sequence[Wanted], found: Sequence[PlacedRows]) -> dict[str, object]:
    pairs = zip(wanted, found, strict=True)
    return {"counting": {each.name: dict(rows.facts) for each, rows in pairs}}


def design_choices(given: PrivateInput, token: CancelToken, report: Report) -> ChoiceDesign:
    """The whole design; InputError ``choice.*``, ``cube.*`` for what the plan gets wrong."""
    settings = ChoiceSettings.from_parameters(given.parameters, given.where)
    declared, cluster = _declared(settings, given), cluster_of(given.roles)
    charge = settings.charge(cluster, "")
    lines = _lines(settings, declared)
    return ChoiceDesign(
        settings=settings,
        declared=declared,
        cluster=cluster,
        charge=Charge(charge.cost, draws_of(charge.cost), charge.neighbours, charge.unit),
        guarantee=choice_guarantee(settings, cluster),
        result=_result(declared, settings, lines),
        charts=(_error_chart(settings, lines), _odds(settings)),
        figures=(loss_figure(settings), _error_figure(lines)),
    )


def _declared(settings: ChoiceSettings, given: PrivateInput) -> DeclaredDomain:
    found = []
    for name in settings.declared:
        listed = settings.domains.get(name)
        if name in given.hand_made and listed is None:
            raise made_beside_data(name, given.where)
        found.append(declare(name, listed, given.hierarchy(name), 0, None, given.where))
    cells = prod(len(each.categories) for each in found[: len(settings.groups)])
    largest = max([len(each.categories) for each in found[len(settings.groups) :]], default=1)
    if cells > MOST_GROUPS or cells * largest > MOST_CANDIDATES:
        sentence = msg(
            "`groups` gives {cells:,} groups, which are too many to choose in: at most {most:,}, "
            "and {candidates:,} by the categories of a most frequent value",
            cells=cells,
            most=MOST_GROUPS,
            candidates=MOST_CANDIDATES,
        )
        raise misfit("choice.groups", given.where, sentence, "groups")
    return DeclaredDomain(tuple(found))


def _lines(settings: ChoiceSettings, declared: DeclaredDomain) -> list[dict[str, object]]:
    cells = prod(len(each.categories) for each in declared.dimensions[: len(settings.groups)])
    lines = []
    for number, each in enumerate(settings.wanted, start=1):
        candidates, rate = candidates_of(each, declared), settings.rate(each)
        kind = {"quantile": plain_number(each.quantile)} if each.quantile else {"texts": True}
        lines.append(
            {
                "dimensions": list(settings.groups),
                "cells": cells,
                "file": file_of(number, each),
                "column": each.column,
                **kind,
                "candidates": candidates,
                "width": str(settings.width(each)),
                "rate": str(rate),
                "error": error_of(candidates, rate),
            }
        )
    return lines


def _result(
    declared: DeclaredDomain, settings: ChoiceSettings, lines: list[dict[str, object]]
) -> dict[str, object]:
    return {
        "domains": declared.domain.as_json(),
        "outside": declared.elsewhere(),
        "shares": [str(settings.share)] * len(lines),
        "choices": lines,
    }


def choice_guarantee(settings: ChoiceSettings, cluster: str | None) -> Guarantee:
    """Claim, assumptions and limits; from the settings alone."""
    parameters = stated(settings, cluster, None) | {"noise": "exponential-mechanism"}
    said = origin_words(settings.declared, settings.domains, settings.origins)
    return person_guarantee(settings, cluster, parameters, said)


def settings_of(manifest: Manifest) -> ChoiceSettings:
    """The settings that a manifest states. Raises InputError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    return ChoiceSettings.from_parameters(values, "the manifest")


def guarantee_again(manifest: Manifest) -> Guarantee:
    """The guarantee that the settings of a manifest give. Raises InputError, TypeError."""
    return choice_guarantee(settings_of(manifest), stated_cluster(manifest))


def error_words(design: Design) -> str:
    """The errors of a design in one line."""
    return design.charts[0].answer


def _largest(lines: Sequence[Mapping[str, object]]) -> float:
    return max(float(str(line["error"])) for line in lines)


def _error_figure(lines: Sequence[Mapping[str, object]]) -> Figure:
    return Figure(
        "error_choice",
        "Error of a choice, at most",
        _largest(lines),
        unit=UNIT,
        better="lower",
        help="How many rows further from its rank than the best candidate, or held by how many "
        "fewer rows; in 95 % of releases.",
        headline=True,
        about="loss",
    )


def _error_chart(settings: ChoiceSettings, lines: Sequence[Mapping[str, object]]) -> BarChart:
    names = tuple(each.name for each in settings.wanted)
    errors = tuple(float(str(line["error"])) for line in lines)
    worst = max(range(len(errors)), key=errors.__getitem__)
    answer = msg(
        "In 95 % of releases, the {name} of a group is at most {rows:,.4g} rows worse than the "
        "best candidate: {percent:,.3g} % of a group of {size:,} rows.",
        name=names[worst],
        rows=errors[worst],
        percent=100 * errors[worst] / _EXAMPLE,
        size=_EXAMPLE,
    )
    return BarChart(
        id="choice-errors",
        question="How far can a choice be from the best one?",
        answer=answer,
        category_axis=Axis("Choice", ""),
        value_axis=Axis("In 95 % of releases, at most", UNIT, minimum=0.0),
        categories=names,
        series=(BarSeries("Error of a choice", errors, SeriesStyle.FIRST),),
        table=table_from(
            ["Choice", "Candidates", "Error, at most (rows)"],
            [
                [name, int(str(line["candidates"])), round(error, 1)]
                for name, line, error in zip(names, lines, errors, strict=True)
            ],
        ),
        short="Errors",
    )


def _odds(settings: ChoiceSettings) -> BarChart:
    subject = "a value of a person" if settings.replace else "a person being in the data"
    return odds_bars(epsilon_of(settings), subject, "about one person", "persons are independent")


# Answers from released choices: what was chosen in each group, and how far it may be from best.


def askable_choices(content: ReleasedContent, token: CancelToken) -> Askable:
    """Every group column with its categories; the choices are the measures."""
    given = settings_of(content.manifest)
    domains = [as_table(item) for item in as_list(content.manifest.result["domains"])]
    listed = {
        str(item["dimension"]): tuple(map(str, as_list(item["categories"]))) for item in domains
    }
    columns = tuple(AskableColumn(name, (listed[name],)) for name in given.groups)
    return Askable(columns, tuple(each.name for each in given.wanted))


def answer_choices(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """What was chosen in each group that the conditions leave.

    Raises InputError ``query.*``; RefusedError ``query.refused`` where groups would have to be
    joined: the choice of a whole does not follow from those of its parts.
    """
    asked = askable_choices(content, token)
    asked.check(query)
    place = asked.measures.index(asked.measure(query.measure))
    wanted = settings_of(content.manifest).wanted[place]
    line = as_table(as_list(content.manifest.result["choices"])[place])
    table = content.cuboid(str(line["file"]), token)
    kept = []
    for column in asked.columns:
        found = matching(query.conditions_on(column.name), column.name, column.categories)
        if Match.PARTLY in found:
            raise _untold("a condition cuts through a category")
        kept.append([i for i, each in enumerate(found) if each is Match.YES])
    by = [each.column for each in query.by]
    for column, own in zip(asked.columns, kept, strict=True):
        if query.margins or (by and column.name not in by and len(own) > 1):
            raise _untold("what is chosen in joined groups does not follow from their choices")
    if wanted.quantile is None:
        note = msg(
            "Held by at most {rows:,.4g} rows fewer than the most frequent value of the group, in "
            "95 % of releases.",
            rows=as_float(line["error"]),
        )
    else:
        note = msg(
            "At most {rows:,.4g} rows of the group too many lie below it, or above it, in 95 % of "
            "releases.",
            rows=as_float(line["error"]),
        )
    names = tuple(column.name for column in asked.columns)
    rows = []
    for cell in np.ndindex(*map(len, kept)):
        token.check()
        codes = tuple(own[i] for own, i in zip(kept, cell, strict=True))
        value = table.values[codes].item()
        labels = tuple(
            column.categories[code] for column, code in zip(asked.columns, codes, strict=True)
        )
        if table.labels:
            rows.append(AnswerRow((*labels, table.labels[int(value)]), None, note=note))
        else:
            rows.append(AnswerRow(labels, value, note=note))
    sentence = (
        "What was chosen in each group, from the release alone. The error is one of rank (or "
    )
    sentence += "of rows), not of the value: how far the value is from the true one depends on how "
    sentence += "densely values lie there, which the release does not tell. In a group of few rows "
    sentence += "chance chooses."
    columns = (*names, wanted.column) if table.labels else names
    return Answer(columns, wanted.name, tuple(rows), sentence, (str(line["file"]),))


def _untold(why: str) -> RefusedError:
    return RefusedError(
        "query.refused",
        msg("The release cannot answer this: {why}.", why=why),
        hint="Ask for all groups, or fix each other column to one category with a condition.",
    )
