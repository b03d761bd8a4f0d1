"""How long protecting a table takes, and how far the pattern is from the proven bound.

Run from the project's root: ``python -m tests.benchmarks.tables [CASE] [SECONDS]``. Small: 500
cells; medium: 2,100 cells with two hierarchies; large: about 100,000 cells in four dimensions.
Boxes and groups: two hierarchies, fast and by parts; wide: by parts that are large themselves.
Dense: the counts of 300,000 persons, of which most are unsafe. Values are drawn with a fixed seed.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.tables.audit import Problem, audit, targets_of
from dpdesk.engine.tables.model import Bounds, Dimension, System
from dpdesk.engine.tables.rules import Rule, judge
from dpdesk.engine.tables.suppression import How, suppress
from dpdesk.engine.tables.whole import told_as_whole
from tests.helpers.tables import filled


def grouped(name: str, groups: int, each: int) -> Dimension:
    """Values in groups of the same size."""
    rows = [[f"{g}.{i}", f"{g}", "*"] for g in range(groups) for i in range(each)]
    return Dimension.of(name, Hierarchy.from_rows(name, rows))


def flat(*sizes: int) -> list[Dimension]:
    """Dimensions without groups."""
    return [Dimension.flat("abcd"[i], [str(j) for j in range(n)]) for i, n in enumerate(sizes)]


def drawn(dimensions: list[Dimension]) -> System:
    """Skewed amounts, with few contributors in many cells."""
    rng = np.random.default_rng(0)
    shape = [len(d.leaves) for d in dimensions]
    frequency = np.minimum(rng.geometric(0.06, int(np.prod(shape))) - 1, 400)
    size = rng.lognormal(3, 1, frequency.size)
    values = np.where(frequency > 0, np.round(frequency * size).astype(np.int64), 0)
    return System.of([filled(dimensions, values, "t", frequency)])


def persons(shape: Sequence[int]) -> list[np.ndarray]:
    """In which category of each dimension 300,000 persons are, some values being frequent."""
    rng, places = np.random.default_rng(7), []
    for size, steep in zip(shape, (0.8, 1.1, 1.2), strict=False):
        share = rng.permutation(1 / np.arange(1, size + 1) ** steep)
        places.append(rng.choice(size, 300_000, p=share / share.sum()))
    return places


def counted(dimensions: list[Dimension]) -> System:
    """How many of these persons are in each cell."""
    shape = [len(d.leaves) for d in dimensions]
    places = np.ravel_multi_index(persons(shape), shape)
    counts = np.bincount(places, minlength=int(np.prod(shape)))
    return System.of([filled(dimensions, counts, "t", counts)])


CASES: dict[str, tuple[list[Dimension], int, How]] = {
    "small": (flat(24, 19), 3, "optimal"),
    "medium": ([grouped("a", 8, 5), grouped("b", 6, 6)], 3, "optimal"),
    "large": (flat(20, 20, 15, 13), 2, "heuristic"),
    "boxes": ([grouped("a", 19, 10), grouped("b", 19, 10)], 3, "heuristic"),
    "groups": ([grouped("a", 10, 9), grouped("b", 10, 9)], 3, "hitas"),
    "wide": ([grouped("a", 2, 70), grouped("b", 2, 70)], 3, "hitas"),
    "dense": ([grouped("a", 4, 5), *flat(1, 15, 12)[1:]], 200, "optimal"),
    "denser": ([grouped("a", 5, 6), *flat(1, 20, 10)[1:]], 200, "optimal"),
}


def main(name: str, seconds: float) -> None:
    dimensions, least, how = CASES[name]
    system = counted(dimensions) if name.startswith("dense") else drawn(dimensions)
    judged = judge(system, [Rule("threshold", least, range=Fraction(1, 10))])
    bounds, stop = Bounds.of(system.cells.values), CancelToken()
    timer = threading.Timer(seconds, stop.cancel)
    timer.start()
    start, work = time.perf_counter(), time.process_time()
    counts = np.ones(len(system)) if name.startswith("dense") else None
    found = suppress(
        *(system, judged, bounds, system.cells.values, CancelToken(), how), stop=stop, steps=counts
    )
    timer.cancel()
    extra = found.suppressed & ~judged.required.unsafe
    cost = sum(system.cells.values[extra].tolist())
    print(f"{name}: {len(system)} cells, {int(judged.required.unsafe.sum())} unsafe, {how}")
    print(f"  {time.perf_counter() - start:.1f} s, {time.process_time() - work:.1f} s of work")
    gap = 100 * (1 - float(found.bound) / cost) if cost else 0.0
    print(f"  {int(extra.sum())} further cells, cost {cost}, bound {float(found.bound):.0f}")
    print(f"  gap {gap:.2f} %, proven: {found.proven}", flush=True)
    start = time.perf_counter()
    problem, reach = Problem.of(system, bounds), None
    if counts is not None:
        targets = targets_of(judged.required)
        told = told_as_whole(
            *(problem, found.suppressed, targets, counts, CancelToken(), found.witnesses)
        )
        print(f"  whole numbers: {time.perf_counter() - start:.1f} s, {told}")
        start = time.perf_counter()
    if found.witnesses is not None and not found.proven:
        reach = found.witnesses.reach(problem.low, problem.high)
    audit(system, found.suppressed, bounds, CancelToken(), reach=reach)
    print(f"  audit of {int(found.suppressed.sum())} cells: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(given[0] if given else "small", float(given[1]) if len(given) > 1 else 120.0)
