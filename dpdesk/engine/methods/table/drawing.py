"""Random rounding and cell keys: each cell is rounded or changed at random, once and for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.method import CellsInput, CellsOutcome, KeptDraws
from dpdesk.engine.methods.table.counting import Counted, count_tables
from dpdesk.engine.methods.table.deciding import Decision, near, outcome_of
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.tables.cellkeys import PerturbationTable
from dpdesk.engine.tables.model import Exact, Ints, Table

_WORD = 64


def drawn(
    given: CellsInput, kept: KeptDraws, randomness: RandomSource, token: CancelToken
) -> CellsOutcome:
    """The outcome with rounded values; a cell goes up with a chance of (value mod base) / base.

    Margins are rounded by themselves. What was drawn for a cell before is taken again.
    """
    counted = count_tables(given, token)
    values, base = counted.system.cells.values, counted.settings.base * counted.units
    rest = values % base
    moving = np.flatnonzero((rest != 0).astype(bool)).tolist()
    names = definitions(counted, rest)

    def draw(places: Sequence[int]) -> list[bool]:
        token.check()
        cells = [moving[place] for place in places]
        return [below(base[cell], randomness) < rest[cell] for cell in cells]

    up = kept.directions([names[cell] for cell in moving], draw)
    released = rounded_up(values - rest, base, np.array(moving, dtype=np.int64), up)
    return outcome_of(Decision(counted, counted.judged(), near(counted, released)))


def rounded_up(floor: Exact, base: Exact, moving: Ints, up: Sequence[bool]) -> Exact:
    """Multiples of the base, those of ``moving`` the next ones where they go ``up``."""
    released = floor.copy()
    released[moving] += base[moving] * np.array(up, dtype=bool)
    return released


def keyed(
    given: CellsInput, kept: KeptDraws, randomness: RandomSource, token: CancelToken
) -> CellsOutcome:
    """The outcome with counts changed by cell keys; see :mod:`dpdesk.engine.tables.cellkeys`.

    Margins are changed by themselves. Rows keep the keys that were drawn for them before.
    """
    keys = kept.row_keys(given.source.rows, randomness.words)
    counted = count_tables(given, token, keys)
    settings, values = counted.settings, counted.system.cells.values
    table = PerturbationTable.of(settings.deviation, settings.variance)
    released = values.copy()
    for own, sums in zip(counted.system.variables, counted.prints, strict=True):
        for cell, key in zip(own.tolist(), sums.tolist(), strict=True):
            released[cell] = values[cell] + table.change(values[cell], key)
    return outcome_of(Decision(counted, counted.judged(), near(counted, released)))


def below(limit: int, randomness: RandomSource) -> int:
    """A whole number from 0 to ``limit`` - 1, each with exactly the same chance."""
    words = -(-limit.bit_length() // _WORD)
    span = 1 << (_WORD * words)
    while True:
        found = 0
        for word in randomness.words(words).tolist():
            found = found << _WORD | word
        if found < span - span % limit:
            return found % limit


def definitions(counted: Counted, rest: Exact) -> list[list[str]]:
    """What each cell counts, as texts that are the same in every table that has it.

    A cell has several of them, for another table may have the same rows under other values. What
    is left of a value by the base is in each, for it is the chance of the draw.
    """
    found: list[list[str]] = [[] for _ in range(len(counted.system))]
    for place, spec in enumerate(counted.settings.tables):
        own, table = counted.system.variables[place], counted.system.tables[place]
        measure = f"{spec.measure.words}|{counted.settings.base}|{counted.scales[place]}"
        if counted.settings.edits:
            measure += f"|{counted.settings.sample}|{counted.settings.swap}"
        texts = [_covered(table)]
        if counted.prints:
            texts.append([f"rows {each}" for each in counted.prints[place].tolist()])
        for kind in texts:
            for variable, text in zip(own.tolist(), kind, strict=True):
                found[variable].append(f"{measure}|{text}|{rest[variable]}")
    return found


def _covered(table: Table) -> list[str]:
    """For each cell, the values that it covers of the dimensions that it does not add up."""
    sides = []
    for dimension in table.dimensions:
        texts = []
        for covers in dimension.covers:
            leaves = sorted(dimension.values(dimension.leaves[covers]))
            joined = "\0".join([dimension.name, *leaves]).encode("utf-8", "surrogatepass")
            texts.append("" if covers.all() else hashlib.sha256(joined).hexdigest())
        sides.append(texts)
    found = []
    for cell in range(len(table.cells)):
        place = np.unravel_index(cell, table.shape)
        parts = (side[int(i)] for side, i in zip(sides, place, strict=True))
        found.append(" ".join(sorted(part for part in parts if part)))
    return found
