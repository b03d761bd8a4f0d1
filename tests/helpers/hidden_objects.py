"""Objects that SQLite lets nobody make, written into the layout of a file by hand."""

from __future__ import annotations


def hidden_trigger(table: str, body: str, name: str = "sqlite_stat9") -> str:
    """A script that adds a trigger on inserts under a name that SQLite keeps for its statistics."""
    trigger = f"CREATE TRIGGER {name} AFTER INSERT ON {table} BEGIN {body} END"
    quoted = trigger.replace("'", "''")
    return (
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_master "
        f"VALUES ('trigger', '{name}', '{table}', 0, '{quoted}'); PRAGMA writable_schema = OFF;"
    )
