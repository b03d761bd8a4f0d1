"""Comparisons on the user's own data for people at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpdesk.cli.printing import columns, paragraph
from dpdesk.core.charts import BarChart, Cell, Chart, ScatterChart, format_figure

if TYPE_CHECKING:
    from dpdesk.app.comparing import Comparison


def comparison_text(found: Comparison) -> str:
    """A comparison: what it is, its sentence, and each chart's numbers with one line a row."""
    size = f"ℓ′ = {found.size}" if found.measure == "l" else f"{found.size:,} {found.measure}"
    asked = f"{found.queries:,} queries on " if found.queries else ""
    head = f"{found.column}, {size}: {asked}{found.rows:,} rows ({found.badge})"
    parts = [head, "", paragraph(found.sentence)]
    for chart in found.charts:
        parts += ["", chart.question, _numbers(chart)]
    return "\n".join(parts) + "\n"


def _numbers(chart: Chart) -> str:
    """The twin of a chart, turned: a line of the chart is a row."""
    heads, rows = chart.table.columns, chart.table.rows
    if isinstance(chart, BarChart):
        table = [[heads[0], *(str(row[0]) for row in rows)]]
        table += [
            [f"  {name}", *(_number(row[place]) for row in rows)]
            for place, name in enumerate(heads[1:], start=1)
        ]
        return columns(list(zip(*table, strict=True)), right=range(1, len(table)))
    percent = isinstance(chart, ScatterChart) and chart.x_axis.percent
    table = [[heads[0].capitalize(), *(_place(row[0], percent) for row in rows)]]
    for place, name in enumerate(heads[1:], start=1):
        cells = [row[place] for row in rows]
        shown = [format_figure(cell, "share") if isinstance(cell, float) else "–" for cell in cells]
        table.append([f"  {name.partition(': mean relative error')[0]}", *shown])
    return columns(table, right=range(1, len(rows) + 1))


def _number(cell: Cell) -> str:
    if isinstance(cell, str) or cell is None:
        return cell or "–"
    return format_figure(cell, "count" if isinstance(cell, int) else "number")


def _place(value: Cell, percent: bool) -> str:
    if not isinstance(value, float):
        return str(value)
    return format_figure(value, "share") if percent else f"{value:g}"
