"""What is done with a ledger, as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from dpdesk.app import budgets, witnessing
from dpdesk.app.budgets import AccountPicture, LedgerPicture
from dpdesk.app.ledger_charts import account_curves
from dpdesk.app.types import AppContext
from dpdesk.app.witnessing import RestoredLedger
from dpdesk.core.budget import Budget
from dpdesk.core.charts import ScatterChart
from dpdesk.core.jobs import CancelToken, Report

DELTA = Fraction(1, 1_000_000)


@dataclass(frozen=True)
class LookAtLedger:
    """Read a ledger and compare it with what is known of it."""

    context: AppContext
    path: Path

    def __call__(self, token: CancelToken, report: Report) -> LedgerPicture:
        """What it says."""
        return budgets.look_at_ledger(self.context, self.path, DELTA, token, report)


@dataclass(frozen=True)
class DrawCurves:
    """Compose the debits of an account one after the other."""

    account: AccountPicture = field(repr=False)

    def __call__(self, token: CancelToken, report: Report) -> ScatterChart:
        """The picture."""
        return account_curves(self.account, DELTA, token)


@dataclass(frozen=True)
class SetLimit:
    """Set the limit of a population, or of a file without one."""

    context: AppContext
    path: Path
    population: str
    source: str
    limit: Budget
    reason: str

    def __call__(self, token: CancelToken, report: Report) -> LedgerPicture:
        """The account afterwards."""
        return budgets.set_limit(
            self.context,
            self.path,
            self.limit,
            self.reason,
            population=self.population,
            source=self.source,
            token=token,
        )


@dataclass(frozen=True)
class AcceptWitness:
    """Go on although the witness cannot say that nothing is missing."""

    context: AppContext
    path: Path
    reason: str

    def __call__(self, token: CancelToken, report: Report) -> str:
        """The id of the ledger."""
        return witnessing.accept_witness(self.context, self.path, self.reason, token)


@dataclass(frozen=True)
class DeclarePeople:
    """Declare whether two names mean the same people."""

    context: AppContext
    path: Path
    one: str
    other: str
    same: bool
    reason: str

    def __call__(self, token: CancelToken, report: Report) -> bool:
        """What was declared."""
        budgets.declare_people(
            self.context, self.path, self.one, self.other, self.same, self.reason, token
        )
        return self.same


@dataclass(frozen=True)
class RestoreLedger:
    """Enter again what an old copy has lost."""

    context: AppContext
    path: Path
    reason: str

    def __call__(self, token: CancelToken, report: Report) -> RestoredLedger:
        """What was missing."""
        return witnessing.restore_ledger(self.context, self.path, self.reason, (), token)
