"""How exact estimates from diverted releases are, how honest their intervals, how fast they come.

Run as ``python -m tests.benchmarks.diverted_estimates`` (``--tables N``: how many tables). Tables
of 50,000 rows and 20 values with ℓ′ = 5; predicates that go with the sensitive value, that do not,
that are decided by it, small ones, and all rows. Prints root mean square errors of counts of single
values, the share of 95 % intervals that hold the truth, and milliseconds for one answer.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dpdesk.engine.methods.l_diverted.estimation.estimate import Estimator, Tables, estimate
from dpdesk.engine.methods.l_diverted.groups import FullTransition, group_model
from tests.helpers.diverted_releases import published, skewed_codes

ROWS, VALUES, SIZE = 50_000, 20, 5
Shares = Callable[[np.random.Generator], np.ndarray]
KINDS: dict[str, Shares] = {
    "correlated": lambda generator: generator.beta(0.5, 1.0, VALUES),
    "independent": lambda generator: np.full(VALUES, generator.uniform(0.02, 0.9)),
    "decided by the value": lambda generator: (generator.random(VALUES) < 0.4) * 1.0,
    "about 20 rows": lambda generator: np.full(VALUES, 20 / ROWS),
    "all rows": lambda generator: np.ones(VALUES),
}


@dataclass
class Score:
    """Errors of one estimator for one kind of predicate."""

    squares: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    missing: int = 0

    def add(self, question: Tables, model: FullTransition, kind: Estimator, truth: int) -> None:
        began = time.perf_counter()
        found = estimate(question, [model], kind)
        self.seconds.append(time.perf_counter() - began)
        if found.value is None:
            self.missing += 1
            return
        self.squares.append((found.value - truth) ** 2)
        if found.low is not None and found.high is not None:
            self.held.append(found.low <= truth <= found.high)

    def line(self) -> str:
        error = f"{np.sqrt(np.mean(self.squares)):.0f}" if self.squares else "–"
        held = f"{np.mean(self.held):.1%}" if self.held else "–"
        return f"{error} | {held} | {np.median(self.seconds) * 1e3:.1f} | {self.missing}"


def table(mixed: bool, scores: dict[tuple[bool, str, Estimator], Score], seed: int) -> None:
    """One made-up table, one release of it, three predicates of each kind."""
    generator = np.random.default_rng(seed)
    codes = skewed_codes(ROWS, VALUES, SIZE, generator)
    seen = published(codes, VALUES, SIZE, mixed, generator)
    everything = np.bincount(seen, minlength=VALUES).astype(np.float64)
    model = FullTransition(group_model(everything.astype(np.int64), SIZE, mixed))
    assert model.condition > 1  # computed before anything is timed
    model.slopes(np.zeros(len(model.groups.sample)))
    for kind, shares in KINDS.items():
        for _ in range(3):
            hits = generator.random(ROWS) < shares(generator)[codes]
            matching = np.bincount(seen[hits], minlength=VALUES).astype(np.float64)
            truth = np.bincount(codes[hits], minlength=VALUES)
            for value in range(VALUES):
                question = Tables(matching, everything, (np.arange(VALUES) == value,))
                for estimator in Estimator:
                    score = scores.setdefault((mixed, kind, estimator), Score())
                    score.add(question, model, estimator, int(truth[value]))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tables", type=int, default=10)
    tables = options.parse_args().tables
    scores: dict[tuple[bool, str, Estimator], Score] = {}
    for seed in range(tables):
        for mixed in (True, False):
            table(mixed, scores, seed)
    print("| groups | predicate | estimator | RMSE (rows) | 95 % held | ms | not estimable |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (mixed, kind, estimator), score in scores.items():
        groups = "mixed" if mixed else "largest first"
        print(f"| {groups} | {kind} | {estimator.value} | {score.line()} |")


if __name__ == "__main__":
    main()
