"""Sums over product sets of released cells against brute force: values and exact variances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import RefusedError
from dpdesk.core.jobs import CancelToken
from dpdesk.core.query import Chosen, Grouping, Query
from dpdesk.engine.cubes.lattice import information
from dpdesk.engine.cubes.olap.cube import ReleasedCube
from dpdesk.engine.cubes.olap.grids import cube_grid, sum_variances
from tests.helpers.released_cubes import MemoryRelease, memory_release
from tests.reference import cube_consistency, olap

DOMAINS = {"sex": ("f", "m"), "region": ("n", "s", "e", "w"), "age": ("0-9", "10-19", "20-29")}
SHAPE = (2, 4, 3)
PLANS = {
    "bmax": {},
    "all": {"planner": "all"},
    "base": {"planner": "base"},
    "optimal": {"planner": "optimal", "objective": "total"},
    "residuals": {"planner": "optimal", "rho": 0.1, "basis": "residuals"},
    "none": {"planner": "all", "consistency": "none"},
    "none, rho": {"consistency": "none", "rho": 0.2},
    "pairs": {"publish": {"max_dimensions": 2}},
    "pairs, none": {"publish": {"max_dimensions": 2}, "consistency": "none", "planner": "all"},
    "exact": {"exact": [["sex", "region"]]},
    "exact, none": {"exact": [["sex"]], "consistency": "none", "planner": "all"},
    "sum": {"measure": {"sum": "pay", "lower": 0, "upper": 500, "step": 5}},
    "average": {"measure": {"average": "pay", "lower": 0, "upper": 500}},
}
Sets = tuple[tuple[int, ...], ...]


@st.composite
def weighted(
    draw: st.DrawFn,
) -> tuple[tuple[int, ...], dict[int, float], dict[int, float], int, Sets]:
    """A shape, information of noisy cuboids and residuals, a cuboid and a set on each axis."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    masks = st.integers(0, (1 << len(shape)) - 1)
    weights = st.floats(0.01, 100)
    own = draw(st.dictionaries(masks, weights, min_size=1, max_size=4))
    residual = draw(st.dictionaries(masks, weights, max_size=2))
    mask = draw(st.sampled_from(sorted(own))) & draw(masks)
    sets = tuple(
        tuple(draw(st.sets(st.integers(0, n - 1), min_size=1)))
        if mask >> axis & 1
        else tuple(range(n))
        for axis, n in enumerate(shape)
    )
    return shape, own, residual, mask, sets


@settings(deadline=None, max_examples=150)
@given(weighted())
def test_the_variance_of_a_sum_is_that_of_the_whole_covariance_matrix(
    case: tuple[tuple[int, ...], dict[int, float], dict[int, float], int, Sets],
) -> None:
    shape, own, residual, mask, sets = case
    whole, parts = np.zeros(1 << len(shape)), np.zeros(1 << len(shape))
    for each, weight in own.items():
        whole[each] = weight
    for each, weight in residual.items():
        parts[each] += weight
    with np.errstate(divide="ignore"):
        unknown = 1 / (information(whole, shape) + parts)
    found = sum_variances(unknown, shape, [np.array([float(len(each))]) for each in sets])
    inside = olap.chosen(mask, shape, sets)
    expected = inside @ olap.covariance(shape, own, residual, mask) @ inside
    assert found.item() == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.fixture(scope="module", params=list(PLANS))
def named(request: pytest.FixtureRequest) -> tuple[str, MemoryRelease]:
    return request.param, memory_release(DOMAINS, **PLANS[request.param])


def test_one_cell_of_each_table_has_the_variance_that_the_manifest_states(
    named: tuple[str, MemoryRelease],
) -> None:
    cube = ReleasedCube.from_manifest(named[1].manifest)
    for vector in cube.vectors.values():
        for mask in vector.files:
            query = Query(tuple(Grouping(name) for name in cube.names(mask)), measure=vector.name)
            if vector.name not in cube.measures:
                continue
            grid = cube_grid(cube, query, named[1], CancelToken())
            np.testing.assert_allclose(grid.standard_errors**2, vector.cells[mask], rtol=1e-9)
            table = named[1].tables[vector.files[mask]]
            if cube.consistent:
                np.testing.assert_allclose(grid.values, table.values, atol=1e-6)


def _sets(draw: st.DrawFn) -> Sets:
    return tuple(tuple(sorted(draw(st.sets(st.integers(0, n - 1), min_size=1)))) for n in SHAPE)


def _query(sets: Sequence[Sequence[int]], by: Sequence[str]) -> Query:
    conditions = tuple(
        Chosen(name, tuple(DOMAINS[name][i] for i in each))
        for name, each in zip(DOMAINS, sets, strict=True)
        if len(each) < len(DOMAINS[name])
    )
    return Query(tuple(Grouping(name) for name in by), conditions, margins=True)


@pytest.mark.parametrize("name", ["bmax", "optimal", "residuals", "none", "none, rho"])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_every_number_of_a_view_is_the_sum_of_its_cells(name: str, data: st.DataObject) -> None:
    released = _released(name)
    cube = ReleasedCube.from_manifest(released.manifest)
    sets = data.draw(st.composite(_sets)())
    by = data.draw(st.permutations(list(DOMAINS)))[: data.draw(st.integers(0, 3))]
    grid = cube_grid(cube, _query(sets, by), released, CancelToken())
    vector = cube.vectors["count"]
    for place in np.ndindex(grid.values.shape):
        narrowed = [list(each) for each in sets]
        for axis, at in enumerate(place):
            label, dimension = grid.labels[axis][at], list(DOMAINS).index(by[axis])
            if label is not None:
                narrowed[dimension] = [DOMAINS[by[axis]].index(label)]
        values, variances = _expected(cube, released, narrowed)
        found = float(grid.standard_errors[place]) ** 2
        assert found == pytest.approx(min(variances), rel=1e-9)
        matching = [
            value
            for value, each in zip(values, variances, strict=True)
            if cube.consistent or each == pytest.approx(found, rel=1e-9)
        ]
        assert any(grid.values[place] == pytest.approx(each, abs=1e-6) for each in matching)
    assert vector.files


_KNOWN: dict[str, MemoryRelease] = {}


def _released(name: str) -> MemoryRelease:
    if name not in _KNOWN:
        _KNOWN[name] = memory_release(DOMAINS, **PLANS[name])
    return _KNOWN[name]


def _expected(
    cube: ReleasedCube, released: MemoryRelease, sets: Sequence[Sequence[int]]
) -> tuple[list[float], list[float]]:
    """Value and variance of the sum from every published table that can give it."""
    vector = cube.vectors["count"]
    needed = sum(1 << i for i, each in enumerate(sets) if len(each) < SHAPE[i])
    masks = [mask for mask in vector.files if not needed & ~mask]
    values = [
        olap.sum_of_cells(
            np.asarray(released.tables[vector.files[mask]].values, np.float64), mask, SHAPE, sets
        )
        for mask in masks
    ]
    information_of = {
        mask: 1 / each for mask, each in zip(cube.sources, vector.variances, strict=True)
    }
    if not cube.consistent:
        noise = {mask: 1 / each for mask, each in information_of.items()}
        return values, [olap.independent_variance(m, SHAPE, sets, noise) for m in masks]
    own, residual = ({}, information_of) if cube.settings.residuals else (information_of, {})
    found = []
    for mask in masks:
        inside = olap.chosen(mask, SHAPE, sets)
        found.append(float(inside @ olap.covariance(SHAPE, own, residual, mask) @ inside))
    return values, [pytest_round(each) for each in found]


def pytest_round(value: float) -> float:
    """The covariance by pseudo-inverse is exact to some ten digits."""
    return float(f"{value:.10g}")


def test_what_no_table_has_together_is_refused() -> None:
    released = memory_release(DOMAINS, **PLANS["pairs"])
    cube = ReleasedCube.from_manifest(released.manifest)
    query = Query(tuple(Grouping(name) for name in DOMAINS))
    with pytest.raises(RefusedError, match="No published table has sex × region × age together"):
        cube_grid(cube, query, released, CancelToken())


def test_only_the_smallest_table_that_answers_is_read() -> None:
    released = memory_release(DOMAINS)
    cube = ReleasedCube.from_manifest(released.manifest)
    cube_grid(cube, Query((Grouping("sex"),), margins=True), released, CancelToken())
    assert released.read == ["cuboids/1-sex.csv"]


def test_an_exact_table_has_no_error_and_narrows_the_others() -> None:
    released = memory_release(DOMAINS, exact=[["sex", "region"]])
    cube = ReleasedCube.from_manifest(released.manifest)
    exact = cube_grid(cube, Query((Grouping("region"),)), released, CancelToken())
    assert exact.half_widths.max() == 0
    assert "without ±: sex × region" in exact.warnings[0]
    by = (Grouping("sex"), Grouping("region"), Grouping("age"))
    fine = cube_grid(cube, Query(by, margins=True), released, CancelToken())
    assert fine.half_widths[..., -1].max() == 0
    assert fine.half_widths[..., :-1].min() > 0
    np.testing.assert_allclose(
        fine.values[:-1, :-1, -1], released.tables["cuboids/2-sex-region.csv"].values
    )


def test_averages_are_sums_over_counts_of_what_is_asked_for() -> None:
    released = memory_release(DOMAINS, **PLANS["average"])
    cube = ReleasedCube.from_manifest(released.manifest)
    query = Query((Grouping("sex"),), (Chosen("age", ("0-9", "20-29")),), margins=True)
    grid = cube_grid(cube, query, released, CancelToken())
    fine = 0b101
    counts, sums = (
        released.tables[cube.vectors[name].files[fine]].values[:, [0, 2]].sum(axis=1)
        for name in ("count", "centred sum of pay")
    )
    np.testing.assert_allclose(grid.values[:2], 250 + sums / counts)
    np.testing.assert_allclose(grid.values[2], 250 + sums.sum() / counts.sum())
    bound = cube.vectors["count"].cells[fine] * 2 * 250**2
    assert (grid.standard_errors[:2] ** 2 * counts**2 > bound).all()


def test_an_average_over_nobody_is_not_estimable() -> None:
    released = memory_release(DOMAINS, level=-50, **PLANS["average"])
    cube = ReleasedCube.from_manifest(released.manifest)
    answer = cube_grid(cube, Query((Grouping("sex"),)), released, CancelToken()).answer()
    assert [row.value for row in answer.rows] == [None, None]
    assert "not estimable" in answer.rows[0].note


@pytest.mark.parametrize("mask", range(8))
def test_the_reference_sees_the_same_variances_as_that_of_consistency(mask: int) -> None:
    own = {0b111: 1.0, 0b011: 0.5}
    expected = cube_consistency.variances(SHAPE, own, {}, mask)
    np.testing.assert_allclose(np.diag(olap.covariance(SHAPE, own, {}, mask)), expected)


@pytest.mark.parametrize("consistency", ["l2", "none"])
def test_single_exact_cells_take_from_every_sum_what_they_tell_of_it(consistency: str) -> None:
    exact = [
        {"cuboid": ["sex", "region"], "cells": [["f", "n"], ["m", "w"]]},
        {"cuboid": ["age"], "cells": [["10-19"]]},
    ]
    released = memory_release(DOMAINS, exact=exact, planner="all", consistency=consistency)
    cube = ReleasedCube.from_manifest(released.manifest)
    vector = cube.vectors["count"]
    grid = cube_grid(cube, Query((Grouping("sex"), Grouping("region"))), released, CancelToken())
    assert grid.half_widths[0, 0] == grid.half_widths[1, 3] == 0
    assert (np.delete(grid.half_widths.ravel(), [0, 7]) > 0).all()
    if consistency == "none":
        return
    own = {mask: 1 / v for mask, v in zip(cube.sources, vector.variances, strict=True)}
    base = olap.covariance(SHAPE, own, {}, 7)
    pins = [
        olap.chosen(7, SHAPE, sets)
        for sets in ([[0], [0], range(3)], [[1], [3], range(3)], [range(2), range(4), [1]])
    ]
    known = np.stack(pins)
    gain = base @ known.T @ np.linalg.inv(known @ base @ known.T) @ known @ base
    left = base - gain
    for by, where, sets in (
        (("age",), (), [range(2), range(4), [0]]),
        (("sex",), (Chosen("age", ("0-9", "20-29")),), [[0], range(4), [0, 2]]),
    ):
        query = Query(tuple(Grouping(name) for name in by), where)
        found = cube_grid(cube, query, released, CancelToken())
        inside = olap.chosen(7, SHAPE, sets)
        assert found.standard_errors[0] ** 2 == pytest.approx(inside @ left @ inside, rel=1e-6)
    for mask, file in vector.files.items():
        smallest = cube_grid(
            cube, Query(tuple(Grouping(n) for n in cube.names(mask))), released, CancelToken()
        )
        noisy = smallest.standard_errors**2
        assert noisy.max() == pytest.approx(vector.cells[mask], rel=1e-6, abs=1e-9), file
