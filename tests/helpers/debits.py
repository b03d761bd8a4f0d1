"""Requests and debits for tests. Only tests may make a debit without a ledger."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from dpdesk.core.budget import (
    Budget,
    Debit,
    DebitRequest,
    Draws,
    Neighbours,
    ProtectedUnit,
    PureEpsilon,
    columns_fingerprint,
    issue_debit,
)
from dpdesk.project.ledger import Ledger, Witness

SOURCE, OTHER = "a" * 64, "b" * 64
COLUMNS = columns_fingerprint(["age", "sex"])


def pure(text: str) -> PureEpsilon:
    """ε as it would stand in a plan."""
    return PureEpsilon(Fraction(text))


def ask(
    cost: Budget | str = "0.5",
    *,
    population: str = "residents",
    source: str = SOURCE,
    columns: str = COLUMNS,
    rows: int = 1,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    draws: Iterable[Draws] = (),
    purpose: str = "cube of 3 dimensions",
) -> DebitRequest:
    """A request; its cost is pure ε when given as text."""
    return DebitRequest(
        cost=pure(cost) if isinstance(cost, str) else cost,
        source=source,
        columns=columns,
        purpose=purpose,
        neighbours=neighbours,
        unit=ProtectedUnit(rows),
        draws=tuple(draws),
        population=population,
        title="a plan",
    )


def open_here(path: Path, *, create: bool = True, witness: Witness | None = None) -> Ledger:
    """A ledger, as if the folder were never a network share."""
    return Ledger.open(path, create=create, share=lambda _: "", witness=witness)


def witness_of(path: Path) -> Witness:
    """A witness beside a ledger."""
    return Witness(path.with_suffix(".jsonl"), named=True)


def debit_for_tests(cost: Budget | str = "1", draws: Iterable[Draws] = ()) -> Debit:
    """A debit that stands in no ledger, to test what demands one."""
    request = ask(cost, draws=draws)
    time = "2026-01-01T00:00:00+00:00"
    return issue_debit(request, ledger="test", row=1, entry="c" * 64, time=time, population="")
