"""A plan that is ready: its names found, its keys read, its data open; by what it releases."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpdesk.core.closing import Closing
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.plan import Plan
from dpdesk.engine.method import (
    CellsInput,
    CellsMethod,
    CellsOutcome,
    Method,
    MethodInput,
    Outcome,
    PlanInput,
    RowsMethod,
)
from dpdesk.engine.private.method import Design, PrivateInput, PrivateMethod

if TYPE_CHECKING:
    from dpdesk.io.store import DataStore


@dataclass(frozen=True, kw_only=True)
class Prepared(Closing):
    """A plan whose every name has been found and every key has been read.

    ``plan_name`` is how messages call the plan, ``base`` the folder to which its paths are
    relative, ``home`` the folder with ledgers and with the keys of pseudonyms. ``given`` is what
    the method gets; ``notes`` are sentences on defaults that were taken, and ``recorded_notes``
    those that do not follow from plan, hierarchies and data: on files. ``owns_data`` says whether
    closing the run closes the data store.
    """

    plan: Plan
    plan_name: str
    base: Path
    method: Method
    given: PlanInput
    data: DataStore
    home: Path = field(repr=False)
    notes: tuple[str, ...] = ()
    recorded_notes: tuple[str, ...] = ()
    owns_data: bool = field(default=True, repr=False)

    def close(self) -> None:
        """Close the data store, if it was opened for this run."""
        if self.owns_data:
            self.data.close()

    @abstractmethod
    def decide(self, token: CancelToken, report: Report) -> Outcome | Design:
        """What a release will be like; nothing is drawn, spent or written.

        Raises what the method raises: InputError, RefusedError, Cancelled.
        """


@dataclass(frozen=True, kw_only=True)
class PreparedRows(Prepared):
    """A plan that releases rows."""

    method: RowsMethod
    given: MethodInput

    def decide(self, token: CancelToken, report: Report) -> Outcome:
        """See :meth:`Prepared.decide`."""
        return self.method.decide(self.given, token, report)


@dataclass(frozen=True, kw_only=True)
class PreparedTables(Prepared):
    """A plan that releases tables with noise, with its design; the data have not been looked at."""

    method: PrivateMethod
    given: PrivateInput
    design: Design

    def decide(self, token: CancelToken, report: Report) -> Design:
        """See :meth:`Prepared.decide`."""
        return self.design


@dataclass(frozen=True, kw_only=True)
class PreparedCells(Prepared):
    """A plan that releases protected tables."""

    method: CellsMethod
    given: CellsInput

    def decide(self, token: CancelToken, report: Report) -> CellsOutcome:
        """See :meth:`Prepared.decide`."""
        return self.method.decide(self.given, token, report)
