"""Classes of tuples that agree at some levels: whole, and never worse for want of a limit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dpdesk.core.hierarchy import Hierarchy
from dpdesk.core.jobs import CancelToken
from dpdesk.engine.methods.k_anonymity.agreeing import ROUNDS, agreeing_parts
from dpdesk.engine.methods.k_anonymity.clustering import best_classes
from dpdesk.engine.methods.k_anonymity.mondrian import Array, loss_of
from dpdesk.engine.methods.k_anonymity.preferred import CellLimits
from dpdesk.engine.methods.k_anonymity.scales import Scale, scale_of

K, SIZES = 4, (3, 40, 6, 2, 9, 5)


def table(seed: int, rows: int) -> tuple[list[Scale], Array, Array]:
    """Skewed columns that go together in part, as those of people do; values or ``*``."""
    draw = random.Random(seed)
    drawn = []
    for _ in range(rows):
        kind = draw.random()
        drawn.append([min(int(n * (draw.random() * 0.7 + 0.3 * kind) ** 2), n - 1) for n in SIZES])
    codes, counts = np.unique(np.array(drawn, np.int32), axis=0, return_counts=True)
    trees = (
        Hierarchy.from_rows(f"c{j}", [(f"{value:03}", "*") for value in range(size)])
        for j, size in enumerate(SIZES)
    )
    return [scale_of(tree, frozenset(), by_size=False) for tree in trees], codes, counts


@pytest.mark.parametrize("seed", range(4))
def test_a_limit_of_cells_never_loses_less_than_none(seed: int) -> None:
    scales, codes, counts = table(seed, 900)
    given = scales, codes, counts, K, CancelToken()
    plain = best_classes(*given)
    assert plain is not None
    assert plain.least <= plain.cost
    for column in range(len(SIZES)):
        for share in (0.05, 0.3):
            limits = CellLimits({column: int(share * counts.sum())}, {})
            limited = best_classes(*given, limits=limits)
            assert limited is None or limited.cost >= plain.cost - 1e-9


@pytest.mark.parametrize(("seed", "rounds"), [(0, 0), (1, ROUNDS), (2, ROUNDS)])
def test_every_row_is_in_one_class_of_k_rows_and_the_loss_is_that_of_its_cells(
    seed: int, rounds: int
) -> None:
    scales, codes, counts = table(seed, 301)
    places = np.stack([s.places[codes[:, j]] for j, s in enumerate(scales)], axis=1)
    parts = agreeing_parts(scales, places, counts, K, None, CancelToken(), rounds)
    assert parts is not None
    assert sorted(parts.tuples.tolist()) == list(range(len(counts)))
    lost = 0
    for low, high in zip(parts.starts[:-1], parts.starts[1:], strict=True):
        rows = int(parts.rows[low:high].sum())
        assert rows >= K
        held = codes[parts.tuples[low:high]]
        lost += rows * sum(len(set(held[:, j].tolist())) > 1 for j in range(len(SIZES)))
    assert loss_of(scales, parts) == pytest.approx(lost / counts.sum() / len(SIZES))
