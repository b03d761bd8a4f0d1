"""Pictures of risk and loss: each answers one question in one sentence, with a table twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import (
    Axis,
    BarChart,
    BarSeries,
    Cell,
    PointSeries,
    ScatterChart,
    SeriesStyle,
    format_figure,
    table_from,
)
from dpdesk.core.hierarchy import level_words
from dpdesk.core.messages import counted, msg
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import (
    AttributeUtility,
    GroupSuppression,
    RiskSummary,
)

MOST_POINTS = 20_000
_GRID = (256, 128)
_HEADS = ("Levels", "Feasible", "Loss (%)", "Rows suppressed (%)", "Optimal?")
"""The most letters of the name of a level."""
_HASH = np.uint64(2654435761)


def share_text(share: float) -> str:
    """A share from 0 to 1 in percent, for sentences."""
    return format_figure(share, "share")


def rows_text(rows: int) -> str:
    """A number of rows in words."""
    return counted("{n:,} row", "{n:,} rows", n=rows)


def risk_chart(before: RiskSummary, after: RiskSummary | None = None) -> BarChart:
    """Rows by class size, the original as outlines, the release filled, the line at k.

    Shares are of the original's rows in both series, so what is missing was suppressed. Both
    summaries are for the same k. Without ``after`` the original stands alone.
    """
    rows = max(before.rows, 1)
    limit = next(index for index, each in enumerate(before.bins) if each.lowest == before.k)
    series = [_size_series("Original", before, rows, SeriesStyle.REFERENCE, outline=True)]
    if after is not None:
        series.append(_size_series("Release", after, rows, SeriesStyle.FIRST, outline=False))
    return BarChart(
        id="risk",
        question="How risky is it now?",
        short="Risk",
        answer=_risk_answer(before, after),
        category_axis=Axis("Rows that share their quasi-identifiers", "class size"),
        value_axis=Axis("Rows", "% of the original", percent=True, minimum=0.0),
        categories=tuple(each.label for each in before.bins),
        series=tuple(series),
        table=table_from(*_risk_table(before, after)),
        hatched=frozenset(range(limit)),
        threshold_before=limit,
        threshold_label=msg("k = {k:,}", k=before.k),
        threshold_key="k",
        threshold_starts=tuple(each.lowest for each in before.bins),
        opens="Click a bar to see its rows.",
    )


def _size_series(
    name: str, summary: RiskSummary, rows: int, look: SeriesStyle, *, outline: bool
) -> BarSeries:
    values = tuple(each.rows / rows for each in summary.bins)
    return BarSeries(name, values, look, outline=outline)


def _risk_answer(before: RiskSummary, after: RiskSummary | None) -> str:
    text = msg(
        "{exposed:,} of {rows_text} ({exposed_share}) are in classes smaller than k = {k:,}",
        exposed=before.exposed,
        rows_text=rows_text(before.rows),
        exposed_share=share_text(before.exposed_share),
        k=before.k,
    )
    if after is None:
        return text + "."
    if not after.rows:
        return text + "; the release would have no rows."
    if after.exposed:
        return text + msg(
            "; in the release {exposed:,}, if only equal rows are counted. How many rows a person "
            "matches is what the guarantee says.",
            exposed=after.exposed,
        )
    chance = share_text(after.highest)
    return msg(
        "{text}; in the release none. For someone who knows only the quasi-identifiers, a match "
        "is right with a chance of at most {chance}.",
        text=text,
        chance=chance,
    )


def _risk_table(
    before: RiskSummary, after: RiskSummary | None
) -> tuple[list[str], list[list[Cell]]]:
    columns = ["Class size", "Rows before", "Rows before (%)"]
    rows: list[list[Cell]] = [
        [each.label, each.rows, _percent(each.rows, before.rows)] for each in before.bins
    ]
    if after is not None:
        columns += ["Rows after", "Rows after (% of the original)"]
        for row, each in zip(rows, after.bins, strict=True):
            row += [each.rows, _percent(each.rows, before.rows)]
    return columns, rows


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def loss_chart(attributes: Sequence[AttributeUtility], total: float, suppressed: float) -> BarChart:
    """Loss per attribute; ``total`` is the mean loss of all cells, ``suppressed`` a share of rows.

    Suppressed cells count as lost completely, so no bar is shorter than the suppressed share.
    """
    worst = max(attributes, key=lambda each: each.loss)
    untouched = sum(each.level == 0 for each in attributes)
    return BarChart(
        id="loss",
        question="What did I lose?",
        short="Loss",
        answer=(
            msg(
                "{total} of the detail is lost, most in {column} ({share}); {n} of {all} "
                "quasi-identifiers keep their original values, and {rows} of the rows are "
                "suppressed.",
                total=share_text(total),
                column=worst.attribute,
                share=share_text(worst.loss),
                n=untouched,
                all=len(attributes),
                rows=share_text(suppressed),
            )
        ),
        category_axis=Axis("Quasi-identifier"),
        value_axis=Axis(
            "Detail lost", "% of the cells' detail", percent=True, minimum=0.0, maximum=1.0
        ),
        categories=tuple(each.attribute for each in attributes),
        series=(BarSeries("Loss", tuple(each.loss for each in attributes)),),
        table=table_from(
            ["Quasi-identifier", "Level", "Of", "Loss (%)", "Distribution distance (%)"],
            [
                [
                    each.attribute,
                    each.level,
                    each.height,
                    round(100 * each.loss, 2),
                    round(100 * each.distance, 2),
                ]
                for each in attributes
            ],
        ),
        horizontal=True,
        opens="Click a bar to see the values before and after.",
    )


def suppression_chart(groups: Sequence[GroupSuppression], overall: float) -> BarChart | None:
    """Whom suppression hit most; None when nothing was suppressed among common values."""
    if not groups:
        return None
    worst = groups[0]
    return BarChart(
        id="suppression",
        question="Whom does suppression affect most?",
        short="Suppression",
        answer=(
            msg(
                "{overall} of all rows are suppressed; among the rows with {attribute} = {worst} "
                "it is {share}, the highest share among values that at least 1 % of the rows hold.",
                overall=share_text(overall),
                attribute=worst.attribute,
                worst=worst.value or "(empty)",
                share=share_text(worst.share),
            )
        ),
        category_axis=Axis("Original value"),
        value_axis=Axis("Rows suppressed", "% of the rows with the value", percent=True, minimum=0),
        categories=tuple(f"{each.attribute} = {each.value or '(empty)'}" for each in groups),
        series=(BarSeries("Suppressed", tuple(each.share for each in groups)),),
        table=table_from(
            ["Quasi-identifier", "Value", "Rows", "Suppressed", "Suppressed (%)"],
            [
                [
                    each.attribute,
                    each.value,
                    each.rows,
                    each.suppressed,
                    round(100 * each.share, 2),
                ]
                for each in groups
            ],
        ),
        horizontal=True,
        opens="Click a bar to see the suppressed rows.",
    )


@dataclass(frozen=True, eq=False)
class NodeCloud:
    """Every known node of a lattice at one k.

    ``loss`` (0 to 1) and ``suppressed`` (share of the rows) have shape (nodes,), ``levels`` (nodes,
    attributes). ``first_id`` + position is a node's id for picking. ``whole`` says whether no node
    of the lattice is left out. ``names`` hold a group of each level of each attribute, by which
    people know it.
    """

    k: int
    attributes: tuple[str, ...]
    levels: NDArray[np.integer] = field(repr=False)
    loss: NDArray[np.float64] = field(repr=False)
    suppressed: NDArray[np.float64] = field(repr=False)
    whole: bool = True
    first_id: int = 0
    names: tuple[tuple[str, ...], ...] = ()

    def words(self, place: int) -> str:
        """The levels of a node in words: ``age 1 (20–29 …), sex 0``."""
        levels = self.levels[place].tolist()
        return ", ".join(
            f"{name} {self.level_words(at, level)}"
            for at, (name, level) in enumerate(zip(self.attributes, levels, strict=True))
        )

    def level_words(self, attribute: int, level: int) -> str:
        """See :func:`dpdesk.core.hierarchy.level_words`."""
        return level_words(self.names[attribute] if self.names else (), level)

    @cached_property
    def pareto(self) -> NDArray[np.int64]:
        """Positions of the nodes that no other node beats in both loss and suppression.

        In ascending loss; of nodes equal in both, the first in lattice order stands for all.
        """
        rough = _descents(np.argsort(self.loss, kind="stable"), self.suppressed)
        exact = rough[np.lexsort((rough, self.suppressed[rough], self.loss[rough]))]
        return _descents(exact, self.suppressed)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The cell of the drawing grid in which each node lies."""
        x = np.minimum((self.loss * _GRID[0]).astype(np.int64), _GRID[0] - 1)
        y = np.minimum((self.suppressed * _GRID[1]).astype(np.int64), _GRID[1] - 1)
        found: NDArray[np.int64] = x * _GRID[1] + y
        return found

    @cached_property
    def sample(self) -> NDArray[np.int64]:
        """Positions of an even sample, drawn by a fixed hash of the position.

        Counting steps would favour some levels, since levels repeat regularly along the lattice.
        """
        nodes = len(self.loss)
        hashed = (np.arange(nodes, dtype=np.uint64) * _HASH) & np.uint64(0xFFFFFFFF)
        return np.flatnonzero(hashed < np.uint64(MOST_POINTS // 2 * 2**32 // nodes))


def _descents(order: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Those of ``order`` whose value is below all values before them."""
    ordered = values[order]
    below = np.ones(len(order), dtype=np.bool_)
    below[1:] = ordered[1:] < np.minimum.accumulate(ordered)[:-1]
    return order[below]


@dataclass(frozen=True, eq=False)
class NodeChoice:
    """What is asked of a cloud, and the answer.

    ``feasible`` has shape (nodes,); ``limit`` is the share of rows that may be suppressed;
    ``chosen`` a position in the cloud; ``optimal`` says that it is proven best for ``objective``.
    """

    feasible: NDArray[np.bool_] = field(repr=False)
    limit: float
    chosen: int | None = None
    optimal: bool = False
    objective: str = ""


class NodeLines:
    """Nodes as lines of a table: those that serve first, by their loss (see PointLines)."""

    columns = _HEADS

    def __init__(
        self, cloud: NodeCloud, choice: NodeChoice, places: NDArray[np.int64] | None = None
    ) -> None:
        self._cloud, self._choice, self._places = cloud, choice, places

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        cloud, places = self._cloud, self._places
        found = np.arange(len(cloud.loss), dtype=np.int64) if places is None else places
        rank = cloud.suppressed[found], cloud.loss[found], ~self._choice.feasible[found]
        return found[np.lexsort(rank)]

    @property
    def ids(self) -> NDArray[np.int64]:
        """For each line, the id of its node."""
        return self._order + self._cloud.first_id

    def line(self, place: int) -> tuple[Cell, ...]:
        """A line."""
        return node_cells(self._cloud, self._choice, int(self._order[place]))


def node_cells(cloud: NodeCloud, choice: NodeChoice, place: int) -> tuple[Cell, ...]:
    """A node as a line of a table."""
    return (
        cloud.words(place),
        "yes" if choice.feasible[place] else "no",
        round(100 * float(cloud.loss[place]), 2),
        round(100 * float(cloud.suppressed[place]), 2),
        ("optimal" if choice.optimal else "chosen") if place == choice.chosen else "",
    )


def node_chart(cloud: NodeCloud, choice: NodeChoice) -> ScatterChart:
    """Every node by loss and suppressed rows, the front of best trade-offs, and the chosen node.

    The twin lists the steps of the front and the chosen node; in a window, all nodes.
    """
    drawn = _thinned(cloud, choice)
    feasible = choice.feasible[drawn]
    series = [
        _points("Too many rows suppressed", cloud, drawn[~feasible], SeriesStyle.REFERENCE),
        _points("Feasible", cloud, drawn[feasible], SeriesStyle.FIRST),
        _points("Best trade-off", cloud, cloud.pareto, SeriesStyle.SECOND, stepped=True),
    ]
    if choice.chosen is not None:
        place = np.array([choice.chosen], dtype=np.int64)
        series.append(_points("Chosen", cloud, place, SeriesStyle.THIRD, emphasis=True))
    return ScatterChart(
        id="nodes",
        question="Which node of the lattice?",
        short="Nodes",
        answer=_node_answer(cloud, choice, len(drawn)),
        x_axis=Axis("Loss", "% of the detail", percent=True, minimum=0.0, maximum=1.0),
        y_axis=Axis("Rows suppressed", "%", percent=True, minimum=0.0, maximum=1.0),
        series=tuple(series),
        table=table_from(_HEADS, _node_table(cloud, choice)),
        lines=NodeLines(cloud, choice),
        y_limit=choice.limit,
        y_limit_label=msg("at most {limit}", limit=share_text(choice.limit)),
        y_limit_key="max_suppression",
    )


def _points(
    name: str,
    cloud: NodeCloud,
    places: NDArray[np.int64],
    look: SeriesStyle,
    *,
    stepped: bool = False,
    emphasis: bool = False,
) -> PointSeries:
    return PointSeries(
        name=name,
        x=cloud.loss[places],
        y=cloud.suppressed[places],
        ids=places + cloud.first_id,
        look=look,
        stepped=stepped,
        emphasis=emphasis,
    )


def _thinned(cloud: NodeCloud, choice: NodeChoice) -> NDArray[np.int64]:
    """Positions to draw: all when few; else the front, one per grid cell, and an even sample."""
    nodes = len(cloud.loss)
    if nodes <= MOST_POINTS:
        return np.arange(nodes, dtype=np.int64)
    cell = cloud.cells * 2 + choice.feasible
    keep = [_first_of_each(cell), cloud.sample, cloud.pareto]
    if choice.chosen is not None:
        keep.append(np.array([choice.chosen]))
    return np.unique(np.concatenate(keep)).astype(np.int64)


def _first_of_each(cell: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first position of every value that occurs; values are below the number of cells."""
    first = np.full(_GRID[0] * _GRID[1] * 2, -1, dtype=np.int64)
    first[cell[::-1]] = np.arange(len(cell) - 1, -1, -1)
    return first[first >= 0]


def _node_answer(cloud: NodeCloud, choice: NodeChoice, drawn: int) -> str:
    nodes, feasible = len(cloud.loss), int(choice.feasible.sum())
    kind = "combinations of levels" if cloud.whole else "combinations of levels examined"
    text = msg(
        "{feasible:,} of {nodes:,} {kind} reach k = {k:,} within the limit",
        feasible=feasible,
        nodes=nodes,
        kind=kind,
        k=cloud.k,
    )
    if choice.chosen is not None:
        named = (
            msg("the best by {objective}", objective=choice.objective)
            if choice.optimal
            else "the chosen one"
        )
        text += msg(
            "; {named} loses {loss} of the detail and {suppressed} of the rows",
            named=named,
            loss=share_text(float(cloud.loss[choice.chosen])),
            suppressed=share_text(float(cloud.suppressed[choice.chosen])),
        )
    if drawn < nodes:
        text += msg(" ({drawn:,} of the {nodes:,} points are drawn)", drawn=drawn, nodes=nodes)
    return text + "."


def _node_table(cloud: NodeCloud, choice: NodeChoice) -> list[tuple[Cell, ...]]:
    places = cloud.pareto.tolist()
    if choice.chosen is not None and choice.chosen not in places:
        places.append(choice.chosen)
        places.sort(key=lambda place: (cloud.loss[place], cloud.suppressed[place]))
    return [node_cells(cloud, choice, place) for place in places]


def levels_text(attributes: Sequence[str], levels: Sequence[int]) -> str:
    """A node in words: ``age 1, sex 0``."""
    return ", ".join(f"{name} {level}" for name, level in zip(attributes, levels, strict=True))


# How nodes lie in the lattice: all of a small one, else the chosen node and those a step away.
#
# Steps run from left (finer) to right (coarser), so that names of nodes can stand beside them.


MOST_NODES = 300
_AIR = 0.35
_ROOM = 1.3  # steps, for the names beside the last ones


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Nodes in a picture: positions in the cloud, steps from the original, and height (0 to 1)."""

    places: NDArray[np.int64] = field(repr=False)
    steps: NDArray[np.int64] = field(repr=False)
    heights: NDArray[np.float64] = field(repr=False)
    links: tuple[tuple[int, int], ...]


def steps_chart(
    problem: LatticeProblem, cloud: NodeCloud, choice: NodeChoice
) -> ScatterChart | None:
    """The Hasse diagram; None when a large lattice has no chosen node or no known neighbour of it.

    In a large lattice that was not walked, only neighbours that were looked at are shown.
    """
    if cloud.whole and len(cloud.loss) <= MOST_NODES:
        return _chart(cloud, choice, _all_nodes(cloud), _whole_answer(cloud, choice))
    if choice.chosen is None:
        return None
    finer, coarser = _neighbours(problem, cloud, choice.chosen)
    if not finer and not coarser:
        return None
    drawn = _around(cloud, choice.chosen, finer, coarser)
    return _chart(cloud, choice, drawn, _near_answer(cloud, choice, finer, coarser))


def _chart(cloud: NodeCloud, choice: NodeChoice, drawn: _Drawn, answer: str) -> ScatterChart:
    steps = drawn.steps
    near = choice.chosen is not None and len(drawn.places) < len(cloud.loss)
    names = _names(cloud, choice.chosen, drawn.places) if near and choice.chosen is not None else ()
    return ScatterChart(
        id="steps",
        question="Which nodes are one step away?" if near else "Where are the nodes?",
        short="Lattice",
        answer=answer,
        x_axis=Axis(
            "Generalisation",
            "steps in all",
            whole=True,
            minimum=float(steps.min()) - (_AIR / 3 if near else _AIR),
            maximum=float(steps.max()) + (_ROOM if near else _AIR),
        ),
        y_axis=Axis("", bare=True, minimum=-0.02, maximum=1.02),
        series=_series(cloud, choice, drawn, names),
        table=table_from(*_table(cloud, choice, drawn)),
        links=drawn.links,
        lines=NodeLines(cloud, choice, drawn.places),
    )


def _series(
    cloud: NodeCloud, choice: NodeChoice, drawn: _Drawn, names: Sequence[str]
) -> tuple[PointSeries, ...]:
    feasible, chosen = choice.feasible[drawn.places], drawn.places == choice.chosen
    groups = (
        ("Too many rows suppressed", SeriesStyle.FAIL, ~feasible & ~chosen, False),
        ("Feasible", SeriesStyle.FIRST, feasible & ~chosen, False),
        ("Chosen", SeriesStyle.THIRD, chosen, True),
    )
    return tuple(
        PointSeries(
            name=name,
            x=drawn.steps[wanted].astype(np.float64),
            y=drawn.heights[wanted],
            ids=drawn.places[wanted] + cloud.first_id,
            look=look,
            emphasis=emphasis,
            labels=tuple(np.array(names)[wanted].tolist()) if len(names) else (),
        )
        for name, look, wanted, emphasis in groups
        if wanted.any()
    )


# ---- a small lattice


def _all_nodes(cloud: NodeCloud) -> _Drawn:
    levels = cloud.levels.astype(np.int64)
    steps = levels.sum(axis=1)
    heights = np.empty(len(steps))
    for step in np.unique(steps).tolist():
        layer = np.flatnonzero(steps == step)
        heights[layer] = _spread(len(layer))
    index = {tuple(row): place for place, row in enumerate(levels.tolist())}
    links = []
    for row, place in index.items():
        for position in range(len(row)):
            above = (*row[:position], row[position] + 1, *row[position + 1 :])
            if above in index:
                links.append((place + cloud.first_id, index[above] + cloud.first_id))
    return _Drawn(np.arange(len(steps), dtype=np.int64), steps, heights, tuple(links))


def _spread(count: int) -> NDArray[np.float64]:
    """Heights of one layer from top to bottom, in the middle when there is one node."""
    return 1.0 - (np.arange(count) + 0.5) / count


def _whole_answer(cloud: NodeCloud, choice: NodeChoice) -> str:
    levels = cloud.levels.astype(np.int64)
    feasible = {tuple(row) for row in levels[choice.feasible].tolist()}
    minimal = sum(not any(lower in feasible for lower in _below(row)) for row in feasible)
    text = msg(
        "{feasible:,} of {levels:,} nodes reach k = {k:,} within the limit, "
        "{minimal:,} of them with no feasible node one step finer",
        feasible=len(feasible),
        levels=len(levels),
        k=cloud.k,
        minimal=minimal,
    )
    if choice.chosen is not None:
        steps = int(levels[choice.chosen].sum())
        text += counted(
            "; the chosen one takes {n:,} step", "; the chosen one takes {n:,} steps", n=steps
        )
    return text + "."


def _below(row: Sequence[int]) -> list[tuple[int, ...]]:
    return [
        (*row[:position], level - 1, *row[position + 1 :])
        for position, level in enumerate(row)
        if level
    ]


# ---- around a node of a large lattice


def _neighbours(
    problem: LatticeProblem, cloud: NodeCloud, chosen: int
) -> tuple[list[int], list[int]]:
    """Positions of the known nodes one step finer and one step coarser, in attribute order."""
    if cloud.whole:  # nodes stand in the order of their numbers
        given = zip(cloud.levels[chosen].tolist(), problem.heights, problem.strides, strict=True)
        steps = [(level, height, stride) for level, height, stride in given]
        return (
            [chosen - stride for level, _, stride in steps if level > 0],
            [chosen + stride for level, height, stride in steps if level < height],
        )
    change = cloud.levels.astype(np.int64) - cloud.levels[chosen].astype(np.int64)
    single = np.flatnonzero(np.abs(change).sum(axis=1) == 1)
    position = np.abs(change[single]).argmax(axis=1)
    single = single[np.argsort(position, kind="stable")]
    down = change[single].sum(axis=1) < 0
    return single[down].tolist(), single[~down].tolist()


def _around(cloud: NodeCloud, chosen: int, finer: list[int], coarser: list[int]) -> _Drawn:
    places = np.array([*finer, chosen, *coarser], np.int64)
    heights = np.concatenate([_spread(len(finer)), [0.5], _spread(len(coarser))])
    first = cloud.first_id
    links = [(place + first, chosen + first) for place in finer]
    links += [(chosen + first, place + first) for place in coarser]
    steps = cloud.levels[places].astype(np.int64).sum(axis=1)
    return _Drawn(places, steps, heights, tuple(links))


def _names(cloud: NodeCloud, chosen: int, places: NDArray[np.int64]) -> tuple[str, ...]:
    """What differs from the chosen node, for each place; nothing for that node itself."""
    base = cloud.levels[chosen]
    names = []
    for place in places.tolist():
        changed = np.flatnonzero(cloud.levels[place] != base)
        names.append(
            ", ".join(
                f"{cloud.attributes[at]} → {cloud.level_words(at, int(cloud.levels[place][at]))}"
                for at in changed.tolist()
            )
        )
    return tuple(names)


def _near_answer(cloud: NodeCloud, choice: NodeChoice, finer: list[int], coarser: list[int]) -> str:
    def share(places: list[int]) -> str:
        reached = int(choice.feasible[places].sum()) if places else 0
        return msg("{reached:,} of {places:,}", reached=reached, places=len(places))

    seen = "" if cloud.whole else " that were looked at"
    return msg(
        "Of the nodes{seen} one step finer than the chosen one {share} reach k = "
        "{k:,} within the limit, of those one step coarser {share2}.",
        seen=seen,
        share=share(finer),
        k=cloud.k,
        share2=share(coarser),
    )


def _table(
    cloud: NodeCloud, choice: NodeChoice, drawn: _Drawn
) -> tuple[list[str], list[list[Cell]]]:
    heads, rows = ["Levels", "Steps", *NodeLines.columns[1:]], []
    for place, step in zip(drawn.places.tolist(), drawn.steps.tolist(), strict=True):
        words, *others = node_cells(cloud, choice, place)
        rows.append([words, int(step), *others])
    return heads, rows
