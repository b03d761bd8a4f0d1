"""What a method offers so that releases it made can be asked questions, from their files alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dpdesk.core.charts import Chart
from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.messages import msg
from dpdesk.core.query import Answer, Askable, Query
from dpdesk.core.release import Manifest, ReleasedContent

if TYPE_CHECKING:
    from dpdesk.core.frequency import RowSource
    from dpdesk.engine.method import CellsInput, MethodInput, PlanInput
    from dpdesk.engine.noise.randomness import RandomSource


BADGE = "internal: uses the truth"
_SCOPES = {
    "l": "{queries:,} queries on {rows:,} rows, ℓ′ = {size:,}.",
    "cells": "{size:,} cells from {rows:,} rows.",
    "categories": "{size:,} categories, {rows:,} rows.",
    "sets": "{size:,} most frequent sets in {rows:,} rows.",
    "marginals": "{size:,} marginals from {rows:,} rows.",
}


@dataclass(frozen=True)
class Comparison:
    """What was measured, or follows from the truth, for one column.

    ``size`` is ℓ′, or what ``measure`` names. ``rows`` are those that were used (a part of very
    large data), ``queries`` the queries with at least one row; 0 where cells were compared.
    The charts compare with true counts: they never leave the agency.
    """

    column: str
    size: int
    rows: int
    queries: int
    sentence: str
    charts: tuple[Chart, ...]
    badge: str = BADGE
    measure: str = "l"

    @property
    def scope(self) -> str:
        """How much was compared: the queries and rows, or what ``measure`` names."""
        numbers = {"size": self.size, "rows": self.rows, "queries": self.queries}
        return msg(_SCOPES[self.measure], **numbers)

    def as_json(self) -> dict[str, object]:
        """Plain values; the numbers of the charts as their tables."""
        return {
            "column": self.column,
            self.measure: self.size,
            "rows": self.rows,
            "queries": self.queries,
            "sentence": self.sentence,
            "badge": self.badge,
            "charts": [
                {
                    "question": chart.question,
                    "columns": list(chart.table.columns),
                    "rows": [list(row) for row in chart.table.rows],
                }
                for chart in self.charts
            ],
        }


@dataclass(frozen=True)
class Proposal:
    """Another design of a table: what it does, and what it changes in ``[protection]`` (None: a key
    that is taken out).
    """

    words: str
    changes: Mapping[str, object]


@dataclass(frozen=True)
class Redesign:
    """Proposals, the best first, and what each would save and lose; internal."""

    comparison: Comparison
    proposals: tuple[Proposal, ...]

    def as_json(self) -> dict[str, object]:
        """Plain values."""
        lines = [{"words": one.words, "changes": dict(one.changes)} for one in self.proposals]
        return {**self.comparison.as_json(), "proposals": lines}


@dataclass(frozen=True)
class Questions:
    """What can be asked of a release, and the answer to a query, with its error.

    Both raise what a malformed manifest raises (ValueError, TypeError, KeyError and such), which
    the caller tells as ``release.unreadable``, and Cancelled. An answer raises InputError
    ``query.*`` for what the release does not know, RefusedError ``query.refused`` when the release
    cannot answer.
    """

    askable: Callable[[ReleasedContent, CancelToken], Askable]
    answer: Callable[[Query, ReleasedContent, CancelToken], Answer]


@runtime_checkable
class QueryableMethod(Protocol):
    """A :class:`~dpdesk.engine.method.Method` whose releases answer queries."""

    def questions(self) -> Questions:
        """How queries are answered; what that needs is imported here."""
        ...


@runtime_checkable
class ComparedMethod(Protocol):
    """A :class:`~dpdesk.engine.method.Method` whose releases can be compared with the truth: inside
    the agency, by those who have the source.
    """

    def compare(
        self,
        given: PlanInput,
        rows: RowSource,
        randomness: RandomSource,
        token: CancelToken,
        report: Report,
    ) -> tuple[Comparison, ...]:
        """Ways to release the same: sensitive columns on random queries, tables cell by cell.

        ``given`` is the input that the method takes.

        Raises RefusedError when the data cannot be released or compared so, Cancelled.
        """
        ...


@runtime_checkable
class RedesignedMethod(ComparedMethod, Protocol):
    """A compared method that can say which other design of what it releases would lose less."""

    def redesign(self, given: CellsInput, token: CancelToken, report: Report) -> Redesign:
        """Proposals for the plan. Raises RefusedError where none can be made, Cancelled."""
        ...


@runtime_checkable
class TrueMethod(ComparedMethod, Protocol):
    """A compared method that answers queries, and knows the true answers too."""

    def true_answer(
        self,
        query: Query,
        given: MethodInput,
        token: CancelToken,
        manifest: Manifest | None,
    ) -> Answer:
        """The exact answer in the source, for the values as a release (by its manifest) has them.

        Raises InputError ``query.*``, Cancelled.
        """
        ...
