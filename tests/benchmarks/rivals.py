"""Views against other ways to release marginals: ``python -m tests.benchmarks.rivals``.

Normalised L2 error (L2 error over the number of rows) of marginals of k random columns of two
values; each number is a mean over ``SETS`` random sets and ``DRAWS`` draws. First all 32 columns,
where only some ways can be computed at all; then ten of them, for the others. The ways are those
of ``dpdesk compare`` (:mod:`dpdesk.engine.views.rivals`); views cover pairs, with up to eight
columns in a view, and their floor is the same without noise.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.noise.randomness import SystemRandomness
from dpdesk.engine.private.counting import PlacedRows
from dpdesk.engine.private.kinds import Noise
from dpdesk.engine.views.consistency import agreeing, shared_sets
from dpdesk.engine.views.designs import covering_design
from dpdesk.engine.views.marginals import AgreeingViews
from dpdesk.engine.views.rivals import Places, Release, Truth, Unable, Way, measured, rivals_of
from tests.benchmarks.views import Rows, noise, sources, variances

SETS, DRAWS, SIZE, FEW = 40, 3, 8, 10
BUDGETS, SIZES = (Fraction(1, 10), Fraction(1)), (4, 6, 8)

TOKEN = CancelToken()
draw = np.random.default_rng(5)


def true_tables(rows: Rows) -> Truth:
    """The rows, one code for each value; a person has one row."""
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    ones = np.ones(len(counts), np.int64)
    shape = (2,) * rows.shape[1]
    placed = PlacedRows(shape, codes.astype(np.int64), counts.astype(np.int64), ones, {})
    return Truth(placed, Noise.LAPLACE, 1, False, SystemRandomness(), TOKEN)


def views(truth: Truth, epsilon: Fraction | None) -> Way:
    """Marginals from views; without noise where there is no budget."""
    many = len(truth.shape)
    blocks = covering_design(many, SIZE, 2, TOKEN, silent)
    shared = shared_sets(blocks, 100_000)
    assert shared is not None
    known, true = shared, [truth.table(view) for view in blocks]
    budget = None if epsilon is None else float(epsilon)

    def release() -> Release:
        tables = [table + noise(draw, table, len(blocks), budget) for table in true]
        spread = variances(len(blocks), budget)
        found = agreeing(blocks, truth.shape, known, tables, spread, TOKEN, silent)
        agreed = AgreeingViews(truth.shape, dict(zip(blocks, found, strict=True)))
        return lambda places: agreed.marginal(places, TOKEN, entropy=True).values

    return Way("views" if epsilon else "floor", release)


def compare(name: str, rows: Rows) -> None:
    """Print a line for each way and budget."""
    many, truth = rows.shape[1], true_tables(rows)
    sets: dict[int, list[Places]] = {
        k: sorted(
            {tuple(sorted(map(int, draw.choice(many, k, replace=False)))) for _ in range(SETS)}
        )
        for k in SIZES
    }
    print(f"{name}: {len(rows):,} rows, {many} columns")
    floor = views(truth, None)
    print_line("floor", None, [measured(truth, floor, sets[k], 1).normalised for k in SIZES])
    for epsilon in BUDGETS:
        lines: dict[str, list[float]] = {}
        for k in SIZES:
            for way in (views(truth, epsilon), *rivals_of(truth, sets[k], epsilon)):
                if not isinstance(way, Unable):
                    found = measured(truth, way, sets[k], DRAWS).normalised
                    lines.setdefault(way.label, []).append(found)
        for label, each in lines.items():
            print_line(label, epsilon, each)


def print_line(way: str, epsilon: Fraction | None, errors: Sequence[float]) -> None:
    """One way, one budget, by k."""
    shown = "  ".join(f"{each:9.5f}" for each in errors)
    print(f"  {way:30} {f'ε = {float(epsilon)}' if epsilon else '':8} {shown}")
    sys.stdout.flush()


def main() -> int:
    """All data sets, whole and their first columns."""
    for name, rows in sources():
        compare(name, rows)
        compare(f"{name}, the first {FEW}", np.ascontiguousarray(rows[:, :FEW]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
