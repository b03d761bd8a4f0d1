"""The verifier's variances for large cubes are those that it finds subset by subset."""

from __future__ import annotations

from itertools import chain, combinations
from math import inf, isclose, prod

import pytest

from dpdesk.verifiers.cubes.claimed import residual_move, swept_after, swept_best
from dpdesk.verifiers.cubes.verification import _pairs

SIZES = (2, 1, 7, 5)


def subsets(mask: int) -> list[int]:
    return [part for part in range(16) if part & ~mask == 0]


def size(mask: int) -> int:
    return prod(n for i, n in enumerate(SIZES) if mask >> i & 1)


def after(mask: int, sources: list[int], variances: list[float], residuals: bool) -> float:
    total = 0.0
    for part in subsets(mask):
        share = prod(1 - 1 / n for i, n in enumerate(SIZES) if part >> i & 1)
        if share == 0:
            continue
        seen = [
            1 / (v if residuals else v * size(s & ~part))
            for s, v in zip(sources, variances, strict=True)
            if (s == part if residuals else part & ~s == 0)
        ]
        if not seen:
            return inf
        total += share / sum(seen) / size(mask & ~part) ** 2
    return total


@pytest.mark.parametrize("residuals", [False, True])
def test_variances_of_all_cuboids_at_once_are_those_of_each(residuals: bool) -> None:
    sources = list(range(16)) if residuals else [0b1101, 0b0111, 0b0010]
    variances = [1.5 + mask for mask in range(len(sources))]
    found = swept_after(SIZES, sources, variances, residuals=residuals)
    for mask in range(16):
        assert isclose(found[mask], after(mask, sources, variances, residuals), rel_tol=1e-12)


def test_the_best_source_of_each_cuboid() -> None:
    sources, variances = [0b1101, 0b0111, 0b0010], [1.0, 2.0, 3.0]
    found = swept_best(SIZES, sources, variances)
    for mask in range(16):
        expected = min(
            (
                v * size(s & ~mask)
                for s, v in zip(sources, variances, strict=True)
                if mask & ~s == 0
            ),
            default=inf,
        )
        assert found[mask] == expected


def test_a_replaced_row_moves_a_residual_most_where_one_dimension_changes() -> None:
    for sizes in ((2, 3), (5, 4, 2), (2, 2, 2, 2), (3, 3, 3, 3, 3)):
        kept = prod(1 - 1 / n for n in sizes)
        one = max(
            prod(1 - 1 / n for j, n in enumerate(sizes) if j != i) / sizes[i]
            for i in range(len(sizes))
        )
        assert isclose(residual_move(sizes, replace=True), 2 * (kept + one))


def test_a_large_closed_family_is_compared_by_its_neighbours_alone() -> None:
    names = [f"d{i:02}" for i in range(12)]
    sets = chain.from_iterable(combinations(names, k) for k in range(13))
    assert sum(1 for _ in _pairs([frozenset(each) for each in sets])) == 12 * 2**11


def test_in_other_families_each_table_is_compared_with_those_above_and_overlapping_ones() -> None:
    a, b, c = frozenset("a"), frozenset("ab"), frozenset("ac")
    assert set(_pairs([a, b, c])) == {(a, b), (a, c), (b, c)}
