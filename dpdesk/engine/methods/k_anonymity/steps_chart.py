"""How nodes lie in the lattice: all of a small one, else the chosen node and those a step away.

Steps run from left (finer) to right (coarser), so that names of nodes can stand beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.charts import Axis, Cell, PointSeries, ScatterChart, SeriesStyle, table_from
from dpdesk.core.messages import counted, msg
from dpdesk.engine.methods.k_anonymity.charts import NodeChoice, NodeCloud, NodeLines, node_cells
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem

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
        question="Which nodes are one step away?" if near else "How do the nodes lie?",
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
