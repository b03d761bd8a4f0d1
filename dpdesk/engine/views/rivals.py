"""Other ways to release marginals, simulated on the true data: internal, for comparison alone.

All get the budget of the plan, its noise and whom it hides; noise is drawn by the exact samplers.

- uniform: the true number of rows, evenly; no noise.
- Flat: noise in every cell of the whole table, summed up.
- Direct: noise in all marginals of k columns, each with an equal share of the budget.
- Fourier: noise in all Fourier coefficients of up to k columns of two values. A coefficient is a
  sum of signs over the rows, so a row changes each by 1. Source: Barak and others, PODS 2007.
- Chebyshev polynomials, for columns of two values: a cell of a marginal counts the rows that
  differ from it in no column. Of the number z of columns that differ, g(z) is 1 at 0 and near 0
  elsewhere; with the degree t it is the sum, over sets of j ≤ t of the columns, of c_j where all
  of the set differ; c_j is the j-th difference of g at 0. Noise goes into c_j times the number of
  rows for each set and each way to differ; a row changes one of these for each set. The degree
  that errs least is taken, which favours it.
  Source: Thaler, Ullman and Vadhan, ICALP 2012.
- MWEM: in each round a cell of the marginals looked at is chosen by the exponential mechanism,
  measured, and the whole table is weighted by it and by all earlier ones. Begins with the true
  number of rows, which favours it. Source: Hardt, Ligett and McSherry, NIPS 2012.
- the planners of cubes for all marginals of k columns: their planned error, before negative numbers
  are removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from math import comb, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.core.messages import msg
from dpdesk.engine.cubes.lattice import (
    MOST_DIMENSIONS,
    CubePlan,
    cell_variances,
    information,
    mask_of,
)
from dpdesk.engine.cubes.mechanism import RowEffect, Sensitivity, spread
from dpdesk.engine.cubes.planners import plan_all, plan_base, plan_bmax
from dpdesk.engine.noise.randomness import RandomSource
from dpdesk.engine.private.counting import PlacedRows
from dpdesk.engine.private.kinds import Noise, sampler, stated_variance

Floats = NDArray[np.float64]
Places = tuple[int, ...]
Release = Callable[[Places], Floats]
"""What one draw of a release says of a marginal, with the shape of its columns."""

MOST_FLAT, MOST_WEIGHTED, MOST_PLANNED, MOST_CHEBYSHEV = 1 << 20, 1 << 14, 1_001, 16
ROUNDS, REPLAYS = 10, 50
_SENSELESS = 1 << 40
_GRID = 1 << 12
_NOTHING, _ROUNDING = 1e-300, 1e-12


@dataclass(frozen=True, eq=False)
class Truth:
    """The rows in the declared domain, and who is hidden by how much noise: the same for each way.

    ``budget`` is ε for Laplace noise, ρ for Gaussian. Tables that were counted are kept.
    """

    rows: PlacedRows
    noise: Noise
    people: int
    replace: bool
    randomness: RandomSource = field(repr=False)
    token: CancelToken = field(repr=False)
    known: dict[Places, Floats] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Categories of each dimension."""
        return self.rows.shape

    @property
    def binary(self) -> bool:
        """Whether all dimensions have two categories."""
        return set(self.shape) == {2}

    @property
    def effect(self) -> RowEffect:
        """What one person changes in a table of counts."""
        return RowEffect(1, 1, self.people, self.replace)

    def table(self, places: Places) -> Floats:
        """The true marginal."""
        found = self.known.get(places)
        if found is None:
            found = self.rows.totals(places, self.token).astype(np.float64)
            self.known[places] = found
        return found

    @property
    def total(self) -> float:
        """Rows that have a place in the domain."""
        return float(self.table(()))

    def scale(self, sensitivity: Sensitivity, budget: Fraction) -> Fraction:
        """Scale b of Laplace noise, variance of Gaussian noise."""
        if self.noise is Noise.LAPLACE:
            return sensitivity.l1 / budget
        return sensitivity.l2_squared / (2 * budget)

    def draw(self, scale: Fraction, shape: Sequence[int]) -> Floats:
        """Fresh integer noise, in rows."""
        drawn = sampler(self.noise, scale).draw(prod(shape), self.randomness, self.token)
        return drawn.reshape(tuple(shape)).astype(np.float64)

    def finely(self, scale: float, shape: Sequence[int]) -> Floats:
        """Noise in steps of 1/4096, for numbers that are not whole."""
        finer = scale * (_GRID if self.noise is Noise.LAPLACE else _GRID**2)
        return self.draw(Fraction(max(1, round(finer))), shape) / _GRID

    def evenly(self, count: int) -> Floats:
        """Numbers between 0 and 1, neither included."""
        words = self.randomness.words(count) >> np.uint64(11)
        return (words.astype(np.float64) + 0.5) / 2.0**53


@dataclass(frozen=True, eq=False)
class Way:
    """A way to release; ``planned`` is the root of the squared error of a marginal where nothing
    is drawn, else ``draw`` makes a release.
    """

    label: str
    draw: Callable[[], Release] | None = None
    planned: Mapping[Places, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Unable:
    """A way that these data or settings do not allow, and why."""

    label: str
    reason: str


def rivals_of(truth: Truth, asked: Sequence[Places], budget: Fraction) -> Iterator[Way | Unable]:
    """All ways but views, for marginals of equally many columns. Raises Cancelled when drawn."""
    k = len(asked[0])
    yield Way("Uniform", lambda: lambda places: _uniform(truth, places))
    yield _flat(truth, budget)
    yield _direct(truth, k, budget)
    yield _fourier(truth, k, budget)
    yield _chebyshev(truth, asked, budget)
    yield _weighted(truth, asked, budget)
    yield from _planned(truth, asked, budget)


def _uniform(truth: Truth, places: Places) -> Floats:
    shape = tuple(truth.shape[i] for i in places)
    return np.full(shape, truth.total / prod(shape))


def _flat(truth: Truth, budget: Fraction) -> Way | Unable:
    cells, label = prod(truth.shape), "Flat"
    if cells > MOST_FLAT:
        return Unable(label, msg("the whole table has more than {n:,} cells", n=MOST_FLAT))
    scale = truth.scale(truth.effect.of_cuboid(), budget)

    def draw() -> Release:
        noise = truth.draw(scale, truth.shape)
        return lambda places: truth.table(places) + _over(noise, places)

    return Way(label, draw)


def _over(table: Floats, places: Places) -> Floats:
    """A marginal of the whole table."""
    return np.asarray(table.sum(axis=tuple(i for i in range(table.ndim) if i not in places)))


def _direct(truth: Truth, k: int, budget: Fraction) -> Way | Unable:
    tables, label = comb(len(truth.shape), k), "Direct"
    scale = truth.scale(truth.effect.of_cuboid(), budget / tables)
    if scale > _SENSELESS:
        return Unable(label, msg("{n:,} tables would share the budget", n=tables))

    def release(places: Places) -> Floats:
        return truth.table(places) + truth.draw(scale, [truth.shape[i] for i in places])

    return Way(label, lambda: release)


def _fourier(truth: Truth, k: int, budget: Fraction) -> Way | Unable:
    label = "Fourier"
    if not truth.binary:
        return Unable(label, "it is made for columns of two values")
    count = sum(comb(len(truth.shape), size) for size in range(k + 1))
    most = Fraction(truth.people * (2 if truth.replace else 1))
    scale = truth.scale(Sensitivity(most, most**2), budget / count)
    if scale > _SENSELESS:
        return Unable(label, msg("{n:,} coefficients would share the budget", n=count))
    signs = np.array([[1.0]])
    for _ in range(k):
        signs = np.kron(signs, np.array([[1.0, 1.0], [1.0, -1.0]]))

    def release(places: Places) -> Floats:
        moved = signs @ truth.draw(scale, (1 << k,)) / (1 << k)
        return truth.table(places) + moved.reshape((2,) * k)

    return Way(label, lambda: release)


# ---- Chebyshev polynomials


def differences(k: int, degree: int) -> list[float]:
    """c_0 … c_t: the differences at 0 of g, the polynomial of this degree that is 1 at 0 and least
    on 1 … k in absolute value (Chebyshev's, on the interval); with the degree k, 0 there.
    """
    if degree == k:
        values = [1.0] + [0.0] * k
    else:
        inner = np.polynomial.chebyshev.Chebyshev.basis(degree)
        middle, half = (k + 1) / 2, (k - 1) / 2
        peak = float(inner(middle / half))
        values = [float(inner((middle - z) / half)) / peak for z in range(degree + 1)]
    return [
        sum((-1) ** (j - i) * comb(j, i) * values[i] for i in range(j + 1))
        for j in range(degree + 1)
    ]


def _chebyshev(truth: Truth, asked: Sequence[Places], budget: Fraction) -> Way | Unable:
    label, many, k = "Chebyshev polynomials", len(truth.shape), len(asked[0])
    if not truth.binary or many > MOST_CHEBYSHEV:
        most = MOST_CHEBYSHEV
        return Unable(label, msg("it is for at most {n} columns of two values each", n=most))
    ways = [_of_degree(truth, k, degree, budget) for degree in range(1, k + 1)]

    def error(draw: Callable[[], Release]) -> float:
        release = draw()
        return sum(float(np.linalg.norm(release(each) - truth.table(each))) for each in asked)

    return Way(label, min(ways, key=error))


def _of_degree(truth: Truth, k: int, degree: int, budget: Fraction) -> Callable[[], Release]:
    many, parts = len(truth.shape), differences(k, degree)
    twice = 2 if truth.replace else 1
    l1 = sum(abs(c) * comb(many, j) for j, c in enumerate(parts)) * truth.people * twice
    l2 = sum(c**2 * comb(many, j) for j, c in enumerate(parts)) * truth.people**2 * twice
    scale = float(truth.scale(Sensitivity(Fraction(l1), Fraction(l2)), budget))

    def release(places: Places) -> Floats:
        found = np.zeros((2,) * k)
        for j, c in enumerate(parts):
            for axes in combinations(range(k), j):
                # What a cell counts are the rows that differ from it in all of these columns.
                own = truth.table(tuple(places[i] for i in axes))
                other = np.flip(own) if j else own
                noisy = c * other + truth.finely(scale, (2,) * j)
                found += np.expand_dims(noisy, tuple(i for i in range(k) if i not in axes))
        return found

    return lambda: release


# ---- multiplicative weights


def _weighted(truth: Truth, asked: Sequence[Places], budget: Fraction) -> Way | Unable:
    label, cells = "MWEM", prod(truth.shape)
    if truth.noise is not Noise.LAPLACE:
        return Unable(label, "it is for budgets of ε")
    if cells > MOST_WEIGHTED:
        return Unable(label, msg("the whole table has more than {n:,} cells", n=MOST_WEIGHTED))
    return Way(label, lambda: weighted_release(truth, asked, budget))


def weighted_release(truth: Truth, asked: Sequence[Places], budget: Fraction) -> Release:
    """One draw of MWEM; the marginals asked for are its queries, cell by cell."""
    part = budget / (2 * ROUNDS)
    table = np.full(truth.shape, truth.total / prod(truth.shape))
    scale = truth.scale(truth.effect.of_cuboid(), part)
    starts = np.cumsum([0] + [truth.table(each).size for each in asked])
    # A cell changes by at most the rows of a person, also where one replaces another.
    lean = float(part) / (2 * truth.people)
    known: list[tuple[tuple[int | slice, ...], float]] = []
    for _ in range(ROUNDS if truth.total > 0 else 0):
        truth.token.check()
        gaps = [np.abs(truth.table(each) - _over(table, each)).reshape(-1) for each in asked]
        flat = lean * np.concatenate(gaps)
        chosen = int((flat - np.log(-np.log(truth.evenly(len(flat))))).argmax())
        number = int(np.searchsorted(starts, chosen, side="right")) - 1
        places = asked[number]
        values = np.unravel_index(chosen - int(starts[number]), truth.table(places).shape)
        cell: list[int | slice] = [slice(None)] * len(truth.shape)
        for place, value in zip(places, values, strict=True):
            cell[place] = int(value)
        noisy = float(truth.table(places)[values]) + float(truth.draw(scale, (1,))[0])
        known.append((tuple(cell), noisy))
        _replay(table, known, truth.total)
    return lambda places: _over(table, places)


def _replay(
    table: Floats, known: Sequence[tuple[tuple[int | slice, ...], float]], total: float
) -> None:
    """Weight the table by all that was measured, again and again; its sum stays ``total``."""
    for _ in range(REPLAYS):
        for cell, measured in known:
            gap = measured - float(table[cell].sum())
            table[cell] *= np.exp(np.clip(gap / (2 * total), -50, 50))
            table *= total / table.sum()


# ---- cubes


def _planned(truth: Truth, asked: Sequence[Places], budget: Fraction) -> Iterator[Way | Unable]:
    many, k = len(truth.shape), len(asked[0])
    if comb(many, k) > MOST_PLANNED:
        reason = msg("all marginals are more than {n:,} tables", n=MOST_PLANNED)
        yield Unable("Cube", reason)
        return
    if many > MOST_DIMENSIONS:
        reason = msg("at most {most} dimensions can be planned at once", most=MOST_DIMENSIONS)
        yield Unable("Cube", reason)
        return
    published = [mask_of(each) for each in combinations(range(many), k)]
    given = truth.shape, published, truth.noise
    yield _errors("Cube: one base table", truth, plan_base(*given), asked, budget)
    yield _errors("Cube: every table by itself", truth, plan_all(*given), asked, budget)
    planned = plan_bmax(*given, truth.token, silent)
    yield _errors("Cube: planner bmax", truth, planned, asked, budget)


def _errors(
    label: str, truth: Truth, plan: CubePlan, asked: Sequence[Places], budget: Fraction
) -> Way:
    """The planned errors of a cube once its tables agree."""
    own = np.zeros(1 << len(truth.shape))
    for source in plan.sources:
        width = spread(source, truth.noise, budget, truth.effect, truth.shape)
        own[source.cuboid] += 1 / stated_variance(truth.noise, width)
    variances = cell_variances(information(own, truth.shape), truth.shape)
    errors = {
        each: sqrt(prod(truth.shape[i] for i in each) * float(variances[mask_of(each)]))
        for each in asked
    }
    return Way(label, planned=errors)


# ---- measures


@dataclass(frozen=True)
class Errors:
    """Means over marginals and draws: L2 error over the number of rows, sum of squared errors (rows
    squared), Jensen–Shannon divergence in bits (None where nothing was drawn).
    """

    normalised: float
    squared: float
    divergence: float | None


def measured(truth: Truth, way: Way, asked: Sequence[Places], draws: int) -> Errors:
    """The errors of a way. Raises Cancelled."""
    rows = max(truth.total, 1.0)
    if way.draw is None:
        planned = [way.planned[each] for each in asked]
        return Errors(float(np.mean(planned)) / rows, float(np.mean(np.square(planned))), None)
    norms, squares, apart = [], [], []
    for _ in range(draws):
        release = way.draw()
        for places in asked:
            truth.token.check()
            true, found = truth.table(places), release(places)
            square = float(np.square(found - true).sum())
            if sqrt(square) <= _ROUNDING * rows:
                square, found = 0.0, true
            norms.append(sqrt(square) / rows)
            squares.append(square)
            apart.append(jensen_shannon(true, found))
    return Errors(float(np.mean(norms)), float(np.mean(squares)), float(np.mean(apart)))


def jensen_shannon(one: Floats, other: Floats) -> float:
    """The divergence of two tables as shares of their sums, in bits; below 0 counts as 0.

    1 where one has nothing and the other something.
    """
    first, second = np.maximum(one, 0.0), np.maximum(other, 0.0)
    if not first.sum() or not second.sum():
        return 0.0 if first.sum() == second.sum() else 1.0
    first, second = first / first.sum(), second / second.sum()
    middle = (first + second) / 2
    return (_relative(first, middle) + _relative(second, middle)) / 2


def _relative(one: Floats, other: Floats) -> float:
    """Relative entropy in bits; ``other`` is at least half of ``one``, which may be next to 0."""
    some = one > _NOTHING
    return max(0.0, float((one[some] * np.log2(one[some] / other[some])).sum()))
