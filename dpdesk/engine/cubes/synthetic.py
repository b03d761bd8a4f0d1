"""Rows made from released tables alone: drawn from a model that is fitted to them.

Post-processing of what was published: nothing here sees the source, so no privacy is spent, and
nothing hangs on how exactly a probability is drawn. Over a domain of few cells the model is the
distribution of greatest entropy with the released tables as its margins (iterative scaling); over
larger ones a chain: each dimension depends on those before it in all tables that hold it, by the
conditional distribution of greatest entropy that has these tables.
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
_MOST_FITTED, _TURNS, _NEAR = 1 << 17, 12, 1e-4
"""Rows to which the steps of a chain are fitted, in how many turns at most, and how closely."""
_LEAST = 1e-9
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


@dataclass(frozen=True, eq=False)
class _Given:
    """What a table says of a dimension: its shares, given those that were drawn before it.

    A share stands by the place of the row among all combinations of ``before``, and by category.
    """

    before: tuple[int, ...]
    sizes: tuple[int, ...]
    shares: Floats

    def places(self, codes: Codes) -> NDArray[np.int64]:
        """For each row, where its shares stand."""
        index = np.zeros(len(codes), np.int64)
        for other, size in zip(self.before, self.sizes, strict=True):
            index = index * size + codes[:, other]
        return index


def _drawn_chain(
    domain: Domain,
    margins: Sequence[Margin],
    rows: int,
    randomness: RandomSource,
    token: CancelToken,
) -> Codes:
    """One dimension after another, each given those before it in all tables that hold it.

    Rows are exchangeable, so the first ones represent all.
    """
    codes = np.zeros((rows, len(domain.shape)), np.int32)
    for place in range(len(domain.shape)):
        known = _given(domain, margins, place)
        factors = _step(known, codes[:_MOST_FITTED], token)
        drawn = _even(known[0].places(codes), randomness)
        for start in range(0, rows, _PIECE):
            token.check()
            piece = slice(start, start + _PIECE)
            at = [each.places(codes[piece]) for each in known]
            bounds = np.cumsum(_chances(factors, at, known[0]), axis=1)[:, :-1]
            codes[piece, place] = (drawn[piece, None] >= bounds).sum(axis=1)
    return codes


def _given(domain: Domain, margins: Sequence[Margin], place: int) -> list[_Given]:
    """What the tables say of a dimension; one that is part of another is left out."""
    found: list[_Given] = []
    holding = [each for each in margins if place in each[0]]
    for own, shares in sorted(holding, key=lambda each: -sum(other < place for other in each[0])):
        before = tuple(other for other in own if other < place)
        if any({*before} <= {*each.before} for each in found):
            continue
        after = tuple(axis for axis, other in enumerate(own) if other > place)
        sizes = tuple(domain.shape[other] for other in before)
        joint = shares.sum(axis=after).reshape(prod(sizes), domain.shape[place])
        whole = joint.sum(axis=1, keepdims=True)
        even = np.full_like(joint, 1 / joint.shape[1])
        found.append(_Given(before, sizes, np.divide(joint, whole, out=even, where=whole > 0)))
    return found


def _step(known: Sequence[_Given], codes: Codes, token: CancelToken) -> list[Floats]:
    """Factors of the tables whose product, made to sum to 1, has in these rows what each says.

    Scaled table by table; rows have sums of 1 again after each turn.
    """
    factors = [known[0].shares, *(np.ones_like(each.shares) for each in known[1:])]
    if len(known) == 1:
        return factors
    at = [each.places(codes) for each in known]
    wanted = [
        each.shares * np.bincount(index, minlength=len(each.shares))[:, None]
        for each, index in zip(known, at, strict=True)
    ]
    chances = _chances(factors, at, known[0])
    for _ in range(_TURNS):
        moved = 0.0
        for number, index in enumerate(at):
            token.check()
            size = len(wanted[number])
            found = np.column_stack([np.bincount(index, each, size) for each in chances.T])
            moved = max(moved, float(np.abs(found - wanted[number]).sum()))
            # What no row can have stays so; a table's zero is a chance of next to nothing, for
            # another table may leave a row nothing else.
            scale = np.ones_like(found)
            np.divide(np.maximum(wanted[number], _LEAST), found, out=scale, where=found > _LEAST)
            factors[number] = factors[number] * scale
            chances *= scale[index]
            chances /= chances.sum(axis=1, keepdims=True)
        if moved <= _NEAR * len(codes):
            break
    return factors


def _chances(factors: Sequence[Floats], at: Sequence[NDArray[np.int64]], first: _Given) -> Floats:
    """The chances of each category, by row; by the first table where all exclude each other."""
    found: Floats = factors[0][at[0]]
    for factor, index in zip(factors[1:], at[1:], strict=True):
        found = found * factor[index]
    whole = found.sum(axis=1, keepdims=True)
    np.divide(found, whole, out=found, where=whole > 0)
    nowhere = np.flatnonzero(whole <= 0)
    found[nowhere] = first.shares[at[0][nowhere]]
    return found


def _even(groups: NDArray[np.int64], randomness: RandomSource) -> Floats:
    """A number from 0 to 1 for each row, spread evenly over the rows of each group.

    Each by itself is as any; together they make the counts of a group what is expected of them.
    """
    order = np.argsort(randomness.words(len(groups)))
    kind = np.uint16 if groups.max(initial=0) < 1 << 16 else np.int64  # short ones sort in no time
    order = order[np.argsort(groups[order].astype(kind), kind="stable")]
    sizes = np.bincount(groups)
    ends = np.cumsum(sizes)
    within = np.arange(len(groups)) - np.repeat(ends - sizes, sizes)
    found = np.empty(len(groups), np.float64)
    found[order] = (within + _uniform(len(groups), randomness)) / np.repeat(sizes, sizes)
    return found


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
