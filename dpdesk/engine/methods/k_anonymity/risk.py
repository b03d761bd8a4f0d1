"""Re-identification risk of a table on its quasi-identifiers, before and after.

Risk is the prosecutor's: the attacker knows that the person is in the table and knows the
quasi-identifiers, so a row in a class of size s is identified with probability 1/s (course text,
k-anonymity; the measures that sdcMicro and ARX report under the same names).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BASE_EDGES = (1, 2, 3, 5, 10, 20)
VIOLATED = (2, 3, 5)


@dataclass(frozen=True)
class SizeBin:
    """Classes whose size is from ``lowest`` to ``highest`` rows (None: no upper end)."""

    lowest: int
    highest: int | None
    classes: int
    rows: int

    @property
    def label(self) -> str:
        """The sizes in words: ``2``, ``3–4``, ``20+``."""
        if self.highest is None:
            return f"{self.lowest:,}+"
        if self.highest == self.lowest:
            return f"{self.lowest:,}"
        return f"{self.lowest:,}–{self.highest:,}"


@dataclass(frozen=True)
class RiskSummary:
    """Risk figures of one table.

    ``uniques`` are rows that are alone in their class; ``highest`` and ``average`` are prosecutor
    risks from 0 to 1 (largest 1/size; classes/rows, the mean over rows); ``exposed`` are the rows
    whose risk is above 1/k. ``violations`` holds (k, rows in classes smaller than k).
    """

    k: int
    rows: int
    classes: int
    smallest: int
    uniques: int
    highest: float
    average: float
    exposed: int
    violations: tuple[tuple[int, int], ...]
    bins: tuple[SizeBin, ...]

    @property
    def exposed_share(self) -> float:
        """Share of the rows whose risk is above 1/k."""
        return self.exposed / self.rows if self.rows else 0.0

    def as_json(self) -> dict[str, object]:
        """The figures under the names that evidence files use."""
        return {
            "rows": self.rows,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "sample_uniques": self.uniques,
            "highest_risk": self.highest,
            "average_risk": self.average,
            "rows_above_threshold": self.exposed,
            "share_above_threshold": self.exposed_share,
            "threshold": 1 / self.k,
            "violations": {str(k): rows for k, rows in self.violations},
            "class_sizes": [
                {"size": each.label, "classes": each.classes, "rows": each.rows}
                for each in self.bins
            ],
        }


def bin_edges(k: int) -> tuple[int, ...]:
    """Lowest size of each bin: 1, 2, 3–4, 5–9, 10–19, 20+, split at ``k`` so that k begins one."""
    return tuple(sorted({*BASE_EDGES, k}))


def histogram(sizes: NDArray[np.int64], edges: Sequence[int]) -> tuple[SizeBin, ...]:
    """Classes and rows per bin; ``edges`` ascend from 1."""
    place = np.searchsorted(np.asarray(edges, dtype=np.int64), sizes, side="right") - 1
    classes = np.bincount(place, minlength=len(edges))
    rows = np.bincount(place, weights=sizes, minlength=len(edges))
    highest = [*(edge - 1 for edge in edges[1:]), None]
    return tuple(
        SizeBin(lowest, highest[index], int(classes[index]), int(rows[index]))
        for index, lowest in enumerate(edges)
    )


def summarise_risk(sizes: NDArray[np.int64], k: int) -> RiskSummary:
    """Risk figures from the sizes of all classes of a table; no class at all means no risk."""
    rows = int(sizes.sum())
    smallest = int(sizes.min()) if len(sizes) else 0
    return RiskSummary(
        k=k,
        rows=rows,
        classes=len(sizes),
        smallest=smallest,
        uniques=int((sizes == 1).sum()),
        highest=1 / smallest if smallest else 0.0,
        average=len(sizes) / rows if rows else 0.0,
        exposed=rows_below(sizes, k),
        violations=tuple((each, rows_below(sizes, each)) for each in sorted({*VIOLATED, k})),
        bins=histogram(sizes, bin_edges(k)),
    )


def rows_below(sizes: NDArray[np.int64], k: int) -> int:
    """Rows in classes smaller than ``k``: those that violate k-anonymity."""
    return int(sizes[sizes < k].sum())
