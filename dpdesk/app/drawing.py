"""Charts as drawings for a front end that saves them."""

from __future__ import annotations

from dpdesk.core.charts import Chart


def chart_svg(chart: Chart) -> str:
    """The chart as an SVG file of its own, with question and answer, drawn as in the report."""
    from dpdesk.report.svg import render_document

    return render_document(chart)
