"""Which cells are unsafe, and how uncertain they must stay.

Of a cell with contributions ``x1 >= x2 >= …`` and their sum ``X``: threshold ``0 < frequency < n``;
dominance ``x1 + … + xn > k/100 · X``; p-percent ``X - x1 - x2 < p/100 · x1``; pq the same with
``p/q``. A request asks that a cell be unsafe where a contributor who asked for it gave more than
``k/100 · X``. Who waives protection is exempt from rules on concentration: they find no cell whose
largest contributors, as many as they look at, all waive. All comparisons are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.core.tabulation import cell_words
from dpdesk.engine.tables.model import Exact, Flags, Requirement, System, exact

DEFAULT_RANGE = Fraction(1, 10)


@dataclass(frozen=True)
class Rule:
    """A rule of a plan; ``largest`` is the plan's n, ``share`` its k, p, or p/q, in percent.

    ``full`` finds groups all of whose contributors are in one of several cells, with the empty ones
    next to it; it needs a system whose zeros are not known.
    """

    kind: Literal["threshold", "dominance", "p-percent", "pq", "full", "request"]
    largest: int = 0
    share: Fraction = Fraction(0)
    range: Fraction | None = None

    @property
    def contributions(self) -> int:
        """How many of the largest contributions it looks at."""
        return {"dominance": self.largest, "p-percent": 2, "pq": 2}.get(self.kind, 0)


@dataclass(frozen=True, eq=False)
class Judgement:
    """What the rules say of each variable."""

    required: Requirement
    """Of those that are unsafe: none that everyone knows to be empty."""
    by_rule: tuple[Flags, ...]
    """One entry per rule: the variables that it finds unsafe."""
    by_hand: Flags
    """Unsafe by their status."""
    published: Flags
    """Must be published: never suppressed."""


def judge(
    system: System,
    rules: Sequence[Rule],
    range_by_hand: Fraction = DEFAULT_RANGE,
    least: Exact | None = None,
    sliding: Fraction = Fraction(0),
) -> Judgement:
    """Apply rules and statuses to every variable of a system.

    ``sliding`` is the share of its value by which the interval of an unsafe variable must be wide.
    A range is at least as wide as ``least`` says of each variable: 1 where things are counted. A
    status set by hand goes before the rules.

    Raises
    ------
    InputError
        ``table.few-contributions``: a rule needs more of the largest contributions than are given.
    """
    cells = system.cells
    count = len(cells)
    size = cells.values if cells.magnitude is None else cells.magnitude
    lower, upper = np.full((2, count), 0, dtype=object)
    by_rule: list[Flags] = []
    status = np.full(count, "") if cells.status is None else cells.status
    free = status == ""
    for rule in rules:
        share = range_by_hand if rule.range is None else rule.range
        if rule.kind == "full":
            found, down, up = _groups(system, free, share, least)
        else:
            found, wide = _found(system, rule, size, free)
            if not rule.contributions:
                wide = _ranged(cells.values, found, share, least)
            down = up = wide
        by_rule.append(found)
        lower, upper = np.maximum(lower, down), np.maximum(upper, up)
    # That nobody contributes to a cell is known of each such cell: it cannot be hidden.
    by_hand = (status == "U") & ~system.known
    wide = _ranged(cells.values, by_hand, range_by_hand, least)
    down, up = wide, wide.copy()
    if cells.levels is not None:
        own = by_hand & (cells.levels[:, 0] >= 0).astype(bool)
        down = np.where(own, cells.levels[:, 0], wide)
        up = np.where(own, cells.levels[:, 1], wide)
    lower, upper = np.maximum(lower, down), np.maximum(upper, up)
    unsafe = np.logical_or.reduce([by_hand, *by_rule]) & ~system.known
    lower = np.where(cells.values >= 0, np.minimum(lower, cells.values), lower)
    required = Requirement(unsafe, lower, upper, _widths(system, unsafe, sliding))
    return Judgement(required, tuple(by_rule), by_hand, status == "P")


def _widths(system: System, unsafe: Flags, share: Fraction) -> Exact | None:
    """How wide the interval of each unsafe variable must be; None: nothing is asked of any."""
    values, levels = system.cells.values, system.cells.levels
    wide = np.where(unsafe, abs(values) * share, 0)
    if levels is not None:
        wide = np.where(unsafe & (levels[:, 2] >= 0).astype(bool), levels[:, 2], wide)
    found: Exact = exact(wide.tolist())
    return found if (found > 0).any() else None


def _found(system: System, rule: Rule, size: Exact, free: Flags) -> tuple[Flags, Exact]:
    """The cells that a rule finds, and the protection that their contributions ask for."""
    cells = system.cells
    wide = np.full(len(cells), 0, dtype=object)
    if rule.kind == "threshold":
        return free & (cells.frequency > 0) & (cells.frequency < rule.largest), wide
    if rule.kind == "request":
        asking = np.full(len(cells), 0, dtype=object) if cells.asking is None else cells.asking
        much = asking * (100 * rule.share.denominator) > size * rule.share.numerator
        return free & (asking > 0).astype(bool) & much.astype(bool), wide
    largest = _largest(system, rule)
    if rule.kind == "dominance":
        # 100/k · (x1 + … + xn) − X, over the numerator of k.
        divisor = rule.share.numerator
        excess = largest.sum(axis=1) * (100 * rule.share.denominator) - size * divisor
    else:
        divisor = 100 * rule.share.denominator
        excess = largest[:, 0] * rule.share.numerator - (size - largest.sum(axis=1)) * divisor
    found = free & (excess > 0).astype(bool)
    if cells.holding is not None:
        others = (cells.frequency >= rule.contributions) & (cells.holding < largest[:, -1]).astype(
            bool
        )
        found &= ~(others | (cells.holding < 0).astype(bool))
    wide[found] = excess[found] * Fraction(1, divisor)
    return found, wide


def _largest(system: System, rule: Rule) -> Exact:
    """The largest contributions that a rule looks at, shape (variables, n)."""
    cells = system.cells
    needed = rule.contributions
    given = 0 if cells.top is None else cells.top.shape[1]
    if given < needed and (cells.frequency > given).any():
        table, place = system.cell_of(int(np.flatnonzero(cells.frequency > given)[0]))
        raise InputError(
            "table.few-contributions",
            msg(
                "Table `{table}`, cell {cell}: the rule `{rule}` looks at the {needed} largest "
                "contributions, found {given} of them.",
                table=table.name,
                cell=cell_words(place),
                rule=rule.kind,
                needed=needed,
                given=given,
            ),
            hint="Name more columns of largest contributions in `top` of `cells`.",
        )
    largest = np.full((len(cells), needed), 0, dtype=object)
    if cells.top is not None:
        largest[:, : min(given, needed)] = abs(cells.top[:, :needed])
    return largest


def _ranged(values: Exact, found: Flags, share: Fraction, least: Exact | None) -> Exact:
    wide = np.full(len(values), 0, dtype=object)
    wide[found] = abs(values[found]) * share
    if least is not None:
        wide[found] = np.maximum(wide[found], least[found])
    return wide


def _groups(
    system: System, free: Flags, share: Fraction, least: Exact | None
) -> tuple[Flags, Exact, Exact]:
    """Cells that hold all contributors of their total and the empty ones next to them.

    With them how far each must be able to go down, and up: that nobody is in an empty cell must not
    be certain.
    """
    frequency, matrix = system.cells.frequency, csr_array(system.matrix)
    found = np.zeros(len(frequency), dtype=bool)
    lower, upper = np.full((2, len(frequency)), 0, dtype=object)
    for start, end in pairwise(matrix.indptr):
        cells, total = matrix.indices[start:end], matrix.data[start:end] > 0
        parts, whole = cells[~total], int(frequency[cells[total]].max(initial=0))
        full = parts[(frequency[parts] == whole) & free[parts]]
        if not whole or not len(full):
            continue
        empty = parts[(frequency[parts] == 0) & free[parts]]
        wide = _ranged(system.cells.values, np.isin(np.arange(len(found)), full), share, least)
        found[full] = found[empty] = True
        lower[full] = np.maximum(lower[full], wide[full])
        upper[empty] = np.maximum(upper[empty], wide[full].max())
    return found, lower, upper
