"""Project files of earlier layouts, written by code of their own: nothing here may be shared with
the program, which knows only how to bring them up to date."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

_LAYOUT_0 = (
    "PRAGMA application_id = 1146111051",
    "PRAGMA user_version = 0",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE parts (hash TEXT PRIMARY KEY, data BLOB NOT NULL)",
    "CREATE TABLE moments (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES moments (id), "
    "label TEXT NOT NULL, merge_key TEXT NOT NULL, state TEXT NOT NULL)",
    "CREATE TABLE candidates (id INTEGER PRIMARY KEY, name TEXT NOT NULL, made TEXT NOT NULL, "
    "content TEXT NOT NULL)",
    "CREATE TABLE sources (id INTEGER PRIMARY KEY, path NOT NULL UNIQUE, sha256 TEXT NOT NULL, "
    "size INTEGER NOT NULL, seen TEXT NOT NULL)",
    "CREATE TABLE releases (id INTEGER PRIMARY KEY, path NOT NULL, "
    "manifest_sha256 TEXT NOT NULL, made TEXT NOT NULL)",
)


def _state(base: Path, title: str, k: int) -> dict[str, object]:
    return {
        "format": 0,
        "source": {
            "path": "people.csv",
            "delimiter": ";",
            "encoding": None,
            "decimal": None,
            "quote": None,
            "header": None,
            "missing": [""],
        },
        "base": str(base),
        "roles": {"age": "quasi-identifier"},
        "hierarchies": {
            "age": {
                "builder": {"kind": "intervals", "options": {"widths": [5, {"$decimal": "2.5"}]}}
            }
        },
        "method": "k-anonymity",
        "parameters": {"k": k},
        "title": title,
        "budget": None,
    }


def write_layout_0(path: Path) -> None:
    """A project of layout 0 in ``path``.

    Three moments, of which the second and the third follow on the first; it stands at the first,
    and redo leads to the third. One candidate, one source, one release.
    """
    base = path.parent
    states = [_state(base, "", 5), _state(base, "one", 5), _state(base, "", 7)]
    shown = {
        "guarantee": {
            "model": "k-anonymity",
            "parameters": {"$dict": {"k": 5}},
            "claim": "Claim.",
            "assumes": [],
            "does_not_cover": [],
        },
        "figures": [],
        "charts": [],
        "result": {"$dict": {"rows_out": 7}},
    }
    meta = {
        "identity": "0123456789abcdef",
        "written_by": "0.0.1",
        "folder": str(base),
        "current": "0",
        "saved": "1",
        "next_candidate": "5",
        "redo": json.dumps({"0": 2}),
    }
    with closing(sqlite3.connect(path)) as connection:
        for statement in _LAYOUT_0:
            connection.execute(statement)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        labels = ("Start", "Title “one”", "k = 7")
        for number, (label, state) in enumerate(zip(labels, states, strict=True)):
            parent = 0 if number else None
            row = (number, parent, label, "title" if number == 1 else "", json.dumps(state))
            connection.execute("INSERT INTO moments VALUES (?, ?, ?, ?, ?)", row)
        content = json.dumps({"format": 0, "work": states[1], "shown": shown})
        made = "2025-05-06T07:08:09+00:00"
        connection.execute("INSERT INTO candidates VALUES (4, 'mild', ?, ?)", (made, content))
        source = str(base / "people.csv")
        connection.execute("INSERT INTO sources VALUES (1, ?, ?, 12, ?)", (source, "a" * 64, made))
        connection.execute(
            "INSERT INTO releases VALUES (1, ?, ?, ?)", (str(base / "out"), "b" * 64, made)
        )
        connection.commit()
