"""The values of an attribute in an order, with the nodes and ranges by which cells are released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.parameters import exact_number

Places = NDArray[np.int64]

_BETWEEN = ", "


@dataclass(frozen=True, eq=False)
class Scale:
    """An attribute whose leaves stand in an order in which every node is an interval.

    ``order`` holds leaf codes by place, ``places`` the place of each leaf code. A node is
    numbered ``offsets[level] + code``; ``low`` and ``high`` are the first and the last place below
    it, ``parents`` the node above (the top is its own). ``joins[p]`` is the lowest level at which
    the leaves at places p and p + 1 are in one node. ``numeric`` says that all values but missing
    ones are numbers, ``listed`` that the hierarchy is nothing but the values and a top:
    ranges follow from these. ``missing`` are leaf codes. Cells show nodes of the levels ``shown``
    alone (None: of any), the top among them, and of no level above ``most``. What cells lose
    counts ``weight`` times.
    """

    hierarchy: Hierarchy
    order: Places = field(repr=False)
    places: Places = field(repr=False)
    offsets: tuple[int, ...]
    low: Places = field(repr=False)
    high: Places = field(repr=False)
    parents: Places = field(repr=False)
    nodes: NDArray[np.int32] = field(repr=False)
    numbers: tuple[Fraction | None, ...] = field(repr=False)
    numeric: bool
    listed: bool
    missing: frozenset[int]
    shown: frozenset[int] | None = None
    most: int | None = None
    weight: Fraction = Fraction(1)

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return len(self.order)

    @property
    def allowed(self) -> Sequence[int]:
        """The levels that cells may show, ascending."""
        last = len(self.nodes) if self.most is None else self.most + 1
        return [n for n in range(last) if self.shown is None or n in self.shown]

    @property
    def top(self) -> int:
        """The node of all leaves."""
        return self.offsets[-1]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The label of each node."""
        return tuple(text for labels in self.hierarchy.labels for text in labels)

    @cached_property
    def known(self) -> frozenset[str]:
        """The values."""
        return frozenset(self.hierarchy.leaves)

    @cached_property
    def levels(self) -> Places:
        """The level of each node."""
        sizes = [len(labels) for labels in self.hierarchy.labels]
        return np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def widest(self) -> Places:
        """For each node, the one that its label means: the widest of this label, the lowest of
        several.
        """
        best: dict[str, int] = {}
        width = self.high - self.low
        for node, text in enumerate(self.texts):
            known = best.get(text)
            if known is None or width[node] > width[known]:
                best[text] = node
        return np.array([best[text] for text in self.texts], np.int64)

    @cached_property
    def released(self) -> Places:
        """For each node, the lowest one above it, or itself, that may be shown and whose label
        means no other values.
        """
        found = np.arange(len(self.parents))
        for node in range(len(found) - 1, -1, -1):
            means = self.widest[node]
            inside = self.low[means] <= self.low[node] and self.high[node] <= self.high[means]
            hidden = self.shown is not None and int(self.levels[node]) not in self.shown
            if not inside or hidden:
                found[node] = found[self.parents[node]]
        return found

    def level_over(self, low: Places, high: Places) -> Places:
        """The lowest level at which all leaves from place ``low`` to ``high`` are in one node."""
        found = np.full(len(low), len(self.nodes) - 1, np.int64)
        for level in range(len(self.nodes) - 2, -1, -1):
            changes = np.concatenate(
                [[0], np.cumsum(self.nodes[level, 1:] != self.nodes[level, :-1])]
            )
            found[changes[low] == changes[high]] = level
        return found

    def common(self, low: Places, high: Places) -> Places:
        """The lowest node over the leaves from place ``low`` to ``high``, of each pair."""
        low, high = np.asarray(low, np.int64), np.asarray(high, np.int64)
        found = self.order[low].astype(np.int64)
        for _ in range(len(self.offsets) - 1):
            apart = self.high[found] < high
            if not apart.any():
                break
            found[apart] = self.parents[found[apart]]
        return found


def node_losses(scale: Scale) -> NDArray[np.float64]:
    """(leaves covered − 1)/(leaves − 1) of what each node is released as, times the weight."""
    shown = scale.widest[scale.released]
    share: NDArray[np.float64] = (scale.high[shown] - scale.low[shown]) / max(scale.leaves - 1, 1)
    return share * float(scale.weight)


def scale_of(
    hierarchy: Hierarchy, missing: frozenset[int], decimal: str = ".", *, by_size: bool
) -> Scale:
    """The scale of an attribute; ``missing`` are leaf codes.

    Leaves stand in the order of the hierarchy, those of one node together. Where the hierarchy says
    nothing of an order (values and a top alone): missing ones first, then numbers by size, else
    texts by code point. With ``by_size`` numbers stand by size, whatever nodes they are in.
    """
    labels, height = hierarchy.labels, hierarchy.height
    leaves = hierarchy.leaves
    numbers = tuple(number_of(leaf, decimal) for leaf in leaves)
    known = [code for code in range(len(leaves)) if code not in missing]
    numeric = bool(known) and all(numbers[code] is not None for code in known)
    above = [hierarchy.ancestors(level).astype(np.int64) for level in range(height + 1)]
    listed = height <= 1

    def key(code: int) -> tuple[bool, Fraction, str]:
        number = numbers[code] if numeric and code not in missing else None
        return code not in missing, number or Fraction(0), leaves[code]

    rank = np.arange(len(leaves))
    if listed or (by_size and numeric):
        rank = np.empty(len(leaves), np.int64)
        rank[sorted(range(len(leaves)), key=key)] = np.arange(len(leaves))
    order = np.argsort(rank) if by_size and numeric else _together(above, rank)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    offsets = tuple(np.cumsum([0, *map(len, labels[:-1])]).tolist())
    total = offsets[-1] + len(labels[-1])
    low, high = np.full(total, len(order), np.int64), np.full(total, -1, np.int64)
    parents = np.arange(total)
    nodes = np.empty((height + 1, len(order)), np.int32)
    for level in range(height + 1):
        held = offsets[level] + above[level]
        nodes[level] = held[order]
        np.minimum.at(low, held, places)
        np.maximum.at(high, held, places)
        if level < height:
            parents[held] = offsets[level + 1] + above[level + 1]
    return Scale(
        *(hierarchy, order, places, offsets, low, high, parents, nodes),
        *(numbers, numeric, listed, missing),
    )


def _together(above: list[Places], rank: Places) -> Places:
    """Leaf codes with those of each node together, nodes by their first leaf in ``rank``."""
    keys: list[Places] = []
    for nodes in above:
        first = np.full(int(nodes.max()) + 1, len(rank), np.int64)
        np.minimum.at(first, nodes, rank)
        keys.append(first[nodes])
    return np.lexsort(keys)


def number_of(text: str, decimal: str = ".") -> Fraction | None:
    """The number that a text is, exactly, with this decimal mark; None for any other."""
    stripped = text.strip()
    if not stripped or stripped[0] not in f"+-{decimal}0123456789":
        return None
    return exact_number(stripped, decimal)


def range_text(scale: Scale, held: Sequence[int]) -> str | None:
    """What a range shows of the leaves (codes) that occur; None where only ``*`` or a node can.

    Numbers ``[20, 35]``, texts without a hierarchy ``{a, b}``, one value as itself. A list in which
    values with commas could be read as others shows nothing.
    """
    leaves = scale.hierarchy.leaves
    if len(held) == 1:
        return leaves[held[0]]
    if scale.numeric:
        if any(code in scale.missing for code in held):
            return None
        ordered = sorted(held, key=lambda code: (scale.numbers[code] or 0, leaves[code]))
        return f"[{leaves[ordered[0]]}, {leaves[ordered[-1]]}]"
    if scale.listed:
        values = sorted(leaves[code] for code in held)
        return _list_text(scale, values)
    return None


def _list_text(scale: Scale, values: Sequence[str]) -> str | None:
    """``{a, b}``; None where a reader who knows all values would read other ones."""
    inside = _BETWEEN.join(values)
    text = "{" + inside + "}"
    if text in scale.known:
        return None
    if not any(_BETWEEN in value for value in values):
        return text
    around = f"{_BETWEEN}{inside}{_BETWEEN}"
    read = {value for value in scale.known if f"{_BETWEEN}{value}{_BETWEEN}" in around}
    apart = {*inside.split(_BETWEEN)}
    return text if read == {*values} and not apart <= scale.known else None
