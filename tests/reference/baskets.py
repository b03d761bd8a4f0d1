"""Lines that list items, read the slow and obvious way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from tests.reference.private_lines import UNREADABLE


def rows_of(data: bytes, items: Sequence[str], delimiter: str) -> list[tuple[str, ...]]:
    """For each line that is not blank, which items it lists."""
    rows = []
    for line in re.split(b"[\r\n]", data):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            rows.append((UNREADABLE,) * len(items))
            continue
        there = {unicodedata.normalize("NFC", part.strip(" \t")) for part in text.split(delimiter)}
        if text.strip(" \t"):
            named = (unicodedata.normalize("NFC", item) for item in items)
            rows.append(tuple("1" if item in there else "0" for item in named))
    return rows
