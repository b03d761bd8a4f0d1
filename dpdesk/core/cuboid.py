"""A released table of numbers: one value for each cell of a declared domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Domain:
    """Dimensions with their declared categories, in the order of the plan; never from data."""

    dimensions: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of categories of each dimension."""
        return tuple(len(values) for values in self.categories)

    def part(self, places: Sequence[int]) -> Domain:
        """The domain of some of the dimensions, by their places."""
        return Domain(
            tuple(self.dimensions[i] for i in places), tuple(self.categories[i] for i in places)
        )

    def as_json(self) -> list[dict[str, object]]:
        """A list, for the order matters: each dimension with its categories."""
        return [
            {"dimension": name, "categories": list(values)}
            for name, values in zip(self.dimensions, self.categories, strict=True)
        ]

    @classmethod
    def from_json(cls, raw: object) -> Domain:
        """The inverse of :meth:`as_json`; TypeError, KeyError or ValueError for anything else."""
        if not isinstance(raw, list | tuple):
            raise TypeError("a domain is a list")
        names: list[str] = []
        categories: list[tuple[str, ...]] = []
        for item in raw:
            name, values = item["dimension"], item["categories"]
            texts = (name, *values)
            if not isinstance(values, list) or not all(isinstance(text, str) for text in texts):
                raise TypeError("dimensions and categories are texts")
            names.append(name)
            categories.append(tuple(values))
        if len(set(names)) < len(names) or any(len(set(c)) < len(c) for c in categories):
            raise ValueError("a dimension or category comes twice")
        return cls(tuple(names), tuple(categories))


@dataclass(frozen=True, eq=False)
class CuboidTable:
    """One cuboid: ``values`` has the shape of its ``domain``, float64 (or int64), any sign.

    ``file`` is its path relative to the public part, with ``/`` between folders.
    """

    domain: Domain
    values: NDArray[np.generic] = field(repr=False)
    file: str = ""

    @property
    def cells(self) -> int:
        """Number of cells; 1 for the apex."""
        return prod(self.domain.shape)
