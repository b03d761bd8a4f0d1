"""Suppressed cells of linked tables as unknowns, and the equations that hold of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.tabulation import CellTable
from dpdesk.verifiers.reading import number
from dpdesk.verifiers.tables.intervals import Row
from dpdesk.verifiers.tables.published import CommonSum, Place, equations, place_of


@dataclass(frozen=True, eq=False)
class Attacked:
    """Linked tables as unknowns.

    ``numbers[t]`` are the numbers of the cells of table ``t``, ``unknown`` the places of suppressed
    numbers, ``where`` a table and a cell of each unknown, ``sums`` what tables have in common.
    """

    tables: tuple[CellTable, ...]
    numbers: tuple[Sequence[int], ...]
    unknown: Mapping[int, int]
    where: tuple[Place, ...]
    sums: Sequence[CommonSum]

    @classmethod
    def of(
        cls,
        tables: Sequence[CellTable],
        numbers: Sequence[Sequence[int]],
        sums: Sequence[CommonSum] = (),
    ) -> Attacked:
        """The suppressed cells of tables whose cells have these numbers."""
        unknown: dict[int, int] = {}
        where: list[Place] = []
        for t, (table, own) in enumerate(zip(tables, numbers, strict=True)):
            for cell, text in enumerate(table.values):
                if not text and own[cell] not in unknown:
                    unknown[own[cell]] = len(unknown)
                    where.append((t, cell))
        return cls(tuple(tables), tuple(numbers), unknown, tuple(where), sums)

    def without_values(self, internal: Mapping[str, CellTable]) -> Attacked:
        """The same with all cells suppressed but those that everyone knows to be empty."""
        held = [internal[table.file].internal["frequency"] for table in self.tables]
        pairs = zip(self.tables, held, strict=True)
        # Where an empty cell is suppressed, nobody knows which ones are empty.
        known = all(
            text for t, ns in pairs for text, n in zip(t.values, ns, strict=True) if n == "0"
        )
        tables = tuple(
            replace(table, values=tuple("0" if known and n == "0" else "" for n in ns))
            for table, ns in zip(self.tables, held, strict=True)
        )
        return Attacked.of(tables, self.numbers, self.sums)

    def of_tables(self, flags: Sequence[bool]) -> NDArray[np.bool_]:
        """The flag of the table of each unknown."""
        return np.array([flags[table] for table, _ in self.where], dtype=bool)

    def number(self, unknown: int) -> int:
        """The number of an unknown."""
        table, cell = self.where[unknown]
        return self.numbers[table][cell]

    def name(self, unknown: int) -> str:
        """How messages call an unknown."""
        table, cell = self.where[unknown]
        return place_of(self.tables[table], cell)

    def rows(self, *, moves: bool) -> list[Row]:
        """The equations; of ``moves`` from the true values, what is published does not move."""
        found: dict[tuple[tuple[int, float], ...], float] = {}
        values = [[number(x) if x else None for x in table.values] for table in self.tables]
        for terms in self._terms():
            row: dict[int, float] = {}
            rest = Fraction(0)
            for (table, cell), factor in terms:
                value = values[table][cell]
                if value is not None:
                    rest -= Fraction(factor) * value
                else:
                    place = self.unknown[self.numbers[table][cell]]
                    row[place] = row.get(place, 0) + factor
            key = tuple(sorted((p, c) for p, c in row.items() if c))
            if key:
                found.setdefault(key, 0.0 if moves else float(rest))
        return [(dict(key), total) for key, total in found.items()]

    def _terms(self) -> Iterator[CommonSum]:
        """The cells of each equation with their factors."""
        for t, table in enumerate(self.tables):
            for total, parts in equations(table.axes):
                yield [((t, total), 1), *(((t, part), -1) for part in parts)]
        yield from self.sums
