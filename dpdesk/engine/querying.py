"""What a method offers so that releases it made can be asked questions, from their files alone."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from dpdesk.core.jobs import CancelToken, Report
from dpdesk.core.query import Answer, Askable, Query
from dpdesk.core.released import ReleasedContent


@runtime_checkable
class QueryableMethod(Protocol):
    """A :class:`~dpdesk.engine.method.Method` whose releases answer queries."""

    def askable(self, content: ReleasedContent, token: CancelToken) -> Askable:
        """What can be asked of this release. Raises what a malformed manifest raises, Cancelled."""
        ...

    def answer(
        self, query: Query, content: ReleasedContent, token: CancelToken, report: Report
    ) -> Answer:
        """The answer, with its error. InputError ``query.*`` for what the release does not know.

        What a malformed manifest raises (ValueError, TypeError, KeyError and such) is told by the
        caller as ``release.unreadable``. RefusedError ``query.refused`` when the release cannot
        answer. Cancelled.
        """
        ...
