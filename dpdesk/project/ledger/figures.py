"""The figures of one account: the simple sum beside the advanced and the tight one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpdesk.core.budget import Draws, PureEpsilon
from dpdesk.project.ledger.accounts import DebitRecord, Spending, add_up, group_size


@dataclass(frozen=True)
class Figures:
    """What an account's debits mean together at ``delta``.

    ``simple`` is an ε by composition of sums, ``advanced`` one by advanced composition of all that
    has a pure ε, ``tight`` one by composing the privacy losses of all draws; both are never above
    ``simple``, and all are upper bounds. None where no ε holds at this δ.
    """

    delta: Fraction
    simple: Fraction | None
    advanced: float | None
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
    advanced = _advanced(records, spending, delta)
    tight = _tight(_draws(records, spending), spending, delta, check)
    most = math.inf if simple is None else _not_below(simple)
    return Figures(delta, simple, _least(advanced, most), _least(tight, most))


def _not_below(exact: Fraction) -> float:
    found = float(exact)
    return math.nextafter(found, math.inf) if Fraction(found) < exact else found


def _least(found: float | None, most: float) -> float | None:
    least = most if found is None else min(found, most)
    return least if math.isfinite(least) else None


def _advanced(records: Sequence[DebitRecord], spending: Spending, delta: Fraction) -> float | None:
    """Draws with a pure ε by advanced composition, the rest by sums; ρ gets half of δ."""
    from dpdesk.engine.accounting import advanced_epsilon, zcdp_epsilon
    from dpdesk.engine.accounting.conversion import up

    parts = list(_pure_parts(records, spending))
    epsilon, gone = spending.approximate
    rest = delta - gone
    if rest <= 0 or not parts:
        return None
    own = rest / 2 if spending.rho else rest
    beside = zcdp_epsilon(spending.rho, rest - own) if spending.rho else 0.0
    return up(_not_below(epsilon) + beside + advanced_epsilon(parts, own))


def _pure_parts(
    records: Sequence[DebitRecord], spending: Spending
) -> Iterator[tuple[Fraction, int]]:
    """The ε of each draw and how many there are; of a debit whose draws cost less, its cost."""
    for request in (record.request for record in records):
        if isinstance(request.cost, PureEpsilon):
            size = group_size(request, spending.rows, spending.neighbours)
            each = [(one.epsilon, one.count) for one in request.draws]
            told = [(epsilon, count) for epsilon, count in each if epsilon is not None]
            if len(told) == len(each) and sum(e for e, _ in told) == request.cost.epsilon:
                yield from ((size * epsilon / count, count) for epsilon, count in told)
            else:
                yield size * request.cost.epsilon, 1


def _draws(records: Sequence[DebitRecord], spending: Spending) -> tuple[Draws, ...]:
    """Every draw, as it counts for the widest unit and the stricter neighbours."""
    from dpdesk.engine.accounting.tight import grouped

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
