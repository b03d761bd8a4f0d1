"""Whether values came out as draws with the stated chances do, where rows are known again.

Each of the rows shows a value by a draw of its own. How often a value is shown among so many rows
is bounded by Chernoff and Hoeffding: what is not allowed here comes by chance less than once in
10^19. So it tells of a program that draws nothing, or otherwise than it says; small departures,
and few rows, tell nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import inf, log

from dpdesk.core.messages import msg
from dpdesk.core.release import DRAWN_AS_STATED, CheckStatus, ClaimCheck

Tally = tuple[int, int, Fraction]
"""Rows, how many of them show a value, and the chance of each to do so."""
_TABLE = "microdata.csv"
_EXPONENT, _MOST_NEIGHBOURS = 45.0, 40


def drawn_check(tallies: Iterable[Tally], alone: int, neighbours: int | None) -> ClaimCheck:
    """The claim on draws; ``neighbours`` None where the order of rows is not drawn.

    Among rows in random order two are neighbours that were neighbours before; 40 come less than
    once in 10^30 releases.
    """

    def answer(status: CheckStatus, found: str) -> ClaimCheck:
        return ClaimCheck(DRAWN_AS_STATED, status, found, _TABLE)

    told = 0
    for rows, shown, chance in tallies:
        if unlikely(rows, shown, chance):
            text = msg(
                "{shown:,} of {rows:,} rows show a value where about {expected:,} would",
                shown=shown,
                rows=rows,
                expected=round(rows * chance),
            )
            return answer(CheckStatus.FAILED, text)
        told = max(told, rows if _can_tell(rows, chance) else 0)
    if neighbours is not None and neighbours >= _MOST_NEIGHBOURS:
        text = msg("{n:,} rows follow the same row as in the source", n=neighbours)
        return answer(CheckStatus.FAILED, text)
    if not told:
        text = "too few rows are known again in the source to tell"
        return answer(CheckStatus.NOT_CHECKABLE, text)
    text = msg("counted in {n:,} rows that are known again in the source", n=max(told, alone))
    return answer(CheckStatus.CONFIRMED, text)


def unlikely(rows: int, shown: int, chance: Fraction) -> bool:
    """Whether so many of these rows come by chance less than once in 10^19."""
    return distance(rows, shown, chance) > _EXPONENT


def distance(rows: int, shown: int, chance: Fraction) -> float:
    """The exponent x of the bound e^-x on the chance of so many, or so few, of these rows."""
    found = 0.0
    for count, each in ((shown, chance), (rows - shown, 1 - chance)):
        if count and not each:
            return inf
        if count:
            found += count * log(count / (rows * each))
    return max(found, 0.0)


def _can_tell(rows: int, chance: Fraction) -> bool:
    """Whether rows that all show the value, as if nothing were drawn, would be told."""
    return unlikely(rows, rows, chance)
