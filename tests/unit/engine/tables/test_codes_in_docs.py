"""Every error and note of protected tables stands in their documentation."""

from __future__ import annotations

import re
from pathlib import Path

import dpdesk

PROGRAM = Path(dpdesk.__file__).parent
PLACES = ("engine/methods/table", "engine/tables", "app/past_tables.py", "app/past_words.py")
PAGE = PROGRAM.parent / "resources/docs/protected-tables.md"
FILE = "table.csv"


def test_each_code_is_explained_once() -> None:
    found: set[str] = set()
    for place in PLACES:
        path = PROGRAM / place
        for file in path.rglob("*.py") if path.is_dir() else [path]:
            found |= set(re.findall(r'"(table\.[a-z-]+)"', file.read_text("utf-8")))
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `table.")]
    explained = re.findall(r"`(table\.[a-z-]+)`", "".join(line.split("|")[1] for line in lines))
    assert len(set(explained)) == len(explained)
    assert set(explained) == found - {FILE}
