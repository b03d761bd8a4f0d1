"""What requirements of a sensitive column cost in the search for levels, in ratios to k alone.

Run as ``python -m tests.benchmarks.requirements`` with DPDESK_TEST_DATA naming the real data (the
Adult extract): eight quasi-identifiers, something required of the occupation, k = 5.
"""

from __future__ import annotations

import csv
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.methods.k_anonymity.bounded import bounded_search
from dpdesk.engine.methods.k_anonymity.lattice import LatticeProblem
from dpdesk.engine.methods.k_anonymity.required import RequireParameter, requirements_of
from dpdesk.engine.methods.k_anonymity.requirements import Constraints, SensitiveCounts, Values
from tests.benchmarks.lattice_walk import adult

SENSITIVE = "occupation"
REQUIRED: tuple[dict[str, object], ...] = (
    {"model": "l-diversity", "variant": "distinct", "l": 5},
    {"model": "l-diversity", "variant": "entropy", "l": 5},
    {"model": "l-diversity", "variant": "recursive", "l": 3, "c": 3},
    {"model": "t-closeness", "variant": "equal", "t": 0.2},
    {"model": "t-closeness", "variant": "ordered", "t": 0.15},
    {"model": "t-closeness", "variant": "hierarchical", "t": 0.2},
    {"model": "alpha-k", "alpha": 0.4},
    {"model": "beta-likeness", "variant": "basic", "beta": 2},
)


def table(folder: Path) -> tuple[LatticeProblem, SensitiveCounts]:
    """The other columns, and the rows of each occupation in each of their tuples."""
    whole = adult(folder)
    place = whole.attributes.index(SENSITIVE)
    others = [at for at in range(len(whole.attributes)) if at != place]
    codes, of_tuple = np.unique(whole.codes[:, others], axis=0, return_inverse=True)
    of_tuple = of_tuple.reshape(-1)
    counts = np.bincount(of_tuple, whole.counts).astype(np.int64)
    hierarchies = tuple(whole.hierarchies[at] for at in others)
    names = tuple(whole.attributes[at] for at in others)
    tree = whole.hierarchies[place]
    values = whole.codes[:, place].astype(np.int64)
    held = SensitiveCounts(Values.of(tree.leaves, tree), of_tuple, values, whole.counts)
    return LatticeProblem(names, hierarchies, codes, counts), held


def seconds(problem: LatticeProblem, share: float) -> tuple[float, int]:
    """Processor time of the better of two searches, and the nodes that it counted."""
    best, nodes = float("inf"), 0
    for _ in range(2):
        start = time.process_time()
        allowed = int(share * problem.rows)
        found = bounded_search(
            problem, "loss", 5, allowed, CancelToken(), silent, max_nodes=problem.node_count
        )
        if not found.proven_optimal:
            raise SystemExit("the search ended without a proof")
        best, nodes = min(best, time.process_time() - start), found.nodes_checked
    return best, nodes


def main() -> None:
    """Print one line for each requirement and limit, in processor time."""
    folder = Path(os.environ["DPDESK_TEST_DATA"]) / "arx-adult"
    with (folder / "adult.csv").open(encoding="utf-8", newline="") as file:
        print(f"{sum(1 for _ in csv.reader(file)) - 1:,} rows")
    problem, held = table(folder)
    reader = RequireParameter(key="require", label="", help="")
    for share in (0.0, 0.02, 0.05):
        alone, nodes = seconds(problem, share)
        print(f"{share:.0%} k alone: {1000 * alone:,.0f} ms, {nodes:,} nodes", flush=True)
        for keys in REQUIRED:
            parsed = reader.parse([{"attribute": SENSITIVE, **keys}], "benchmark")
            asked, line = requirements_of(parsed), reader.as_text(parsed)
            constrained = replace(problem, constraints=Constraints(asked, {SENSITIVE: held}))
            took, nodes = seconds(constrained, share)
            print(
                f"{share:.0%} {line}: {1000 * took:,.0f} ms, {nodes:,} nodes, {took / alone:.1f} ×",
                flush=True,
            )


if __name__ == "__main__":
    main()
