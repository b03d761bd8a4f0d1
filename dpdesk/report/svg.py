"""Charts as self-contained, accessible SVG."""

from __future__ import annotations

from dpdesk.core.charts import BarChart, Chart
from dpdesk.report.svg_bars import draw_bars
from dpdesk.report.svg_points import draw_points


def render_chart(chart: Chart) -> str:
    """The chart as an ``<svg>`` element; its question and answer are its title and description."""
    canvas = draw_bars(chart) if isinstance(chart, BarChart) else draw_points(chart)
    return canvas.svg(chart.id, chart.question, chart.answer)
