"""What a plan sets of single cells by hand, as a window asks for it and changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto

import numpy as np

from dpdesk.core.plain import thaw
from dpdesk.core.table_parameters import mark_of, split_marks, typed
from dpdesk.core.tabulation import CellTable

STATUSES = ("S", "U", "P")
"""Safe, unsafe, must be published."""
_LEVELS = ("PL", "SPL")


class Elsewhere(Enum):
    """Why the status of a cell is not set in the plan itself."""

    FILE = auto()
    """The plan names a file of statuses."""
    SOURCE = auto()
    """Ready cells have statuses or costs in columns."""
    RATIO = auto()
    """A ratio follows its two sums."""
    UNNAMED = auto()
    """A code without text stands for the total."""


def set_elsewhere(
    parameters: Mapping[str, object], table: CellTable, cell: int
) -> Elsewhere | None:
    """Why a cell of a table cannot be set by hand here; None where it can."""
    cells = _plain(parameters.get("cells"))
    if isinstance(cells, Mapping) and not {"status", "cost"}.isdisjoint(cells):
        return Elsewhere.SOURCE
    own = _spec(parameters, table.name)
    if own is not None and "ratio" in own:
        return Elsewhere.RATIO
    if isinstance(_given(parameters, table), str):
        return Elsewhere.FILE
    nameless = any(not axis.labels[i] for i, axis in zip(at(table, cell), table.axes, strict=True))
    return Elsewhere.UNNAMED if nameless else None


def at(table: CellTable, cell: int) -> list[int]:
    """The node of each dimension where a cell stands."""
    return [int(i) for i in np.unravel_index(cell, table.shape)]


def hand_mark(parameters: Mapping[str, object], table: CellTable, cell: int) -> str:
    """The status that the plan sets of a cell, one of :data:`STATUSES`; empty for none."""
    return next(
        (
            line[-1].upper()
            for line in _lines(parameters, table)
            if _names(line, table, cell) and line[-1].upper() in STATUSES
        ),
        "",
    )


def with_hand_mark(
    parameters: Mapping[str, object], table: CellTable, cell: int, mark: str
) -> dict[str, object]:
    """The changed setting ``marks``, with this status of a cell instead of another one.

    Protection levels go with the status of an unsafe cell; a cost stays. An empty ``mark`` leaves
    the cell to the rules.
    """
    kept = [
        line
        for line in _lines(parameters, table)
        if not _names(line, table, cell) or not _goes(line, mark)
    ]
    if mark:
        kept.append([*_codes(table, cell), mark])
    if not _several(parameters):
        return {"marks": kept or None}
    given = _plain(parameters.get("marks"))
    named = dict(given) if isinstance(given, Mapping) else {}
    named.pop(table.name, None)
    if any(kept):
        named[table.name] = kept
    return {"marks": named or None}


def _goes(line: Sequence[str], mark: str) -> bool:
    place = mark_of(line)
    own = "" if place is None else line[place].upper()
    return own in STATUSES or (own in _LEVELS and mark != "U")


def _plain(raw: object) -> object:
    """A value as a plan holds it, of one that may be the text of a form."""
    try:
        return typed(split_marks(thaw(raw)))
    except (ValueError, KeyError):
        return None  # said beside its field


def _several(parameters: Mapping[str, object]) -> bool:
    return bool(parameters.get("tables"))


def _spec(parameters: Mapping[str, object], name: str) -> Mapping[str, object] | None:
    asked = _plain(parameters.get("tables"))
    listed = asked if isinstance(asked, list | tuple) else ()
    return next(
        (each for each in listed if isinstance(each, Mapping) and each.get("name") == name), None
    )


def _given(parameters: Mapping[str, object], table: CellTable) -> object:
    """What the plan says of one table: a file, lines, or nothing."""
    given = _plain(parameters.get("marks"))
    if not _several(parameters):
        return given
    return given.get(table.name) if isinstance(given, Mapping) else None


def _lines(parameters: Mapping[str, object], table: CellTable) -> list[list[str]]:
    given = _given(parameters, table)
    return [list(map(str, line)) for line in given] if isinstance(given, list) else []


def _codes(table: CellTable, cell: int) -> list[str]:
    """What stands for a cell in a line: its labels, totals empty."""
    return [
        "" if i == len(axis.labels) - 1 else axis.labels[i]
        for i, axis in zip(at(table, cell), table.axes, strict=True)
    ]


def _names(line: Sequence[str], table: CellTable, cell: int) -> bool:
    """Whether a line is on a cell."""
    place = mark_of(line)
    if place != len(table.axes):
        return False
    totals = [axis.labels[-1] for axis in table.axes]
    plain = ["" if code == total else code for code, total in zip(line, totals, strict=False)]
    return plain[:place] == _codes(table, cell)
