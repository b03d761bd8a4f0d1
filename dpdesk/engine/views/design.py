"""The design of a release of views, from the plan alone; its measurement; its processing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.budget import Draws
from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Chart,
    Figure,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.cube_parameters import COUNT
from dpdesk.core.cuboid import CuboidTable
from dpdesk.core.errors import InputError
from dpdesk.core.frequency import FrequencySource
from dpdesk.core.jobs import CancelToken, Note, Report, StepProgress
from dpdesk.core.messages import counted, listed, msg
from dpdesk.engine.cubes.channels import Channel, make_channels
from dpdesk.engine.cubes.guarantee import cube_guarantee
from dpdesk.engine.cubes.lattice import CubePlan, NoiseSource, mask_of
from dpdesk.engine.cubes.naming import table_stem
from dpdesk.engine.cubes.settings import declared_of
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.charts import loss_figure, odds_bars
from dpdesk.engine.private.counting import counted_rows
from dpdesk.engine.private.declared import DeclaredDomain
from dpdesk.engine.private.guarantee_words import epsilon_of, except_words
from dpdesk.engine.private.kinds import Measure
from dpdesk.engine.private.method import (
    Design,
    Drawing,
    Measured,
    NoisyTables,
    PrivateInput,
)
from dpdesk.engine.private.settings import cluster_of
from dpdesk.engine.private.widths import half_width
from dpdesk.engine.views.choosing import Candidate, Chosen, PlannedNoise, chosen_views
from dpdesk.engine.views.consistency import shared_sets
from dpdesk.engine.views.settings import Places, ViewSettings, check_cells

if TYPE_CHECKING:
    from dpdesk.engine.views.marginals import AgreeingViews

VIEWS, MARGINALS = "views", "marginals"
_MOST_SHARED = 100_000
_DRAW = "Draw the noise"


@dataclass(frozen=True, kw_only=True)
class ViewDesign(Design):
    """Views as the plan decides them; ``channel`` has one noise source for each."""

    settings: ViewSettings
    chosen: Chosen
    shared: tuple[Places, ...]
    channel: Channel
    planned: PlannedNoise

    def count(self, source: FrequencySource, token: CancelToken) -> Drawing:
        """See :meth:`Design.count`."""
        kept, facts = self._kept(source, token)
        counted = view_counts(kept, self.declared, self.chosen.views, token)

        def draw(randomness: RandomSource, report: Report) -> Measured:
            values = []
            for number, table in enumerate(counted):
                noise = self.channel.noise(number, table.shape, randomness, token)
                values.append(table + noise)
                report(StepProgress(_DRAW, number + 1, len(counted), "tables"))
            return Measured(NoisyTables(tuple(values)), facts)

        return draw

    def facts(self, source: FrequencySource, token: CancelToken) -> Mapping[str, object]:
        """See :meth:`Design.facts`."""
        return self._kept(source, token)[1]

    def _kept(
        self, source: FrequencySource, token: CancelToken
    ) -> tuple[FrequencySource, dict[str, object]]:
        most = self.settings.cube.rows_per_person
        given = source, self.declared, Measure(COUNT), self.cluster, most, token
        kept, facts = counted_rows(*given)
        return kept, {"counting": {COUNT: facts}}

    def process(
        self, noisy: NoisyTables, token: CancelToken, report: Report
    ) -> tuple[CuboidTable, ...]:
        """See :meth:`Design.process`."""
        agreed = self.agreed(noisy, token, report)
        tables = list(self.view_tables(agreed))
        domain = self.declared.domain
        for number, places in enumerate(self.settings.marginals):
            made = agreed.marginal(places, token, entropy=self.settings.entropy)
            file = file_of(MARGINALS, self.settings, number, places)
            tables.append(CuboidTable(domain.part(places), made.values, file))
        return tuple(tables)

    def agreed(self, noisy: NoisyTables, token: CancelToken, report: Report) -> AgreeingViews:
        """The views that agree, from what was measured alone. Raises Cancelled."""
        from dpdesk.engine.views.consistency import agreeing
        from dpdesk.engine.views.marginals import AgreeingViews

        shape, views = self.declared.domain.shape, self.chosen.views
        known = self.shared, noisy.values, self.channel.variances
        found = agreeing(views, shape, *known, token, report)
        return AgreeingViews(shape, dict(zip(views, found, strict=True)))

    def view_tables(self, agreed: AgreeingViews) -> Iterator[CuboidTable]:
        """The views as they are published."""
        for number, (view, values) in enumerate(agreed.tables.items()):
            file = file_of(VIEWS, self.settings, number, view)
            yield CuboidTable(self.declared.domain.part(view), values, file)


def view_counts(
    kept: FrequencySource,
    declared: DeclaredDomain,
    views: Sequence[Places],
    token: CancelToken,
) -> list[NDArray[np.int64]]:
    """The true counts of each view; every kept row has a place in each dimension."""
    found = []
    for view in views:
        token.check()
        dimensions = [declared.dimensions[i] for i in view]
        table = kept.frequency_table([each.name for each in dimensions], token)
        shape = tuple(len(each.categories) for each in dimensions)
        index = np.zeros(len(table.counts), dtype=np.int64)
        for axis, each in enumerate(dimensions):
            places = each.codes(table.domains[axis], table.missing_of(axis)).astype(np.int64)
            index = index * shape[axis] + places[table.codes[:, axis]]
        counts = np.zeros(prod(shape), dtype=np.int64)
        np.add.at(counts, index, table.counts)
        found.append(counts.reshape(shape))
    return found


def file_of(folder: str, settings: ViewSettings, number: int, places: Places) -> str:
    """Path of a table's CSV in the public part, such as ``views/2-age-sex.csv``."""
    stem = table_stem(settings.cube.dimensions, mask_of(places), f"table-{number + 1}")
    return f"{folder}/{stem}.csv"


def design_views(given: PrivateInput, token: CancelToken, report: Report) -> ViewDesign:
    """The whole design; InputError ``views.*``, ``cube.*`` for what the plan gets wrong."""
    settings = ViewSettings.from_parameters(given.parameters, given.where)
    return designed(settings, given, token, report)


def designed(
    settings: ViewSettings, given: PrivateInput, token: CancelToken, report: Report
) -> ViewDesign:
    """The design of views with these settings; what else is ``given`` are roles and hierarchies.

    InputError ``views.*``, ``cube.*`` for what does not fit; Cancelled.
    """
    cube = settings.cube
    declared = declared_of(cube, given, cube.dimensions)
    shape = declared.domain.shape
    chosen = chosen_views(settings, shape, given.where, token, report)
    check_cells(settings, chosen.views, shape, given.where)
    shared = shared_sets(chosen.views, _MOST_SHARED)
    if shared is None:
        raise InputError(
            "views.overlaps",
            msg(
                "{where}: the views meet in more than {most:,} sets of dimensions.",
                where=given.where,
                most=_MOST_SHARED,
            ),
            hint="Use fewer or smaller views.",
            details={"key": "views"},
        )
    sources = tuple(
        NoiseSource(mask_of(view), share)
        for view, share in zip(chosen.views, chosen.shares, strict=True)
    )
    channel = make_channels(cube, CubePlan(shape, (), cube.noise, sources))[0]
    planned = PlannedNoise.of(chosen.views, shape, channel.variances)
    cluster = cluster_of(given.roles)

    return ViewDesign(
        settings=settings,
        declared=declared,
        chosen=chosen,
        shared=shared,
        channel=channel,
        planned=planned,
        cluster=cluster,
        charge=replace(cube.charge(cluster, ""), draws=_draws(channel)),
        guarantee=cube_guarantee(cube, cluster),
        result=_result(settings, declared, chosen, channel, planned),
        charts=view_charts(settings, chosen, shape, planned),
        figures=view_figures(settings, chosen, planned),
        notes=_notes(settings, chosen, cluster),
    )


def _draws(channel: Channel) -> tuple[Draws, ...]:
    counted: dict[Draws, int] = {}
    for draws in channel.draws():
        counted[draws] = counted.get(draws, 0) + 1
    return tuple(replace(draws, count=draws.count * many) for draws, many in counted.items())


def _result(
    settings: ViewSettings,
    declared: DeclaredDomain,
    chosen: Chosen,
    channel: Channel,
    planned: PlannedNoise,
) -> dict[str, object]:
    """The public result: nothing in it depends on the data."""
    domain, rollups = declared.domain, declared.rollups()
    scales, laplace = channel.scales(), settings.cube.pure
    nominal = [2 * scale**2 if laplace else scale**2 for scale in scales]
    sensitivity = channel.sensitivity

    def line(folder: str, number: int, places: Places) -> dict[str, object]:
        return {
            "dimensions": settings.names(places),
            "cells": prod(domain.shape[i] for i in places),
            "variance": planned.variance(places),
            "file": file_of(folder, settings, number, places),
        }

    marginals = [
        line(MARGINALS, number, places)
        | {"covered": any(set(places) <= set(view) for view in chosen.views)}
        for number, places in enumerate(settings.marginals)
    ]
    return {
        "noise_sources": [settings.names(view) for view in chosen.views],
        "shares": [str(share) for share in chosen.shares],
        "residuals": False,
        "sensitivity": int(sensitivity),
        "scales": scales,
        "max_variance": max(nominal),
        "views": [line(VIEWS, number, view) for number, view in enumerate(chosen.views)],
        "marginals": marginals,
        "domains": domain.as_json(),
        "outside": declared.elsewhere(),
        **({"rollups": rollups} if rollups else {}),
        "biased": True,
        "proven": False,
    }


def _notes(settings: ViewSettings, chosen: Chosen, cluster: str | None) -> tuple[Note, ...]:
    notes = []
    held = {place for view in chosen.views for place in view}
    without = [name for i, name in enumerate(settings.cube.dimensions) if i not in held]
    if without:
        notes.append(
            Note(
                "views.lacking",
                msg("No view has {names}: nothing about it is measured.", names=listed(without)),
            )
        )
    coverage = (
        "The errors stated come from noise alone. Where a marginal is in no view, how its "
        "dimensions go together is not measured: that error is not in the ±, and cannot be known "
        "from the release."
    )
    notes.append(Note("views.coverage", coverage))
    if cluster is None:
        rows = settings.cube.rows_per_person
        told = "one row" if rows == 1 else msg("at most {rows:,} rows", rows=rows)
        notes.append(
            Note(
                "cube.rows-per-person",
                msg(
                    "The guarantee assumes that every person has {told}: no column with the "
                    "role cluster says which rows belong together.",
                    told=told,
                ),
            )
        )
    return tuple(notes)


# Charts of a design before anything is spent, and trying settings: each view is a design.


_PEOPLE = "people"


def view_charts(
    settings: ViewSettings, chosen: Chosen, shape: Places, planned: PlannedNoise
) -> tuple[Chart, ...]:
    """The guide by the size of views, the error by dimensions, what a suspicion can become."""
    guide = (_guide_chart(settings, chosen),) if len(chosen.candidates) > 1 else ()
    subject = "a value of a person" if settings.cube.replace else "a person being in the data"
    given = "persons are independent" + except_words(settings.cube)
    odds = odds_bars(epsilon_of(settings.cube), subject, "about one person", given)
    return (*guide, _errors_chart(settings, chosen, shape, planned), odds)


def view_figures(
    settings: ViewSettings, chosen: Chosen, planned: PlannedNoise
) -> tuple[Figure, ...]:
    """Headline numbers of a design."""
    largest = max(chosen.views, key=lambda each: (len(each), each))
    return (
        loss_figure(settings.cube),
        Figure(
            "view_error",
            "Noise in a cell of a view, ±",
            width_of(settings, planned, largest),
            unit=_PEOPLE,
            better="lower",
            help="In 95 % of the cells before negative numbers are removed.",
            headline=True,
            about="loss",
        ),
        Figure("views", "Views", len(chosen.views), "count", headline=True),
        Figure("view_size", "Dimensions of a view, at most", len(largest), "count"),
        Figure("marginals", "Marginals", len(settings.marginals), "count"),
    )


def width_of(settings: ViewSettings, planned: PlannedNoise, places: Places) -> float:
    """The ± of a cell of a table, from noise alone and before negative numbers are removed."""
    return half_width(settings.cube.noise, planned.variance(places), 1.0)


def _guide_chart(settings: ViewSettings, chosen: Chosen) -> BarChart:
    """The guide to the error by the size of the views."""
    budget = float(settings.cube.budget)
    scale = 1 / budget if settings.cube.pure else 1 / sqrt(budget)
    best = next(each for each in chosen.candidates if each.views == chosen.views)
    place = chosen.candidates.index(best)
    values = tuple(each.guide * scale for each in chosen.candidates)
    sizes = [_size(each) for each in chosen.candidates]
    title = "Dimensions of a view" if best.size else "Cells of a view, at most"
    return BarChart(
        id="view-guide",
        question="How large should views be?",
        answer=msg(
            "{size}: {views}, with an error by noise of about {error} people in a table of {n} "
            "dimensions.",
            size=_size_words(best),
            views=counted("{n:,} view", "{n:,} views", n=best.count),
            error=_number(values[place]),
            n=settings.cover,
        ),
        category_axis=Axis(title, "number"),
        value_axis=Axis("Guide to the error by noise", _PEOPLE, minimum=0.0),
        categories=tuple(sizes),
        series=(
            BarSeries(
                "Considered",
                tuple(0.0 if i == place else value for i, value in enumerate(values)),
                SeriesStyle.REFERENCE,
            ),
            BarSeries(
                "Chosen",
                tuple(value if i == place else 0.0 for i, value in enumerate(values)),
                SeriesStyle.FIRST,
            ),
        ),
        table=table_from(
            [title, "Views", "Guide to the error by noise (people)", "Views were made"],
            [
                [size, each.count, round(value, 3), "yes" if each.views else "no: lower bound"]
                for size, each, value in zip(sizes, chosen.candidates, values, strict=True)
            ],
        ),
        short="Size of views",
    )


def _size(each: Candidate) -> str:
    return msg("{n:,}", n=each.size or each.cells)


def _size_words(each: Candidate) -> str:
    if each.size:
        return counted("{n} dimension", "{n} dimensions", n=each.size)
    return msg("{n:,} cells at most", n=each.cells)


def _errors_chart(
    settings: ViewSettings, chosen: Chosen, shape: Places, planned: PlannedNoise
) -> BarChart:
    """The planned noise of tables by their number of dimensions."""
    by_size: dict[int, list[float]] = {}
    for places in _tables(chosen.views, settings.marginals):
        by_size.setdefault(len(places), []).append(width_of(settings, planned, places))
    order = sorted(by_size)
    largest = tuple(max(by_size[size]) for size in order)
    cells = [
        max(prod(shape[i] for i in view) for view in chosen.views if len(view) >= size)
        if any(len(view) >= size for view in chosen.views)
        else 0
        for size in order
    ]
    return BarChart(
        id="view-errors",
        question="How much noise is in a cell?",
        answer=msg(
            "At most ± {width} people in a table of {n} dimensions that a view holds, from noise "
            "alone.",
            width=_number(largest[-1]),
            n=order[-1],
        ),
        category_axis=Axis("Dimensions", "number"),
        value_axis=Axis("± before negative numbers are removed", _PEOPLE, minimum=0.0),
        categories=tuple(map(str, order)),
        series=(
            BarSeries("Largest of these tables", largest, SeriesStyle.REFERENCE, True, bound=True),
            BarSeries(
                "Typical table",
                tuple(float(np.median(by_size[size])) for size in order),
                SeriesStyle.FIRST,
            ),
        ),
        table=table_from(
            ["Dimensions", "Tables", "Cells of a view", "Largest ± (people)"],
            [
                [size, len(by_size[size]), many, round(most, 3)]
                for size, many, most in zip(order, cells, largest, strict=True)
            ],
        ),
        short="Errors by size",
    )


def _tables(views: Sequence[Places], marginals: Sequence[Places]) -> list[Places]:
    """The views, some table of one, two, … dimensions of the first one, and marginals in a view.

    What noise does to a marginal in no view depends on the table that is released.
    """
    parts = [views[0][:size] for size in range(1, len(views[0]))]
    held = [each for each in marginals if any({*each} <= {*view} for view in views)]
    return [*parts, *views, *held]


def _number(value: float) -> str:
    return format_figure(float(value), "number" if value < 1000 else "count")


def planned_sentence(design: ViewDesign) -> str:
    """What a design comes to, in one sentence."""
    figures = {figure.key: figure for figure in design.figures}
    return msg(
        "{views} of up to {size} dimensions; the noise in a cell of a view is ± {width:,.4g} in "
        "95 % of releases, before negative numbers are removed.",
        views=counted("{n:,} view", "{n:,} views", n=len(design.chosen.views)),
        size=int(figures["view_size"].value),
        width=figures["view_error"].value,
    )
