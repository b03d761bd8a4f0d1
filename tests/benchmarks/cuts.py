"""How long k-Optimize takes to prove its cuts on the Adult extract, and how far it gets in a limit.

Run as ``python -m tests.benchmarks.cuts`` with DPDESK_TEST_DATA naming the real data. Each k is
given ``--seconds`` of processor time; then the search is asked to end, as a user does.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

from dpdesk.core.jobs import CancelToken, Event
from dpdesk.engine.methods.k_anonymity.globally import KOptimize
from dpdesk.engine.methods.k_anonymity.scales import scale_of
from tests.benchmarks.lattice_walk import adult


def main() -> None:
    """Print a line for each k."""
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=180)
    options.add_argument("--k", type=int, nargs="*", default=[1000, 500, 250, 100, 50, 25])
    options.add_argument("--suppressed", type=float, default=0.0)
    given = options.parse_args()
    if "DPDESK_TEST_DATA" not in os.environ:
        sys.exit("DPDESK_TEST_DATA does not name the test data")
    problem = adult(Path(os.environ["DPDESK_TEST_DATA"]) / "arx-adult")
    scales = [scale_of(each, frozenset(), by_size=False) for each in problem.hierarchies]
    places = np.array([s.places[problem.codes[:, j]] for j, s in enumerate(scales)]).T
    allowed = int(given.suppressed * int(problem.counts.sum()))
    KOptimize(places, problem.counts, 20_000, allowed).search(CancelToken())  # compiles
    for k in given.k:
        token, begun = CancelToken(), time.process_time()

        def watch(event: Event, token: CancelToken = token, begun: float = begun) -> None:
            if time.process_time() - begun > given.seconds:
                token.keep()

        with token.searches(None) as ends:
            found = KOptimize(places, problem.counts, k, allowed).search(token, 10**15, watch)
        if found is None:
            print(f"k = {k:,}: no cuts", flush=True)
            continue
        print(
            f"k = {k:,}: {time.process_time() - begun:.1f} s, {found.visited:,} classes visited, "
            f"{found.cost:,} (at least {found.least:,}), {found.optimality}"
            f"{'' if ends[0] is None else ', asked to end'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
