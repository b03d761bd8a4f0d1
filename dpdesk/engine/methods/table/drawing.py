"""Random rounding: each cell goes to one of its two neighbouring multiples, once and for ever."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from dpdesk.core.jobs import CancelToken
from dpdesk.engine.method import CellsInput, CellsOutcome, KeptDraws
from dpdesk.engine.methods.table.counting import Counted, count_tables, rules_of
from dpdesk.engine.methods.table.deciding import Decision, near, outcome_of
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.tables.model import Table
from dpdesk.engine.tables.rules import judge

_WORD = 64


def drawn(
    given: CellsInput, kept: KeptDraws, randomness: RandomSource, token: CancelToken
) -> CellsOutcome:
    """The outcome with rounded values; a cell goes up with a chance of (value mod base) / base.

    Margins are rounded by themselves. What was drawn for a cell before is taken again.
    """
    counted = count_tables(given, token)
    settings, values = counted.settings, counted.system.cells.values
    judged = judge(
        counted.system, rules_of(settings), settings.range, 1 if counted.counts else None
    )
    base = settings.base * 10 ** counted.scales[0]
    rest = values % base
    moving = np.flatnonzero((rest != 0).astype(bool)).tolist()
    names = definitions(counted)

    def draw(places: Sequence[int]) -> list[bool]:
        token.check()
        return [below(base, randomness) < rest[moving[place]] for place in places]

    up = kept.directions([names[cell] for cell in moving], draw)
    released = values - rest
    released[moving] += np.where(np.array(up, dtype=bool), base, 0).astype(object)
    nothing = np.zeros(len(values), dtype=bool)
    return outcome_of(Decision(counted, judged, near(counted, nothing, released, base)))


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


def definitions(counted: Counted) -> list[str]:
    """What each cell counts, as a text that is the same in every table that has it."""
    found = [""] * len(counted.system)
    for spec, table, own, scale in zip(
        counted.settings.tables,
        counted.system.tables,
        counted.system.variables,
        counted.scales,
        strict=True,
    ):
        measure = f"{spec.measure.words}|{counted.settings.base}|{scale}"
        for cell, text in enumerate(_covered(table)):
            variable = int(own[cell])
            found[variable] = found[variable] or f"{measure}|{text}"
    return found


def _covered(table: Table) -> list[str]:
    """For each cell, the values that it covers of the dimensions that it does not add up."""
    sides = []
    for dimension in table.dimensions:
        texts = []
        for covers in dimension.covers:
            leaves = sorted(dimension.labels[int(i)] for i in dimension.leaves[covers])
            joined = "\0".join([dimension.name, *leaves]).encode("utf-8", "surrogatepass")
            texts.append("" if covers.all() else hashlib.sha256(joined).hexdigest())
        sides.append(texts)
    found = []
    for cell in range(len(table.cells)):
        place = np.unravel_index(cell, table.shape)
        parts = (side[int(i)] for side, i in zip(sides, place, strict=True))
        found.append(" ".join(sorted(part for part in parts if part)))
    return found
