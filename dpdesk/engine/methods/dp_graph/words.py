"""The guarantee of a graph in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt

from dpdesk.core.budget import UNPROTECTED
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
from dpdesk.core.jobs import Note
from dpdesk.core.messages import counted, joined, listed, msg
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.release import Guarantee, Manifest
from dpdesk.engine.methods.dp_graph.settings import PARAMETERS, UNKNOWN, GraphSettings
from dpdesk.engine.methods.dp_graph.tables import EDGES, GraphTable, TableError
from dpdesk.engine.private.charts import change_figure, loss_figure, odds_bars
from dpdesk.engine.private.guarantee_words import (
    CHOOSING,
    GENERATOR,
    INDEPENDENT,
    LINES,
    OTHERS,
    PUBLISHING,
    between_words,
    epsilon_of,
    except_words,
    lead_words,
    model_of,
    others_beside_exact,
    rise_words,
    several_changes_words,
    stated,
)
from dpdesk.engine.private.method import Charge
from dpdesk.engine.private.origins import FROM_CODES, FROM_DATA, FROM_FILE, TYPED
from dpdesk.engine.private.settings import stated_cluster
from dpdesk.engine.private.widths import half_width

UNIT = "edges"
_MOST_NAMED = 12
_ORIGINS = {
    UNKNOWN: "Where the nodes come from is not recorded.",
    TYPED: "The nodes were written by hand.",
    FROM_FILE: "The nodes come from a file.",
    FROM_CODES: "The nodes come from the code list of the source.",
    FROM_DATA: "The nodes were taken from the data, and are assumed to have been known beforehand; "
    "where one was not, its being listed shows that it is in the data, which no ε covers.",
}


def graph_guarantee(
    settings: GraphSettings, cluster: str | None, change: int | None = None
) -> Guarantee:
    """Claim, assumptions and limits; from the settings alone.

    ``change`` is the size of a minimal change where something is released exactly.
    """
    epsilon = epsilon_of(settings)
    beside = "" if change is None else " alongside exact degrees"
    return Guarantee(
        model=msg("{model_of} of edges{beside}", model_of=model_of(settings), beside=beside),
        parameters=stated(settings, cluster, change),
        claim=_claim(settings, epsilon, change),
        assumes=_assumes(settings, cluster, change),
        does_not_cover=_not_covered(settings, change),
    )


def exact_names(settings: GraphSettings) -> str:
    """What is released exactly, as people read it."""
    return listed(exact_parts(settings))


def exact_parts(settings: GraphSettings) -> tuple[str, ...]:
    """What is released exactly, one thing after the other."""
    named = [
        _degrees(nodes, kind)
        for nodes, kind in zip(_sides(settings), _kinds(settings.directed), strict=True)
        if nodes != ()
    ]
    if settings.exact_edges:
        named.append("the number of edges")
    return tuple(named)


def outside_words(settings: GraphSettings) -> str:
    """What a ledger says of the part that its cost does not cover; empty when there is none."""
    return (
        msg(
            "{unprotected}{exact_names}, published exactly",
            unprotected=UNPROTECTED,
            exact_names=exact_names(settings),
        )
        if settings.any_exact
        else ""
    )


def price_of(settings: GraphSettings, cluster: str | None) -> Charge:
    """What the settings cost, without the draws that a design will make."""
    return settings.charge(cluster, outside_words(settings))


def graph_notes(
    settings: GraphSettings, change: int | None, cluster: str | None
) -> tuple[Note, ...]:
    """What a newcomer should know of a design."""
    rows = settings.rows_per_person
    unit = msg("{rows:,} edges of one person", rows=rows) if rows > 1 else "one edge"
    found = [
        Note(
            "graph.edges",
            msg(
                "The noise is made for {unit}, not for all edges of a node: anyone who has "
                "many edges stays visible as someone who has many.",
                unit=unit,
            ),
        )
    ]
    if change is not None:
        found.append(
            Note(
                "graph.exact",
                msg(
                    "Nothing protects {exact_names}. The noise is made for a minimal change of "
                    "up to {edges} in addition to that.",
                    exact_names=exact_names(settings),
                    edges=_edges(change),
                ),
            )
        )
    if rows > 1 and cluster is None:
        found.append(
            Note(
                "graph.rows-per-person",
                msg(
                    "The plan vouches for at most {rows:,} edges per person; nothing enforces it.",
                    rows=rows,
                ),
            )
        )
    return tuple(found)


def _sides(settings: GraphSettings) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    return settings.exact_first, settings.exact_second


def _kinds(directed: bool) -> tuple[str, str]:
    return ("out-degrees", "in-degrees") if directed else ("degrees", "")


def _degrees(nodes: Sequence[str] | None, kind: str) -> str:
    if nodes is None:
        return f"all {kind}"
    shown = ", ".join(nodes[:_MOST_NAMED])
    if len(nodes) > _MOST_NAMED:
        more = len(nodes) - _MOST_NAMED
        shown = msg("{shown} and {more:,} more", shown=shown, more=more)
    of = counted("{n:,} node", "{n:,} nodes", n=len(nodes))
    return msg("the {kind} of {of} ({shown})", kind=kind, of=of, shown=shown)


def _edges(count: int) -> str:
    return counted("{n:,} edge", "{n:,} edges", n=count)


def _claim(settings: GraphSettings, epsilon: float, change: int | None) -> str:
    lead, given, times = lead_words(settings, epsilon)
    rows = settings.rows_per_person
    if change is not None:
        size = (
            "at most 1 edge comes or goes"
            if change == 1
            else msg(
                "at most {change:,} edges come or go, and no exact number changes", change=change
            )
        )
        unit = "one minimal change" if rows == 1 else msg("{rows:,} minimal changes", rows=rows)
        names = exact_names(settings)
        return msg(
            "Published without noise, and so without ε protection: {names}. Among graphs that "
            "agree with that, ε holds for {unit} (size {change}: {size}). {lead} alongside it, "
            "the odds between two such graphs change by at most ×{times} ({given}). A "
            "suspicion of 10 % that one of them is the true one {rise_words}",
            names=names,
            unit=unit,
            change=change,
            size=size,
            lead=lead,
            times=times,
            given=given,
            rise_words=rise_words(settings),
        )
    if settings.replace:
        unit = (
            "any two edges"
            if rows == 1
            else msg("any two choices of the {rows:,} edges of a person", rows=rows)
        )
        return msg(
            "{lead}, the odds between {unit} change by at most ×{times} ({given}).",
            lead=lead,
            unit=unit,
            times=times,
            given=given,
        )
    unit = (
        "a given edge is"
        if rows == 1
        else msg("all of a person's up to {rows:,} edges are", rows=rows)
    )
    return msg(
        "{lead}, the odds that {unit} in the data change by at most ×{times} "
        "({given}). A suspicion of 10 % {rise_words}",
        lead=lead,
        unit=unit,
        times=times,
        given=given,
        rise_words=rise_words(settings),
    )


def _assumes(settings: GraphSettings, cluster: str | None, change: int | None) -> tuple[str, ...]:
    rows = settings.rows_per_person
    held = "one edge" if rows == 1 else msg("at most {rows:,} edges", rows=rows)
    if cluster:
        unit = counted(
            "A person is all rows with the same `{cluster}`; of each, {held} was "
            "used, and rows without it were left out.",
            "A person is all rows with the same `{cluster}`; of each, {held} were "
            "used, and rows without it were left out.",
            n=rows,
            cluster=cluster,
            held=held,
        )
    elif rows == 1:
        unit = "What is protected is a single edge, regardless of whom it is about."
    else:
        unit = msg(
            "Every person has {held} in the data; nothing in the data enforced it.", held=held
        )
    others, known = OTHERS, INDEPENDENT
    if rows == 1 and not cluster:
        known = "What someone knows about different edges is independent."
    if change is not None:
        others = others_beside_exact(settings, change)
        known = (
            "Someone may know everything except which of two such graphs is the true one; no "
            "other numbers about these edges than the exact ones here are known."
        )
    pair = "Two nodes have one edge at most"
    if settings.directed:
        pair = "Two nodes have one edge at most, and one more in the other direction"
    return (
        unit,
        LINES,
        msg(
            "{pair}: repeated rows count once, and rows from a node to itself are left out.",
            pair=pair,
        ),
        joined(
            [
                "The nodes, their order and all settings are taken to have been fixed without "
                "looking at the data.",
                _ORIGINS[settings.origins],
            ]
        ),
        known,
        others,
        GENERATOR,
    )


def _not_covered(settings: GraphSettings, change: int | None) -> tuple[str, ...]:
    sentences = []
    rows = settings.rows_per_person
    if change is not None:
        unit = "a minimal change" if rows == 1 else msg("{rows:,} minimal changes", rows=rows)
        sentences += [
            "What the exact numbers show by themselves: a node whose exact degree is 0 has no "
            "edge, and one whose degree is that of all other nodes has an edge to each.",
            several_changes_words(settings, "graphs", unit),
        ]
    sentences.append(
        "All edges of a node together: that someone has many edges, or none, is not hidden as "
        "one edge is."
    )
    if settings.replace:
        sentences.append("The number of edges: it is taken to be known.")
    elif change is None:
        which = "places of an edge that is known to be in the data"
        sentences.append(between_words(settings, which))
    return (*sentences, CHOOSING, PUBLISHING)


# Settings, guarantee and nodes of a graph once more, for its manifest.


def settings_of(manifest: Manifest) -> GraphSettings:
    """The settings in the public parameters of a manifest. Raises InputError, TypeError."""
    values = parse_parameters(PARAMETERS, manifest.parameters, "the manifest")
    return GraphSettings.from_parameters(values, "the manifest")


def words_again(manifest: Manifest) -> Callable[[int | None], Guarantee]:
    """The guarantee that the settings give beside exact numbers with a minimal change of a size.

    Raises InputError, and what a malformed manifest raises.
    """
    return partial(graph_guarantee, settings_of(manifest), stated_cluster(manifest))


# Charts and figures of a graph's design, before anything is spent.


_HALF = 0.5


def graph_charts(
    settings: GraphSettings, tables: Sequence[GraphTable], errors: Sequence[TableError]
) -> tuple[Chart, ...]:
    """Errors by table, and what a suspicion can become."""
    subject = "a place of an edge" if settings.replace else "an edge being in the data"
    about, given = "about one edge", "edges are independent"
    if settings.any_exact:
        subject = "one of two graphs that differ by a minimal change"
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
        else "single edges can be recognised"
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
        series=(BarSeries("±, least accurate cell", tuple(widths), SeriesStyle.FIRST),),
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
                "Edges that must be added or removed together so that no exact number changes; "
                "the noise is made for that many.",
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
            help="Of the least accurate cell, in 95 % of releases.",
            headline=table.kind == EDGES,
            about="loss",
        )
        for table, error in zip(tables, errors, strict=True)
        if not table.exact
    ]
