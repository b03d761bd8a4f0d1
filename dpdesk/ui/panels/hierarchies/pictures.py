"""The distribution of a column at a level, as a chart with its table."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QCoreApplication

from dpdesk.core.charts import Axis, BarChart, BarSeries, ChartTable
from dpdesk.core.hierarchy_preview import HierarchyPreview, LevelSummary
from dpdesk.ui.panels.hierarchies.edits import shown

BARS_AT_MOST = 12
TABLE_AT_MOST = 2_000

translate = QCoreApplication.translate


def level_chart(preview: HierarchyPreview, level: int) -> BarChart:
    """Rows per value at a level, in the order of the hierarchy.

    With more than BARS_AT_MOST values in the data, the most frequent ones have bars of their own
    and the rest share one; the table lists up to TABLE_AT_MOST values.
    """
    rows, labels = preview.rows[level], preview.hierarchy.labels[level]
    used = np.flatnonzero(rows)
    barred, rest = used, used[:0]
    if used.size > BARS_AT_MOST:
        ranked = used[np.argsort(-rows[used], kind="stable")]
        barred, rest = np.sort(ranked[: BARS_AT_MOST - 1]), ranked[BARS_AT_MOST - 1 :]
    categories = [shown(labels[code]) for code in barred]
    values = [float(rows[code]) for code in barred]
    if rest.size:
        others = translate("Hierarchies", "{n} rarer values together")
        categories.append(others.format(n=f"{rest.size:,}"))
        values.append(float(rows[rest].sum()))
    attribute = preview.hierarchy.attribute
    question = translate("Hierarchies", "How many rows share a value of {name}?")
    return BarChart(
        id=f"hierarchy-{attribute}-level-{level}",
        question=question.format(name=attribute),
        answer=level_sentence(preview.levels[level]),
        category_axis=Axis(attribute),
        value_axis=Axis(translate("Hierarchies", "Rows"), translate("Hierarchies", "count")),
        categories=tuple(categories),
        series=(BarSeries(translate("Hierarchies", "Rows"), tuple(values)),),
        table=_table(preview, level),
        horizontal=True,
    )


def _table(preview: HierarchyPreview, level: int) -> ChartTable:
    columns = (
        translate("Hierarchies", "Value"),
        translate("Hierarchies", "Rows"),
        translate("Hierarchies", "Share"),
        translate("Hierarchies", "Values below"),
    )
    total = max(int(preview.rows[level].sum()), 1)
    values = preview.values(level, TABLE_AT_MOST)
    rows = tuple(
        (shown(entry.value), entry.rows, share_text(entry.rows, total), entry.leaves)
        for entry in values
    )
    return ChartTable(columns, rows)


def share_text(rows: int, total: int) -> str:
    """A share of the rows in percent, with one digit; never a false zero."""
    if rows and rows * 1000 < total:
        return "<0.1 %"
    return f"{rows / max(total, 1):.1%}".replace("%", " %")


def level_sentence(summary: LevelSummary) -> str:
    """What a level is, in one sentence."""
    if summary.values == 0:
        return translate("Hierarchies", "At this level no value occurs in the data.")
    if summary.values == 1:
        return translate(
            "Hierarchies", "At this level all {rows} rows have the same value, {value}."
        ).format(rows=f"{summary.smallest:,}", value=shown(summary.rarest))
    if summary.smallest == 1:
        sentence = translate(
            "Hierarchies", "At this level: {values} values, smallest group 1 row ({rarest})."
        )
    else:
        sentence = translate(
            "Hierarchies", "At this level: {values} values, smallest group {rows} rows ({rarest})."
        )
    return sentence.format(
        values=f"{summary.values:,}", rows=f"{summary.smallest:,}", rarest=shown(summary.rarest)
    )
