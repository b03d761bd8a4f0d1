"""Consistency and marginals of views against slow versions; what is kept whatever the noise."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpdesk.core.jobs import CancelToken, silent
from dpdesk.engine.views import consistency
from dpdesk.engine.views.choosing import PlannedNoise
from dpdesk.engine.views.consistency import Overlaps, agreeing, mixed, shared_sets
from dpdesk.engine.views.marginals import (
    AgreeingViews,
    closure,
    parts_of,
)
from dpdesk.engine.views.spread import spread
from dpdesk.verifiers.views import made_again
from tests.reference import views as slow

Floats = NDArray[np.float64]
Axes = tuple[int, ...]


@st.composite
def systems(draw: st.DrawFn) -> tuple[tuple[Axes, ...], tuple[int, ...], list[float], int]:
    """Views of unequal size over dimensions of unequal size, with unequal variances; a seed."""
    many = draw(st.integers(2, 4))
    shape = tuple(draw(st.integers(1, 3)) for _ in range(many))
    every = [c for size in range(1, 4) for c in combinations(range(many), size)]
    views = draw(st.lists(st.sampled_from(every), min_size=1, max_size=4, unique=True))
    variances = [draw(st.sampled_from([1.0, 2.5, 40.0])) for _ in views]
    return tuple(views), shape, variances, draw(st.integers(0, 2**20))


def noisy_of(
    views: tuple[Axes, ...], shape: tuple[int, ...], seed: int, level: float = 0.0
) -> list[Floats]:
    draw = np.random.default_rng(seed)
    return [draw.normal(level, 5, [shape[i] for i in view]).round() for view in views]


def agreed(
    views: tuple[Axes, ...], shape: tuple[int, ...], tables: list[Floats], variances: list[float]
) -> tuple[Floats, ...]:
    shared = shared_sets(views, 1000)
    assert shared is not None
    return agreeing(views, shape, shared, tables, variances, CancelToken(), silent)


@given(systems())
@settings(max_examples=60, deadline=None)
def test_views_agree_as_least_squares_by_inverse_variance_has_it(
    system: tuple[tuple[Axes, ...], tuple[int, ...], list[float], int],
) -> None:
    views, shape, variances, seed = system
    tables = noisy_of(views, shape, seed, level=1000)  # far from 0: nothing is cut off
    found = agreed(views, shape, tables, variances)
    expected = slow.least_squares(views, tables, variances, shape)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@given(systems(), st.sampled_from([-20.0, 0.0, 1.0, 8.0]))
@settings(max_examples=80, deadline=None)
def test_views_agree_and_hold_nothing_negative_whatever_was_drawn(
    system: tuple[tuple[Axes, ...], tuple[int, ...], list[float], int], level: float
) -> None:
    views, shape, variances, seed = system
    found = agreed(views, shape, noisy_of(views, shape, seed, level), variances)
    for one, other in combinations(range(len(views)), 2):
        common = tuple(i for i in views[one] if i in views[other])
        sums = [
            slow.rows_of(views[place], common, shape) @ found[place].reshape(-1)
            for place in (one, other)
        ]
        np.testing.assert_allclose(*sums, atol=1e-6)
    assert min(table.min() for table in found) >= 0
    totals = [table.sum() for table in found]
    assert max(totals) - min(totals) < 1e-6


@given(systems())
@settings(max_examples=25, deadline=None)
def test_the_planned_noise_is_that_of_least_squares(
    system: tuple[tuple[Axes, ...], tuple[int, ...], list[float], int],
) -> None:
    views, shape, variances, _ = system
    planned = PlannedNoise.of(views, shape, variances)
    for asked in {views[0], views[-1][:1]}:
        expected = slow.estimated_variance(views, variances, shape, asked)
        assert planned.variance(asked) == pytest.approx(expected, rel=1e-9)


def test_a_total_that_is_not_above_0_gives_zeros() -> None:
    views, shape = ((0, 1), (1, 2)), (2, 2, 2)
    tables = [np.full((2, 2), -3.0), np.full((2, 2), -1.0)]
    for table in agreed(views, shape, tables, [1.0, 1.0]):
        assert (table == 0).all()


def test_mixing_takes_the_least_share_that_removes_what_is_negative() -> None:
    over = Overlaps.of(((0,), (1,)), (2, 2), [()])
    values = np.array([12.0, -2.0, 5.0, 5.0])
    assert mixed(values, over) == pytest.approx(2 / 7)
    np.testing.assert_allclose(values, [10, 0, 5, 5], atol=1e-12)


def test_ripple_keeps_the_total_and_takes_a_deficit_from_neighbours_alone() -> None:
    values = np.array([9.0, 9.0, 9.0, 9.0, -3.0, 9.0, 9.0, 9.0])
    consistency._ripple(values, np.array([2, 2, 2]), 0.1)
    # cell 100 has the neighbours 000, 110 and 101
    np.testing.assert_allclose(values, [8, 9, 9, 9, 0, 8, 8, 9])


def of_joint(joint: Floats, views: tuple[Axes, ...]) -> AgreeingViews:
    gone = [tuple(i for i in range(joint.ndim) if i not in view) for view in views]
    tables = {view: joint.sum(axis=axes) for view, axes in zip(views, gone, strict=True)}
    return AgreeingViews(joint.shape, tables)


@given(st.integers(0, 2**20), st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_marginal_has_the_sums_of_the_views_and_no_negative_cell(
    seed: int, entropy: bool
) -> None:
    joint = np.random.default_rng(seed).gamma(0.7, 20, (2, 3, 2, 2))
    agreed = of_joint(joint, ((0, 1), (1, 2), (2, 3), (0, 3)))
    made = agreed.marginal((0, 1, 2), CancelToken(), entropy=entropy)
    assert not made.covered
    assert made.values.min() >= 0
    assert made.gap < 1e-4
    for part in parts_of(tuple(agreed.tables), (0, 1, 2)):
        sums = slow.rows_of((0, 1, 2), part, joint.shape) @ made.values.reshape(-1)
        expected = slow.sums_of(agreed.tables, part, joint.shape)
        np.testing.assert_allclose(sums, expected, atol=2 * made.gap * joint.sum() + 1e-6)


def test_no_table_with_these_sums_has_more_entropy() -> None:
    draw = np.random.default_rng(8)
    joint = draw.gamma(2, 20, (2, 2, 2))
    agreed = of_joint(joint, ((0, 1), (1, 2), (0, 2)))
    found = agreed.marginal((0, 1, 2), CancelToken(), entropy=True).values
    # the one direction that keeps all sums of two: +1 where the parity is even, -1 where it is odd
    turn = np.fromfunction(lambda i, j, k: 1.0 - 2 * ((i + j + k) % 2), (2, 2, 2))
    best = slow.entropy(found)
    for step in (-1e-3, 1e-3, -1.0, 1.0):
        assert slow.entropy(found + step * turn) < best


def test_noise_moves_a_table_of_largest_entropy_as_small_changes_of_the_views_do() -> None:
    shape, token = (2, 3, 2, 2), CancelToken()
    views = [*combinations(range(4), 2), (0, 1, 3)]
    rng = np.random.default_rng(3)
    table = np.exp(rng.normal(size=shape)) * 100
    known = PlannedNoise.of(views, shape, [4.0 + number for number in range(len(views))]).known

    def made(whole: Floats) -> Floats:
        gone = [tuple(i for i in range(4) if i not in view) for view in views]
        held = {view: whole.sum(axes) for view, axes in zip(views, gone, strict=True)}
        return AgreeingViews(shape, held).marginal((0, 1, 2, 3), token, entropy=True).values

    def groups_of(size: int) -> NDArray[np.bool_]:
        """Each category, and all of them together."""
        return np.vstack([np.eye(size, dtype=bool), np.ones((1, size), dtype=bool)])

    inside = [groups_of(size) for size in shape]
    start, wanted = made(table), np.zeros([len(each) for each in inside])
    for mask, precision in known.items():
        for contrast in slow.contrasts(shape, mask):
            step = 1e-3 * contrast / (contrast**2).sum()
            moved = (made(table + step) - made(table - step)) / 2e-3
            for axis, each in enumerate(inside):
                moved = np.moveaxis(np.tensordot(each * 1.0, moved, (1, axis)), 0, axis)
            wanted += moved**2 / precision
    found = spread(start, known, inside)
    assert found is not None
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
    planned = PlannedNoise(shape, known)
    assert found[-1, -1, -1, -1] == pytest.approx(planned.variance(()))  # what is in a view is
    assert found[1, -1, -1, 0] == pytest.approx(planned.variance((0, 3)))  # as it was planned
    assert found[:-1, :-1, :-1, :-1].max() > 3 * planned.variance((0, 1, 2, 3))


def test_a_table_too_large_for_its_spread_has_none_and_one_of_nobody_has_0() -> None:
    inside = [np.eye(40, dtype=bool)] * 3
    known = PlannedNoise.of([(0, 1), (1, 2), (0, 2)], (40, 40, 40), [1.0] * 3).known
    assert spread(np.ones((40, 40, 40)), known, inside) is None
    small = PlannedNoise.of([(0,), (1,)], (2, 2), [1.0, 1.0]).known
    nobody = spread(np.zeros((2, 2)), small, [np.eye(2, dtype=bool)] * 2)
    assert nobody is not None
    assert not nobody.any()


def test_a_chain_is_found_again_through_dimensions_that_connect() -> None:
    draw = np.random.default_rng(3)
    first, steps = draw.dirichlet([2, 2]), draw.dirichlet([2, 1], (3, 2))
    joint = 1000 * np.einsum("a,ab,bc,cd->abcd", first, *steps)
    views = ((0, 1), (1, 2), (2, 3))
    found = of_joint(joint, views).marginal((0, 3), CancelToken(), entropy=True)
    assert closure(views, (0, 3), (2, 2, 2, 2)) == (0, 1, 2, 3)
    np.testing.assert_allclose(found.values, joint.sum(axis=(1, 2)), rtol=1e-6)


@given(st.integers(0, 2**20), st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_verifier_makes_the_same_marginals(seed: int, entropy: bool) -> None:
    """Also where the views contradict each other, so that scaling ends in circles."""
    draw = np.random.default_rng(seed)
    shape, views = (2, 2, 3, 2, 2), ((0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (0, 4))
    tables = agreed(
        views, shape, [draw.normal(3, 5, [shape[i] for i in v]).round() for v in views], [1.0] * 6
    )
    known = AgreeingViews(shape, dict(zip(views, tables, strict=True)))
    for asked in ((0, 1, 2), (1, 3), (0, 1, 4)):
        found = known.marginal(asked, CancelToken(), entropy=entropy).values
        again = made_again(known.tables, asked, shape, entropy=entropy)
        np.testing.assert_allclose(found, again, atol=1e-6 * max(1.0, known.total))


def test_shared_sets_come_after_their_subsets_and_too_many_are_refused() -> None:
    views = ((0, 1, 2), (1, 2, 3), (2, 3, 4))
    assert shared_sets(views, 100) == ((2,), (1, 2), (2, 3))
    assert shared_sets(views, 3) is None
