"""Databases in memory that are emptied and serve again, instead of one made anew for each store.

Making one costs 15 ms of a processor, a fifth of opening a small file, and thousands are opened. As
in the program, each has its own settings and knows nothing of what was in it before: what cannot be
emptied, or has other settings than when it was made, is closed and not used again.
"""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict, deque
from typing import Any

import duckdb

_MOST_IDLE = 4
_LEFT = """
SELECT 'VIEW', view_name FROM duckdb_views() WHERE NOT internal
UNION ALL SELECT 'TABLE', table_name FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT 'TYPE', type_name FROM duckdb_types() WHERE NOT internal
"""
_SETTINGS = """
SELECT name, value FROM duckdb_settings()
WHERE name NOT IN ('temp_directory', 'TimeZone', 'Calendar') ORDER BY name
"""
"""All but those that every user of a database sets first."""
_Key = tuple[tuple[str, object], ...]


class KeptDatabases:
    """Takes the place of ``duckdb.connect`` until it is closed."""

    def __init__(self) -> None:
        self._make, self._closed = duckdb.connect, False
        self._lock = threading.Lock()
        self._idle: dict[_Key, deque[Any]] = defaultdict(deque)
        self._settings: dict[_Key, object] = {}

    def connect(
        self, database: str = ":memory:", read_only: bool = False, config: Any = None
    ) -> Any:
        """A connection to an empty database with these settings; files are opened as always."""
        if database != ":memory:" or read_only or self._closed:
            return self._make(database, read_only=read_only, config=config or {})
        given = dict(config or {})
        spill = given.pop("temp_directory", None)
        key = (("spills", spill is not None), *sorted(given.items()))
        kept = self._emptied(key, spill)
        if kept is None:
            kept = self._make(":memory:", config=config or {})
            self._settings.setdefault(key, kept.execute(_SETTINGS).fetchall())
        used = kept.cursor()
        weakref.finalize(used, self._idle[key].append, kept).atexit = False
        return used

    def _emptied(self, key: _Key, spill: object) -> Any:
        """One that is idle, as if it were new; None where there is none."""
        idle = self._idle[key]
        with self._lock:
            found = [idle.pop() for _ in range(len(idle))]
        for kept in found[_MOST_IDLE:]:
            kept.close()
        for number, kept in enumerate(found[:_MOST_IDLE]):
            if self._empty(kept, key, spill):
                idle.extend(found[number + 1 : _MOST_IDLE])
                return kept
            kept.close()
        return None

    def _empty(self, kept: Any, key: _Key, spill: object) -> bool:
        """Leave nothing in it; whether it is as it was when it was made."""
        try:
            for kind, name in kept.execute(_LEFT).fetchall():
                quoted = '"' + name.replace('"', '""') + '"'
                kept.execute(f"DROP {kind} {quoted} CASCADE")
            if spill is not None:
                kept.execute("SET temp_directory = ?", [spill])
            return bool(kept.execute(_SETTINGS).fetchall() == self._settings[key])
        except duckdb.Error:
            return False

    def close(self) -> None:
        """Close all that are idle; what is asked for afterwards is made as always."""
        self._closed = True
        for idle in self._idle.values():
            while idle:
                idle.pop().close()
