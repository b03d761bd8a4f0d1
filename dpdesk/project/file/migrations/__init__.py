"""Changes of the layout of project files, one module each, in their order.

Module ``mNNNN`` turns the layout N into the layout N + 1. A migration knows only the layouts
between which it stands: it uses nothing of the rest of the program that may change later.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from types import MappingProxyType

from dpdesk.project.file.migrations import m0000

Migration = Callable[[sqlite3.Connection], None]

MIGRATIONS: Mapping[int, Migration] = MappingProxyType({0: m0000.migrate})

__all__ = ["MIGRATIONS", "Migration"]
