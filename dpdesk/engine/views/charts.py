"""Charts of a design before anything is spent, and trying settings: each view is a design."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np

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
from dpdesk.core.messages import counted, msg
from dpdesk.engine.private.charts import loss_figure, odds_bars
from dpdesk.engine.private.guarantee_words import epsilon_of, except_words
from dpdesk.engine.private.widths import half_width
from dpdesk.engine.views.choosing import Candidate, Chosen, PlannedNoise
from dpdesk.engine.views.design import ViewDesign
from dpdesk.engine.views.settings import Places, ViewSettings

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
