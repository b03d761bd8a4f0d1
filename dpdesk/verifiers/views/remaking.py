"""Marginals made again from released views, for comparison; no code of the engine is used.

What is defined: of a marginal that lies in no view, the sums over the largest sets of its
dimensions that lie in a view are known. By largest entropy, an even table over the marginal and the
dimensions that go with it best is scaled to what views say of it, at most 100 times round; summed
up; and scaled to what they say of the marginal, at most 400 times round. The former ends within
a hundred-thousandth of the total; where the latter does not come within a billionth, 60 steps by
the geometric mean of all parts follow. Which
dimensions go along: those with the largest sum, over the views that hold them, of the square of how
many of the marginal's the view holds, while there are at most 2,048 cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Axes = tuple[int, ...]
_CELLS, _NEAR, _NEARLY = 2048, 1e-9, 1e-5


def known_sums(
    views: Mapping[Axes, Floats], asked: Axes, sizes: Sequence[int]
) -> list[tuple[list[int], Floats]]:
    """Shapes and sums of the largest parts of ``asked`` that lie in a view, in order."""
    parts = {tuple(sorted(set(view) & set(asked))) for view in views}
    parts = {part for part in parts if not any(set(part) < set(other) for other in parts)}
    found = []
    for part in sorted(parts):
        view = min(
            (each for each in views if not set(part) - set(each)),
            key=lambda each: (prod(sizes[i] for i in each), each),
        )
        gone = tuple(axis for axis, i in enumerate(view) if i not in part)
        shape = [sizes[i] if i in part else 1 for i in asked]
        found.append((shape, views[view].sum(axis=gone).reshape(shape)))
    return found


def _over(table: Floats, shape: Sequence[int]) -> Floats:
    """The sums of a table over the axes that a shape lacks."""
    lacking = tuple(axis for axis, size in enumerate(shape) if size != table.shape[axis])
    return np.asarray(table.sum(axis=lacking, keepdims=True))


def _ratio(target: Floats, found: Floats) -> Floats:
    return np.divide(target, found, out=np.zeros_like(found), where=found > 0)


def largest_gap(table: Floats, parts: Sequence[tuple[list[int], Floats]]) -> float:
    """How far sums of a table are from what views say."""
    return max(float(np.abs(_over(table, shape) - sums).max()) for shape, sums in parts)


def _scaled(
    table: Floats, parts: Sequence[tuple[list[int], Floats]], rounds: int, near: float
) -> tuple[Floats, bool]:
    """Scaled to each part in turn; and whether it came so near."""
    total = float(parts[0][1].sum())
    for _ in range(rounds):
        gap = 0.0
        for shape, sums in parts:
            own = _over(table, shape)
            gap = max(gap, float(np.abs(sums - own).max()))
            table = table * _ratio(sums, own)
        if gap <= near * total:
            return table, True
    return table, False


def _compromise(table: Floats, parts: Sequence[tuple[list[int], Floats]]) -> Floats:
    """60 steps towards all parts at once."""
    total = float(parts[0][1].sum())
    for _ in range(60):
        factors = [_ratio(sums, _over(table, shape)) ** (1 / len(parts)) for shape, sums in parts]
        for factor in factors:
            table = table * factor
        whole = table.sum()
        table = table * (total / whole) if whole > 0 else table
    return table


def _evened(table: Floats, parts: Sequence[tuple[list[int], Floats]]) -> Floats:
    """The nearest table with these sums and no negative cell, after 1,000 rounds at most."""
    total = float(parts[0][1].sum())
    cut = np.zeros_like(table)
    for _ in range(1000):
        gap = 0.0
        for shape, sums in parts:
            off = sums - _over(table, shape)
            gap = max(gap, float(np.abs(off).max()))
            table = table + off * (off.size / table.size)
        least, moved = float(table.min()), table + cut
        table, cut = np.maximum(moved, 0), np.minimum(moved, 0)
        if gap <= _NEAR * total and least >= -_NEAR * total:
            break
    return np.asarray(table * (total / table.sum()))


def made_again(
    views: Mapping[Axes, Floats], asked: Axes, sizes: Sequence[int], *, entropy: bool
) -> Floats:
    """The marginal by largest entropy, or the most even one; for one that lies in no view."""
    total = float(next(iter(views.values())).sum())
    own = [sizes[i] for i in asked]
    if total <= 0:
        return np.zeros(own)
    if not entropy:
        return _evened(np.full(own, total / prod(own)), known_sums(views, asked, sizes))
    marks = {
        i: sum(len(set(view) & set(asked)) ** 2 for view in views if i in view)
        for i in range(len(sizes))
    }
    wide = list(asked)
    for i in sorted(marks, key=lambda each: (-marks[each], each)):
        if i not in asked and marks[i] and prod(sizes[j] for j in wide) * sizes[i] <= _CELLS:
            wide.append(i)
    table = np.full(own, total / prod(own))
    if len(wide) > len(asked):
        around = tuple(sorted(wide))
        shape = [sizes[i] for i in around]
        parts = known_sums(views, around, sizes)
        fitted, _ = _scaled(np.full(shape, total / prod(shape)), parts, 100, _NEARLY)
        table = fitted.sum(axis=tuple(axis for axis, i in enumerate(around) if i not in asked))
        table = table * (total / table.sum())
    parts = known_sums(views, asked, sizes)
    table, near = _scaled(table, parts, 400, _NEAR)
    return table if near else _compromise(table, parts)
