"""L2 consistency on cubes of ordinary size: moments of the estimate, limits, cancelling."""

from __future__ import annotations

import numpy as np
import pytest

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.consistency import residual as blocks
from dpdesk.engine.cubes.consistency.residual import ConsistentCube, Measured, consistent_cube
from dpdesk.engine.cubes.lattice import members

SHAPE = (3, 2, 4)
TRUTH = np.arange(24.0).reshape(SHAPE) ** 2


def margin(mask: int) -> np.ndarray:
    return TRUTH.sum(axis=tuple(i for i in range(3) if not mask >> i & 1))


def draw(generator: np.random.Generator) -> ConsistentCube:
    """Four noisy cuboids and a residual source with different variances."""
    noisy = {}
    for mask, variance in {0b111: 9.0, 0b011: 1.0, 0b100: 0.25, 0b000: 4.0}.items():
        values = margin(mask)
        noise = generator.normal(size=values.shape, scale=np.sqrt(variance))
        noisy[mask] = Measured(values + noise, 1 / variance)
    values = margin(0b101)
    noise = generator.normal(size=values.shape)
    return consistent_cube(SHAPE, noisy, {0b101: Measured(values + noise, 1.0)})


def test_the_estimate_has_the_stated_mean_and_variance() -> None:
    # 57 cells, two tests each: z beyond 5.5 in one of them has a probability below 5e-6. The
    # sample variance of 4,000 normal draws has a relative standard deviation of 0.0224.
    generator = np.random.default_rng(11)
    draws = [draw(generator) for _ in range(4000)]
    variances = draws[0].variances()
    for mask in range(8):
        values = np.array([cube.cuboid(mask) for cube in draws]) - margin(mask)
        mean_error = values.mean(axis=0) / np.sqrt(variances[mask] / len(draws))
        assert np.abs(mean_error).max() < 5.5
        ratio = values.var(axis=0) / variances[mask]
        assert np.abs(ratio - 1).max() < 5.5 * 0.0224


def test_slabs_and_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = (4, 3, 5, 2, 6)
    generator = np.random.default_rng(3)
    noisy = {
        mask: Measured(generator.normal(size=[shape[i] for i in members(mask)]), 1.0 + mask)
        for mask in (0b11111, 0b10110, 0b01011, 0b00001, 0)
    }
    whole = consistent_cube(shape, noisy)
    for cells in (1, 10, 50, 300):
        monkeypatch.setattr(blocks, "_CACHED_CELLS", cells)
        parts = consistent_cube(shape, noisy)
        for mask in range(32):
            np.testing.assert_allclose(parts.cuboid(mask), whole.cuboid(mask), rtol=0, atol=1e-12)


def test_integer_noise_is_taken_as_it_is() -> None:
    values = np.array([[1, -2], [3, 4]])
    cube = consistent_cube((2, 2), {3: Measured(values, 0.5)})
    np.testing.assert_array_equal(cube.cuboid(3), values)
    np.testing.assert_array_equal(cube.cuboid(1), [-1, 7])
    assert cube.cuboid(0) == 6


def test_twenty_dimensions_never_build_the_base() -> None:
    shape = (5,) * 20
    pairs = [1 << i | 1 << i + 1 for i in range(19)]
    cube = consistent_cube(shape, {mask: Measured(np.full((5, 5), 4.0), 1.0) for mask in pairs})
    np.testing.assert_allclose(cube.cuboid(0b1), np.full(5, 20.0))
    np.testing.assert_allclose(cube.cuboid(0), 100.0)
    assert not cube.determines(0b101)
    with pytest.raises(RefusedError) as refused:
        cube.cuboid(0b101)
    assert refused.value.code == "cube.not-determined"


def test_a_residual_source_alone_determines_no_cuboid_above_it() -> None:
    cube = consistent_cube((2, 3), {}, {0b11: Measured(np.zeros((2, 3)), 1.0)})
    assert not any(cube.determines(mask) for mask in range(4))


def test_a_cube_beyond_the_limit_is_refused_with_its_size() -> None:
    with pytest.raises(RefusedError) as refused:
        consistent_cube((1000, 1000, 1000), {0b111: Measured(np.zeros(1), 1.0)})
    assert refused.value.code == "cube.too-large"
    assert "1,003,003,001 cells" in refused.value.sentence


def test_published_views_cannot_be_changed() -> None:
    cube = consistent_cube((2, 2), {3: Measured(np.zeros((2, 2)), 1.0)})
    with pytest.raises(ValueError, match="read-only"):
        cube.cuboid(3)[0, 0] = 1


def test_consistency_stops_at_a_cancel() -> None:
    token = CancelToken()
    source = {3: Measured(np.zeros((700, 800)), 1.0)}
    with pytest.raises(Cancelled):
        consistent_cube((700, 800), source, token=token, report=lambda event: token.cancel())


def test_a_dimension_of_one_value_needs_no_residual_of_its_own() -> None:
    """Residual sources of the other dimensions determine the cuboids that have it."""
    shape, generator = (3, 1, 2), np.random.default_rng(4)
    truth = generator.normal(size=shape)
    sources = {}
    for mask in (0b000, 0b001, 0b100, 0b101):
        away = tuple(i for i in range(3) if not mask >> i & 1)
        sources[mask] = Measured(truth.sum(axis=away), 1.0)
    cube = consistent_cube(shape, {}, sources)
    for mask in range(8):
        away = tuple(i for i in range(3) if not mask >> i & 1)
        assert cube.determines(mask)
        assert cube.cuboid(mask) == pytest.approx(truth.sum(axis=away))
    assert cube.variances()[0b111] == pytest.approx(cube.variances()[0b101])
