"""The ± of cubes and of every kind of answer from them, tried over many draws of noise."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from tests.helpers import graph_coverage
from tests.helpers.answer_coverage import CASES, MOVED, Truth, coverage
from tests.helpers.diverted_coverage import cells_held
from tests.helpers.soak import SoakBook, scaled

DRAWS = 3_000
WORST = "no negative numbers, base"


@pytest.mark.parametrize("case", CASES)
def test_answers_hold_the_truth_in_95_of_100_draws(case: str, book: SoakBook) -> None:
    draws = scaled(DRAWS)
    found = coverage(case, draws)
    least = {key: float(np.nanmin(shares)) for key, shares in found.items()}
    worst = min(least, key=lambda key: least[key])
    book.note(
        f"Answers from cubes: {case}",
        f"{draws:,} draws, {sum(shares.size for shares in found.values())} numbers",
        f"at least {least[worst]:.1%} within the ± ({worst[0]}, {worst[1]})",
    )
    assert least[worst] >= 0.95 - 4.5 * sqrt(0.95 * 0.05 / draws)


@pytest.mark.parametrize("case", MOVED)
def test_without_negative_numbers_totals_of_sparse_tables_lie_outside(
    case: str, book: SoakBook
) -> None:
    draws = scaled(DRAWS // 3)
    found = coverage(case, draws, truth=Truth.sparse(4))
    total = float(found["total", "count"].item())
    book.note(
        f"Answers from cubes with people in one of twelve cells: {case}",
        f"{draws:,} draws",
        f"{total:.0%} of the totals within the ± of the step before",
    )
    # The page of such a release says so, and how bad the worst of these is.
    assert total < 0.95
    assert total < 0.5 or case != WORST


@pytest.mark.parametrize("hits", [20, 100, 300])
@pytest.mark.parametrize(("size", "values"), [(2, (8, 10)), (4, (20, 25)), (5, (20, 25))], ids=str)
def test_estimates_of_two_drawn_columns_hold_the_truth_for_few_rows(
    size: int, values: tuple[int, int], hits: int, book: SoakBook
) -> None:
    releases = scaled(100)
    generator = np.random.default_rng(7)
    held = [one for _ in range(releases) for one in cells_held(size, values, hits, 10, generator)]
    share = float(np.mean(held))
    book.note(
        f"Estimates of single cells, {values[0]} × {values[1]} values, ℓ′ = {size}, {hits} rows",
        f"{releases:,} releases, {len(held):,} answers",
        f"{share:.1%} within the interval",
    )
    assert share >= 0.95 - 4.5 * sqrt(0.95 * 0.05 / len(held))


@pytest.mark.parametrize(("known", "change"), [(0, 1), (2, 5)])
@pytest.mark.parametrize("directed", [False, True])
def test_answers_from_graphs_hold_the_truth_in_95_of_100_draws(
    directed: bool, known: int, change: int, book: SoakBook
) -> None:
    draws = scaled(DRAWS // 2)
    least = graph_coverage.coverage(directed, known, change, draws)
    kind = "directed" if directed else "undirected"
    book.note(
        f"Answers from {kind} graphs of 7 nodes, {known} exact degrees",
        f"{draws:,} draws",
        f"at least {least:.1%} within the ±",
    )
    assert least >= 0.95 - 4.5 * sqrt(0.95 * 0.05 / draws)
