"""Which cells are unsafe, and how uncertain they must stay.

Of a cell with contributions ``x1 >= x2 >= …`` and their sum ``X``: threshold ``0 < frequency < n``;
dominance ``x1 + … + xn > k/100 · X``; p-percent ``X - x1 - x2 < p/100 · x1``; pq the same with
``p/q``. All comparisons are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from dpdesk.core.errors import InputError
from dpdesk.core.messages import msg
from dpdesk.engine.tables.model import Exact, Flags, Requirement, System

DEFAULT_RANGE = Fraction(1, 10)


@dataclass(frozen=True)
class Rule:
    """A rule of a plan; ``largest`` is the plan's n, ``share`` its k, p, or p/q, in percent.

    ``full`` finds groups all of whose contributors are in one of several cells, ``zero`` cells
    without contributors next to others with some; both need a system whose zeros are not known.
    """

    kind: Literal["threshold", "dominance", "p-percent", "pq", "full", "zero"]
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
    by_rule: tuple[Flags, ...]
    """One entry per rule: the variables that it finds unsafe."""
    by_hand: Flags
    """Unsafe by their status, or by a contributor's request."""
    published: Flags
    """Must be published: never suppressed."""


def judge(
    system: System,
    rules: Sequence[Rule],
    range_by_hand: Fraction = DEFAULT_RANGE,
    unit: int | None = None,
) -> Judgement:
    """Apply rules and statuses to every variable of a system.

    ``unit`` is one unit of the values on the grid where they are counts: a range is at least that
    wide. A status set by hand goes before the rules; who waives protection is exempt from those on
    concentration.

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
        found, wide = _found(system, rule, size, free)
        if not rule.contributions:
            share = range_by_hand if rule.range is None else rule.range
            wide = _ranged(cells.values, found, share, unit)
        by_rule.append(found)
        lower, upper = np.maximum(lower, wide), np.maximum(upper, wide)
    by_hand = status == "U"
    if cells.requested is not None:
        by_hand |= free & cells.requested
    wide = _ranged(cells.values, by_hand, range_by_hand, unit)
    lower, upper = np.maximum(lower, wide), np.maximum(upper, wide)
    unsafe = np.logical_or.reduce([by_hand, *by_rule])
    lower = np.where(cells.values >= 0, np.minimum(lower, cells.values), lower)
    required = Requirement(unsafe, lower, upper)
    return Judgement(required, tuple(by_rule), by_hand, status == "P")


def _found(system: System, rule: Rule, size: Exact, free: Flags) -> tuple[Flags, Exact]:
    """The cells that a rule finds, and the protection that their contributions ask for."""
    cells = system.cells
    wide = np.full(len(cells), 0, dtype=object)
    if rule.kind == "threshold":
        return free & (cells.frequency > 0) & (cells.frequency < rule.largest), wide
    if rule.kind in ("full", "zero"):
        return free & _group(system, rule.kind), wide
    largest = _largest(system, rule)
    if rule.kind == "dominance":
        # 100/k · (x1 + … + xn) − X, over the numerator of k.
        divisor = rule.share.numerator
        excess = largest.sum(axis=1) * (100 * rule.share.denominator) - size * divisor
    else:
        divisor = 100 * rule.share.denominator
        excess = largest[:, 0] * rule.share.numerator - (size - largest.sum(axis=1)) * divisor
    found = free & (excess > 0).astype(bool)
    if cells.waived is not None:
        found &= ~cells.waived
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
                cell=" × ".join(place),
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


def _ranged(values: Exact, found: Flags, share: Fraction, unit: int | None) -> Exact:
    wide = np.full(len(values), 0, dtype=object)
    wide[found] = abs(values[found]) * share
    if unit is not None:
        wide[found] = np.maximum(wide[found], unit)
    return wide


def _group(system: System, kind: str) -> Flags:
    """Cells that hold all contributors of their total, or none of them, next to siblings."""
    frequency = system.cells.frequency
    found = np.zeros(len(frequency), dtype=bool)
    entries = system.matrix.tocoo()
    total_of = np.full(system.matrix.shape[0], -1, dtype=np.int64)
    totals = entries.data > 0
    total_of[entries.coords[0][totals]] = entries.coords[1][totals]
    row, part = entries.coords[0][~totals], entries.coords[1][~totals]
    whole = frequency[total_of[row]]
    held = frequency[part] == (whole if kind == "full" else 0)
    found[part[held & (whole > 0)]] = True
    return found
