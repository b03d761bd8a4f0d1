"""Non-negative and whole cubes against dense references, and the bias that is told beforehand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.consistency.integral import (
    BaseCube,
    Bias,
    Example,
    base_cube,
    expected_bias,
    nonnegative_cube,
    refuse_unfit,
    whole_cube,
)
from dpdesk.engine.cubes.consistency.residual import ConsistentCube, Measured, consistent_cube
from dpdesk.engine.private.kinds import Noise
from tests.reference import cube_consistency as reference

SHAPE = (3, 1, 4, 2)
OWN = {0b1111: 0.5, 0b0101: 2.0, 0b1000: 1.0, 0b0000: 4.0}


def noisy_cuboids(seed: int, shape: tuple[int, ...] = SHAPE) -> dict[int, Measured]:
    generator = np.random.default_rng(seed)
    return {
        mask: Measured(
            generator.normal(size=[shape[i] for i in reference.axes(mask)], loc=1, scale=4), weight
        )
        for mask, weight in OWN.items()
    }


def cube_of(seed: int) -> tuple[ConsistentCube, dict[int, Measured]]:
    noisy = noisy_cuboids(seed)
    return consistent_cube(SHAPE, noisy), noisy


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_the_fit_is_the_non_negative_least_squares_solution(seed: int) -> None:
    cube, noisy = cube_of(seed)
    found = nonnegative_cube(cube, tolerance=1e-12)
    matrix = reference.system(SHAPE, OWN, {})
    right = np.concatenate(
        [np.sqrt(source.information) * source.values.ravel() for source in noisy.values()]
    )
    expected, _ = nnls(matrix, right)
    assert found.base.min() >= 0
    np.testing.assert_allclose(found.base.ravel(), expected, rtol=0, atol=1e-4)


def test_the_stated_gap_holds() -> None:
    cube, noisy = cube_of(4)
    loose = nonnegative_cube(cube, tolerance=0.5)
    exact = nonnegative_cube(cube, tolerance=1e-12)

    def distance(base: np.ndarray) -> float:
        away = base - cube.cuboid(0b1111)
        return sum(
            source.information * float((BaseCube(away).cuboid(mask) ** 2).sum())
            for mask, source in noisy.items()
        )

    assert 0 <= loose.gap <= 0.5
    assert distance(exact.base) >= (1 - loose.gap) * distance(loose.base) - 1e-9


def test_a_cube_without_negative_cells_stays_as_it_is() -> None:
    cube = consistent_cube((2, 2), {3: Measured(np.array([[1.0, 0.0], [2.0, 3.5]]), 1.0)})
    found = nonnegative_cube(cube)
    np.testing.assert_array_equal(found.base, cube.cuboid(3))
    assert found.gap == 0


def test_every_cuboid_is_the_sum_of_the_base() -> None:
    found = nonnegative_cube(cube_of(1)[0])
    for mask in range(16):
        away = tuple(axis for axis in range(4) if not mask >> axis & 1)
        np.testing.assert_allclose(found.cuboid(mask), found.base.sum(axis=away), atol=1e-12)


def test_without_a_base_nothing_is_made_whole_or_non_negative() -> None:
    cube = consistent_cube((2, 2), {1: Measured(np.zeros(2), 1.0), 2: Measured(np.zeros(2), 1.0)})
    for make in (base_cube, nonnegative_cube):
        with pytest.raises(RefusedError) as refused:
            make(cube)
        assert refused.value.code == "cube.no-base"


def test_a_large_base_is_refused_with_its_size() -> None:
    cube = consistent_cube((800, 800), {3: Measured(-np.ones((800, 800)), 1.0)})
    with pytest.raises(RefusedError) as refused:
        nonnegative_cube(cube)
    assert refused.value.code == "cube.too-large-for-nonnegative"
    assert "640,000 cells" in refused.value.sentence


def test_what_would_be_refused_is_refused_before_noise_exists() -> None:
    refuse_unfit((800, 800), [0b11, 0b01], nonnegative=False)
    refuse_unfit((8, 8), [0b11], nonnegative=True)
    for sources, nonnegative, code in (
        ([0b01, 0b10], False, "cube.no-base"),
        ([0b11], True, "cube.too-large-for-nonnegative"),
    ):
        with pytest.raises(RefusedError) as refused:
            refuse_unfit((800, 800), sources, nonnegative=nonnegative)
        assert refused.value.code == code


def test_an_estimate_of_another_kind_is_not_made_non_negative() -> None:
    cube = replace(cube_of(3)[0], least_squares=False)
    with pytest.raises(ValueError, match="least-squares"):
        nonnegative_cube(cube)


def test_the_search_stops_at_a_cancel() -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        nonnegative_cube(cube_of(2)[0], token, lambda event: token.cancel(), tolerance=1e-15)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 5.0, 1e6]))
def test_whole_cells_keep_their_promises(seed: int, scale: float) -> None:
    values = np.random.default_rng(seed).exponential(scale, size=(4, 3, 5))
    before = BaseCube(values)
    whole = whole_cube(before)
    assert whole.base.dtype == np.int64
    assert whole.base.min() >= 0
    for mask in (0b111, 0b011, 0b001, 0b000):  # leading dimensions: sums of runs of cells
        np.testing.assert_array_less(np.abs(whole.cuboid(mask) - before.cuboid(mask)), 1)
    for mask in range(8):
        away = tuple(axis for axis in range(3) if not mask >> axis & 1)
        np.testing.assert_array_equal(whole.cuboid(mask), whole.base.sum(axis=away))


def test_whole_numbers_are_not_changed() -> None:
    values = np.arange(-12.0, 12).reshape(2, 3, 4)
    np.testing.assert_array_equal(whole_cube(BaseCube(values)).base, values)


def by_cuboid(found: list[Bias]) -> dict[int, Bias]:
    return {bias.cuboid: bias for bias in found}


def test_the_bias_of_independent_cells_is_that_of_a_clipped_cell() -> None:
    # One noisy base cuboid: every cell is clipped at 0 by itself, so a cell that is truly 0 has
    # the mean sd/sqrt(2 pi) for normal noise, and sd/(2 sqrt 2) for Laplace noise. 180,000 draws:
    # 6 standard errors (0.6 sd / 424) are below 0.01 sd.
    for noise, mean in ((Noise.GAUSSIAN, (2 * np.pi) ** -0.5), (Noise.LAPLACE, 8**-0.5)):
        found = expected_bias(
            (100, 100), {3: 0.04}, noise, [3], [Example(filled=0.1, value=1000.0)]
        )  # fmt: skip
        assert found[0].empty == pytest.approx(5 * mean, abs=0.05)
        assert abs(found[0].other) < 0.25
        assert found[0].error_before == pytest.approx(5, rel=0.02)
        assert found[0].error_after < found[0].error_before


def test_empty_cells_rise_and_others_pay_when_totals_are_measured_well() -> None:
    own = {0b11: 0.01, 0b00: 100.0}
    found = by_cuboid(expected_bias((10, 10), own, Noise.GAUSSIAN, [0, 1, 3], [Example(0.2, 30.0)]))
    assert found[3].empty > 0
    assert found[3].other < 0
    assert abs(found[0].other) < 1


def test_examples_come_in_the_order_asked_for_and_are_the_same_every_time() -> None:
    examples = [Example(0.5, 3.0), Example(0.1, 100.0)]
    once = expected_bias((4, 5), {3: 1.0}, Noise.LAPLACE, [3, 0], examples, {1: 1.0}, draws=3)
    again = expected_bias((4, 5), {3: 1.0}, Noise.LAPLACE, [3, 0], examples, {1: 1.0}, draws=3)
    assert once == again
    assert [(bias.example, bias.cuboid) for bias in once] == [
        (example, cuboid) for example in examples for cuboid in (3, 0)
    ]


def test_examples_of_large_cubes_are_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        expected_bias((400, 400), {3: 1.0}, Noise.LAPLACE, [3], [Example(0.1, 1.0)])
    assert refused.value.code == "cube.too-large-for-examples"
