"""Looking at a server as work for a background thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpdesk.app.databases import OfferedTable, offered_tables
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

    url: str
    password: str = field(repr=False)

    def __call__(self, token: CancelToken, report: Report) -> Offered:
        """Its tables."""
        return Offered(self.url, offered_tables(self.url, self.password, token, report))
