"""The design of itemsets: shares of the budget, noise and guarantee; all from the plan alone.

Why the whole costs ε. The three parts have shares of ε that add up to it: how many items, which
ones (chosen by :func:`~dpdesk.engine.methods.itemsets.bases.chosen_bases`), and the cells of the
bases. What is done with the later parts depends on what the earlier ones gave, never otherwise on
the data, so that the losses add up (sequential composition). A row is in one cell of each basis: a
person changes the cells of w bases together by at most w * width in L1, so discrete Laplace noise
of scale w * width / (share * ε) in each cell costs that share, whatever w is.

Sets that are read from views cost what the views cost (:mod:`dpdesk.engine.views.design`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from json import dumps
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.budget import draws_of
from dpdesk.core.charts import Axis, BarChart, BarSeries, Figure, SeriesStyle, table_from
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.cuboid import LISTS, CuboidTable, Domain
from dpdesk.core.errors import RefusedError
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken, Report, StepProgress, silent
from dpdesk.core.messages import msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.query import Answer, AnswerRow, Askable, AskableColumn, Match, Query, matching
from dpdesk.core.release import ReleasedContent
from dpdesk.core.shapes import as_float, as_list, as_table, read_json
from dpdesk.engine.cubes.lattice import mask_of
from dpdesk.engine.cubes.olap.cube import variance_of
from dpdesk.engine.cubes.olap.grids import INTERVALS
from dpdesk.engine.cubes.settings import Covered
from dpdesk.engine.methods.itemsets.bases import (
    Items,
    Transactions,
    chosen_bases,
    top_sets,
)
from dpdesk.engine.methods.itemsets.settings import PARAMETERS, ItemsetSettings, itemset_guarantee
from dpdesk.engine.noise.choosing import Coins
from dpdesk.engine.noise.laplace import DiscreteLaplace
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.charts import loss_figure, odds_bars
from dpdesk.engine.private.counting import PlacedRows, place_rows
from dpdesk.engine.private.declared import DeclaredDomain, declare, made_beside_data
from dpdesk.engine.private.guarantee_words import epsilon_of
from dpdesk.engine.private.kinds import Measure, Noise
from dpdesk.engine.private.method import (
    Charge,
    Design,
    Drawing,
    Measured,
    NoisyTables,
    PrivateInput,
)
from dpdesk.engine.private.settings import cluster_of, misfit
from dpdesk.engine.private.widths import half_width
from dpdesk.engine.views.choosing import PlannedNoise
from dpdesk.engine.views.design import MARGINALS, ViewDesign, designed
from dpdesk.engine.views.spread import noise_of

if TYPE_CHECKING:
    from dpdesk.engine.views.marginals import AgreeingViews

ITEMSETS, BASES = LISTS
ITEMS = "items"
UNIT = "rows"
_DRAW = "Draw the noise"
_EXAMPLES = ((1, 12), (4, 8), (8, 7), (16, 6))
"""Bases, and items in each, as they often are."""


@dataclass(frozen=True)
class Pace:
    """What is drawn with; a manifest states it, and what verifies finds it from the settings.

    ``rates`` are those of :func:`~dpdesk.engine.methods.itemsets.bases.chosen_bases`, none where
    nothing is chosen; ``scale`` is that of the noise of each cell where there is one basis.
    """

    rates: tuple[Fraction, ...]
    scale: Fraction

    @classmethod
    def of(cls, settings: ItemsetSettings) -> Pace:
        """What the parts of the budget pay."""
        epsilon, width = settings.budget, settings.width
        *choices, last = (share * epsilon for share in settings.shares)
        changes = (2 * width, width)
        rates = tuple(part / most for part, most in zip(choices, changes, strict=False))
        return cls(rates, width / last)

    def scale_of(self, bases: int) -> Fraction:
        """The scale with so many bases: a person changes the cells of each of them."""
        return self.scale * bases


@dataclass(frozen=True, kw_only=True)
class ItemsetDesign(Design):
    """A release of frequent itemsets as its plan decides it."""

    settings: ItemsetSettings
    pace: Pace

    def count(self, source: FrequencySource, token: CancelToken) -> Drawing:
        """See :meth:`Design.count`; of the values, the first one names the bases."""
        placed = self._placed(source, token)
        rows = Transactions(placed.codes == 1, placed.counts)

        def draw(randomness: RandomSource, report: Report) -> Measured:
            bases = self._bases(rows, Coins(randomness), token)
            noise = DiscreteLaplace(self.pace.scale_of(len(bases)))
            values = [_encoded(bases)]
            for number, basis in enumerate(bases):
                counted = rows.of_basis(basis)
                drawn = noise.draw(counted.size, randomness, token)
                values.append(counted + drawn.reshape(counted.shape))
                report(StepProgress(_DRAW, number + 1, len(bases), "tables"))
            return Measured(NoisyTables(tuple(values)), _facts(placed))

        return draw

    def _bases(self, rows: Transactions, coins: Coins, token: CancelToken) -> tuple[Items, ...]:
        settings = self.settings
        if not settings.chooses:
            return (tuple(range(len(settings.dimensions))),)
        first, second = self.pace.rates
        given = settings.top, settings.longest, (first, second)
        return chosen_bases(rows, *given, coins, token)

    def facts(self, source: FrequencySource, token: CancelToken) -> Mapping[str, object]:
        """See :meth:`Design.facts`."""
        return _facts(self._placed(source, token))

    def _placed(self, source: FrequencySource, token: CancelToken) -> PlacedRows:
        most = self.settings.rows_per_person
        return place_rows(source, self.declared, Measure(COUNT), self.cluster, most, token)

    def process(
        self, noisy: NoisyTables, token: CancelToken, report: Report
    ) -> tuple[CuboidTable, ...]:
        """See :meth:`Design.process`."""
        bases, cells = _decoded(noisy.values[0]), noisy.values[1:]
        found = self.found(noisy, token)
        values = np.array([count for count, _ in found])
        names = self.settings.dimensions
        sets = listing(names, [own for _, own in found], values, ITEMSETS)
        totals = np.array([int(each.sum()) for each in cells])
        return sets, listing(names, bases, totals, BASES)

    def found(self, noisy: NoisyTables, token: CancelToken) -> list[tuple[float, Items]]:
        """The sets with their counts, from what was measured alone."""
        token.check()
        bases, cells = _decoded(noisy.values[0]), noisy.values[1:]
        return top_sets(bases, cells, self.settings.top, self.settings.longest)


@dataclass(frozen=True, kw_only=True)
class MinedDesign(Design):
    """A release of views, and of the itemsets that are read from them, as its plan decides it."""

    settings: ItemsetSettings
    of_views: ViewDesign

    def count(self, source: FrequencySource, token: CancelToken) -> Drawing:
        """See :meth:`Design.count`."""
        drawing = self.of_views.count(source, token)

        def draw(randomness: RandomSource, report: Report) -> Measured:
            found = drawing(randomness, report)
            return Measured(found.noisy, _renamed(found.internal))

        return draw

    def facts(self, source: FrequencySource, token: CancelToken) -> Mapping[str, object]:
        """See :meth:`Design.facts`."""
        return _renamed(self.of_views.facts(source, token))

    def process(
        self, noisy: NoisyTables, token: CancelToken, report: Report
    ) -> tuple[CuboidTable, ...]:
        """See :meth:`Design.process`."""
        agreed, settings = self.of_views.agreed(noisy, token, report), self.settings
        found = self._found(agreed, token)
        values = np.array([count for count, _ in found])
        totals = np.array([float(table.sum()) for table in agreed.tables.values()])
        names = settings.dimensions
        sets = listing(names, [own for _, own in found], values, ITEMSETS)
        views = listing(names, list(agreed.tables), totals, BASES)
        return (*self.of_views.view_tables(agreed), sets, views)

    def found(self, noisy: NoisyTables, token: CancelToken) -> list[tuple[float, Items]]:
        """The sets with their counts, from what was measured alone."""
        return self._found(self.of_views.agreed(noisy, token, silent), token)

    def _found(self, agreed: AgreeingViews, token: CancelToken) -> list[tuple[float, Items]]:
        from dpdesk.engine.methods.itemsets.mined import mined_sets

        entropy, most = self.of_views.settings.entropy, self.settings.top
        return mined_sets(agreed, most, self.settings.longest, token, entropy=entropy)


def listing(
    names: Sequence[str], sets: Sequence[Items], values: NDArray[np.generic], file: str
) -> CuboidTable:
    """A list of sets with a number for each, as it is published."""
    texts = tuple(dumps([names[item] for item in own], ensure_ascii=False) for own in sets)
    if values.dtype.kind == "f" and (values % 1 == 0).all():
        values = values.astype(np.int64)
    return CuboidTable(Domain((ITEMS,), (texts,)), values, file)


def _encoded(bases: tuple[Items, ...]) -> NDArray[np.int64]:
    """Bases as rows of items, filled up with -1."""
    longest = max(map(len, bases))
    return np.array([(*basis, *(-1,) * (longest - len(basis))) for basis in bases], np.int64)


def _decoded(values: NDArray[np.int64]) -> tuple[Items, ...]:
    return tuple(tuple(int(item) for item in row if item >= 0) for row in values)


def _facts(rows: PlacedRows) -> dict[str, object]:
    return {"counting": {"itemsets": dict(rows.facts)}}


def _renamed(facts: Mapping[str, object]) -> dict[str, object]:
    """The facts of views, under the name of what is released here."""
    return {"counting": {"itemsets": as_table(facts["counting"])[COUNT]}}


def design_itemsets(
    given: PrivateInput, token: CancelToken, report: Report
) -> ItemsetDesign | MinedDesign:
    """The whole design.

    InputError ``itemsets.*``, ``cube.*``, ``views.*`` for what the plan gets wrong; Cancelled.
    """
    settings = ItemsetSettings.from_parameters(given.parameters, given.where)
    declared, cluster = _declared(settings, given), cluster_of(given.roles)
    if settings.views:
        return _mined(settings, designed(settings.views, given, token, report))
    charge, pace = settings.charge(cluster, ""), Pace.of(settings)
    return ItemsetDesign(
        settings=settings,
        pace=pace,
        declared=declared,
        cluster=cluster,
        charge=Charge(charge.cost, draws_of(charge.cost), charge.neighbours, charge.unit),
        guarantee=itemset_guarantee(settings, cluster),
        result=_result(settings, declared, pace),
        charts=(_error_chart(settings), _odds(settings)),
        figures=(loss_figure(settings), _error_figure(settings)),
    )


def _mined(settings: ItemsetSettings, views: ViewDesign) -> MinedDesign:
    result = {key: value for key, value in views.result.items() if key != MARGINALS}
    return MinedDesign(
        settings=settings,
        of_views=views,
        declared=views.declared,
        charge=views.charge,
        guarantee=views.guarantee,
        result={**result, "itemsets": _lists()},
        charts=views.charts,
        figures=tuple(each for each in views.figures if each.key != MARGINALS),
        notes=views.notes,
    )


def _declared(settings: ItemsetSettings, given: PrivateInput) -> DeclaredDomain:
    found = []
    for name in settings.dimensions:
        listed = settings.domains.get(name)
        if name in given.hand_made and listed is None:
            raise made_beside_data(name, given.where)
        one = declare(name, listed, given.hierarchy(name), 0, None, given.where)
        if len(one.categories) != 2:
            sentence = msg(
                "`{name}` has {n} declared categories, expected two of which the second means that "
                "a row holds the item",
                name=name,
                n=len(one.categories),
            )
            raise misfit("itemsets.domain", given.where, sentence, "domains")
        found.append(one)
    return DeclaredDomain(tuple(found))


def _result(settings: ItemsetSettings, declared: DeclaredDomain, pace: Pace) -> dict[str, object]:
    return {
        "domains": declared.domain.as_json(),
        "outside": declared.elsewhere(),
        "shares": [str(share) for share in settings.shares],
        "sensitivity": settings.width,
        "rates": [str(rate) for rate in pace.rates],
        "scale": str(pace.scale),
        "itemsets": _lists(),
    }


def _lists() -> list[dict[str, object]]:
    return [{"dimensions": [ITEMS], "file": file, "listed": True} for file in (ITEMSETS, BASES)]


def count_width(settings: ItemsetSettings, bases: int, cells: float) -> tuple[float, float]:
    """Standard deviation and ± of the sum of so many noisy cells (of a mean: 1 / precision)."""
    variance = DiscreteLaplace(Pace.of(settings).scale_of(bases)).variance * cells
    return variance**0.5, half_width(Noise.LAPLACE, variance, 1.0)


def _shapes(settings: ItemsetSettings) -> list[tuple[int, int]]:
    if not settings.chooses:
        return [(1, len(settings.dimensions))]
    return list(_EXAMPLES)


def _error_figure(settings: ItemsetSettings) -> Figure:
    bases, items = _shapes(settings)[-1]
    return Figure(
        "error_pair",
        "Error of a pair, ±",
        count_width(settings, bases, 2.0 ** max(items - 2, 0))[1],
        unit=UNIT,
        better="lower",
        help="With as many bases as the chart shows last; in 95 % of releases.",
        headline=True,
        about="loss",
    )


def _error_chart(settings: ItemsetSettings) -> BarChart:
    rows = []
    for bases, items in _shapes(settings):
        name = msg("{bases} × {items} items", bases=bases, items=items)
        single = count_width(settings, bases, 2.0 ** (items - 1))[1]
        pair = count_width(settings, bases, 2.0 ** max(items - 2, 0))[1]
        rows.append((name, single, pair))
    answer = msg(
        "± {pair:,.0f} rows for a pair of items with {name}; how many bases there are is chosen "
        "with noise.",
        pair=rows[-1][2],
        name=rows[-1][0],
    )
    if not settings.chooses:
        answer = msg("± {pair:,.0f} rows for a pair of items.", pair=rows[0][2])
    return BarChart(
        id="itemset-errors",
        question="How large is the error of a count?",
        answer=answer,
        category_axis=Axis("Bases", ""),
        value_axis=Axis("± in 95 % of releases", UNIT, minimum=0.0),
        categories=tuple(name for name, _, _ in rows),
        series=(
            BarSeries("A pair", tuple(pair for _, _, pair in rows), SeriesStyle.FIRST),
            BarSeries("A single item", tuple(one for _, one, _ in rows), SeriesStyle.REFERENCE),
        ),
        table=table_from(
            ["Bases", "A single item, ± (rows)", "A pair, ± (rows)"],
            [[name, round(single, 1), round(pair, 1)] for name, single, pair in rows],
        ),
        short="Errors",
    )


def _odds(settings: ItemsetSettings) -> BarChart:
    subject = "a value of a person" if settings.replace else "a person being in the data"
    return odds_bars(epsilon_of(settings), subject, "about one person", "persons are independent")


# Answers from released itemsets: the sets, or those that hold some items, each with its error.


_LAST = (
    "Sets were released because their noisy counts are large, so the counts near the end of the "
    "list are too large rather than too small."
)
_SENTENCES = {
    Covered.RELEASED: "How many rows hold all items of a set, from the release alone: the ± holds "
    "the error of the noise in 95 of 100 cases or more for a set that was fixed beforehand. "
    + _LAST,
    Covered.WITH_NEGATIVES: "How many rows hold all items of a set, from the release alone: the ± "
    "is that of the numbers before negative ones were taken out, which moves them, and for a set "
    "that was fixed beforehand. " + _LAST,
}
_UNCOVERED = (
    "Sets that are in no view were made from the views, as evenly as these allow. The ± is that "
    "of the noise alone; the error of that assumption is not in it, and cannot be known from the "
    "release."
)


def askable_itemsets(content: ReleasedContent, token: CancelToken) -> Askable:
    """Every item, with its two categories."""
    listed = map(as_table, as_list(content.manifest.result["domains"]))
    columns = tuple(
        AskableColumn(str(item["dimension"]), (tuple(map(str, as_list(item["categories"]))),))
        for item in listed
    )
    return Askable(columns, (UNIT,))


def answer_itemsets(query: Query, content: ReleasedContent, token: CancelToken) -> Answer:
    """The released sets with all items that the conditions name as held; all without conditions.

    Raises InputError ``query.*``; RefusedError ``query.refused`` for what the sets cannot tell.
    """
    asked = askable_itemsets(content, token)
    asked.check(query)
    if query.by:
        raise _untold("the sets are released one by one, so nothing is grouped by a column")
    held = set()
    for column in {condition.column for condition in query.where}:
        absent, _ = matching(query.conditions_on(column), column, asked.column(column).categories)
        if absent is not Match.NO:
            raise _untold("the sets count rows that hold items, never rows without one")
        held.add(column)
    values = parse_parameters(PARAMETERS, content.manifest.parameters, "the manifest")
    settings = ItemsetSettings.from_parameters(values, "the manifest")
    listing, bases = content.cuboid(ITEMSETS, token), content.cuboid(BASES, token)
    error = _error_of_views if settings.views else _error_of_bases
    rows, uncovered = [], False
    groups = [frozenset(read_json(text)) for text in bases.domain.categories[0]]
    error_of = error(settings, groups, content, token)
    for text, value in zip(listing.domain.categories[0], listing.values.tolist(), strict=True):
        own = frozenset(read_json(text))
        if held <= own:
            deviation, width = error_of(own)
            rows.append(AnswerRow((text,), value, deviation, value - width, value + width))
            uncovered = uncovered or not any(own <= each for each in groups)
    covered = Covered.RELEASED if settings.views is None else settings.views.cube.covered
    return Answer(
        *((ITEMS,), UNIT, tuple(rows), _SENTENCES[covered], (ITEMSETS, BASES)),
        warnings=(_UNCOVERED,) if uncovered else (),
        interval=INTERVALS[covered],
    )


def _error_of_bases(
    settings: ItemsetSettings,
    groups: Sequence[frozenset[str]],
    content: ReleasedContent,
    token: CancelToken,
) -> Callable[[frozenset[str]], tuple[float, float]]:
    """Standard deviation and ± of a set's count; it errs as so many noisy cells as one over its
    summed weights.
    """

    def error(own: frozenset[str]) -> tuple[float, float]:
        sizes = np.array([len(each) for each in groups if own <= each])
        cells = float(1 / np.exp2(len(own) - sizes.astype(np.float64)).sum())
        return count_width(settings, len(groups), cells)

    return error


def _error_of_views(
    settings: ItemsetSettings,
    groups: Sequence[frozenset[str]],
    content: ReleasedContent,
    token: CancelToken,
) -> Callable[[frozenset[str]], tuple[float, float]]:
    """Standard deviation and ± of a set's count by the noise of views that agree.

    A count of largest entropy that is in no view moves more with the noise than was planned where
    most rows hold the set.
    """
    from dpdesk.engine.views.marginals import AgreeingViews

    manifest = content.manifest
    place = {name: i for i, name in enumerate(settings.dimensions)}
    views = [tuple(sorted(place[name] for name in each)) for each in groups]
    shape = (2,) * len(place)
    scales = map(as_float, as_list(manifest.result["scales"]))
    assert settings.views is not None
    cube, entropy = settings.views.cube, settings.views.entropy
    variances = [
        variance_of(cube, scale, 1.0, mask_of(view), shape)
        for scale, view in zip(scales, views, strict=True)
    ]
    planned = PlannedNoise.of(views, shape, variances)

    files = [str(as_table(line)["file"]) for line in as_list(manifest.result["views"])]
    tables = (content.cuboid(file, token).values for file in files)
    held = [np.asarray(values, dtype=np.float64) for values in tables]
    agreed = AgreeingViews(shape, dict(zip(views, held, strict=True)))
    present = np.array([[False, True]])

    def error(own: frozenset[str]) -> tuple[float, float]:
        places = tuple(sorted(place[name] for name in own))
        variance = planned.variance(places)
        if entropy and not any({*places} <= {*view} for view in views):
            made = agreed.marginal(places, token, entropy=True)
            found = noise_of(made, planned, [present] * len(places))
            variance = variance if found is None else max(variance, float(found.max()))
        return variance**0.5, half_width(settings.noise, variance, 1.0)

    return error


def _untold(why: str) -> RefusedError:
    return RefusedError(
        "query.refused",
        msg("The release cannot answer this: {why}.", why=why),
        hint="Leave it out to get all sets, or name items that rows hold.",
    )
