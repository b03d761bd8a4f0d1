"""Protected tables, slow and obvious: rules cell by cell, attackers and patterns by enumeration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Unsafe = Fraction | None
"""The required protection, None: safe."""


def threshold(contributions: Sequence[int], n: int, share: Fraction, least: int) -> Unsafe:
    """Fewer than ``n`` contributors, but some."""
    if not 0 < len(contributions) < n:
        return None
    return max(share * abs(sum(contributions)), Fraction(least))


def dominance(contributions: Sequence[int], n: int, k: Fraction) -> Unsafe:
    """The ``n`` largest have more than ``k`` percent of all."""
    sizes = sorted((abs(x) for x in contributions), reverse=True)
    if sum(sizes[:n]) > k / 100 * sum(sizes):
        return 100 / k * sum(sizes[:n]) - sum(sizes)
    return None


def p_percent(contributions: Sequence[int], share: Fraction) -> Unsafe:
    """The second largest estimates the largest within ``share`` percent."""
    sizes = [*sorted((abs(x) for x in contributions), reverse=True), 0, 0]
    rest = sum(sizes) - sizes[0] - sizes[1]
    if rest < share / 100 * sizes[0]:
        return share / 100 * sizes[0] - rest
    return None


def interval(
    matrix: NDArray[np.int64],
    values: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    suppressed: NDArray[np.bool_],
    cell: int,
) -> tuple[float, float]:
    """Least and largest value of a cell among all tables with these sums and published cells."""
    low, high = np.where(suppressed, low, values), np.where(suppressed, high, values)
    ends = []
    for sign in (1, -1):
        cost = np.zeros(len(values))
        cost[cell] = sign
        bounds = np.stack([low, high], axis=1)
        solved = linprog(cost, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=bounds)
        # Status 4 with infinite bounds: presolve could not tell which, and the truth is feasible.
        ends.append(sign * solved.fun if solved.status == 0 else -sign * np.inf)
    return ends[0], ends[1]


def whole_numbered(
    matrix: NDArray[np.int64],
    values: NDArray[np.int64],
    suppressed: NDArray[np.bool_],
    largest: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and largest of each cell over all tables of whole numbers from 0 to ``largest``."""
    open_ = np.flatnonzero(suppressed)
    guesses = np.indices([largest + 1] * len(open_)).reshape(len(open_), -1).T
    tables = np.repeat(values[None], len(guesses), axis=0)
    tables[:, open_] = guesses
    tables = tables[~(tables @ matrix.T).any(axis=1)]
    return tables.min(axis=0), tables.max(axis=0)


def least_cost(
    matrix: NDArray[np.int64],
    values: NDArray[np.float64],
    choice: Sequence[int],
    required: Mapping[int, tuple[float, float]],
    cost: Sequence[Fraction],
    widths: Mapping[int, float] | None = None,
    ends: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    alone: Sequence[int] = (),
) -> tuple[Fraction, int] | None:
    """The cheapest suppression and its fewest cells, of those of the ``choice``; None: none fits.

    ``required`` holds what each unsafe cell must be able to go down and up, ``widths`` how wide its
    interval must be wherever it lies. Everyone knows that no cell is negative, and no more, or the
    ``ends`` of each cell. In each of the cells ``alone`` is one contributor who knows it and whom
    others must be protected from, as far as that can be without any table.
    """
    low, high = ends or (np.zeros(len(values)), np.full(len(values), np.inf))
    everything = np.array([low[i] < high[i] for i in range(len(values))])

    def fits(hidden: NDArray[np.bool_], cell: int) -> bool:
        (down, up), width = required[cell], (widths or {}).get(cell, 0.0)
        for who in (None, *(each for each in alone if each != cell)):
            told = [hidden.copy(), everything.copy()]
            for flags in told if who is not None else ():
                flags[who] = False
            least, most = interval(matrix, values, low, high, told[0], cell)
            needs = [down, up, width]
            if who is not None:
                first, last = interval(matrix, values, low, high, told[1], cell)
                sides = min(values[cell] - first, width) + min(last - values[cell], width)
                needs = [min(down, values[cell] - first), min(up, last - values[cell])]
                needs.append(min(width, sides))
            gone = values[cell] - least, most - values[cell], most - least
            if any(far < need - 1e-6 for far, need in zip(gone, needs, strict=True)):
                return False
        return True

    tried = sorted(
        (sum((cost[c] for c in further), Fraction(0)), len(further), further)
        for size in range(len(choice) + 1)
        for further in combinations(choice, size)
    )
    for paid, cells, further in tried:
        hidden = np.isin(np.arange(len(values)), [*required, *further])
        if all(fits(hidden, cell) for cell in required):
            return paid, cells
    return None


def least_change(
    values: NDArray[np.int64],
    moves: NDArray[np.int64],
    required: Sequence[tuple[int, int] | None],
    fixed: NDArray[np.bool_],
    weights: Sequence[int],
) -> int | None:
    """The least weighted change among ``moves`` of all cells that moves each unsafe one far enough.

    A cell moves at least as far as required, and by 1; ``fixed`` ones stay, none falls below 0.
    """
    fits = ((values + moves) >= 0).all(axis=1) & ~moves[:, fixed].any(axis=1)
    for cell, needs in enumerate(required):
        if needs is not None:
            down, up = (max(1, each) for each in needs)
            fits &= (moves[:, cell] >= up) | (moves[:, cell] <= -down)
    costs = np.abs(moves[fits]) @ np.array(weights)
    return int(costs.min()) if len(costs) else None


def moved_so_far(
    move: Mapping[int, Fraction],
    equations: Sequence[Mapping[int, int]],
    low: Sequence[Fraction],
    high: Sequence[Fraction | None],
) -> dict[int, tuple[Fraction | None, Fraction | None]]:
    """How far the cells of a move go down and up when it is made as often as their bounds allow,
    forwards and backwards (None: without end); nothing if it does not keep the sums.
    """
    if any(sum(c * move.get(cell, Fraction(0)) for cell, c in row.items()) for row in equations):
        return {}

    def most(way: int) -> Fraction | None:
        ends = [(high[c] if x * way > 0 else low[c], x * way) for c, x in move.items()]
        return min((end / x for end, x in ends if end is not None), default=None)

    def times(x: Fraction, often: Fraction | None) -> Fraction | None:
        return None if often is None else abs(x) * often

    on, back = most(1), most(-1)
    return {
        cell: (times(x, back), times(x, on)) if x > 0 else (times(x, on), times(x, back))
        for cell, x in move.items()
    }
