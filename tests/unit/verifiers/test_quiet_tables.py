"""Tables with less noise than they state: the bound holds, and no honest table is accused."""

from __future__ import annotations

from itertools import product
from math import exp

import numpy as np
import pytest

from dpdesk.verifiers.cubes.quiet import chance_of_sum, chance_of_zero, log_chance

FURTHEST = {2: 60, 3: 40, 4: 14}


def weights(scale: float, furthest: int, *, gaussian: bool) -> dict[int, float]:
    """The chances of values up to ``furthest`` of the noise, from their definition."""
    far = max(furthest, int(50 * scale) + 60)
    raw = {
        x: exp(-(x**2) / (2 * scale**2)) if gaussian else exp(-abs(x) / scale)
        for x in range(-far, far + 1)
    }
    whole = sum(raw.values())
    return {x: weight / whole for x, weight in raw.items() if abs(x) <= furthest}


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("shape", [(2,), (3,), (2, 2), (4,)])
def test_so_little_noise_is_no_likelier_than_the_bound(
    shape: tuple[int, ...], scale: float, gaussian: bool
) -> None:
    cells = int(np.prod(shape))
    chances = weights(scale, FURTHEST[cells], gaussian=gaussian)
    values = np.array(list(product(chances, repeat=cells)), float).reshape(-1, *shape)
    likely = np.array(list(product(chances.values(), repeat=cells))).prod(axis=1)
    left = values
    for axis in range(1, len(shape) + 1):
        left = left - left.mean(axis=axis, keepdims=True)
    size = np.sqrt((left.reshape(len(left), -1) ** 2).sum(axis=1))
    order = np.argsort(size, kind="stable")
    below = np.cumsum(likely[order])
    for place in range(0, len(order), max(1, len(order) // 200)):
        last = np.searchsorted(size[order], size[order[place]] + 1e-9, "right") - 1
        bound = log_chance(values[order[place]], scale, gaussian=gaussian)
        assert below[last] <= exp(bound) + 1e-9
    total = np.abs(values.reshape(len(values), -1)).sum(axis=1)
    for least in range(12):
        drawn = np.full(shape, least / cells)
        bound = chance_of_sum(drawn, scale, gaussian=gaussian)
        assert likely[total <= least + 1e-9].sum() <= exp(bound) + 1e-9


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5, 400.0])
def test_the_chance_of_no_noise_in_a_cell(scale: float, gaussian: bool) -> None:
    chances = weights(scale, int(50 * scale) + 60, gaussian=gaussian)
    assert chance_of_zero(scale, gaussian=gaussian) == pytest.approx(chances[0], rel=1e-9)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("shape", [(120,), (12, 12), (5, 5, 5)])
def test_none_at_all_and_a_twentieth_are_told_and_honest_noise_is_not(
    shape: tuple[int, ...], gaussian: bool
) -> None:
    scale = 40.0
    assert log_chance(np.zeros(shape), scale, gaussian=gaussian) < -45
    random = np.random.default_rng(7)
    for _ in range(50):
        drawn = random.normal if gaussian else random.laplace
        honest = np.rint(drawn(0, scale, shape))
        assert log_chance(honest, scale, gaussian=gaussian) == 0
        little = np.rint(drawn(0, scale / 20, shape))
        assert log_chance(little, scale, gaussian=gaussian) < -45


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0, 399.0, 401.0, 1e12])
def test_noise_as_it_was_drawn_is_bounded_by_its_sum(scale: float, gaussian: bool) -> None:
    assert chance_of_sum(np.zeros(105), scale, gaussian=gaussian) < -45
    random = np.random.default_rng(5)
    for _ in range(50):
        drawn = random.normal if gaussian else random.laplace
        honest = np.rint(drawn(0, scale, 105))
        assert chance_of_sum(honest, scale, gaussian=gaussian) > -20
        assert chance_of_sum(np.rint(honest / 8), scale, gaussian=gaussian) < -45


def test_margins_that_other_tables_know_better_do_not_count() -> None:
    """Whatever is added along the dimensions leaves the bound as it is."""
    random = np.random.default_rng(3)
    noise = random.laplace(0, 5, (9, 9))
    moved = noise + random.normal(0, 50, (9, 1)) + random.normal(0, 50, (1, 9))
    known = log_chance(noise / 30, 5, gaussian=False)
    assert log_chance(moved / 30, 5, gaussian=False) == pytest.approx(known)
    assert log_chance(np.zeros((9, 1)), 5, gaussian=False) == 0
    assert log_chance(np.zeros(()), 5, gaussian=False) == 0
