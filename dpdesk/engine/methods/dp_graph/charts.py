"""Charts and figures of a graph's design, before anything is spent."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

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
from dpdesk.core.messages import msg
from dpdesk.engine.methods.dp_graph.settings import GraphSettings
from dpdesk.engine.methods.dp_graph.tables import EDGES, GraphTable, TableError
from dpdesk.engine.methods.dp_graph.words import UNIT
from dpdesk.engine.private.charts import change_figure, loss_figure, odds_bars
from dpdesk.engine.private.guarantee_words import epsilon_of, except_words
from dpdesk.engine.private.widths import half_width

_HALF = 0.5


def graph_charts(
    settings: GraphSettings, tables: Sequence[GraphTable], errors: Sequence[TableError]
) -> tuple[Chart, ...]:
    """Errors by table, and what a suspicion can become."""
    subject = "a place of an edge" if settings.replace else "an edge being in the data"
    about, given = "about one edge", "edges are independent"
    if settings.any_exact:
        subject = "one of two graphs that a minimal change tells apart"
        about, given = "alongside the exact degrees", "nothing else is known exactly"
    return (
        _errors_chart(settings, tables, errors),
        odds_bars(epsilon_of(settings), subject, about, given + except_words(settings)),
    )


def width(settings: GraphSettings, error: TableError) -> float:
    """± in 95 % of the least exact cells of a table."""
    return half_width(settings.noise, error.variance, 1.0)


def _errors_chart(
    settings: GraphSettings, tables: Sequence[GraphTable], errors: Sequence[TableError]
) -> BarChart:
    widths = [width(settings, error) for error in errors]
    edges = next(w for table, w in zip(tables, widths, strict=True) if table.kind == EDGES)
    told = (
        "only sums over many pairs say something"
        if edges > _HALF
        else "single edges can be discerned"
    )
    return BarChart(
        id="graph-errors",
        question="How large is the error of each table?",
        answer=msg(
            "± {edges} for a single edge, which is 0 or 1: {told}.",
            edges=format_figure(edges, "number"),
            told=told,
        ),
        category_axis=Axis("Table", ""),
        value_axis=Axis("± in 95 % of the cells", UNIT, minimum=0.0),
        categories=tuple(table.kind for table in tables),
        series=(BarSeries("±, least exact cell", tuple(widths), SeriesStyle.FIRST),),
        table=table_from(
            ["Table", "Cells", "Exact cells", "Standard deviation (edges)", "± 95 % (edges)"],
            [
                [
                    table.kind,
                    table.domain.cells,
                    len(table.known),
                    round(sqrt(error.variance), 3),
                    round(one, 3),
                ]
                for table, error, one in zip(tables, errors, widths, strict=True)
            ],
        ),
        short="Errors by table",
    )


def graph_figures(
    settings: GraphSettings,
    tables: Sequence[GraphTable],
    errors: Sequence[TableError],
    change: int | None,
) -> tuple[Figure, ...]:
    """Headline numbers of a design."""
    found = [
        loss_figure(settings),
        *_error_figures(settings, tables, errors),
    ]
    if change is not None:
        found.append(
            change_figure(
                change,
                UNIT,
                "Edges that must come or go together so that nothing exact changes; noise is "
                "made for so many.",
            )
        )
    return tuple(found)


def _error_figures(
    settings: GraphSettings, tables: Sequence[GraphTable], errors: Sequence[TableError]
) -> list[Figure]:
    """The error of each table that is not exact; that of the edges in front."""
    return [
        Figure(
            f"error_{table.kind.replace('-', '_').replace(' ', '_')}",
            msg("Error, {kind}, ±", kind=table.kind),
            width(settings, error),
            unit=UNIT,
            better="lower",
            help="Of the least exact cell, in 95 % of releases.",
            headline=table.kind == EDGES,
            about="loss",
        )
        for table, error in zip(tables, errors, strict=True)
        if not table.exact
    ]
