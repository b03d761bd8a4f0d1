"""What is released exactly, brought to its shortest form.

Background knowledge Q is a set of whole cuboids and of single cells of others. What follows from
the rest of Q says nothing new: cuboids below others, cells below a whole cuboid, dimensions of one
category. Source: resources/docs/exact.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import or_

from dpdesk.engine.cubes.lattice import cells, members

Cell = tuple[int, ...]


@dataclass(frozen=True)
class Knowledge:
    """What is known exactly of a cube on a domain of ``shape``, nothing of it superfluous.

    ``whole`` are masks of cuboids of which every cell is known, none part of another; ``parts``
    are known cells by mask, each cell as places along the cuboid's dimensions, ascending. ``total``
    says that the number of rows is known as well, be it published or be it that neighbours have the
    same number of rows; it is False where it follows from the rest. ``apex`` says that the grand
    total is one of the cuboids.
    """

    shape: tuple[int, ...]
    whole: tuple[int, ...] = ()
    parts: Mapping[int, frozenset[Cell]] | None = None
    total: bool = False
    apex: bool = False

    @property
    def counted(self) -> tuple[int, ...]:
        """The whole cuboids, none part of another, from which all exact ones follow."""
        return self.whole or ((0,) if self.apex else ())

    @property
    def cells(self) -> Mapping[int, frozenset[Cell]]:
        """The known single cells by cuboid."""
        return self.parts or {}

    @property
    def cuboids(self) -> tuple[int, ...]:
        """All cuboids of which something is known."""
        return (*self.whole, *self.cells)

    @property
    def dimensions(self) -> int:
        """The union of all that is known, as a mask."""
        return reduce(or_, self.cuboids, 0)

    def gives(self, cuboid: int) -> bool:
        """Whether every cell of ``cuboid`` follows from the whole cuboids."""
        needed = cuboid & ~_single(self.shape)
        return any(needed & ~mask == 0 for mask in self.whole)


def knowledge(
    shape: Sequence[int],
    whole: Iterable[int],
    single: Mapping[int, Iterable[Cell]] | None = None,
    *,
    total: bool = False,
) -> Knowledge:
    """The shortest form of what is known: whole cuboids, ``single`` cells, perhaps the total.

    ``total`` is for a number of rows that is known without being one of the cuboids (neighbours
    of equal size). Raises ValueError for cells outside the domain.
    """
    shape = tuple(shape)
    trivial = _single(shape)
    masks = {mask & ~trivial for mask in whole}
    parts: dict[int, set[Cell]] = {}
    for mask, known in (single or {}).items():
        kept = mask & ~trivial
        axes = members(mask)
        for cell in known:
            if len(cell) != len(axes) or any(
                not 0 <= place < shape[i] for place, i in zip(cell, axes, strict=True)
            ):
                raise ValueError("a known cell is outside the domain")
            own = tuple(place for place, i in zip(cell, axes, strict=True) if kept >> i & 1)
            parts.setdefault(kept, set()).add(own)
    masks |= {mask for mask, known in parts.items() if len(known) == cells(mask, shape)}
    known_total = total or 0 in masks
    whole_masks = _maximal(masks - {0})
    left = {
        mask: frozenset(known)
        for mask, known in sorted(parts.items())
        if mask and known and not any(mask & ~other == 0 for other in whole_masks)
    }
    left = {mask: rest for mask, known in left.items() if (rest := _new(mask, known, left, shape))}
    if not left and not whole_masks and 0 in masks:
        return Knowledge(shape, (0,), apex=True)
    total = known_total and not whole_masks
    return Knowledge(shape, whole_masks, left, total, 0 in masks)


def _single(shape: Sequence[int]) -> int:
    """The dimensions of one category, as a mask."""
    return sum(1 << i for i, size in enumerate(shape) if size == 1)


def _maximal(masks: set[int]) -> tuple[int, ...]:
    return tuple(
        sorted(
            mask
            for mask in masks
            if not any(mask != other and mask & ~other == 0 for other in masks)
        )
    )


def _new(
    mask: int, known: frozenset[Cell], parts: Mapping[int, frozenset[Cell]], shape: tuple[int, ...]
) -> frozenset[Cell]:
    """The cells that are not sums of known cells of one finer cuboid."""
    finer = [other for other in parts if other != mask and mask & ~other == 0]
    return frozenset(
        cell
        for cell in known
        if not any(_below(cell, mask, other, shape) <= parts[other] for other in finer)
    )


def _below(cell: Cell, mask: int, finer: int, shape: tuple[int, ...]) -> set[Cell]:
    places = dict(zip(members(mask), cell, strict=True))
    return set(product(*([places[i]] if i in places else range(shape[i]) for i in members(finer))))
