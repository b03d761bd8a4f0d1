"""Errors of marginals made from views, on real and generated data.

``python -m tests.benchmarks.views``: normalised L2 error (L2 error over the number of rows) of
marginals of k random dimensions; each number is a mean over ``SETS`` random sets and ``DRAWS``
draws of noise, with t = 2 and l = 8. The floor is the same without noise. Real data are found
through DPDESK_TEST_DATA.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.views.consistency import agreeing, shared_sets
from dpdesk.engine.views.designs import covering_design
from dpdesk.engine.views.marginals import AgreeingViews

SETS, DRAWS, SIZE = 100, 3, 8
Rows = NDArray[np.uint8]


def transactions(path: Path, items: int) -> Rows:
    """The most frequent items of a file with a line for each basket."""
    baskets = [line.split() for line in path.read_text("ascii").splitlines()]
    counts = Counter(item for basket in baskets for item in set(basket))
    place = {item: i for i, (item, _) in enumerate(counts.most_common(items))}
    rows = np.zeros((len(baskets), items), np.uint8)
    for number, basket in enumerate(baskets):
        rows[number, [place[item] for item in basket if item in place]] = 1
    return rows


def chain(dimensions: int, rows: int, order: int = 3, seed: int = 7) -> Rows:
    """A Markov chain: each value depends on the ``order`` before it, alike everywhere."""
    draw = np.random.default_rng(seed)
    odds = draw.random(1 << order)
    found = np.empty((rows, dimensions), np.uint8)
    found[:, :order] = draw.integers(0, 2, (rows, order))
    for column in range(order, dimensions):
        state = np.zeros(rows, np.int64)
        for step in range(order):
            state = state * 2 + found[:, column - 1 - step]
        found[:, column] = draw.random(rows) < odds[state]
    return found


def counted(rows: Rows, places: tuple[int, ...]) -> NDArray[np.float64]:
    """The true table of some columns of two values."""
    index = np.zeros(len(rows), np.int64)
    for place in places:
        index = index * 2 + rows[:, place]
    cells = np.bincount(index, minlength=1 << len(places)).astype(np.float64)
    return cells.reshape((2,) * len(places))


def sources() -> Iterator[tuple[str, Rows]]:
    """The data sets that are at hand."""
    folder = Path(os.environ.get("DPDESK_TEST_DATA", "")) / "binary"
    if folder.is_dir():
        import pyarrow.parquet as pq

        yield "Kosarak head, 32 items", transactions(folder / "kosarak_head.dat", 32)
        table = pq.read_table(folder / "msnbc_binary17.parquet")
        columns = [table.column(i).to_numpy() for i in range(table.num_columns)]
        yield "MSNBC, 17 pages", np.column_stack(columns).astype(np.uint8)
    yield "Markov chain of order 3, 32", chain(32, 1_000_000)


def noise(
    draw: np.random.Generator, table: NDArray[np.float64], views: int, epsilon: float | None
) -> NDArray[np.float64]:
    """Noise of one view, whose share is that of all; none without a budget."""
    if epsilon is None:
        return np.zeros(table.shape)
    return draw.laplace(0, views / epsilon, table.shape).round()


def variances(views: int, epsilon: float | None) -> list[float]:
    """Of the noise of a cell of each view."""
    return [2 * (views / epsilon) ** 2 if epsilon else 1.0] * views


def measured(name: str, rows: Rows) -> None:
    """Print a line for each budget."""
    many = rows.shape[1]
    views = covering_design(many, SIZE, 2, CancelToken(), silent)
    shape, true = (2,) * many, {view: counted(rows, view) for view in views}
    shared = shared_sets(views, 100_000)
    assert shared is not None
    draw = np.random.default_rng(11)
    asked = {
        k: [tuple(sorted(map(int, draw.choice(many, k, replace=False)))) for _ in range(SETS)]
        for k in (4, 6, 8)
    }
    expected = {places: counted(rows, places) for each in asked.values() for places in each}
    print(f"{name}: {len(rows):,} rows, {len(views)} views")
    for epsilon in (0.1, 1.0, None):
        errors: dict[int, list[float]] = {k: [] for k in asked}
        agreed_in = made_in = 0.0
        for _ in range(DRAWS if epsilon else 1):
            tables = [table + noise(draw, table, len(views), epsilon) for table in true.values()]
            start = time.perf_counter()
            spread = variances(len(views), epsilon)
            found = agreeing(views, shape, shared, tables, spread, CancelToken(), silent)
            agreed_in += time.perf_counter() - start
            known = AgreeingViews(shape, dict(zip(views, found, strict=True)))
            for k, each in asked.items():
                start = time.perf_counter()
                made = [known.marginal(places, CancelToken(), entropy=True) for places in each]
                made_in += time.perf_counter() - start if k == 8 else 0
                errors[k] += [
                    float(np.linalg.norm(one.values - expected[one.places])) / len(rows)
                    for one in made
                ]
        draws = DRAWS if epsilon else 1
        shown = "  ".join(f"k={k} {np.mean(each):.5f}" for k, each in errors.items())
        speed = SETS * draws / made_in
        what = f"ε = {epsilon}" if epsilon else "floor"
        print(f"  {what:8} {shown}   agreed in {agreed_in / draws:.3f} s, {speed:,.0f} of 8/s")


def main() -> int:
    """All data sets."""
    for name, rows in sources():
        measured(name, rows)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
