"""Mondrian on random, mostly distinct tuples: ``python -m tests.benchmarks.mondrian [ROWS]``.

Ten million rows of nine attributes with 100 values each are the usual case; prints seconds, classes
and the most memory that the process had. Then what requirements of a column of 14 values cost on a
tenth of the rows.
"""

from __future__ import annotations

import resource
import sys
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.mondrian import mondrian
from dpdesk.engine.methods.k_anonymity.required import RequireParameter, requirements_of
from dpdesk.engine.methods.k_anonymity.required_cuts import required_mondrian
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, SensitiveCounts, Values
from dpdesk.engine.methods.k_anonymity.scales import Scale, scale_of

ATTRIBUTES, VALUES, K = 9, 100, 5
REQUIRED: tuple[dict[str, object], ...] = (
    {"model": "l-diversity", "variant": "distinct", "l": 3},
    {"model": "l-diversity", "variant": "entropy", "l": 3},
    {"model": "l-diversity", "variant": "recursive", "l": 3, "c": 2},
    {"model": "t-closeness", "variant": "equal", "t": 0.3},
    {"model": "t-closeness", "variant": "ordered", "t": 0.15},
    {"model": "alpha-k", "alpha": 0.4},
    {"model": "beta-likeness", "variant": "basic", "beta": 1.5},
)


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
    with_requirements(scales, codes[: rows // 10])
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def with_requirements(scales: list[Scale], codes: NDArray[np.int32]) -> None:
    """Processor time of strict Mondrian with each requirement, in ratios to k alone."""
    counts, size = np.ones(len(codes), np.int64), len(codes)
    drawn = np.random.default_rng(2).geometric(0.25, size) - 1
    values = Values.of([f"v{n:02}" for n in range(14)], None)
    held = SensitiveCounts(values, np.arange(size), np.minimum(drawn, 13), counts)
    reader = RequireParameter(key="require", label="", help="")
    alone = 0.0
    for keys in (None, *REQUIRED):
        best = float("inf")
        for _ in range(2):
            started = process_time()
            if keys is None:
                mondrian(scales, codes, counts, K, CancelToken())
            else:
                parsed = reader.parse([{"attribute": "s", **keys}], "benchmark")
                asked = Constraints(requirements_of(parsed), {"s": held})
                required_mondrian(scales, codes, counts, K, asked, CancelToken())
            best = min(best, process_time() - started)
        alone = alone or best
        print(f"{size:,} rows, {keys or 'k alone'}: {best:.2f} s, {best / alone:.1f} times")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
