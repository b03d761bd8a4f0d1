"""How often intervals of estimates from two drawn columns hold the truth, where few rows match."""

from __future__ import annotations

import numpy as np

from dpdesk.engine.methods.l_diverted.estimation.estimate import Estimator, Tables, estimate
from dpdesk.engine.methods.l_diverted.groups import FullTransition, group_model
from tests.helpers.diverted_releases import published, skewed_codes

ROWS = 6000


def cells_held(
    size: int,
    values: tuple[int, int],
    hits: int,
    questions: int,
    generator: np.random.Generator,
    estimator: Estimator = Estimator.MATRIX,
) -> list[bool]:
    """For questions to one release, whether the interval held how many rows a cell truly has.

    Each question concerns ``hits`` random rows of 6,000, and the cell of one of them.
    """
    true = [skewed_codes(ROWS, count, size, generator) for count in values]
    seen = [
        published(codes, count, size, True, generator)
        for codes, count in zip(true, values, strict=True)
    ]
    models = [
        FullTransition(group_model(np.bincount(codes, minlength=count), size, True))
        for codes, count in zip(seen, values, strict=True)
    ]
    everything = np.zeros(values)
    np.add.at(everything, tuple(seen), 1.0)
    held = []
    for _ in range(questions):
        inside = generator.choice(ROWS, hits, replace=False)
        cell = [int(codes[inside[0]]) for codes in true]
        chosen = tuple(np.arange(count) == value for count, value in zip(values, cell, strict=True))
        matching = np.zeros(values)
        np.add.at(matching, tuple(codes[inside] for codes in seen), 1.0)
        truth = int(((true[0][inside] == cell[0]) & (true[1][inside] == cell[1])).sum())
        found = estimate(Tables(matching, everything, chosen), models, estimator)
        if found.low is not None and found.high is not None:
            held.append(found.low <= truth <= found.high)
    return held
