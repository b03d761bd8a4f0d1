"""What a plan sets of cells by hand, read again: statuses, costs, protection levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.core.plain import fraction_of
from dpdesk.core.tabulation import CellTable
from dpdesk.verifiers.tables.source import Given, Recounted, counted_again, plain_of


def recount(
    table: CellTable, measure: object, given: Given, total: str, token: CancelToken
) -> Recounted:
    """Count the cells of a table again, with what was set of them by hand."""
    return _by_hand(table, counted_again(table, measure, given, total, token), given)


def _by_hand(table: CellTable, found: Recounted, given: Given) -> Recounted:
    """The cells with the statuses, costs and protection levels that the plan lists."""
    marks = plain_of(given, "marks")
    lines = marks.get(table.name) if isinstance(marks, Mapping) else marks
    if not isinstance(lines, list) or not lines:
        return found
    shape = [len(axis.labels) for axis in table.axes]
    status, cost = [""] * len(found.status), [*found.cost]
    levels: dict[int, tuple[Fraction, Fraction]] = {}
    widths: dict[int, Fraction] = {}
    for line in filter(None, lines):
        codes = list(map(str, line[: len(shape)]))
        mark, *numbers = map(str, line[len(shape) :])
        places = [
            axis.labels.index(code) if code else len(axis.labels) - 1
            for axis, code in zip(table.axes, codes, strict=True)
        ]
        cell = int(np.ravel_multi_index(places, shape))
        amounts = [fraction_of(text) for text in numbers]
        if mark.upper() == "C":
            cost[cell] = amounts[0]
        elif mark.upper() == "PL":
            levels[cell] = amounts[0], amounts[1]
        elif mark.upper() == "SPL":
            widths[cell] = amounts[0]
        else:
            status[cell] = mark.upper()
    own = tuple(status), tuple(cost)
    return replace(found, status=own[0], cost=own[1], levels=levels, widths=widths)


def set_alike(
    found: Sequence[Recounted], numbers: Sequence[Sequence[int]]
) -> tuple[Recounted, ...]:
    """The same, where what is set by hand of a cell is set of all with its number: they are one.

    ``U`` counts before ``P``, and ``P`` before ``S``; of costs and protection levels the largest.
    """
    status: dict[int, str] = {}
    cost: dict[int, Fraction] = {}
    levels: dict[int, tuple[Fraction, Fraction]] = {}
    widths: dict[int, Fraction] = {}
    for each, own in zip(found, numbers, strict=True):
        for cell, same in enumerate(own):
            status[same] = max(status.get(same, ""), each.status[cell], key=" SPU".find)
            paid = each.cost[cell]
            if paid is not None:
                cost[same] = max(cost.get(same, paid), paid)
        for cell, (down, up) in each.levels.items():
            before = levels.get(own[cell], (down, up))
            levels[own[cell]] = max(before[0], down), max(before[1], up)
        for cell, wide in each.widths.items():
            widths[own[cell]] = max(widths.get(own[cell], wide), wide)
    return tuple(
        replace(
            each,
            status=tuple(status[same] for same in own),
            cost=tuple(cost.get(same) for same in own),
            levels={cell: levels[n] for cell, n in enumerate(own) if n in levels},
            widths={cell: widths[n] for cell, n in enumerate(own) if n in widths},
        )
        for each, own in zip(found, numbers, strict=True)
    )


def is_set(found: Sequence[Recounted]) -> bool:
    """Whether anything is set of some cell by hand."""
    return any(any(x.status) or {*x.cost} != {None} or x.levels or x.widths for x in found)
