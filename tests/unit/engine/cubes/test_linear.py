"""L1 and L-infinity consistency."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from dpdesk.core.errors import Cancelled, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.cubes.consistency.linear import least_absolute_cube, least_maximum_cube
from dpdesk.engine.cubes.consistency.residual import ConsistentCube, Measured
from dpdesk.engine.cubes.solver import LIMIT, Answer, Program, Solver
from tests.reference import cube_consistency as reference

CUBES = [
    ((2, 3), {0b11: 1.0, 0b01: 1.0, 0b10: 1.0, 0b00: 1.0}),
    ((2, 3, 2), {0b011: 1.0, 0b110: 0.25, 0b101: 4.0, 0b000: 1.0}),
    ((3, 2, 2), {0b011: 1.0, 0b110: 1.0}),
    ((4,), {0b1: 2.0, 0b0: 0.5}),
]


def noisy_cuboids(shape: tuple[int, ...], own: dict[int, float]) -> dict[int, Measured]:
    generator = np.random.default_rng(5)
    return {
        mask: Measured(generator.normal(scale=9, size=[shape[i] for i in reference.axes(mask)]), w)
        for mask, w in own.items()
    }


def differences(cube: ConsistentCube, noisy: dict[int, Measured]) -> np.ndarray:
    return np.concatenate(
        [
            np.sqrt(source.information) * (cube.cuboid(mask) - source.values).ravel()
            for mask, source in noisy.items()
        ]
    )


def smallest_norm(shape: tuple[int, ...], noisy: dict[int, Measured], *, largest: bool) -> float:
    """The optimum over all signed base cubes, with one bound per cell or one for all."""
    rows = [np.sqrt(s.information) * reference.sums(m, shape) for m, s in noisy.items()]
    right = np.concatenate([np.sqrt(s.information) * s.values.ravel() for s in noisy.values()])
    matrix = np.vstack(rows)
    bound = np.ones((len(right), 1)) if largest else np.eye(len(right))
    solved = linprog(
        np.append(np.zeros(matrix.shape[1]), np.ones(bound.shape[1])),
        A_ub=np.block([[matrix, -bound], [-matrix, -bound]]),
        b_ub=np.append(right, -right),
        bounds=[(None, None)] * matrix.shape[1] + [(0, None)] * bound.shape[1],
    )
    assert solved.status == 0
    return float(solved.fun)


@pytest.mark.parametrize(("shape", "own"), CUBES)
def test_the_norms_are_the_smallest_of_all_consistent_cubes(
    shape: tuple[int, ...], own: dict[int, float]
) -> None:
    noisy = noisy_cuboids(shape, own)
    absolute = differences(least_absolute_cube(shape, noisy), noisy)
    assert np.abs(absolute).sum() == pytest.approx(smallest_norm(shape, noisy, largest=False))
    maximum = differences(least_maximum_cube(shape, noisy), noisy)
    assert np.abs(maximum).max() == pytest.approx(smallest_norm(shape, noisy, largest=True))


@pytest.mark.parametrize("solve", [least_absolute_cube, least_maximum_cube])
def test_margins_add_up_to_rounding(solve: object) -> None:
    shape, own = CUBES[1]
    assert callable(solve)
    cube = solve(shape, noisy_cuboids(shape, own))
    for fine in (0b011, 0b110, 0b101):
        for place, axis in enumerate(reference.axes(fine)):
            np.testing.assert_allclose(
                cube.cuboid(fine).sum(axis=place), cube.cuboid(fine ^ 1 << axis), atol=1e-9
            )


def test_no_variance_is_claimed_for_them() -> None:
    cube = least_absolute_cube((4,), noisy_cuboids((4,), {1: 1.0}))
    with pytest.raises(ValueError, match="least-squares"):
        cube.variances()


def test_large_cubes_are_refused_with_their_size() -> None:
    with pytest.raises(RefusedError) as refused:
        least_absolute_cube((200, 200), {3: Measured(np.zeros((200, 200)), 1.0)})
    assert refused.value.code == "cube.too-large-for-linear"
    assert "40,000 cells" in refused.value.sentence


def test_a_program_that_is_not_solved_in_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(solver: Solver, program: Program, seconds: float, token: CancelToken) -> Answer:
        assert seconds == 7
        return Answer(LIMIT, None, -np.inf)

    monkeypatch.setattr(Solver, "solve", out_of_time)
    with pytest.raises(RefusedError) as refused:
        least_maximum_cube((4,), noisy_cuboids((4,), {1: 1.0}), seconds=7)
    assert refused.value.code == "cube.linear-unfinished"
    assert "7 seconds" in refused.value.sentence


def test_a_cancelled_program_stops() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        least_absolute_cube((4,), noisy_cuboids((4,), {1: 1.0}), token)
