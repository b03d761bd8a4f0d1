"""Tables with less noise than they state: the bound holds, and no honest table is accused."""

from __future__ import annotations

from itertools import product
from math import exp

import numpy as np
import pytest
from numpy.typing import NDArray

from dpdesk.verifiers import nearness
from dpdesk.verifiers.nearness import (
    NEVER,
    Choice,
    Drawn,
    Part,
    chance_of_choices,
    chance_of_contrasts,
    chance_of_zero,
    likeliest_sum,
)

FURTHEST = {2: 60, 3: 40, 4: 14}


def log_chance(noise: NDArray[np.float64], scale: float, *, gaussian: bool) -> float:
    """Of the residual that varies in all dimensions."""
    own = np.zeros((2,) * noise.ndim, bool)
    own[(1,) * noise.ndim] = True
    likely = chance_of_zero(scale, gaussian=gaussian)
    return nearness.log_chance([Part(noise, likely, own)])


def chance_of_sum(noise: NDArray[np.float64], scale: float, *, gaussian: bool) -> float:
    return nearness.chance_of_sum([Drawn(noise, scale)], gaussian=gaussian)


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
        assert log_chance(honest, scale, gaussian=gaussian) > -5
        little = np.rint(drawn(0, scale / 20, shape))
        assert log_chance(little, scale, gaussian=gaussian) < -45


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0, 401.0, 1e12])
def test_noise_as_it_was_drawn_is_bounded_by_its_sum(scale: float, gaussian: bool) -> None:
    assert chance_of_sum(np.zeros(105), scale, gaussian=gaussian) < -45
    random = np.random.default_rng(5)
    for _ in range(50):
        drawn = random.normal if gaussian else random.laplace
        honest = np.rint(drawn(0, scale, 105))
        assert chance_of_sum(honest, scale, gaussian=gaussian) > -20
        assert chance_of_sum(np.rint(honest / 8), scale, gaussian=gaussian) < -45


OWN = {"all": [[1, 1], [1, 1]], "but the total": [[0, 1], [1, 1]], "but rows": [[0, 1], [0, 1]]}


@pytest.mark.parametrize("scale", [0.4, 1.5])
@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_parts_of_tables_are_no_likelier_than_their_bounds(
    own: list[list[int]], scale: float
) -> None:
    chances = weights(scale, 4, gaussian=False)
    known, likely = np.array(own, bool), chance_of_zero(scale, gaussian=False)
    found = {}
    for name, bound in (("length", nearness.log_chance), ("contrasts", chance_of_contrasts)):
        values = {}
        for drawn in product(chances, repeat=4):
            part = Part(np.array(drawn, float).reshape(2, 2), likely, known)
            values[drawn] = bound([part])
        found[name] = values
    for values in found.values():
        order = sorted(values, key=lambda drawn: values[drawn])
        below = 0.0
        for place, drawn in enumerate(order):
            below += np.prod([chances[each] for each in drawn])
            last = place + 1 == len(order) or values[order[place + 1]] > values[drawn] + 1e-12
            assert not last or below <= exp(values[drawn]) + 1e-9


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0])
def test_noise_that_is_cut_at_zero_is_bounded(scale: float, gaussian: bool) -> None:
    chances = weights(scale, 12, gaussian=gaussian)
    floors = np.array([0, 1, 5])
    found = []
    for drawn in product(chances, repeat=3):
        cut = np.maximum(np.array(drawn), -floors)
        found.append((np.abs(cut).sum(), np.prod([chances[each] for each in drawn])))
    sums, likely = map(np.array, zip(*found, strict=True))
    for total in range(12):
        table = Drawn(np.array([0.0, 0.0, total]), scale, floors)
        bound = nearness.chance_of_sum([table], gaussian=gaussian)
        assert likely[sums <= total].sum() <= exp(bound) + 1e-9


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
def test_the_likeliest_sum_of_cells(scale: float, gaussian: bool) -> None:
    chances = weights(scale, int(50 * scale) + 60, gaussian=gaussian)
    single = np.array([chances[x] for x in sorted(chances)])
    several = single
    for cells in range(2, 6):
        several = np.convolve(several, single)
        found = likeliest_sum(scale, cells, gaussian=gaussian)
        assert several.max() - 1e-12 <= found
        if not gaussian or scale >= 1:
            assert found == pytest.approx(several.max(), rel=1e-6)


def test_choices_that_are_always_the_best_are_told_and_drawn_ones_are_not() -> None:
    random = np.random.default_rng(2)
    falls = np.array([0.0, 0.5, 1.0, 3.0])
    chances = np.exp(-falls) / np.exp(-falls).sum()
    best = [Choice(0.0, falls, chances)] * 80
    assert chance_of_choices(best) == pytest.approx(80 * np.log(chances[0]), rel=1e-6)
    for _ in range(200):
        drawn = [Choice(falls[x], falls, chances) for x in random.choice(4, 80, p=chances)]
        assert chance_of_choices(drawn) > -15
    for pair in product(range(4), repeat=2):
        short = falls[list(pair)].sum()
        bound = chance_of_choices([Choice(falls[x], falls, chances) for x in pair])
        together = falls[:, None] + falls
        exact = (chances[:, None] * chances)[together <= short + 1e-9].sum()
        assert exact <= exp(bound) + 1e-12
    assert NEVER == -45


def test_margins_that_other_tables_know_better_do_not_count() -> None:
    """Whatever is added along the dimensions leaves the bound as it is."""
    random = np.random.default_rng(3)
    noise = random.laplace(0, 5, (9, 9))
    moved = noise + random.normal(0, 50, (9, 1)) + random.normal(0, 50, (1, 9))
    known = log_chance(noise / 30, 5, gaussian=False)
    assert log_chance(moved / 30, 5, gaussian=False) == pytest.approx(known)
    assert log_chance(np.zeros((9, 1)), 5, gaussian=False) == 0
