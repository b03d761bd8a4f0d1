"""Mondrian on random, mostly distinct tuples: ``python -m tests.benchmarks.mondrian [ROWS]``.

Ten million rows of nine attributes with 100 values each are the usual case; prints seconds, classes
and the most memory that the process had.
"""

from __future__ import annotations

import resource
import sys
from time import perf_counter

import numpy as np

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.mondrian import mondrian
from dpdesk.engine.methods.k_anonymity.scales import scale_of

ATTRIBUTES, VALUES, K = 9, 100, 5


def main(rows: int) -> None:
    """Compile on a small table, then measure strict and relaxed."""
    paths = [(str(n), f"{n // 5 * 5}+", f"{n // 20 * 20}+", "*") for n in range(VALUES)]
    scale = scale_of(Hierarchy.from_rows("a", paths), frozenset(), by_size=False)
    scales = [scale] * ATTRIBUTES
    generator = np.random.default_rng(1)
    for size in (1_000, rows):
        codes = generator.integers(0, VALUES, (size, ATTRIBUTES)).astype(np.int32)
        counts = np.ones(size, np.int64)
        for strict in (True, False):
            started = perf_counter()
            parts = mondrian(scales, codes, counts, K, CancelToken(), strict=strict)
            seconds, classes = perf_counter() - started, len(parts.starts) - 1
            kind = "strict" if strict else "relaxed"
            print(f"{kind}: {size:,} rows, {classes:,} classes, {seconds:.1f} s")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
