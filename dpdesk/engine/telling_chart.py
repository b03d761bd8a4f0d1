"""What columns tell of each other, as a picture with a table: in the window, before a release."""

from __future__ import annotations

from collections.abc import Sequence

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Cell,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.messages import listed, msg
from dpdesk.engine.telling import Telling, Told

_MOST = 8
_NONE = "No column by itself gives a hidden value away with a chance of 90 % or more."


def telling_chart(found: Sequence[Telling], size: int) -> tuple[BarChart, ...]:
    """For each hidden column, what the columns that tell most of it give away; none without any.

    A guess is worth a word where it is right more often than once in ``size``.
    """
    lines = [(each, by) for each in found for by in _best(each)]
    if not lines:
        return ()
    lines.sort(key=lambda line: (-line[1].nearly, -line[1].guessed))
    lines = lines[:_MOST]
    names = tuple(f"{' + '.join(by.columns)} → {each.column}" for each, by in lines)
    series = (
        BarSeries("Known for certain", tuple(by.certain / each.rows for each, by in lines)),
        BarSeries(
            "Known with 90 % or more",
            tuple(by.nearly / each.rows for each, by in lines),
            SeriesStyle.SECOND,
        ),
        BarSeries(
            "Guessed right",
            tuple(by.guessed / each.rows for each, by in lines),
            SeriesStyle.REFERENCE,
        ),
    )
    return (
        BarChart(
            id="telling",
            question="What do other columns give away?",
            short="Given away",
            answer=_answer(found, size),
            category_axis=Axis("Known columns → hidden column"),
            value_axis=Axis("Rows", "% of the rows", percent=True, minimum=0.0, maximum=1.0),
            categories=names,
            series=series,
            table=table_from(
                [
                    "Known columns",
                    "Hidden column",
                    "Known for certain (rows)",
                    "Known with 90 % or more (rows)",
                    "Guessed right (rows)",
                    "Guessed right without any column (rows)",
                    "Rows",
                ],
                [_row(each, by) for each, by in lines],
            ),
            horizontal=True,
        ),
    )


def _best(found: Telling) -> list[Told]:
    """The column that tells most by itself, and the columns that guess best."""
    best = [*found.single[:1], *([found.together] if found.together else [])]
    told = {each.columns: each for each in best if each.guessed}
    return list(told.values())


def _row(found: Telling, by: Told) -> list[Cell]:
    return [
        " + ".join(by.columns),
        found.column,
        by.certain,
        by.nearly,
        by.guessed,
        found.unaided,
        found.rows,
    ]


def _answer(found: Sequence[Telling], size: int) -> str:
    """The largest of what is given away for certain, nearly so, or by a good guess."""
    sure = max(found, key=lambda each: each.certain.certain if each.certain else 0)
    near = max(found, key=lambda each: each.nearly.nearly if each.nearly else 0)
    if near.nearly and near.nearly.nearly > (sure.certain.certain if sure.certain else 0):
        rows, by = _rows(near.nearly.nearly, near.rows), near.nearly.columns[0]
        return msg(
            "For {rows}, {by} alone reveals {column} with a chance of 90 % or more.",
            rows=rows,
            by=by,
            column=near.column,
        )
    if sure.certain:
        rows, by = _rows(sure.certain.certain, sure.rows), sure.certain.columns[0]
        return msg("For {rows}, {by} alone reveals {column}.", rows=rows, by=by, column=sure.column)
    for each in found:
        guess = each.surer(size)
        if guess is not None:
            names = listed(guess.columns)
            rows = _rows(guess.guessed, each.rows)
            return msg(
                "From {names}, {column} is guessed right for {rows}.",
                names=names,
                column=each.column,
                rows=rows,
            )
    return _NONE


def _rows(some: int, whole: int) -> str:
    return msg(
        "{some:,} of {whole:,} rows ({some2})",
        some=some,
        whole=whole,
        some2=format_figure(some / whole, "share"),
    )
