"""What a plan prefers where tuples get cells of their own: weights, levels, and limits of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.engine.hierarchies.preview import ROOT, AlignedTable
from dpdesk.engine.methods.k_anonymity.further_settings import bad_table
from dpdesk.engine.methods.k_anonymity.mondrian import Parts
from dpdesk.engine.methods.k_anonymity.scales import Scale
from dpdesk.engine.methods.k_anonymity.settings import Settings, bounds_of, weights_of
from dpdesk.engine.recoded import row_keys

Array = NDArray[Any]
_WHERE = "the plan"


def preferred(
    scales: Sequence[Scale], table: AlignedTable, settings: Settings
) -> tuple[Scale, ...]:
    """The scales with the weights and the levels that the settings ask for.

    Weights have the mean 1, so that losses stay means over cells. Raises InputError
    ``k-anonymity.columns`` for a level that a hierarchy does not have.
    """
    names = table.attributes
    heights = [len(scale.nodes) - 1 for scale in scales]
    weights = weights_of(settings, names) or (1,) * len(scales)
    bounds = bounds_of(settings, names, heights, _WHERE)
    least, most = bounds or ((0,) * len(scales), heights)
    total = sum(weights)
    return tuple(
        replace(
            scale,
            weight=Fraction(weight * len(scales), total),
            shown=frozenset(range(low, height + 1)) if low else None,
            most=high if high < height else None,
        )
        for scale, weight, low, high, height in zip(
            scales, weights, least, most, heights, strict=True
        )
    )


def check_ranges(scales: Sequence[Scale]) -> None:
    """Refuse levels that ranges cannot keep to: whose values are not a range of their own.

    Raises InputError ``k-anonymity.columns``.
    """
    for scale in scales:
        if not (scale.numeric or scale.listed):
            continue  # shows nodes
        limits = {"min_level": min(scale.shown or (0,)), "max_level": scale.most or 0}
        for key, level in limits.items():
            nodes = scale.nodes[level]
            changes = int((nodes[1:] != nodes[:-1]).sum()) + 1
            missing = np.isin(scale.order, sorted(scale.missing))
            mixed = scale.numeric and bool(np.isin(nodes[missing], nodes[~missing]).any())
            top = level == len(scale.nodes) - 1
            if not top and (mixed or changes > len(np.unique(nodes))):
                expected = (
                    "a level whose labels stand for values next to each other, and for no missing "
                    'ones among them, or `values = "nodes"`'
                )
                raise bad_table(_WHERE, key, scale.hierarchy.attribute, str(level), expected)


def at_least_levels(scales: Sequence[Scale], codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Tuples with the first value of a node for each of its values, at the least levels: so no cut
    divides a node.
    """
    found = codes.copy()
    for j, scale in enumerate(scales):
        if scale.shown is not None:
            first = scale.low[scale.nodes[min(scale.shown)]]
            found[:, j] = scale.order[first[scale.places[codes[:, j]]]]
    return found


def kept_apart(scales: Sequence[Scale], codes: NDArray[np.int32]) -> Array:
    """For each tuple the number of its group: tuples of two groups cannot be in one class, as
    they have no node in common that may be shown.
    """
    held = [(j, scale, scale.most) for j, scale in enumerate(scales) if scale.most is not None]
    if not held:
        return np.zeros(len(codes), np.int64)
    columns = [scale.nodes[most][scale.places[codes[:, j]]] for j, scale, most in held]
    keys = row_keys(np.stack(columns, axis=1), [len(scale.parents) for _, scale, _ in held])
    return np.unique(keys, return_inverse=True)[1].reshape(-1)


def stars(scale: Scale) -> NDArray[np.bool_]:
    """Which nodes are released as ``*``, which is not one of their values as it is."""
    shown = scale.widest[scale.released]
    named = np.array([text == ROOT for text in scale.texts], np.bool_)
    found: NDArray[np.bool_] = named[shown] & (scale.levels[shown] > 0)
    return found


@dataclass(frozen=True, eq=False)
class CellLimits:
    """How many cells of columns may become ``*``.

    ``whole[j]`` of column j in all, ``each[j]`` of those with each of its values, by leaf code.
    """

    whole: dict[int, int] = field(repr=False)
    each: dict[int, Array] = field(repr=False)

    @classmethod
    def of(cls, table: AlignedTable, settings: Settings) -> CellLimits | None:
        """The limits of the settings, each share rounded down to whole cells; None without any."""
        if not settings.cells_of and not settings.suppression_of:
            return None
        place = {name: at for at, name in enumerate(table.attributes)}
        whole = {place[n]: int(share * table.rows) for n, share in settings.cells_of.items()}
        each = {}
        for name, share in settings.suppression_of.items():
            j = place[name]
            size = len(table.hierarchies[j].leaves)
            rows = np.bincount(table.codes[:, j], table.counts, size).astype(np.int64)
            each[j] = np.array([int(share * n) for n in rows.tolist()], np.int64)
        return cls(whole, each)

    @property
    def columns(self) -> list[int]:
        """The columns with a limit."""
        return sorted({*self.whole, *self.each})

    def broken(self, scales: Sequence[Scale], parts: Parts) -> list[int]:
        """The columns of which classes suppress too many cells."""
        first, sizes = parts.starts[:-1], np.diff(parts.starts)
        found = []
        for j in self.columns:
            scale, values = scales[j], parts.places[:, j]
            low, high = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
            gone = np.repeat(stars(scale)[scale.common(low, high)], sizes)
            rows = np.bincount(scale.order[values[gone]], parts.rows[gone], scale.leaves)
            over = j in self.whole and rows.sum() > self.whole[j]
            if over or (j in self.each and (rows > self.each[j]).any()):
                found.append(j)
        return found
