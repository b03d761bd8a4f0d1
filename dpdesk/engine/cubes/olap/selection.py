"""From a query to a product set: for each dimension of a cube the groups of categories to sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.plain import quoted
from dpdesk.core.query import (
    Askable,
    AskableColumn,
    Chosen,
    Condition,
    Match,
    Query,
    check_values,
    matching,
)
from dpdesk.engine.cubes.olap.cube import Levels, ReleasedCube

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AxisGroups:
    """The groups of one dimension: ``inside`` has shape (groups, categories).

    ``labels`` holds None for the group of everything that the conditions leave. ``shown`` says
    whether the dimension is an axis of the answer; if not, there is one group alone.
    """

    labels: tuple[str | None, ...]
    inside: Bools = field(repr=False)
    shown: bool
    margin: bool = False

    @property
    def sizes(self) -> Floats:
        """Number of categories in each group."""
        return np.asarray(self.inside.sum(axis=1), dtype=np.float64)

    @property
    def whole(self) -> Bools:
        """Which groups hold all categories."""
        return np.asarray(self.inside.all(axis=1))


def askable_cube(cube: ReleasedCube) -> Askable:
    """Every dimension with its levels, and the measures."""
    columns = tuple(
        AskableColumn(name, tuple(tuple(dict.fromkeys(level)) for level in levels))
        for name, levels in zip(cube.domain.dimensions, cube.levels, strict=True)
    )
    return Askable(columns, cube.measures)


def select(cube: ReleasedCube, query: Query) -> tuple[AxisGroups, ...]:
    """The groups of every dimension, in their order; InputError ``query.*``."""
    askable_cube(cube).check(query)
    wanted = {each.column: each.level for each in query.by}
    return tuple(
        _groups(name, levels, wanted.get(name), query)
        for name, levels in zip(cube.domain.dimensions, cube.levels, strict=True)
    )


def _groups(name: str, levels: Levels, level: int | None, query: Query) -> AxisGroups:
    allowed = allowed_categories(name, levels, query.conditions_on(name))
    if level is None:
        return AxisGroups((None,), allowed[None, :], shown=False)
    by_label: dict[str, list[int]] = {}
    for place, label in enumerate(levels[level]):
        if allowed[place]:
            by_label.setdefault(label, []).append(place)
    inside = np.zeros((len(by_label) + query.margins, len(allowed)), dtype=bool)
    for row, places in enumerate(by_label.values()):
        inside[row, places] = True
    labels: tuple[str | None, ...] = tuple(by_label)
    if query.margins:
        inside[-1] = allowed
        labels = (*labels, None)
    return AxisGroups(labels, inside, shown=True, margin=query.margins)


def allowed_categories(name: str, levels: Levels, conditions: Sequence[Condition]) -> Bools:
    """Which categories fulfil all conditions; InputError ``query.cut``, ``query.none``."""
    allowed = np.ones(len(levels[0]), dtype=bool)
    for condition in conditions:
        labels = levels[_level_of(name, levels, condition)]
        found = matching([condition], name, tuple(dict.fromkeys(labels)))
        by_label = dict(zip(dict.fromkeys(labels), found, strict=True))
        cut = next((label for label, match in by_label.items() if match is Match.PARTLY), None)
        if cut is not None:
            raise InputError(
                "query.cut",
                msg(
                    "The condition {words} cuts through the category {cut}, which the "
                    "release does not tell apart.",
                    words=quoted(condition.words()),
                    cut=quoted(cut),
                ),
                hint="Choose bounds between categories, or name categories.",
            )
        allowed &= np.array([by_label[label] is Match.YES for label in labels])
    if not allowed.any():
        raise InputError(
            "query.none",
            msg("No category of {name} fulfils all conditions on it.", name=quoted(name)),
        )
    return allowed


def _level_of(name: str, levels: Levels, condition: Condition) -> int:
    """The finest level at which all values of a condition are labels; numbers mean the finest."""
    if not isinstance(condition, Chosen):
        return 0
    for number, labels in enumerate(levels):
        if all(value in labels for value in condition.among(labels)):
            return number
    known = AskableColumn(name, levels)
    check_values(condition, name, tuple(dict.fromkeys(known.categories)))
    return 0
