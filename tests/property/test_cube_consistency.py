"""L2 consistency agrees with dense least squares on small random cubes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.engine.cubes.consistency.residual import Measured, cells_below, consistent_cube
from tests.reference import cube_consistency as reference

Sources = dict[int, tuple[reference.Floats, float]]


@st.composite
def cubes(draw: st.DrawFn) -> tuple[tuple[int, ...], Sources, Sources]:
    """A shape with up to four dimensions, noisy cuboids and residual sources."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    masks = st.integers(0, (1 << len(shape)) - 1)
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))

    def sources(least: int) -> Sources:
        chosen = draw(st.lists(masks, min_size=least, max_size=6, unique=True))
        return {
            mask: (
                generator.normal(size=[shape[i] for i in reference.axes(mask)], scale=100),
                draw(st.floats(0.01, 100)),
            )
            for mask in chosen
        }

    return shape, sources(1), sources(0)


def measured(sources: Sources) -> dict[int, Measured]:
    return {mask: Measured(*source) for mask, source in sources.items()}


@settings(deadline=None, max_examples=200)
@given(cubes())
def test_the_estimate_is_the_dense_least_squares_solution(
    cube: tuple[tuple[int, ...], Sources, Sources],
) -> None:
    shape, noisy, residuals = cube
    found = consistent_cube(shape, measured(noisy), measured(residuals))
    determined = [mask for mask in range(1 << len(shape)) if found.determines(mask)]
    assert set(noisy) <= set(determined)
    expected = reference.least_squares(shape, noisy, residuals, determined)
    for mask in determined:
        np.testing.assert_allclose(found.cuboid(mask), expected[mask], rtol=0, atol=1e-9)


@settings(deadline=None, max_examples=100)
@given(cubes())
def test_the_closed_form_variance_is_that_of_least_squares(
    cube: tuple[tuple[int, ...], Sources, Sources],
) -> None:
    shape, noisy, residuals = cube
    found = consistent_cube(shape, measured(noisy), measured(residuals))
    variances = found.variances()
    own = {mask: weight for mask, (_, weight) in noisy.items()}
    residual = {mask: weight for mask, (_, weight) in residuals.items()}
    for mask in range(1 << len(shape)):
        if found.determines(mask):
            expected = reference.variances(shape, own, residual, mask)
            np.testing.assert_allclose(expected, variances[mask], rtol=1e-6)


@settings(deadline=None, max_examples=100)
@given(cubes())
def test_every_determined_cuboid_is_the_sum_of_every_finer_one(
    cube: tuple[tuple[int, ...], Sources, Sources],
) -> None:
    shape, noisy, residuals = cube
    found = consistent_cube(shape, measured(noisy), measured(residuals))
    for fine in range(1 << len(shape)):
        if not found.determines(fine):
            continue
        for place, axis in enumerate(reference.axes(fine)):
            coarse = found.cuboid(fine ^ (1 << axis))
            np.testing.assert_allclose(
                found.cuboid(fine).sum(axis=place), coarse, rtol=0, atol=1e-9
            )


@settings(deadline=None, max_examples=50)
@given(cubes())
def test_what_is_consistent_already_stays_as_it_is(
    cube: tuple[tuple[int, ...], Sources, Sources],
) -> None:
    shape, noisy, residuals = cube
    once = consistent_cube(shape, measured(noisy), measured(residuals))
    again = {mask: Measured(once.cuboid(mask), noisy[mask][1]) for mask in noisy}
    twice = consistent_cube(shape, again)
    for mask in noisy:
        np.testing.assert_allclose(twice.cuboid(mask), once.cuboid(mask), rtol=0, atol=1e-9)


@settings(deadline=None, max_examples=50)
@given(cubes())
def test_memory_is_told_beforehand(cube: tuple[tuple[int, ...], Sources, Sources]) -> None:
    shape, noisy, _ = cube
    below = {mask for mask in range(1 << len(shape)) if any(mask & ~fine == 0 for fine in noisy)}
    expected = sum(len(reference.cells(mask, shape)) for mask in below)
    assert cells_below(noisy, shape) == expected
