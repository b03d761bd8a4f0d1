"""What lies behind one bar of a chart: the classes of a size, the values of an attribute.

Everything here is counted from the frequency table and the classes of one node. It tells of the
raw data and stays in the window.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Cell,
    ChartTable,
    Look,
    table_from,
)
from dpdesk.engine.anonymity.assessment import Assessment
from dpdesk.engine.anonymity.charts import rows_text, share_text
from dpdesk.engine.anonymity.grouping import CountedTable
from dpdesk.engine.anonymity.risk import bin_edges, histogram
from dpdesk.engine.method import Detail, DetailPart

MOST_LINES = 1_000
EMPTY = "(empty)"
MOST_VALUES = 24
_RAW_SHOWN = 6
_SORTED = 20


def size_detail(counted: CountedTable, k: int, place: int, found: Assessment | None) -> Detail:
    """The classes whose size lies in one bar of the risk chart; ``place`` counts the bars.

    Raises IndexError for a bar that the chart does not have.
    """
    table, edges = counted.table, bin_edges(k)
    label = histogram(np.empty(0, np.int64), edges)[place].label
    parts, said = [], []
    labels = [hierarchy.leaves for hierarchy in table.hierarchies]
    inside = _in_bin(table.counts, edges, place)
    parts.append(
        _classes_part("Original", table.attributes, labels, table.codes, table.counts, inside)
    )
    said.append(_counted(table.counts[inside], "the original"))
    if found is not None:
        classes = found.classes
        kept = _in_bin(classes.sizes, edges, place) & classes.kept(k)
        names = classes.labels
        parts.append(
            _classes_part("Release", table.attributes, names, classes.codes, classes.sizes, kept)
        )
        said.append(_counted(classes.sizes[kept], "the release"))
    unit = "row" if label == "1" else "rows"
    return Detail(
        f"Which rows are in classes of {label} {unit}?", f"{'; '.join(said)}.", tuple(parts)
    )


def _in_bin(sizes: NDArray[np.int64], edges: Sequence[int], place: int) -> NDArray[np.bool_]:
    below = edges[place + 1] if place + 1 < len(edges) else np.iinfo(np.int64).max
    inside: NDArray[np.bool_] = (sizes >= edges[place]) & (sizes < below)
    return inside


def _counted(sizes: NDArray[np.int64], where: str) -> str:
    classes = f"{len(sizes):,} {'class' if len(sizes) == 1 else 'classes'}"
    return f"{rows_text(int(sizes.sum()))} of {where} in {classes}"


def _classes_part(
    name: str,
    attributes: Sequence[str],
    labels: Sequence[Sequence[str]],
    codes: NDArray[np.int32],
    sizes: NDArray[np.int64],
    wanted: NDArray[np.bool_],
) -> DetailPart:
    """One line per class, the smallest first, at most MOST_LINES of them."""
    places = np.flatnonzero(wanted)
    # Of very many classes only the first ones by size are put in order: sorting all takes seconds.
    first = places[np.argsort(sizes[places], kind="stable")[: _SORTED * MOST_LINES]]
    shown = first[np.lexsort((*codes[first].T[::-1], sizes[first]))[:MOST_LINES]]
    lines: list[list[Cell]] = [
        [
            int(size),
            *(names[code] or EMPTY for names, code in zip(labels, row, strict=True)),
        ]
        for row, size in zip(codes[shown].tolist(), sizes[shown].tolist(), strict=True)
    ]
    note = ""
    if len(places) > len(shown):
        note = f"The first {len(shown):,} of {len(places):,} classes, the smallest first."
    return DetailPart(name, table_from(["Rows", *attributes], lines), note)


def attribute_detail(counted: CountedTable, found: Assessment, place: int) -> Detail:
    """The values of one attribute before and after, side by side, and what they stand for."""
    utility = found.attributes[place]
    hierarchy, level = counted.table.hierarchies[place], utility.level
    ancestors, names = hierarchy.ancestors(level), hierarchy.labels[level]
    kept = counted.leaf_rows_of(found.classes.kept_tuples(found.statistics.k))[place]
    before, after = (
        np.bincount(ancestors, weights=rows, minlength=len(names)).astype(np.float64)
        for rows in (counted.leaf_rows[place], kept)
    )
    sentence = (
        f"{utility.attribute} is released at level {level} of {utility.height}: "
        f"{len(names):,} {'value' if len(names) == 1 else 'values'} for "
        f"{len(hierarchy.leaves):,} original ones; {share_text(utility.loss)} of its detail is "
        f"lost, and whoever rebuilds its distribution is {share_text(utility.distance)} off."
    )
    return Detail(
        f"What became of {utility.attribute}?",
        sentence,
        (
            DetailPart("Distribution", _distribution(utility.attribute, names, before, after)),
            DetailPart("Values", _values(names, hierarchy.leaves, ancestors, before, after)),
        ),
    )


def _distribution(
    attribute: str,
    names: Sequence[str],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> BarChart:
    """Shares before and after; beyond the most frequent values the rest is one bar."""
    shown = np.arange(len(names))
    if len(names) > MOST_VALUES:
        most = np.argsort(-before, kind="stable")[: MOST_VALUES - 1]
        shown = np.sort(most)
    rest = np.setdiff1d(np.arange(len(names)), shown)
    categories = [names[place] or EMPTY for place in shown.tolist()]
    pairs = [_shares(rows, shown, rest) for rows in (before, after)]
    if len(rest):
        categories.append(f"{len(rest):,} other values")
    moved = max(abs(one - other) for one, other in zip(*pairs, strict=True))
    return BarChart(
        id="distribution",
        question=f"How are the values of {attribute} distributed?",
        answer=f"At this level no share moves by more than {share_text(moved)}.",
        category_axis=Axis("Released value"),
        value_axis=Axis("Rows", "% of the rows of each table", percent=True, minimum=0.0),
        categories=tuple(categories),
        series=(
            BarSeries("Original", pairs[0], Look.REFERENCE, outline=True),
            BarSeries("Release", pairs[1], Look.FIRST),
        ),
        table=table_from(
            ["Released value", "Original (%)", "Release (%)"],
            [
                [name, round(100 * one, 2), round(100 * other, 2)]
                for name, one, other in zip(categories, *pairs, strict=True)
            ],
        ),
        horizontal=True,
    )


def _shares(
    rows: NDArray[np.float64], shown: NDArray[np.int64], rest: NDArray[np.int64]
) -> tuple[float, ...]:
    total = float(rows.sum()) or 1.0
    shares = [float(rows[place]) / total for place in shown.tolist()]
    return (*shares, float(rows[rest].sum()) / total) if len(rest) else tuple(shares)


def _values(
    names: Sequence[str],
    leaves: Sequence[str],
    ancestors: NDArray[np.int32],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> ChartTable:
    """What each released value stands for, with its rows before and after."""
    order = np.argsort(ancestors, kind="stable")
    ends = np.searchsorted(ancestors[order], np.arange(len(names) + 1))
    lines: list[list[Cell]] = []
    for place in range(min(len(names), MOST_LINES)):
        covered = order[ends[place] : ends[place + 1]]
        raw = [leaves[leaf] or EMPTY for leaf in covered[:_RAW_SHOWN].tolist()]
        more = ", …" if len(covered) > _RAW_SHOWN else ""
        lines.append(
            [
                names[place],
                int(before[place]),
                int(after[place]),
                len(covered),
                f"{', '.join(raw)}{more}",
            ]
        )
    heads = ["Released value", "Rows before", "Rows after", "Original values", "Which"]
    return table_from(heads, lines)


def suppressed_detail(counted: CountedTable, found: Assessment, place: int) -> Detail:
    """The rows with one original value that are suppressed; ``place`` counts the groups."""
    table, group = counted.table, found.groups[place]
    column = table.attributes.index(group.attribute)
    leaf = table.hierarchies[column].leaf_codes[group.value]
    gone = ~found.classes.kept_tuples(found.statistics.k) & (table.codes[:, column] == leaf)
    labels = [hierarchy.leaves for hierarchy in table.hierarchies]
    part = _classes_part("Suppressed", table.attributes, labels, table.codes, table.counts, gone)
    shown = f"{group.attribute} = {group.value or '(empty)'}"
    return Detail(
        f"Which rows with {shown} are suppressed?",
        f"{group.suppressed:,} of {rows_text(group.rows)} ({share_text(group.share)}).",
        (part,),
    )
