"""What decoy groups do to values: matrices from counts alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpdesk.core.errors import InputError
from dpdesk.engine.methods.l_diverted.estimation.solving import admissible_counts
from dpdesk.engine.methods.l_diverted.groups import (
    FullTransition,
    TwoStates,
    group_model,
)
from tests.reference.diverted import largest_first
from tests.reference.diverted_estimation import expected_pairs


@pytest.mark.parametrize(
    ("counts", "size"), [((3, 2, 2, 1), 2), ((2, 2, 1, 1), 3), ((3, 3, 1, 1), 2), ((1, 3, 2), 2)]
)
def test_pairs_are_those_of_all_mixed_partitions_on_average(
    counts: tuple[int, ...], size: int
) -> None:
    exact = np.array(expected_pairs(counts, size), dtype=np.float64)
    found = group_model(np.array(counts), size, mixed=True).pairs
    # 4,000 partitions; a pair varies by at most half its range of at most 3 groups.
    assert np.abs(found - exact).max() < 6 * 1.5 / np.sqrt(4000)


def test_pairs_of_largest_first_are_those_of_its_only_partition() -> None:
    counts = [9, 8, 8, 5, 3, 2, 1]
    groups = largest_first(counts, 3)
    exact = np.array([[sum(v in g and w in g for g in groups) for v in range(7)] for w in range(7)])
    assert (group_model(np.array(counts), 3, mixed=False).pairs == exact).all()


@given(st.lists(st.integers(1, 60), min_size=2, max_size=9), st.integers(2, 4))
def test_counts_that_no_table_can_have_become_ones_that_a_table_can(
    counts: list[int], size: int
) -> None:
    counts[0] += -sum(counts) % size
    if len(counts) < size or sum(counts) < size * len(counts):
        return
    found = admissible_counts(np.array(counts), size)
    cap = sum(counts) // size
    assert found.sum() == sum(counts)
    assert found.min() >= 1
    assert found.max() <= cap
    if max(counts) <= cap:
        assert found.tolist() == counts
    else:
        assert (found[np.array(counts) > cap] == cap).all()


@pytest.mark.parametrize(("counts", "code"), [((5, 4), "rows"), ((6,), "values")])
def test_counts_of_no_release_are_refused(counts: tuple[int, ...], code: str) -> None:
    with pytest.raises(InputError) as failure:
        admissible_counts(np.array(counts), 2)
    assert failure.value.code == f"diverted.{code}"


@pytest.mark.parametrize("mixed", [True, False])
def test_rows_of_the_matrix_sum_to_one_and_counts_are_published_as_they_are_on_average(
    mixed: bool,
) -> None:
    counts = np.array([90, 70, 66, 40, 30, 4])
    matrix = FullTransition(group_model(counts, 3, mixed)).matrix
    assert matrix.sum(axis=1) == pytest.approx(1)
    assert np.diag(matrix) == pytest.approx(1 / 3)
    assert counts @ matrix == pytest.approx(counts)


def test_a_table_too_large_to_walk_has_nearly_the_matrix_of_its_shares() -> None:
    counts = np.array([90_000, 70_000, 66_000, 40_000, 30_000, 4_000])
    small = FullTransition(group_model(counts, 3, mixed=True)).matrix
    large = group_model(counts * 10, 3, mixed=True)
    assert large.counts.tolist() == (counts * 10).tolist()
    assert large.pairs.sum(axis=1) == pytest.approx(3 * large.counts)
    assert np.abs(FullTransition(large).matrix - small).max() < 0.005


def test_weights_undo_the_matrix() -> None:
    transition = FullTransition(group_model(np.array([90, 70, 66, 40, 30, 4]), 3, mixed=True))
    chosen = np.array([False, True, False, False, True, False])
    assert transition.matrix @ transition.weights(chosen) == pytest.approx(chosen.astype(float))
    two = TwoStates(300, 3, 40)
    assert two.matrix @ two.weights(np.array([False, True])) == pytest.approx([0, 1])
    assert two.matrix @ two.weights(np.array([True, False])) == pytest.approx([1, 0])


def test_the_corrected_chance_publishes_a_value_as_often_as_it_occurs_and_the_papers_does_not() -> (
    None
):
    rows, size, count = 300, 3, 40
    expected = {
        paper: float(
            np.array([rows - count, count]) @ TwoStates(rows, size, count, paper).matrix[:, 1]
        )
        for paper in (False, True)
    }
    assert expected[False] == pytest.approx(count)
    assert expected[True] == pytest.approx(count * (1 + 1 / size - count / rows))


def test_as_many_values_as_a_group_holds_can_not_be_told_apart() -> None:
    transition = FullTransition(group_model(np.array([50, 50, 50]), 3, mixed=False))
    assert transition.condition == np.inf
    assert not transition.estimable


def test_a_value_in_every_group_makes_the_matrix_singular() -> None:
    counts = np.array([100, 40, 30, 20, 10])
    assert not FullTransition(group_model(counts, 2, mixed=True)).estimable
    assert not TwoStates(200, 2, 100).estimable
