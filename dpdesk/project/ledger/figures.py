"""The figures of one account: the simple sum beside the tight one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.budget import Draws
from dpdesk.project.ledger.accounts import DebitRecord, Spending, add_up, group_size


@dataclass(frozen=True)
class Figures:
    """What an account's debits mean together at ``delta``.

    ``simple`` is an ε by composition of sums, ``tight`` one by composing the privacy losses of all
    draws, never above ``simple``; both are upper bounds. None where no ε holds at this δ.
    """

    delta: Fraction
    simple: Fraction | None
    tight: float | None


def _nothing() -> None:
    """Nobody asks to stop."""


def figures(
    records: Sequence[DebitRecord],
    delta: Fraction,
    check: Callable[[], None] = _nothing,
) -> Figures:
    """The figures of these debits; ``check`` is called now and then and may raise to cancel."""
    requests = [record.request for record in records]
    spending = add_up(requests)
    simple = spending.epsilon_at(delta)
    tight = _tight(_draws(records, spending), spending, delta, check)
    if simple is not None:
        most = float(simple)
        if Fraction(most) < simple:
            most = math.nextafter(most, math.inf)
        tight = most if tight is None else min(tight, most)
    return Figures(delta, simple, tight)


def _draws(records: Sequence[DebitRecord], spending: Spending) -> tuple[Draws, ...]:
    """Every draw, as it counts for the widest unit and the stricter neighbours."""
    from dpdesk.engine.accounting.noise import grouped

    return tuple(
        grouped(one, group_size(record.request, spending.rows, spending.neighbours))
        for record in records
        for one in record.request.draws
    )


def _tight(
    draws: tuple[Draws, ...], spending: Spending, delta: Fraction, check: Callable[[], None]
) -> float | None:
    from dpdesk.engine.accounting.tight import Known, tight_epsilon

    return tight_epsilon(Known(draws, spending.approximate), delta, check)
