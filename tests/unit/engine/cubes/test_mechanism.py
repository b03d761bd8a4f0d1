"""Sensitivities against an enumeration of everything that one person can do."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from dpdesk.engine.cubes.lattice import NoiseSource, mask_of, members
from dpdesk.engine.cubes.mechanism import RowEffect, scaled_residual, spread
from dpdesk.engine.private.kinds import Noise

SHAPES = [(2,), (3,), (2, 2), (2, 3), (4, 2), (2, 2, 3)]


def moves(
    shape: tuple[int, ...], lowest: int, highest: int, rows: int, replace: bool
) -> list[np.ndarray]:
    """Every change of the table that one person with up to ``rows`` rows can make."""
    cells = list(product(*(range(n) for n in shape)))
    values = sorted({lowest, highest, *([0] if (lowest, highest) != (1, 1) else [])})
    contributions = [np.zeros(shape, dtype=np.int64)]
    for count in range(1, rows + 1):
        for chosen in product(product(cells, values), repeat=count):
            table = np.zeros(shape, dtype=np.int64)
            for cell, value in chosen:
                table[cell] += value
            contributions.append(table)
    empty = contributions[:1]
    return [a - b for a in contributions for b in (contributions if replace else empty)]


def norms(changes: list[np.ndarray]) -> tuple[int, int]:
    return (
        max(int(np.abs(change).sum()) for change in changes),
        max(int((change**2).sum()) for change in changes),
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("replace", [False, True])
def test_a_count_moves_by_no_more_than_its_sensitivity(
    shape: tuple[int, ...], replace: bool
) -> None:
    rows = 2 if prod(shape) <= 4 else 1
    found = RowEffect(1, 1, rows, replace).of_cuboid()
    assert norms(moves(shape, 1, 1, rows, replace)) == (found.l1, found.l2_squared)


@pytest.mark.parametrize("bounds", [(0, 3), (-2, 3), (2, 5), (-4, -1), (-3, 3)])
@pytest.mark.parametrize("replace", [False, True])
def test_a_sum_moves_by_no_more_than_its_sensitivity(
    bounds: tuple[int, int], replace: bool
) -> None:
    found = RowEffect(*bounds, 1, replace).of_cuboid()
    l1, l2 = norms(moves((3,), *bounds, 1, replace))
    assert (l1, l2) == (found.l1, found.l2_squared)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("replace", [False, True])
def test_a_residual_moves_by_no_more_than_its_sensitivity(
    shape: tuple[int, ...], replace: bool
) -> None:
    for mask in range(1 << len(shape)):
        gone = tuple(i for i in range(len(shape)) if not mask >> i & 1)
        rows = 2 if prod(shape) <= 4 else 1
        changes = moves(shape, 1, 1, rows, replace)
        largest = max(
            int((scaled_residual(np.asarray(change.sum(axis=gone))) ** 2).sum())
            for change in changes
        )
        bound = RowEffect(1, 1, rows, replace).of_residual(mask, shape)
        assert largest <= bound
        if rows == 1:
            assert largest == bound


def test_a_scaled_residual_is_the_projection_times_the_number_of_cells() -> None:
    rng = np.random.default_rng(3)
    table = rng.integers(0, 50, size=(3, 4))
    projected = table - table.mean(0, keepdims=True) - table.mean(1, keepdims=True) + table.mean()
    assert np.allclose(scaled_residual(table), 12 * projected)


def test_scales_spend_the_share_of_the_budget_exactly() -> None:
    effect, shape = RowEffect(1, 1, 3, False), (2, 5)
    source = NoiseSource(mask_of([0, 1]), Fraction(1, 7))
    scale = spread(source, Noise.LAPLACE, Fraction(1, 2), effect, shape)
    assert effect.of_cuboid().l1 / scale == Fraction(1, 14)
    variance = spread(source, Noise.GAUSSIAN, Fraction(1, 2), effect, shape)
    assert effect.of_cuboid().l2_squared / (2 * variance) == Fraction(1, 14)
    residual = NoiseSource(source.cuboid, source.share, residual=True)
    fine = spread(residual, Noise.GAUSSIAN, Fraction(1, 2), effect, shape)
    kept = prod((Fraction(shape[i] - 1, shape[i]) for i in members(3)), start=Fraction(1))
    assert 9 * kept * 100 / (2 * fine) == Fraction(1, 14)


def test_residuals_of_sums_are_refused_when_a_person_is_replaced() -> None:
    with pytest.raises(ValueError, match="residuals of sums"):
        RowEffect(-1, 1, 1, True).of_residual(1, (2,))
