"""Views against other ways to release marginals: ``python -m tests.benchmarks.rivals``.

Normalised L2 error (L2 error over the number of rows) of marginals of k random columns of two
values; each number is a mean over ``SETS`` random sets and ``DRAWS`` draws. First all 32 columns,
where only some ways can be computed at all; then ten of them, for the others:

- uniform: the true number of rows, evenly; no noise.
- Flat: noise in every cell of the whole table, summed up. What 2^(d - k) noisy cells add up to is
  drawn from the normal distribution of the same variance.
- Direct: noise in all marginals of k columns, each with an equal share of ε.
- Fourier: noise in all Fourier coefficients of up to k columns (Barak and others, PODS 2007).
- MWEM (Hardt, Ligett and McSherry, NIPS 2012): ten rounds over the whole table, with all that was
  measured played again 50 times in each; its workload are the cells of the marginals looked at.
- cube: the planners ``base``, ``all`` and ``bmax`` of the method dp-cube for all marginals of k
  columns; their planned error, before negative numbers are removed.
- views: pairs covered, up to eight columns in a view; floor: the same without noise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, sqrt

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.parameters import parse_parameters
from dpdesk.core.schema import Role
from dpdesk.core.shapes import as_float, as_list, as_table
from dpdesk.engine.methods.registered import default_registry
from dpdesk.engine.private.method import PrivateInput, PrivateMethod
from dpdesk.engine.views.consistency import agreeing, shared_sets
from dpdesk.engine.views.designs import covering_design
from dpdesk.engine.views.marginals import AgreeingViews
from tests.benchmarks.views import Rows, counted, noise, sources

SETS, DRAWS, SIZE, FEW, ROUNDS, REPLAYS = 40, 3, 8, 10, 10, 50
BUDGETS, SIZES = (0.1, 1.0), (4, 6, 8)
Floats = NDArray[np.float64]
Places = tuple[int, ...]
Release = Callable[[], Callable[[Places], Floats]]
"""One draw of a release, which then answers marginals."""

TOKEN = CancelToken()
draw = np.random.default_rng(5)


def views(rows: Rows, epsilon: float | None) -> Release:
    """Marginals from views; without noise where there is no budget."""
    many = rows.shape[1]
    blocks = covering_design(many, SIZE, 2, TOKEN, silent)
    shared = shared_sets(blocks, 100_000)
    assert shared is not None
    known, true = shared, [counted(rows, view) for view in blocks]

    def release() -> Callable[[Places], Floats]:
        tables = [table + noise(draw, table, len(blocks), epsilon) for table in true]
        shape, ones = (2,) * many, [1.0] * len(blocks)
        found = agreeing(blocks, shape, known, tables, ones, TOKEN, silent)
        agreed = AgreeingViews(shape, dict(zip(blocks, found, strict=True)))
        return lambda places: agreed.marginal(places, TOKEN, entropy=True).values

    return release


def plain(rows: Rows, epsilon: float, k: int) -> Iterator[tuple[str, Release]]:
    """The ways whose noise in a marginal is known without any other."""
    many = rows.shape[1]
    coefficients = sum(comb(many, size) for size in range(k + 1))
    signs = np.array([[1.0]])
    for _ in range(k):
        signs = np.kron(signs, np.array([[1.0, 1.0], [1.0, -1.0]]))

    def flat() -> Floats:
        return draw.normal(0, sqrt(2.0 ** (many - k + 1)) / epsilon, 1 << k)

    def direct() -> Floats:
        return draw.laplace(0, comb(many, k) / epsilon, 1 << k)

    def fourier() -> Floats:
        moved: Floats = signs @ draw.laplace(0, coefficients / epsilon, 1 << k) / (1 << k)
        return moved

    def releasing(kind: Callable[[], Floats]) -> Release:
        return lambda: lambda places: counted(rows, places) + kind().reshape((2,) * k)

    yield "uniform", lambda: lambda places: np.full((2,) * k, len(rows) / (1 << k))
    yield from ((name, releasing(kind)) for name, kind in
                (("Flat", flat), ("Direct", direct), ("Fourier", fourier)))  # fmt: skip


def mwem(rows: Rows, epsilon: float, asked: Sequence[Places]) -> Release:
    """Multiplicative weights: each round a cell that is worst by a noisy choice is measured."""
    many = rows.shape[1]
    shape = (2,) * many
    true = {places: counted(rows, places) for places in asked}

    def over(table: Floats, places: Places) -> Floats:
        return np.asarray(table.sum(axis=tuple(i for i in range(many) if i not in places)))

    def release() -> Callable[[Places], Floats]:
        table = np.full(shape, len(rows) / 2.0**many)
        part = epsilon / (2 * ROUNDS)
        known: list[tuple[tuple[int | slice, ...], float]] = []
        for _ in range(ROUNDS):
            gaps = [np.abs(true[places] - over(table, places)).reshape(-1) for places in asked]
            flat = np.concatenate(gaps)
            cell = int((part * flat / 2 + draw.gumbel(size=len(flat))).argmax())
            places = asked[cell >> len(asked[0])]
            index = np.unravel_index(cell % (1 << len(places)), (2,) * len(places))
            own: list[int | slice] = [slice(None)] * many
            for place, value in zip(places, index, strict=True):
                own[place] = int(value)
            known.append((tuple(own), float(true[places][index] + draw.laplace(0, 1 / part))))
            for _ in range(REPLAYS):
                for held, measured in known:
                    gap = measured - float(table[held].sum())
                    table[held] *= np.exp(np.clip(gap / (2 * len(rows)), -50, 50))
                    table *= len(rows) / table.sum()
        return lambda places: over(table, places)

    return release


def planned(many: int, epsilon: float, k: int, planner: str, rows: int) -> float:
    """The error that a planner of cubes plans for all marginals of k columns."""
    names = [f"c{i}" for i in range(many)]
    raw = {
        "dimensions": names,
        "domains": {name: ["0", "1"] for name in names},
        "publish": [list(part) for part in combinations(names, k)],
        "planner": planner,
        "epsilon": Fraction(str(epsilon)),
    }
    method = default_registry().get("dp-cube", "the benchmark")
    assert isinstance(method, PrivateMethod)
    roles = dict.fromkeys(names, Role.QUASI_IDENTIFIER)
    given = PrivateInput(roles, {}, parse_parameters(method.parameters, raw, "the benchmark"))
    lines = [
        as_table(each) for each in as_list(method.design(given, TOKEN, silent).result["cuboids"])
    ]
    return float(np.mean([sqrt(2**k * as_float(line["variance"])) for line in lines])) / rows


def error(release: Release, rows: Rows, asked: Sequence[Places], draws: int) -> float:
    """The mean of the normalised L2 error of some marginals."""
    found = []
    for _ in range(draws):
        answer = release()
        for places in asked:
            gap = answer(places) - counted(rows, places)
            found.append(float(np.linalg.norm(gap)) / len(rows))
    return float(np.mean(found))


def compare(name: str, rows: Rows) -> None:
    """Print a line for each way and budget."""
    many = rows.shape[1]
    sets = {
        k: sorted(
            {tuple(sorted(map(int, draw.choice(many, k, replace=False)))) for _ in range(SETS)}
        )
        for k in SIZES
    }
    print(f"{name}: {len(rows):,} rows, {many} columns")
    floor = views(rows, None)
    print_line("floor", None, [error(floor, rows, sets[k], 1) for k in SIZES])
    for epsilon in BUDGETS:
        lines: dict[str, list[float]] = {}
        own = views(rows, epsilon)
        for k in SIZES:
            lines.setdefault("views", []).append(error(own, rows, sets[k], DRAWS))
            for way, release in plain(rows, epsilon, k):
                lines.setdefault(way, []).append(error(release, rows, sets[k], DRAWS))
            if many <= FEW:
                found = error(mwem(rows, epsilon, sets[k]), rows, sets[k], DRAWS)
                lines.setdefault("MWEM", []).append(found)
                for planner in ("base", "all", "bmax"):
                    found = planned(many, epsilon, k, planner, len(rows))
                    lines.setdefault(f"cube {planner}", []).append(found)
        for way, each in lines.items():
            print_line(way, epsilon, each)


def print_line(way: str, epsilon: float | None, errors: Sequence[float]) -> None:
    """One way, one budget, by k."""
    shown = "  ".join(f"k={k} {each:9.5f}" for k, each in zip(SIZES, errors, strict=True))
    print(f"  {way:10} {f'ε = {epsilon}' if epsilon else '':8} {shown}")
    sys.stdout.flush()


def main() -> int:
    """All data sets, whole and their first columns."""
    for name, rows in sources():
        compare(name, rows)
        compare(f"{name}, the first {FEW}", np.ascontiguousarray(rows[:, :FEW]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
