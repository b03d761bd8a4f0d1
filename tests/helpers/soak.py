"""What the long tests share: their size, and the dated table that they leave in the documents."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

TABLE = "DPDESK_SOAK_TABLE"
SCALE = "DPDESK_SOAK_SCALE"


def scaled(full: int) -> int:
    """``full``, or the share of it that DPDESK_SOAK_SCALE asks for, at least 1."""
    return max(1, round(full * float(os.environ.get(SCALE, "1"))))


class SoakBook:
    """Rows of the table; :meth:`write` appends them to the file that DPDESK_SOAK_TABLE names."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, str]] = []

    def note(self, what: str, size: str, found: str) -> None:
        """What was done, how often or on how much, and what was found."""
        self._rows.append((what, size, found))

    def seconds(self, what: str, times: Sequence[float]) -> None:
        """A row for repeated times: median, 95th percentile and longest."""
        ordered = sorted(times)
        high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        text = (
            f"median {statistics.median(ordered):.2f} s, 95 % below {high:.2f} s, "
            f"longest {ordered[-1]:.2f} s"
        )
        self.note(what, f"{len(ordered):,} times", text)

    def write(self) -> None:
        """Append the rows under today's date; nothing without rows or without a file."""
        target = os.environ.get(TABLE)
        if not self._rows or not target:
            return
        day = datetime.now(UTC).date().isoformat()
        load = os.getloadavg()[0]
        lines = [
            f"\n## {day}, {os.cpu_count()} cores, load {load:.1f} at the end\n",
            "| what | size | found |",
            "| --- | --- | --- |",
            *(f"| {what} | {size} | {found} |" for what, size, found in self._rows),
        ]
        with Path(target).open("a", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
