"""Planning by the variance after consistency: figures of Adult's cube, small cases, promises."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled, InputError
from dpdesk.core.jobs import CancelToken, Event, StepProgress
from dpdesk.engine.cubes.lattice import CubePlan, Floats, NoiseSource, cells, lattice_sizes, members
from dpdesk.engine.cubes.mechanism import RowEffect, scaled_residual
from dpdesk.engine.cubes.optimal import kernels
from dpdesk.engine.cubes.optimal.objectives import (
    MOST_BELOW,
    Goal,
    candidates_of,
    noise_quantiles,
    objective_of,
    plan_information,
    plan_variances,
    residual_costs,
)
from dpdesk.engine.cubes.optimal.planner import Terms, exact_shares, plan_optimal
from dpdesk.engine.cubes.planners import plan_all, plan_base, plan_bmax
from dpdesk.engine.private.kinds import Noise

ADULT = (9, 16, 7, 15, 6, 5, 2, 2)
RHO = 0.024356


def ways(count: int | None) -> list[int]:
    return [mask for mask in range(256) if count is None or mask.bit_count() == count]


def published_variances(plan: CubePlan, budget: float = 1.0) -> Floats:
    return plan_variances(plan, budget)[list(plan.published)]


def total_error(plan: CubePlan) -> float:
    sizes = lattice_sizes(plan.shape)[list(plan.published)]
    return float(published_variances(plan) @ sizes)


@pytest.mark.parametrize(("count", "most"), [(None, 9_200.0), (3, 2_268.0), (2, 830.0)])
def test_laplace_noise_reaches_the_largest_variances_known_for_adult(
    count: int | None, most: float
) -> None:
    plan = plan_optimal(ADULT, ways(count), Noise.LAPLACE, effort=1500)
    assert published_variances(plan).max() <= most
    assert plan.spent == 1
    assert not plan.proven


def test_laplace_noise_reaches_the_average_variance_known_for_adult() -> None:
    plan = plan_optimal(ADULT, ways(None), Noise.LAPLACE, goal=Goal.SUM, effort=1500)
    assert published_variances(plan).mean() <= 4_426


@pytest.mark.parametrize(("count", "most"), [(3, 3.37e7), (2, 1.02e6)])
def test_laplace_noise_has_no_more_squared_error_than_hdmm(count: int, most: float) -> None:
    plan = plan_optimal(ADULT, ways(count), Noise.LAPLACE, goal=Goal.TOTAL, effort=1500)
    assert total_error(plan) <= most


@pytest.mark.parametrize(("count", "optimum"), [(None, 1159.3), (3, 590.5), (2, 354.9)])
def test_residuals_reach_the_proven_optimum_of_the_maximum_for_adult(
    count: int | None, optimum: float
) -> None:
    plan = plan_optimal(ADULT, ways(count), Noise.GAUSSIAN, residuals=True)
    assert published_variances(plan, RHO).max() == pytest.approx(optimum, rel=0.002)
    assert plan.proven


def test_gaussian_noise_in_all_cuboids_is_optimal_for_all_cuboids_of_adult() -> None:
    plan = plan_optimal(ADULT, ways(None), Noise.GAUSSIAN)
    assert published_variances(plan, RHO).max() == pytest.approx(1159.3, rel=0.002)
    assert plan.proven


@pytest.mark.parametrize(("residuals", "figure"), [(False, 3.600), (True, 3.545)])
def test_residuals_beat_cuboids_on_two_dimensions_of_five_values(
    residuals: bool, figure: float
) -> None:
    plan = plan_optimal((5, 5), (1, 2), Noise.GAUSSIAN, goal=Goal.SUM, residuals=residuals)
    assert published_variances(plan, 0.5).sum() == pytest.approx(figure, abs=0.0006)
    assert plan.proven


def dense_variances(plan: CubePlan, budget: float) -> dict[int, float]:
    """Ordinary least squares over all noisy cells, of matrices alone."""
    places = list(product(*(range(n) for n in plan.shape)))

    def matrix(mask: int) -> Floats:
        axes = [range(plan.shape[i]) for i in members(mask)]
        rows = [
            [
                all(place[i] == v for i, v in zip(members(mask), cell, strict=True))
                for place in places
            ]
            for cell in product(*axes)
        ]
        return np.array(rows, np.float64)

    normal = np.zeros((len(places), len(places)))
    for source in plan.sources:
        a, part = matrix(source.cuboid), float(source.share) * budget
        weight = part**2 / 2 if plan.noise is Noise.LAPLACE else 2 * part
        if source.residual:
            for i in members(source.cuboid):  # (I - J/n) along each axis
                a = _project(a, plan, source, i)
            weight /= residual_costs(plan.shape)[source.cuboid]
        normal += weight * a.T @ a
    covariance = np.linalg.pinv(normal, rcond=1e-12)
    return {
        mask: float((matrix(mask) @ covariance @ matrix(mask).T)[0, 0]) for mask in plan.published
    }


def _project(a: Floats, plan: CubePlan, source: NoiseSource, i: int) -> Floats:
    axes = members(source.cuboid)
    cube = a.reshape([plan.shape[j] for j in axes] + [-1])
    axis = axes.index(i)
    return (cube - cube.mean(axis=axis, keepdims=True)).reshape(a.shape)


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("residuals", [False, True])
def test_variances_are_those_of_dense_least_squares(noise: Noise, residuals: bool) -> None:
    if residuals and noise is Noise.LAPLACE:
        masks = {7: False, 1: False, 4: False}
    else:
        masks = {7: False, 5: residuals, 1: residuals, 0: False, 6: residuals}
    sources = tuple(
        NoiseSource(mask, Fraction(place + 1, 20), kind)
        for place, (mask, kind) in enumerate(masks.items())
    )
    plan = CubePlan((3, 2, 4), (7, 6, 5, 3, 2, 0), noise, sources)
    expected = dense_variances(plan, 0.7)
    found = plan_variances(plan, 0.7)
    for mask in plan.published:
        assert found[mask] == pytest.approx(expected[mask], rel=1e-9)


def test_no_laplace_plan_on_a_fine_grid_of_two_dimensions_is_better() -> None:
    plan = plan_optimal((3, 4), (0, 1, 2, 3), Noise.LAPLACE)
    best = np.inf
    for units in product(range(31), repeat=3):
        if sum(units) <= 30:
            shares = [Fraction(u, 30) for u in (*units, 30 - sum(units))]
            sources = tuple(NoiseSource(m, s) for m, s in enumerate(shares) if s)
            if any(source.cuboid == 3 for source in sources):
                rival = CubePlan((3, 4), (0, 1, 2, 3), Noise.LAPLACE, sources)
                best = min(best, float(published_variances(rival).max()))
    assert best * 0.97 <= published_variances(plan).max() <= best * 1.001


@st.composite
def requests(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int], dict[int, float]]:
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)))
    published = draw(st.sets(st.integers(0, 2 ** len(shape) - 1), min_size=1, max_size=8))
    weights = {mask: draw(st.sampled_from([0.5, 1.0, 3.0])) for mask in published}
    return shape, sorted(published), weights


@settings(max_examples=40, deadline=None)
@given(requests(), st.sampled_from(list(Noise)), st.sampled_from(list(Goal)))
def test_no_simpler_planner_is_better_and_shares_sum_to_one(
    request_: tuple[tuple[int, ...], list[int], dict[int, float]], noise: Noise, goal: Goal
) -> None:
    shape, published, weights = request_
    plan = plan_optimal(shape, published, noise, goal=goal, weights=weights, effort=40)
    assert plan.spent == 1
    assert all(source.share > 0 for source in plan.sources)
    factors = np.array([weights[mask] for mask in published])
    if goal is Goal.TOTAL:
        factors = factors * lattice_sizes(shape)[published]

    def figure(other: CubePlan) -> float:
        values = factors * plan_variances(other, 1.0)[published]
        return float(values.max() if goal is Goal.MAXIMUM else values.sum())

    for simpler in (plan_all, plan_base, plan_bmax):
        assert figure(plan) <= figure(simpler(shape, published, noise)) * (1 + 1e-5)


@settings(max_examples=30, deadline=None)
@given(requests(), st.sampled_from(list(Goal)))
def test_residuals_are_never_worse_than_whole_cuboids(
    request_: tuple[tuple[int, ...], list[int], dict[int, float]], goal: Goal
) -> None:
    shape, published, _ = request_
    whole = plan_optimal(shape, published, Noise.GAUSSIAN, goal=goal)
    parts = plan_optimal(shape, published, Noise.GAUSSIAN, goal=goal, residuals=True)
    factors = lattice_sizes(shape)[published] if goal is Goal.TOTAL else np.ones(len(published))
    figures = [factors * published_variances(plan) for plan in (parts, whole)]
    merged = [v.max() if goal is Goal.MAXIMUM else v.sum() for v in figures]
    assert merged[0] <= merged[1] * 1.002
    assert parts.proven


@pytest.mark.parametrize("replace", [False, True])
def test_residual_costs_are_what_one_person_can_move(replace: bool) -> None:
    shape = (3, 2, 4)
    effect = RowEffect(1, 1, 1, replace)
    costs = residual_costs(shape, replace=replace)
    for mask in range(8):
        sizes = [shape[i] for i in members(mask)]
        moves = []
        cases = list(np.ndindex(*sizes))
        for one in cases:
            table = np.zeros(sizes, np.int64)
            table[one] = 1
            moves.append(scaled_residual(table))
        pairs = [a - b for a in moves for b in [*moves, 0 * moves[0]]] if replace else moves
        largest = max(int((pair**2).sum()) for pair in pairs)
        scale = cells(mask, shape) ** 2
        assert effect.of_residual(mask, shape) == largest
        assert costs[mask] == pytest.approx(largest / scale / (2 if replace else 1))


def test_weights_bring_a_cuboid_nearer_to_the_truth() -> None:
    plain = plan_optimal((9, 7, 5), (1, 2, 4), Noise.LAPLACE, effort=100)
    heavy = plan_optimal((9, 7, 5), (1, 2, 4), Noise.LAPLACE, weights={4: 10.0}, effort=100)
    assert plan_variances(heavy, 1.0)[4] < plan_variances(plain, 1.0)[4] / 2


def test_the_same_request_gives_the_same_plan() -> None:
    first, second = (plan_optimal(ADULT, ways(2), Noise.LAPLACE, effort=100) for _ in range(2))
    assert first == second


def test_twenty_dimensions_with_a_chosen_list_are_planned_without_their_base() -> None:
    shape, published = (4,) * 20, [0b111, 0b111 << 9, 0b11 << 18, 1 << 19]
    plan = plan_optimal(shape, published, Noise.LAPLACE, effort=6)
    assert (
        published_variances(plan).max()
        <= published_variances(plan_all(shape, published, Noise.LAPLACE)).max()
    )
    assert all(cells(source.cuboid, [5] * 20) <= MOST_BELOW for source in plan.sources)


def test_in_twenty_dimensions_the_search_is_better_than_bmax() -> None:
    shape = (9, 16, 7, 15, 6, 5, 2, 2, 4, 4) * 2
    published = [mask for mask in range(1 << 20) if mask.bit_count() == 2]
    plan = plan_optimal(shape, published, Noise.LAPLACE, effort=60)
    bmax = plan_bmax(shape, published, Noise.LAPLACE)
    assert published_variances(plan).max() < 0.9 * published_variances(bmax).max()


@settings(max_examples=30, deadline=None)
@given(requests(), st.sampled_from(list(Goal)), st.sampled_from([1.0, 1.5, 2.0]), st.booleans())
def test_links_and_the_lattice_give_the_same_objective_and_gradient(
    request_: tuple[tuple[int, ...], list[int], dict[int, float]], goal: Goal, kappa: float,
    residuals: bool,
) -> None:  # fmt: skip
    shape, published, weights = request_
    objective = objective_of(
        shape, published, Noise.GAUSSIAN if residuals else Noise.LAPLACE, goal, weights,
        residuals=residuals,
    )  # fmt: skip
    candidates = np.array(candidates_of(objective), np.int64)
    if not len(candidates):
        return
    logs = np.linspace(-1.0, 1.0, len(candidates))
    power = 32.0 if goal is Goal.MAXIMUM else 0.0
    values, gradients = [], []
    for dense in (False, True):
        terms = Terms(objective)
        terms.__dict__["dense"] = dense
        gradient = np.zeros(len(candidates))
        work = np.zeros((5, len(objective.weights)))
        values.append(
            kernels.objective(
                logs,
                gradient,
                candidates,
                terms.maps(candidates),
                terms.weights,
                terms.needed,
                terms.costs,
                power,
                kappa,
                work,
            )
        )
        gradients.append(gradient)
    assert values[0] == pytest.approx(values[1], rel=1e-10)
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-7, abs=1e-9)


def test_planning_can_be_cancelled_and_says_how_far_it_is() -> None:
    token, seen = CancelToken(), []

    def report(event: Event) -> None:
        seen.append(event)
        token.cancel()

    with pytest.raises(Cancelled):
        plan_optimal(ADULT, ways(2), Noise.LAPLACE, token=token, report=report)
    assert len([event for event in seen if isinstance(event, StepProgress)]) >= 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"weights": {1: 1.0}}, "cube.weight-unpublished"),
        ({"weights": {3: -1.0}}, "cube.negative-weight"),
        ({"weights": {3: 0.0, 2: 0.0}}, "cube.no-weight"),
        ({"residuals": True, "noise": Noise.LAPLACE}, "cube.residual-laplace"),
    ],
)
def test_requests_that_make_no_sense_are_refused(arguments: dict[str, object], code: str) -> None:
    request_ = {"shape": (3, 4), "published": (2, 3), "noise": Noise.GAUSSIAN, **arguments}
    with pytest.raises(InputError) as refusal:
        plan_optimal(**request_)  # type: ignore[arg-type]
    assert refusal.value.code == code


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40).filter(lambda x: sum(x) > 1e-3))
def test_exact_shares_sum_to_one_and_are_near(values: list[float]) -> None:
    shares = exact_shares(np.array(values))
    assert sum(shares.values()) == 1
    for place, value in enumerate(values):
        near = Fraction(value) / sum(map(Fraction, values))
        assert abs(shares.get(place, Fraction(0)) - near) <= Fraction(2, 10_000_000)


def half_width(plan: CubePlan, cuboid: int, places: int = 20) -> float:
    """What the error of a cell exceeds with a chance of 1/places, for a budget of 1."""
    largest = noise_quantiles(plan, cuboid, places)[-1]
    return float(largest * sqrt(plan_variances(plan, 1.0)[cuboid]))


def test_the_spread_of_one_laplace_noise_is_its_logarithm() -> None:
    plan = plan_base((4,), (1,), Noise.LAPLACE)
    assert half_width(plan, 1) == pytest.approx(log(20), abs=2e-4)
    assert half_width(plan, 1, places=2) == pytest.approx(log(2), abs=1e-3)


def test_the_spread_of_gaussian_noise_is_a_multiple_of_the_deviation() -> None:
    plan = plan_all((4, 3), (1, 2, 3), Noise.GAUSSIAN)
    for cuboid in plan.published:
        assert noise_quantiles(plan, cuboid, 20)[-1] == pytest.approx(1.959964, rel=1e-6)


@pytest.mark.parametrize("cuboid", [0, 1, 3, 7])
def test_the_spread_holds_for_simulated_laplace_noise(cuboid: int) -> None:
    shape = (3, 2, 4)
    parts = {7: Fraction(1, 2), 3: Fraction(1, 4), 4: Fraction(1, 8), 0: Fraction(1, 8)}
    sources = tuple(NoiseSource(mask, share) for mask, share in parts.items())
    plan = CubePlan(shape, (7, 3, 1, 0), Noise.LAPLACE, sources)
    known = plan_information(plan, 1.0)
    random = np.random.default_rng(5)
    draws = 40_000
    estimates = np.zeros(draws)
    for mask, share in parts.items():
        noise = random.laplace(
            scale=1 / float(share), size=(draws, *(shape[i] for i in members(mask)))
        )
        estimates += _first_cell(noise, mask, cuboid, shape, known) * float(share) ** 2 / 2
    width = half_width(plan, cuboid)
    inside = (np.abs(estimates) <= width).mean()
    assert inside == pytest.approx(0.95, abs=4 * sqrt(0.95 * 0.05 / draws))


def _first_cell(
    noise: Floats, source: int, cuboid: int, shape: tuple[int, ...], known: Floats
) -> Floats:
    """What a source adds to the estimate of a cuboid's first cell, by residuals one by one."""
    total = np.zeros(len(noise))
    for part in range(8):
        if part & ~(source & cuboid):
            continue
        values, axes = noise, list(members(source))
        for i in members(source & ~part):
            values = values.mean(axis=1 + axes.index(i))
            axes.remove(i)
        for place in range(len(axes)):
            values = values - values.mean(axis=1 + place, keepdims=True)
        first = values.reshape(len(noise), -1)[:, 0]
        total += first / known[part] / cells(cuboid & ~part, shape)
    return total


def test_the_noise_of_undetermined_cuboids_is_not_told() -> None:
    plan = plan_base((4, 3), (1,), Noise.LAPLACE)
    with pytest.raises(ValueError, match="determines"):
        noise_quantiles(plan, 2, 20)


@pytest.mark.parametrize("noise", [Noise.LAPLACE, Noise.GAUSSIAN])
def test_every_table_is_part_of_a_source_where_dimensions_have_one_value(noise: Noise) -> None:
    plan = plan_optimal((2, 1, 2, 1), tuple(range(16)), noise)
    assert all(any(mask & ~source.cuboid == 0 for source in plan.sources) for mask in range(16))
