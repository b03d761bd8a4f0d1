"""Views against a graphical model of the same tables: ``python -m tests.benchmarks.graphical``.

The rival is private-pgm by Ryan McKenna, the package ``mbi`` from PyPI, which is no part of this
program and is imported where it is installed. Both get the same views with the same noise in one
run; it fits a Markov random field by mirror descent (double precision, 1,000 steps), for which the
views are joined to a junction tree, whose largest table may have more cells than any memory: then
that size is all that is printed. Errors are normalised L2 errors (L2 error over the number of rows)
of marginals of k random dimensions, means over ``SETS`` random sets and ``DRAWS`` draws of noise.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.views.consistency import agreeing, shared_sets
from dpdesk.engine.views.designs import covering_design
from dpdesk.engine.views.marginals import AgreeingViews
from tests.benchmarks.views import Rows, counted, noise, sources, variances

SETS, DRAWS, SIZE, STEPS = 40, 2, 8, 1000
SIZES, BUDGETS = (4, 6, 8), (0.1, 1.0)
MOST_CELLS = 1 << 26

Floats = NDArray[np.float64]
Places = tuple[int, ...]


class Rival:
    """The graphical model over columns of two values."""

    def __init__(self, columns: int, views: tuple[Places, ...]) -> None:
        import_module("jax").config.update("jax_enable_x64", val=True)
        self._mbi = import_module("mbi")
        self._views = views
        self._domain = self._mbi.Domain([f"c{i}" for i in range(columns)], [2] * columns)
        tree = self._mbi.junction_tree
        joined, _ = tree.make_junction_tree(self._domain, [self._names(view) for view in views])
        self.cells = max(int(self._domain.size(each)) for each in tree.maximal_cliques(joined))

    def _names(self, places: Places) -> tuple[str, ...]:
        return tuple(f"c{i}" for i in places)

    def fitted(self, tables: list[Floats], deviation: float) -> Any:
        """The model of noisy views."""
        measured = [
            self._mbi.LinearMeasurement(table.reshape(-1), self._names(view), deviation)
            for view, table in zip(self._views, tables, strict=True)
        ]
        made = self._mbi.estimation.MirrorDescent()
        return made.estimate(self._domain, measured, iters=STEPS)

    def marginal(self, model: Any, places: Places) -> Floats:
        """A table of the model."""
        found = np.asarray(model.project(self._names(places)).datavector(), np.float64)
        return found.reshape((2,) * len(places))


def compare(name: str, rows: Rows) -> None:
    """Print a line for each budget and each of both."""
    many = rows.shape[1]
    views = covering_design(many, SIZE, 2, CancelToken(), silent)
    shape, true = (2,) * many, {view: counted(rows, view) for view in views}
    shared = shared_sets(views, 100_000)
    assert shared is not None
    draw = np.random.default_rng(11)
    asked = {
        k: [tuple(sorted(map(int, draw.choice(many, k, replace=False)))) for _ in range(SETS)]
        for k in SIZES
    }
    rival = Rival(many, views)
    print(f"{name}: {len(rows):,} rows, {len(views)} views")
    if rival.cells > MOST_CELLS:
        print(f"  graphical model: its largest table has {rival.cells:,} cells, not run")
    for epsilon in BUDGETS:
        ours: dict[int, list[float]] = {k: [] for k in SIZES}
        theirs: dict[int, list[float]] = {k: [] for k in SIZES}
        spent = [0.0, 0.0]
        for _ in range(DRAWS):
            tables = [table + noise(draw, table, len(views), epsilon) for table in true.values()]
            start = time.perf_counter()
            spread = variances(len(views), epsilon)
            found = agreeing(views, shape, shared, tables, spread, CancelToken(), silent)
            known = AgreeingViews(shape, dict(zip(views, found, strict=True)))
            for k, each in asked.items():
                for places in each:
                    made = known.marginal(places, CancelToken(), entropy=True).values
                    ours[k].append(_gap(made, counted(rows, places), rows))
            spent[0] += time.perf_counter() - start
            if rival.cells > MOST_CELLS:
                continue
            start = time.perf_counter()
            model = rival.fitted(tables, 2**0.5 * len(views) / epsilon)
            for k, each in asked.items():
                for places in each:
                    theirs[k].append(
                        _gap(rival.marginal(model, places), counted(rows, places), rows)
                    )
            spent[1] += time.perf_counter() - start
        print_line("views", epsilon, ours, spent[0])
        if theirs[SIZES[0]]:
            print_line("graphical model", epsilon, theirs, spent[1])


def _gap(made: Floats, true: Floats, rows: Rows) -> float:
    return float(np.linalg.norm(made - true)) / len(rows)


def print_line(way: str, epsilon: float, errors: dict[int, list[float]], seconds: float) -> None:
    """One way with a budget; the time is that of a draw with all its marginals and their truth."""
    shown = "  ".join(f"k={k} {np.mean(each):.5f}" for k, each in errors.items())
    print(f"  {way:16} ε = {epsilon:<4} {shown}   {seconds / DRAWS:.1f} s")
    sys.stdout.flush()


def main() -> int:
    """All data sets; 2 where the rival is not installed."""
    if find_spec("mbi") is None:
        print("The package mbi is not installed (pip install mbi).", file=sys.stderr)
        return 2
    for name, rows in sources():
        compare(name, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
