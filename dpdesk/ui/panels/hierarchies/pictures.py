"""The distribution of a column at a level, as a chart with its table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QCoreApplication

from dpdesk.core.charts import Axis, BarChart, BarSeries, ChartTable
from dpdesk.core.hierarchy_preview import HierarchyPreview, LevelSummary
from dpdesk.ui.panels.hierarchies.edits import shown
from dpdesk.ui.words.counts import short_name
from dpdesk.ui.words.numbers import grouped

FEWEST_BARS, MOST_BARS = 4, 24
TABLE_AT_MOST = 2_000
AIR = 1.12

translate = QCoreApplication.translate


def level_chart(
    preview: HierarchyPreview, level: int, table: ChartTable, bars: int = 12
) -> BarChart:
    """Rows per value at a level, in the order of the hierarchy.

    With more than ``bars`` values in the data, the most frequent and the rarest ones are shown, by
    frequency, with a line for those between. ``table`` is the twin, from
    :func:`level_table`.
    """
    rows, labels = preview.rows[level], preview.hierarchy.labels[level]
    barred = barred_codes(preview, level, bars)
    between = preview.levels[level].values - barred.size
    values = [float(rows[code]) for code in barred]
    attribute = preview.hierarchy.attribute
    question = translate("Hierarchies", "How many rows share a value of {name}?")
    return BarChart(
        id=f"hierarchy-{attribute}-level-{level}",
        question=question.format(name=short_name(attribute)),
        answer=_answer(preview, level, between),
        category_axis=Axis(short_name(attribute)),
        value_axis=_rows_axis(values),
        categories=tuple(shown(labels[code]) for code in barred),
        series=(BarSeries(translate("Hierarchies", "Rows"), tuple(values)),),
        table=table,
        horizontal=True,
        threshold_before=_frequent(bars) if between else None,
    )


def _frequent(bars: int) -> int:
    """How many of the bars show the most frequent values, when not all values have one."""
    return (bars + 1) // 2


def _rows_axis(values: Sequence[float]) -> Axis:
    """From 0, with room for the number at the end of the longest bar."""
    words = translate("Hierarchies", "Rows"), translate("Hierarchies", "count")
    return Axis(*words, minimum=0, maximum=max(values, default=1.0) * AIR)


def barred_codes(preview: HierarchyPreview, level: int, bars: int) -> NDArray[np.int64]:
    """The values that have a bar, from top to bottom."""
    rows = preview.rows[level]
    used = np.flatnonzero(rows)
    if used.size <= bars:
        return used
    ranked = used[np.argsort(-rows[used], kind="stable")]
    first = _frequent(bars)
    return np.concatenate((ranked[:first], ranked[ranked.size - (bars - first) :]))


def _answer(preview: HierarchyPreview, level: int, between: int) -> str:
    """From the rarest to the most frequent value, and how many have no bar."""
    rows, labels = preview.rows[level], preview.hierarchy.labels[level]
    summary, most = preview.levels[level], int(np.argmax(rows))
    if summary.values < 2:
        return level_sentence(summary)
    template = translate(
        "Hierarchies", "From {small} ({rarest}) to {large} ({most}) of {total} rows."
    )
    if between:
        template = translate(
            "Hierarchies",
            "From {small} ({rarest}) to {large} ({most}) of {total} rows. The line stands for "
            "{n} more values.",
        )
    return template.format(
        n=grouped(between),
        small=grouped(summary.smallest),
        rarest=short_name(summary.rarest),
        large=grouped(int(rows[most])),
        most=short_name(labels[most]),
        total=grouped(int(rows.sum())),
    )


def level_table(preview: HierarchyPreview, level: int) -> ChartTable:
    """The twin of the chart: up to TABLE_AT_MOST values with rows, share and values below."""
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
        ).format(rows=grouped(summary.smallest), value=short_name(summary.rarest))
    if summary.smallest == 1:
        sentence = translate(
            "Hierarchies", "At this level: {values} values, smallest group 1 row ({rarest})."
        )
    else:
        sentence = translate(
            "Hierarchies", "At this level: {values} values, smallest group {rows} rows ({rarest})."
        )
    return sentence.format(
        values=grouped(summary.values),
        rows=grouped(summary.smallest),
        rarest=short_name(summary.rarest),
    )
