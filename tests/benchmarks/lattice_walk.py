"""What the walk over a whole lattice costs, in ratios of one run.

Run as ``python tests/benchmarks/lattice_walk.py`` with DPDESK_TEST_DATA naming the real data (the
Adult extract), or without it on a synthetic table. Beside the walk it measures the estimate that
decides whether to walk, and branch and bound. ``--tuples N`` adds a table of N distinct tuples,
with how soon a cancel ends each search.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dpdesk.core.errors import Cancelled
from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.hierarchies.preview import AlignedTable
from dpdesk.engine.methods.k_anonymity.anytime import anytime_search
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.metrics import OBJECTIVES, evaluate_node
from dpdesk.engine.methods.k_anonymity.samarati import PREFERENCES, samarati
from dpdesk.engine.methods.k_anonymity.search import (
    MAX_WALK_WORK,
    walk_lattice,
    walk_work,
    worth_walking,
)


def adult(folder: Path) -> LatticeProblem:
    """The Adult extract with nine quasi-identifiers."""
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file, delimiter=";")
    hierarchies = []
    for name in names:
        path = folder / f"adult_hierarchy_{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            hierarchies.append(Hierarchy.from_rows(name, list(csv.reader(file, delimiter=";"))))
    counted = Counter(tuple(row) for row in rows)
    codes = [[h.leaf_codes[v] for h, v in zip(hierarchies, row, strict=True)] for row in counted]
    return LatticeProblem.from_aligned(
        AlignedTable(
            tuple(names),
            tuple(hierarchies),
            np.array(codes, np.int32),
            np.array(list(counted.values()), np.int64),
        )
    )


def synthetic(tuples: int) -> LatticeProblem:
    """Uniform tuples over eight attributes, 15,552 nodes: nearly all distinct, the worst case."""
    rng = np.random.default_rng(1)
    sizes = (100, 1000, 16, 8, 50, 9, 2, 5)
    hierarchies = tuple(
        Hierarchy.from_rows(
            f"q{j}",
            [
                [str(v), *(f"{w}:{v // w}" for w in ((5, 25) if size > 20 else (3,))), "*"]
                for v in range(size)
            ],
        )
        for j, size in enumerate(sizes)
    )
    keys = np.unique(rng.integers(0, int(np.prod(sizes)), tuples))
    codes = np.stack(np.unravel_index(rng.permutation(keys), sizes), axis=1).astype(np.int32)
    names = tuple(hierarchy.attribute for hierarchy in hierarchies)
    return LatticeProblem.from_aligned(
        AlignedTable(names, hierarchies, codes, np.ones(len(codes), np.int64))
    )


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The shortest of some runs."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def compare(problem: LatticeProblem) -> None:
    """Print a table of the whole lattice against single nodes, threads and numbers of k."""
    token = CancelToken()

    def walk(ks: list[int], threads: int) -> float:
        return seconds(lambda: walk_lattice(problem, ks, token, silent, threads=threads))

    start = time.perf_counter()
    walk_lattice(problem, [5], token, silent)
    print(f"first walk, with compiling or loading kernels: {time.perf_counter() - start:.2f} s")
    whole = walk([5], 2)
    nodes = range(0, problem.node_count, max(1, problem.node_count // 200))
    single = seconds(lambda: [evaluate_node(problem, problem.levels(n), 5) for n in nodes], 1)
    rows = [
        ("whole lattice, k = 5, 2 threads", whole),
        ("whole lattice, k = 5, 1 thread", walk([5], 1)),
        ("whole lattice, 4 k, 2 threads", walk([2, 5, 10, 20], 2)),
        ("whole lattice, 99 k, 2 threads", walk(list(range(2, 101)), 2)),
        ("every node from the raw table (extrapolated)", single / len(nodes) * problem.node_count),
        (
            "Samarati, k = 5, 2 % suppressed",
            seconds(
                lambda: samarati(problem, 5, problem.rows // 50, PREFERENCES[0], token, silent), 1
            ),
        ),
        (
            "anytime, loss, 1,000 nodes",
            seconds(
                lambda: anytime_search(
                    problem, "loss", 5, problem.rows // 50, token, silent, 1_000
                ),
                1,
            ),
        ),
    ]
    print(f"{problem.node_count:,} nodes, {len(problem.counts):,} tuples, {problem.rows:,} rows")
    print(f"{'':46}{'seconds':>10}{'ratio':>8}")
    for label, took in rows:
        print(f"{label:46}{took:10.2f}{took / whole:8.1f}")


def effort(problem: LatticeProblem) -> None:
    """Print what the estimate of a walk's work says, and what a unit costs where it is walked."""
    start = time.perf_counter()
    work = walk_work(problem)
    print(f"\nwork {work:.2e} of {MAX_WALK_WORK:.0e} (in {time.perf_counter() - start:.4f} s)")
    if worth_walking(problem):
        start = time.process_time()
        walk_lattice(problem, [5], CancelToken(), silent)
        took = time.process_time() - start
        print(f"  walked in {took:.1f} s of processor time, {1e9 * took / work:.1f} ns a unit")


def bounded(problem: LatticeProblem, objectives: tuple[str, ...]) -> None:
    """Print how many nodes branch and bound counts for a proven optimum, and its time."""
    print(f"\nbranch and bound, {problem.node_count:,} nodes, {len(problem.counts):,} tuples, 2 %")
    start = time.process_time()
    walk_lattice(problem, [5], CancelToken(), silent)
    walk = time.process_time() - start
    print(f"  beside a walk in the same run: processor {walk:.2f} s")
    for objective in objectives:
        elapsed, processor = float("inf"), float("inf")
        for _ in range(5):
            begun, used = time.perf_counter(), time.process_time()
            limit = problem.rows // 50
            found = bounded_search(problem, objective, 5, limit, CancelToken(), silent)
            elapsed = min(elapsed, time.perf_counter() - begun)
            processor = min(processor, time.process_time() - used)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"  {objective:20}{found.nodes_checked:8,} counted, "
            f"{'proven' if found.proven_optimal else 'not proven'}, "
            f"{elapsed:.3f} s, processor {processor:.3f} s, peak memory {peak:,.0f} MB"
        )


def cancel(problem: LatticeProblem) -> None:
    """Print how long searches go on after a cancel, and the memory they took."""
    for name, search in (
        ("walk", lambda token: walk_lattice(problem, [5], token, silent)),
        ("branch and bound", lambda token: bounded_search(problem, "loss", 5, 0, token, silent)),
    ):
        _cancel(problem, name, search)


def _cancel(problem: LatticeProblem, name: str, search: Callable[[CancelToken], object]) -> None:
    print(f"\ncancel a {name}, {len(problem.counts):,} tuples, {problem.node_count:,} nodes")
    for delay in (0.2, 1.0, 3.0, 10.0, 20.0):
        token = CancelToken()
        asked: list[float] = []

        def ask(token: CancelToken = token, asked: list[float] = asked) -> None:
            asked.append(time.perf_counter())
            token.cancel()

        timer = threading.Timer(delay, ask)
        timer.start()
        try:
            search(token)
            print("  done before the cancel")
        except Cancelled:
            late = time.perf_counter() - asked[0]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"  after {delay:4.1f} s: ended {late:.2f} s later, peak memory {peak:,.0f} MB")
        timer.cancel()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuples", type=int, default=0, help="also measure so many tuples")
    options = parser.parse_args()
    folder = os.environ.get("DPDESK_TEST_DATA")
    usual = adult(Path(folder) / "arx-adult") if folder else synthetic(20_000)
    compare(usual)
    effort(usual)
    bounded(usual, OBJECTIVES)
    if options.tuples:
        large = synthetic(options.tuples)
        cancel(large)
        effort(large)
        bounded(large, ("loss",))


if __name__ == "__main__":
    main()
