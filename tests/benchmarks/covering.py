"""How many blocks covering designs need, next to Schönheim's bound, and how long they take.

Run as ``python -m tests.benchmarks.covering [STRENGTH]``. No design has fewer blocks than the
bound; the best that are known have more for most numbers.
"""

from __future__ import annotations

import argparse
import time

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.views.designs import covering_design, least_blocks

POINTS = {
    2: (10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 45, 50, 56, 64, 80, 100),
    3: (8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 45, 50),
}
SIZES = {2: (4, 5, 6, 7, 8, 10, 12), 3: (4, 5, 6, 8, 10, 12)}
"""By strength."""


def main() -> None:
    """Measure and print by points: the blocks of each size, and how much over the bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strength", type=int, nargs="?", choices=(2, 3), default=2)
    strength = parser.parse_args().strength
    over, slowest = [], 0.0
    for points in POINTS[strength]:
        row = []
        for size in (size for size in SIZES[strength] if size < points):
            start = time.process_time()
            blocks = len(covering_design(points, size, strength, CancelToken(), silent))
            slowest = max(slowest, time.process_time() - start)
            least = least_blocks(points, size, strength)
            over.append(blocks / least - 1)
            row.append(f"{size}: {blocks} (+{over[-1]:.0%})")
        print(f"{points:4}  " + "  ".join(row), flush=True)
    over.sort()
    print(
        f"{len(over)} designs; over the bound: half of them at most {over[len(over) // 2]:.0%}, "
        f"nine tenths {over[len(over) * 9 // 10]:.0%}, all {over[-1]:.0%}; the slowest "
        f"{slowest:.1f} s"
    )


if __name__ == "__main__":
    main()
