"""Several releases read as one against dense generalised least squares."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import pytest

from dpdesk.core.errors import InputError, RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import read_query
from dpdesk.engine.cubes.olap.combined import combine, reader_of
from dpdesk.engine.cubes.olap.cube import ReleasedCube
from dpdesk.engine.cubes.olap.grids import cube_grid, read_grid
from dpdesk.engine.cubes.olap.purchase import compare
from tests.helpers.released_cubes import MemoryRelease, memory_release
from tests.reference import olap

SEX, REGION, AGE = ("f", "m"), ("n", "s", "w"), ("0-9", "10-19", "20-29")
ALL = {"sex": SEX, "region": REGION, "age": AGE}
SHAPE = (2, 3, 3)
TOKEN = CancelToken()


def read(release: MemoryRelease) -> ReleasedCube:
    return ReleasedCube.from_manifest(release.manifest)


def information(cube: ReleasedCube, places: Sequence[int]) -> dict[int, float]:
    """1/variance of the noisy cuboids of a release, as masks over all dimensions."""
    found: dict[int, float] = {}
    for mask, variance in zip(cube.sources, cube.vectors["count"].variances, strict=True):
        whole = sum(1 << places[i] for i in range(len(places)) if mask >> i & 1)
        found[whole] = found.get(whole, 0.0) + 1 / variance
    return found


@pytest.mark.parametrize(
    "second",
    [
        {"planner": "all", "epsilon": 2},
        {"planner": "base"},
        {"planner": "optimal", "rho": 0.3, "basis": "residuals"},
        {"planner": "base", "consistency": "none"},
    ],
)
def test_two_releases_together_are_the_generalised_least_squares_of_both(
    second: dict[str, Any],
) -> None:
    releases = [memory_release(ALL, 1), memory_release(ALL, 2, **second)]
    cubes = [read(each) for each in releases]
    base, total, weights = 7, np.zeros(prod(SHAPE)), np.zeros((prod(SHAPE), prod(SHAPE)))
    for cube, release in zip(cubes, releases, strict=True):
        known = information(cube, (0, 1, 2))
        if cube.settings.residuals:
            known, residual = {}, known
        else:
            residual = {}
        precision = np.linalg.inv(olap.covariance(SHAPE, known, residual, base))
        values = np.asarray(release.tables[cube.vectors["count"].files[base]].values, np.float64)
        weights += precision
        total += precision @ values.ravel()
    expected = np.linalg.solve(weights, total)
    reader = combine(list(zip(cubes, releases, strict=True)))
    grid = read_grid(reader, read_query(["sex,region,age"]), TOKEN)
    np.testing.assert_allclose(grid.values.ravel(), expected, atol=1e-6)
    np.testing.assert_allclose(
        grid.standard_errors.ravel() ** 2, np.diag(np.linalg.inv(weights)), rtol=1e-6
    )


def test_tables_over_other_dimensions_help_where_they_overlap() -> None:
    left = memory_release({"sex": SEX, "region": REGION}, 1)
    right = memory_release({"age": AGE, "region": REGION}, 2, epsilon=3)
    cubes = [read(left), read(right)]
    reader = combine([(cubes[0], left), (cubes[1], right)])
    assert reader.cube.domain.dimensions == ("sex", "region", "age")
    own = information(cubes[0], (0, 1))
    for mask, weight in information(cubes[1], (2, 1)).items():
        own[mask] = own.get(mask, 0.0) + weight
    for by, where, sets, mask in (
        ("region", (), [range(2), [0], range(3)], 0b010),
        ("sex", ("region=n,w",), [[0], [0, 2], range(3)], 0b011),
        ("age", ("region!=s",), [range(2), [0, 2], [0]], 0b110),
    ):
        grid = read_grid(reader, read_query([by], where), TOKEN)
        inside = olap.chosen(mask, SHAPE, sets)
        expected = inside @ olap.covariance(SHAPE, own, {}, mask) @ inside
        assert grid.standard_errors[0] ** 2 == pytest.approx(expected, rel=1e-6)
        alone = cube_grid(cubes[0], read_query([by], where), left, TOKEN) if by != "age" else None
        assert alone is None or (grid.standard_errors < alone.standard_errors).all()
    with pytest.raises(RefusedError, match="No release has sex × age together"):
        read_grid(reader, read_query(["sex,age"]), TOKEN)


def test_an_offer_knows_the_error_of_what_will_be_combined() -> None:
    there, wanted = memory_release(ALL, 1), {"sex": SEX, "age": AGE}
    bought = memory_release(wanted, 2, planner="all", publish=[["sex", "age"]], epsilon=0.5)
    offered, known = read(bought), combine([(read(there), there)])
    (found,) = compare(offered, known)
    assert found.now is not None
    alone = cube_grid(read(there), read_query(["sex,age"]), there, TOKEN)
    assert found.now.variance == pytest.approx(alone.standard_errors[0, 0] ** 2)
    assert found.now.half_width == pytest.approx(alone.half_widths[0, 0])
    assert found.alone.variance == pytest.approx(offered.vectors["count"].cells[0b11])
    both = read_grid(
        combine([(read(there), there), (offered, bought)]), read_query(["sex,age"]), TOKEN
    )
    assert found.together.variance == pytest.approx(both.standard_errors[0, 0] ** 2)
    (first,) = compare(offered, None)
    assert first.now is None
    assert first.together == first.alone


def test_an_exact_table_of_one_release_decides_for_all() -> None:
    exact = memory_release(ALL, 1, exact=[["sex"]])
    other = memory_release(ALL, 2)
    reader = combine([(read(exact), exact), (read(other), other)])
    grid = read_grid(reader, read_query(["sex"]), TOKEN)
    np.testing.assert_allclose(grid.values, exact.tables["cuboids/1-sex.csv"].values)
    assert grid.half_widths.max() == 0


def test_what_cannot_be_combined_is_told() -> None:
    one = memory_release(ALL, 1)
    for other, words in (
        (memory_release({"sex": ("m", "f")}, 2), "other categories of `sex`"),
        (memory_release({"sex": SEX}, 2, nonnegative=True), "cleaned"),
        (
            memory_release({"sex": SEX}, 2, measure={"sum": "pay", "lower": 0, "upper": 9}),
            "different things",
        ),
    ):
        with pytest.raises(InputError, match=words):
            combine([(read(one), one), (read(other), other)])
    assert reader_of([(read(one), one)]).cube.domain.dimensions == tuple(ALL)


def test_averages_are_made_of_what_all_releases_know() -> None:
    measure = {"average": "pay", "lower": 0, "upper": 500}
    releases = [memory_release(ALL, seed, measure=measure) for seed in (1, 2)]
    reader = combine([(read(each), each) for each in releases])
    grid = read_grid(reader, read_query(["sex"]), TOKEN)
    single = cube_grid(read(releases[0]), read_query(["sex"]), releases[0], TOKEN)
    assert (grid.standard_errors < 0.8 * single.standard_errors).all()
