"""Covering designs cover everything, with few blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdesk.core.errors import Cancelled
from dpdesk.core.jobs import CancelToken, StepProgress, silent
from dpdesk.engine.views.designs import Blocks, covering_design, least_blocks
from tests.reference.covering import uncovered

FEW = 200_000
BEST_KNOWN_OF_THREE = (
    *((7, 4, 12), (10, 4, 30), (16, 4, 140), (8, 5, 8), (12, 5, 29), (17, 5, 68), (20, 5, 133)),
    *((9, 6, 7), (13, 6, 21), (16, 6, 38), (22, 6, 77), (25, 6, 130), (10, 7, 6), (15, 7, 15)),
    *((18, 7, 32), (20, 7, 45), (23, 7, 65), (25, 7, 83)),
)
"""Points, size and blocks for strength 3: La Jolla Covering Repository, ljcr.dmgordon.org, 2026."""
MANY_POINTS = (
    *((40, 4), (96, 4), (41, 5), (35, 6), (70, 6), (98, 6), (43, 7), (64, 7)),
    *((28, 8), (32, 8), (40, 8), (50, 8), (64, 8), (72, 8), (84, 8), (99, 8), (31, 9)),
)
PROVEN_OF_TWO = (
    *((7, 3, 7), (9, 3, 12), (13, 4, 13), (16, 4, 20), (21, 5, 21), (31, 6, 31), (57, 8, 57)),
    *((32, 8, 20), (64, 8, 72), (73, 9, 73), (10, 5, 6), (18, 6, 12)),
)
"""Planes and what is made of them: these meet Schönheim's bound, or are known to be optimal."""


def design(points: int, size: int, strength: int, moves: int = FEW) -> Blocks:
    return covering_design(points, size, strength, CancelToken(), silent, moves)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 24), st.integers(2, 9), st.integers(1, 3))
def test_every_set_is_in_some_block(points: int, size: int, strength: int) -> None:
    if strength > size:
        return
    blocks = design(points, size, strength, 2_000)
    assert all(len(set(block)) == len(block) <= size for block in blocks)
    assert blocks == tuple(sorted(tuple(sorted(block)) for block in blocks))
    assert len(blocks) >= least_blocks(points, size, strength)
    if strength <= points:
        assert not uncovered(points, strength, blocks)


@pytest.mark.parametrize(("points", "size", "known"), BEST_KNOWN_OF_THREE)
def test_triples_need_at_most_two_fifths_more_than_the_best_known(
    points: int, size: int, known: int
) -> None:
    blocks = design(points, size, 3, 1_000_000)
    assert not uncovered(points, 3, blocks)
    assert len(blocks) <= 1.4 * known


@pytest.mark.parametrize(("points", "size", "known"), PROVEN_OF_TWO)
def test_pairs_in_planes_need_no_block_too_many(points: int, size: int, known: int) -> None:
    blocks = design(points, size, 2, 1_000_000)
    assert not uncovered(points, 2, blocks)
    assert len(blocks) == known


def test_triples_of_22_points_are_in_one_block_of_six_each() -> None:
    blocks = design(22, 6, 3)
    assert not uncovered(22, 3, blocks)
    assert len(blocks) == least_blocks(22, 6, 3) == 77


@pytest.mark.parametrize("points", [32, 45, 56, 64, 72, 80, 90, 99, 128, 200])
def test_pairs_in_views_of_eight_are_near_the_lower_bound(points: int) -> None:
    blocks = design(points, 8, 2, 1_000_000)
    assert not uncovered(points, 2, blocks)
    assert len(blocks) <= 1.15 * least_blocks(points, 8, 2)


@pytest.mark.parametrize(("points", "size"), MANY_POINTS)
def test_triples_of_many_points_need_at_most_two_fifths_more_than_the_lower_bound(
    points: int, size: int
) -> None:
    blocks = design(points, size, 3)
    assert not uncovered(points, 3, blocks)
    assert len(blocks) <= 1.4 * least_blocks(points, size, 3)


def test_the_same_numbers_give_the_same_design_and_more_moves_no_more_blocks() -> None:
    assert design(45, 8, 2) == design(45, 8, 2)
    found = [len(design(40, 6, 2, moves)) for moves in (0, 10_000, 100_000, 1_000_000)]
    assert found == sorted(found, reverse=True)


def test_a_cancel_ends_the_search() -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        covering_design(
            *(45, 8, 2, token),
            lambda event: token.cancel() if isinstance(event, StepProgress) else None,
        )


@pytest.mark.parametrize("wrong", [(5, 2, 3), (0, 3, 2), (9, 4, 4), (9, 4, 0), (201, 8, 3)])
def test_impossible_numbers_are_refused(wrong: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=str(wrong[0])):
        design(*wrong)
