"""Looking at a server as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpdesk.app.context import AppContext
from dpdesk.app.databases import OfferedTable, confirm_typed, offered_tables
from dpdesk.core.jobs import CancelToken, Report

LIST = "database.list"


@dataclass(frozen=True)
class Offered:
    """The tables of the database at ``url``."""

    url: str
    tables: tuple[OfferedTable, ...]


@dataclass(frozen=True)
class ListTables:
    """Ask a server for its tables."""

    context: AppContext
    url: str
    password: str = field(repr=False)

    def __call__(self, token: CancelToken, report: Report) -> Offered:
        """Its tables; the address was typed, so its server is confirmed."""
        confirm_typed(self.context, self.url, report)
        return Offered(self.url, offered_tables(self.url, self.password, token, report))
