"""Sets from bases and sets from views, against the true ones: internal, nothing is kept.

A listed set is right where its true count reaches that of the last true one, so that sets of equal
counts may stand for each other. Precision is the share of the listed sets that are right, recall
the share of the true ones that are listed; the others are missed (false negatives).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpdesk.core.charts import (
    Axis,
    Cell,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import joined, msg
from dpdesk.core.plain import number_text
from dpdesk.engine.methods.itemsets.bases import Items, Transactions, frequent_sets
from dpdesk.engine.methods.itemsets.design import (
    MinedDesign,
    design_itemsets,
)
from dpdesk.engine.methods.itemsets.settings import BASIS, VIEWS, ItemsetSettings
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.counting import place_rows
from dpdesk.engine.private.kinds import Measure
from dpdesk.engine.private.method import PrivateInput
from dpdesk.engine.querying import Comparison

WAYS = {BASIS: "From bases", VIEWS: "From views"}
BUDGETS = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(10))
TOPS = (10, 25, 50, 100, 200)
DRAWS = 3
_LOOKS = {BASIS: SeriesStyle.FIRST, VIEWS: SeriesStyle.SECOND}
_STEP = "Compare ways to find sets"


@dataclass(frozen=True)
class Found:
    """Means over draws: shares of the listed sets that are right and of the true ones that are
    listed; the median relative error of the counts of listed sets.
    """

    precision: float
    recall: float
    error: float

    @property
    def missed(self) -> float:
        """The share of the true sets that are not listed: false negatives."""
        return 1 - self.recall


Line = list["Found | None"]


def compared_itemsets(
    given: PrivateInput,
    rows: FrequencySource,
    randomness: RandomSource,
    token: CancelToken,
    report: Report,
) -> tuple[Comparison, ...]:
    """Compare how many of the true sets both ways find, by budget and by the number of sets.

    Raises InputError for what the plan gets wrong, Cancelled.
    """
    settings = ItemsetSettings.from_parameters(given.parameters, given.where)
    budgets = [settings.budget * each for each in BUDGETS]
    tops = sorted({*(each for each in TOPS if each < settings.top), settings.top})
    truth = _transactions(given, rows, token)
    total, done = len(WAYS) * (len(budgets) + len(tops) - 1), 0
    by_budget: dict[str, Line] = {way: [] for way in WAYS}
    by_top: dict[str, Line] = {way: [] for way in WAYS}
    unable: dict[str, str] = {}
    for way in WAYS:
        places = [(by_budget, budget, settings.top) for budget in budgets]
        places += [(by_top, settings.budget, top) for top in tops if top != settings.top]
        for lines, budget, top in places:
            done += 1
            report(StepProgress(_STEP, done, total, "comparisons"))
            try:
                design = design_itemsets(_with(given, settings, way, budget, top), token, silent)
            except InputError as error:
                unable.setdefault(way, error.sentence)
                lines[way].append(None)
                continue
            drawing = design.count(rows, token)
            listed = [design.found(drawing(randomness, silent).noisy, token) for _ in range(DRAWS)]
            lines[way].append(found_of(truth, listed, top, settings.longest, token))
        by_top[way].append(by_budget[way][BUDGETS.index(Fraction(1))])
    charts = _charts(settings, budgets, by_budget, tops, by_top)
    sentence = _sentence(settings, by_budget, unable)
    name = msg("Sets of {n} items", n=len(settings.dimensions))
    return (Comparison(name, settings.top, rows.rows, 0, sentence, charts, measure="sets"),)


def _with(
    given: PrivateInput, settings: ItemsetSettings, way: str, budget: Fraction, top: int
) -> PrivateInput:
    """The plan with another way, budget and number of sets."""
    key = "epsilon" if settings.pure else "rho"
    changed = {**given.parameters, "mine": way, "top": top, key: budget}
    return replace(given, parameters=changed)


def _transactions(given: PrivateInput, rows: FrequencySource, token: CancelToken) -> Transactions:
    """The rows that a release counts."""
    design = design_itemsets(given, token, silent)
    cluster = design.of_views.cluster if isinstance(design, MinedDesign) else design.cluster
    most = design.settings.rows_per_person
    placed = place_rows(rows, design.declared, Measure(COUNT), cluster, most, token)
    return Transactions(placed.codes == 1, placed.counts)


def found_of(
    truth: Transactions,
    listed: Sequence[Sequence[tuple[float, Items]]],
    top: int,
    longest: int,
    token: CancelToken,
) -> Found:
    """How right some lists of sets are. Raises Cancelled."""
    true = frequent_sets(truth, top, longest, token)
    least = true[-1][0]
    precisions, recalls, errors = [], [], []
    for sets in listed:
        right = 0
        for count, own in sets:
            exact = int(truth.counts @ truth.held[:, list(own)].all(axis=1))
            right += exact >= least
            errors.append(abs(count - exact) / max(exact, 1))
        right = min(right, len(true))
        precisions.append(right / max(len(sets), 1))
        recalls.append(right / len(true))
    return Found(float(np.mean(precisions)), float(np.mean(recalls)), float(np.median(errors)))


# ---- what is shown


def _charts(
    settings: ItemsetSettings, budgets: Sequence[Fraction], by_budget: dict[str, Line],
    tops: Sequence[int], by_top: dict[str, Line],
) -> tuple[ScatterChart, ...]:  # fmt: skip
    loss = msg("Privacy loss {sign}", sign="ε" if settings.pure else "ρ")
    budget = Axis(loss, "smaller protects more", log=True)
    number = Axis("Sets that are listed", "number", whole=True)
    share = Axis("True sets that are listed", percent=True, minimum=0.0, maximum=1.0)
    error = Axis("Median relative error of listed counts", percent=True, log=True)
    of_budget = budget, [float(each) for each in budgets], by_budget
    of_top = number, [float(each) for each in tops], by_top
    found = "How many of the true sets are listed, by the budget?"
    longer = "How many of the true sets are listed, by how many are asked for?"
    wrong = "How wrong are the counts of listed sets, by the budget?"
    return (
        _chart("found", found, "Budget", share, "recall", *of_budget),
        _chart("longer", longer, "Number of sets", share, "recall", *of_top),
        _chart("counts", wrong, "Counts", error, "error", *of_budget),
    )


def _chart(
    key: str, question: str, short: str, y_axis: Axis, measure: str, x_axis: Axis,
    places: Sequence[float], lines: dict[str, Line],
) -> ScatterChart:  # fmt: skip
    heads, columns = zip(*_columns(lines), strict=True)
    rows: list[list[Cell]] = [
        [place, *(column[at] for column in columns)] for at, place in enumerate(places)
    ]
    return ScatterChart(
        id=key,
        question=question,
        answer=_answer(lines, measure),
        x_axis=x_axis,
        y_axis=y_axis,
        series=tuple(_series(way, places, _values(line, measure)) for way, line in lines.items()),
        table=table_from((x_axis.label, *heads), rows),
        short=short,
    )


def _series(way: str, places: Sequence[float], values: Sequence[float | None]) -> PointSeries:
    known = [(x, y) for x, y in zip(places, values, strict=True) if y is not None]
    x, y = (np.array([each[at] for each in known], np.float64) for at in (0, 1))
    return PointSeries(WAYS[way], x, y, look=_LOOKS[way], joined=True)


def _columns(lines: dict[str, Line]) -> Iterator[tuple[str, list[float | None]]]:
    """The twin: all measures of both ways."""
    for way, line in lines.items():
        for words, measure in (
            ("{way}: precision", "precision"),
            ("{way}: recall", "recall"),
            ("{way}: false negatives", "missed"),
            ("{way}: relative error of counts", "error"),
        ):
            yield msg(words, way=WAYS[way]), _values(line, measure)


def _values(line: Line, measure: str) -> list[float | None]:
    return [None if each is None else float(getattr(each, measure)) for each in line]


def _answer(lines: dict[str, Line], measure: str) -> str:
    last = {way: line[-1] for way, line in lines.items() if line and line[-1] is not None}
    said = [
        msg("{way} ({error})", way=WAYS[way], error=format_figure(getattr(each, measure), "share"))
        for way, each in last.items()
    ]
    return msg("At the right end: {said}.", said=joined(said, "; "))


def _sentence(settings: ItemsetSettings, by_budget: dict[str, Line], unable: dict[str, str]) -> str:
    place = BUDGETS.index(Fraction(1))
    said = [
        msg("{way} ({error})", way=WAYS[way], error=format_figure(found.recall, "share"))
        for way, line in by_budget.items()
        if (found := line[place]) is not None
    ]
    sign = "ε" if settings.pure else "ρ"
    parts = [
        msg(
            "Of the {top:,} most frequent sets, with {sign} = {budget}, are listed: {ways}. Means "
            "of {draws} draws. The true data were used: what you decide after this look is not "
            "covered by the budget.",
            top=settings.top,
            sign=sign,
            budget=number_text(settings.budget),
            ways=joined(said, "; "),
            draws=DRAWS,
        )
    ]
    parts += [
        msg("Not compared: {way}, because {reason}.", way=WAYS[way], reason=reason.rstrip("."))
        for way, reason in unable.items()
    ]
    return joined(parts)
