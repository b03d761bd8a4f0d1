"""Rows made from released tables alone: drawn from a model that is fitted to them.

Post-processing of what was published: nothing here sees the source, so no privacy is spent, and
nothing hangs on how exactly a probability is drawn. Over a domain of few cells the model is the
distribution of greatest entropy with the released tables as its margins (iterative scaling); over
larger ones a chain, in which each dimension depends on those before it in the table that holds most
of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from dpdesk.core.cuboid import CuboidTable, Domain
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.noise.randomness import RandomSource

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Margin = tuple[tuple[int, ...], Floats]

MOST_DENSE = 1 << 22
"""Cells of a domain up to which the whole distribution is fitted."""

MOST_ROWS = 10_000_000
_SWEEPS, _FEWEST, _CLOSE = 50, 5, 1e-9
_WORK = 1 << 26
_PIECE = 1 << 16


@dataclass(frozen=True)
class TableError:
    """How far the rows are from a released table: mean and largest difference of its cells.

    Counts of the rows are scaled to the total of the release before.
    """

    dimensions: tuple[str, ...]
    mean: float
    largest: float
    cells: int


@dataclass(frozen=True, eq=False)
class SyntheticRows:
    """Rows by their places in the domain, shape (rows, dimensions), and what they err by."""

    domain: Domain
    codes: Codes
    errors: tuple[TableError, ...]

    @property
    def mean(self) -> float:
        """Mean difference of a cell, over the cells of all tables."""
        cells = sum(each.cells for each in self.errors)
        return sum(each.mean * each.cells for each in self.errors) / cells if cells else 0.0


def released_total(tables: Sequence[CuboidTable]) -> int:
    """The number of rows that the tables speak of, as far as noise lets one know it; 0 or more."""
    sums = [float(np.sum(table.values)) for table in tables]
    return max(0, round(sum(sums) / len(sums))) if sums else 0


def synthetic_rows(
    domain: Domain,
    tables: Sequence[CuboidTable],
    rows: int,
    randomness: RandomSource,
    token: CancelToken,
) -> SyntheticRows:
    """So many rows over the dimensions that some table of counts holds. Raises Cancelled."""
    held = {name for table in tables for name in table.domain.dimensions}
    part = domain.part([i for i, name in enumerate(domain.dimensions) if name in held])
    margins = _margins(part, tables)
    if part.cells <= MOST_DENSE:
        codes = _drawn_dense(part, _fitted(part, margins, token), rows, randomness)
    else:
        codes = _drawn_chain(part, margins, rows, randomness, token)
    return SyntheticRows(part, codes, _errors(part, codes, tables, token))


def _margins(domain: Domain, tables: Sequence[CuboidTable]) -> list[Margin]:
    """The tables as probabilities, by the places of their dimensions in order; large ones first."""
    found: list[Margin] = []
    for table in sorted(tables, key=lambda table: -len(table.domain.dimensions)):
        places = [domain.dimensions.index(name) for name in table.domain.dimensions]
        values = np.asarray(table.values, np.float64).transpose(np.argsort(places))
        found.append((tuple(sorted(places)), nearest_shares(values)))
    return found


def nearest_shares(values: Floats) -> Floats:
    """The probabilities nearest to the values over their sum; equal ones for a sum of 0 or less.

    The Euclidean projection on the simplex: all values are lowered alike, and none below 0.
    """
    whole = float(values.sum())
    if whole <= 0:
        return np.full(values.shape, 1 / values.size)
    falling = np.sort(values.reshape(-1) / whole)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, falling.size + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    found: Floats = np.clip(values / whole - level, 0, None)
    return found


def _largest(margins: Sequence[Margin]) -> list[Margin]:
    """Without those that are part of another one."""
    found: list[Margin] = []
    for own, shares in margins:
        if not any(set(own) <= set(other) for other, _ in found):
            found.append((own, shares))
    return found


def _fitted(domain: Domain, margins: Sequence[Margin], token: CancelToken) -> Floats:
    """The distribution of greatest entropy with these margins, as near as they agree.

    Without negative values they do not agree quite; the smaller ones, which are more exact, have
    the last word.
    """
    shape, cells = domain.shape, max(domain.cells, 1)
    if cells * len(margins) > _WORK:
        margins = _largest(margins)
    sweeps = max(_FEWEST, min(_SWEEPS, _WORK * _SWEEPS // (cells * len(margins))))
    model = np.full(shape, 1 / cells)
    for _ in range(sweeps):
        moved = 0.0
        for own, wanted in margins:
            token.check()
            others = tuple(i for i in range(len(shape)) if i not in own)
            known = model.sum(axis=others)
            factor = np.divide(wanted, known, out=np.zeros_like(wanted), where=known > 0)
            model *= np.expand_dims(factor, others)
            moved = max(moved, float(np.abs(wanted - known).max()))
        if moved < _CLOSE:
            break
    whole = model.sum()
    return model / whole if whole > 0 else np.full(shape, 1 / cells)


def _uniform(count: int, randomness: RandomSource) -> Floats:
    """Numbers from 0 to 1, from the 53 high bits of random words."""
    return (randomness.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _drawn_dense(domain: Domain, model: Floats, rows: int, randomness: RandomSource) -> Codes:
    """Each cell as often as is expected of it, rounded down or up: one draw decides for all."""
    ends = np.cumsum(model.reshape(-1)) * rows
    ends[-1] = rows
    steps = np.floor(ends + _uniform(1, randomness)[0]).astype(np.int64)
    steps = np.minimum(steps, rows)
    steps[-1] = rows
    counts = np.diff(steps, prepend=0)
    cells = np.repeat(np.arange(model.size), counts)
    codes = np.empty((len(cells), len(domain.shape)), np.int32)
    for place in range(len(domain.shape) - 1, -1, -1):
        codes[:, place] = cells % domain.shape[place]
        cells = cells // domain.shape[place]
    return codes


def _drawn_chain(
    domain: Domain,
    margins: Sequence[Margin],
    rows: int,
    randomness: RandomSource,
    token: CancelToken,
) -> Codes:
    """One dimension after another, each given those before it in one table."""
    codes = np.zeros((rows, len(domain.shape)), np.int32)
    for place, size in enumerate(domain.shape):
        own, shares = max(
            (each for each in margins if place in each[0]),
            key=lambda each: sum(other < place for other in each[0]),
        )
        before = [other for other in own if other < place]
        after = tuple(axis for axis, other in enumerate(own) if other > place)
        joint = shares.sum(axis=after).reshape(prod(domain.shape[i] for i in before), size)
        whole = joint.sum(axis=1, keepdims=True)
        given = np.divide(joint, whole, out=np.full_like(joint, 1 / size), where=whole > 0)
        bounds = np.cumsum(given, axis=1)[:, :-1]
        for start in range(0, rows, _PIECE):
            token.check()
            piece = codes[start : start + _PIECE]
            index = np.zeros(len(piece), np.int64)
            for other in before:
                index = index * domain.shape[other] + piece[:, other]
            drawn = _uniform(len(piece), randomness)
            piece[:, place] = (drawn[:, None] >= bounds[index]).sum(axis=1)
    return codes


def _errors(
    domain: Domain, codes: Codes, tables: Sequence[CuboidTable], token: CancelToken
) -> tuple[TableError, ...]:
    found, scale = [], released_total(tables) / max(len(codes), 1)
    for table in tables:
        token.check()
        places = [domain.dimensions.index(name) for name in table.domain.dimensions]
        index = np.zeros(len(codes), np.int64)
        for place in places:
            index = index * domain.shape[place] + codes[:, place]
        wanted = np.asarray(table.values, np.float64).reshape(-1)
        counted = np.bincount(index, minlength=wanted.size).astype(np.float64)
        apart = np.abs(counted * scale - wanted)
        mean, largest = float(apart.mean()), float(apart.max())
        found.append(TableError(table.domain.dimensions, mean, largest, apart.size))
    return tuple(found)
